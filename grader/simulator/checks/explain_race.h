// Races in learner words.
#ifndef WARPLINGS_SIMULATOR_CHECKS_EXPLAIN_RACE_H_
#define WARPLINGS_SIMULATOR_CHECKS_EXPLAIN_RACE_H_

#include <cstdint>

#include "checks/race.h"
#include "exec/warp.h"

namespace warplings::sim {

// Why a race is worth a note only.
enum class RaceNote : uint8_t { kNone, kSameValue, kFirstGuess, kUnfencedRead };

// `warp` makes the later access.
void report_race(const Warp& warp, const Race& race, RaceNote note);
// The same, where the plain read of the two may only guess what an atomic corrects: a report now or
// when the launch ends.
void report_perhaps_guess(const Warp& warp, const Race& race, RaceNote otherwise);

// The later access reads, by ld.global.nc, what the earlier one has written in the same launch.
void report_cached_read(const Warp& warp, const Race& race);

// A plain write of `thread` at `pc`, which the asynchronous proxy reads without a fence.
void report_missing_proxy_fence(const Warp& warp, int lane, uint32_t offset, uint32_t thread,
                                uint32_t pc);
// A block ends, and a thread of the block `other` may touch its shared memory after that.
void report_early_leave(const Block& block, uint32_t other, uint32_t thread, uint32_t pc);

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_CHECKS_EXPLAIN_RACE_H_
