// Swapping real and imaginary part does for the inverse what conjugating does: swap(z) is i times
// the conjugate of z. Values k and n / 2 - k are made by the same thread.
#include "03_fft_radix2.h"
#include "06_inverse_and_real.h"
#include "support.h"

__global__ void swap_all(const float2* from, float2* to, float scale, size_t count) {
  const size_t stride = static_cast<size_t>(gridDim.x) * blockDim.x;
  for (size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += stride) {
    const float2 z = from[i];
    to[i] = make_float2(scale * z.y, scale * z.x);
  }
}

static void inverse(const float2* d_y, float2* d_x, int n, int batch) {
  const size_t count = static_cast<size_t>(n) * batch;
  swap_all<<<4, 128>>>(d_y, d_x, 1.0f, count);
  launch_fft_radix2(d_x, d_x, n, batch);
  swap_all<<<4, 128>>>(d_x, d_x, 1.0f / n, count);
}

void launch_ifft(const float2* d_y, float2* d_x, int n, int batch) { inverse(d_y, d_x, n, batch); }

__global__ void split_both(const float2* z, float2* y, int n) {
  const int half = n / 2;
  z += static_cast<size_t>(blockIdx.x) * half;
  y += static_cast<size_t>(blockIdx.x) * (half + 1);
  for (int k = threadIdx.x; 2 * k <= half; k += blockDim.x) {
    const float2 a = z[k], b = conjugate(z[(half - k) % half]);
    const float2 even = 0.5f * (a + b);
    const float2 odd = turn(static_cast<float>(k) / n) * (0.5f * quarter_turn(a - b));
    y[k] = even + odd;
    if (2 * k < half) y[half - k] = conjugate(even - odd);
  }
}

void launch_rfft(const float* d_x, float2* d_y, float2* d_half, int n, int batch) {
  launch_fft_radix2(reinterpret_cast<const float2*>(d_x), d_half, n / 2, batch);
  split_both<<<batch, 64>>>(d_half, d_y, n);
}

__global__ void merge_halves(const float2* y, float2* z, int n) {
  const int half = n / 2;
  y += static_cast<size_t>(blockIdx.x) * (half + 1);
  z += static_cast<size_t>(blockIdx.x) * half;
  for (int k = threadIdx.x; k < half; k += blockDim.x) {
    const float2 a = y[k], b = conjugate(y[half - k]);
    const float2 turned = conjugate(turn(static_cast<float>(k) / n)) * (a - b);
    z[k] = make_float2(0.5f * (a.x + b.x - turned.y), 0.5f * (a.y + b.y + turned.x));
  }
}

void launch_irfft(const float2* d_y, float* d_x, int n, int batch) {
  merge_halves<<<batch, 64>>>(d_y, reinterpret_cast<float2*>(d_x), n);
  inverse(reinterpret_cast<float2*>(d_x), reinterpret_cast<float2*>(d_x), n / 2, batch);
}
