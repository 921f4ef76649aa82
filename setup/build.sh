# shellcheck shell=sh disable=SC2034,SC2154
# Steps 3 and 4: CMake writes the build files, Ninja builds the grader.

configure() {
  # CMake does not take another compiler into a cache that it has.
  fresh=''
  if [ "$configured_as" != "$grade_cxx:$GRADE_NVCC:$GRADE_ROOT" ]; then fresh='--fresh'; fi
  # Whoever has once worked on the course keeps the targets for that.
  dev_targets=${GRADE_DEV:-$stamp_dev}
  answers=$GRADE_ROOT/build/prebuilt/cmake  # from a wheel (wheel.py)
  if [ -d "$answers" ] && [ ! -f "$GRADE_ROOT/build/sim/CMakeCache.txt" ]; then
    mkdir -p "$GRADE_ROOT/build/sim/CMakeFiles"
    cp -R "$answers/." "$GRADE_ROOT/build/sim/CMakeFiles"
    fresh='-DCMAKE_PLATFORM_INFO_INITIALIZED=1'  # there are answers, says CMake's own cache by this
  fi
  # shellcheck disable=SC2086
  if ! run_logged configure "$GRADE_CMAKE" -S "$GRADE_ROOT" --preset sim $fresh \
    "-DWARPLINGS_DEV=${dev_targets:-OFF}" \
    "-DCMAKE_CXX_COMPILER=$grade_cxx" "-DCMAKE_CUDA_COMPILER=$GRADE_NVCC" \
    "-DCMAKE_CUDA_HOST_COMPILER=$grade_cxx" "-DCMAKE_MAKE_PROGRAM=$GRADE_NINJA"; then
    if disk_is_full; then fail_command 'Free about 500 MB on this disk.'; fi
    if network_is_down; then
      fail_command 'Check the network connection, or install with root rights:' \
        '  apt-get install -y libgtest-dev nlohmann-json3-dev'
    fi
    fail_command 'Read the first "CMake Error" in the log. After a change of tools: rm -rf build'
  fi
  write_stamp || fail "cannot write $stamp" 'Free some disk space.'
  progress "written to build/sim in $command_seconds s"
}

build_grader() {
  # The first time with the program of the first exercise, so that no core waits. That one may fail:
  # its verdict says why.
  first=''
  [ -x "$GRADE_ROOT/build/sim/bin/grade" ] || first=grade.first
  steps=$("$GRADE_NINJA" -C "$GRADE_ROOT/build/sim" -n grade.ready ${first:+"$first"} 2>/dev/null |
    sed -n 's,^\[[0-9]*/\([0-9]*\)\].*,\1,p' | head -n 1)
  progress "building${steps:+ in $steps steps (half a minute to three the first time)}"
  # What is compiled ahead is what the rest waits for.
  yield=''
  [ -z "$ahead" ] || yield='nice -n 10'
  # shellcheck disable=SC2086
  if [ -n "$first" ] &&
    run_logged build $yield "$GRADE_NINJA" -C "$GRADE_ROOT/build/sim" -k 0 grade.ready grade.first; then
    : # both
  elif ! run_logged build "$GRADE_NINJA" -C "$GRADE_ROOT/build/sim" grade.ready; then
    if disk_is_full; then fail_command 'Free about 500 MB on this disk.'; fi
    fail_command 'Read the first "error:" in the log. After a change of tools: rm -rf build'
  fi
  if ! [ -x "$GRADE_ROOT/build/sim/bin/grade" ]; then
    fail 'the build did not write build/sim/bin/grade' "rm -rf '$GRADE_ROOT/build'"
  fi
  progress "built in $command_seconds s"
}
