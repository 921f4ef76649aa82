# shellcheck shell=sh disable=SC2034,SC2154
# A grader that somebody has compiled before (wheel.py), where one is named and fits: from $GRADE_WHEEL
# (a wheel, a folder of wheels, or URL#sha256=HASH; "none" for none), wheels put into .toolkit, or what the
# project has published for exactly these sources (wheels.txt). Anything else is built here, as ever.

take_wheel() {
  rm -rf "$GRADE_ROOT/build/prebuilt"
  [ "${GRADE_WHEEL:-}" != none ] || return 0
  set --
  if [ -n "${GRADE_WHEEL:-}" ]; then
    set -- "$GRADE_WHEEL"
  else
    for wheel in "$toolkit_dir"/*.whl; do [ ! -f "$wheel" ] || set -- "$@" "$wheel"; done
    while read -r published; do
      case $published in https://*) set -- "$@" "$published" ;; esac
    done <"$GRADE_ROOT/setup/wheels.txt"
  fi
  [ $# -gt 0 ] || return 0
  if [ -n "${CMAKE_CXX_COMPILER_LAUNCHER:-}" ]; then
    progress "prebuilt grader: not taken, as CMAKE_CXX_COMPILER_LAUNCHER names a launcher of yours"
  elif ! wheel_python=$(command -v python3); then
    progress 'prebuilt grader: not taken, as there is no python3 to unpack it'
  else
    progress "prebuilt grader: $("$wheel_python" -B "$GRADE_ROOT/setup/wheel.py" take \
      --root "$GRADE_ROOT" --cxx "$grade_cxx" --cuda-home "$GRADE_CUDA_HOME" --nvcc "$GRADE_NVCC" \
      --cmake "$GRADE_CMAKE" "$@" 2>&1 | tail -n 1)"
  fi
}

# What no wheel can hold is compiled beside CMake, which leaves a core idle, and beside the build, which waits
# for it where it comes to it (reuse.sh). If it fails, the build does it.
ahead=''
start_ahead() {
  [ -f "$GRADE_ROOT/build/prebuilt/ahead.sh" ] || return 0
  sh "$GRADE_ROOT/build/prebuilt/ahead.sh" >"$GRADE_ROOT/build/setup/ahead.log" 2>&1 </dev/null 9>&- &
  ahead=$!
}

# Its objects hold for the build that follows at once, and for no other (forget_ahead).
expect_ahead() {
  GRADE_AHEAD=$ahead
  export GRADE_AHEAD
}

forget_ahead() {
  [ -z "$ahead" ] || wait "$ahead" || true
  ahead=''
  rm -rf "$GRADE_ROOT/build/prebuilt/ahead" "$GRADE_ROOT/build/prebuilt/ahead.sh"
  unset GRADE_AHEAD
}
