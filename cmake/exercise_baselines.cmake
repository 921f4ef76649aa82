# warplings_exercise_baselines(OUT_EXERCISES OUT_LIBRARIES ENTRY...)
#
# Splits the "baselines" of course.json: an entry with a slash is an earlier exercise, one without is a
# library of NVIDIA's. OUT_LIBRARIES are the targets of those that this machine has, each a shared object
# beside the programs of the exercises; none in the simulator, which has no time for a library.
function(warplings_exercise_baselines out_exercises out_libraries)
  set(exercises "")
  set(libraries "")
  foreach(entry IN LISTS ARGN)
    if(entry MATCHES "/")
      list(APPEND exercises ${entry})
    elseif(TARGET warplings_${entry})
      list(APPEND libraries warplings_${entry})
    endif()
  endforeach()
  set(${out_exercises} "${exercises}" PARENT_SCOPE)
  set(${out_libraries} "${libraries}" PARENT_SCOPE)
endfunction()
