# Runs PROGRAM as grade exec would; fails unless it prints what the file EXPECTED holds.
execute_process(COMMAND ${CMAKE_COMMAND} -E env GRADE_EXEC=1 ${PROGRAM} OUTPUT_FILE ${FILE}
                ERROR_VARIABLE errors)
execute_process(COMMAND ${CMAKE_COMMAND} -E compare_files ${FILE} ${EXPECTED} RESULT_VARIABLE differs)
if(differs)
  message(FATAL_ERROR "${FILE} is not ${EXPECTED}: compare them. ${errors}")
endif()
