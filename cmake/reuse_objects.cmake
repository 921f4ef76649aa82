# Before the C++ compiler stands setup/reuse.sh, which does something only when the course's folder has
# moved. Who has a launcher of their own (ccache) keeps that.
if(NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER AND NOT DEFINED ENV{CMAKE_CXX_COMPILER_LAUNCHER})
  set(CMAKE_CXX_COMPILER_LAUNCHER sh "${CMAKE_CURRENT_SOURCE_DIR}/setup/reuse.sh")
endif()
