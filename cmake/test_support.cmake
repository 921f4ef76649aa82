# warplings_test_support(TOPIC OUT)
#
# What the tests of a chapter share lies in chapters/TOPIC/test. Its headers are included by their path
# below chapters/, by tests of other chapters too; its sources, if there are any, become the library
# TOPIC.test_support, which the programs of that chapter link.
function(warplings_test_support topic out)
  set(${out} "" PARENT_SCOPE)
  set(folder "${PROJECT_SOURCE_DIR}/chapters/${topic}/test")
  file(GLOB sources "${folder}/*.cpp")
  if(NOT sources)
    return()
  endif()
  set(${out} ${topic}.test_support PARENT_SCOPE)
  if(TARGET ${topic}.test_support)
    return()
  endif()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${folder}")
  add_library(${topic}.test_support STATIC EXCLUDE_FROM_ALL)
  warplings_compile_together(${topic}.test_support all ${sources})
  target_link_libraries(${topic}.test_support PUBLIC warplings.kit.api PRIVATE warplings.warnings
                                              INTERFACE warplings.kit.speed)
  target_compile_options(${topic}.test_support PRIVATE -O1 ${WARPLINGS_NO_LINES})
endfunction()
