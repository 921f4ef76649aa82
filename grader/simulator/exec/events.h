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
struct BulkArrival;
struct BulkDeparture;
struct BulkPiece;
struct Function;
class Grid;
class Warp;

// ---- launches (profile/counters.cpp) ----------------------------------------------------------
void launch_counted(const Kernel& kernel, const LaunchConfig& config);
void waiting_child_counted();  // launched by a kernel, behind another one
// One for each instruction of the module.
PcCounters* counters_of(const LoadedModule* module);

// ---- launches and blocks (checks/sync_events.cpp) ---------------------------------------------
// `across`: fences or acquiring and releasing accesses may order blocks.
void launch_begins(Grid& grid, const Function& kernel, bool across);
void launch_ends(Grid& grid);  // also by a fault
void block_begins(Block& block);
void block_leaves(Block& block);  // others of its cluster may go on

// ---- undefined values, before an instruction while some register may hold one (initcheck.cpp) --
void check_guard(Warp& warp, const Instr& in, uint32_t mask);  // the guard decides what happens
// Its result becomes as undefined as its sources make it. That is reported where it starts to
// matter: in a branch, an address, an atomic, a store to global memory, an argument of a call.
void before_instruction(Warp& warp, const Instr& in, uint32_t mask);

// ---- accesses, before they happen (checks/access_events.cpp) ----------------------------------
void race_shared(Warp& warp, const Instr& in, const Request& request);
// ... in the shared memory of `home`, a block of the cluster.
void race_shared(Warp& warp, const Instr& in, const Request& request, Block& home);
void race_global(Warp& warp, const Instr& in, const Request& request);
// The shared-memory side of a cp.async, whose write begins here.
void race_async_copy(Warp& warp, const Request& request);
// An mbarrier in use: compared with plain accesses before it, such as its initialisation.
void race_sync_object(Warp& warp, const Request& request);
// Its initialisation, a plain write; `same`: every thread gives the object the same value.
void race_object_init(Warp& warp, const Request& request, bool same);

// ---- what a strong access means for the order of threads, after it has happened ----------------
// `home`: whose shared memory it is in; null: global memory.
void order_strong(Warp& warp, const Instr& in, const Request& request, Block* home);
// `read` are the lanes that get the old value, `written` those that changed it.
void order_atomic(Warp& warp, const Instr& in, const Request& request, uint32_t read,
                  uint32_t written, Block* home);

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
void arrived_at_object(Warp& warp, uint32_t lanes, Block& home, uint32_t offset);
void waited_for_object(Warp& warp, uint32_t lanes, uint32_t offset);

// A tensor map in global memory: a kernel has changed it; the changes of the warp are handed to the
// proxy of tensor maps; a warp takes them from there; a lane's copy uses it (checks/map_fence.cpp).
void map_changed(const Warp& warp, uint64_t address);
void maps_released(const Warp& warp);
void map_acquired(const Warp& warp, uint64_t address);
void map_used(const Warp& warp, int lane, uint64_t address);

// An access of lanes that have not waited for the kernel before (checks/early_access.cpp).
void touched_early(Warp& warp, const Instr& in, const Request& request);
void waited_for_kernel_before(Warp& warp, uint32_t lanes);

// ---- clusters (checks/cluster_race.cpp) -------------------------------------------------------
// Without .release an arrival hands on what the last fence of its thread covers.
void arrived_at_cluster(Warp& warp, uint32_t lanes, bool releases);
void cluster_phase_ends(Block& block);
void waited_for_cluster(Warp& warp, uint32_t lanes);  // with .acquire

// ---- the asynchronous proxy (checks/bulk_race.cpp) --------------------------------------------
// A lane issues a copy that will write the shared memory of `home`, for its mbarrier `number`.
void race_bulk_arrival(Warp& warp, int lane, Block& home, uint32_t number,
                       const BulkArrival& arrival);
// It has, as part of the phase of the mbarrier at `offset`.
void bulk_landed(Block& home, uint32_t offset, uint32_t number, const BulkArrival& arrival);
// A lane issues a copy out of shared memory; its bytes have been read.
void race_bulk_departure(Warp& warp, int lane, const BulkPiece* pieces, size_t count);
void bulk_was_read(Warp& warp, const BulkDeparture& copy);
// The asynchronous proxy reads shared memory now, for a lane: wgmma, copies between blocks. Plain
// writes before it need a fence.proxy.async.
void race_proxy_read(Warp& warp, int lane, const BulkPiece* pieces, size_t count);
void proxy_fence_passed(Warp& warp, uint32_t lanes);

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_EXEC_EVENTS_H_
