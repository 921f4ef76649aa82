// 08/05 Stockham FFT: a batch of transforms in registers, radix 16, 8 and 4, and no bit reversal.
//   x, y   batch transforms of n complex values each; n is 256, 512, 1024, 2048 or 4096
//          y[k] = sum over i of x[i] turn(i k / n)
//   A transform belongs to n / kEach threads. Thread t holds the points t, t + T, t + 2 T, ... of
//   each pass in its registers, T being the number of threads. dft<4>, <8>, <16> are in support.h.
//   TODOs  2
#include "05_fft_stockham.h"
#include "support.h"

// How a transform is cut up: its points, points per thread, the radix of each pass, and how many
// blocks a multiprocessor should hold, which limits the registers. A transform of 32 threads
// belongs to one warp, and a block has four of them; a longer one has a block of its own.
template <int kPoints_, int kEach_, int kRadix1_, int kRadix2_, int kRadix3_, int kMinBlocks_>
struct Plan {
  static constexpr int kPoints = kPoints_, kEach = kEach_, kThreads = kPoints_ / kEach_;
  static constexpr int kRadix1 = kRadix1_, kRadix2 = kRadix2_, kRadix3 = kRadix3_;
  static constexpr int kTransforms = kThreads <= 32 ? 128 / kThreads : 1;  // of a block
  static constexpr int kBlock = kTransforms * kThreads;                    // threads
  static constexpr int kMinBlocks = kMinBlocks_;
  static_assert(kRadix1 * kRadix2 * kRadix3 == kPoints, "the passes make the transform");
};

// A place in shared memory for point i: one float2 is left out after each 16, so that threads whose
// points lie 16 apart use different banks.
__device__ __forceinline__ int place(int i) { return i + i / 16; }

template <class P>
__device__ __forceinline__ void wait_for_transform() {
  if (P::kThreads <= 32) {
    __syncwarp();
  } else {
    __syncthreads();
  }
}

// v[r] times w to the power r. One sine and cosine serve all; a power is made of two lower ones, so
// that its error grows with log2(r).
template <int kRadix>
__device__ __forceinline__ void times_powers(float2* v, float2 w) {
  float2 power[kRadix];
  power[1] = w;
#pragma unroll
  for (int r = 2; r < kRadix; ++r) {
    power[r] = r % 2 == 0 ? power[r / 2] * power[r / 2] : power[r - 1] * w;
  }
#pragma unroll
  for (int r = 1; r < kRadix; ++r) v[r] = v[r] * power[r];
}

// One pass: where kDone points make a finished transform, kRadix of these become one. Butterfly j
// of n / kRadix takes the points j, j + n / kRadix, ...; thread t has those with j = t + m T.
template <class P, int kRadix, int kDone>
__device__ __forceinline__ void pass(float2* v, int t) {
  //~ // TODO(1): Each butterfly of this thread has turned its points, transformed them with dft, and
  //~ // put the results back where the points were. Before: u[r] is point j % kDone of the r-th of
  //~ // kRadix finished transforms. times_powers turns; the first pass has nothing to turn (about 12
  //~ // lines).
  //~begin 1
  constexpr int kButterflies = P::kEach / kRadix;  // of a thread
#pragma unroll
  for (int m = 0; m < kButterflies; ++m) {
    float2 u[kRadix];
#pragma unroll
    for (int r = 0; r < kRadix; ++r) u[r] = v[m + r * kButterflies];
    const int k = (t + m * P::kThreads) % kDone;  // 0 in the first pass: nothing to turn there
    if (kDone > 1) times_powers<kRadix>(u, turn(static_cast<float>(k) / (kDone * kRadix)));
    dft<kRadix>(u);
#pragma unroll
    for (int r = 0; r < kRadix; ++r) v[m + r * kButterflies] = u[r];
  }
  //~end
}

// Between two passes: results go to shared memory in the order of the transforms that are now
// finished, and the points of the next pass come back. This is what replaces bit reversal.
template <class P, int kRadix, int kDone>
__device__ __forceinline__ void exchange(float2* v, float2* tile, int t) {
  //~ // TODO(2): Every result of the pass lies in the tile where its finished transform has it: result
  //~ // r of butterfly j is point j % kDone + r kDone of transform j / kDone, which has kDone kRadix
  //~ // points. Then v has this thread's points of the next pass. No thread reads before all have
  //~ // written, or writes before all have read (about 10 lines). This puts results back to where
  //~ // their points came from, which is the wrong place.
  //~ wait_for_transform<P>();
  //~ for (int i = 0; i < P::kEach; ++i) tile[place(t + i * P::kThreads)] = v[i];
  //~begin 2
  constexpr int kButterflies = P::kEach / kRadix;
  if (kDone > 1) wait_for_transform<P>();  // read against write: others may not have read the tile
#pragma unroll
  for (int m = 0; m < kButterflies; ++m) {
    const int j = t + m * P::kThreads;
    const int first = j / kDone * (kDone * kRadix) + j % kDone;
#pragma unroll
    for (int r = 0; r < kRadix; ++r) tile[place(first + r * kDone)] = v[m + r * kButterflies];
  }
  wait_for_transform<P>();  // write against read: all points of the pass are in the tile
#pragma unroll
  for (int i = 0; i < P::kEach; ++i) v[i] = tile[place(t + i * P::kThreads)];
  //~end
}

template <class P>
__global__ void __launch_bounds__(P::kBlock, P::kMinBlocks)
    fft_stockham(const float2* x, float2* y, int batch) {
  __shared__ float2 tiles[P::kTransforms][P::kPoints + P::kPoints / 16];
  const int t = threadIdx.x % P::kThreads, mine = threadIdx.x / P::kThreads;
  const size_t transform = static_cast<size_t>(blockIdx.x) * P::kTransforms + mine;
  if (transform >= static_cast<size_t>(batch)) return;  // whole warps; no block barrier follows
  x += transform * P::kPoints;
  y += transform * P::kPoints;
  float2 v[P::kEach];
#pragma unroll
  for (int i = 0; i < P::kEach; ++i) v[i] = __ldcs(&x[t + i * P::kThreads]);  // read once
  pass<P, P::kRadix1, 1>(v, t);
  exchange<P, P::kRadix1, 1>(v, tiles[mine], t);
  pass<P, P::kRadix2, P::kRadix1>(v, t);
  exchange<P, P::kRadix2, P::kRadix1>(v, tiles[mine], t);
  pass<P, P::kRadix3, P::kRadix1 * P::kRadix2>(v, t);
#pragma unroll
  for (int i = 0; i < P::kEach; ++i) __stcs(&y[t + i * P::kThreads], v[i]);
}

template <class P>
void launch(const float2* d_x, float2* d_y, int batch) {
  fft_stockham<P><<<(batch + P::kTransforms - 1) / P::kTransforms, P::kBlock>>>(d_x, d_y, batch);
}

void launch_fft_stockham(const float2* d_x, float2* d_y, int n, int batch) {
  if (batch == 0) return;
  switch (n) {  // the plans that were fastest on an H200 (assets/benchmarks/notes.md)
    case 256:
      return launch<Plan<256, 8, 8, 8, 4, 1>>(d_x, d_y, batch);
    case 512:
      return launch<Plan<512, 16, 16, 16, 2, 1>>(d_x, d_y, batch);
    case 1024:
      return launch<Plan<1024, 16, 16, 16, 4, 1>>(d_x, d_y, batch);
    case 2048:
      return launch<Plan<2048, 16, 16, 16, 8, 8>>(d_x, d_y, batch);
    case 4096:
      return launch<Plan<4096, 16, 16, 16, 16, 3>>(d_x, d_y, batch);
    default:
      break;
  }
}
