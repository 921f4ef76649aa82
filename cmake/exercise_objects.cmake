# warplings_exercise_objects(NAME OUT_TEST OUT_GIVEN)
#
# The objects of an exercise that do not depend on whose kernel is graded: the test, compiled once by the
# C++ compiler, and given CUDA code (support.cu of the chapter, a baseline kernel, the forward and backward
# kernels of a training step), if there is any.
# Reads the variables of warplings_exercise().
function(warplings_exercise_objects name out_test out_given)
  add_library(${name}.test OBJECT EXCLUDE_FROM_ALL "${stem}_test.cpp")
  target_link_libraries(${name}.test PRIVATE warplings.kit.api warplings.warnings)
  target_include_directories(${name}.test PRIVATE "${chapter}" ${library_includes})
  target_precompile_headers(${name}.test REUSE_FROM warplings.test_header)
  set_target_properties(${name}.test PROPERTIES CXX_STANDARD 17)
  set(${out_test} ${name}.test PARENT_SCOPE)

  set(given "")
  foreach(file IN ITEMS "${chapter}/support.cu" "${stem}_support.cu" "${stem}_baseline.cu" "${stem}_forward.cu"
                       "${stem}_backward.cu")
    if(EXISTS "${file}")
      list(APPEND given "${file}")
    endif()
  endforeach()
  if(given)
    warplings_cuda_objects(${name}.given STRICT ARCH ${arg_ARCH} SOURCES ${given}
                           INCLUDES "${chapter}" ${library_includes} FLAGS ${arg_FLAGS})
    set(given ${name}.given)
  endif()
  set(${out_given} "${given}" PARENT_SCOPE)
endfunction()
