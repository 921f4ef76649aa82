# 100 random forms pass.
file(REMOVE_RECURSE "${FOLDER}")
execute_process(COMMAND "${PYTHON}" "${GENERATOR}" "${FOLDER}" --random 100
                COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${PTX_RUN}" "${FOLDER}" COMMAND_ERROR_IS_FATAL ANY)
