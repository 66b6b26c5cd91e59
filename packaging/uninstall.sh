#!/bin/sh
# Removes what install.sh put into PREFIX: uninstall.sh [PREFIX], by default ~/.local. `NAME paths` lists the data of a program.
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

status=0
printf '%s\n' "$files" | {
  while IFS= read -r file; do rm -f "$prefix/$file" || status=1; done
  exit "$status"
} || status=1
find bin share -depth -type d | while IFS= read -r folder; do
  rmdir "$prefix/$folder" 2>/dev/null || :
done
[ "$status" = 0 ] || fail "not everything could be removed from $prefix"
echo "removed from $prefix: $(ls bin | tr '\n' ' ')"
