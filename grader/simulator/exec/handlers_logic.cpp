// Logic, shifts, bit fields, comparison, selection.
#include "decode/handlers.h"
#include "exec/half.h"
#include "exec/lanes.h"

namespace warplings::sim::WARPLINGS_ISA {
namespace {

using ptx::Type;

template <class T>
void op_and(Warp& w, const Instr& in, uint32_t m) {
  binary<T>(w, in, m, [](T a, T b) { return static_cast<T>(a & b); });
}
template <class T>
void op_or(Warp& w, const Instr& in, uint32_t m) {
  binary<T>(w, in, m, [](T a, T b) { return static_cast<T>(a | b); });
}
template <class T>
void op_xor(Warp& w, const Instr& in, uint32_t m) {
  binary<T>(w, in, m, [](T a, T b) { return static_cast<T>(a ^ b); });
}
template <class T>
void op_not(Warp& w, const Instr& in, uint32_t m) {
  unary<T>(w, in, m, [](T a) { return static_cast<T>(~a); });
}
template <class T>
void op_cnot(Warp& w, const Instr& in, uint32_t m) {
  unary<T>(w, in, m, [](T a) { return static_cast<T>(a == 0); });
}

// Shift amounts are 32-bit and clamped to the width of the value.
template <class T, class F>
void shift(Warp& w, const Instr& in, uint32_t m, F f) {
  const auto* a = w.in<Store<T>>(in.ops[1]);
  const auto* b = w.in<uint32_t>(in.ops[2]);
  for_lanes(w.out<Store<T>>(in.ops[0]), m,
            [=](int i) { return store_lane<T>(f(load_lane<T>(a[i]), b[i])); });
}
template <class T>
void op_shl(Warp& w, const Instr& in, uint32_t m) {
  constexpr uint32_t kBits = 8 * sizeof(T);
  shift<T>(w, in, m, [](T a, uint32_t n) {
    return n >= kBits ? T{0} : static_cast<T>(std::make_unsigned_t<T>(a) << n);
  });
}
template <class T>
void op_shr(Warp& w, const Instr& in, uint32_t m) {
  constexpr uint32_t kBits = 8 * sizeof(T);
  shift<T>(w, in, m, [](T a, uint32_t n) {
    if (n >= kBits) return a < 0 ? static_cast<T>(-1) : T{0};
    return static_cast<T>(a >> n);
  });
}

// Funnel shift of hi:lo. Modes: clamp to 32, or wrap modulo 32.
template <bool kLeft, bool kWrap>
void op_shf(Warp& w, const Instr& in, uint32_t m) {
  ternary<uint32_t>(w, in, m, [](uint32_t lo, uint32_t hi, uint32_t n) {
    n = kWrap ? (n & 31) : (n > 32 ? 32 : n);
    const uint64_t pair = (uint64_t{hi} << 32) | lo;
    if (kLeft) return static_cast<uint32_t>((pair << n) >> 32);
    return static_cast<uint32_t>(pair >> n);
  });
}

// Any function of three bits: imm is its truth table.
void op_lop3(Warp& w, const Instr& in, uint32_t m) {
  const uint32_t table = static_cast<uint32_t>(in.imm);
  ternary<uint32_t>(w, in, m, [table](uint32_t a, uint32_t b, uint32_t c) {
    uint32_t r = 0;
    for (uint32_t k = 0; k < 8; ++k) {
      const uint32_t row = ((k & 4) ? a : ~a) & ((k & 2) ? b : ~b) & ((k & 1) ? c : ~c);
      r |= row & (0u - ((table >> k) & 1u));
    }
    return r;
  });
}

template <class T>
void op_popc(Warp& w, const Instr& in, uint32_t m) {
  const auto* a = w.in<Store<T>>(in.ops[1]);
  for_lanes(w.out<uint32_t>(in.ops[0]), m,
            [=](int i) { return static_cast<uint32_t>(std::popcount(load_lane<T>(a[i]))); });
}
template <class T>
void op_clz(Warp& w, const Instr& in, uint32_t m) {
  const auto* a = w.in<Store<T>>(in.ops[1]);
  for_lanes(w.out<uint32_t>(in.ops[0]), m,
            [=](int i) { return static_cast<uint32_t>(std::countl_zero(load_lane<T>(a[i]))); });
}
// Position of the most significant bit that differs from the sign; all ones if there is none.
template <class T, bool kShiftAmount>
void op_bfind(Warp& w, const Instr& in, uint32_t m) {
  using U = std::make_unsigned_t<T>;
  constexpr int kBits = 8 * sizeof(T);
  const auto* a = w.in<Store<T>>(in.ops[1]);
  for_lanes(w.out<uint32_t>(in.ops[0]), m, [=](int i) {
    const T value = load_lane<T>(a[i]);
    const U bits = static_cast<U>(value < 0 ? ~value : value);
    if (bits == 0) return 0xffffffffu;
    const int top = kBits - 1 - std::countl_zero(bits);
    return static_cast<uint32_t>(kShiftAmount ? kBits - 1 - top : top);
  });
}
template <class T>
void op_brev(Warp& w, const Instr& in, uint32_t m) {
  unary<T>(w, in, m, [](T a) {
    T r = 0;
    for (unsigned i = 0; i < 8 * sizeof(T); ++i) r = static_cast<T>((r << 1) | ((a >> i) & 1));
    return r;
  });
}
// Positions and lengths of bit fields: 32-bit forms take their low 8 bits. 64-bit forms take all
// 32, which the PTX ISA leaves open and an H200 does. Then they are clamped to the register.
template <class T>
constexpr uint32_t kFieldMask = sizeof(T) == 8 ? 0xffffffffu : 0xffu;

template <class T>
void op_bfe(Warp& w, const Instr& in, uint32_t m) {
  using U = std::make_unsigned_t<T>;
  constexpr uint32_t kMsb = 8 * sizeof(T) - 1;
  const auto* a = w.in<Store<T>>(in.ops[1]);
  const auto* b = w.in<uint32_t>(in.ops[2]);
  const auto* c = w.in<uint32_t>(in.ops[3]);
  for_lanes(w.out<Store<T>>(in.ops[0]), m, [=](int i) {
    const U value = static_cast<U>(load_lane<T>(a[i]));
    const uint64_t position = b[i] & kFieldMask<T>, length = c[i] & kFieldMask<T>;
    bool sign = false;
    if (std::is_signed_v<T> && length != 0) {
      const uint64_t top = position + length - 1 < kMsb ? position + length - 1 : kMsb;
      sign = (value >> top) & 1;
    }
    U r = 0;
    for (uint32_t k = 0; k <= kMsb; ++k) {
      const bool bit =
          (k < length && position + k <= kMsb) ? ((value >> (position + k)) & 1) : sign;
      r |= static_cast<U>(bit) << k;
    }
    return store_lane<T>(static_cast<T>(r));
  });
}
template <class T>
void op_bfi(Warp& w, const Instr& in, uint32_t m) {
  constexpr uint32_t kBits = 8 * sizeof(T);
  const auto* a = w.in<Store<T>>(in.ops[1]);
  const auto* b = w.in<Store<T>>(in.ops[2]);
  const auto* c = w.in<uint32_t>(in.ops[3]);
  const auto* d = w.in<uint32_t>(in.ops[4]);
  for_lanes(w.out<Store<T>>(in.ops[0]), m, [=](int i) {
    const uint64_t position = c[i] & kFieldMask<T>, length = d[i] & kFieldMask<T>;
    T r = load_lane<T>(b[i]);
    const T field = load_lane<T>(a[i]);
    for (uint32_t k = 0; k < length && position + k < kBits; ++k) {
      const T bit = T{1} << (position + k);
      r = static_cast<T>((r & ~bit) | (((field >> k) & 1) ? bit : 0));
    }
    return store_lane<T>(r);
  });
}
template <bool kWrap>
void op_bmsk(Warp& w, const Instr& in, uint32_t m) {
  binary<uint32_t>(w, in, m, [](uint32_t position, uint32_t length) {
    if (kWrap) position &= 31, length &= 31;
    uint64_t mask = length >= 32 ? 0xffffffffull : (uint64_t{1} << length) - 1;
    return position >= 32 ? 0u : static_cast<uint32_t>(mask << position);
  });
}
template <class T, bool kWrap>
void op_szext(Warp& w, const Instr& in, uint32_t m) {
  const auto* a = w.in<uint32_t>(in.ops[1]);
  const auto* b = w.in<uint32_t>(in.ops[2]);
  for_lanes(w.out<uint32_t>(in.ops[0]), m, [=](int i) {
    const uint32_t bits = kWrap ? (b[i] & 31) : b[i];
    if (bits == 0) return 0u;
    if (bits >= 32) return a[i];
    const uint32_t low = a[i] & ((1u << bits) - 1);
    const bool sign = std::is_signed_v<T> && ((low >> (bits - 1)) & 1);
    return sign ? low | (~0u << bits) : low;
  });
}
// Byte permutation. imm is the mode: 0 default, 1 f4e, 2 b4e, 3 rc8, 4 ecl, 5 ecr, 6 rc16.
uint32_t permute(uint32_t a, uint32_t b, uint32_t c, int64_t mode) {
  static constexpr uint16_t kSelect[7][4] = {{0, 0, 0, 0},
                                             {0x3210, 0x4321, 0x5432, 0x6543},
                                             {0x5670, 0x6701, 0x7012, 0x0123},
                                             {0x0000, 0x1111, 0x2222, 0x3333},
                                             {0x3210, 0x3211, 0x3222, 0x3333},
                                             {0x0000, 0x1110, 0x2210, 0x3210},
                                             {0x1010, 0x3232, 0x1010, 0x3232}};
  const uint64_t bytes = (uint64_t{b} << 32) | a;
  uint32_t r = 0;
  for (int k = 0; k < 4; ++k) {
    uint32_t select = (c >> (4 * k)) & 0xf;
    if (mode != 0) {
      // The tables list bytes 3..0 from the left.
      select = (kSelect[mode][c & 3] >> (4 * k)) & 0xf;
    }
    uint32_t byte = static_cast<uint32_t>(bytes >> (8 * (select & 7))) & 0xff;
    if (select & 8) byte = (byte & 0x80) ? 0xff : 0;
    r |= byte << (8 * k);
  }
  return r;
}
void op_prmt(Warp& w, const Instr& in, uint32_t m) {
  const int64_t mode = in.imm;
  ternary<uint32_t>(w, in, m,
                    [mode](uint32_t a, uint32_t b, uint32_t c) { return permute(a, b, c, mode); });
}

// ---- predicates as operands of and, or, xor, not, mov
// --------------------------------------------

enum class PredicateOp { kAnd, kOr, kXor, kNot, kMove };
template <PredicateOp kOp>
void op_predicate(Warp& w, const Instr& in, uint32_t m) {
  const uint32_t a = w.predicate(in.ops[1]);
  const uint32_t b = in.ops[2] == kNoPlace ? 0 : w.predicate(in.ops[2]);
  uint32_t r = 0;
  if constexpr (kOp == PredicateOp::kAnd) r = a & b;
  if constexpr (kOp == PredicateOp::kOr) r = a | b;
  if constexpr (kOp == PredicateOp::kXor) r = a ^ b;
  if constexpr (kOp == PredicateOp::kNot) r = ~a;
  if constexpr (kOp == PredicateOp::kMove) r = a;
  write_predicate(w, in.ops[0], m, r);
}

// ---- comparison
// ----------------------------------------------------------------------------------

enum class Cmp { kEq, kNe, kLt, kLe, kGt, kGe, kEqu, kNeu, kLtu, kLeu, kGtu, kGeu, kNum, kNan };

// Those that hold for NaN are the opposites of others.
constexpr bool holds_for_nan(Cmp cmp) {
  return cmp == Cmp::kNan || (cmp >= Cmp::kEqu && cmp <= Cmp::kGeu);
}
constexpr Cmp opposite(Cmp cmp) {
  if (cmp == Cmp::kEqu) return Cmp::kNe;
  if (cmp == Cmp::kNeu) return Cmp::kEq;
  if (cmp == Cmp::kLtu) return Cmp::kGe;
  if (cmp == Cmp::kLeu) return Cmp::kGt;
  if (cmp == Cmp::kGtu) return Cmp::kLe;
  if (cmp == Cmp::kGeu) return Cmp::kLt;
  return Cmp::kNum;
}

template <Cmp kCmp, class T>
inline bool compare(T a, T b) {
  static_assert(!holds_for_nan(kCmp));
  const bool nan = a != a || b != b;
  if constexpr (kCmp == Cmp::kEq) return a == b;
  if constexpr (kCmp == Cmp::kNe) return !nan && a != b;
  if constexpr (kCmp == Cmp::kLt) return a < b;
  if constexpr (kCmp == Cmp::kLe) return a <= b;
  if constexpr (kCmp == Cmp::kGt) return a > b;
  if constexpr (kCmp == Cmp::kGe) return a >= b;
  return !nan;
}

// What is compared: the type itself, or the float that holds a half exactly.
template <class T>
struct Compared {
  using type = T;
  static T load(Store<T> bits) { return load_lane<T>(bits); }
};
template <class H>
struct ComparedHalf {
  using type = float;
  static float load(uint32_t bits) {
    return static_cast<float>(to_double(H{static_cast<uint16_t>(bits)}));
  }
};
template <>
struct Compared<Half> : ComparedHalf<Half> {};
template <>
struct Compared<BFloat16> : ComparedHalf<BFloat16> {};

// .ftz: what is subnormal in T counts as zero. C is the type in which T is compared.
template <class T, class C>
C flush_subnormal(C x) {
  if constexpr (std::is_same_v<T, Half>) return std::fabs(x) < 0x1p-14f ? C{0} : x;
  return flush(x);
}

template <Cmp kCmp, class T, bool kFlush>
__attribute__((noinline)) uint32_t comparison(Warp& w, const Instr& in) {
  const auto* a = w.in<Store<T>>(in.ops[2]);
  const auto* b = w.in<Store<T>>(in.ops[3]);
  return lane_mask([=](int i) {
    using C = typename Compared<T>::type;
    C x = Compared<T>::load(a[i]), y = Compared<T>::load(b[i]);
    if constexpr (kFlush) x = flush_subnormal<T>(x), y = flush_subnormal<T>(y);
    return compare<kCmp, C>(x, y);
  });
}
// Bit i: whether it holds in lane i.
template <Cmp kCmp, class T, bool kFlush>
uint32_t lanes_where(Warp& w, const Instr& in) {
  if constexpr (holds_for_nan(kCmp)) {
    return ~comparison<opposite(kCmp), T, kFlush>(w, in);
  } else {
    return comparison<kCmp, T, kFlush>(w, in);
  }
}

// What follows a comparison is the same for all types; it is compiled once.

// t with the predicate c of setp and set: imm bits 0-1 say how (1 and, 2 or, 3 xor), bit 2 negates
// c.
__attribute__((noinline)) uint32_t combine(const Warp& w, const Instr& in, uint32_t t) {
  const uint32_t p = w.predicate(in.ops[4]);
  const uint32_t c = in.imm & 4 ? ~p : p;
  return (in.imm & 3) == 1 ? (t & c) : (in.imm & 3) == 2 ? (t | c) : (t ^ c);
}

// setp p|q, a, b, c. ops: p, q (or none), a, b, c (or none).
__attribute__((noinline)) void write_setp(Warp& w, const Instr& in, uint32_t m, uint32_t p) {
  uint32_t q = ~p;
  if (in.ops[4] != kNoPlace) {
    p = combine(w, in, p);
    q = combine(w, in, q);
  }
  if (in.ops[0] != kNoPlace) write_predicate(w, in.ops[0], m, p);
  if (in.ops[1] != kNoPlace) write_predicate(w, in.ops[1], m, q);
}
template <Cmp kCmp, class T, bool kFlush>
void op_setp(Warp& w, const Instr& in, uint32_t m) {
  write_setp(w, in, m, lanes_where<kCmp, T, kFlush>(w, in));
}

// set d, a, b, c: `extra` (all ones or 1.0 of the type of the result) where the comparison holds.
// ops: d, none, a, b, c.
__attribute__((noinline)) void write_set(Warp& w, const Instr& in, uint32_t m, uint32_t t) {
  if (in.ops[4] != kNoPlace) t = combine(w, in, t);
  const uint32_t yes = in.extra;
  for_lanes(w.out<uint32_t>(in.ops[0]), m, [=](int i) { return ((t >> i) & 1) ? yes : 0u; });
}
template <Cmp kCmp, class T, bool kFlush>
void op_set(Warp& w, const Instr& in, uint32_t m) {
  write_set(w, in, m, lanes_where<kCmp, T, kFlush>(w, in));
}

template <class T, bool kFlush>
Handler pick_cmp(int cmp, bool set) {
#define WARPLINGS_CMP(name)    \
  case static_cast<int>(name): \
    return set ? op_set<name, T, kFlush> : op_setp<name, T, kFlush>;
  switch (cmp) {
    WARPLINGS_CMP(Cmp::kEq)
    WARPLINGS_CMP(Cmp::kNe)
    WARPLINGS_CMP(Cmp::kLt) WARPLINGS_CMP(Cmp::kLe) WARPLINGS_CMP(Cmp::kGt) WARPLINGS_CMP(Cmp::kGe)
  }
  if constexpr (std::is_floating_point_v<typename Compared<T>::type>) {
    switch (cmp) {
      WARPLINGS_CMP(Cmp::kEqu)
      WARPLINGS_CMP(Cmp::kNeu)
      WARPLINGS_CMP(Cmp::kLtu)
      WARPLINGS_CMP(Cmp::kLeu)
      WARPLINGS_CMP(Cmp::kGtu)
      WARPLINGS_CMP(Cmp::kGeu) WARPLINGS_CMP(Cmp::kNum) WARPLINGS_CMP(Cmp::kNan)
    }
  }
#undef WARPLINGS_CMP
  return nullptr;
}

// selp d, a, b, p; bit 0 of imm negates p.
template <class S>
void op_selp(Warp& w, const Instr& in, uint32_t m) {
  const auto* a = w.in<S>(in.ops[1]);
  const auto* b = w.in<S>(in.ops[2]);
  uint32_t p = w.predicate(in.ops[3]);
  if (in.imm & 1) p = ~p;
  for_lanes(w.out<S>(in.ops[0]), m, [=](int i) { return ((p >> i) & 1) ? a[i] : b[i]; });
}
template <class S>
void op_mov(Warp& w, const Instr& in, uint32_t m) {
  const auto* a = w.in<S>(in.ops[1]);
  for_lanes(w.out<S>(in.ops[0]), m, [=](int i) { return a[i]; });
}
template <class S, class C>
void op_slct(Warp& w, const Instr& in, uint32_t m) {
  const auto* a = w.in<S>(in.ops[1]);
  const auto* b = w.in<S>(in.ops[2]);
  const auto* c = w.in<uint32_t>(in.ops[3]);
  for_lanes(w.out<S>(in.ops[0]), m, [=](int i) { return load_lane<C>(c[i]) >= 0 ? a[i] : b[i]; });
}
// slct.ftz by f32: a subnormal of either sign counts as zero.
template <class S>
void op_slct_ftz(Warp& w, const Instr& in, uint32_t m) {
  const auto* a = w.in<S>(in.ops[1]);
  const auto* b = w.in<S>(in.ops[2]);
  const auto* c = w.in<uint32_t>(in.ops[3]);
  for_lanes(w.out<S>(in.ops[0]), m,
            [=](int i) { return flush(load_lane<float>(c[i])) >= 0 ? a[i] : b[i]; });
}

template <class F>
Handler by_bits(Type type, F f) {
  switch (ptx::size_of(type)) {
    case 2:
      return f(uint16_t{});
    case 4:
      return f(uint32_t{});
    case 8:
      return f(uint64_t{});
    default:
      return nullptr;
  }
}

bool is_signed_type(Type type) {
  return type == Type::kS16 || type == Type::kS32 || type == Type::kS64;
}

Handler pick_shift_right(Type type) {
  switch (type) {
    case Type::kS16:
      return op_shr<int16_t>;
    case Type::kS32:
      return op_shr<int32_t>;
    case Type::kS64:
      return op_shr<int64_t>;
    default:
      return by_bits(type, []<class T>(T) -> Handler { return op_shr<T>; });
  }
}

Handler pick_find(Spec& spec, Type type) {
  const bool amount = spec.take("shiftamt");
  switch (type) {
    case Type::kU32:
      return amount ? op_bfind<uint32_t, true> : op_bfind<uint32_t, false>;
    case Type::kS32:
      return amount ? op_bfind<int32_t, true> : op_bfind<int32_t, false>;
    case Type::kU64:
      return amount ? op_bfind<uint64_t, true> : op_bfind<uint64_t, false>;
    case Type::kS64:
      return amount ? op_bfind<int64_t, true> : op_bfind<int64_t, false>;
    default:
      return nullptr;
  }
}

Handler pick_predicate(Opcode op) {
  if (op == k_and) return op_predicate<PredicateOp::kAnd>;
  if (op == k_or) return op_predicate<PredicateOp::kOr>;
  if (op == k_xor) return op_predicate<PredicateOp::kXor>;
  if (op == k_not) return op_predicate<PredicateOp::kNot>;
  if (op == k_mov) return op_predicate<PredicateOp::kMove>;
  return nullptr;
}

// lop3.or / .and d|p, a, b, c, table, q: p = (d != 0) or / and q. ops: d, a, b, c, q, p.
template <bool kAnd>
void op_lop3_test(Warp& w, const Instr& in, uint32_t m) {
  alignas(64) uint32_t result[32];
  const uint32_t* operands[3] = {w.in<uint32_t>(in.ops[1]), w.in<uint32_t>(in.ops[2]),
                                 w.in<uint32_t>(in.ops[3])};
  for (int i = 0; i < 32; ++i) {
    uint32_t r = 0;
    for (uint32_t bit = 0; bit < 32; ++bit) {
      const uint32_t row = ((operands[0][i] >> bit) & 1) << 2 | ((operands[1][i] >> bit) & 1) << 1 |
                           ((operands[2][i] >> bit) & 1);
      r |= static_cast<uint32_t>((in.imm >> row) & 1) << bit;
    }
    result[i] = r;
  }
  const uint32_t test = lane_mask([&](int i) { return result[i] != 0; });
  uint32_t q = w.predicate(in.ops[4]);
  if (in.extra != 0) q = ~q;
  if (in.ops[0] != kNoPlace) {
    for_lanes(w.out<uint32_t>(in.ops[0]), m, [&](int i) { return result[i]; });
  }
  if (in.ops[5] != kNoPlace) write_predicate(w, in.ops[5], m, kAnd ? test & q : test | q);
}

Handler pick_funnel(Spec& spec) {
  const bool left = spec.take_one_of({"r", "l"}) == 1;
  const bool wrap = spec.take_one_of({"clamp", "wrap"}) == 1;
  if (left) return wrap ? op_shf<true, true> : op_shf<true, false>;
  return wrap ? op_shf<false, true> : op_shf<false, false>;
}

Handler pick_bits(Spec& spec, Type type) {
  const Opcode op = spec.op;
  if (op == k_bfe) {
    switch (type) {
      case Type::kU32:
        return op_bfe<uint32_t>;
      case Type::kS32:
        return op_bfe<int32_t>;
      case Type::kU64:
        return op_bfe<uint64_t>;
      case Type::kS64:
        return op_bfe<int64_t>;
      default:
        return nullptr;
    }
  }
  if (op == k_bmsk)
    return spec.take_one_of({"clamp", "wrap"}) == 1 ? op_bmsk<true> : op_bmsk<false>;
  if (op == k_szext) {
    const bool wrap = spec.take_one_of({"clamp", "wrap"}) == 1;
    if (is_signed_type(type)) return wrap ? op_szext<int32_t, true> : op_szext<int32_t, false>;
    return wrap ? op_szext<uint32_t, true> : op_szext<uint32_t, false>;
  }
  return by_bits(type, [&]<class T>(T) -> Handler {
    if constexpr (sizeof(T) >= 4) {
      if (op == k_popc) return op_popc<T>;
      if (op == k_clz) return op_clz<T>;
      if (op == k_brev) return op_brev<T>;
      if (op == k_bfi) return op_bfi<T>;
    }
    return nullptr;
  });
}

int take_comparison(Spec& spec) {
  const int cmp = spec.take_one_of(
      {"eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"});
  if (cmp >= 0) return cmp;
  // lo, ls, hi, hs: unsigned names of lt, le, gt, ge
  const int unsigned_cmp = spec.take_one_of({"lo", "ls", "hi", "hs"});
  return unsigned_cmp < 0 ? -1 : 2 + unsigned_cmp;
}

}  // namespace

Handler pick_logic(Spec& spec, Type type) {
  const Opcode op = spec.op;
  if (type == Type::kPred) return pick_predicate(op);
  if (op == k_shr) return pick_shift_right(type);
  if (op == k_shf) return pick_funnel(spec);
  if (op == k_lop3) {
    const int test = spec.take_one_of({"or", "and"});
    return test < 0 ? op_lop3 : test == 0 ? op_lop3_test<false> : op_lop3_test<true>;
  }
  if (op == k_prmt) {
    spec.take_one_of({"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"});
    return op_prmt;
  }
  if (op == k_bfind) return pick_find(spec, type);
  const Handler simple = by_bits(type, [&]<class T>(T) -> Handler {
    if (op == k_and) return op_and<T>;
    if (op == k_or) return op_or<T>;
    if (op == k_xor) return op_xor<T>;
    if (op == k_not) return op_not<T>;
    if (op == k_cnot) return op_cnot<T>;
    if (op == k_shl) return op_shl<T>;
    return nullptr;
  });
  return simple != nullptr ? simple : pick_bits(spec, type);
}

Handler pick_compare(Spec& spec, Type type) {
  const bool set = spec.op == k_set;
  const bool ftz = spec.take("ftz");
  const int cmp = take_comparison(spec);
  switch (type) {
    case Type::kB16:
    case Type::kU16:
      return pick_cmp<uint16_t, false>(cmp, set);
    case Type::kS16:
      return pick_cmp<int16_t, false>(cmp, set);
    case Type::kB32:
    case Type::kU32:
      return pick_cmp<uint32_t, false>(cmp, set);
    case Type::kS32:
      return pick_cmp<int32_t, false>(cmp, set);
    case Type::kB64:
    case Type::kU64:
      return pick_cmp<uint64_t, false>(cmp, set);
    case Type::kS64:
      return pick_cmp<int64_t, false>(cmp, set);
    case Type::kF32:
      return ftz ? pick_cmp<float, true>(cmp, set) : pick_cmp<float, false>(cmp, set);
    case Type::kF64:
      return pick_cmp<double, false>(cmp, set);
    case Type::kF16:
      return ftz ? pick_cmp<Half, true>(cmp, set) : pick_cmp<Half, false>(cmp, set);
    case Type::kBF16:
      return pick_cmp<BFloat16, false>(cmp, set);
    default:
      return nullptr;
  }
}

Handler pick_move(int bytes) { return bytes == 8 ? op_mov<uint64_t> : op_mov<uint32_t>; }

Handler pick_select(Spec& spec, Type type) {
  const bool wide = ptx::size_of(type) == 8;
  if (spec.op == k_selp) return wide ? op_selp<uint64_t> : op_selp<uint32_t>;
  if (spec.take("ftz")) return wide ? op_slct_ftz<uint64_t> : op_slct_ftz<uint32_t>;
  if (spec.last_type() == Type::kF32) {
    return wide ? op_slct<uint64_t, float> : op_slct<uint32_t, float>;
  }
  return wide ? op_slct<uint64_t, int32_t> : op_slct<uint32_t, int32_t>;
}

}  // namespace warplings::sim::WARPLINGS_ISA
