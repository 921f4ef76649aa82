// Operations between the lanes of a warp. The interpreter has brought the named lanes together
// before a handler runs; `mask` holds the lanes that take part here.
#include <algorithm>
#include <cstdlib>

#include "core/gpu_model.h"
#include "decode/handlers.h"
#include "exec/clock.h"
#include "exec/events.h"
#include "exec/lanes.h"
#include "exec/reports.h"

namespace warplings::sim {
namespace {

using namespace baseline;  // NOLINT: lanes.h lives in the namespace of its build
using ptx::Type;

enum class Shuffle { kUp, kDown, kButterfly, kIndex };

// The lane that `lane` reads from; -1 where that lies outside of its segment. c holds the segment
// mask in bits 8-12 and the clamp in 0-4 (PTX ISA, shfl.sync).
template <Shuffle kMode>
int source_lane(int lane, uint32_t b, uint32_t c) {
  const int distance = b & 31;
  const int segment = (c >> 8) & 31;
  const int least = lane & segment;
  const int most = least | static_cast<int>(c & 31 & ~static_cast<uint32_t>(segment));
  int j = lane;
  switch (kMode) {
    case Shuffle::kUp:
      j = lane - distance;
      return j >= most ? j : -1;
    case Shuffle::kDown:
      j = lane + distance;
      break;
    case Shuffle::kButterfly:
      j = lane ^ distance;
      break;
    case Shuffle::kIndex:
      j = least | (distance & ~segment);
      break;
  }
  return j <= most ? j : -1;
}

// shfl.sync d|p, a, b, c, membermask.
template <Shuffle kMode>
void op_shfl(Warp& w, const Instr& in, uint32_t m) {
  uint32_t values[32], from[32], undefined = 0;
  uint8_t bytes[32] = {};
  const uint32_t* a = w.in<uint32_t>(in.ops[2]);
  const uint32_t* b = w.in<uint32_t>(in.ops[3]);
  const uint32_t* c = w.in<uint32_t>(in.ops[4]);
  const bool track = w.any_undefined && is_register(in.ops[2]);
  uint32_t in_range = 0, missing = 0;
  each_lane(m, [&](int lane) {
    const int source = source_lane<kMode>(lane, b[lane], c[lane]);
    const bool p = source >= 0;
    const int j = p ? source : lane;
    in_range |= static_cast<uint32_t>(p) << lane;
    if (!((m >> j) & 1)) missing |= 1u << lane;
    values[lane] = a[j];
    from[lane] = static_cast<uint32_t>(j);
    if (track && ((w.undefined_lanes(in.ops[2]) >> j) & 1)) {
      undefined |= 1u << lane;
      bytes[lane] = w.undefined_bytes(in.ops[2])[j];
    }
  });
  if (missing != 0 && w.checks) {
    const int lane = std::countr_zero(missing);
    report_shuffle_source(w, lane, static_cast<int>(from[lane]));
    // What it brings is undefined, as if it were read from memory that nothing has written.
    w.any_undefined = w.took_absent = true;
    undefined |= missing;
    each_lane(missing, [&](int reader) { bytes[reader] = 0xf; });
  }
  if (in.ops[0] != kNoPlace) {
    uint32_t* d = w.out<uint32_t>(in.ops[0]);
    each_lane(m, [&](int lane) { d[lane] = values[lane]; });
    if (w.any_undefined) {
      uint32_t& lanes = w.undefined_lanes(in.ops[0]);
      lanes = (lanes & ~m) | undefined;
      each_lane(undefined, [&](int lane) { w.undefined_bytes(in.ops[0])[lane] = bytes[lane]; });
      w.origin(in.ops[0]) = track ? w.origin(in.ops[2]) : 0;
    }
  }
  if (in.ops[1] != kNoPlace) {
    write_predicate(w, in.ops[1], m, in_range);
    if (w.any_undefined) w.undefined_lanes(in.ops[1]) &= ~m;
  }
}

enum class Vote { kAll, kAny, kUniform, kBallot };
template <Vote kVote>
void op_vote(Warp& w, const Instr& in, uint32_t m) {
  uint32_t p = w.predicate(in.ops[2]);
  if (in.extra == 1) p = ~p;
  p &= m;
  if constexpr (kVote == Vote::kBallot) {
    for_lanes(w.out<uint32_t>(in.ops[0]), m, [=](int) { return p; });
  } else {
    bool result = false;
    if (kVote == Vote::kAll) result = p == m;
    if (kVote == Vote::kAny) result = p != 0;
    if (kVote == Vote::kUniform) result = p == m || p == 0;
    write_predicate(w, in.ops[0], m, result ? ~0u : 0u);
  }
}

template <class T, bool kAll>
void op_match(Warp& w, const Instr& in, uint32_t m) {
  T values[32];
  const T* a = w.in<T>(in.ops[2]);
  for (int i = 0; i < 32; ++i) values[i] = a[i];
  uint32_t* d = in.ops[0] == kNoPlace ? nullptr : w.out<uint32_t>(in.ops[0]);
  if (kAll) {
    const T first = values[std::countr_zero(m)];
    bool same = true;
    each_lane(m, [&](int i) { same = same && values[i] == first; });
    if (d != nullptr) each_lane(m, [&](int i) { d[i] = same ? m : 0u; });
    if (in.ops[1] != kNoPlace) write_predicate(w, in.ops[1], m, same ? ~0u : 0u);
    return;
  }
  each_lane(m, [&](int i) {
    uint32_t equal = 0;
    each_lane(m, [&](int j) { equal |= static_cast<uint32_t>(values[i] == values[j]) << j; });
    if (d != nullptr) d[i] = equal;
  });
}

template <class T, int kOp>
void op_redux(Warp& w, const Instr& in, uint32_t m) {
  const uint32_t* a = w.in<uint32_t>(in.ops[2]);
  T result = load_lane<T>(a[std::countr_zero(m)]);
  each_lane(m & (m - 1), [&](int i) {
    const T x = load_lane<T>(a[i]);
    if constexpr (kOp == 0) result = static_cast<T>(uint32_t(result) + uint32_t(x));
    if constexpr (kOp == 1) result = x < result ? x : result;
    if constexpr (kOp == 2) result = x > result ? x : result;
    if constexpr (kOp == 3) result &= x;
    if constexpr (kOp == 4) result |= x;
    if constexpr (kOp == 5) result ^= x;
  });
  for_lanes(w.out<uint32_t>(in.ops[0]), m, [=](int) { return store_lane<T>(result); });
}

template <class T>
Handler redux_form(int op) {
  switch (op) {
    case 0:
      return op_redux<T, 0>;
    case 1:
      return op_redux<T, 1>;
    case 2:
      return op_redux<T, 2>;
    case 3:
      return op_redux<T, 3>;
    case 4:
      return op_redux<T, 4>;
    case 5:
      return op_redux<T, 5>;
    default:
      return nullptr;
  }
}

void op_activemask(Warp& w, const Instr& in, uint32_t m) {
  const uint32_t active = m;
  for_lanes(w.out<uint32_t>(in.ops[0]), m, [=](int) { return active; });
}

// elect.sync d|p: the lowest lane named is the leader; p is true for it alone.
void op_elect(Warp& w, const Instr& in, uint32_t m) {
  const uint32_t leader = static_cast<uint32_t>(std::countr_zero(m));
  if (in.ops[0] != kNoPlace) {
    for_lanes(w.out<uint32_t>(in.ops[0]), m, [=](int) { return leader; });
  }
  if (in.ops[1] != kNoPlace) write_predicate(w, in.ops[1], m, 1u << leader);
}

// fns d, mask, base, offset: the offset-th bit of mask that is set, from base on up (offset > 0) or
// down (< 0); offset 0: base itself. All ones if there is none.
void op_fns(Warp& w, const Instr& in, uint32_t m) {
  const uint32_t* mask = w.in<uint32_t>(in.ops[1]);
  const uint32_t* base = w.in<uint32_t>(in.ops[2]);
  const int32_t* offset = w.in<int32_t>(in.ops[3]);
  uint32_t* d = w.out<uint32_t>(in.ops[0]);
  each_lane(m, [&](int i) {
    const int step = offset[i] < 0 ? -1 : 1;
    int64_t left = std::max<int64_t>(1, std::abs(int64_t{offset[i]}));
    uint32_t found = ~0u;
    for (int64_t at = base[i]; at >= 0 && at < 32 && left > 0; at += step) {
      if ((mask[i] >> at) & 1) {
        if (--left == 0) found = static_cast<uint32_t>(at);
      }
      if (offset[i] == 0) break;
    }
    d[i] = found;
  });
}

void op_nop(Warp&, const Instr&, uint32_t) {}

void op_fence(Warp& w, const Instr& in, uint32_t m) {
  if (w.checks) fence_passed(w, m, in.scope);
}

void show_time(Warp& w, const Instr& in, uint32_t m, uint64_t now) {
  LaunchClock& clock = LaunchClock::instance();
  clock.longest = std::max(clock.longest, w.cycles);
  // A loop that waits for its clock goes on by itself, but lets others pass.
  w.spun = true;
  now >>= in.imm;
  if (in.register_size == 8) {
    for_lanes(w.out<uint64_t>(in.ops[0]), m, [=](int) { return now; });
  } else {
    for_lanes(w.out<uint32_t>(in.ops[0]), m, [=](int) { return static_cast<uint32_t>(now); });
  }
}

void op_clock(Warp& w, const Instr& in, uint32_t m) {
  const double start = LaunchClock::instance().start * gpu_model().clock_hz;
  show_time(w, in, m, static_cast<uint64_t>(start) + w.cycles);
}

// Nanoseconds, of all devices alike.
void op_globaltimer(Warp& w, const Instr& in, uint32_t m) {
  const double seconds =
      LaunchClock::instance().start + static_cast<double>(w.cycles) / gpu_model().clock_hz;
  show_time(w, in, m, static_cast<uint64_t>(1e9 * seconds));
}

void op_sleep(Warp& w, const Instr& in, uint32_t m) {
  const uint32_t* nanoseconds = w.in<uint32_t>(in.ops[1]);
  uint32_t longest = 0;
  each_lane(m, [&](int lane) { longest = std::max(longest, nanoseconds[lane]); });
  w.cycles += static_cast<uint64_t>(1e-9 * longest * gpu_model().clock_hz);
  LaunchClock& clock = LaunchClock::instance();
  clock.longest = std::max(clock.longest, w.cycles);
}

}  // namespace

Handler pick_collective(Spec& spec, Type type) {
  const Opcode op = spec.op;
  if (op == k_shfl) {
    switch (spec.take_one_of({"up", "down", "bfly", "idx"})) {
      case 0:
        return op_shfl<Shuffle::kUp>;
      case 1:
        return op_shfl<Shuffle::kDown>;
      case 2:
        return op_shfl<Shuffle::kButterfly>;
      case 3:
        return op_shfl<Shuffle::kIndex>;
      default:
        return nullptr;
    }
  }
  if (op == k_vote) {
    switch (spec.take_one_of({"all", "any", "uni", "ballot"})) {
      case 0:
        return op_vote<Vote::kAll>;
      case 1:
        return op_vote<Vote::kAny>;
      case 2:
        return op_vote<Vote::kUniform>;
      case 3:
        return op_vote<Vote::kBallot>;
      default:
        return nullptr;
    }
  }
  if (op == k_match) {
    const bool all = spec.take_one_of({"any", "all"}) == 1;
    if (ptx::size_of(type) == 8) return all ? op_match<uint64_t, true> : op_match<uint64_t, false>;
    return all ? op_match<uint32_t, true> : op_match<uint32_t, false>;
  }
  const int reduction = spec.take_one_of({"add", "min", "max", "and", "or", "xor"});
  return type == Type::kS32 ? redux_form<int32_t>(reduction) : redux_form<uint32_t>(reduction);
}

Handler handler_activemask() { return op_activemask; }
Handler handler_elect() { return op_elect; }
Handler handler_fns() { return op_fns; }
Handler handler_nop() { return op_nop; }
Handler handler_grid_wait() {
  return [](Warp& w, const Instr&, uint32_t m) {
    if ((w.early & m) != 0) waited_for_kernel_before(w, m);
  };
}
Handler handler_fence() { return op_fence; }
Handler handler_clock() { return op_clock; }

Handler handler_globaltimer() { return op_globaltimer; }

Handler handler_sleep() { return op_sleep; }

}  // namespace warplings::sim
