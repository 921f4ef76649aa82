# warplings.warnings: what every C++ file of the grader is compiled with.
#
# A compiler that we have not tested may warn about something new; that must not lock a learner out, so
# warnings are errors for tested compilers only.
function(warplings_warnings_target)
  add_library(warplings.warnings INTERFACE)
  set(options -Wall -Wextra -Wpedantic -Wshadow)
  set(tested FALSE)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 14)
    set(tested TRUE)
  endif()
  option(WARPLINGS_WARNINGS_AS_ERRORS "Treat warnings in the grader as errors" ${tested})
  if(WARPLINGS_WARNINGS_AS_ERRORS)
    list(APPEND options -Werror)
  endif()
  target_compile_options(warplings.warnings INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:${options}>")
endfunction()
