# The listed fixtures are what the generator writes, and 100 random forms pass.
file(REMOVE_RECURSE "${FOLDER}")
execute_process(COMMAND "${PYTHON}" "${GENERATOR}" "${FOLDER}/listed" COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${PYTHON}" "${GENERATOR}" "${FOLDER}/random" --random 100
                COMMAND_ERROR_IS_FATAL ANY)
file(GLOB listed RELATIVE "${FOLDER}/listed" "${FOLDER}/listed/*.ptx")
foreach(name ${listed})
  execute_process(COMMAND "${CMAKE_COMMAND}" -E compare_files "${FOLDER}/listed/${name}" "${FIXTURES}/${name}"
                  COMMAND_ERROR_IS_FATAL ANY)
endforeach()
execute_process(COMMAND "${PTX_RUN}" "${FOLDER}/random" COMMAND_ERROR_IS_FATAL ANY)
