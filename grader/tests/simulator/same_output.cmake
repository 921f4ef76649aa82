# Runs PROGRAM as grade exec would, with its output in FILE; fails unless that is what EXPECTED holds
# behind its first line, which says where it is from.
execute_process(COMMAND ${CMAKE_COMMAND} -E env GRADE_EXEC=1 ${PROGRAM} OUTPUT_FILE ${FILE}
                ERROR_VARIABLE errors)
file(READ ${FILE} output)
file(READ ${EXPECTED} expected)
string(REGEX REPLACE "^#[^\n]*\n" "" expected "${expected}")
if(NOT output STREQUAL expected)
  message(FATAL_ERROR "${FILE} differs from ${EXPECTED} (diff shows where). ${errors}")
endif()
