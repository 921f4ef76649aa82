// What accesses mean for racecheck.
#include <bit>
#include <cstring>

#include "checks/cluster_race.h"
#include "checks/explain_race.h"
#include "checks/global_race.h"
#include "checks/stored_values.h"
#include "checks/watch.h"
#include "exec/events.h"
#include "exec/interpreter.h"
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

}  // namespace

bool StoredValues::unchanged(uint32_t lane, uint64_t word, uint8_t bytes) const {
  if (request_.repeats) return true;
  const auto covered = [&](uint32_t l) {
    const uint64_t first = request_.address[l];
    uint8_t mask = 0;
    for (uint32_t k = 0; k < 4; ++k) mask |= uint8_t{word + k - first < request_.bytes} << k;
    return mask;
  };
  uint32_t now;
  std::memcpy(&now, shared_ != nullptr ? shared_ + word : DeviceMemory::instance().view(word), 4);
  const uint32_t value = stored_word(warp_, in_, request_, lane, word);
  const auto differ = [&](uint32_t a, uint32_t b, uint8_t in_bytes) {
    for (uint32_t k = 0; k < 4; ++k) {
      if (((in_bytes >> k) & 1) != 0 && ((a ^ b) >> (8 * k) & 0xff) != 0) return true;
    }
    return false;
  };
  // The lanes before this one have stored theirs, the last of them last.
  uint8_t left = bytes;
  for (uint32_t l = lane; left != 0 && l-- > 0;) {
    if (((request_.mask >> l) & 1) == 0) continue;
    const uint8_t common = left & covered(l);
    if (common == 0) continue;
    if (differ(stored_word(warp_, in_, request_, l, word), value, common)) return false;
    left &= static_cast<uint8_t>(~common);
  }
  return !differ(now, value, left);
}

namespace {

// As a failure, as one of the notes, or later.
void report_found(const Warp& warp, const Race& race) {
  const RaceNote note = race.same_value                       ? RaceNote::kSameValue
                        : race.standing == Standing::kPending ? RaceNote::kUnfencedRead
                                                              : RaceNote::kNone;
  const bool perhaps_guess = (race.earlier.is_plain_read() && race.later.atomic) ||
                             (race.later.is_plain_read() && race.earlier.atomic);
  if (perhaps_guess && warp.block->grid->watch->guesses.watches()) {
    report_perhaps_guess(warp, race, note);
  } else {
    report_race(warp, race, note);
  }
}

void note_for_guesses(Warp& warp, const Instr& in, const Request& request) {
  FirstGuesses& guesses = warp.block->grid->watch->guesses;
  if (!guesses.watches()) return;
  RecentLoads& recent = warp.block->watch->recent_loads[static_cast<size_t>(warp.index)];
  if (request.atomic) guesses.changed(recent, order_of(warp).before, request);
  if (!request.write && !in.strong) recent.add(warp.pc, warp.clock->now, request);
}

uint8_t power_of(uint32_t size) { return static_cast<uint8_t>(std::countr_zero(size)) & 3; }

}  // namespace

RaceAccess access_by(const Warp& warp, const Instr& in, const Request& request) {
  RaceAccess access;
  access.block = order_of(warp).block;
  access.clock = warp.clock->now;
  access.pc = warp.pc;
  access.write = request.write;
  access.strong = in.strong;
  access.atomic = request.atomic;
  access.size = power_of(in.size);
  return access;
}

void race_shared(Warp& warp, const Instr& in, const Request& request) {
  if (!warp.checks) return;
  SharedRace& race = warp.block->watch->race;
  if (!race.enabled()) return;
  note_for_guesses(warp, in, request);
  const RaceAccess access = access_by(warp, in, request);
  const StoredValues stored(warp, in, request, warp.block->shared.data());
  Race found;
  if (race.access(*warp.clock, static_cast<uint32_t>(warp.index), request.mask, request.address,
                  request.bytes, access, &stored, &found)) {
    report_found(warp, found);
  }
  if (!warp.block->watch->remote.empty()) race_with_remote(warp, *warp.block, request, access);
}

void race_global(Warp& warp, const Instr& in, const Request& request) {
  if (!warp.checks || request.mask == 0) return;
  note_for_guesses(warp, in, request);
  GlobalRace& race = GlobalRace::instance();
  if (!request.write && !in.strong && race.is_quiet(request)) return;
  RaceAccess access = access_by(warp, in, request);
  access.block_scope = in.strong && in.scope == Scope::kBlock;
  Race found;
  const StoredValues stored(warp, in, request, nullptr);
  const bool races = race.access(warp, request, access, stored, &found);
  if (races) report_found(warp, found);
  // A fence that is missing on the side of the reader is a note, and would not help here.
  if (!in.cached || (races && found.standing != Standing::kPending)) return;
  if (race.written(warp, request, access, &found)) report_cached_read(warp, found);
}

void order_strong(Warp& warp, const Instr& in, const Request& request, Block* home) {
  if (!warp.checks) return;
  StrongAccess access;
  access.address = request.address;
  access.home = home;
  (request.write ? access.written : access.read) = request.mask;
  strong_access(warp, in, access);
}

void order_atomic(Warp& warp, const Instr& in, const Request& request, uint32_t read,
                  uint32_t written, Block* home) {
  StrongAccess access;
  access.address = request.address;
  access.read = read;
  access.written = written;
  access.read_modify_write = true;
  access.home = home;
  strong_access(warp, in, access);
}

void race_async_copy(Warp& warp, const Request& request) {
  if (!warp.checks) return;
  SharedRace& race = warp.block->watch->race;
  if (!race.enabled()) return;
  Race found;
  if (race.begin_async_write(*warp.clock, static_cast<uint32_t>(warp.index), request.mask,
                             request.address, request.bytes, warp.pc, &found)) {
    report_found(warp, found);
  }
}

void wgmma_begins(Warp& first, uint32_t number, const uint32_t* units, size_t count) {
  SharedRace& race = first.block->watch->race;
  if (!race.enabled()) return;
  Race found;
  if (race.begin_tensor_reads(first.clock, static_cast<uint32_t>(first.index), number, units, count,
                              first.pc, &found)) {
    report_found(first, found);
  } else {
    check_tensor_proxy(first, units, count);
  }
}

void wgmma_awaited(Warp& warp, uint32_t number) {
  SharedRace& race = warp.block->watch->race;
  if (!race.enabled()) return;
  race.end_tensor_reads(*warp.clock, static_cast<uint32_t>(warp.index), number);
}

void race_sync_object(Warp& warp, const Request& request) {
  if (!warp.checks) return;
  SharedRace& race = warp.block->watch->race;
  if (!race.enabled()) return;
  Race found;
  if (race.compare_strong(*warp.clock, static_cast<uint32_t>(warp.index), request.mask,
                          request.address, request.bytes, warp.pc, &found)) {
    report_found(warp, found);
  }
}

void race_object_init(Warp& warp, const Request& request, bool same) {
  if (!warp.checks) return;
  SharedRace& race = warp.block->watch->race;
  if (!race.enabled()) return;
  RaceAccess access;
  access.block = order_of(warp).block;
  access.pc = warp.pc;
  access.write = true;
  access.size = power_of(request.bytes);
  Race found;
  if (race.access(*warp.clock, static_cast<uint32_t>(warp.index), request.mask, request.address,
                  request.bytes, access, nullptr, &found)) {
    found.same_value = same && found.earlier.write;
    report_found(warp, found);
  }
}

}  // namespace warplings::sim
