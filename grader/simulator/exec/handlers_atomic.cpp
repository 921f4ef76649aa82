// atom and red: one lane after the other, in order of the lanes, or the last of them first.
#include <algorithm>
#include <cstring>

#include "decode/handlers.h"
#include "exec/access.h"
#include "exec/half.h"
#include "exec/launch.h"
#include "exec/reports.h"

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

bool returns(const Instr& in) { return in.destinations == 1 && in.ops[0] != kNoPlace; }

// What the lanes do to the words at these places, one after the other, for an operation on one
// type. The lanes that wrote: a comparison that fails changes nothing.
using Operate = uint32_t (*)(Warp& w, const Instr& in, uint32_t lanes, uint8_t* const (&at)[32]);

// Lanes in the order in which they come to a word.
template <class F>
void each_lane_in_turn(uint32_t lanes, F f) {
  if (!last_comes_first()) return each_lane(lanes, f);
  for (int lane = 31; lane >= 0; --lane) {
    if (((lanes >> lane) & 1) != 0) f(lane);
  }
}

template <Op kOp, class T>
uint32_t operate(Warp& w, const Instr& in, uint32_t lanes, uint8_t* const (&at)[32]) {
  uint32_t wrote = lanes;
  const auto* b = w.in<Store<T>>(in.ops[1]);
  const auto* c = in.ops[2] == kNoPlace ? b : w.in<Store<T>>(in.ops[2]);
  Store<T> result[32];
  each_lane_in_turn(lanes, [&](int lane) {
    T old;
    std::memcpy(&old, at[lane], sizeof(T));
    const T now = combine<kOp, T>(old, load_lane<T>(b[lane]), load_lane<T>(c[lane]));
    if (kOp == Op::kCas && store_lane<T>(old) != b[lane]) wrote &= ~(1u << lane);
    if (std::memcmp(at[lane], &now, sizeof(T)) != 0) note_change(w);
    std::memcpy(at[lane], &now, sizeof(T));
    result[lane] = store_lane<T>(old);
  });
  if (!returns(in)) return wrote;
  auto* d = w.out<Store<T>>(in.ops[0]);
  each_lane(lanes, [&](int lane) { d[lane] = result[lane]; });
  if (w.any_undefined) w.undefined_lanes(in.ops[0]) &= ~lanes;
  return wrote;
}

// One transfer for all operations, so that the way of an access is compiled once for each kind of
// memory and not once more for each of 49 operations.
struct Change {
  Operate operate;
  bool hands_on;       // an exchange uses nothing of what it takes
  uint32_t wrote = 0;  // lanes

  template <class Where>
  void move(const Where& place, uint32_t lanes) {
    uint8_t* at[32];
    each_lane(lanes, [&](int lane) { at[lane] = place.at(lane); });
    wrote = operate(place.w, place.in, lanes, at);
  }

  template <class Where>
  void order(const Where& place) {
    const uint32_t read = returns(place.in) ? place.r.mask : 0;
    order_atomic(place.w, place.in, place.r, read, wrote, place.home());
  }

  // An atomic uses what it changes, and that is a finding at once. An exchange only hands it on.
  template <class Where>
  void follow(const Where& place, uint32_t lanes) {
    Warp& w = place.w;
    const auto to = place.in.ops[0];
    uint8_t bytes[32] = {};
    const uint32_t found = take_undefined(place, lanes, bytes);
    if (found == 0) return;
    if (!hands_on) {
      report_undefined(w, found, "is changed by an atomic operation");
    } else if (returns(place.in)) {
      w.any_undefined = true;
      w.undefined_lanes(to) |= found;
      each_lane(found, [&](int lane) { w.undefined_bytes(to)[lane] = bytes[lane]; });
    }
  }
};

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

void atom(Warp& w, const Instr& in, uint32_t m, const Change& change) {
  w.spun = true;
  check_sources(w, in, m);
  Request all = make_request(w, in, m, true);
  all.atomic = true;
  global_or_shared(in, all, [&](const Request& part, bool shared) {
    if (!shared) return access(InGlobal{w, in, part}, Change(change));
    each_home(w, part, [&](Block& home, const Request& here) {
      access(InShared{{w, in, here}, home}, Change(change));
    });
  });
}

template <Op kOp, class T>
void op_atom(Warp& w, const Instr& in, uint32_t m) {
  atom(w, in, m, {operate<kOp, T>, kOp == Op::kExch});
}

// An element of a vector, whose check and count are those of the vector.
struct InElement : InGlobal {
  uint32_t check() const { return r.mask; }
  void count() const {}
};

// Each element is changed by itself: the vector as a whole is not atomic, and lies in global
// memory.
void atom_vector(Warp& w, const Instr& in, uint32_t m, Operate operate) {
  w.spun = true;
  Request all = make_request(w, in, m, true);
  all.atomic = true;
  const uint32_t allowed = check_global(w, in, all);
  InGlobal{w, in, all}.count();
  if (allowed == 0) return;
  const std::vector<uint32_t>& places = w.module->lists[in.extra];
  Instr element = in;
  element.vector = 1;
  for (size_t k = 0; k < in.vector; ++k) {
    element.ops[0] = places[k];
    element.ops[1] = places[in.vector + k];
    check_sources(w, element, allowed);
    Request part = make_request(w, element, allowed, true);
    part.atomic = true;
    access(InElement{{w, element, part}}, Change{operate, false});
    element.imm += in.size;
  }
}

template <Op kOp, class T>
void op_atom_vector(Warp& w, const Instr& in, uint32_t m) {
  atom_vector(w, in, m, operate<kOp, T>);
}

Handler pick_vector(Type type) {
  switch (type) {
    case Type::kF32:
      return op_atom_vector<Op::kAdd, float>;
    case Type::kF16:
      return op_atom_vector<Op::kAddF16, uint16_t>;
    case Type::kF16x2:
      return op_atom_vector<Op::kAddF16, uint32_t>;
    case Type::kBF16:
      return op_atom_vector<Op::kAddBF16, uint16_t>;
    case Type::kBF16x2:
      return op_atom_vector<Op::kAddBF16, uint32_t>;
    default:
      return nullptr;
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
  if (spec.take_one_of({"v2", "v4", "v8"}) >= 0) return op == 0 ? pick_vector(type) : nullptr;
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
