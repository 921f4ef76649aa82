// Half precision: f16, f16x2, bf16, bf16x2. Computed in double and rounded once.
#include <cmath>

#include "decode/handlers.h"
#include "exec/approx.h"
#include "exec/half.h"
#include "exec/lanes.h"

namespace warplings::sim {
namespace {

using namespace baseline;  // NOLINT: lanes.h lives in the namespace of its build
using ptx::Type;

// imm: bits 0-1 Rounding, then these (decode/families.cpp, float_flags).
enum Flags { kFtz = 4, kSat = 8, kRelu = 32, kXorSign = 64 };

template <class H>
H round_half(double x) {
  if constexpr (std::is_same_v<H, Half>) {
    return half_from_double(x, Rounding::kNearest);
  } else {
    return bfloat16_from_double(x, Rounding::kNearest);
  }
}

enum class HalfOp { kAdd, kSub, kMul, kFma, kMin, kMax, kMinNan, kMaxNan, kNeg, kAbs, kEx2, kTanh };

template <HalfOp kOp, class T>
T half_extremum(T a, T b) {
  const double x = to_double(a), y = to_double(b);
  constexpr bool nan_wins = kOp == HalfOp::kMinNan || kOp == HalfOp::kMaxNan;
  constexpr bool maximum = kOp == HalfOp::kMax || kOp == HalfOp::kMaxNan;
  if (x != x || y != y) {
    if (nan_wins || (x != x && y != y)) return canonical_nan<T>();
    return x != x ? b : a;
  }
  if (x == y) return std::signbit(x) == maximum ? b : a;
  return (x < y) == maximum ? b : a;
}

// .ftz: f16 only. A subnormal becomes a zero of its sign.
Half flush_half(Half x) {
  return (x.bits & 0x7c00) != 0 ? x : Half{static_cast<uint16_t>(x.bits & 0x8000)};
}
BFloat16 flush_half(BFloat16 x) { return x; }

// A result is flushed if it is below the least normal number when it is rounded as if there were no
// least exponent, as on an H200: what rounds up to 2^-14 with 11 bits stays.
template <class T>
double flush_result(double x) {
  constexpr double kRoundsToLeastNormal = 0x1p-14 - 0x1p-26;
  return std::is_same_v<T, Half> && std::fabs(x) < kRoundsToLeastNormal ? std::copysign(0.0, x) : x;
}

template <HalfOp kOp, class T>
T half_compute(T a, T b, T c, bool flush) {
  if constexpr (kOp == HalfOp::kNeg) return negate(a);
  if constexpr (kOp == HalfOp::kAbs) return absolute(a);
  const double x = to_double(a), y = to_double(b), z = to_double(c);
  const auto rounded = [=](double r) { return round_half<T>(flush ? flush_result<T>(r) : r); };
  if constexpr (kOp == HalfOp::kAdd) return rounded(sum_to_odd(x, y));
  if constexpr (kOp == HalfOp::kSub) return rounded(sum_to_odd(x, -y));
  if constexpr (kOp == HalfOp::kMul) return rounded(x * y);
  if constexpr (kOp == HalfOp::kFma) return rounded(sum_to_odd(x * y, z));
  if constexpr (kOp == HalfOp::kEx2) return rounded(approx::power_of_two(static_cast<float>(x)));
  if constexpr (kOp == HalfOp::kTanh) return rounded(approx::tangent(static_cast<float>(x)));
  return half_extremum<kOp, T>(a, b);
}

template <class T>
T half_modifiers(T r, int64_t flags) {
  if (flags & kFtz) r = flush_half(r);
  if (!(flags & (kSat | kRelu))) return r;
  const double value = to_double(r);
  if (flags & kSat) r = round_half<T>(value > 0 ? std::min(value, 1.0) : 0.0);
  if ((flags & kRelu) && !(value > 0)) r = value != value ? canonical_nan<T>() : T{};
  return r;
}

// Not a template of the operation: it would be compiled 48 times.
template <class T>
void half_lanes(Warp& w, const Instr& in, uint32_t m, int parts, T (*compute)(T, T, T, bool)) {
  const auto* a = w.in<uint32_t>(in.ops[1]);
  const auto* b = in.sources > 1 ? w.in<uint32_t>(in.ops[2]) : a;
  const auto* c = in.sources > 2 ? w.in<uint32_t>(in.ops[3]) : a;
  auto* d = w.out<uint32_t>(in.ops[0]);
  const int64_t flags = in.imm;
  each_lane(m, [&](int i) {
    uint32_t result = 0;
    for (int k = 0; k < parts; ++k) {
      const auto part = [k](uint32_t v) { return T{static_cast<uint16_t>(v >> (16 * k))}; };
      T x = part(a[i]), y = part(b[i]), z = part(c[i]);
      if (flags & kFtz) x = flush_half(x), y = flush_half(y), z = flush_half(z);
      const uint16_t sign = (x.bits ^ y.bits) & 0x8000;
      if (flags & kXorSign) x = absolute(x), y = absolute(y);
      T r = half_modifiers(compute(x, y, z, (flags & kFtz) != 0), flags);
      if ((flags & kXorSign) && to_double(r) == to_double(r)) r.bits |= sign;
      result |= static_cast<uint32_t>(r.bits) << (16 * k);
    }
    d[i] = result;
  });
}

template <HalfOp kOp, class T, int kParts>
void op_half(Warp& w, const Instr& in, uint32_t m) {
  half_lanes<T>(w, in, m, kParts, half_compute<kOp, T>);
}

template <HalfOp kOp>
Handler half_form(Type type) {
  switch (type) {
    case Type::kF16:
      return op_half<kOp, Half, 1>;
    case Type::kF16x2:
      return op_half<kOp, Half, 2>;
    case Type::kBF16:
      return op_half<kOp, BFloat16, 1>;
    case Type::kBF16x2:
      return op_half<kOp, BFloat16, 2>;
    default:
      return nullptr;
  }
}

// ---- comparison

// In the order of pick_compare: eq ne lt le gt ge, then the same with NaN counting as true, num
// nan.
bool holds(int comparison, double x, double y) {
  const bool nan = x != x || y != y;
  if (comparison >= 12) return nan == (comparison == 13);
  if (nan) return comparison >= 6;
  switch (comparison % 6) {
    case 0:
      return x == y;
    case 1:
      return x != y;
    case 2:
      return x < y;
    case 3:
      return x <= y;
    case 4:
      return x > y;
    default:
      return x >= y;
  }
}

uint32_t combined(const Instr& in, uint32_t truth, uint32_t c) {
  if (in.imm & 4) c = ~c;
  switch (in.imm & 3) {
    case 1:
      return truth & c;
    case 2:
      return truth | c;
    case 3:
      return truth ^ c;
    default:
      return truth;
  }
}

// setp and set of two halves; imm as for op_setp, bit 4: .ftz; vector: the comparison. Each half
// has a truth of its own: setp gives p the lower one and q the upper one, set puts `extra` into
// each half where it holds.
template <class T, bool kSet>
void op_compare_pair(Warp& w, const Instr& in, uint32_t m) {
  const auto* a = w.in<uint32_t>(in.ops[2]);
  const auto* b = w.in<uint32_t>(in.ops[3]);
  uint32_t truth[2] = {0, 0};
  for (int i = 0; i < 32; ++i) {
    for (int k = 0; k < 2; ++k) {
      T x{static_cast<uint16_t>(a[i] >> (16 * k))}, y{static_cast<uint16_t>(b[i] >> (16 * k))};
      if (in.imm & 16) x = flush_half(x), y = flush_half(y);
      const bool is_true = holds(in.vector, to_double(x), to_double(y));
      truth[k] |= static_cast<uint32_t>(is_true) << i;
    }
  }
  const uint32_t c = in.ops[4] == kNoPlace ? 0 : w.predicate(in.ops[4]);
  const uint32_t p = combined(in, truth[0], c), q = combined(in, truth[1], c);
  if constexpr (kSet) {
    uint32_t* d = w.out<uint32_t>(in.ops[0]);
    each_lane(m, [&](int i) {
      d[i] = (((p >> i) & 1) ? in.extra : 0) | (((q >> i) & 1) ? in.extra << 16 : 0);
    });
  } else {
    if (in.ops[0] != kNoPlace) write_predicate(w, in.ops[0], m, p);
    if (in.ops[1] != kNoPlace) write_predicate(w, in.ops[1], m, q);
  }
}

}  // namespace

Handler pick_half(Spec& spec, Type type) {
  const Opcode op = spec.op;
  spec.take("approx");
  const bool nan = spec.take("NaN");
  if (op == k_add) return half_form<HalfOp::kAdd>(type);
  if (op == k_sub) return half_form<HalfOp::kSub>(type);
  if (op == k_mul) return half_form<HalfOp::kMul>(type);
  if (op == k_fma) return half_form<HalfOp::kFma>(type);
  if (op == k_min) return nan ? half_form<HalfOp::kMinNan>(type) : half_form<HalfOp::kMin>(type);
  if (op == k_max) return nan ? half_form<HalfOp::kMaxNan>(type) : half_form<HalfOp::kMax>(type);
  if (op == k_neg) return half_form<HalfOp::kNeg>(type);
  if (op == k_abs) return half_form<HalfOp::kAbs>(type);
  if (op == k_ex2) return half_form<HalfOp::kEx2>(type);
  if (op == k_tanh) return half_form<HalfOp::kTanh>(type);
  return nullptr;
}

Handler pick_compare_pair(bool set, Type type) {
  if (type == Type::kF16x2) {
    return set ? op_compare_pair<Half, true> : op_compare_pair<Half, false>;
  }
  return set ? op_compare_pair<BFloat16, true> : op_compare_pair<BFloat16, false>;
}

}  // namespace warplings::sim
