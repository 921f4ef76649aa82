// Findings of synccheck in learner words.
#include <algorithm>
#include <bit>

#include "checks/words.h"
#include "exec/interpreter.h"
#include "exec/launch.h"
#include "exec/reports.h"

namespace warplings::sim {
namespace {

// Threads that stand at one source line.
struct Crowd {
  const Warp* warp = nullptr;
  uint32_t pc = 0;
  bool waits = false;  // for a barrier or for lanes; otherwise it spins
  uint64_t threads = 0;
};

std::vector<Crowd> crowds_of(const std::vector<WaitingGroup>& waiting) {
  std::vector<Crowd> places;
  for (const WaitingGroup& entry : waiting) {
    const bool waits = entry.group.state != GroupState::kReady;
    const Position line = entry.warp->module->position_of(entry.group.pc).user;
    auto place = std::find_if(places.begin(), places.end(), [&](const Crowd& other) {
      if (other.waits != waits) return false;
      const Position known = other.warp->module->position_of(other.pc).user;
      if (!line.known() || !known.known()) return other.pc == entry.group.pc;
      return known.line == line.line && known.file == line.file;
    });
    if (place == places.end()) {
      place = places.insert(places.end(), {entry.warp, entry.group.pc, waits, 0});
    }
    place->threads += static_cast<uint64_t>(std::popcount(entry.group.mask));
  }
  return places;
}

std::string threads_text(uint64_t n) { return n == 1 ? "1 thread" : number(n) + " threads"; }

// "3 threads spin at a.cu:9, 61 threads wait at a.cu:12"
std::string list(const std::vector<Crowd>& places) {
  constexpr size_t kMost = 4;
  std::string text;
  for (size_t i = 0; i < places.size() && i < kMost; ++i) {
    const Crowd& place = places[i];
    const bool one = place.threads == 1;
    text += (i > 0 ? ", " : "") + threads_text(place.threads) +
            (place.waits ? (one ? " waits " : " wait ") : (one ? " spins " : " spin ")) +
            at(*place.warp, place.pc);
  }
  return text;
}

}  // namespace

namespace {

void draw_waiting(const std::vector<WaitingGroup>& waiting, Scene& scene) {
  constexpr size_t kMost = 64;
  scene.parties.clear();
  for (const WaitingGroup& entry : waiting) {
    if (scene.parties.size() == kMost) break;
    const Warp& warp = *entry.warp;
    scene.parties.push_back({warp.block->index, warp.index, entry.group.mask,
                             warp.module->position_of(entry.group.pc).user,
                             entry.group.state == GroupState::kReady ? "spins" : "waits"});
  }
}

}  // namespace

void report_deadlock(const Block& block, const std::vector<WaitingGroup>& waiting) {
  const std::vector<Crowd> places = crowds_of(waiting);
  for (const WaitingGroup& entry : waiting) {
    if (entry.group.state != GroupState::kAtWarpgroup) continue;
    report_stuck_warpgroup(*entry.warp, entry.group.pc, list(places));
    return;
  }
  const Warp& warp = *places.front().warp;
  Finding finding = make(warp, "synccheck", "barrier-deadlock", places.front().pc);
  if (places.size() > 1) finding.other = warp.module->position_of(places[1].pc).user;
  draw_waiting(waiting, *finding.scene);
  finding.message = "In " + kernel_name(warp) + ", block " + number(block.linear) +
                    " can never go on: " + list(places) +
                    ". A barrier is complete when every thread of the block that has not exited "
                    "is there: it must not stand in a branch that only some threads take.";
  FindingLog::instance().report(std::move(finding));
}

namespace {

// "; thread 0 waits at x.cu:7 for an mbarrier at byte 0 of shared memory, whose phase misses 1
// arrival and 512 of 1,024 bytes"
std::string awaited_objects(const std::vector<WaitingGroup>& waiting) {
  for (const WaitingGroup& entry : waiting) {
    const Warp& warp = *entry.warp;
    if (!warp.awaited.waits || entry.group.state != GroupState::kReady) continue;
    const MBarrier* barrier = warp.block->mbarriers.find(warp.awaited.offset);
    if (barrier == nullptr) continue;
    const int64_t coming = barrier->incoming_bytes();
    std::string text = " " + thread_name(warp, std::countr_zero(entry.group.mask)) + " waits " +
                       at(warp, warp.awaited.pc) + " for the mbarrier at byte " +
                       number(warp.awaited.offset) + " of shared memory. Its phase waits for " +
                       number(barrier->pending) + " more of " + number(barrier->expected) +
                       (barrier->expected == 1 ? " arrival" : " arrivals");
    if (barrier->transactions != 0 || coming != 0) {
      text += ", and it expects " + number(static_cast<uint64_t>(barrier->transactions)) +
              " bytes, of which copies have brought or are bringing " +
              number(static_cast<uint64_t>(coming));
    }
    text +=
        ". Every phase needs exactly the arrivals that the object was initialised with, and "
        "the bytes that mbarrier.arrive.expect_tx names.";
    return text;
  }
  return {};
}

bool any_at_cluster(const std::vector<WaitingGroup>& waiting) {
  return std::any_of(waiting.begin(), waiting.end(), [](const WaitingGroup& entry) {
    return entry.group.state == GroupState::kAtCluster;
  });
}

}  // namespace

void report_spin_deadlock(const std::vector<WaitingGroup>& waiting, uint64_t blocks,
                          uint64_t not_started) {
  std::vector<Crowd> places = crowds_of(waiting);
  std::stable_partition(places.begin(), places.end(),
                        [](const Crowd& place) { return !place.waits; });
  const std::string objects = awaited_objects(waiting);
  const bool at_cluster = objects.empty() && any_at_cluster(waiting);
  if (at_cluster) {
    std::stable_partition(places.begin(), places.end(), [](const Crowd& place) {
      return place.warp->module->code[place.pc].kind == Kind::kClusterWait;
    });
  }
  const Warp& warp = *places.front().warp;
  const char* kind = !objects.empty() ? "mbarrier-deadlock"
                     : at_cluster     ? "cluster-deadlock"
                                      : "spin-deadlock";
  Finding finding = make(warp, "synccheck", kind, places.front().pc);
  if (places.size() > 1) finding.other = warp.module->position_of(places[1].pc).user;
  draw_waiting(waiting, *finding.scene);
  finding.message =
      "In " + kernel_name(warp) + ", nothing can go on any more: " + list(places) +
      (at_cluster ? "." : ", and no thread is left that could change the memory they read. ");
  if (!objects.empty()) {
    finding.message += objects.substr(1);
  } else if (at_cluster) {
    finding.message +=
        " The barrier of a cluster is complete when every thread of all its blocks that has not "
        "exited is there: cluster.sync() must not stand in a branch that only some threads or "
        "blocks take.";
  } else if (not_started > 0) {
    finding.message += "The device holds " + number(blocks) + " of these blocks at a time and " +
                       number(not_started) +
                       " have not started: a block must never wait for one that may start later. "
                       "Let each block take its number from an atomic counter, start fewer "
                       "blocks, or use a cooperative launch.";
  } else {
    finding.message +=
        "Is the flag or lock set or given back on every path, and does the waiting thread leave "
        "the others the chance to do it?";
  }
  FindingLog::instance().report(std::move(finding));
}

void report_mixed_barriers(const Warp& warp, uint32_t first_pc, uint32_t second_pc) {
  Finding finding = make(warp, "synccheck", "divergent-barrier", first_pc);
  finding.other = warp.module->position_of(second_pc).user;
  finding.message = "In " + kernel_name(warp) + ", block " + number(warp.block->linear) +
                    ": some threads wait at the barrier " + at(warp, first_pc) +
                    " while others wait at the one " + at(warp, second_pc) +
                    ". All threads of a block must reach the same __syncthreads(): move it out of "
                    "the branch.";
  FindingLog::instance().report(std::move(finding));
}

void report_barrier_count(const Warp& warp, uint32_t threads) {
  Finding finding = make(warp, "synccheck", "barrier-count", warp.pc);
  finding.message =
      "In " + kernel_name(warp) + ", the barrier " + at(warp, warp.pc) + " waits for " +
      threads_text(threads) +
      ". The hardware counts whole warps of 32 threads: name a multiple of 32, and let "
      "all threads of these warps arrive.";
  FindingLog::instance().report(std::move(finding));
}

void report_missing_lanes(const Warp& warp, uint32_t pc, uint32_t missing, const char* operation) {
  if (repeated(warp, Report::kMissing, pc)) return;
  const int lane = std::countr_zero(missing);
  Finding finding = make(warp, "synccheck", "missing-lanes", pc);
  uint32_t elsewhere = pc;
  for (const Group& group : warp.groups) {
    if ((group.mask >> lane) & 1) elsewhere = group.pc;
  }
  finding.message = "In " + kernel_name(warp) + ", " + operation + " lane " +
                    number(static_cast<uint64_t>(lane)) + " (" + thread_name(warp, lane) + ") " +
                    at(warp, pc) + ", but that lane does not take part";
  const bool at_barrier = warp.module->code[elsewhere].kind == Kind::kBarrier;
  if (elsewhere != pc) {
    finding.other = warp.module->position_of(elsewhere).user;
    finding.message +=
        (at_barrier ? ": it waits at the barrier " : ": it stands ") + at(warp, elsewhere);
  }
  finding.message += at_barrier ? ". Either that barrier stands in a branch that only some threads "
                                  "take, and belongs out of it, or the mask names lanes that do "
                                  "not come here."
                                : ". Every lane named in the mask must execute the same operation.";
  FindingLog::instance().report(std::move(finding));
}

void report_shuffle_source(const Warp& warp, int reader, int source) {
  if (repeated(warp, Report::kShuffle, 0)) return;
  Finding finding = make(warp, "synccheck", "shuffle-from-absent-lane", warp.pc);
  finding.is_note = engine_options().absent_lanes_are_notes;
  const bool exited = ((warp.live >> source) & 1) == 0;
  finding.message = "In " + kernel_name(warp) + ", " + thread_name(warp, reader) +
                    " takes a value from lane " + number(static_cast<uint64_t>(source)) +
                    " with the shuffle " + at(warp, warp.pc) + ", but that lane " +
                    (exited ? "has left the kernel" : "does not take part in it") +
                    ": the value is undefined. Let every lane that is read from execute the "
                    "shuffle and stand in its mask, and let lanes without an element bring a "
                    "neutral value.";
  FindingLog::instance().report(std::move(finding));
}

void report_mask_mismatch(const Warp& warp, const Group& one, const Group& other) {
  if (repeated_at(warp, one.pc, Report::kMasks, 0)) return;
  Finding finding = make(warp, "synccheck", "masks-disagree", one.pc);
  const auto lane = [&](const Group& group) {
    return thread_name(warp, std::countr_zero(group.mask));
  };
  const auto mask = [](uint32_t bits) {
    std::string text = "0x00000000";
    for (size_t i = 0; i < 8; ++i) text[9 - i] = "0123456789abcdef"[bits >> (4 * i) & 15];
    return text;
  };
  finding.message = "In " + kernel_name(warp) + ", lanes that execute one warp operation " +
                    at(warp, one.pc) + " give it different masks: " + lane(one) + " names " +
                    mask(one.wait_mask) + ", " + lane(other) + " names " + mask(other.wait_mask) +
                    ". All lanes that a mask names must give the same mask; __activemask() "
                    "does not promise that.";
  FindingLog::instance().report(std::move(finding));
}

void report_caller_not_in_mask(const Warp& warp, uint32_t lanes) {
  if (repeated(warp, Report::kCaller, 0)) return;
  Finding finding = make(warp, "synccheck", "caller-not-in-mask", warp.pc);
  finding.message = "In " + kernel_name(warp) + ", " + thread_name(warp, std::countr_zero(lanes)) +
                    " executes a warp operation " + at(warp, warp.pc) +
                    " whose mask does not name its own lane. The mask must hold every lane that "
                    "takes part.";
  FindingLog::instance().report(std::move(finding));
}

void report_partial_warp(const Warp& warp, uint32_t lanes) {
  // Once per kernel: a load, a product and a store have the same cause.
  const Function& function = warp.module->functions[warp.module->function_at(warp.pc)];
  if (repeated_at(warp, function.entry, Report::kPartialWarp, 0)) return;
  Finding finding = make(warp, "synccheck", "partial-warp", warp.pc);
  finding.message = "In " + kernel_name(warp) + ", a matrix operation " + at(warp, warp.pc) +
                    " is executed by " + number(static_cast<uint64_t>(std::popcount(lanes))) +
                    " of the 32 lanes of a warp (" + thread_name(warp, std::countr_zero(lanes)) +
                    " is one of them). All 32 must execute it together: start blocks of a multiple "
                    "of 32 threads, and keep it out of branches that some lanes do not take.";
  FindingLog::instance().report(std::move(finding));
}

}  // namespace warplings::sim
