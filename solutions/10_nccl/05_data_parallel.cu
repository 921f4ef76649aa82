// 10/05 Data parallel: every device has all weights and a part of the rows.
//   shards[d]  what device d has (05_data_parallel.h): its rows; w and gradient, `features` floats
//   Each device computes the gradient of its own rows. Their sum is the gradient of all rows, so
//   n devices do the step that one device would do with the whole batch.
//   TODOs      2
#include "05_data_parallel.h"

Range rows_of(int rows, int devices, int d) {
  //~ static_cast<void>(devices), static_cast<void>(d);
  //~ return {0, rows};  // TODO(1): The rows of device d, as the header shares them out (about 4 lines).
  //~begin 1
  const int each = rows / devices, more = rows % devices;
  const int before = d < more ? d : more;  // devices in front of d that have one more
  const int begin = d * each + before;
  return {begin, begin + each + (d < more ? 1 : 0)};
  //~end
}

// Given. One thread per weight.
__global__ void descend(float* w, const float* gradient, float rate, int features) {
  const int f = threadIdx.x;
  if (f < features) w[f] -= rate * gradient[f];
}

ncclResult_t train(const Shard* shards, int devices, int features, float rate, int steps) {
  //~ // TODO(2): `steps` steps, after each of which every device has the weights that one device with all
  //~ // the rows would have (about 26 lines).
  //~ static_cast<void>(shards), static_cast<void>(devices), static_cast<void>(features);
  //~ static_cast<void>(rate), static_cast<void>(steps), static_cast<void>(&descend);
  //~ return ncclSuccess;
  //~begin 2
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
    result = ncclGroupStart();
    for (int d = 0; d < devices && result == ncclSuccess; ++d) {
      result = ncclAllReduce(shards[d].gradient, shards[d].gradient, features, ncclFloat, ncclSum,
                             shards[d].comm, shards[d].stream);
    }
    const ncclResult_t ended = ncclGroupEnd();
    if (result == ncclSuccess) result = ended;
    for (int d = 0; d < devices && result == ncclSuccess; ++d) {
      cudaSetDevice(d);
      const float factor = rate / rows;  // of the mean over all rows of all devices
      descend<<<1, kMostFeatures, 0, shards[d].stream>>>(shards[d].w, shards[d].gradient, factor,
                                                         features);
      if (cudaGetLastError() != cudaSuccess) result = ncclUnhandledCudaError;
    }
  }
  cudaSetDevice(before);
  return result;
  //~end
}
