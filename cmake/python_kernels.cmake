# warplings_python_kernels(ID ARCH N LINKS EXERCISE... BASELINES EXERCISE...)
#
# What a Python exercise calls: shared objects of chapters/ID_support.cu and the kernels of earlier
# exercises, with the CUDA runtime of the machine, built on demand into course/:
#   NN_topic.MM_name.so            the learner's kernels of LINKS, of the exercises where they are passed
#   NN_topic.MM_name.solution.so   the solutions'
# BASELINES are always the solutions'.
# They are compiled once more: the objects of the exercises are for programs, not for libraries.
function(warplings_python_kernels id)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "ARCH" "LINKS;BASELINES")
  string(REPLACE "/" "." name "${id}")
  warplings_linked_kernels(linked linked_solutions ${arg_LINKS})
  warplings_linked_kernels(unused baselines ${arg_BASELINES})
  set(includes "")
  foreach(link IN LISTS arg_LINKS arg_BASELINES)
    get_filename_component(topic "${link}" DIRECTORY)
    list(APPEND includes "${PROJECT_SOURCE_DIR}/chapters/${topic}")
  endforeach()
  set(target ${name})
  foreach(kernels IN ITEMS linked linked_solutions)
    set(sources "${PROJECT_SOURCE_DIR}/chapters/${id}_support.cu")
    foreach(objects IN LISTS ${kernels} baselines)
      string(REGEX REPLACE "^(.*)[.](.*)[.]solution[.]kernels$" "solutions/\\1/\\2.cu" file "${objects}")
      string(REGEX REPLACE "^(.*)[.](.*)[.]kernels$" "chapters/\\1/\\2.cu" file "${file}")
      list(APPEND sources "${PROJECT_SOURCE_DIR}/${file}")
    endforeach()
    warplings_cuda_objects(${target}.kernels ARCH ${arg_ARCH} SOURCES ${sources} INCLUDES ${includes})
    set_target_properties(${target}.kernels PROPERTIES POSITION_INDEPENDENT_CODE ON)
    add_library(${target} SHARED EXCLUDE_FROM_ALL "$<TARGET_OBJECTS:${target}.kernels>")
    if(WARPLINGS_DEVICE STREQUAL "sim")
      target_link_libraries(${target} PRIVATE warplings.cudart)
    else()
      target_link_libraries(${target} PRIVATE CUDA::cudart_static)
    endif()
    set_target_properties(${target} PROPERTIES
      PREFIX "" LINKER_LANGUAGE CXX CUDA_RUNTIME_LIBRARY None
      LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/course")
    set(target ${name}.solution)
  endforeach()
endfunction()
