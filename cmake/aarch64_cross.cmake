# Toolchain: the grader and the exercises for aarch64, compiled on x86-64 by Debian's cross compiler, and run
# by QEMU's user emulation (preset "aarch64"; setup/README.md has the commands).
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)

set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++-12)
set(CMAKE_CUDA_HOST_COMPILER ${CMAKE_CXX_COMPILER})
# This machine's nvcc among the other's headers and libraries (setup/README.md says how it got there).
get_filename_component(toolkit "${CMAKE_CURRENT_LIST_DIR}/../.toolkit/cross" ABSOLUTE)
set(CMAKE_CUDA_COMPILER "${toolkit}/bin/nvcc")

# This machine's programs, the other's headers and libraries: a header in /usr/local/include is one that the
# cross compiler does not see. A package of headers alone serves both.
set(aarch64_root /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH ${aarch64_root} "${toolkit}")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(nlohmann_json_DIR /usr/share/cmake/nlohmann_json CACHE PATH "")

set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static -L ${aarch64_root})
