# Flags that must be known before project(): they decide how the compilers are tested and become the
# defaults of the cache.

# Optimised, with line tables only: full debug information triples the size of what is linked at every
# edit. No NDEBUG: assert() in a learner's kernel must work.
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g1" CACHE STRING "")
set(CMAKE_CUDA_FLAGS_RELWITHDEBINFO "-O2" CACHE STRING "")

# What no learner debugs is compiled faster without line tables; debug builds, and those with sanitizers,
# want them.
set(WARPLINGS_NO_LINES $<$<NOT:$<CONFIG:Debug>>:-g0>)

# Exercises name their architectures themselves (cuda_objects.cmake); this one is for the compiler test.
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
  set(CMAKE_CUDA_ARCHITECTURES 80-virtual)
endif()

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "")
endif()
