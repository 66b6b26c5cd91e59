#!/bin/sh
# Installs the four programs, their manual pages and completions: install.sh [PREFIX], by default ~/.local.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
prefix=${1:-$HOME/.local}
cd "$here"
find bin share -type f | LC_ALL=C sort | while IFS= read -r file; do
  mkdir -p "$prefix/$(dirname "$file")"
  # A program that runs at this moment keeps its old file.
  cp "$file" "$prefix/$file.new"
  mv -f "$prefix/$file.new" "$prefix/$file"
done
echo "installed into $prefix: $(ls bin | tr '\n' ' ')"
case ":$PATH:" in
*":$prefix/bin:"*) ;;
*) echo "add it to the PATH: export PATH=\"$prefix/bin:\$PATH\"" ;;
esac
