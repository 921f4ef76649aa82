# warplings_linked_kernels(OUT OUT_SOLUTIONS EXERCISE...)
#
# The object libraries of earlier exercises whose kernels an exercise uses ("links" of course.json). OUT is
# for the learner's program: the learner's own kernels of the exercises in own_kernels.txt of the build
# folder, which `grade` writes before it builds (one id per line), the solutions' of the others.
# OUT_SOLUTIONS, for every other program, has solutions only.
function(warplings_linked_kernels out out_solutions)
  set(file "${CMAKE_BINARY_DIR}/own_kernels.txt")
  if(NOT EXISTS "${file}")
    file(WRITE "${file}" "")
  endif()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
  file(STRINGS "${file}" own)
  set(kernels "")
  set(solutions "")
  foreach(earlier IN LISTS ARGN)
    string(REPLACE "/" "." name "${earlier}")
    list(APPEND solutions "${name}.solution.kernels")
    if(earlier IN_LIST own)
      list(APPEND kernels "${name}.kernels")
    else()
      list(APPEND kernels "${name}.solution.kernels")
    endif()
  endforeach()
  set(${out} "${kernels}" PARENT_SCOPE)
  set(${out_solutions} "${solutions}" PARENT_SCOPE)
endfunction()
