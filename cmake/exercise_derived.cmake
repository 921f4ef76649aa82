# warplings_exercise_derived(NAME ID OBJECTS ... LIBRARIES ... ARCH N INCLUDES ... FLAGS ...
#                            [DEVICE_LINK ARCH])
#
# The program that holds every ablation, mutant and accepted variant of a solution, and the starter as its
# image, whatever the learner has made of the file in chapters/. `grade dev derive` writes them into one CUDA
# file, a namespace each; `grade dev dispatch` reads which launchers the test needs and writes the jumps that
# --variant=NAME selects from. NAME.starter is the same program under another name, which selects the starter.
function(warplings_exercise_derived name id)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "ARCH;DEVICE_LINK" "OBJECTS;LIBRARIES;INCLUDES;FLAGS")
  set(folder "${CMAKE_BINARY_DIR}/derived/${id}")
  set(device_link "")
  if(arg_DEVICE_LINK)
    set(device_link DEVICE_LINK ${arg_DEVICE_LINK})
  endif()
  set(gates "${PROJECT_SOURCE_DIR}/grader/tests/exercises/${id}")
  # Variants are named by whoever writes them and listed nowhere. Watching the folder instead of
  # CONFIGURE_DEPENDS keeps a no-op build from running CMake.
  file(GLOB variants "${gates}/variant_*.cu")
  if(IS_DIRECTORY "${gates}")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${gates}")
  endif()
  set(mutants "")
  if(EXISTS "${gates}/mutants.txt")
    set(mutants "${gates}/mutants.txt")
  endif()
  add_custom_command(OUTPUT "${folder}/derived.cu"
    COMMAND grade.dev dev derive ${id} --out "${folder}/derived.cu"
    DEPENDS grade.dev "${PROJECT_SOURCE_DIR}/solutions/${id}.cu" ${mutants} ${variants}
    WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}"
    COMMENT "Deriving the mutants of ${id}" VERBATIM)
  warplings_cuda_objects(${name}.derived.kernels SOURCES "${folder}/derived.cu" ARCH ${arg_ARCH}
                         INCLUDES ${arg_INCLUDES} FLAGS ${arg_FLAGS})
  # A starter compiles without warnings; what a mutant is warned of matters to nobody.
  set_target_properties(${name}.derived.kernels PROPERTIES
    CUDA_COMPILER_LAUNCHER "sh;${PROJECT_SOURCE_DIR}/cmake/no_warnings_in.sh;/starter/")
  add_custom_command(OUTPUT "${folder}/dispatch.cpp"
    COMMAND grade.dev dev dispatch ${id} --test-object "$<TARGET_OBJECTS:${name}.test>"
            --kernels-object "$<TARGET_OBJECTS:${name}.derived.kernels>"
            --out "${folder}/dispatch.cpp"
    DEPENDS grade.dev "$<TARGET_OBJECTS:${name}.test>" "$<TARGET_OBJECTS:${name}.derived.kernels>"
    WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}"
    COMMENT "Connecting the mutants of ${id} to its test" VERBATIM)
  warplings_exercise_program(${name}.derived OBJECTS ${name}.derived.kernels ${arg_OBJECTS}
                             SOURCES "${folder}/dispatch.cpp" LIBRARIES ${arg_LIBRARIES}
                             ${device_link})

  set(starter "${CMAKE_BINARY_DIR}/course/${name}.starter")
  add_custom_command(OUTPUT "${starter}"
    COMMAND "${CMAKE_COMMAND}" -E create_symlink "${name}.derived" "${starter}"
    DEPENDS ${name}.derived
    COMMENT "Naming the starter of ${id}" VERBATIM)
  add_custom_target(${name}.starter DEPENDS "${starter}")
endfunction()
