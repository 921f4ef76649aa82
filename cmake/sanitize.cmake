# WARPLINGS_SANITIZE: host code of everything that is built here is compiled with these sanitizers. A finding
# ends the program, so a test that meets one fails. Presets asan and tsan set it; their target "sanitized"
# builds what their tests run.
set(WARPLINGS_SANITIZE "" CACHE STRING "Sanitizers of the host compiler, e.g. address;undefined or thread")

function(warplings_sanitize)
  foreach(name IN LISTS WARPLINGS_SANITIZE)
    list(APPEND flags -fsanitize=${name})
    add_link_options(-fsanitize=${name})
  endforeach()
  if("undefined" IN_LIST WARPLINGS_SANITIZE)
    # Any int may come as an enumerator of the CUDA API, whose functions answer with an error. The
    # compiler does not build on the range of an enumeration (-fstrict-enums does).
    list(APPEND flags -fno-sanitize-recover=undefined -fno-sanitize=enum)
  endif()
  foreach(flag IN LISTS flags)
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:${flag}> $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=${flag}>)
  endforeach()
endfunction()

# The tests, with the time that they need now. Modelled time is reckoned in one thread, for minutes; that
# reports repeat is shown without sanitizers. And solutions that between them use streams, graphs, pools, host
# threads, several devices and every kind of memory.
function(warplings_sanitized_tests)
  if(NOT WARPLINGS_SANITIZE)
    return()
  endif()
  # With ThreadSanitizer the simulator has a quarter of its addresses: no room for the largest arrays.
  if("thread" IN_LIST WARPLINGS_SANITIZE)
    set(largest :KitLargest.*:KitSparse*:*.*Largest*:*.*Longest*)
  endif()
  add_custom_target(sanitized DEPENDS corpus ptx_fuzz ptx_fuzz.texts ptx_random ptx_run)
  if(TARGET wgmma_fixtures)
    add_dependencies(sanitized wgmma_fixtures)
  endif()
  foreach(program corpus_tests kit_tests simulator.ptx_tests simulator_runtime_tests)
    add_dependencies(sanitized ${program})
    add_test(NAME sanitized/${program}
             COMMAND ${program} --gtest_filter=-ModelledTime.*:Corpus.*Every*Time:Corpus.*Order*${largest})
    set_tests_properties(sanitized/${program} PROPERTIES TIMEOUT 1800)
  endforeach()
  foreach(id 02_vector_add/01_vector_add 03_memory_model/10_unified_memory 04_atomics/12_hand_over
             05_warps/03_block_reduce 06_streams_and_profiling/06_cuda_graph
             06_streams_and_profiling/11_host_threads 06_streams_and_profiling/13_memory_pools
             07_tiled_matmul/10_matmul_async_copy 10_nccl/03_collectives)
    string(REPLACE "/" "." name "${id}")
    add_dependencies(sanitized ${name}.solution)
    get_test_property("${id}" ENVIRONMENT environment)
    add_test(NAME "sanitized/${id}" COMMAND ${name}.solution --gtest_filter=-none${largest})
    set_tests_properties("sanitized/${id}" PROPERTIES ENVIRONMENT "${environment}" TIMEOUT 600)
  endforeach()
endfunction()
