#!/bin/sh
# Stands before the C++ compiler: reuse.sh COMPILER ARGUMENT.... It compiles, unless the object is there
# already: in build/prebuilt, from a wheel (wheel.sh), or in its place, because the folder of the course has
# just moved (moved.sh). Both were made by the same command, after the last change of any source; one that
# is in its place must not name the old folder.
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd -P)
prebuilt=$root/build/prebuilt
[ -n "${GRADE_MOVED:-}" ] || [ -f "$prebuilt/mark" ] || exec "$@"

before='' object='' depfile=''
for argument; do
  case $before in
    -o) object=$argument ;;
    -MF) depfile=$argument ;;
  esac
  before=$argument
done

escaped() { printf '%s' "$1" | sed 's/[][\\.*^$,]/\\&/g'; }

# The name of what this command makes, as wheel.py reckons it: without the compiler's own name and without
# where the system has its headers, which wheel.py has compared.
key() {
  shift
  before=''
  for argument; do
    [ "$argument" = -isystem ] || [ "$before" = -isystem ] || printf '%s\n' "$argument"
    before=$argument
  done | sed "s,\(^\|-I\|=\)$(escaped "$(pwd -P)")\([/=]\|\$\),\1@BUILD@\2,g
    s,\(^\|-I\|=\)$(escaped "$root")\([/=]\|\$\),\1@ROOT@\2,g" | sha256sum | cut -c 1-64
}

# The sources are compared when a wheel is taken. The time of the last change of a file's entry cannot be set
# back, so whatever has changed since then shows; folders as well, for what was added or removed.
is_prebuilt() {
  [ -f "$prebuilt/mark" ] && [ -n "$depfile" ] || return 1
  name=$(key "$@")
  if [ -n "${GRADE_AHEAD:-}" ] && [ -f "$prebuilt/ahead/$name.awaited" ]; then
    turns=1200  # a minute, for one that was killed and is not yet buried
    while [ ! -f "$prebuilt/ahead/$name.o" ] && [ ! -f "$prebuilt/ahead/done" ] &&
      [ $turns -gt 0 ] && kill -0 "$GRADE_AHEAD" 2>/dev/null; do
      sleep 0.05
      turns=$((turns - 1))
    done
    if [ -f "$prebuilt/ahead/$name.o" ]; then name=ahead/$name; fi
  fi
  [ -f "$prebuilt/$name.o" ] && [ -f "$prebuilt/$name.d" ] || return 1
  [ -z "$(find "$root/CMakeLists.txt" "$root/CMakePresets.json" "$root/chapters/course.json" "$root/cmake" \
    "$root/grader/cli" "$root/grader/course" "$root/grader/kit" "$root/grader/simulator" \
    -cnewer "$prebuilt/mark" | head -n 1)" ]
}

if is_prebuilt "$@"; then
  rm -f "$object"  # it may be the same file already
  mv -f "$prebuilt/$name.d" "$depfile"
  mv -f "$prebuilt/$name.o" "$object"
  exec touch "$object"
fi

can_be_reused() {
  [ -n "${GRADE_MOVED:-}" ] || return 1
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
