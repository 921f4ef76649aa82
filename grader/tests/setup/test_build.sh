# shellcheck shell=sh disable=SC2016,SC2034,SC2154
# Steps 3 and 4: build files and grader; one test with the real CMake, Ninja and compiler.

with_toolkit() {
  put_toolkit "$work/cuda-13" 13.0.88
  extra="CUDA_HOME=$work/cuda-13"
}

test_cmake_error_then_none() {
  with_toolkit
  echo 'CMake Error at CMakeLists.txt:3 (project): fake' >"$FAKE/cmake_error"
  grade list
  expect_stopped_at 3 'Build files'
  expect_says '--preset sim' '| CMake Error at CMakeLists.txt:3' 'build/setup/configure.log'
  rm "$FAKE/cmake_error"
  expect_heals
}

test_cmake_download_without_network() {
  with_toolkit
  echo 'CMake Error: Could not resolve host: github.com' >"$FAKE/cmake_error"
  grade list
  expect_stopped_at 3 'Build files'
  expect_says 'Check the network connection' 'libgtest-dev nlohmann-json3-dev'
}

test_compiler_error_then_none() {
  with_toolkit
  echo 'main.cpp:1:1: error: fake' >"$FAKE/ninja_error"
  grade list
  expect_status 2
  expect_says 'set-up stopped at step 4 of 4, Grader.' '| main.cpp:1:1: error: fake' 'rm -rf build'
  grade list
  expect_status 2
  rm "$FAKE/ninja_error"
  expect_heals
}

test_disk_that_fills_up_in_the_build() {
  with_toolkit
  echo 'fatal error: error writing to /tmp/x.s: No space left on device' >"$FAKE/ninja_error"
  grade list
  expect_status 2
  expect_says 'Free about 500 MB'
}

test_a_build_says_how_far_it_is_from_the_first_second() {
  with_toolkit
  echo '[3/7] Building CXX object grader/cli/CMakeFiles/grade.dir/app.cpp.o' >"$FAKE/ninja_slow"
  sed -i "2iCUDA_HOME=$work/cuda-13; export CUDA_HOME" "$course/grade"
  grade_on_terminal '' list
  grep -q '0 of 1, 0 s' "$work/screen" || { cat "$work/screen"; broken 'nothing at once:'; }
  grep -q '3 of 7, app.cpp, [123] s' "$work/screen" || { cat "$work/screen"; broken 'no step:'; }
}

test_a_dumb_terminal_gets_no_escapes() {
  with_toolkit
  echo '[3/7] Building CXX object app.cpp.o' >"$FAKE/ninja_slow"
  sed -i "2iCUDA_HOME=$work/cuda-13; export CUDA_HOME" "$course/grade"
  terminal=dumb
  grade_on_terminal '' list
  grep -q '4/4. Grader: built' "$work/screen" || { cat "$work/screen"; broken 'not built:'; }
  ! grep -q "$(printf '\033')" "$work/screen" || broken 'escapes:'
}

test_a_narrow_terminal_breaks_no_word() {
  with_toolkit
  sed -i "2iCUDA_HOME=$work/cuda-13; export CUDA_HOME" "$course/grade"
  columns=60
  grade_on_terminal '' list
  grep -q '^.1/4. Tools: ' "$work/screen" || { cat "$work/screen"; broken 'no first step:'; }
  grep -q '^      [^ ].*$' "$work/screen" || { cat "$work/screen"; broken 'nothing was wrapped:'; }
  ! grep '^.[1-4]/4' "$work/screen" | tr -d '\r' | grep -qE '^.{61}' ||
    { cat "$work/screen"; broken 'wider than the terminal:'; }
}

test_folder_that_cannot_be_written() {
  with_toolkit
  : >"$course/build"
  grade list
  expect_stopped_at 1 Tools
  expect_says "cannot create the folder $course/build"
}

real_course() {
  rm "$FAKE_BIN/g++" "$FAKE_BIN/cmake" "$FAKE_BIN/ninja"
  for tool in "${GRADE_CMAKE:-cmake}" "${GRADE_NINJA:-ninja}" \
    g++ g++-15 g++-14 g++-13 g++-12 g++-11 as ld; do
    ! command -v "$tool" >/dev/null || ln -s "$(command -v "$tool")" "$FAKE_BIN/${tool##*/}"
  done
  cat >"$course/CMakeLists.txt" <<'CMAKE'
cmake_minimum_required(VERSION 3.24)
project(mini CXX)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
add_executable(grade.cli EXCLUDE_FROM_ALL main.cpp)
set_target_properties(grade.cli PROPERTIES OUTPUT_NAME grade)
add_custom_target(grade.ready DEPENDS grade.cli)
add_custom_target(grade.first DEPENDS grade.cli)
CMAKE
  echo '{"version": 5, "configurePresets": [{"name": "sim", "generator": "Ninja",
    "binaryDir": "${sourceDir}/build/sim"}]}' >"$course/CMakePresets.json"
  printf '#include <stdio.h>\nint main(int n, char** a) { return puts(n > 1 ? a[1] : "") < 0; }\n' \
    >"$course/main.cpp"
}

test_with_the_real_cmake_and_ninja() {
  with_toolkit
  real_course
  grade first
  expect_status 0
  expect_out first
  grade second
  expect_status 0
  expect_silent
  expect_out second
  printf 'int main() { return 5; }\n' >"$course/main.cpp"
  grade third
  expect_status 5
  expect_says '[4/4] Grader: building'
}

# Its verdict says why; set-up is not to blame.
test_a_first_exercise_that_does_not_compile() {
  with_toolkit
  real_course
  sed -i 's/^add_custom_target(grade.first.*/add_custom_target(grade.first COMMAND false)/' \
    "$course/CMakeLists.txt"
  grade first
  expect_status 0
  expect_says '[4/4] Grader: built'
  expect_out first
}

# What is compiled says when it was: the same second after a move is the same object.
test_a_moved_folder_keeps_what_is_compiled() {
  with_toolkit
  real_course
  mkdir -p "$course/grader" "$course/cmake"
  printf '#include <stdio.h>\nint main() { return puts(__TIME__) < 0; }\n' >"$course/grader/main.cpp"
  # Before project(), and in a folder of its own, as the course has it.
  grep -v '^add_custom_target' "$course/CMakeLists.txt" | sed -n '/^add_exec/,$p' \
    >"$course/grader/CMakeLists.txt"
  sed -i -e '1a set(CMAKE_CXX_COMPILER_LAUNCHER sh "${CMAKE_CURRENT_SOURCE_DIR}/setup/reuse.sh")' \
    -e 's/^add_exec.*/add_subdirectory(grader)/' -e '/^set_target/d' "$course/CMakeLists.txt"
  grade list
  expect_status 0
  compiled_at=$(cat "$work/out")
  sleep 1
  move_course 'another course'
  expect_says "the course was in $work/my course before"
  expect_out "$compiled_at"
  # Ninja agrees, and knows the header files.
  grade list
  expect_silent
  # An edit, before or after a move, is compiled.
  touch -d '+1 minute' "$course/grader/main.cpp"
  move_course 'third course'
  [ "$(cat "$work/out")" != "$compiled_at" ] || broken 'an edited file was not compiled:'
  # So is what the old folder's name is in.
  printf '#include <stdio.h>\nint main() { return puts(__FILE__) < 0; }\n' >"$course/grader/main.cpp"
  grade list
  move_course 'last course'
  expect_out "$course/grader/main.cpp"
}

move_course() {
  mv "$course" "$work/$1"
  course=$work/$1
  grade list
  expect_status 0
}
