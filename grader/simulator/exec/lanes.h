// Helpers of the instruction handlers: 32 lanes at a time, in loops that the compiler vectorises.
#ifndef WARPLINGS_SIMULATOR_EXEC_LANES_H_
#define WARPLINGS_SIMULATOR_EXEC_LANES_H_

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "decode/lane_build.h"
#include "exec/warp.h"

namespace warplings::sim::WARPLINGS_ISA {

__extension__ typedef __int128 Int128;
__extension__ typedef unsigned __int128 UInt128;

// A lane is stored as 4 bytes, or as 8 for 64-bit types. Narrow types use the low bits.
template <class T>
using Store = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;

template <class T>
inline T load_lane(Store<T> s) {
  if constexpr (sizeof(T) == sizeof(s)) {
    return std::bit_cast<T>(s);
  } else {
    return static_cast<T>(s);
  }
}
template <class T>
inline Store<T> store_lane(T value) {
  if constexpr (sizeof(T) == sizeof(Store<T>)) {
    return std::bit_cast<Store<T>>(value);
  } else {
    return static_cast<std::make_unsigned_t<T>>(value);
  }
}

// d[i] = f(i) for the lanes of `mask`. Sources may be the destination itself, never overlap it
// otherwise, so iterations are independent.
template <class S, class F>
inline void for_lanes(S* d, uint32_t mask, F f) {
  if (mask == 0xffffffffu) {
#pragma GCC ivdep
    for (int i = 0; i < 32; ++i) d[i] = f(i);
  } else {
    S result[32];
#pragma GCC ivdep
    for (int i = 0; i < 32; ++i) result[i] = f(i);
#pragma GCC ivdep
    for (int i = 0; i < 32; ++i) d[i] = ((mask >> i) & 1u) ? result[i] : d[i];
  }
}

// Only the active lanes, one after the other: for work with side effects or that is slow.
template <class F>
inline void each_lane(uint32_t mask, F f) {
  while (mask != 0) {
    const int lane = std::countr_zero(mask);
    mask &= mask - 1;
    f(lane);
  }
}

inline constexpr uint32_t kNanF32 = 0x7fffffffu;

inline float flush(float x) {
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  return (bits & 0x7f800000u) == 0 ? std::bit_cast<float>(bits & 0x80000000u) : x;
}
inline float canonical(float x) { return x != x ? std::bit_cast<float>(kNanF32) : x; }
// To [+0, 1]; -0 and NaN become +0.
inline float saturate(float x) { return x > 0 ? (x > 1 ? 1.0f : x) : 0.0f; }

// result T = f(sources T...)
template <class T, class F>
inline void unary(Warp& w, const Instr& in, uint32_t mask, F f) {
  const auto* a = w.in<Store<T>>(in.ops[1]);
  for_lanes(w.out<Store<T>>(in.ops[0]), mask,
            [=](int i) { return store_lane<T>(f(load_lane<T>(a[i]))); });
}
template <class T, class F>
inline void binary(Warp& w, const Instr& in, uint32_t mask, F f) {
  const auto* a = w.in<Store<T>>(in.ops[1]);
  const auto* b = w.in<Store<T>>(in.ops[2]);
  for_lanes(w.out<Store<T>>(in.ops[0]), mask,
            [=](int i) { return store_lane<T>(f(load_lane<T>(a[i]), load_lane<T>(b[i]))); });
}
template <class T, class F>
inline void ternary(Warp& w, const Instr& in, uint32_t mask, F f) {
  const auto* a = w.in<Store<T>>(in.ops[1]);
  const auto* b = w.in<Store<T>>(in.ops[2]);
  const auto* c = w.in<Store<T>>(in.ops[3]);
  for_lanes(w.out<Store<T>>(in.ops[0]), mask, [=](int i) {
    return store_lane<T>(f(load_lane<T>(a[i]), load_lane<T>(b[i]), load_lane<T>(c[i])));
  });
}

// Predicate result: bit i = f(i).
template <class F>
inline uint32_t lane_mask(F f) {
  uint32_t bits = 0;
  for (int i = 0; i < 32; ++i) bits |= static_cast<uint32_t>(f(i) ? 1u : 0u) << i;
  return bits;
}
inline void write_predicate(Warp& w, Place p, uint32_t mask, uint32_t value) {
  uint32_t* d = w.out<uint32_t>(p);
  *d = (*d & ~mask) | (value & mask);
}

}  // namespace warplings::sim::WARPLINGS_ISA

#endif  // WARPLINGS_SIMULATOR_EXEC_LANES_H_
