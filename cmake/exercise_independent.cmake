# warplings_exercise_independent(NAME ID OBJECTS ... LIBRARIES ... [DEVICE_LINK ARCH]
#                                ARCH ... INCLUDES ... FLAGS ...)
#
# NAME.independent.STEM for each kernel of grader/tests/independent/ID: an answer by somebody who had
# seen the lesson and the starter alone, with the test of the exercise. Only with
# WARPLINGS_INDEPENDENT, which grader/tests/gpu/agreement.py sets when it has written the files into
# the build folder: nothing else builds them.
function(warplings_exercise_independent name id)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "ARCH;DEVICE_LINK" "OBJECTS;LIBRARIES;INCLUDES;FLAGS")
  if(NOT WARPLINGS_INDEPENDENT)
    return()
  endif()
  set(device_link "")
  if(arg_DEVICE_LINK)
    set(device_link DEVICE_LINK ${arg_DEVICE_LINK})
  endif()
  file(GLOB answers CONFIGURE_DEPENDS "${CMAKE_BINARY_DIR}/independent/${id}/*.cu")
  foreach(answer IN LISTS answers)
    cmake_path(GET answer STEM stem)
    set(target ${name}.independent.${stem})
    warplings_cuda_objects(${target}.kernels SOURCES "${answer}" ARCH ${arg_ARCH}
                           INCLUDES ${arg_INCLUDES} FLAGS ${arg_FLAGS})
    warplings_exercise_program(${target} OBJECTS ${target}.kernels ${arg_OBJECTS}
                               LIBRARIES ${arg_LIBRARIES} ${device_link})
  endforeach()
endfunction()
