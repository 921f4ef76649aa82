// 08/06 Inverse and real: two more transforms out of the forward one, launch_fft_radix2 of 03.
//   Inverse   the sign of the angle changes, and everything is divided by n
//   Real      n real values are taken for n / 2 complex ones, z[i] = x[2 i] + x[2 i + 1] sqrt(-1),
//             whose transform holds that of the even and that of the odd values, mixed
//   TODOs     3
#include "03_fft_radix2.h"
#include "06_inverse_and_real.h"
#include "support.h"

constexpr int kBlock = 256;  // threads

// to[i] = scale times the conjugate of from[i]; the two may be the same.
__global__ void conjugate_all(const float2* from, float2* to, float scale, size_t count) {
  //~begin 1
  const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < count) {
    to[i] = scale * conjugate(from[i]);
  }
  //~end
}

static void inverse(const float2* d_y, float2* d_x, int n, int batch) {
  //~ // TODO(1): x is the inverse transform of each of the batch, by launches of conjugate_all and of
  //~ // the forward transform; d_x may be d_y (about 5 lines, and 4 in conjugate_all).
  //~ conjugate_all<<<1, kBlock>>>(d_y, d_x, 1.0f, static_cast<size_t>(n) * batch);
  //~begin 1
  const size_t count = static_cast<size_t>(n) * batch;
  const unsigned grid = static_cast<unsigned>((count + kBlock - 1) / kBlock);
  conjugate_all<<<grid, kBlock>>>(d_y, d_x, 1.0f, count);
  launch_fft_radix2(d_x, d_x, n, batch);
  conjugate_all<<<grid, kBlock>>>(d_x, d_x, 1.0f / n, count);
  //~end
}

void launch_ifft(const float2* d_y, float2* d_x, int n, int batch) { inverse(d_y, d_x, n, batch); }

// y (n / 2 + 1 per transform) from z, the transforms of the n / 2 pairs. Block (t, b) has values k
// of transform t. Transforms go along x, since there may be more than 65,535 of them.
__global__ void split_pairs(const float2* z, float2* y, int n) {
  //~ // TODO(2): y has the transform of the n real values, from k = 0 to n / 2, out of the transform z
  //~ // of the pairs: E, that of the even values, and O, that of the odd ones, are both in it. E and O
  //~ // come from real values, so what is at -k is the conjugate of what is at k. Each value of y is
  //~ // written once (about 7 lines, and 3 for the launches below).
  //~begin 2
  const int half = n / 2, k = blockIdx.y * blockDim.x + threadIdx.x;
  z += static_cast<size_t>(blockIdx.x) * half;
  y += static_cast<size_t>(blockIdx.x) * (half + 1);
  if (k > half) return;
  const float2 a = z[k % half], b = conjugate(z[(half - k) % half]);
  const float2 even = 0.5f * (a + b), odd = 0.5f * quarter_turn(a - b);
  y[k] = even + turn(static_cast<float>(k) / n) * odd;
  //~end
}

void launch_rfft(const float* d_x, float2* d_y, float2* d_half, int n, int batch) {
  //~begin 2
  launch_fft_radix2(reinterpret_cast<const float2*>(d_x), d_half, n / 2, batch);
  const dim3 grid(batch, (n / 2 + 1 + kBlock - 1) / kBlock);
  split_pairs<<<grid, kBlock>>>(d_half, d_y, n);
  //~end
}

// The way back: z from y.
__global__ void merge_pairs(const float2* y, float2* z, int n) {
  //~ // TODO(3): The other way round: z has the transform of the pairs, and d_x in the end the real
  //~ // values, without room for anything but d_x (about 8 lines, and 4 for the launches below).
  //~begin 3
  const int half = n / 2, k = blockIdx.y * blockDim.x + threadIdx.x;
  y += static_cast<size_t>(blockIdx.x) * (half + 1);
  z += static_cast<size_t>(blockIdx.x) * half;
  if (k >= half) return;
  const float2 a = y[k], b = conjugate(y[half - k]);
  const float2 even = 0.5f * (a + b);
  const float2 odd = 0.5f * conjugate(turn(static_cast<float>(k) / n)) * (a - b);
  z[k] = even - quarter_turn(odd);  // minus -i is plus i
  //~end
}

void launch_irfft(const float2* d_y, float* d_x, int n, int batch) {
  //~begin 3
  float2* const d_pairs = reinterpret_cast<float2*>(d_x);
  const dim3 grid(batch, (n / 2 + kBlock - 1) / kBlock);
  merge_pairs<<<grid, kBlock>>>(d_y, d_pairs, n);
  inverse(d_pairs, d_pairs, n / 2, batch);
  //~end
}
