// What the engine tells those who watch it. Declared here, where it happens, and defined in checks/
// and profile/, which nothing of the engine includes: the linker joins them, so an event costs a
// call and needs no table of watchers. The engine tells the checks only while Warp::checks is set:
// a launch without checks pays for none of this.
#ifndef WARPLINGS_SIMULATOR_EXEC_EVENTS_H_
#define WARPLINGS_SIMULATOR_EXEC_EVENTS_H_

#include <cstddef>
#include <cstdint>

#include "core/counters.h"
#include "core/instruction.h"
#include "core/kernel.h"
#include "core/request.h"
#include "decode/program.h"

namespace warplings::sim {

struct AsyncCopy;
class Block;
struct Function;
class Grid;
class Warp;

// ---- launches (profile/counters.cpp) ----------------------------------------------------------
void launch_counted(const Kernel& kernel, const LaunchConfig& config);
// One for each instruction of the module.
PcCounters* counters_of(const LoadedModule* module);

// ---- launches and blocks (checks/sync_events.cpp) ---------------------------------------------
// `across`: fences or acquiring and releasing accesses may order blocks.
void launch_begins(Grid& grid, const Function& kernel, bool across);
void launch_ends(Grid& grid);  // also by a fault
void block_begins(Block& block);

// ---- undefined values, before an instruction while some register may hold one (initcheck.cpp) --
void check_guard(Warp& warp, const Instr& in, uint32_t mask);  // the guard decides what happens
// Its result becomes as undefined as its sources make it. That is reported where it starts to
// matter: in a branch, an address, an atomic, a store to global memory, an argument of a call.
void before_instruction(Warp& warp, const Instr& in, uint32_t mask);

// ---- accesses, before they happen (checks/access_events.cpp) ----------------------------------
void race_shared(Warp& warp, const Instr& in, const Request& request);
void race_global(Warp& warp, const Instr& in, const Request& request);
// The shared-memory side of a cp.async, whose write begins here.
void race_async_copy(Warp& warp, const Request& request);
// An mbarrier in use: compared with plain accesses before it, such as its initialisation.
void race_sync_object(Warp& warp, const Request& request);
// Its initialisation, a plain write; `same`: every thread gives the object the same value.
void race_object_init(Warp& warp, const Request& request, bool same);

// ---- what a strong access means for the order of threads, after it has happened ----------------
void order_strong(Warp& warp, const Instr& in, const Request& request, bool shared);
// `read` are the lanes that get the old value, `written` those that changed it.
void order_atomic(Warp& warp, const Instr& in, const Request& request, uint32_t read,
                  uint32_t written, bool shared);

// ---- synchronisation (checks/sync_events.cpp) -------------------------------------------------
void fence_passed(Warp& warp, uint32_t lanes, Scope scope);
void lanes_met(Warp& warp, uint32_t lanes);    // at a bar.warp.sync
void some_threads_arrive(Warp& warp, int id);  // at a barrier that names its number of threads
// Barrier `id` is complete. `everybody`: all threads of the block are there and wait.
void barrier_complete(Block& block, int id, bool everybody);

// A moment in the program of a warp: what it has done by now, and nothing after.
uint32_t moment_of(const Warp& warp);
void moment_passes(Warp& warp);  // what the warp does from here on is not part of it
// The copies of these lanes reached shared memory; for their thread they ended at `moment`.
void copies_landed(Warp& warp, const AsyncCopy& copy, uint32_t lanes, uint32_t moment);

// A wgmma of the warpgroup that begins with `first`, the `number`th of its warps, reads `count`
// units of 16 bytes of shared memory, in the background, from now on.
void wgmma_begins(Warp& first, uint32_t number, const uint32_t* units, size_t count);
void wgmma_awaited(Warp& warp, uint32_t number);  // the warp has waited for all up to this one

// An mbarrier, by its offset in shared memory.
void object_begins(Block& block, uint32_t offset);
void object_phase_ends(Block& block, uint32_t offset);
void arrived_at_object(Warp& warp, uint32_t lanes, uint32_t offset);
void waited_for_object(Warp& warp, uint32_t lanes, uint32_t offset);

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_EXEC_EVENTS_H_
