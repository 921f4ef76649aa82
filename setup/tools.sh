# shellcheck shell=sh disable=SC2034,SC2154
# Finds what is installed: C++ compiler, CMake, Ninja and the libraries of the grader.

# at_least VERSION MAJOR MINOR
at_least() {
  major=${1%%.*}
  rest=${1#"$major"}
  rest=${rest#.}
  minor=${rest%%[!0-9]*}
  case $major in '' | *[!0-9]*) return 1 ;; esac
  [ "$major" -gt "$2" ] || { [ "$major" -eq "$2" ] && [ "${minor:-0}" -ge "$3" ]; }
}

# Prints the first version number of a command's output.
version_of() {
  "$@" 2>/dev/null | sed -n 's/^[^0-9]*\([0-9][0-9]*\(\.[0-9][0-9]*\)*\).*/\1/p' | head -n 1
}

# g++ 11 to 15: C++20 in the grader, and what nvcc 13 accepts as its host compiler.
find_cxx() {
  grade_cxx='' unfit_cxx=''
  for name in ${CXX:+"$CXX"} g++ g++-15 g++-14 g++-13 g++-12 g++-11; do
    candidate=$(command -v "$name" 2>/dev/null) || continue
    case $("$candidate" --version 2>/dev/null | head -n 1) in
      *clang*) unfit_cxx="$unfit_cxx $candidate is clang;"; continue ;;
    esac
    version=$(version_of "$candidate" -dumpfullversion -dumpversion)
    if at_least "$version" 11 0 && ! at_least "$version" 16 0; then
      grade_cxx=$candidate
      cxx_version=$version
      return
    fi
    unfit_cxx="$unfit_cxx $candidate is version ${version:-unknown};"
  done
}

find_cmake() {
  GRADE_CMAKE='' unfit_cmake=''
  for name in cmake "$toolkit_dir/tools/cmake/data/bin/cmake"; do
    candidate=$(command -v "$name" 2>/dev/null) || continue
    cmake_version=$(version_of "$candidate" --version)
    if at_least "$cmake_version" 3 24; then
      GRADE_CMAKE=$candidate
      return
    fi
    unfit_cmake=" (CMake ${cmake_version:-of an unknown version} at $candidate is older than 3.24)"
  done
}

find_ninja() {
  GRADE_NINJA=''
  for name in ninja ninja-build "$toolkit_dir/tools/bin/ninja" \
    "$toolkit_dir/tools/ninja/data/bin/ninja"; do
    candidate=$(command -v "$name" 2>/dev/null) || continue
    ninja_version=$(version_of "$candidate" --version)
    if at_least "$ninja_version" 1 10; then
      GRADE_NINJA=$candidate
      return
    fi
  done
}

# Prints the packages (names of Debian) of headers that the compiler does not find.
missing_libraries() {
  "$1" -E -P -x c++ - 2>/dev/null <<'PROBE'
#if !__has_include(<stdlib.h>)
libc6-dev
#endif
#if !__has_include(<gtest/gtest.h>)
libgtest-dev
#endif
#if !__has_include(<nlohmann/json.hpp>)
nlohmann-json3-dev
#endif
#if !__has_include(<zlib.h>)
zlib1g-dev
#endif
PROBE
}

# Sets `missing` to the Debian packages that would fill the gaps.
find_tools() {
  find_cxx
  find_cmake
  find_ninja
  missing=''
  if [ -n "$grade_cxx" ]; then
    libraries=$(missing_libraries "$grade_cxx")
  else
    libraries='libgtest-dev nlohmann-json3-dev zlib1g-dev'
    [ -n "$unfit_cxx" ] || missing='g++'
  fi
  [ -n "$GRADE_CMAKE" ] || missing="$missing cmake"
  [ -n "$GRADE_NINJA" ] || missing="$missing ninja-build"
  # Unquoted: one word each, whatever separates them.
  # shellcheck disable=SC2086
  missing=$(printf '%s\n' $missing $libraries | paste -s -d ' ' -)
}
