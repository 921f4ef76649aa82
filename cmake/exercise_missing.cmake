# warplings_exercise_missing(ID REASON)
#
# The exercise cannot be built here. `grade` reads why in course/NN_topic.MM_name.missing: "needs
# cuSOLVER, ...". An empty REASON takes an earlier one back.
function(warplings_exercise_missing id reason)
  string(REPLACE "/" "." name "${id}")
  set(file "${CMAKE_BINARY_DIR}/course/${name}.missing")
  if(reason STREQUAL "")
    file(REMOVE "${file}")
  else()
    file(WRITE "${file}" "${reason}\n")
    message(STATUS "Not built for ${WARPLINGS_DEVICE}: ${id} ${reason}")
  endif()
endfunction()

# warplings_needed(OUT LIBRARY...): "needs cusolver, which is not here", and where to get it from.
function(warplings_needed out)
  list(JOIN ARGN " and " names)
  set(text "needs ${names}, which is not here")
  set(fetched "${ARGN}")
  list(TRANSFORM fetched REPLACE "^cublasLt$" "cublas")  # one package
  list(FILTER fetched INCLUDE REGEX "^(cublas|cudnn|cufft|curand|nccl|nvrtc|cutlass)$")
  list(REMOVE_DUPLICATES fetched)
  if(fetched)
    list(JOIN fetched " " names)
    string(APPEND text "; sh setup/libraries.sh ${names} fetches it")
  endif()
  if("nccl" IN_LIST ARGN)
    string(APPEND text ", or NCCL_ROOT names the folder of its include and lib (then ./grade clean build)")
  endif()
  set(${out} "${text}" PARENT_SCOPE)
endfunction()
