# cmake -DCMAKE_FOLDER=... -DSCRATCH=... -P fetched_libraries_test.cmake: the Find modules for cuDNN and
# NCCL see what setup/libraries.sh leaves in .toolkit/libraries, and so does whatever looks below
# CMAKE_PREFIX_PATH in a build for the GPU; and where one is missing, that command is named.
cmake_minimum_required(VERSION 3.24)
include("${CMAKE_FOLDER}/exercise_missing.cmake")
warplings_needed(said cublasLt cudnn cusolver)
set(expected "needs cublasLt and cudnn and cusolver, which is not here; sh setup/libraries.sh cublas cudnn fetches it")
if(NOT said STREQUAL expected)
  message(FATAL_ERROR "said:     ${said}\nexpected: ${expected}")
endif()

file(REMOVE_RECURSE "${SCRATCH}")
file(COPY "${CMAKE_FOLDER}" DESTINATION "${SCRATCH}")  # SCRATCH/cmake
set(libraries "${SCRATCH}/.toolkit/libraries")
foreach(file IN ITEMS include/nccl.h lib/libnccl.so lib/libcudnn.so include/curand.h lib/libcurand.so)
  file(WRITE "${libraries}/${file}" "")
endforeach()
file(WRITE "${libraries}/include/cudnn_version.h"
     "#define CUDNN_MAJOR 9\n#define CUDNN_MINOR 14\n#define CUDNN_PATCHLEVEL 0\n")
file(WRITE "${SCRATCH}/project/CMakeLists.txt" [[
cmake_minimum_required(VERSION 3.24)
project(finds LANGUAGES NONE)
set(CMAKE_FIND_LIBRARY_PREFIXES lib)
set(CMAKE_FIND_LIBRARY_SUFFIXES .so)
set(CMAKE_FIND_USE_CMAKE_SYSTEM_PATH FALSE)  # not those of this machine
set(WARPLINGS_DEVICE gpu)
list(APPEND CMAKE_MODULE_PATH "${CMAKE_CURRENT_SOURCE_DIR}/../cmake")
include(fetched_libraries)
find_package(CUDNN REQUIRED)
find_package(NCCL REQUIRED)
find_library(curand curand REQUIRED)  # as FindCUDAToolkit does
add_library(CUDA::curand UNKNOWN IMPORTED)
set_target_properties(CUDA::curand PROPERTIES IMPORTED_LOCATION "${curand}")
add_library(CUDA::other UNKNOWN IMPORTED)
set_target_properties(CUDA::other PROPERTIES IMPORTED_LOCATION "/usr/local/cuda/lib64/libother.so")
warplings_fetched_includes(fetched CUDA::curand)
warplings_fetched_includes(other CUDA::other)
get_target_property(cudnn CUDNN::cudnn IMPORTED_LOCATION)
get_target_property(nccl NCCL::nccl IMPORTED_LOCATION)
file(WRITE "${CMAKE_BINARY_DIR}/found" "${CUDNN_VERSION}|${cudnn}|${nccl}|${curand}|${fetched}|${other}")
]])
execute_process(COMMAND "${CMAKE_COMMAND}" -S "${SCRATCH}/project" -B "${SCRATCH}/build"
                OUTPUT_VARIABLE printed ERROR_VARIABLE printed RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "CMake ended with ${status}:\n${printed}")
endif()
file(READ "${SCRATCH}/build/found" found)
string(CONCAT expected "9.14.0|${libraries}/lib/libcudnn.so|${libraries}/lib/libnccl.so|"
              "${libraries}/lib/libcurand.so|${libraries}/include|")
if(NOT found STREQUAL expected)
  message(FATAL_ERROR "found:    ${found}\nexpected: ${expected}")
endif()
file(REMOVE_RECURSE "${SCRATCH}")
