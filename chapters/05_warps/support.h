// Given code of chapter 05, for exercises 03 and later: what 02 is about, ready to use. All 32
// lanes of the warp must call the warp_ functions together.
#ifndef CHAPTERS_05_WARPS_SUPPORT_H_
#define CHAPTERS_05_WARPS_SUPPORT_H_

constexpr unsigned kAllLanes = 0xffffffffu;
constexpr int kWarp = 32;  // lanes

// Sum of the 32 values, in every lane, as warp_max of 02 does it: lanes that are `offset` apart
// exchange, five times.
__device__ inline float warp_sum(float value) {
  for (int offset = kWarp / 2; offset > 0; offset /= 2) {
    value += __shfl_xor_sync(kAllLanes, value, offset);
  }
  return value;
}

// The greatest of the 32 values, in every lane.
__device__ inline float warp_max(float value) {
  for (int offset = kWarp / 2; offset > 0; offset /= 2) {
    value = fmaxf(value, __shfl_xor_sync(kAllLanes, value, offset));
  }
  return value;
}

// ---- for 08 and 09: a scan in which tiles wait for each other ----------------------------------

// What a tile has told the others. Status and value share one 64-bit word, which is written and
// read as a whole: who sees the status sees the value that belongs to it, without any fence.
using TileState = unsigned long long;
enum TileStatus : unsigned {
  kNothing = 0,  // not heard of yet
  kTotal = 1,    // the sum of this tile
  kPrefix = 2    // the sum of this tile and of all tiles before it
};

// volatile: the word goes to memory now, and a reader asks memory each time. That makes both
// accesses strong; plain ones would be a race.
__device__ inline void publish(TileState* state, TileStatus status, float value) {
  const TileState word = static_cast<TileState>(status) << 32 | __float_as_uint(value);
  *static_cast<volatile TileState*>(state) = word;
}
__device__ inline TileState read_state(const TileState* state) {
  return *static_cast<const volatile TileState*>(state);
}

// What a state says, once it has been read.
__device__ inline TileStatus status_of(TileState state) {
  return static_cast<TileStatus>(state >> 32);
}
__device__ inline float value_of(TileState state) {
  return __uint_as_float(static_cast<unsigned>(state));
}

// ---- for 09: what a warp loads and stores ------------------------------------------------------

// A warp's part of a tile: kLoads x 128 floats from x + first; load k of lane l holds the four from
// first + 128 k + 4 l. Past n there are zeros.
template <int kLoads>
__device__ inline void load_part(const float* x, int first, int n, float4 (&v)[kLoads]) {
  const int begin = first + 4 * (threadIdx.x % kWarp);
  if (first + kLoads * 128 <= n) {
#pragma unroll
    for (int k = 0; k < kLoads; ++k)
      v[k] = __ldcs(reinterpret_cast<const float4*>(x + begin) + 32 * k);
    return;
  }
#pragma unroll
  for (int k = 0; k < kLoads; ++k) {
    const int i = begin + 128 * k;
    v[k].x = i < n ? x[i] : 0.0f;
    v[k].y = i + 1 < n ? x[i + 1] : 0.0f;
    v[k].z = i + 2 < n ? x[i + 2] : 0.0f;
    v[k].w = i + 3 < n ? x[i + 3] : 0.0f;
  }
}

// The same places of y, as far as they exist.
template <int kLoads>
__device__ inline void store_part(float* y, int first, int n, const float4 (&v)[kLoads]) {
  const int begin = first + 4 * (threadIdx.x % kWarp);
  if (first + kLoads * 128 <= n) {
#pragma unroll
    for (int k = 0; k < kLoads; ++k) __stcs(reinterpret_cast<float4*>(y + begin) + 32 * k, v[k]);
    return;
  }
#pragma unroll
  for (int k = 0; k < kLoads; ++k) {
    const int i = begin + 128 * k;
    if (i < n) y[i] = v[k].x;
    if (i + 1 < n) y[i + 1] = v[k].y;
    if (i + 2 < n) y[i + 2] = v[k].z;
    if (i + 3 < n) y[i + 3] = v[k].w;
  }
}

#endif  // CHAPTERS_05_WARPS_SUPPORT_H_
