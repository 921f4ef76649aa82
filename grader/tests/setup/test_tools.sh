# shellcheck shell=sh disable=SC2034,SC2154
# Step 1: compiler, CMake, Ninja and libraries, found, installed, or asked for.

test_no_compiler_on_an_unknown_distribution() {
  rm "$FAKE_BIN/g++"
  grade list
  expect_stopped_at 1 Tools
  expect_says 'missing: g++' 'Plan 9 has no apt-get' 'dnf install gcc-c++' 'pacman -S'
}

test_without_root_the_exact_command_is_printed() {
  rm "$FAKE_BIN/g++"
  put apt-get sudo
  grade list
  expect_stopped_at 1 Tools
  expect_says 'sudo apt-get update && sudo apt-get install -y g++ zlib1g-dev libgtest-dev nlohmann-json3-dev'
  expect_no_file "$FAKE/calls"
}

test_root_installs_with_apt_get() {
  rm "$FAKE_BIN/g++"
  put apt-get
  echo 0 >"$FAKE/uid"
  grade list
  expect_ready
  expect_says 'installing system-wide with apt-get: g++ libgtest-dev nlohmann-json3-dev zlib1g-dev'
  expect_calls 1 '^apt-get.*update'
  expect_calls 1 '^apt-get.*install -y --no-install-recommends g++ '
}

free_sudo() {
  echo zlib1g-dev >"$FAKE/missing_libraries"
  put apt-get sudo
  : >"$FAKE/sudo_is_free"
}

test_sudo_without_a_password_installs_with_yes_only() {
  free_sudo
  grade list
  expect_stopped_at 1 Tools
  expect_says 'sudo apt-get install -y zlib1g-dev' './grade --yes'
  expect_calls 0 '^apt-get'
  grade list --yes
  expect_ready
  expect_says 'installing system-wide with sudo apt-get: zlib1g-dev'
}

test_yes_of_a_program_is_not_ours() {
  free_sudo
  grade exec ./program --yes
  expect_stopped_at 1 Tools
  expect_calls 0 '^apt-get'
}

test_on_a_terminal_sudo_asks_first() {
  free_sudo
  grade_on_terminal n list
  grep -q 'Install them with sudo apt-get now?' "$work/screen" || broken 'it did not ask:'
  expect_calls 0 '^apt-get'
  grade_on_terminal y list
  expect_calls 1 '^apt-get.*install'
  expect_file "$course/build/setup/stamp"
}

test_apt_get_can_be_forbidden() {
  echo zlib1g-dev >"$FAKE/missing_libraries"
  put apt-get
  echo 0 >"$FAKE/uid"
  extra='GRADE_NO_APT=1'
  grade list
  expect_stopped_at 1 Tools
  expect_says 'apt-get update && apt-get install -y zlib1g-dev'
  expect_no_file "$FAKE/calls"
}

apt_fails_with() {
  rm "$FAKE_BIN/g++"
  put apt-get
  echo 0 >"$FAKE/uid"
  echo "$1" >"$FAKE/apt_error"
  grade list
  expect_stopped_at 1 Tools
  expect_says 'apt-get -q' 'install -y' "| $1" 'exit status 100' "build/setup/apt.log"
}

test_apt_get_without_network_then_with() {
  apt_fails_with 'Temporary failure resolving the package index'
  expect_says 'Check the network connection' 'https_proxy'
  rm "$FAKE/apt_error"
  expect_heals
}

test_apt_get_on_a_full_disk() {
  apt_fails_with 'dpkg: error: cannot copy extracted data: No space left on device'
  expect_says 'Free about 500 MB on the disk that holds /usr'
}

test_apt_get_that_is_locked() {
  apt_fails_with 'E: Could not get lock /var/lib/dpkg/lock-frontend'
  expect_says 'Another package manager is running'
}

test_apt_get_that_lacks_a_package() {
  apt_fails_with 'E: Unable to locate package nlohmann-json3-dev'
  expect_says 'enable "universe" on Ubuntu'
}

test_old_compiler() {
  echo 9.4.0 >"$FAKE/gxx_version"
  grade list
  expect_stopped_at 1 Tools
  expect_says "no g++ of version 11 to 15: $FAKE_BIN/g++ is version 9.4.0" 'CXX=/path/to/g++'
}

test_too_new_compiler() {
  echo 17.1.0 >"$FAKE/gxx_version"
  grade list
  expect_stopped_at 1 Tools
  expect_says 'is version 17.1.0'
}

test_old_compiler_with_a_newer_one_beside_it() {
  mv "$FAKE_BIN/g++" "$FAKE_BIN/g++-12"
  printf '#!/bin/sh\necho 9.4.0\n' >"$FAKE_BIN/g++"
  chmod +x "$FAKE_BIN/g++"
  grade list
  expect_ready
  expect_calls 1 "^cmake.*CMAKE_CUDA_HOST_COMPILER=$FAKE_BIN/g++-12"
}

test_clang_under_the_name_of_the_compiler() {
  echo 'Debian clang version 19.1.0' >"$FAKE/gxx_banner"
  grade list
  expect_stopped_at 1 Tools
  expect_says "$FAKE_BIN/g++ is clang"
}

test_old_cmake_is_replaced_by_a_private_one() {
  echo 3.22.1 >"$FAKE/cmake_version"
  grade list
  expect_ready
  expect_says 'downloading about 30 MB with pip into .toolkit/tools'
  expect_out "cmake=$course/.toolkit/tools/cmake/data/bin/cmake"
}

test_old_cmake_and_no_network() {
  echo 3.22.1 >"$FAKE/cmake_version"
  echo no_network >"$FAKE/pip"
  grade list
  expect_stopped_at 1 Tools
  expect_says '-m pip' 'cmake>=3.24' 'Check the network connection'
  expect_no_file "$course/.toolkit/tools"
  rm "$FAKE/pip"
  expect_heals
}

test_old_cmake_without_pip() {
  echo 3.22.1 >"$FAKE/cmake_version"
  : >"$FAKE/no_pip"
  grade list
  expect_stopped_at 1 Tools
  expect_says 'missing: cmake' "CMake 3.22.1 at $FAKE_BIN/cmake is older than 3.24"
}

test_no_cmake_and_no_ninja() {
  rm "$FAKE_BIN/cmake" "$FAKE_BIN/ninja"
  grade list
  expect_ready
  expect_out "ninja=$course/.toolkit/tools/bin/ninja"
}

test_header_libraries_without_root_are_left_to_cmake() {
  printf 'libgtest-dev\nnlohmann-json3-dev\n' >"$FAKE/missing_libraries"
  grade list
  expect_ready
  expect_says 'CMake will download libgtest-dev nlohmann-json3-dev into build/'
}

test_missing_zlib_is_not_left_to_cmake() {
  printf 'libgtest-dev\nzlib1g-dev\n' >"$FAKE/missing_libraries"
  grade list
  expect_stopped_at 1 Tools
  expect_says 'missing: zlib1g-dev libgtest-dev'
}
