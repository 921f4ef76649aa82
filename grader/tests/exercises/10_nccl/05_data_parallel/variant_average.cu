// The average over devices, and a rate for the mean number of rows.
#include "05_data_parallel.h"

Range rows_of(int rows, int devices, int d) {
  const auto begin_of = [=](long long device) {
    return static_cast<int>(device * (rows / devices) +
                            (device < rows % devices ? device : rows % devices));
  };
  return {begin_of(d), begin_of(d + 1)};
}

// One thread per weight.
__global__ void descend(float* w, const float* gradient, float rate, int features) {
  const int f = threadIdx.x;
  if (f < features) w[f] -= rate * gradient[f];
}

ncclResult_t train(const Shard* shards, int devices, int features, float rate, int steps) {
  int before = 0, rows = 0;
  cudaGetDevice(&before);
  for (int d = 0; d < devices; ++d) rows += shards[d].rows;
  ncclResult_t result = ncclSuccess;
  for (int step = 0; step < steps && result == ncclSuccess; ++step) {
    for (int d = 0; d < devices; ++d) {
      cudaSetDevice(d);
      if (launch_gradient(shards[d], features) != cudaSuccess) result = ncclUnhandledCudaError;
    }
    if (result != ncclSuccess) break;
    ncclGroupStart();
    for (int d = 0; d < devices && result == ncclSuccess; ++d) {
      result = ncclAllReduce(shards[d].gradient, shards[d].gradient, features, ncclFloat, ncclAvg,
                             shards[d].comm, shards[d].stream);
    }
    const ncclResult_t ended = ncclGroupEnd();
    if (result == ncclSuccess) result = ended;
    for (int d = 0; d < devices && result == ncclSuccess; ++d) {
      cudaSetDevice(d);
      const float factor = rate * devices / rows;
      descend<<<1, kMostFeatures, 0, shards[d].stream>>>(shards[d].w, shards[d].gradient, factor,
                                                         features);
    }
    if (cudaGetLastError() != cudaSuccess) result = ncclUnhandledCudaError;
  }
  cudaSetDevice(before);
  return result;
}
