# warplings_device_link(OUT NAME ARCH N OBJECTS ...)
#
# Kernels that launch kernels are compiled with -rdc=true, and their objects need a step of nvcc's own
# before the C++ linker: OUT is the object file that it makes. The simulator reads the PTX of the objects
# and has the device run-time library built in; on a GPU that library is linked as well.
function(warplings_device_link out name)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "ARCH" "OBJECTS")
  set(code "compute_${arg_ARCH}")
  set(library -cudadevrt none)
  if(WARPLINGS_DEVICE STREQUAL "gpu")
    string(APPEND code ",sm_${WARPLINGS_GPU_ARCH}")
    set(library "")
  endif()
  set(objects "")
  foreach(object IN LISTS arg_OBJECTS)
    list(APPEND objects "$<TARGET_OBJECTS:${object}>")
  endforeach()
  set(file "${CMAKE_BINARY_DIR}/device_link/${name}.o")
  file(MAKE_DIRECTORY "${CMAKE_BINARY_DIR}/device_link")
  add_custom_command(OUTPUT "${file}"
    COMMAND "${CMAKE_CUDA_COMPILER}" -dlink
            "--generate-code=arch=compute_${arg_ARCH},code=[${code}]" --no-compress ${library}
            ${objects} -o "${file}"
    DEPENDS ${objects}
    COMMAND_EXPAND_LISTS VERBATIM
    COMMENT "Device link of ${name}")
  set_source_files_properties("${file}" PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
  set(${out} "${file}" PARENT_SCOPE)
endfunction()
