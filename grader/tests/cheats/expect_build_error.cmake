# cmake -D BUILD=DIR -D TARGET=NAME -D MESSAGE=REGEX -P expect_build_error.cmake
#
# Fails unless building the target fails with a message that matches.
execute_process(COMMAND "${CMAKE_COMMAND}" --build "${BUILD}" --target "${TARGET}"
                RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(status EQUAL 0)
  message(FATAL_ERROR "${TARGET} was built, but must not be.")
endif()
if(NOT output MATCHES "${MESSAGE}")
  message(FATAL_ERROR "${TARGET} was not built, but not because of \"${MESSAGE}\":\n${output}")
endif()
