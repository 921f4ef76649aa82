// Integer arithmetic.
#include <algorithm>
#include <limits>

#include "decode/handlers.h"
#include "exec/lanes.h"

namespace warplings::sim::WARPLINGS_ISA {
namespace {

using ptx::Type;

template <class T>
using Unsigned = std::make_unsigned_t<T>;

template <class T>
struct Twice;
template <>
struct Twice<int16_t> {
  using type = int32_t;
};
template <>
struct Twice<uint16_t> {
  using type = uint32_t;
};
template <>
struct Twice<int32_t> {
  using type = int64_t;
};
template <>
struct Twice<uint32_t> {
  using type = uint64_t;
};
template <>
struct Twice<int64_t> {
  using type = Int128;
};
template <>
struct Twice<uint64_t> {
  using type = UInt128;
};

// Wrap-around on purpose: signed overflow is undefined in C++, defined in PTX.
template <class T>
T wrap_add(T a, T b) {
  return static_cast<T>(Unsigned<T>(a) + Unsigned<T>(b));
}
template <class T>
T wrap_sub(T a, T b) {
  return static_cast<T>(Unsigned<T>(a) - Unsigned<T>(b));
}
template <class T>
T low_product(T a, T b) {
  return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}
template <class T>
T high_product(T a, T b) {
  using W = typename Twice<T>::type;
  return static_cast<T>((static_cast<W>(a) * static_cast<W>(b)) >> (8 * sizeof(T)));
}

template <class T>
void op_add(Warp& w, const Instr& in, uint32_t m) {
  binary<T>(w, in, m, wrap_add<T>);
}
template <class T>
void op_sub(Warp& w, const Instr& in, uint32_t m) {
  binary<T>(w, in, m, wrap_sub<T>);
}
template <class T>
void op_mul_lo(Warp& w, const Instr& in, uint32_t m) {
  binary<T>(w, in, m, low_product<T>);
}
template <class T>
void op_mul_hi(Warp& w, const Instr& in, uint32_t m) {
  binary<T>(w, in, m, high_product<T>);
}
template <class T>
void op_mad_lo(Warp& w, const Instr& in, uint32_t m) {
  ternary<T>(w, in, m, [](T a, T b, T c) { return wrap_add<T>(low_product<T>(a, b), c); });
}
template <class T>
void op_mad_hi(Warp& w, const Instr& in, uint32_t m) {
  ternary<T>(w, in, m, [](T a, T b, T c) { return wrap_add<T>(high_product<T>(a, b), c); });
}
// 24-bit products: operands are the low 24 bits, sign-extended for signed types.
template <class T>
int64_t low24(T a) {
  return std::is_signed_v<T> ? static_cast<int32_t>(static_cast<uint32_t>(a) << 8) >> 8
                             : static_cast<int64_t>(static_cast<uint32_t>(a) & 0xffffffu);
}
template <class T, int kShift>
void op_mul24(Warp& w, const Instr& in, uint32_t m) {
  binary<T>(w, in, m, [](T a, T b) { return static_cast<T>((low24(a) * low24(b)) >> kShift); });
}
template <class T, int kShift>
void op_mad24(Warp& w, const Instr& in, uint32_t m) {
  ternary<T>(w, in, m, [](T a, T b, T c) {
    return static_cast<T>(static_cast<uint64_t>((low24(a) * low24(b)) >> kShift) +
                          static_cast<uint64_t>(c));
  });
}
void op_mad24_hi_sat_s32(Warp& w, const Instr& in, uint32_t m) {
  ternary<int32_t>(w, in, m, [](int32_t a, int32_t b, int32_t c) {
    const int64_t high = static_cast<int32_t>((low24(a) * low24(b)) >> 16);
    return static_cast<int32_t>(std::clamp<int64_t>(high + c, INT32_MIN, INT32_MAX));
  });
}
template <class T>
void op_min(Warp& w, const Instr& in, uint32_t m) {
  binary<T>(w, in, m, [](T a, T b) { return b < a ? b : a; });
}
template <class T>
void op_max(Warp& w, const Instr& in, uint32_t m) {
  binary<T>(w, in, m, [](T a, T b) { return a < b ? b : a; });
}
// Division by zero has no defined result in PTX; the hardware gives all ones, and so does this.
template <class T>
void op_div(Warp& w, const Instr& in, uint32_t m) {
  binary<T>(w, in, m, [](T a, T b) -> T {
    if (b == 0) return static_cast<T>(~T{0});
    if (std::is_signed_v<T> && b == static_cast<T>(-1)) return wrap_sub<T>(0, a);
    return static_cast<T>(a / b);
  });
}
template <class T>
void op_rem(Warp& w, const Instr& in, uint32_t m) {
  binary<T>(w, in, m, [](T a, T b) -> T {
    if (b == 0) return a;
    if (std::is_signed_v<T> && b == static_cast<T>(-1)) return 0;
    return static_cast<T>(a % b);
  });
}
template <class T>
void op_abs(Warp& w, const Instr& in, uint32_t m) {
  unary<T>(w, in, m, [](T a) { return a < 0 ? wrap_sub<T>(0, a) : a; });
}
template <class T>
void op_neg(Warp& w, const Instr& in, uint32_t m) {
  unary<T>(w, in, m, [](T a) { return wrap_sub<T>(0, a); });
}
template <class T>
void op_sad(Warp& w, const Instr& in, uint32_t m) {
  ternary<T>(w, in, m, [](T a, T b, T c) {
    return wrap_add<T>(c, a < b ? wrap_sub<T>(b, a) : wrap_sub<T>(a, b));
  });
}
void op_add_sat_s32(Warp& w, const Instr& in, uint32_t m) {
  binary<int32_t>(w, in, m, [](int32_t a, int32_t b) {
    return static_cast<int32_t>(std::clamp<int64_t>(int64_t{a} + b, INT32_MIN, INT32_MAX));
  });
}
void op_sub_sat_s32(Warp& w, const Instr& in, uint32_t m) {
  binary<int32_t>(w, in, m, [](int32_t a, int32_t b) {
    return static_cast<int32_t>(std::clamp<int64_t>(int64_t{a} - b, INT32_MIN, INT32_MAX));
  });
}
void op_mad_hi_sat_s32(Warp& w, const Instr& in, uint32_t m) {
  ternary<int32_t>(w, in, m, [](int32_t a, int32_t b, int32_t c) {
    return static_cast<int32_t>(
        std::clamp<int64_t>(((int64_t{a} * b) >> 32) + c, INT32_MIN, INT32_MAX));
  });
}

// Products as wide as both operands together: T is the narrow type.
template <class T>
void op_mul_wide(Warp& w, const Instr& in, uint32_t m) {
  using W = typename Twice<T>::type;
  const auto* a = w.in<Store<T>>(in.ops[1]);
  const auto* b = w.in<Store<T>>(in.ops[2]);
  for_lanes(w.out<Store<W>>(in.ops[0]), m, [=](int i) {
    return store_lane<W>(static_cast<W>(W{load_lane<T>(a[i])} * W{load_lane<T>(b[i])}));
  });
}
template <class T>
void op_mad_wide(Warp& w, const Instr& in, uint32_t m) {
  using W = typename Twice<T>::type;
  const auto* a = w.in<Store<T>>(in.ops[1]);
  const auto* b = w.in<Store<T>>(in.ops[2]);
  const auto* c = w.in<Store<W>>(in.ops[3]);
  for_lanes(w.out<Store<W>>(in.ops[0]), m, [=](int i) {
    const W product = static_cast<W>(W{load_lane<T>(a[i])} * W{load_lane<T>(b[i])});
    return store_lane<W>(wrap_add<W>(product, load_lane<W>(c[i])));
  });
}

// Four (dp4a) or two (dp2a) products of bytes added to c. kA, kB: signedness of the two sources.
template <class A, class B>
void op_dp4a(Warp& w, const Instr& in, uint32_t m) {
  ternary<uint32_t>(w, in, m, [](uint32_t a, uint32_t b, uint32_t c) {
    for (int i = 0; i < 4; ++i) {
      c += static_cast<uint32_t>(static_cast<int32_t>(static_cast<A>(a >> (8 * i))) *
                                 static_cast<int32_t>(static_cast<B>(b >> (8 * i))));
    }
    return c;
  });
}
template <class A16, class B8, int kHigh>
void op_dp2a(Warp& w, const Instr& in, uint32_t m) {
  ternary<uint32_t>(w, in, m, [](uint32_t a, uint32_t b, uint32_t c) {
    for (int i = 0; i < 2; ++i) {
      c += static_cast<uint32_t>(static_cast<int32_t>(static_cast<A16>(a >> (16 * i))) *
                                 static_cast<int32_t>(static_cast<B8>(b >> (8 * i + 16 * kHigh))));
    }
    return c;
  });
}

// Calls f with a value of the C++ type of a PTX integer type.
template <class F>
Handler by_type(Type type, F f) {
  switch (type) {
    case Type::kU16:
    case Type::kB16:
      return f(uint16_t{});
    case Type::kS16:
      return f(int16_t{});
    case Type::kU32:
    case Type::kB32:
      return f(uint32_t{});
    case Type::kS32:
      return f(int32_t{});
    case Type::kU64:
    case Type::kB64:
      return f(uint64_t{});
    case Type::kS64:
      return f(int64_t{});
    default:
      return nullptr;
  }
}
template <class F>
Handler by_narrow_type(Type type, F f) {
  switch (type) {
    case Type::kU16:
      return f(uint16_t{});
    case Type::kS16:
      return f(int16_t{});
    case Type::kU32:
      return f(uint32_t{});
    case Type::kS32:
      return f(int32_t{});
    default:
      return nullptr;
  }
}

// u16x2, s16x2: two values in one register.
template <class T, class F>
void packed(Warp& w, const Instr& in, uint32_t m, F f) {
  binary<uint32_t>(w, in, m, [f](uint32_t a, uint32_t b) {
    const auto part = [](uint32_t x) { return static_cast<uint32_t>(static_cast<uint16_t>(x)); };
    const T low = f(static_cast<T>(a), static_cast<T>(b));
    const T high = f(static_cast<T>(a >> 16), static_cast<T>(b >> 16));
    return part(static_cast<uint32_t>(high)) << 16 | part(static_cast<uint32_t>(low));
  });
}
template <class T>
void op_add_packed(Warp& w, const Instr& in, uint32_t m) {
  packed<T>(w, in, m, [](T a, T b) { return wrap_add<T>(a, b); });
}
template <class T, bool kMaximum, bool kRelu>
void op_extremum_packed(Warp& w, const Instr& in, uint32_t m) {
  packed<T>(w, in, m, [](T a, T b) {
    const T r = (a < b) == kMaximum ? b : a;
    return kRelu && r < 0 ? T{0} : r;
  });
}
template <bool kMaximum>
void op_extremum_relu(Warp& w, const Instr& in, uint32_t m) {
  binary<int32_t>(w, in, m, [](int32_t a, int32_t b) {
    return std::max(0, kMaximum ? std::max(a, b) : std::min(a, b));
  });
}

Handler pick_packed(Spec& spec, Type type) {
  const bool is_signed = type == Type::kS16x2;
  if (spec.op == k_add) return is_signed ? op_add_packed<int16_t> : op_add_packed<uint16_t>;
  const bool maximum = spec.op == k_max;
  if (!maximum && spec.op != k_min) return nullptr;
  if (!is_signed) {
    return maximum ? op_extremum_packed<uint16_t, true, false>
                   : op_extremum_packed<uint16_t, false, false>;
  }
  if (spec.take("relu")) {
    return maximum ? op_extremum_packed<int16_t, true, true>
                   : op_extremum_packed<int16_t, false, true>;
  }
  return maximum ? op_extremum_packed<int16_t, true, false>
                 : op_extremum_packed<int16_t, false, false>;
}

Handler pick_product(Spec& spec, Type type, bool add) {
  if (spec.take("wide")) {
    return by_narrow_type(
        type, [&]<class T>(T) -> Handler { return add ? op_mad_wide<T> : op_mul_wide<T>; });
  }
  if (spec.take("hi")) {
    if (add && spec.take("sat")) return type == Type::kS32 ? op_mad_hi_sat_s32 : nullptr;
    return by_type(type, [&]<class T>(T) -> Handler { return add ? op_mad_hi<T> : op_mul_hi<T>; });
  }
  spec.take("lo");
  return by_type(type, [&]<class T>(T) -> Handler { return add ? op_mad_lo<T> : op_mul_lo<T>; });
}

Handler pick_product24(Spec& spec, Type type, bool add) {
  const bool high = spec.take("hi");
  spec.take("lo");
  if (add && high && spec.take("sat")) return type == Type::kS32 ? op_mad24_hi_sat_s32 : nullptr;
  if (type == Type::kS32) {
    if (add) return high ? op_mad24<int32_t, 16> : op_mad24<int32_t, 0>;
    return high ? op_mul24<int32_t, 16> : op_mul24<int32_t, 0>;
  }
  if (type != Type::kU32) return nullptr;
  if (add) return high ? op_mad24<uint32_t, 16> : op_mad24<uint32_t, 0>;
  return high ? op_mul24<uint32_t, 16> : op_mul24<uint32_t, 0>;
}

Handler pick_dot(Spec& spec) {
  const bool a_signed = spec.type(0) == Type::kS32;
  const bool b_signed = spec.type(1) == Type::kS32;
  if (spec.op == k_dp4a) {
    if (a_signed) return b_signed ? op_dp4a<int8_t, int8_t> : op_dp4a<int8_t, uint8_t>;
    return b_signed ? op_dp4a<uint8_t, int8_t> : op_dp4a<uint8_t, uint8_t>;
  }
  const bool high = spec.take("hi");
  spec.take("lo");
  if (a_signed && b_signed) return high ? op_dp2a<int16_t, int8_t, 1> : op_dp2a<int16_t, int8_t, 0>;
  if (a_signed) return high ? op_dp2a<int16_t, uint8_t, 1> : op_dp2a<int16_t, uint8_t, 0>;
  if (b_signed) return high ? op_dp2a<uint16_t, int8_t, 1> : op_dp2a<uint16_t, int8_t, 0>;
  return high ? op_dp2a<uint16_t, uint8_t, 1> : op_dp2a<uint16_t, uint8_t, 0>;
}

}  // namespace

Handler pick_integer(Spec& spec, Type type) {
  const Opcode op = spec.op;
  if (type == Type::kU16x2 || type == Type::kS16x2) return pick_packed(spec, type);
  const bool extremum = op == k_min || op == k_max;
  if (extremum && type == Type::kS32 && spec.take("relu")) {
    return op == k_max ? op_extremum_relu<true> : op_extremum_relu<false>;
  }
  if (op == k_add && spec.take("sat")) return type == Type::kS32 ? op_add_sat_s32 : nullptr;
  if (op == k_sub && spec.take("sat")) return type == Type::kS32 ? op_sub_sat_s32 : nullptr;
  if (op == k_mul) return pick_product(spec, type, false);
  if (op == k_mad) return pick_product(spec, type, true);
  if (op == k_mul24) return pick_product24(spec, type, false);
  if (op == k_mad24) return pick_product24(spec, type, true);
  if (op == k_dp4a || op == k_dp2a) return pick_dot(spec);
  return by_type(type, [&]<class T>(T) -> Handler {
    if (op == k_add) return op_add<T>;
    if (op == k_sub) return op_sub<T>;
    if (op == k_min) return op_min<T>;
    if (op == k_max) return op_max<T>;
    if (op == k_div) return op_div<T>;
    if (op == k_rem) return op_rem<T>;
    if (op == k_sad) return op_sad<T>;
    if constexpr (std::is_signed_v<T>) {
      if (op == k_abs) return op_abs<T>;
      if (op == k_neg) return op_neg<T>;
    }
    return nullptr;
  });
}

}  // namespace warplings::sim::WARPLINGS_ISA
