// atom and red: one lane after the other, in order of the lanes.
#include <algorithm>
#include <array>
#include <cstring>

#include "decode/handlers.h"
#include "exec/cluster.h"
#include "exec/half.h"
#include "exec/interpreter.h"
#include "exec/lanes.h"
#include "exec/reports.h"
#include "exec/request.h"
#include "memory/device_memory.h"

namespace warplings::sim {
namespace {

using namespace baseline;  // NOLINT: lanes.h lives in the namespace of its build
using ptx::Type;

enum class Op { kAdd, kMin, kMax, kInc, kDec, kAnd, kOr, kXor, kExch, kCas, kAddF16, kAddBF16 };

// One or two halves in the bits of an integer.
template <class H, class T>
T add_halves(T a, T b) {
  uint32_t sums = 0;
  for (unsigned shift = 0; shift < 8 * sizeof(T); shift += 16) {
    const double x = to_double(H{static_cast<uint16_t>(a >> shift)});
    const double y = to_double(H{static_cast<uint16_t>(b >> shift)});
    const double sum = sum_to_odd(x, y);
    const uint16_t bits = std::is_same_v<H, Half>
                              ? half_from_double(sum, Rounding::kNearest).bits
                              : bfloat16_from_double(sum, Rounding::kNearest).bits;
    sums |= static_cast<uint32_t>(bits) << shift;
  }
  return static_cast<T>(sums);
}

template <Op kOp, class T>
T combine(T old, T b, T c) {
  if constexpr (kOp == Op::kExch) return b;
  if constexpr (kOp == Op::kCas) return store_lane<T>(old) == store_lane<T>(b) ? c : old;
  if constexpr (kOp == Op::kAddF16) return add_halves<Half>(old, b);
  if constexpr (kOp == Op::kAddBF16) return add_halves<BFloat16>(old, b);
  if constexpr (std::is_floating_point_v<T>) {
    if constexpr (kOp == Op::kAdd) {
      const T sum = old + b;
      if constexpr (sizeof(T) == 4) return canonical(sum);
      return sum;
    }
    return old;
  } else {
    using U = std::make_unsigned_t<T>;
    if constexpr (kOp == Op::kAdd) return static_cast<T>(U(old) + U(b));
    if constexpr (kOp == Op::kMin) return std::min(old, b);
    if constexpr (kOp == Op::kMax) return std::max(old, b);
    if constexpr (kOp == Op::kInc) return old >= b ? T{0} : static_cast<T>(old + 1);
    if constexpr (kOp == Op::kDec) return old == 0 || old > b ? b : static_cast<T>(old - 1);
    if constexpr (kOp == Op::kAnd) return old & b;
    if constexpr (kOp == Op::kOr) return old | b;
    if constexpr (kOp == Op::kXor) return old ^ b;
  }
  return old;
}

// Returns the lanes that wrote: a comparison that fails changes nothing.
template <Op kOp, class T, class View>
uint32_t perform(Warp& w, const Instr& in, uint32_t mask, View view) {
  uint32_t wrote = mask;
  const auto* b = w.in<Store<T>>(in.ops[1]);
  const auto* c = in.ops[2] == kNoPlace ? b : w.in<Store<T>>(in.ops[2]);
  const bool returns = in.destinations == 1 && in.ops[0] != kNoPlace;
  Store<T> result[32];
  each_lane(mask, [&](int lane) {
    uint8_t* at = view(lane);
    T old;
    std::memcpy(&old, at, sizeof(T));
    const T now = combine<kOp, T>(old, load_lane<T>(b[lane]), load_lane<T>(c[lane]));
    if (kOp == Op::kCas && store_lane<T>(old) != b[lane]) wrote &= ~(1u << lane);
    if (std::memcmp(at, &now, sizeof(T)) != 0) note_change(w);
    std::memcpy(at, &now, sizeof(T));
    result[lane] = store_lane<T>(old);
  });
  if (!returns) return wrote;
  auto* d = w.out<Store<T>>(in.ops[0]);
  each_lane(mask, [&](int lane) { d[lane] = result[lane]; });
  if (w.any_undefined) w.undefined_lanes(in.ops[0]) &= ~mask;
  return wrote;
}

// `home`: whose shared memory it is in, or null.
void note_order(Warp& w, const Instr& in, const Request& request, uint32_t wrote, Block* home) {
  if (!w.checks) return;
  const bool returns = in.destinations == 1 && in.ops[0] != kNoPlace;
  order_atomic(w, in, request, returns ? request.mask : 0, wrote, home);
}

// Bytes that nothing had written where the lanes are about to change memory, which writes them.
struct Unwritten {
  uint32_t lanes = 0;
  std::array<uint8_t, 32> bytes{};  // of each such lane: bit i = byte i
};
Unwritten take_unwritten_global(const Warp& w, const Request& request, uint32_t mask) {
  Unwritten found;
  if (!w.checks) return found;
  DeviceMemory& memory = DeviceMemory::instance();
  each_lane(mask, [&](int lane) {
    const uint64_t address = request.address[lane];
    const auto bytes = static_cast<uint8_t>(memory.undefined_bytes(address, request.bytes));
    if (bytes == 0) return;
    found.lanes |= 1u << lane;
    found.bytes[static_cast<size_t>(lane)] = bytes;
    memory.set_undefined_bytes(address, request.bytes, 0);
  });
  return found;
}
Unwritten take_unwritten_shared(const Warp& w, const Request& request, Block& home) {
  Unwritten found;
  std::vector<uint8_t>& shadow = home.shared_undefined;
  if (!w.checks || shadow.empty()) return found;
  each_lane(request.mask, [&](int lane) {
    for (uint32_t k = 0; k < request.bytes; ++k) {
      uint8_t& undefined = shadow[request.address[lane] + k];
      if (undefined == 0) continue;
      found.lanes |= 1u << lane;
      found.bytes[static_cast<size_t>(lane)] |= static_cast<uint8_t>(1u << k);
      undefined = 0;
    }
  });
  return found;
}

// An atomic uses what it changes, and that is a finding at once. An exchange only hands it on.
template <Op kOp>
void use_unwritten(Warp& w, const Instr& in, const Unwritten& found) {
  if (found.lanes == 0) return;
  if (kOp != Op::kExch) {
    report_undefined(w, found.lanes, "is changed by an atomic operation");
  } else if (in.destinations == 1 && in.ops[0] != kNoPlace) {
    w.any_undefined = true;
    w.undefined_lanes(in.ops[0]) |= found.lanes;
    each_lane(found.lanes, [&](int lane) {
      w.undefined_bytes(in.ops[0])[lane] = found.bytes[static_cast<size_t>(lane)];
    });
  }
}

void check_sources(Warp& w, const Instr& in, uint32_t mask) {
  if (!w.any_undefined) return;
  for (int k : {1, 2, 4}) {
    if (in.ops[k] == kNoPlace || !is_register(in.ops[k])) continue;
    const uint32_t lanes = w.undefined_lanes(in.ops[k]) & mask;
    if (lanes == 0) continue;
    report_undefined(w, in.ops[k], lanes,
                     k == 4 ? "is used as an address" : "is used in arithmetic");
    w.undefined_lanes(in.ops[k]) &= ~lanes;
  }
}

template <Op kOp, class T>
void op_atom(Warp& w, const Instr& in, uint32_t m) {
  w.spun = true;
  check_sources(w, in, m);
  const Request all = make_request(w, in, m, true);
  uint32_t shared_lanes = in.space == Space::kShared ? m : 0;
  if (in.space == Space::kGeneric) {
    each_lane(m, [&](int i) {
      shared_lanes |= (space_of(all.address[i]) == Space::kShared ? 1u : 0u) << i;
    });
  }
  const auto part_of = [&](uint32_t lanes, uint64_t window) {
    Request part = all;
    part.mask = lanes;
    part.atomic = true;
    part.contiguous = all.contiguous && lanes == all.mask;
    part.low = ~uint64_t{0};
    part.high = 0;
    each_lane(lanes, [&](int i) {
      part.address[i] -= window;
      part.low = std::min(part.low, part.address[i]);
      part.high = std::max(part.high, part.address[i] + part.bytes);
    });
    return part;
  };
  if (shared_lanes != 0) {
    const Request part = part_of(shared_lanes, in.space == Space::kGeneric ? kSharedWindow : 0);
    each_home(w, part, [&](Block& home, const Request& here) {
      check_shared(w, in, here, home);
      const Unwritten unwritten = take_unwritten_shared(w, here, home);
      count_atomic(w, in, here, Traffic::kSharedAtomic);
      race_shared(w, in, here, home);
      const uint32_t wrote = perform<kOp, T>(
          w, in, here.mask, [&](int lane) { return home.shared.data() + here.address[lane]; });
      use_unwritten<kOp>(w, in, unwritten);
      note_order(w, in, here, wrote, &home);
    });
  }
  if ((m & ~shared_lanes) != 0) {
    const Request part = part_of(m & ~shared_lanes, 0);
    const uint32_t allowed = check_global(w, in, part);
    const Unwritten unwritten = take_unwritten_global(w, part, allowed);
    count_atomic(w, in, part, Traffic::kGlobalAtomic);
    race_global(w, in, part);
    const uint32_t wrote = perform<kOp, T>(w, in, allowed, [&](int lane) {
      return DeviceMemory::instance().view(part.address[lane]);
    });
    use_unwritten<kOp>(w, in, unwritten);
    note_order(w, in, part, wrote, nullptr);
  }
}

template <class T>
Handler by_op(int op) {
  if constexpr (std::is_floating_point_v<T>) {
    return op == 0 ? op_atom<Op::kAdd, T> : op == 8 ? op_atom<Op::kExch, T> : nullptr;
  } else {
    switch (op) {
      case 0:
        return op_atom<Op::kAdd, T>;
      case 1:
        return op_atom<Op::kMin, T>;
      case 2:
        return op_atom<Op::kMax, T>;
      case 3:
        return op_atom<Op::kInc, T>;
      case 4:
        return op_atom<Op::kDec, T>;
      case 5:
        return op_atom<Op::kAnd, T>;
      case 6:
        return op_atom<Op::kOr, T>;
      case 7:
        return op_atom<Op::kXor, T>;
      case 8:
        return op_atom<Op::kExch, T>;
      case 9:
        return op_atom<Op::kCas, T>;
      default:
        return nullptr;
    }
  }
}

}  // namespace

Handler pick_atomic(Spec& spec, Type type) {
  const int op =
      spec.take_one_of({"add", "min", "max", "inc", "dec", "and", "or", "xor", "exch", "cas"});
  switch (type) {
    case Type::kU32:
    case Type::kB32:
      return by_op<uint32_t>(op);
    case Type::kS32:
      return by_op<int32_t>(op);
    case Type::kU64:
    case Type::kB64:
      return by_op<uint64_t>(op);
    case Type::kS64:
      return by_op<int64_t>(op);
    case Type::kF32:
      return by_op<float>(op);
    case Type::kF64:
      return by_op<double>(op);
    case Type::kB16:
      return op == 9 ? op_atom<Op::kCas, uint16_t> : nullptr;
    case Type::kF16:
      return op == 0 ? op_atom<Op::kAddF16, uint16_t> : nullptr;
    case Type::kF16x2:
      return op == 0 ? op_atom<Op::kAddF16, uint32_t> : nullptr;
    case Type::kBF16:
      return op == 0 ? op_atom<Op::kAddBF16, uint16_t> : nullptr;
    case Type::kBF16x2:
      return op == 0 ? op_atom<Op::kAddBF16, uint32_t> : nullptr;
    default:
      return nullptr;
  }
}

}  // namespace warplings::sim
