# shellcheck shell=sh disable=SC2016,SC2034,SC2154
# setup/libraries.sh: nothing by itself, sizes first, and never half of a library.

libraries() {
  launcher=$course/setup/libraries.sh
  chmod +x "$launcher"
  grade "$@"
}

test_without_names_it_lists_sizes_and_fetches_nothing() {
  libraries
  expect_status 0
  grep -q '^cudnn *366 MB to download' "$work/out" || broken 'stdout lacks the size of cudnn; stderr was:'
  expect_calls 0 '^pip'
  expect_no_file "$course/.toolkit"
}

test_help_says_the_same() {
  libraries --help
  expect_status 0
  grep -q 'sh setup/libraries.sh --yes NAME' "$work/out" || broken 'stdout lacks the usage; stderr was:'
  expect_calls 0 '^pip'
}

test_nobody_to_ask_is_a_no() {
  libraries nccl
  expect_status 1
  expect_says 'nccl: 197 MB to download' 'nobody can be asked here'
  expect_calls 0 '^pip'
}

test_an_unknown_name_is_refused() {
  libraries --yes cublass
  expect_status 2
  expect_says 'There is no library "cublass"' 'cublas cufft curand cudnn nccl'
  expect_calls 0 '^pip'
}

test_a_library_lands_where_cmake_looks() {
  mkdir -p "$course/build/gpu"
  : >"$course/build/gpu/build.ninja"
  libraries --yes nccl
  expect_status 0
  for file in include/nccl.h lib/libnccl.so lib/libnccl.so.2 licenses/fake-1.dist-info; do
    expect_file "$course/.toolkit/libraries/$file"
  done
  expect_no_file "$course/.toolkit/libraries/include/cudnn.h"
  expect_no_file "$course/.toolkit/cache"
  expect_no_file "$course/build/gpu/build.ninja"
  for leftover in "$course"/.toolkit/tmp.*; do expect_no_file "$leftover"; done
}

test_cudnn_brings_what_it_needs_and_nothing_twice() {
  libraries --yes cudnn
  expect_status 0
  expect_says 'cublas, cudnn: 789 MB'
  expect_file "$course/.toolkit/libraries/lib/libcublas.so"
  libraries --yes cublas cudnn
  expect_status 0
  expect_says 'They are here'
  libraries --yes all
  expect_status 0
  expect_says 'cufft, curand, nccl, nvrtc, cutlass: 615 MB'
  expect_calls 3 '^pip'
  expect_file "$course/.toolkit/libraries/include/cutlass/cutlass.h"
}

test_a_download_that_ends_midway_leaves_no_library() {
  echo midway >"$FAKE/pip"
  libraries --yes nccl
  expect_status 1
  expect_says 'The libraries were not fetched'
  expect_no_file "$course/.toolkit/libraries"
  for leftover in "$course"/.toolkit/tmp.*; do expect_no_file "$leftover"; done
  rm "$FAKE/pip"
  libraries --yes nccl
  expect_status 0
  expect_file "$course/.toolkit/libraries/lib/libnccl.so"
}

test_a_package_without_its_library_is_not_taken() {
  echo empty >"$FAKE/pip"
  libraries --yes cufft
  expect_status 1
  expect_says 'does not hold cufft.h and libcufft.so'
  expect_no_file "$course/.toolkit/libraries/.cufft"
}

test_too_little_room_is_said_before_anything_is_fetched() {
  echo 500 >"$FAKE/free_mb"
  libraries --yes nccl
  expect_status 1
  expect_says 'has 500 MB free' 'needs about 591'
  expect_calls 0 '^pip'
}

test_without_a_network_there_is_advice() {
  echo no_network >"$FAKE/pip"
  libraries --yes nccl
  expect_status 1
  expect_says 'Check the network connection'
}

test_the_launcher_never_fetches_libraries() {
  grade list
  expect_ready
  expect_no_file "$course/.toolkit/libraries"
}
