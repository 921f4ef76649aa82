# FindCUTLASS: headers only, from a folder that the learner names or a package of them.
#
# Looks in CUTLASS_ROOT and CUTLASS_PATH (variables of CMake or of the environment; the folder that
# holds include/cutlass), in .toolkit/libraries (setup/libraries.sh), in the system's folders, and in
# the Python package nvidia-cutlass. Defines
# CUTLASS_FOUND and the target CUTLASS::cutlass.
if(CUTLASS_INCLUDE_DIR AND NOT EXISTS "${CUTLASS_INCLUDE_DIR}/cutlass/cutlass.h")  # was removed
  unset(CUTLASS_INCLUDE_DIR CACHE)
endif()
set(python_package "")
if(NOT CUTLASS_INCLUDE_DIR)
  find_program(WARPLINGS_PYTHON NAMES python3)
  if(WARPLINGS_PYTHON)
    execute_process(
      COMMAND "${WARPLINGS_PYTHON}" -c "import importlib.util as util
spec = util.find_spec('cutlass_library')
print(spec.submodule_search_locations[0] if spec else '')"
      OUTPUT_VARIABLE python_package ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  endif()
  mark_as_advanced(WARPLINGS_PYTHON)
endif()
find_path(CUTLASS_INCLUDE_DIR cutlass/cutlass.h
          HINTS "${CUTLASS_PATH}" ENV CUTLASS_PATH "${WARPLINGS_FETCHED_LIBRARIES}" "${python_package}"
          PATH_SUFFIXES include source/include)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(CUTLASS REQUIRED_VARS CUTLASS_INCLUDE_DIR)
if(CUTLASS_FOUND AND NOT TARGET CUTLASS::cutlass)
  add_library(CUTLASS::cutlass INTERFACE IMPORTED)
  set_target_properties(CUTLASS::cutlass PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${CUTLASS_INCLUDE_DIR}")
endif()
mark_as_advanced(CUTLASS_INCLUDE_DIR)
