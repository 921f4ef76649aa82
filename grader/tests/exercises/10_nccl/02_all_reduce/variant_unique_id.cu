// Ranks that join one by one with a unique id, as processes do, and calls from the last to the
// first.
#include "02_all_reduce.h"

ncclResult_t make_ranks(ncclComm_t* comms, int devices) {
  ncclUniqueId id;
  ncclResult_t result = ncclGetUniqueId(&id);
  if (result != ncclSuccess) return result;
  int before = 0;
  cudaGetDevice(&before);
  result = ncclGroupStart();
  for (int d = 0; d < devices && result == ncclSuccess; ++d) {
    cudaSetDevice(d);
    result = ncclCommInitRank(&comms[d], devices, id, d);
  }
  cudaSetDevice(before);
  const ncclResult_t ended = ncclGroupEnd();
  return result == ncclSuccess ? ended : result;
}

ncclResult_t all_reduce_sum(float* const* d_x, size_t n, const ncclComm_t* comms,
                            const cudaStream_t* streams, int devices) {
  ncclResult_t result = ncclGroupStart();
  for (int d = devices - 1; d >= 0 && result == ncclSuccess; --d) {
    result = ncclAllReduce(d_x[d], d_x[d], n, ncclFloat, ncclSum, comms[d], streams[d]);
  }
  const ncclResult_t ended = ncclGroupEnd();
  if (result == ncclSuccess) result = ended;
  return result;
}

// Given: facts[0] = sum of x[i]^2, facts[1] = largest |x[i]|, of n floats.
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

ncclResult_t facts_of_all(const float* const* d_x, float* const* d_facts, int n,
                          const ncclComm_t* comms, const cudaStream_t* streams, int devices) {
  int before = 0;
  cudaGetDevice(&before);
  for (int d = 0; d < devices; ++d) {
    cudaSetDevice(d);  // a launch needs its device, a call of NCCL knows it
    facts<<<1, kFactThreads, 0, streams[d]>>>(d_x[d], d_facts[d], n);
  }
  cudaSetDevice(before);
  ncclResult_t result = ncclGroupStart();
  for (int d = 0; d < devices && result == ncclSuccess; ++d) {
    result = ncclAllReduce(d_facts[d], d_facts[d], 1, ncclFloat, ncclSum, comms[d], streams[d]);
    if (result == ncclSuccess) {
      result = ncclAllReduce(d_facts[d] + 1, d_facts[d] + 1, 1, ncclFloat, ncclMax, comms[d],
                             streams[d]);
    }
  }
  const ncclResult_t ended = ncclGroupEnd();
  return result == ncclSuccess ? ended : result;
}
