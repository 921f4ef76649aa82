# shellcheck shell=sh disable=SC2030,SC2031,SC2034,SC2154
# The launcher once everything is there: what it passes on, and when it sets up again.

ready_course() {
  put_toolkit "$work/cuda-13" 13.0.88
  extra="CUDA_HOME=$work/cuda-13"
}

test_passes_arguments_environment_and_status() {
  ready_course
  grade run 'a b' --json
  expect_ready
  expect_out 'argument=a b'
  expect_out 'argument=--json'
  expect_out "cuda_home=$work/cuda-13"
  expect_out "nvcc=$work/cuda-13/bin/nvcc"
  expect_out "cmake=$FAKE_BIN/cmake"
  expect_out "ninja=$FAKE_BIN/ninja"
  expect_says '[1/4] Tools:' '[2/4] CUDA compiler:' '[3/4] Build files:' '[4/4] Grader:'
}

test_second_start_is_silent_and_fast() {
  ready_course
  grade list
  for attempt in 1 2 3; do  # a busy machine may delay one of them
    begin=$(date +%s%N)
    grade list
    milliseconds=$((($(date +%s%N) - begin) / 1000000))
    expect_ready
    expect_silent
    [ "$milliseconds" -ge 300 ] || break
  done
  [ "$milliseconds" -lt 300 ] || broken "took $milliseconds ms in attempt $attempt"
  expect_calls 1 '^cmake'
}

test_starts_through_a_link() {
  ready_course
  ln -s "$course/grade" "$FAKE_BIN/warplings"
  launcher=$FAKE_BIN/warplings
  grade --help
  expect_ready
  expect_out 'argument=--help'
}

test_builds_again_when_a_source_changed() {
  ready_course
  grade list
  touch -d '+1 minute' "$FAKE/source"
  grade list
  expect_says '[4/4] Grader: building'
  expect_calls 1 '^cmake'
  expect_calls 2 '^ninja'
}

test_keeps_the_choice_when_the_environment_names_none() {
  ready_course
  grade list
  extra=''
  grade list
  expect_silent
  expect_out "nvcc=$work/cuda-13/bin/nvcc"
}

test_follows_another_choice_of_the_environment() {
  ready_course
  grade list
  put_toolkit "$work/cuda-13.1" 13.1.5
  extra="CUDACXX=$work/cuda-13.1/bin/nvcc"
  grade list
  expect_out "nvcc=$work/cuda-13.1/bin/nvcc"
  expect_calls 1 '^cmake.*--fresh.*cuda-13.1'
}

test_sets_up_again_when_the_clone_moved() {
  ready_course
  grade list
  mv "$course" "$work/moved course"
  course="$work/moved course"
  grade list
  expect_ready
  expect_says "the course was in $work/my course before"
  expect_calls 2 '^cmake.*--fresh'
}

test_sets_up_again_after_a_damaged_stamp() {
  ready_course
  grade list
  printf 'format=1\nroot=' >"$course/build/setup/stamp"
  grade list
  expect_ready
  expect_calls 2 '^cmake'
}

test_configures_again_on_another_processor() {
  ready_course
  grade list
  sed -i 's/^processor=.*/processor=flags: sse2/' "$course/build/setup/stamp"
  grade list
  expect_ready
  expect_calls 2 '^cmake'
  expect_calls 1 '^cmake.*--fresh'
}

test_sets_up_again_when_a_tool_disappeared() {
  ready_course
  grade list
  mv "$FAKE_BIN/ninja" "$FAKE_BIN/ninja-build"
  grade list
  expect_ready
  expect_out "ninja=$FAKE_BIN/ninja-build"
}

test_sets_up_again_when_set_up_changed() {
  ready_course
  grade list
  touch -d '+1 minute' "$course/setup/tools.sh"
  grade list
  expect_ready
  expect_calls 2 '^cmake'
}

test_two_starts_at_once_set_up_once() {
  echo slow >"$FAKE/pip"
  (
    work=$work/first
    mkdir "$work" "$work/elsewhere"
    grade list
  ) &
  grade list
  wait
  expect_ready
  expect_calls 1 '^cmake'
  expect_calls 1 '^pip'
  grep -q 'waiting until it is done' "$work/err" "$work/first/err" || broken 'none waited:'
  grep -qxF "root=$course" "$work/first/out" || broken 'the other one did not start the grader:'
}

test_targets_for_work_on_the_course_come_when_it_is_asked_for() {
  ready_course
  grade list
  expect_calls 1 '^cmake.*WARPLINGS_DEV=OFF'
  grade dev sync
  expect_ready
  expect_calls 1 '^cmake.*WARPLINGS_DEV=ON'
  grade --yes selftest
  grade list
  expect_ready
  expect_calls 2 '^cmake'
  # Whatever else is set up again keeps them.
  touch -d '+1 minute' "$course/setup/tools.sh"
  grade list
  expect_calls 2 '^cmake.*WARPLINGS_DEV=ON'
}
