# warplings_exercise_compiled(ID ARCH N FLAGS ... LIBRARIES ...)
#
# An exercise that needs a GPU, on a machine that grades in the simulator: NN_topic.MM_name.compiled
# compiles its solution, its starter and its test, and links and runs nothing. Where the header of one
# of its libraries is not here, there is a reason in place of the target.
function(warplings_exercise_compiled id)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "ARCH" "FLAGS;LIBRARIES")
  string(REPLACE "/" "." name "${id}")
  get_filename_component(topic "${id}" DIRECTORY)
  get_filename_component(file "${id}" NAME)
  set(chapter "${PROJECT_SOURCE_DIR}/chapters/${topic}")
  warplings_exercise_links(libraries includes missing ${arg_LIBRARIES})
  if(missing)
    warplings_needed(reason ${missing})
    warplings_exercise_missing(${id} "${reason}")
    return()
  endif()
  set(options ARCH ${arg_ARCH} INCLUDES "${chapter}" ${includes} FLAGS ${arg_FLAGS})
  warplings_cuda_objects(${name}.solution.kernels STRICT
                         SOURCES "${PROJECT_SOURCE_DIR}/solutions/${id}.cu" ${options})
  set(starter "${CMAKE_BINARY_DIR}/derived/${id}/starter/${file}.cu")
  add_custom_command(OUTPUT "${starter}"
    COMMAND grade.dev dev derive ${id} --starter --out "${starter}"
    DEPENDS grade.dev "${PROJECT_SOURCE_DIR}/solutions/${id}.cu"
    WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}"
    COMMENT "Starter of ${id}" VERBATIM)
  warplings_cuda_objects(${name}.starter.kernels STRICT SOURCES "${starter}" ${options})
  warplings_exercise_test(${name}.test "${chapter}/${file}_test.cpp" "${chapter}" ${includes})
  add_custom_target(${name}.compiled)
  add_dependencies(${name}.compiled ${name}.solution.kernels ${name}.starter.kernels ${name}.test)
endfunction()
