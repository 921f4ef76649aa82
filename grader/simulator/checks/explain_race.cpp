#include "checks/explain_race.h"

#include <algorithm>

#include "checks/watch.h"
#include "checks/words.h"
#include "decode/handlers.h"
#include "exec/interpreter.h"
#include "memory/device_memory.h"
#include "memory/payload.h"

namespace warplings::sim {
namespace {

// A copy that has arrived, or that its mbarrier waits for: no thread's (checks/bulk_race.cpp).
bool is_bulk_copy(const Warp& warp, const RaceAccess& side) {
  return side.async && side.thread >= warp.block->warps.size() * 32;
}

std::string name_of(const Warp& warp, const RaceAccess& side) {
  const LaunchConfig& config = *warp.block->grid->config;
  const Dim3 b = config.block, g = config.grid;
  const auto coordinates = [](uint64_t linear, const Dim3& extent) {
    return dims(static_cast<unsigned>(linear % extent.x),
                static_cast<unsigned>(linear / extent.x % extent.y),
                static_cast<unsigned>(linear / extent.x / extent.y), extent);
  };
  if (is_bulk_copy(warp, side)) return "a bulk copy";
  return "thread " + coordinates(side.thread, b) + " of block " + coordinates(side.block, g);
}

const char* verb(const RaceAccess& side) {
  if (side.async) return side.write ? "starts a copy to" : "starts a copy from";
  if (side.tensor) return "multiplies, by wgmma,";
  if (side.atomic) return "atomically changes";
  return side.write ? "writes" : "reads";
}

// "the shared-memory word at byte 12", "element 5 of `counts`"
std::string place_of(const Race& race) {
  if (race.shared) return "the shared-memory word at byte " + number(race.address);
  const Allocation* allocation = DeviceMemory::instance().allocation_at(race.address);
  if (allocation == nullptr) return "a word of global memory";
  const uint64_t offset = race.address - payload(*allocation).first;
  const std::string of = allocation->name.empty() ? "an allocation" : "`" + allocation->name + "`";
  return "the 4-byte word at byte " + number(offset) + " of " + of + " in global memory";
}

bool is_image_access(const Warp& warp, const RaceAccess& side) {
  const Handler fn = warp.module->code[side.pc].fn;
  return fn == handler_texture(false) || fn == handler_texture(true) ||
         fn == handler_surface(SurfaceAccess::kLoad) ||
         fn == handler_surface(SurfaceAccess::kStore) ||
         fn == handler_surface(SurfaceAccess::kReduce);
}

// Whether the kernel has fences or accesses that order: perhaps a lock should have ordered the two.
bool may_have_locks(const Warp& warp) {
  const Function& kernel = warp.module->functions[warp.frames[0].function];
  return kernel.orders_blocks && kernel.global_strong;
}

bool has_barrier_between(const LoadedModule& module, uint32_t from, uint32_t to) {
  for (uint32_t pc = from; pc < to; ++pc) {
    if (module.code[pc].kind == Kind::kBarrier) return true;
  }
  return false;
}

bool is_in_a_loop(const LoadedModule& module, uint32_t first, uint32_t last) {
  const uint32_t end = std::min<uint32_t>(static_cast<uint32_t>(module.code.size()), last + 4096);
  for (uint32_t pc = last; pc < end; ++pc) {
    const Instr& in = module.code[pc];
    if (in.kind == Kind::kBranch && in.target <= first) return true;
  }
  return false;
}

// Which of the two stands in a round of a loop, and which in the next one: a barrier orders them in
// one round, and nothing orders one round and the next. Who comes first by chance says nothing: a
// warp may have run ahead. Where the compiler has unrolled the loop, a copy of the one stands
// before the other. Empty pointers: it is no such race.
struct Rounds {
  const RaceAccess *of_one = nullptr, *of_next = nullptr;
};

Rounds rounds_of(const Warp& warp, const Race& race) {
  const LoadedModule& module = *warp.module;
  const bool forward = race.earlier.pc < race.later.pc;
  const RaceAccess& upper = forward ? race.earlier : race.later;
  const RaceAccess& lower = forward ? race.later : race.earlier;
  if (has_barrier_between(module, upper.pc, lower.pc)) {
    return is_in_a_loop(module, upper.pc, lower.pc) ? Rounds{&lower, &upper} : Rounds{};
  }
  const Position first = module.position_of(upper.pc).user;
  const Position second = module.position_of(lower.pc).user;
  if (!first.known() || first.file != second.file || second.line >= first.line) return {};
  for (uint32_t pc = upper.pc - std::min(upper.pc, uint32_t{4096}); pc < upper.pc; ++pc) {
    const Position here = module.position_of(pc).user;
    const bool is_copy = module.code[pc].fn == module.code[lower.pc].fn &&
                         here.line == second.line && here.file == second.file;
    if (is_copy && has_barrier_between(module, pc, upper.pc)) return {&upper, &lower};
  }
  return {};
}

std::string advice_for(const Warp& warp, const Race& race) {
  const RaceAccess &a = race.earlier, &b = race.later;
  const Position first = warp.module->position_of(a.pc).user;
  const Position second = warp.module->position_of(b.pc).user;
  const bool one_line = first.line == second.line && first.file == second.file;
  if (is_image_access(warp, a) || is_image_access(warp, b)) {
    return "What a kernel writes can reach its texture fetches and surface reads at any time or "
           "not at all, also behind a barrier: write to another image, or read it in the next "
           "kernel.";
  }
  if (one_line && (b.write || a.block != b.block) && !a.strong && !b.strong) {
    return std::string("Several threads use one word here: ") +
           (!a.write && a.block == b.block
                ? "where they add to it, use an atomic (atomicAdd); where one reads what another "
                  "writes, split the line: read into a register, __syncthreads(), then write."
                : "where each should have its own, the index gives two threads the same one (look "
                  "at the strides and at the guard); where they add to it, use an atomic "
                  "(atomicAdd).");
  }
  if (a.atomic != b.atomic) {
    return a.block == b.block
               ? "An atomic protects only against other atomics: a __syncthreads() between the two "
                 "accesses orders them."
               : "An atomic protects only against other atomics, and no barrier orders blocks: "
                 "access it atomically on both sides, or start a second kernel for what comes "
                 "after.";
  }
  if (b.may_undo(a)) {
    return "A volatile read and a volatile write make no atomic. Where a lock is meant to order "
           "the "
           "two, a __threadfence() must stand behind the taking of the lock and another one before "
           "it is given back: without the second the next owner may read what was there before. "
           "Else use an atomic (atomicAdd).";
  }
  if (a.strong && b.strong) {
    return "Both are atomic or volatile, but not of the same size or not for threads of other "
           "blocks: use the same type, without the suffix _block or cuda::thread_scope_block.";
  }
  if (race.shared && a.block != b.block) {
    return "Blocks of a cluster run at the same time: a cluster.sync() between the two accesses "
           "orders them, or an mbarrier that one of the blocks arrives at and the other waits for.";
  }
  if (a.async && a.write && is_bulk_copy(warp, a)) {
    return "Bytes that a bulk copy brings are there for a thread that has waited for the phase of "
           "the mbarrier which counts them (mbarrier.try_wait, barrier::wait), and for threads "
           "that a barrier orders after it.";
  }
  if (a.async && a.write && race.shared) {
    return "A copy that goes on by itself is complete for the thread that has waited for it "
           "(cp.async.wait_group, wait_prior, a pipeline's consumer_wait), and for the others "
           "behind "
           "a barrier that follows this wait: first wait, then __syncthreads().";
  }
  if (b.async && b.write) {
    return "A buffer may be filled again when all its readers have released it: let them arrive at "
           "a barrier after their last access, and the thread that starts the copy wait for it.";
  }
  if (a.block != b.block) {
    return "Blocks run in any order, so nothing separates the two: give each block its own "
           "elements, use an atomic, or start a second kernel for what comes after. Where a flag, "
           "lock or ticket is meant to order them, a __threadfence() must stand between the data "
           "and the atomic that hands it over.";
  }
  if (const Rounds rounds = rounds_of(warp, race); rounds.of_one != nullptr) {
    const auto what = [&](const RaceAccess& side) {
      return (side.write ? std::string("write ") : std::string("read ")) + at(warp, side.pc);
    };
    return "They belong to two rounds of a loop: a __syncthreads() is missing between the " +
           what(*rounds.of_one) + " of one round and the " + what(*rounds.of_next) +
           " of the next, so at the end of a round.";
  }
  if (may_have_locks(warp)) {
    return "Where a lock is meant to order them, both must stand between taking it and giving it "
           "back, with a __threadfence() behind the taking and one before the giving back: without "
           "these the next owner may see what was there before. Else a __syncthreads() between the "
           "two accesses orders them.";
  }
  if (a.thread / 32 == b.thread / 32 && warp.block->warps.size() == 1) {
    return "They are lanes of one warp, but lanes run in step only by chance: a __syncwarp() or "
           "__syncthreads() between the two accesses orders them.";
  }
  if (a.thread / 32 == b.thread / 32) {
    return "A __syncthreads() between the two accesses orders them. (A __syncwarp() would be "
           "enough "
           "only where no other warp of the block uses these words.)";
  }
  return "A __syncthreads() between the two accesses orders them.";
}

Report key_of(RaceNote note) {
  switch (note) {
    case RaceNote::kSameValue:
      return Report::kSameValueRace;
    case RaceNote::kFirstGuess:
      return Report::kFirstGuess;
    case RaceNote::kUnfencedRead:
      return Report::kUnfencedRead;
    case RaceNote::kNone:
      break;
  }
  return Report::kRace;
}

const char* kind_of(const Race& race, RaceNote note) {
  switch (note) {
    case RaceNote::kSameValue:
      return "same-value-race";
    case RaceNote::kFirstGuess:
      return "first-guess";
    case RaceNote::kUnfencedRead:
      return "missing-acquire-fence";
    case RaceNote::kNone:
      break;
  }
  if (race.earlier.tensor || race.later.tensor) return "wgmma-race";
  if (race.in_flight) return "async-copy-race";
  return race.shared ? "shared-race" : "global-race";
}

std::string bulk_in_flight(const Warp& warp, const Race& race) {
  const bool arrives = race.earlier.write;
  return (arrives ? "a bulk copy to " : name_of(warp, race.earlier) + " starts a bulk copy from ") +
         place_of(race) + (arrives ? " starts " : " ") + at(warp, race.earlier.pc) + ", and " +
         name_of(warp, race.later) + " " + verb(race.later) + " it " + at(warp, race.later.pc) +
         " while the copy may still be under way. " +
         (arrives ? "Wait first for the phase of the mbarrier that counts its bytes "
                    "(mbarrier.try_wait, barrier::wait); whoever has not waited needs a barrier "
                    "after somebody's wait. Is it the phase of this copy, and not the one before?"
                  : "The thread that started it must wait first (cp.async.bulk.commit_group, "
                    "cp.async.bulk.wait_group.read 0), and a barrier after that wait lets other "
                    "threads write.");
}

std::string copy_in_flight(const Warp& warp, const Race& race) {
  if (warp.module->code[race.earlier.pc].fn == handler_bulk()) return bulk_in_flight(warp, race);
  return name_of(warp, race.earlier) + " starts an asynchronous copy to " + place_of(race) + " " +
         at(warp, race.earlier.pc) + ", and " +
         (race.earlier.thread == race.later.thread ? "the same thread"
                                                   : name_of(warp, race.later)) +
         " " + verb(race.later) + " it " + at(warp, race.later.pc) +
         " while the copy may still be under way. The thread that started the copy must wait for "
         "it first (cp.async.wait_group, __pipeline_wait_prior, or an mbarrier), and a barrier "
         "after that wait lets other threads use the data.";
}

// The tensor cores read, for a warpgroup, what a thread writes.
std::string tensor_race(const Warp& warp, const Race& race) {
  const RaceAccess& side = race.earlier.tensor ? race.earlier : race.later;
  std::string group =
      "The warpgroup of threads " + number(side.thread) + " to " + number(side.thread + 127);
  if (race.earlier.block != race.later.block) group += " of block " + number(side.block);
  if (race.later.tensor) {
    return name_of(warp, race.earlier) + " " + verb(race.earlier) + " " + place_of(race) + " " +
           at(warp, race.earlier.pc) + ", and a wgmma " + at(warp, race.later.pc) +
           " multiplies it with nothing that orders the two for all four warps. " + group +
           " must meet the threads that fill the tile before its first wgmma: at a barrier, or at "
           "the mbarrier that counts the bytes.";
  }
  std::string text = group + " begins a wgmma " + at(warp, race.earlier.pc) + " that multiplies " +
                     place_of(race) + ", and " + name_of(warp, race.later) + " " +
                     verb(race.later) + " it " + at(warp, race.later.pc);
  text += race.in_flight ? " while the tensor cores may still read it. "
                         : " without having heard that they are done. ";
  return text +
         "A tile may be filled again when a thread that multiplied it has waited "
         "(wgmma.commit_group, "
         "then wgmma.wait_group) and has then told the one that fills it: by a barrier, or by "
         "arriving at an mbarrier.";
}

const char* verb_of(const Warp& warp, const RaceAccess& side) {
  return is_bulk_copy(warp, side) ? "fills" : verb(side);
}

std::string two_accesses(const Warp& warp, const Race& race, RaceNote note) {
  const bool undoes = race.later.may_undo(race.earlier);
  std::string text =
      name_of(warp, race.earlier) + " " + verb_of(warp, race.earlier) + " " + place_of(race) + " " +
      at(warp, race.earlier.pc) + ", and " + name_of(warp, race.later) + " " +
      (undoes ? "has read it and writes it anew" : verb_of(warp, race.later) + std::string(" it")) +
      " " + at(warp, race.later.pc);
  switch (note) {
    case RaceNote::kSameValue:
      return text +
             ", with nothing that orders the two. Both write the same value here, so this "
             "may be meant.";
    case RaceNote::kFirstGuess:
      return text +
             ", with nothing that orders the two. The plain read only guesses what the "
             "atomic after it will find, and the atomic corrects it, so this may be meant; "
             "a volatile read says so.";
    case RaceNote::kUnfencedRead:
      return text +
             ". A flag, lock or ticket hands the data over, with a fence before it; on the "
             "reading side a __threadfence() after the flag has been seen is missing. It "
             "works where the reads cannot be moved forward, which nothing promises.";
    case RaceNote::kNone:
      break;
  }
  return text + ", with nothing that orders the two: " +
         (undoes ? "it may have read what was there before, and then undoes what the other has "
                   "written. "
                 : "which comes first is chance. ") +
         advice_for(warp, race);
}

}  // namespace

namespace {

Party party_of(const Warp& warp, const RaceAccess& side) {
  const Dim3 g = warp.block->grid->config->grid;
  const Dim3 index{side.block % g.x, side.block / g.x % g.y, side.block / g.x / g.y};
  return {index, static_cast<int>(side.thread / 32), 1u << side.thread % 32,
          warp.module->position_of(side.pc).user, verb(side)};
}

void draw_race(const Warp& warp, const Race& race, Scene& scene) {
  scene.parties = {party_of(warp, race.earlier), party_of(warp, race.later)};
  scene.has_place = true;
  scene.shared = race.shared;
  scene.bytes = 4;
  scene.offset = static_cast<int64_t>(race.address);
  if (race.shared) {
    scene.array = "shared memory";
    scene.array_bytes = warp.block->shared.size();
  } else if (const Allocation* allocation = DeviceMemory::instance().allocation_at(race.address)) {
    const auto [low, high] = payload(*allocation);
    scene.array = allocation->name;
    scene.array_bytes = high - low;
    scene.offset = static_cast<int64_t>(race.address - low);
  }
}

KeyedFinding describe(const Warp& warp, const Race& race, RaceNote note) {
  Finding finding = make(warp, "racecheck", kind_of(race, note), race.later.pc);
  finding.other = warp.module->position_of(race.earlier.pc).user;
  draw_race(warp, race, *finding.scene);
  finding.is_note = note != RaceNote::kNone;
  finding.message = "In " + kernel_name(warp) + ", " +
                    (race.earlier.tensor || race.later.tensor ? tensor_race(warp, race)
                     : race.in_flight                         ? copy_in_flight(warp, race)
                                                              : two_accesses(warp, race, note));
  return {std::move(finding), key_at(warp, warp.pc, key_of(note), race.earlier.pc)};
}

}  // namespace

void report_race(const Warp& warp, const Race& race, RaceNote note) {
  if (repeated(warp, key_of(note), race.earlier.pc)) return;
  FindingLog::instance().report(describe(warp, race, note).finding);
}

void report_cached_read(const Warp& warp, const Race& race) {
  if (repeated(warp, Report::kCachedRead, race.earlier.pc)) return;
  Finding finding = make(warp, "racecheck", "cached-read", race.later.pc);
  finding.other = warp.module->position_of(race.earlier.pc).user;
  draw_race(warp, race, *finding.scene);
  const bool own = race.earlier.same_thread(race.later);
  finding.message =
      "In " + kernel_name(warp) + ", " + name_of(warp, race.earlier) + " " +
      verb_of(warp, race.earlier) + " " + place_of(race) + " " + at(warp, race.earlier.pc) +
      ", and " + (own ? "later" : name_of(warp, race.later)) + " reads it " +
      at(warp, race.later.pc) +
      " by ld.global.nc, through a cache that is only right for memory that nobody writes while "
      "the kernel runs: the read may get what was there before, also behind a barrier or a fence. "
      "Read it through a plain or volatile pointer: without __ldg, and not through a `const ... "
      "__restrict__`, of which the compiler makes the same read.";
  FindingLog::instance().report(std::move(finding));
}

void report_perhaps_guess(const Warp& warp, const Race& race, RaceNote otherwise) {
  FirstGuesses& guesses = warp.block->grid->watch->guesses;
  const uint32_t earlier = race.earlier.pc, later = race.later.pc;
  const uint32_t read = race.earlier.atomic ? later : earlier;
  if (guesses.is_guess(read)) {
    report_race(warp, race, RaceNote::kFirstGuess);
  } else if (!guesses.in_doubt(earlier, later)) {
    guesses.add({read, earlier, later, describe(warp, race, RaceNote::kFirstGuess),
                 describe(warp, race, otherwise)});
  }
}

}  // namespace warplings::sim
