// Given code of chapter 08: complex numbers, small Fourier transforms in the registers of one
// thread, and, for 13 and later, the transform of 05 as a function that a kernel calls. For 11:
// copies in the background, and the parts of an implicit GEMM that are no different from a GEMM's.
#ifndef CHAPTERS_08_FFT_CONVOLUTION_SUPPORT_H_
#define CHAPTERS_08_FFT_CONVOLUTION_SUPPORT_H_

#include <cuda_runtime.h>

#include <cstdint>

#include "11_conv2d_implicit_gemm.h"

// ---- complex numbers ---------------------------------------------------------------------------
// A float2 is one: x is the real part, y the imaginary part.

__host__ __device__ inline float2 operator+(float2 a, float2 b) {
  return make_float2(a.x + b.x, a.y + b.y);
}
__host__ __device__ inline float2 operator-(float2 a, float2 b) {
  return make_float2(a.x - b.x, a.y - b.y);
}
__host__ __device__ inline float2 operator*(float2 a, float2 b) {
  return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}
__host__ __device__ inline float2 operator*(float s, float2 a) {
  return make_float2(s * a.x, s * a.y);
}
__host__ __device__ inline float2 conjugate(float2 a) { return make_float2(a.x, -a.y); }
// a times -i: a quarter of a turn, clockwise.
__host__ __device__ inline float2 quarter_turn(float2 a) { return make_float2(a.y, -a.x); }

// exp(-2 pi i part): the unit vector after `part` of a clockwise turn. turn(k / n) is the n-th root
// of unity to the power k that a forward transform multiplies by. Within 2 units of the last place.
__host__ __device__ inline float2 turn(float part) {
  float2 w;
  sincospif(-2.0f * part, &w.y, &w.x);
  return w;
}

// ---- transforms in registers: v[k] becomes the sum of v[i] turn(i k / kRadix) over i -----------
// Always inlined, so that every index is known and v never leaves the registers.

template <int kRadix>
__device__ void dft(float2* v);

template <>
__device__ __forceinline__ void dft<2>(float2* v) {
  const float2 first = v[0];
  v[0] = first + v[1];
  v[1] = first - v[1];
}

// No multiplication: the roots are 1, -i, -1 and i.
template <>
__device__ __forceinline__ void dft<4>(float2* v) {
  const float2 even_sum = v[0] + v[2], even_difference = v[0] - v[2];
  const float2 odd_sum = v[1] + v[3], odd_difference = quarter_turn(v[1] - v[3]);
  v[0] = even_sum + odd_sum;
  v[1] = even_difference + odd_difference;
  v[2] = even_sum - odd_sum;
  v[3] = even_difference - odd_difference;
}

// Two of four points, and four of two. The roots between them are 1, (1 - i) h, -i, (-1 - i) h.
template <>
__device__ __forceinline__ void dft<8>(float2* v) {
  constexpr float h = 0.70710678118654752f;  // cos(pi / 4)
  float2 even[4] = {v[0], v[2], v[4], v[6]}, odd[4] = {v[1], v[3], v[5], v[7]};
  dft<4>(even);
  dft<4>(odd);
  odd[1] = make_float2(h * (odd[1].x + odd[1].y), h * (odd[1].y - odd[1].x));
  odd[2] = quarter_turn(odd[2]);
  odd[3] = make_float2(h * (odd[3].y - odd[3].x), -h * (odd[3].x + odd[3].y));
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    v[k] = even[k] + odd[k];
    v[k + 4] = even[k] - odd[k];
  }
}

// Four of four points, and four of four: u[i][j] is turned by i j sixteenths in between.
template <>
__device__ __forceinline__ void dft<16>(float2* v) {
  constexpr float c = 0.92387953251128674f, s = 0.38268343236508977f;  // cos, sin of pi / 8
  constexpr float h = 0.70710678118654752f;                            // cos of pi / 4
  const float2 turn1 = {c, -s}, turn2 = {h, -h}, turn3 = {s, -c}, turn6 = {-h, -h}, turn9 = {-c, s};
  float2 u[4][4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
#pragma unroll
    for (int j = 0; j < 4; ++j) u[i][j] = v[i + 4 * j];
    dft<4>(u[i]);
  }
  u[1][1] = u[1][1] * turn1;
  u[1][2] = u[1][2] * turn2;
  u[1][3] = u[1][3] * turn3;
  u[2][1] = u[2][1] * turn2;
  u[2][2] = quarter_turn(u[2][2]);
  u[2][3] = u[2][3] * turn6;
  u[3][1] = u[3][1] * turn3;
  u[3][2] = u[3][2] * turn6;
  u[3][3] = u[3][3] * turn9;
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    float2 column[4] = {u[0][j], u[1][j], u[2][j], u[3][j]};
    dft<4>(column);
#pragma unroll
    for (int k = 0; k < 4; ++k) v[j + 4 * k] = column[k];
  }
}

// ---- for 13 and later: what 05 is about, ready to use ------------------------------------------

// How a transform is cut up: points of a thread, and the radix of each of three passes.
template <int kPoints>
struct FftPlan;
template <>
struct FftPlan<256> {
  static constexpr int kEach = 8, kRadix1 = 8, kRadix2 = 8, kRadix3 = 4;
};
template <>
struct FftPlan<512> {
  static constexpr int kEach = 16, kRadix1 = 16, kRadix2 = 16, kRadix3 = 2;
};
template <>
struct FftPlan<1024> {
  static constexpr int kEach = 16, kRadix1 = 16, kRadix2 = 16, kRadix3 = 4;
};
template <>
struct FftPlan<2048> {
  static constexpr int kEach = 16, kRadix1 = 16, kRadix2 = 16, kRadix3 = 8;
};
template <>
struct FftPlan<4096> {
  static constexpr int kEach = 16, kRadix1 = 16, kRadix2 = 16, kRadix3 = 16;
};

// A transform of kPoints by kThreads threads, those of a block, or of a warp or less where kThreads
// is at most 32. Thread t has the points t, t + kThreads, t + 2 kThreads, ... in v, before and
// after. `tile` is shared memory of kTile values. Each exchange waits before it writes, so
// transforms may follow each other; what else uses the tile afterwards calls wait() first.
// kColumns transforms of a block may lie side by side in shared memory, point by point: the tile of
// column c is then `tile + c`, and kTile is the room for all of them.
template <int kPoints, int kColumns = 1>
struct BlockFft {
  using P = FftPlan<kPoints>;
  static constexpr int kEach = P::kEach;            // points of a thread
  static constexpr int kThreads = kPoints / kEach;  // of a transform
  static constexpr int kTile = (kPoints + kPoints / 16) * kColumns;

  // v[i] of thread t, point p = t + i kThreads: the sum of the points q times turn(p q / kPoints).
  // With a shift, a constant: times turn((p - shift) q / kPoints).
  static __device__ __forceinline__ void forward(float2* v, float2* tile, int t, float shift = 0) {
    pass<P::kRadix1, 1>(v, t, shift);
    exchange<P::kRadix1, 1>(v, tile, t);
    pass<P::kRadix2, P::kRadix1>(v, t, shift);
    exchange<P::kRadix2, P::kRadix1>(v, tile, t);
    pass<P::kRadix3, P::kRadix1 * P::kRadix2>(v, t, shift);
  }

  // The same with the other sign of the angle: kPoints times the inverse.
  static __device__ __forceinline__ void inverse(float2* v, float2* tile, int t) {
#pragma unroll
    for (int i = 0; i < kEach; ++i) v[i] = conjugate(v[i]);
    forward(v, tile, t);
#pragma unroll
    for (int i = 0; i < kEach; ++i) v[i] = conjugate(v[i]);
  }

  // Waits for all threads of the transform.
  static __device__ __forceinline__ void wait() {
    if (kThreads * kColumns <= 32) {
      __syncwarp();
    } else {
      __syncthreads();
    }
  }

 private:
  // One float2 is left out after each 16, so that points 16 apart lie in different banks.
  static __device__ __forceinline__ int place(int i) { return (i + i / 16) * kColumns; }

  // kRadix finished transforms of kDone points become one, kEach / kRadix times per thread.
  template <int kRadix, int kDone>
  static __device__ __forceinline__ void pass(float2* v, int t, float shift) {
    constexpr int kButterflies = kEach / kRadix;
#pragma unroll
    for (int m = 0; m < kButterflies; ++m) {
      float2 u[kRadix], power[kRadix];  // power[r]: w to the power r
#pragma unroll
      for (int r = 0; r < kRadix; ++r) u[r] = v[m + r * kButterflies];
      if (kDone > 1 || shift != 0) {
        power[1] = turn(((t + m * kThreads) % kDone - shift) / (kDone * kRadix));
#pragma unroll
        for (int r = 1; r < kRadix; ++r) {
          if (r > 1) {
            power[r] = r % 2 == 0 ? power[r / 2] * power[r / 2] : power[r - 1] * power[1];
          }
          u[r] = u[r] * power[r];
        }
      }
      dft<kRadix>(u);
#pragma unroll
      for (int r = 0; r < kRadix; ++r) v[m + r * kButterflies] = u[r];
    }
  }

  // Results to the places of the transforms that are now finished; the next pass's points back.
  template <int kRadix, int kDone>
  static __device__ __forceinline__ void exchange(float2* v, float2* tile, int t) {
    constexpr int kButterflies = kEach / kRadix;
    wait();  // read against write: others may still read what the tile held before
#pragma unroll
    for (int m = 0; m < kButterflies; ++m) {
      const int j = t + m * kThreads;
      const int first = j / kDone * (kDone * kRadix) + j % kDone;
#pragma unroll
      for (int r = 0; r < kRadix; ++r) tile[place(first + r * kDone)] = v[m + r * kButterflies];
    }
    wait();  // write against read: all points of the next pass are in the tile
#pragma unroll
    for (int i = 0; i < kEach; ++i) v[i] = tile[place(t + i * kThreads)];
  }
};

// ---- for 11: copies that go on in the background, past the registers ---------------------------

// Begins to copy a float from global to shared memory. With `inside` false nothing is read,
// wherever the address points, and a zero is written.
__device__ __forceinline__ void copy_or_zero_async(float* shared, const float* global,
                                                   bool inside) {
  const auto to = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  const int bytes = inside ? 4 : 0;
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to), "l"(global), "r"(bytes)
               : "memory");
}

// Copies that were begun since the last call belong together: they are one group.
__device__ inline void close_copy_group() { asm volatile("cp.async.commit_group;" ::: "memory"); }

// Waits until at most kNewest groups of this thread are still on their way. Other threads see what
// was copied behind a __syncthreads().
template <int kNewest>
__device__ inline void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kNewest) : "memory");
}

// ---- for 11: y (k x n p q) = f (k x c r s) times X (c r s x n p q), in tiles --------------------

// Product j of an output: where its pixel lies, and which parts of the filter it belongs to.
struct Tap {
  int offset;  // floats from the pixel under the filter's first weight
  unsigned
      parts;  // bit i: row i of the filter; bit 16 + i: column i; bit 31: there is no product j
};
constexpr unsigned kNoProduct = 1u << 31;

// A column of X: the pixel under the filter's first weight, which may lie outside the image, and
// the parts of the filter (as in Tap) that lie outside. Pixels past the last are outside in every
// part.
struct Column {
  const float* corner;
  unsigned outside;
};
__device__ __forceinline__ Column column_of(const float* x, const ConvLayer& layer, int pixel) {
  const int plane = layer.p() * layer.q();
  const int row = pixel % plane / layer.q() - layer.pad, col = pixel % layer.q() - layer.pad;
  const auto image = static_cast<long long>(pixel / plane) * layer.c * layer.h * layer.w;
  Column column = {x + image + row * layer.w + col, kNoProduct};
#pragma unroll 1
  for (int r = 0; r < layer.r; ++r) {
    if (row + r < 0 || row + r >= layer.h) column.outside |= 1u << r;
  }
#pragma unroll 1
  for (int s = 0; s < layer.s; ++s) {
    if (col + s < 0 || col + s >= layer.w) column.outside |= 1u << (16 + s);
  }
  if (pixel >= layer.n * plane) column.outside = ~0u;
  return column;
}

// A block makes kFilters x kPixels of y in steps of kStep products. It has kStages tiles of each
// factor: one is multiplied while the others are on their way.
template <int kFilters, int kPixels, int kStep, int kStages>
struct ConvTiles {
  float f[kStages][kStep][kFilters + 4];  // [product][filter]; by 4 more, stores hit more banks
  float x[kStages][kStep][kPixels];       // [product][pixel]
  Tap taps[2][kStep];                     // of the step that is copied, and of the next
};

// True if groups of four weights of a filter all begin at multiples of 16 bytes.
__host__ __device__ inline bool groups_are_aligned(const float* f, int products) {
  return (reinterpret_cast<uintptr_t>(f) | (products % 4)) % 16 == 0;
}

// One thread's share of bringing the weights of a step into a tile, which is transposed: groups of
// four weights of one filter, each by one load if they are aligned. kAligned promises that.
template <int kFilters, int kStep, int kThreads, bool kAligned>
struct WeightLoads {
  static constexpr int kGroups = kFilters * kStep / 4;
  static constexpr int kCount = (kGroups + kThreads - 1) / kThreads;
  float4 group[kCount];

  // From f, `products` weights per filter, to registers; zeros where there is no filter or product.
  __device__ __forceinline__ void load(const float* f, int filters, int products, int first_filter,
                                       int step) {
    const bool aligned = kAligned || groups_are_aligned(f, products);
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const int e = threadIdx.x + i * kThreads;
      const int filter = first_filter + e / (kStep / 4), j = step * kStep + e % (kStep / 4) * 4;
      const float* from = f + static_cast<size_t>(filter) * products + j;
      group[i] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
      if (e >= kGroups || filter >= filters || j >= products) continue;
      if (aligned) {
        group[i] = *reinterpret_cast<const float4*>(from);
      } else {
        group[i].x = from[0];
        if (j + 1 < products) group[i].y = from[1];
        if (j + 2 < products) group[i].z = from[2];
        if (j + 3 < products) group[i].w = from[3];
      }
    }
  }
  // Group i from its registers to the tile, and all of them.
  __device__ __forceinline__ void store(int i, float (*tile)[kFilters + 4]) const {
    const int e = threadIdx.x + i * kThreads;
    if (kGroups % kThreads != 0 && e >= kGroups) return;
    float* to = &tile[e % (kStep / 4) * 4][e / (kStep / 4)];
    to[0] = group[i].x;
    to[kFilters + 4] = group[i].y;
    to[2 * (kFilters + 4)] = group[i].z;
    to[3 * (kFilters + 4)] = group[i].w;
  }
  __device__ __forceinline__ void store_all(float (*tile)[kFilters + 4]) const {
#pragma unroll
    for (int i = 0; i < kCount; ++i) store(i, tile);
  }
};

// Groups of four floats of a tile, kApart apart, 16 bytes each.
template <int kApart, int kGroups>
__device__ __forceinline__ void load_groups(float4 (&to)[kGroups], const float* from) {
#pragma unroll
  for (int i = 0; i < kGroups; ++i) to[i] = *reinterpret_cast<const float4*>(from + kApart * i);
}

// Result i of a group of four, to its place in y. With `four` the first of a group is aligned to 16
// bytes, and writes all of it.
__device__ __forceinline__ void store_of_group(float* to, const float* group, int i, bool four) {
  if (!four) *to = group[i];
  if (four && i == 0) {
    *reinterpret_cast<float4*>(to) = make_float4(group[0], group[1], group[2], group[3]);
  }
}

// The tile to use if `wanted` is asked for. A large tile loads less for each product. It is not the
// best where much of it hangs over the edge of y, or where its blocks leave more than a tenth of
// their last wave idle. Those of 64 filters take aligned weights only.
inline ConvTile tile_for(const ConvLayer& layer, const float* d_f, ConvTile wanted) {
  const bool aligned = groups_are_aligned(d_f, layer.c * layer.r * layer.s);
  if (wanted != ConvTile::kBySize) {
    const bool small = wanted == ConvTile::k32x256 || wanted == ConvTile::k16x256;
    return aligned || small ? wanted : ConvTile::k32x256;
  }
  if (layer.k <= 16) return ConvTile::k16x256;
  if (layer.k <= 32 || !aligned) return ConvTile::k32x256;
  int device = 0, multiprocessors = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
  const long long pixels = static_cast<long long>(layer.n) * layer.p() * layer.q();
  const long long blocks = (pixels + 255) / 256 * ((layer.k + 63) / 64);
  const long long together = 2 * multiprocessors;  // blocks of 64 x 256 that run at a time
  const long long waves = (blocks + together - 1) / together;
  return 10 * blocks >= 9 * waves * together ? ConvTile::k64x256 : ConvTile::k64x128;
}

#endif  // CHAPTERS_08_FFT_CONVOLUTION_SUPPORT_H_
