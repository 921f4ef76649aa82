# Stops with one sentence where a later error would be hard to read. For a GPU it also sets
# WARPLINGS_GPU_ARCH from the first card when nothing was given.
function(warplings_check_environment)
  if(NOT WARPLINGS_DEVICE MATCHES "^(sim|gpu)$")
    message(FATAL_ERROR "WARPLINGS_DEVICE is '${WARPLINGS_DEVICE}'; it must be sim or gpu.")
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 11)
    message(FATAL_ERROR "g++ ${CMAKE_CXX_COMPILER_VERSION} is too old: the grader needs g++ 11 or "
                        "later. Install one and pass -DCMAKE_CXX_COMPILER=g++-11.")
  endif()
  if(CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 13 AND WARPLINGS_DEVICE STREQUAL "sim")
    message(FATAL_ERROR "nvcc ${CMAKE_CUDA_COMPILER_VERSION} at ${CMAKE_CUDA_COMPILER}: the simulator "
                        "reads objects of CUDA 13. Run ./grade to set one up, or pass "
                        "-DCMAKE_CUDA_COMPILER=/path/to/cuda-13/bin/nvcc.")
  endif()
  if(WARPLINGS_DEVICE STREQUAL "gpu" AND WARPLINGS_GPU_ARCH STREQUAL "")
    execute_process(COMMAND nvidia-smi --query-gpu=compute_cap --format=csv,noheader
                    OUTPUT_VARIABLE capabilities RESULT_VARIABLE status ERROR_QUIET
                    OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(NOT status EQUAL 0 OR NOT capabilities MATCHES "^([0-9]+)\\.([0-9]+)")
      message(FATAL_ERROR "nvidia-smi names no GPU. Pass its compute capability, for example "
                          "-DWARPLINGS_GPU_ARCH=90, or use the preset sim.")
    endif()
    set(WARPLINGS_GPU_ARCH "${CMAKE_MATCH_1}${CMAKE_MATCH_2}" CACHE STRING "" FORCE)
    message(STATUS "GPU: compute capability ${CMAKE_MATCH_1}.${CMAKE_MATCH_2}")
  endif()
endfunction()
