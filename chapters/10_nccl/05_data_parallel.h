// 10/05 Data parallel: what the test calls, and what is given.
#ifndef CHAPTERS_10_NCCL_05_DATA_PARALLEL_H_
#define CHAPTERS_10_NCCL_05_DATA_PARALLEL_H_

#include <nccl.h>

constexpr int kMostFeatures = 256;

// What one device trains a linear model with: the prediction of a row is
// x[0] w[0] + x[1] w[1] + ...
struct Shard {
  const float* x;   // rows x features, row-major
  const float* y;   // rows: what the predictions should be
  int rows;         // of this device; 0 or more
  float* w;         // features: the weights, the same on all devices, before and after
  float* gradient;  // features; contents not needed before or after
  ncclComm_t comm;
  cudaStream_t stream;
};

// Given: gradient[f] = sum over the rows of the shard of 2 (prediction - y) x[f]: of the squared
// error, summed up and not divided. In the stream of the shard, whose device is the current one.
cudaError_t launch_gradient(const Shard& shard, int features);

// Given, to be compared with: `steps` steps with the rows of one shard alone, on the current
// device.
cudaError_t train_alone(const Shard& shard, int features, float rate, int steps);

// Rows [begin, end) of `rows` belong to device d: one row after the other, nobody has two more than
// another, and who has one more comes first.
struct Range {
  int begin, end;
};
Range rows_of(int rows, int devices, int d);

// `steps` steps of gradient descent with all rows of all devices: w -= rate times the gradient of
// the mean squared error of all rows together. features: 1 .. kMostFeatures. Does not wait. Returns
// the first result that is no success, where a launch that fails is ncclUnhandledCudaError; the
// current device stays what it was.
ncclResult_t train(const Shard* shards, int devices, int features, float rate, int steps);

#endif  // CHAPTERS_10_NCCL_05_DATA_PARALLEL_H_
