#!/bin/sh
# Installs the four programs, their manual pages and completions: install.sh [PREFIX], by default ~/.local.
set -eu
fail() {
  echo "${0##*/}: $1" >&2
  exit "${2:-1}"
}
case $#:${1:-} in
0:* | 1:[!-]*) ;;
*) fail "usage: ${0##*/} [PREFIX]" 2 ;;
esac
prefix=${1:-$HOME/.local}
case $prefix in
/*) ;;
*) prefix=$(pwd)/$prefix ;;
esac
# The folder of this script, also if a symbolic link called it.
script=$0
while [ -L "$script" ]; do
  link=$(readlink "$script")
  case $link in
  /*) script=$link ;;
  *) script=$(dirname "$script")/$link ;;
  esac
done
here=$(CDPATH='' cd -- "$(dirname -- "$script")" && pwd -P)
[ -d "$here/bin" ] && [ -d "$here/share" ] || fail "no folders bin and share in $here: call the script of the unpacked archive"
[ "$here" != "$(cd -- "$prefix" 2>/dev/null && pwd -P)" ] || fail "$prefix is the unpacked archive: choose another PREFIX"
cd "$here"
files=$(find bin share -type f) && [ -n "$files" ] || fail "the files of the archive cannot be listed: nothing was changed"

# Calls a function with the place of each file. A failure leaves everything as it was: all files are copied next to their places, and
# only then renamed. A program that runs at this moment keeps its old file.
each() {
  printf '%s\n' "$files" | LC_ALL=C sort | while IFS= read -r file; do
    "$1" "$prefix/$file" || exit 1
  done
}
copy() {
  [ ! -d "$1" ] || fail "$1 is a folder: remove it, or choose another PREFIX"
  mkdir -p "$(dirname "$1")" && cp "$file" "$1.$$"
}
rename() { mv -f "$1.$$" "$1"; }
discard() { rm -f "$1.$$"; }
trap 'each discard' EXIT
trap 'exit 130' HUP INT TERM
each copy || fail "nothing was installed into $prefix"
each rename

echo "installed into $prefix: $(ls bin | tr '\n' ' ')"
case ":$PATH:" in
*":$prefix/bin:"*) ;;
*) echo "add it to the PATH: export PATH=\"$prefix/bin:\$PATH\"" ;;
esac
