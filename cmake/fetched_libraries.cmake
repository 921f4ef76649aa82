# Libraries for GPUs that setup/libraries.sh has fetched from wheels: .toolkit/libraries/{include,lib}.
set(WARPLINGS_FETCHED_LIBRARIES "${CMAKE_CURRENT_LIST_DIR}/../.toolkit/libraries")
cmake_path(NORMAL_PATH WARPLINGS_FETCHED_LIBRARIES)

# FindCUDAToolkit looks there as well, behind the folders of the toolkit. Not in the simulator's build:
# it has libraries of its own, and takes the vendor's headers from the toolkit alone.
if(WARPLINGS_DEVICE STREQUAL "gpu")
  list(APPEND CMAKE_PREFIX_PATH "${WARPLINGS_FETCHED_LIBRARIES}")
endif()

# warplings_fetched_includes(OUT TARGET): the folder of headers that belongs to an imported target which
# was found there; nothing for one of the toolkit, whose headers the compiler finds by itself.
function(warplings_fetched_includes out target)
  set(${out} "" PARENT_SCOPE)
  get_target_property(location ${target} IMPORTED_LOCATION)
  if(NOT location)
    return()
  endif()
  cmake_path(IS_PREFIX WARPLINGS_FETCHED_LIBRARIES "${location}" NORMALIZE is_fetched)
  if(is_fetched)
    set(${out} "${WARPLINGS_FETCHED_LIBRARIES}/include" PARENT_SCOPE)
  endif()
endfunction()
