#!/bin/sh
# Removes what install.sh put into PREFIX: uninstall.sh [PREFIX], by default ~/.local. `NAME paths` lists the data of a program.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
prefix=${1:-$HOME/.local}
cd "$here"
find bin share -type f | while IFS= read -r file; do rm -f "$prefix/$file"; done
find bin share -depth -type d | while IFS= read -r folder; do
  rmdir "$prefix/$folder" 2>/dev/null || true
done
echo "removed from $prefix: $(ls bin | tr '\n' ' ')"
