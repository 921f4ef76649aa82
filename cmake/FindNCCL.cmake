# FindNCCL: NCCL ships no CMake configuration of its own.
#
# Looks where NCCL_ROOT says, beside the CUDA toolkit, in .toolkit/libraries (setup/libraries.sh), and
# in the system's folders. Defines NCCL_FOUND and the target NCCL::nccl.
set(fetched "${CMAKE_CURRENT_LIST_DIR}/../.toolkit/libraries")
find_path(NCCL_INCLUDE_DIR nccl.h HINTS ${CUDAToolkit_INCLUDE_DIRS} "${fetched}"
          PATH_SUFFIXES include)
# NAMES_PER_DIR: a wheel has libnccl.so.2 alone, and its header must not meet the system's libnccl.so.
find_library(NCCL_LIBRARY NAMES nccl libnccl.so.2 NAMES_PER_DIR HINTS ${CUDAToolkit_LIBRARY_DIR} "${fetched}"
             PATH_SUFFIXES lib lib64)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(NCCL REQUIRED_VARS NCCL_LIBRARY NCCL_INCLUDE_DIR)
if(NCCL_FOUND AND NOT TARGET NCCL::nccl)
  add_library(NCCL::nccl UNKNOWN IMPORTED)
  set_target_properties(NCCL::nccl PROPERTIES
    IMPORTED_LOCATION "${NCCL_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${NCCL_INCLUDE_DIR}")
endif()
mark_as_advanced(NCCL_INCLUDE_DIR NCCL_LIBRARY)
