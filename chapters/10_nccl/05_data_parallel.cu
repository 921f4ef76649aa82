// 10/05 Data parallel: every device has all weights and a part of the rows.
//   shards[d]  what device d has (05_data_parallel.h): its rows; w and gradient, `features` floats
//   Each device computes the gradient of its own rows. Their sum is the gradient of all rows, so
//   n devices do the step that one device would do with the whole batch.
//   TODOs      3
#include "05_data_parallel.h"

Range rows_of(int rows, int devices, int d) {
  return {0, rows / devices * (d + 1)};  // TODO(1): The first rows % devices have one more (4 lines).
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
    // TODO(2): Add the gradients up over all devices, in place (about 8 lines).
    for (int d = 0; d < devices && result == ncclSuccess; ++d) {
      cudaSetDevice(d);
      // TODO(3): The gradients are sums over rows, and the step wants the mean over all rows of all
      // devices. By how much does each weight change (1 line)?
      static_cast<void>(rows);
      const float factor = rate / shards[d].rows;
      descend<<<1, kMostFeatures, 0, shards[d].stream>>>(shards[d].w, shards[d].gradient, factor,
                                                         features);
    }
  }
  cudaSetDevice(before);
  return result;
}
