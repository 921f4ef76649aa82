// The baseline of 08/03 and 08/05: the same butterflies, but every stage is a launch that reads all
// points from global memory and writes them back. Stages after Stockham: no bit reversal.
#include "03_fft_radix2.h"
#include "support.h"

// One butterfly per thread, in all transforms. `done` points make a finished transform.
__global__ void fft_stage(const float2* x, float2* y, int n, int done, size_t butterflies) {
  const size_t at = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (at >= butterflies) return;
  const int b = static_cast<int>(at % (n / 2)), j = b % done;
  const size_t begin = at / (n / 2) * n;
  const float2 kept = x[begin + b];
  const float2 turned = turn(0.5f * j / done) * x[begin + b + n / 2];
  y[begin + 2 * (b - j) + j] = kept + turned;
  y[begin + 2 * (b - j) + j + done] = kept - turned;
}

void launch_fft_global(const float2* d_x, float2* d_y, float2* d_between, int n, int batch) {
  constexpr int kBlock = 256;  // threads
  const size_t points = static_cast<size_t>(n) * batch;
  const unsigned grid = static_cast<unsigned>((points / 2 + kBlock - 1) / kBlock);
  if (grid == 0) return;
  int stages = 0;
  while (1 << stages < n) ++stages;
  const float2* from = d_x;
  for (int stage = 0; stage < stages; ++stage) {
    float2* const to = (stages - stage) % 2 == 1 ? d_y : d_between;  // the last one writes y
    fft_stage<<<grid, kBlock>>>(from, to, n, 1 << stage, points / 2);
    from = to;
  }
}
