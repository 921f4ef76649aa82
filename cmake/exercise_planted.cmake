# warplings_exercise_planted(NAME ID KERNELS TARGET OBJECTS ... LIBRARIES ... [DEVICE_LINK ARCH])
#
# NAME.planted: the solution, whose functions the test reaches through the plants of grader/tests/classes.
# `grade dev plant` reads which functions these are; the linker sends their calls there (--wrap).
function(warplings_exercise_planted name id)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "DEVICE_LINK;KERNELS" "OBJECTS;LIBRARIES")
  if(NOT TARGET warplings.plants)
    return()
  endif()
  set(folder "${CMAKE_BINARY_DIR}/derived/${id}")
  set(device_link "")
  if(arg_DEVICE_LINK)
    set(device_link DEVICE_LINK ${arg_DEVICE_LINK})
  endif()
  add_custom_command(OUTPUT "${folder}/planted.cpp" "${folder}/planted.rsp"
    COMMAND grade.cli dev plant ${id} --test-object "$<TARGET_OBJECTS:${name}.test>"
            --kernels-object "$<TARGET_OBJECTS:${arg_KERNELS}>"
            --out "${folder}/planted.cpp" --options "${folder}/planted.rsp"
    DEPENDS grade.cli "$<TARGET_OBJECTS:${name}.test>" "$<TARGET_OBJECTS:${arg_KERNELS}>"
    WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}"
    COMMENT "Planting answers into ${id}" VERBATIM)
  warplings_exercise_program(${name}.planted OBJECTS ${arg_KERNELS} ${arg_OBJECTS} warplings.plants
                             SOURCES "${folder}/planted.cpp" LIBRARIES ${arg_LIBRARIES}
                             ${device_link})
  target_link_options(${name}.planted PRIVATE "@${folder}/planted.rsp")
endfunction()
