# warplings_python_exercise(ID ARCH N NEEDS MODULE... LINKS EXERCISE... BASELINES EXERCISE...)
#
# The CTest test ID of a Python exercise, which builds the kernels that it calls first. Skipped where the
# interpreter lacks a module: .toolkit/python if it is there, else python3.
function(warplings_python_exercise id)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "ARCH" "NEEDS;LINKS;BASELINES")
  string(REPLACE "/" "." name "${id}")
  set(environment "GRADE_DEVICE=${WARPLINGS_DEVICE}" "GRADE_ROOT=${PROJECT_SOURCE_DIR}"
                  "PYTHONDONTWRITEBYTECODE=1")
  set(fixture "")
  if(EXISTS "${PROJECT_SOURCE_DIR}/chapters/${id}_support.cu")
    warplings_python_kernels(${id} ARCH ${arg_ARCH} LINKS ${arg_LINKS} BASELINES ${arg_BASELINES})
    list(APPEND environment "GRADE_KERNELS=$<TARGET_FILE:${name}>")
    add_test(NAME "build ${id}" COMMAND "${CMAKE_COMMAND}" --build "${CMAKE_BINARY_DIR}"
                                        --target ${name})
    set_tests_properties("build ${id}" PROPERTIES FIXTURES_SETUP ${name} RESOURCE_LOCK build_tree
                                                  LABELS build)
    set(fixture FIXTURES_REQUIRED ${name})
  endif()
  set(python python3)
  if(EXISTS "${PROJECT_SOURCE_DIR}/.toolkit/python/bin/python3")
    set(python "${PROJECT_SOURCE_DIR}/.toolkit/python/bin/python3")
  endif()
  add_test(NAME "${id}" COMMAND ${python} "${PROJECT_SOURCE_DIR}/grader/kit/python/run.py"
                                "${PROJECT_SOURCE_DIR}/chapters/${id}.py"
                                "${PROJECT_SOURCE_DIR}/chapters/${id}_test.py"
                                --needs ${arg_NEEDS})
  set_tests_properties("${id}" PROPERTIES LABELS exercise TIMEOUT 400 SKIP_RETURN_CODE 77
                                          ENVIRONMENT "${environment}" ${fixture})
endfunction()
