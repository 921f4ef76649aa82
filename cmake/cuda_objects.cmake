# warplings_cuda_objects(TARGET ARCH N SOURCES ... INCLUDES ... FLAGS ...)
#
# An object library of CUDA sources, compiled in one front-end pass to PTX that stays readable in the
# object (--no-compress) and keeps source lines (-lineinfo for kernels, host -g1 for the <<<>>> lines).
# For a GPU, machine code assembled from that same PTX is added; a card older than ARCH gets PTX for
# compute_75. STRICT makes warnings errors. An unused parameter
# is none: a starter has not got to it yet.
function(warplings_cuda_objects target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "STRICT" "ARCH" "SOURCES;INCLUDES;FLAGS")
  set(virtual ${arg_ARCH})
  set(code "compute_${virtual}")
  if(WARPLINGS_DEVICE STREQUAL "gpu")
    set(real ${WARPLINGS_GPU_ARCH})
    if(virtual MATCHES "a$")  # then course.cmake has seen to it that the card is one of these
      set(real ${virtual})
    elseif(WARPLINGS_GPU_ARCH LESS virtual)
      set(virtual 75)
    endif()
    set(code "compute_${virtual},sm_${real}")
  endif()
  add_library(${target} OBJECT EXCLUDE_FROM_ALL ${arg_SOURCES})
  target_include_directories(${target} PRIVATE ${arg_INCLUDES})
  target_compile_options(${target} PRIVATE
    "$<$<COMPILE_LANGUAGE:CUDA>:--generate-code=arch=compute_${virtual},code=[${code}];--no-compress;-lineinfo;-Xcompiler=-g1,-Wall,-Wextra,-Wno-unused-parameter>"
    "$<$<AND:$<COMPILE_LANGUAGE:CUDA>,$<BOOL:${arg_STRICT}>>:-Werror=all-warnings;-Xcompiler=-Werror>"
    ${arg_FLAGS})
  # OFF: the option above names the architectures; CMake's own list would add a second front-end pass.
  set_target_properties(${target} PROPERTIES CUDA_ARCHITECTURES OFF CUDA_RUNTIME_LIBRARY None)
endfunction()
