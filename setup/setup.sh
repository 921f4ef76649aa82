# shellcheck shell=sh disable=SC2034,SC2154
# The four steps of set-up, in order. Sourced by ./grade; every failure exits with status 2.

# shellcheck source=setup/report.sh
. "$GRADE_ROOT/setup/report.sh"
# shellcheck source=setup/platform.sh
. "$GRADE_ROOT/setup/platform.sh"
# shellcheck source=setup/lock.sh
. "$GRADE_ROOT/setup/lock.sh"
# shellcheck source=setup/tools.sh
. "$GRADE_ROOT/setup/tools.sh"
# shellcheck source=setup/packages.sh
. "$GRADE_ROOT/setup/packages.sh"
# shellcheck source=setup/python.sh
. "$GRADE_ROOT/setup/python.sh"
# shellcheck source=setup/cuda.sh
. "$GRADE_ROOT/setup/cuda.sh"
# shellcheck source=setup/toolkit.sh
. "$GRADE_ROOT/setup/toolkit.sh"
# shellcheck source=setup/moved.sh
. "$GRADE_ROOT/setup/moved.sh"
# shellcheck source=setup/wheel.sh
. "$GRADE_ROOT/setup/wheel.sh"
# shellcheck source=setup/build.sh
. "$GRADE_ROOT/setup/build.sh"

toolkit_dir=$GRADE_ROOT/.toolkit

set_up() {
  step 1 'Tools'
  check_platform
  make_log_folder
  take_lock
  # Another start may have done the work while this one waited for the lock.
  if load_stamp; then
    if ! grader_is_current; then
      step 4 'Grader'
      build_grader
    fi
  else
    configured_as=$grade_cxx:$GRADE_NVCC:$stamp_root
    has_moved=''
    if [ -n "$stamp_root" ] && [ "$stamp_root" != "$GRADE_ROOT" ]; then
      has_moved=yes
      progress "the course was in $stamp_root before, and build files name their folder:" \
        'they are written anew, and what is compiled is kept'
    fi
    rm -f "$stamp"
    provide_tools
    step 2 'CUDA compiler'
    provide_cuda
    step 3 'Build files'
    take_wheel
    start_ahead
    [ -z "$has_moved" ] || remember_old_build
    configure
    step 4 'Grader'
    [ -z "$has_moved" ] || find_what_can_be_reused
    expect_ahead
    build_grader
    forget_ahead
    forget_old_build
  fi
  release_lock
}

make_log_folder() {
  if ! mkdir -p "$GRADE_ROOT/build/setup" 2>/dev/null; then
    fail "cannot create the folder $GRADE_ROOT/build" \
      'Clone the course into a folder that you can write to, on a disk with free space.'
  fi
}
