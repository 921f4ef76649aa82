// Floating-point arithmetic, f32 and f64. Compiled with -ffp-contract=off: a rounding more or less
// is a wrong answer. Directed roundings set the rounding mode of the host around the loop.
#include <cfenv>

#include "decode/handlers.h"
#include "exec/approx.h"
#include "exec/lanes.h"

namespace warplings::sim::WARPLINGS_ISA {
namespace {

using ptx::Type;

// kDivApprox and kDivFull are the approximate forms of kDiv.
enum class Op { kAdd, kSub, kMul, kFma, kDiv, kDivApprox, kDivFull, kMin, kMax, kMinNan, kMaxNan };

template <class T>
T canonical_nan(T x) {
  if constexpr (sizeof(T) == 4) return canonical(x);
  return x;
}

// Minimum and maximum: a NaN operand is ignored (kMin) or wins (kMinNan); -0 is less than +0.
template <bool kMaximum, bool kNanWins, class T>
T extremum(T a, T b) {
  if (a != a) return kNanWins ? canonical_nan(a) : (b != b ? canonical_nan(b) : b);
  if (b != b) return kNanWins ? canonical_nan(b) : a;
  if (a == b) return (std::signbit(a) == kMaximum) ? b : a;
  return (a < b) == kMaximum ? b : a;
}

template <Op kOp, class T>
inline T compute(T a, T b, T c) {
  if constexpr (kOp == Op::kAdd) return canonical_nan(a + b);
  if constexpr (kOp == Op::kSub) return canonical_nan(a - b);
  if constexpr (kOp == Op::kMul) return canonical_nan(a * b);
  if constexpr (kOp == Op::kDiv) return canonical_nan(a / b);
  if constexpr (kOp == Op::kDivApprox) return canonical_nan<T>(approx::quotient(a, b, false));
  if constexpr (kOp == Op::kDivFull) return canonical_nan<T>(approx::quotient(a, b, true));
  if constexpr (kOp == Op::kFma) return canonical_nan(std::fma(a, b, c));
  if constexpr (kOp == Op::kMin) return extremum<false, false>(a, b);
  if constexpr (kOp == Op::kMax) return extremum<true, false>(a, b);
  if constexpr (kOp == Op::kMinNan) return extremum<false, true>(a, b);
  if constexpr (kOp == Op::kMaxNan) return extremum<true, true>(a, b);
}

// .ftz looks at the value rounded as if there were no least exponent, as an H200 does: only what
// then reaches 2^-126 stays. In double the value is exact or near enough to decide; 2^64 takes it
// away from the end of the exponents, and the conversion rounds it under the mode in force.
template <Op kOp>
inline float flush_result(float r, float x, float y, float z) {
  if constexpr (kOp == Op::kMin || kOp == Op::kMax || kOp == Op::kMinNan || kOp == Op::kMaxNan) {
    return flush(r);
  } else if constexpr (kOp == Op::kDivApprox || kOp == Op::kDivFull) {
    return flush(r);  // its last bit is not defined
  } else {
    const double value = compute<kOp, double>(x, y, z);
    const float rounded = static_cast<float>(value * 0x1p64);
    return std::fabs(rounded) < 0x1p-62f ? std::copysign(0.0f, r) : r;
  }
}

template <Op kOp, class T, bool kFlush, bool kSaturate>
void arithmetic(Warp& w, const Instr& in, uint32_t m) {
  const auto* a = w.in<Store<T>>(in.ops[1]);
  const auto* b = w.in<Store<T>>(in.ops[2]);
  const auto* c = kOp == Op::kFma ? w.in<Store<T>>(in.ops[3]) : b;
  for_lanes(w.out<Store<T>>(in.ops[0]), m, [=](int i) {
    T x = load_lane<T>(a[i]), y = load_lane<T>(b[i]), z = load_lane<T>(c[i]);
    if constexpr (kFlush) x = flush(x), y = flush(y), z = flush(z);
    T r = compute<kOp, T>(x, y, z);
    if constexpr (kFlush) r = flush_result<kOp>(r, x, y, z);
    if constexpr (kSaturate) r = saturate(r);
    return store_lane<T>(r);
  });
}

template <class T>
T input(T x, bool ftz) {
  if constexpr (sizeof(T) == 4) return ftz ? flush(x) : x;
  return x;
}

// The same under another rounding mode: imm is Rounding | ftz << 2 | sat << 3.
template <Op kOp, class T>
void directed(Warp& w, const Instr& in, uint32_t m) {
  static constexpr int kModes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
  const int before = std::fegetround();
  std::fesetround(kModes[in.imm & 3]);
  const bool ftz = in.imm & 4, sat = in.imm & 8;
  const auto* a = w.in<Store<T>>(in.ops[1]);
  const auto* b = w.in<Store<T>>(in.ops[2]);
  const auto* c = kOp == Op::kFma ? w.in<Store<T>>(in.ops[3]) : b;
  auto* d = w.out<Store<T>>(in.ops[0]);
  each_lane(m, [&](int i) {
    // volatile keeps the arithmetic between the two calls of fesetround.
    const volatile T x = input(load_lane<T>(a[i]), ftz);
    const volatile T y = input(load_lane<T>(b[i]), ftz);
    const volatile T z = input(load_lane<T>(c[i]), ftz);
    const volatile T r = compute<kOp, T>(x, y, z);
    T result = r;
    if constexpr (sizeof(T) == 4) {
      if (ftz) result = flush_result<kOp>(result, x, y, z);
      if (sat) result = saturate(result);
    }
    d[i] = store_lane<T>(result);
  });
  std::fesetround(before);
}

enum class Unary {
  kAbs,
  kNeg,
  kRcp,
  kSqrt,
  // .approx
  kNearRcp,
  kNearSqrt,
  kRsqrt,
  kEx2,
  kLg2,
  kSin,
  kCos,
  kTanh,
};

inline float near(Unary op, float x) {
  switch (op) {
    case Unary::kNearRcp:
      return approx::reciprocal(x);
    case Unary::kNearSqrt:
      return approx::square_root(x);
    case Unary::kRsqrt:
      return approx::reciprocal_root(x);
    case Unary::kEx2:
      return approx::power_of_two(x);
    case Unary::kLg2:
      return approx::logarithm(x);
    case Unary::kSin:
      return approx::sine(x);
    case Unary::kCos:
      return approx::cosine(x);
    default:
      return approx::tangent(x);
  }
}
// Without .ftz, rsqrt.approx.f64 is a sequence of instructions that ends near the last bit.
inline double near(Unary, double x) { return 1.0 / std::sqrt(x); }

template <Unary kOp, class T>
inline T compute1(T a) {
  if constexpr (kOp == Unary::kAbs) return canonical_nan(std::fabs(a));
  if constexpr (kOp == Unary::kNeg) return canonical_nan(-a);
  if constexpr (kOp == Unary::kRcp) return canonical_nan(T{1} / a);
  if constexpr (kOp == Unary::kSqrt) return canonical_nan(std::sqrt(a));
  return canonical_nan(near(kOp, a));
}

template <Unary kOp, class T, bool kFlush>
void function(Warp& w, const Instr& in, uint32_t m) {
  const auto* a = w.in<Store<T>>(in.ops[1]);
  auto* d = w.out<Store<T>>(in.ops[0]);
  each_lane(m, [&](int i) {
    T x = load_lane<T>(a[i]);
    if constexpr (kFlush) x = flush(x);
    T r = compute1<kOp, T>(x);
    if constexpr (kFlush) r = flush(r);
    d[i] = store_lane<T>(r);
  });
}
template <Unary kOp, class T, bool kFlush>
void sign_function(Warp& w, const Instr& in, uint32_t m) {
  unary<T>(w, in, m, [](T x) {
    if constexpr (kFlush) x = flush(x);
    return compute1<kOp, T>(x);
  });
}
// rcp, sqrt under a directed rounding.
template <Unary kOp, class T>
void directed1(Warp& w, const Instr& in, uint32_t m) {
  static constexpr int kModes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
  const int before = std::fegetround();
  std::fesetround(kModes[in.imm & 3]);
  const auto* a = w.in<Store<T>>(in.ops[1]);
  auto* d = w.out<Store<T>>(in.ops[0]);
  each_lane(m, [&](int i) {
    const volatile T x = input(load_lane<T>(a[i]), in.imm & 4);
    const volatile T r = compute1<kOp, T>(x);
    d[i] = store_lane<T>(input(static_cast<T>(r), in.imm & 4));
  });
  std::fesetround(before);
}

// rcp and rsqrt .approx.ftz.f64, of one word.
template <double (*kFunction)(double)>
void upper_word(Warp& w, const Instr& in, uint32_t m) {
  unary<double>(w, in, m, kFunction);
}

template <class T>
void op_copysign(Warp& w, const Instr& in, uint32_t m) {
  // copysign d, a, b: the sign of a, the value of b.
  binary<T>(w, in, m, [](T a, T b) { return std::copysign(b, a); });
}

// min and max .xorsign.abs: of the magnitudes, with the product of the signs. imm as for directed.
template <Op kOp>
void extremum_of_magnitudes(Warp& w, const Instr& in, uint32_t m) {
  const bool ftz = in.imm & 4;
  binary<float>(w, in, m, [ftz](float a, float b) {
    if (ftz) a = flush(a), b = flush(b);
    const uint32_t sign = (std::bit_cast<uint32_t>(a) ^ std::bit_cast<uint32_t>(b)) & 0x80000000u;
    const float r = compute<kOp, float>(std::fabs(a), std::fabs(b), 0.0f);
    return r != r ? r : std::bit_cast<float>(std::bit_cast<uint32_t>(r) | sign);
  });
}

template <Op kOp, class T>
Handler form(bool ftz, bool sat, bool nearest) {
  if (!nearest) return directed<kOp, T>;
  if constexpr (sizeof(T) == 4) {
    if (ftz) return sat ? arithmetic<kOp, T, true, true> : arithmetic<kOp, T, true, false>;
    return sat ? arithmetic<kOp, T, false, true> : arithmetic<kOp, T, false, false>;
  }
  return ftz || sat ? nullptr : arithmetic<kOp, T, false, false>;
}

template <class T>
Handler pick_arithmetic(Spec& spec, bool ftz, bool sat, bool nearest) {
  const Opcode op = spec.op;
  if (op == k_add) return form<Op::kAdd, T>(ftz, sat, nearest);
  if (op == k_sub) return form<Op::kSub, T>(ftz, sat, nearest);
  if (op == k_mul) return form<Op::kMul, T>(ftz, sat, nearest);
  if (op == k_fma || op == k_mad) return form<Op::kFma, T>(ftz, sat, nearest);
  if (op == k_div) {
    if constexpr (sizeof(T) == 4) {
      if (spec.take("approx")) return form<Op::kDivApprox, T>(ftz, false, true);
      if (spec.take("full")) return form<Op::kDivFull, T>(ftz, false, true);
    }
    return form<Op::kDiv, T>(ftz, false, nearest);
  }
  const bool nan = spec.take("NaN");
  if constexpr (sizeof(T) == 4) {
    if (spec.take("xorsign")) {
      spec.take("abs");
      if (op == k_min) {
        return nan ? extremum_of_magnitudes<Op::kMinNan> : extremum_of_magnitudes<Op::kMin>;
      }
      return nan ? extremum_of_magnitudes<Op::kMaxNan> : extremum_of_magnitudes<Op::kMax>;
    }
  }
  if (op == k_min) {
    return nan ? form<Op::kMinNan, T>(ftz, false, true) : form<Op::kMin, T>(ftz, false, true);
  }
  if (op == k_max) {
    return nan ? form<Op::kMaxNan, T>(ftz, false, true) : form<Op::kMax, T>(ftz, false, true);
  }
  return nullptr;
}

template <Unary kOp, class T>
Handler form1(bool ftz, bool nearest) {
  if (!nearest) return directed1<kOp, T>;
  if constexpr (sizeof(T) == 4) {
    if (ftz) return function<kOp, T, true>;
  }
  return function<kOp, T, false>;
}

template <class T>
Handler pick_function(Spec& spec, bool ftz, bool nearest) {
  const Opcode op = spec.op;
  const bool is_near = spec.take("approx");
  if (op == k_abs) {
    if constexpr (sizeof(T) == 4) {
      if (ftz) return sign_function<Unary::kAbs, T, true>;
    }
    return sign_function<Unary::kAbs, T, false>;
  }
  if (op == k_neg) {
    if constexpr (sizeof(T) == 4) {
      if (ftz) return sign_function<Unary::kNeg, T, true>;
    }
    return sign_function<Unary::kNeg, T, false>;
  }
  if constexpr (sizeof(T) == 8) {
    if (op == k_rcp && is_near) return upper_word<approx::reciprocal>;
    if (op == k_rsqrt && ftz) return upper_word<approx::reciprocal_root>;
    if (op != k_rcp && op != k_sqrt && op != k_rsqrt && op != k_copysign) return nullptr;
  } else {
    if (op == k_rcp && is_near) return form1<Unary::kNearRcp, T>(ftz, true);
    if (op == k_sqrt && is_near) return form1<Unary::kNearSqrt, T>(ftz, true);
  }
  if (op == k_rcp) return form1<Unary::kRcp, T>(ftz, nearest);
  if (op == k_sqrt) return form1<Unary::kSqrt, T>(ftz, nearest);
  if (op == k_rsqrt) return form1<Unary::kRsqrt, T>(ftz, true);
  if (op == k_ex2) return form1<Unary::kEx2, T>(ftz, true);
  if (op == k_lg2) return form1<Unary::kLg2, T>(ftz, true);
  if (op == k_sin) return form1<Unary::kSin, T>(ftz, true);
  if (op == k_cos) return form1<Unary::kCos, T>(ftz, true);
  if (op == k_tanh) return form1<Unary::kTanh, T>(ftz, true);
  if (op == k_copysign) return op_copysign<T>;
  return nullptr;
}

template <class T>
Handler pick_any(Spec& spec, bool ftz, bool sat, bool nearest) {
  if (Handler handler = pick_arithmetic<T>(spec, ftz, sat, nearest)) return handler;
  return pick_function<T>(spec, ftz, nearest);
}

}  // namespace

// The caller stores rounding | ftz << 2 | sat << 3 in imm for the directed forms.
Handler pick_float(Spec& spec, Type type) {
  const bool ftz = spec.take("ftz");
  const bool sat = spec.take("sat");
  const bool nearest = spec.take_rounding() == Rounding::kNearest;
  if (type == Type::kF32) return pick_any<float>(spec, ftz, sat, nearest);
  if (type == Type::kF64) return pick_any<double>(spec, ftz, sat, nearest);
  return nullptr;
}

}  // namespace warplings::sim::WARPLINGS_ISA
