# shellcheck shell=sh disable=SC2034,SC2154
# A course of the launcher and set-up alone, in a folder with a space, whose PATH holds links to
# basic utilities and the fake tools that a test puts there. Nothing real is installed or fetched.

utilities='awk basename cat chmod cp cut date dirname env find flock fold grep gzip head ln ls mkdir mktemp
  mv paste readlink rm sed sh sha256sum sleep sort stty tail touch tr wc du'

# Once for all tests: linking takes longer than a test.
link_utilities() {
  script=$(command -v script)  # of util-linux, as the others
  basics=$1
  mkdir "$basics"
  for utility in $utilities; do ln -s "$(command -v "$utility")" "$basics/$utility"; done
  printf '#!/bin/sh\n' >"$basics/true"  # a built-in command of most shells; sudo needs the file
  chmod +x "$basics/true"
}

# Everything a machine has that is ready for the course, but no nvcc.
new_course() {
  FAKE=$work/state FAKE_BIN=$work/bin FAKE_TOOLS=$here/fakes
  course="$work/my course"
  mkdir -p "$FAKE" "$FAKE_BIN" "$course" "$work/elsewhere"
  put g++ cmake ninja python3 id uname df
  cp "$repository/grade" "$course/"
  mkdir "$course/setup"
  # The places that a real toolkit or distribution may occupy on the machine that runs the tests.
  for file in "$repository"/setup/*.sh; do
    sed "s|/usr/local/cuda|$work/usr_local/cuda|g; s|/opt/cuda|$work/opt/cuda|g
         s|/etc/os-release|$work/os-release|g" "$file" >"$course/setup/${file##*/}"
  done
  cp "$repository/setup/wheels.txt" "$course/setup/"
  echo 'PRETTY_NAME="Plan 9"' >"$work/os-release"
}

put() { for tool in "$@"; do cp "$FAKE_TOOLS/$tool" "$FAKE_BIN/"; done; }

# put_toolkit FOLDER VERSION: an installed CUDA toolkit.
put_toolkit() {
  mkdir -p "$1/bin" "$1/include"
  cp "$FAKE_TOOLS/nvcc" "$1/bin/nvcc"
  printf '%s\n' "$2" >"$1/bin/version"
  : >"$1/include/cuda_runtime.h"
}

# grade ARGUMENT...: runs the launcher; sets `status`, and the files out and err. `extra` holds
# assignments for its environment.
grade() {
  status=0
  (
    cd "$work/elsewhere" || exit 99
    # shellcheck disable=SC2086
    env -i HOME="$work/elsewhere" PATH="$FAKE_BIN:$basics" FAKE="$FAKE" FAKE_BIN="$FAKE_BIN" \
      FAKE_TOOLS="$FAKE_TOOLS" ${extra:-} "${launcher:-$course/grade}" "$@" || exit $?
  ) >"$work/out" 2>"$work/err" </dev/null || status=$?
}

# grade_on_terminal ANSWER ARGUMENT...: the same in a pseudo-terminal, in which ANSWER is typed; what it
# shows is the file screen.
grade_on_terminal() {
  answer=$1
  shift
  : >"$work/err"
  printf '%s\n' "$answer" | env -i HOME="$work/elsewhere" PATH="$FAKE_BIN:$basics" FAKE="$FAKE" \
    FAKE_BIN="$FAKE_BIN" FAKE_TOOLS="$FAKE_TOOLS" TERM="${terminal:-xterm}" SHELL=/bin/sh \
    "$script" -qec "${columns:+stty cols $columns; }'$course/grade' $*" /dev/null >"$work/screen" 2>&1 || true
}

# ---- what a test expects: each ends the test with a message when it does not hold ----------------

broken() {
  printf '      %s\n' "$1"
  sed 's/^/      | /' "$work/err"
  exit 1
}

expect_status() { [ "$status" = "$1" ] || broken "exit status $status, not $1; stderr was:"; }
expect_says() {
  for text in "$@"; do
    grep -qF -e "$text" "$work/err" || broken "stderr lacks \"$text\":"
  done
}
expect_out() { grep -qxF -e "$1" "$work/out" || broken "stdout lacks the line \"$1\"; stderr was:"; }
expect_silent() { [ ! -s "$work/err" ] || broken 'stderr is not empty:'; }
expect_no_file() { [ ! -e "$1" ] || broken "$1 is there; stderr was:"; }
expect_file() { [ -e "$1" ] || broken "$1 is missing; stderr was:"; }
expect_calls() {  # COUNT PATTERN
  count=$(grep -c -e "$2" "$FAKE/calls" 2>/dev/null || true)
  [ "${count:-0}" = "$1" ] || broken "${count:-0} calls match \"$2\", not $1; stderr was:"
}

# A failure leaves nothing that a later start would take for whole.
expect_stopped_at() {  # NUMBER NAME
  expect_status 2
  expect_says "set-up stopped at step $1 of 4, $2." '  next     ' 'run ./grade again'
  [ ! -s "$work/out" ] || broken 'stdout is not empty; stderr was:'
  expect_no_file "$course/build/setup/stamp"
  expect_nothing_half_installed
}

expect_nothing_half_installed() {
  for leftover in "$course"/.toolkit/tmp.* "$course"/.toolkit/cuda; do
    expect_no_file "$leftover"
  done
}

expect_ready() {
  expect_status 3
  expect_out "root=$course"
  expect_file "$course/build/setup/stamp"
  for leftover in "$course"/.toolkit/tmp.*; do expect_no_file "$leftover"; done
}

# Set-up heals by itself once the reason is gone.
expect_heals() {
  grade list
  expect_ready
}
