// One block for each transform and n / 4 threads: as many passes of radix 4 as fit, and one of
// radix 2 where n asks for it. The points stay in shared memory.
#include "05_fft_stockham.h"
#include "support.h"

__global__ void fft_radix4(const float2* x, float2* y, int n) {
  extern __shared__ float2 points[];  // n
  const size_t begin = static_cast<size_t>(blockIdx.x) * n;
  const int t = threadIdx.x, quarter = n / 4;
  float2 v[4];
  for (int r = 0; r < 4; ++r) v[r] = x[begin + t + r * quarter];
  int done = 1;
  for (; 4 * done <= n; done *= 4) {
    const int k = t % done, first = 4 * (t - k) + k;
    const float2 w = turn(static_cast<float>(k) / (4 * done));
    v[1] = v[1] * w;
    v[2] = v[2] * (w * w);
    v[3] = v[3] * (w * w * w);
    dft<4>(v);
    __syncthreads();  // closes read against write: others read the points of this pass
    for (int r = 0; r < 4; ++r) points[first + r * done] = v[r];
    __syncthreads();  // closes write against read
    for (int r = 0; r < 4; ++r) v[r] = points[t + r * quarter];
  }
  if (done < n) {  // two transforms of n / 2 points are left: v[0] and v[1] meet v[2] and v[3]
    for (int r = 0; r < 2; ++r) {
      const float2 turned = v[r + 2] * turn(static_cast<float>(t + r * quarter) / n);
      v[r + 2] = v[r] - turned;
      v[r] = v[r] + turned;
    }
  }
  for (int r = 0; r < 4; ++r) y[begin + t + r * quarter] = v[r];
}

void launch_fft_stockham(const float2* d_x, float2* d_y, int n, int batch) {
  if (batch > 0) {
    fft_radix4<<<batch, n / 4, n * sizeof(float2)>>>(d_x, d_y, n);
  }
}
