// 10/02, given: what one device says about its own values.
#include "02_all_reduce.h"

namespace {

// One block of kFactThreads threads: each takes every kFactThreads-th element, then the block
// combines in shared memory.
constexpr int kFactThreads = 128;
__global__ void facts(const float* x, float* facts, int n) {
  __shared__ float squares[kFactThreads], largest[kFactThreads];
  const int t = threadIdx.x;
  float sum = 0.0f, most = 0.0f;
  for (int i = t; i < n; i += kFactThreads) {
    sum += x[i] * x[i];
    most = fmaxf(most, fabsf(x[i]));
  }
  squares[t] = sum;
  largest[t] = most;
  for (int half = kFactThreads / 2; half > 0; half /= 2) {
    __syncthreads();  // the other half is complete
    if (t < half) {
      squares[t] += squares[t + half];
      largest[t] = fmaxf(largest[t], largest[t + half]);
    }
  }
  if (t == 0) {
    facts[0] = squares[0];
    facts[1] = largest[0];
  }
}

}  // namespace

void launch_facts(const float* d_x, float* d_facts, int n, cudaStream_t stream) {
  facts<<<1, kFactThreads, 0, stream>>>(d_x, d_facts, n);
}
