// 08/17 Delay, the capstone: of pairs of signals, how much later the second one is.
//   x, y   batch * n floats, one signal after the other; n is a power of two from 2 to 4096
//   delay  the d for which the sum of x[i] y[(i + d) mod n] over i is greatest
//   peak   that sum
//   Budget: every value is read once, 16 bytes are stored for a pair; n/4 multiply-adds per value.
//   Bar: twice the speed of the sums themselves.
//
//   Nothing is given here: kernels, launches and all sizes are yours.
#include "17_delay.h"

//~begin 1
namespace {

constexpr int kThreads = 256;     // of a block; a block has one pair
constexpr int kMostPoints = 4096;
constexpr int kWarp = 32;
constexpr unsigned kAllLanes = 0xffffffffu;

__device__ float2 times(float2 a, float2 b) {
  return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

// The corner of `part` half turns, clockwise for -1 and the other way for 1.
__device__ float2 root(float part, float direction) {
  float2 w;
  sincospif(direction * part, &w.y, &w.x);
  return w;
}

constexpr int kSilence = 1000;  // 2^-1000 makes 0 of every float

// The powers of two in the greatest |x| and in the greatest |y|, known to all threads; kSilence for
// both where one of them is 0, since every sum is then.
__device__ int2 exponents(float2 greatest) {
  __shared__ int bits[2];  // those of floats, which from 0 on rise with them
  if (threadIdx.x < 2) bits[threadIdx.x] = 0;
  for (int step = kWarp / 2; step > 0; step /= 2) {
    greatest.x = fmaxf(greatest.x, __shfl_xor_sync(kAllLanes, greatest.x, step));
    greatest.y = fmaxf(greatest.y, __shfl_xor_sync(kAllLanes, greatest.y, step));
  }
  __syncthreads();  // write against write: the zeros come first
  if (threadIdx.x % kWarp == 0) {
    atomicMax(&bits[0], __float_as_int(greatest.x));
    atomicMax(&bits[1], __float_as_int(greatest.y));
  }
  __syncthreads();  // write against read: every warp has said what it has found
  const float of_x = __int_as_float(bits[0]), of_y = __int_as_float(bits[1]);
  if (of_x == 0.0f || of_y == 0.0f) return make_int2(kSilence, kSilence);
  return make_int2(ilogbf(of_x), ilogbf(of_y));
}

// Forward, in place: the transform's values end in the order of reversed bits.
__device__ void transform(float2* points, int n) {
  for (int half = n / 2; half > 0; half /= 2) {
    __syncthreads();  // write against read: points of the stage before, made by others
    for (int b = threadIdx.x; b < n / 2; b += kThreads) {
      const int j = b & (half - 1), i = 2 * (b - j) + j;
      const float2 first = points[i], second = points[i + half];
      const float2 apart = make_float2(first.x - second.x, first.y - second.y);
      points[i] = make_float2(first.x + second.x, first.y + second.y);
      points[i + half] = times(apart, root(static_cast<float>(j) / half, -1.0f));
    }
  }
}

// Back, in place, n times too large: it takes the order of reversed bits, and undoes it.
__device__ void transform_back(float2* points, int n) {
  for (int half = 1; half < n; half *= 2) {
    __syncthreads();  // write against read: points of the stage before, made by others
    for (int b = threadIdx.x; b < n / 2; b += kThreads) {
      const int j = b & (half - 1), i = 2 * (b - j) + j;
      const float2 first = points[i];
      const float2 second = times(points[i + half], root(static_cast<float>(j) / half, 1.0f));
      points[i] = make_float2(first.x + second.x, first.y + second.y);
      points[i + half] = make_float2(first.x - second.x, first.y - second.y);
    }
  }
}

// The points hold the transform Z of x + i y. From Z[k] and Z[n - k] come those of x and of y, and
// from these the transform of c: the conjugate of X times Y.
__device__ void correlate(float2* points, int n, int bits) {
  __syncthreads();  // write against read: the transform is complete
  for (int k = threadIdx.x; k <= n / 2; k += kThreads) {
    const int at = __brev(k) >> (32 - bits), mirrored = __brev((n - k) & (n - 1)) >> (32 - bits);
    const float2 z = points[at], m = points[mirrored];
    const float2 of_x = make_float2(0.5f * (z.x + m.x), 0.5f * (z.y - m.y));
    const float2 of_y = make_float2(0.5f * (z.y + m.y), 0.5f * (m.x - z.x));
    const float2 c = times(make_float2(of_x.x, -of_x.y), of_y);
    points[at] = c;
    points[mirrored] = make_float2(c.x, -c.y);  // c is real; of k = 0 and n / 2 it is the same
  }
}

// The greater of two pairs of value and place; the first of equal ones.
__device__ void take_greater(float* value, int* place, float other, int other_place) {
  if (other > *value || (other == *value && other_place < *place)) {
    *value = other;
    *place = other_place;
  }
}

__device__ void agree(float* value, int* place) {
  for (int step = kWarp / 2; step > 0; step /= 2) {
    const float other = __shfl_xor_sync(kAllLanes, *value, step);
    take_greater(value, place, other, __shfl_xor_sync(kAllLanes, *place, step));
  }
}

__global__ void __launch_bounds__(kThreads)
    find_delay(const float* x, const float* y, int* delay, float* peak, int n, int bits) {
  __shared__ float2 points[kMostPoints];
  __shared__ float values[kThreads / kWarp];  // [warp]
  __shared__ int places[kThreads / kWarp];
  const size_t first = static_cast<size_t>(blockIdx.x) * n;
  float2 most = make_float2(0.0f, 0.0f);
  for (int i = threadIdx.x; i < n; i += kThreads) {
    points[i] = make_float2(x[first + i], y[first + i]);
    most = make_float2(fmaxf(most.x, fabsf(points[i].x)), fmaxf(most.y, fabsf(points[i].y)));
  }
  // Both signals become equally loud: in the transform that they share, a rounding error is one of
  // the louder one, in which the other would drown.
  const int2 loud = exponents(most);
  for (int i = threadIdx.x; i < n; i += kThreads) {
    points[i] = make_float2(scalbnf(points[i].x, -loud.x), scalbnf(points[i].y, -loud.y));
  }
  transform(points, n);
  correlate(points, n, bits);
  transform_back(points, n);
  __syncthreads();  // write against read: every c is there
  float greatest = -INFINITY;
  int place = 0;
  for (int d = threadIdx.x; d < n; d += kThreads) take_greater(&greatest, &place, points[d].x, d);
  agree(&greatest, &place);
  const int warp = threadIdx.x / kWarp, lane = threadIdx.x % kWarp;
  if (lane == 0) {
    values[warp] = greatest;
    places[warp] = place;
  }
  __syncthreads();  // write against read: warp 0 reads what all have found
  if (warp != 0) return;
  greatest = lane < kThreads / kWarp ? values[lane] : -INFINITY;
  place = lane < kThreads / kWarp ? places[lane] : 0;
  agree(&greatest, &place);
  if (lane == 0) {
    delay[blockIdx.x] = place;
    greatest /= n;
    peak[blockIdx.x] = scalbnf(greatest, loud.x + loud.y);
  }
}

}  // namespace

//~end
void launch_delay(const float* d_x, const float* d_y, int* d_delay, float* d_peak, int n,
                  int batch) {
  //~ static_cast<void>(d_x), static_cast<void>(d_y), static_cast<void>(d_delay);
  //~ static_cast<void>(d_peak), static_cast<void>(n), static_cast<void>(batch);
  //~begin 1
  if (batch == 0) return;
  int bits = 1;
  while (1 << bits < n) ++bits;
  find_delay<<<batch, kThreads>>>(d_x, d_y, d_delay, d_peak, n, bits);
  //~end
}
