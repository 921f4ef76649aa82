// What the engine finds wrong itself. Declared here, put into words in checks/explain*.cpp.
#ifndef WARPLINGS_SIMULATOR_EXEC_REPORTS_H_
#define WARPLINGS_SIMULATOR_EXEC_REPORTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "exec/warp.h"
#include "memory/device_memory.h"

namespace warplings::sim {

struct Request;

enum class AccessProblem {
  kOutside,
  kRedZone,
  kConstant,
  kMisaligned,
  kOutsideShared,
  kOutsideLocal
};

void report_access(const Warp& warp, const Request& request, int lane, AccessProblem problem);
// `what` the value was used for: "decides a branch", "is used in arithmetic", "is an address".
void report_undefined(const Warp& warp, uint32_t lanes, const std::string& what);
// The same of the lanes of a register, which may hold the result of earlier arithmetic.
void report_undefined(Warp& warp, Place place, uint32_t lanes, const std::string& what);
// ... by the arithmetic that they go back to (Warp::origin).
void report_undefined_from(Warp& warp, uint8_t origin, uint32_t lanes, const std::string& what);
// A free() in a kernel that frees nothing.
void report_device_free(const Warp& warp, int lane, uint64_t address,
                        DeviceMemory::FreeResult result);
// A cp.async that is told to read more bytes than it copies.
void report_async_size(const Warp& warp, int lane, uint32_t copied, uint32_t asked);
enum class ImageProblem { kNoTexture, kNoSurface, kFreed, kOutside, kMisaligned };
void report_image(const Warp& warp, int lane, ImageProblem problem);
enum class MBarrierProblem {
  kNotShared,
  kNotInitialised,
  kOverwritten,
  kCount,
  kTooManyArrivals,
  kCompletes,
  kOldState,
  kTransactionRange,
};
void report_mbarrier(const Warp& warp, int lane, MBarrierProblem problem);
// All arrivals are there, and more bytes are under way than anybody expects.
void report_excess_bytes(const Warp& warp, int lane, const MBarrier& barrier);
// A block ends while a bulk copy of a lane may still be reading its shared memory.
void report_unread_bulk(const Warp& warp, int lane, uint32_t pc);
// An operand of a bulk copy that the hardware does not take.
void report_bulk_operand(const Warp& warp, int lane, const std::string& problem);
// The shared memory of another block of the cluster.
enum class RemoteProblem { kNoBlock, kLeft, kNotStarted };
void report_remote(const Warp& warp, int lane, uint32_t rank, RemoteProblem problem);
void report_unsupported(const Warp& warp, const std::string& reason);
void report_assertion(const Warp& warp, int lane, const std::string& condition, Position where);
void report_trap(const Warp& warp, uint32_t lanes);
void report_spent_budget(const Warp& warp);

// A barrier that can never be complete, and where everybody stands.
struct WaitingGroup {
  const Warp* warp;
  Group group;
};
void report_deadlock(const Block& block, const std::vector<WaitingGroup>& waiting);
// Every block that has started spins, and nothing changes any more.
void report_spin_deadlock(const std::vector<WaitingGroup>& waiting, uint64_t blocks,
                          uint64_t not_started);
// Threads of one block that met at two different barrier statements.
void report_mixed_barriers(const Warp& warp, uint32_t first_pc, uint32_t second_pc);
// A barrier that names a number of threads which is not one of whole warps.
void report_barrier_count(const Warp& warp, uint32_t threads);
// A lane named in a member mask that does not take part.
void report_missing_lanes(const Warp& warp, uint32_t pc, uint32_t missing, const char* operation);
// A shuffle that takes the value of a lane that does not take part; under `grade exec` a note.
void report_shuffle_source(const Warp& warp, int reader, int source);
// Two groups of lanes that wait at one instruction, with masks that differ.
void report_mask_mismatch(const Warp& warp, const Group& one, const Group& other);
void report_caller_not_in_mask(const Warp& warp, uint32_t lanes);
// A matrix operation that only `lanes` execute.
void report_partial_warp(const Warp& warp, uint32_t lanes);

// "thread (3, 0) of block (1, 2)"; unused dimensions are left out.
std::string thread_name(const Warp& warp, int lane);

// ---- wgmma (checks/explain_wgmma.cpp)
// A register that the wgmma at `pc` is still adding to, or reading.
void report_register_in_flight(const Warp& warp, uint32_t pc, bool is_sum);
void report_missing_wgmma_fence(const Warp& warp);
// A block whose last warps are fewer than four.
void report_partial_warpgroup(const Warp& warp);
// Nobody can go on, and some wait for a warpgroup; `places`: where everybody stands.
void report_stuck_warpgroup(const Warp& warp, uint32_t pc, const std::string& places);
enum class DescriptorProblem { kDiffers, kOutside };
void report_descriptor(const Warp& warp, DescriptorProblem problem, uint32_t offset);
enum class RegisterProblem { kNoBudget, kFewer, kMore };
void report_register_budget(const Warp& warp, RegisterProblem problem, uint32_t now,
                            uint32_t wanted);

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_EXEC_REPORTS_H_
