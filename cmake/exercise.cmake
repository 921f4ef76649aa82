# warplings_exercise(ID [SPEED] ARCH N GPUS N FLAGS ... LIBRARIES ... LINKS ... BASELINES ...)
#
# The three programs of one exercise (ID is NN_topic/MM_name), built on demand into course/:
#   NN_topic.MM_name            the learner's file
#   NN_topic.MM_name.solution   the reference
#   NN_topic.MM_name.derived    ablations, mutants and variants of the reference, one nvcc run (WARPLINGS_DEV)
# and the CTest test ID, which builds the learner's program first.
function(warplings_exercise id)
  cmake_parse_arguments(PARSE_ARGV 1 arg "SPEED" "ARCH;GPUS" "FLAGS;LIBRARIES;LINKS;BASELINES")
  string(REPLACE "/" "." name "${id}")
  get_filename_component(topic "${id}" DIRECTORY)
  set(chapter "${PROJECT_SOURCE_DIR}/chapters/${topic}")
  set(stem "${PROJECT_SOURCE_DIR}/chapters/${id}")
  set(solution "${PROJECT_SOURCE_DIR}/solutions/${id}.cu")
  foreach(file IN ITEMS "${stem}.cu" "${stem}.h" "${stem}_test.cpp" "${solution}")
    if(NOT EXISTS "${file}")
      message(FATAL_ERROR "chapters/course.json lists ${id}, but ${file} does not exist. "
                          "Write it or take the exercise out of course.json.")
    endif()
  endforeach()

  warplings_exercise_links(libraries library_includes missing ${arg_LIBRARIES})
  if(missing)
    warplings_needed(reason ${missing})
    warplings_exercise_missing(${id} "${reason}")
    return()
  endif()
  if(arg_SPEED)
    list(APPEND libraries warplings.kit.speed)
  endif()
  warplings_test_support(${topic} support)
  list(APPEND libraries ${support})
  warplings_exercise_objects(${name} test given)
  # Earlier kernels that this one uses: the learner's program may have the learner's own, all others
  # have the solutions. What it is timed against is always the solution.
  warplings_linked_kernels(linked linked_solutions ${arg_LINKS})
  foreach(earlier IN LISTS arg_LINKS)
    if(EXISTS "${PROJECT_SOURCE_DIR}/chapters/${earlier}_forward.cu")  # its given kernels, too
      string(REPLACE "/" "." earlier "${earlier}")
      list(APPEND given "${earlier}.given")
    endif()
  endforeach()
  warplings_exercise_baselines(earlier_baselines library_baselines ${arg_BASELINES})
  foreach(earlier IN LISTS earlier_baselines)
    string(REPLACE "/" "." earlier "${earlier}")
    list(APPEND given "${earlier}.solution.kernels")
  endforeach()

  set(cuda_options ARCH ${arg_ARCH} INCLUDES "${chapter}" ${library_includes} FLAGS ${arg_FLAGS})
  warplings_cuda_objects(${name}.kernels SOURCES "${stem}.cu" ${cuda_options})
  # A call at the end of a function returns to that function: messages name its line.
  target_compile_options(${name}.kernels PRIVATE
    "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-fno-optimize-sibling-calls>")
  warplings_cuda_objects(${name}.solution.kernels STRICT SOURCES "${solution}" ${cuda_options})
  set(parts ${test} ${given} ${linked_solutions})
  set(device_link "")
  if("-rdc=true" IN_LIST arg_FLAGS)  # its kernels launch kernels
    set(device_link DEVICE_LINK ${arg_ARCH})
  endif()
  warplings_exercise_program(${name} OBJECTS ${name}.kernels ${test} ${given} ${linked}
                             LIBRARIES ${libraries} ${device_link})
  warplings_exercise_program(${name}.solution OBJECTS ${name}.solution.kernels ${parts}
                             LIBRARIES ${libraries} ${device_link})
  if(WARPLINGS_DEV)
    warplings_exercise_derived(${name} ${id} OBJECTS ${parts} LIBRARIES ${libraries} ${device_link}
                               ${cuda_options})
    warplings_exercise_independent(${name} ${id} OBJECTS ${parts} LIBRARIES ${libraries} ${device_link}
                                   ${cuda_options})
    warplings_exercise_planted(${name} ${id} KERNELS ${name}.solution.kernels OBJECTS ${parts}
                               LIBRARIES ${libraries} ${device_link})
  endif()
  if(library_baselines)
    foreach(program IN ITEMS ${name} ${name}.solution ${name}.derived)
      if(TARGET ${program})
        add_dependencies(${program} ${library_baselines})
      endif()
    endforeach()
  endif()

  # The test builds what it runs, so that one file that does not compile blocks only itself.
  add_test(NAME "build ${id}" COMMAND "${CMAKE_COMMAND}" --build "${CMAKE_BINARY_DIR}"
                                      --target ${name})
  add_test(NAME "${id}" COMMAND ${name})
  set_tests_properties("build ${id}" PROPERTIES FIXTURES_SETUP ${name} RESOURCE_LOCK build_tree
                                                LABELS build)
  set_tests_properties("${id}" PROPERTIES FIXTURES_REQUIRED ${name} LABELS exercise TIMEOUT 300
                                          ENVIRONMENT GRADE_SIM_DEVICES=${arg_GPUS})
endfunction()
