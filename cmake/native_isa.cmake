# warplings_native_isa(OUT): the best build of the simulator's lane loops that this machine's processor
# runs: baseline, avx2 or avx512. Asked for at every configuration: the launcher configures again when a
# build folder has come to another processor (setup/stamp.sh).
function(warplings_native_isa out)
  set(flags "")
  # Where a compiler or an emulator works for another processor, this file speaks of the wrong one.
  if(NOT CMAKE_CROSSCOMPILING AND CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$" AND EXISTS /proc/cpuinfo)
    file(STRINGS /proc/cpuinfo flags REGEX "^flags[ \t]*:" LIMIT_COUNT 1)
  endif()
  string(REGEX REPLACE "[ \t]+" ";" flags "${flags}")
  set(isa baseline)
  if("avx2" IN_LIST flags AND "fma" IN_LIST flags)
    set(isa avx2)
    if("avx512f" IN_LIST flags AND "avx512bw" IN_LIST flags AND "avx512dq" IN_LIST flags
       AND "avx512vl" IN_LIST flags)
      set(isa avx512)
    endif()
  endif()
  set(${out} ${isa} PARENT_SCOPE)
endfunction()
