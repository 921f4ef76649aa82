# Runs PROGRAM DEFECT as grade exec would; fails unless its status is EXPECT, and for a finding (99)
# unless the report names a line of the program.
execute_process(COMMAND ${CMAKE_COMMAND} -E env GRADE_EXEC=1 ${PROGRAM} ${DEFECT}
                RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE errors)
message(STATUS "${output}${errors}")
if(NOT status STREQUAL EXPECT)
  message(FATAL_ERROR "status ${status}, expected ${EXPECT}")
endif()
if(EXPECT EQUAL 99 AND NOT errors MATCHES "defects\\.cu:[0-9]+")
  message(FATAL_ERROR "the report names no line of defects.cu")
endif()
