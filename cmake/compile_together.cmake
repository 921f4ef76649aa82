# warplings_compile_together(TARGET GROUP FILE...)
#
# Adds files to a target that the compiler reads as one: their common headers and templates are compiled
# once, which halves what a first verdict waits for. Names in anonymous namespaces must differ within a
# group, and a group is small enough that an edit of one file costs some seconds. Presets dev and ci
# compile each file by itself, so that each goes on including what it uses.
#
# Such a group is also compiled without collecting the compiler's garbage below half a gigabyte, which it
# does not reach: a tenth less time.
option(WARPLINGS_COMPILE_TOGETHER "Compile groups of the grader's files as one" ON)

function(warplings_compile_together target group)
  target_sources(${target} PRIVATE ${ARGN})
  if(WARPLINGS_COMPILE_TOGETHER)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
    set_source_files_properties(${ARGN} PROPERTIES UNITY_GROUP ${group})
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      target_compile_options(${target} PRIVATE
        "$<$<COMPILE_LANGUAGE:CXX>:--param=ggc-min-heapsize=500000>")
    endif()
  endif()
endfunction()
