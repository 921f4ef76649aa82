#!/bin/sh
# Stands before the C++ compiler: reuse.sh COMPILER ARGUMENT.... It compiles, unless the folder of the
# course has just moved (moved.sh) and the object is there already: made by the same command, after the
# last change of any source, and without the name of the old folder in it.
set -eu
[ -n "${GRADE_MOVED:-}" ] || exec "$@"

before='' object='' depfile=''
for argument; do
  case $before in
    -o) object=$argument ;;
    -MF) depfile=$argument ;;
  esac
  before=$argument
done
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd -P)

can_be_reused() {
  [ -f "$object" ] && [ -n "$depfile" ] || return 1
  grep -qxF -e "$object" "$GRADE_MOVED/objects" || return 1
  ! grep -qF -e "$GRADE_MOVED_FROM/" "$object" || return 1
  [ -z "$(find "$root/grader" "$root/cmake" "$root/CMakeLists.txt" -type f -newer "$object" | head -n 1)" ]
}

can_be_reused || exec "$@"
# Ninja printed "OBJECT: #deps 67, ...", a name in each line below it, and an empty line.
awk -v object="$object: #deps" -v target="$object:" '
  index($0, object) == 1 { inside = 1; printf "%s", target; next }
  inside && NF == 0 { exit }
  inside { sub(/^ +/, ""); gsub(/ /, "\\ "); printf " \\\n  %s", $0 }
  END { print "" }' "$GRADE_MOVED/deps" >"$depfile"
touch "$object"
