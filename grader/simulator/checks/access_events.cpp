// What accesses mean for racecheck.
#include <bit>
#include <cstring>

#include "checks/explain_race.h"
#include "checks/global_race.h"
#include "checks/watch.h"
#include "exec/events.h"
#include "memory/device_memory.h"

namespace warplings::sim {
namespace {

// Four bytes of the value that a lane of a store writes to the word at `address`.
uint32_t stored_word(const Warp& warp, const Instr& in, const Request& request, uint32_t lane,
                     uint64_t address) {
  uint8_t value[16 + 4] = {};
  if (request.values != nullptr) {
    std::memcpy(value, request.values + size_t{lane} * request.values_stride, request.bytes);
  }
  for (int part = 0; request.values == nullptr && part < in.vector; ++part) {
    if (in.ops[part] == kNoPlace) continue;  // no store of registers
    const uint64_t bits = in.register_size == 8 ? warp.in<uint64_t>(in.ops[part])[lane]
                                                : warp.in<uint32_t>(in.ops[part])[lane];
    std::memcpy(value + part * in.size, &bits, in.size);
  }
  uint32_t word = 0;
  const uint64_t first = request.address[lane];
  for (uint32_t k = 0; k < 4; ++k) {
    const uint64_t at = address + k;
    if (at >= first && at < first + request.bytes) {
      word |= static_cast<uint32_t>(value[at - first]) << (8 * k);
    }
  }
  return word;
}

// Two plain writes that store the same value: worth a note, not a failure. `now`: the word in
// memory.
bool writes_same_value(const Warp& warp, const Instr& in, const Request& request,
                       const RaceReport& race, const uint8_t* now) {
  const RaceSide &earlier = race.earlier, &later = race.later;
  if (!earlier.write || !later.write || earlier.strong || later.strong) return false;
  if (earlier.async || later.async || earlier.bytes != later.bytes) return false;
  const uint32_t value = stored_word(warp, in, request, later.thread % 32, race.address);
  const bool same_instruction = earlier.pc == warp.pc && earlier.block == later.block &&
                                earlier.thread / 32 == later.thread / 32 &&
                                ((request.mask >> (earlier.thread % 32)) & 1) != 0 &&
                                earlier.clock == warp.clock->now;
  if (same_instruction &&
      stored_word(warp, in, request, earlier.thread % 32, race.address) == value) {
    return true;
  }
  uint32_t memory = 0;
  for (uint32_t k = 0; k < 4; ++k) {
    if ((later.bytes >> k) & 1) memory |= static_cast<uint32_t>(now[k]) << (8 * k);
  }
  return !same_instruction && memory == value;
}

// What can be said for the two: nothing, or one of the notes.
RaceNote note_for(const RaceReport& race, Standing standing, bool same_value) {
  const RaceSide &earlier = race.earlier, &later = race.later;
  if (same_value) return RaceNote::kSameValue;
  if ((earlier.first_guess && later.atomic) || (later.first_guess && earlier.atomic)) {
    return RaceNote::kFirstGuess;
  }
  return standing == Standing::kPending ? RaceNote::kUnfencedRead : RaceNote::kNone;
}

RaceReport report_of(const Warp& warp, const SharedRace::Race& found) {
  const auto side = [&](const SharedRace::Access& access) {
    RaceSide out;
    out.block = order_of(warp).block;
    out.thread = access.thread;
    out.pc = access.pc;
    out.clock = access.clock;
    out.bytes = access.bytes;
    out.write = access.write;
    out.strong = access.strong;
    out.atomic = access.atomic;
    out.async = access.async;
    out.first_guess = access.first_guess;
    return out;
  };
  return {side(found.earlier), side(found.later), found.address, true, found.in_flight};
}

void report_found(const Warp& warp, const SharedRace::Race& found, bool same_value) {
  const RaceReport report = report_of(warp, found);
  report_race(warp, report, note_for(report, found.standing, same_value));
}

void report_found(const Warp& warp, const GlobalRace::Race& found, const Instr& in,
                  const Request& request) {
  const auto side = [](const GlobalRace::Access& access) {
    RaceSide out;
    out.block = access.block;
    out.thread = access.thread;
    out.pc = access.pc;
    out.clock = access.clock;
    out.bytes = access.bytes;
    out.write = access.write;
    out.strong = access.strong;
    out.atomic = access.atomic;
    out.first_guess = access.first_guess;
    return out;
  };
  RaceReport race{side(found.earlier), side(found.later), found.address, false, false};
  const bool same_value =
      writes_same_value(warp, in, request, race, DeviceMemory::instance().view(found.address));
  report_race(warp, race, note_for(race, found.standing, same_value));
}

uint8_t power_of(uint32_t size) { return static_cast<uint8_t>(std::countr_zero(size)) & 3; }

}  // namespace

void race_shared(Warp& warp, const Instr& in, const Request& request) {
  if (!warp.checks) return;
  SharedRace& race = warp.block->watch->race;
  if (!race.enabled()) return;
  SharedRace::Access access;
  access.pc = warp.pc;
  access.write = request.write;
  access.strong = in.strong;
  access.atomic = request.atomic;
  access.first_guess = in.first_guess;
  access.size = power_of(in.size);
  SharedRace::Race found;
  if (race.access(*warp.clock, static_cast<uint32_t>(warp.index), request.mask, request.address,
                  request.bytes, access, &found)) {
    const RaceReport report = report_of(warp, found);
    const bool same =
        writes_same_value(warp, in, request, report, warp.block->shared.data() + found.address);
    report_race(warp, report, note_for(report, found.standing, same));
  }
}

void race_global(Warp& warp, const Instr& in, const Request& request) {
  if (!warp.checks || request.mask == 0) return;
  GlobalRace& race = GlobalRace::instance();
  if (!request.write && !in.strong && race.is_quiet(request)) return;
  GlobalRace::Access access;
  access.block = order_of(warp).block;
  access.clock = warp.clock->now;
  access.pc = warp.pc;
  access.write = request.write;
  access.strong = in.strong;
  access.atomic = request.atomic;
  access.block_scope = in.strong && in.scope == Scope::kBlock;
  access.first_guess = in.first_guess;
  access.size = power_of(in.size);
  GlobalRace::Race found;
  if (race.access(warp, request, access, &found)) report_found(warp, found, in, request);
}

void order_strong(Warp& warp, const Instr& in, const Request& request, bool shared) {
  if (!warp.checks) return;
  StrongAccess access;
  access.address = request.address;
  access.shared = shared;
  (request.write ? access.written : access.read) = request.mask;
  strong_access(warp, in, access);
}

void order_atomic(Warp& warp, const Instr& in, const Request& request, uint32_t read,
                  uint32_t written, bool shared) {
  StrongAccess access;
  access.address = request.address;
  access.read = read;
  access.written = written;
  access.read_modify_write = true;
  access.shared = shared;
  strong_access(warp, in, access);
}

void race_async_copy(Warp& warp, const Request& request) {
  if (!warp.checks) return;
  SharedRace& race = warp.block->watch->race;
  if (!race.enabled()) return;
  SharedRace::Race found;
  if (race.begin_async_write(*warp.clock, static_cast<uint32_t>(warp.index), request.mask,
                             request.address, request.bytes, warp.pc, &found)) {
    report_found(warp, found, false);
  }
}

void race_sync_object(Warp& warp, const Request& request) {
  if (!warp.checks) return;
  SharedRace& race = warp.block->watch->race;
  if (!race.enabled()) return;
  SharedRace::Race found;
  if (race.compare_strong(*warp.clock, static_cast<uint32_t>(warp.index), request.mask,
                          request.address, request.bytes, warp.pc, &found)) {
    report_found(warp, found, false);
  }
}

void race_object_init(Warp& warp, const Request& request, bool same) {
  if (!warp.checks) return;
  SharedRace& race = warp.block->watch->race;
  if (!race.enabled()) return;
  SharedRace::Access access;
  access.pc = warp.pc;
  access.write = true;
  access.size = power_of(request.bytes);
  SharedRace::Race found;
  if (race.access(*warp.clock, static_cast<uint32_t>(warp.index), request.mask, request.address,
                  request.bytes, access, &found)) {
    report_found(warp, found, same && found.earlier.write);
  }
}

}  // namespace warplings::sim
