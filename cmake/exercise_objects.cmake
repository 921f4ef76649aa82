# warplings_exercise_test(TARGET FILE INCLUDES ...): the object of a test. Its references work on small cases: what
# -O2 would take to compile, twice the time of -Og, it would not give back.
function(warplings_exercise_test target file)
  add_library(${target} OBJECT EXCLUDE_FROM_ALL "${file}")
  target_link_libraries(${target} PRIVATE warplings.kit.api warplings.warnings)
  target_include_directories(${target} PRIVATE ${ARGN})
  target_compile_options(${target} PRIVATE -Og)  # as the header's
  target_precompile_headers(${target} REUSE_FROM warplings.test_header)
  set_target_properties(${target} PROPERTIES CXX_STANDARD 17)
endfunction()

# warplings_exercise_objects(NAME OUT_TEST OUT_GIVEN)
#
# The objects of an exercise that do not depend on whose kernel is graded: the test, compiled once by the
# C++ compiler, and given CUDA code (support.cu of the chapter, a baseline kernel, the forward and backward
# kernels of a training step), if there is any.
# Reads the variables of warplings_exercise().
function(warplings_exercise_objects name out_test out_given)
  warplings_exercise_test(${name}.test "${stem}_test.cpp" "${chapter}" ${library_includes})
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
