// Given code of chapter 08: complex numbers, small Fourier transforms in the registers of one
// thread, and, for 11 and later, the transform of 04 as a function that a kernel calls.
#ifndef CHAPTERS_08_FFT_CONVOLUTION_SUPPORT_H_
#define CHAPTERS_08_FFT_CONVOLUTION_SUPPORT_H_

#include <cuda_runtime.h>

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

// ---- for 11 and later: what 04 is about, ready to use ------------------------------------------

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
template <int kPoints>
struct BlockFft {
  using P = FftPlan<kPoints>;
  static constexpr int kEach = P::kEach;            // points of a thread
  static constexpr int kThreads = kPoints / kEach;  // of a transform
  static constexpr int kTile = kPoints + kPoints / 16;

  // v[i] of thread t, point p = t + i kThreads: the sum of the points q times turn(p q / kPoints).
  static __device__ __forceinline__ void forward(float2* v, float2* tile, int t) {
    pass<P::kRadix1, 1>(v, t);
    exchange<P::kRadix1, 1>(v, tile, t);
    pass<P::kRadix2, P::kRadix1>(v, t);
    exchange<P::kRadix2, P::kRadix1>(v, tile, t);
    pass<P::kRadix3, P::kRadix1 * P::kRadix2>(v, t);
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
    if (kThreads <= 32) {
      __syncwarp();
    } else {
      __syncthreads();
    }
  }

 private:
  // One float2 is left out after each 16, so that points 16 apart lie in different banks.
  static __device__ __forceinline__ int place(int i) { return i + i / 16; }

  // kRadix finished transforms of kDone points become one, kEach / kRadix times per thread.
  template <int kRadix, int kDone>
  static __device__ __forceinline__ void pass(float2* v, int t) {
    constexpr int kButterflies = kEach / kRadix;
#pragma unroll
    for (int m = 0; m < kButterflies; ++m) {
      float2 u[kRadix], power[kRadix];  // power[r]: w to the power r
#pragma unroll
      for (int r = 0; r < kRadix; ++r) u[r] = v[m + r * kButterflies];
      if (kDone > 1) {
        power[1] = turn(static_cast<float>((t + m * kThreads) % kDone) / (kDone * kRadix));
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

#endif  // CHAPTERS_08_FFT_CONVOLUTION_SUPPORT_H_
