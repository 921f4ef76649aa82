# warplings_exercise_program(NAME OBJECTS ... LIBRARIES ... SOURCES ... [DEVICE_LINK ARCH])
#
# Links objects of an exercise with the kit and the CUDA runtime of the machine: the simulator's or the
# real one. The C++ linker does it, after a device link where the flags of the exercise ask for one.
function(warplings_exercise_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "DEVICE_LINK" "OBJECTS;LIBRARIES;SOURCES")
  set(objects "")
  foreach(object IN LISTS arg_OBJECTS)
    list(APPEND objects "$<TARGET_OBJECTS:${object}>")
  endforeach()
  if(arg_DEVICE_LINK)
    warplings_device_link(linked ${name} ARCH ${arg_DEVICE_LINK} OBJECTS ${arg_OBJECTS})
    list(APPEND objects "${linked}")
    if(WARPLINGS_DEVICE STREQUAL "gpu")
      # FindCUDAToolkit has no target for the runtime on the device.
      find_library(WARPLINGS_CUDADEVRT cudadevrt HINTS "${CUDAToolkit_LIBRARY_DIR}" REQUIRED)
      list(APPEND arg_LIBRARIES "${WARPLINGS_CUDADEVRT}")
    endif()
  endif()
  add_executable(${name} EXCLUDE_FROM_ALL ${objects} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LIBRARIES} warplings.kit)
  set_target_properties(${name} PROPERTIES
    LINKER_LANGUAGE CXX
    CUDA_RUNTIME_LIBRARY None
    RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/course")
endfunction()
