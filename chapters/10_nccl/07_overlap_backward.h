// 10/07 Overlap backward: what the test calls, and what is given.
#ifndef CHAPTERS_10_NCCL_07_OVERLAP_BACKWARD_H_
#define CHAPTERS_10_NCCL_07_OVERLAP_BACKWARD_H_

#include <nccl.h>

#include <cstddef>

// A backward pass goes from layer `layers` - 1 down to layer 0. The gradient of layer l is floats
// [begins[l], begins[l + 1]) of one array for all layers, and is complete when l has been done.
struct Pass {
  int layers;
  const size_t* begins;  // layers + 1 multiples of 4, ascending; the first is 0
  int terms;             // how long the arithmetic of a layer takes
};

// What one device does the pass with.
struct Replica {
  const float* x;   // begins[layers] floats, what the gradients are computed from
  float* gradient;  // begins[layers] floats
  ncclComm_t comm;
  cudaStream_t compute;  // the layers, one after the other
  cudaStream_t link;     // all-reduces, of a higher priority; does not wait for `compute` by itself
  cudaEvent_t event;     // to be recorded as often as need be
};

// Given: the gradients of layers first to last, both included, from the last down, in the compute
// stream of the replica, whose device is the current one.
cudaError_t launch_layers(const Pass& pass, const Replica& replica, int first, int last);

// Given, to be compared with: the whole pass, then one all-reduce, all in the compute streams.
ncclResult_t backward_serial(const Pass& pass, const Replica* replicas, int devices);

// A bucket is a row of layers whose gradients are reduced in one call. The one that ends with layer
// `last` begins with the returned layer: the highest one with which it has `least` floats or more,
// or else layer 0.
int first_of_bucket(const size_t* begins, int last, size_t least);

// replicas[d].gradient becomes the mean of what the devices 0, 1, ... have computed. A bucket is
// reduced while the layers before it are being computed. Does not wait; what the compute streams
// are given afterwards finds the mean. The current device stays what it was. Returns the first
// result that is no success; an error of the CUDA runtime is ncclUnhandledCudaError.
ncclResult_t backward_overlapped(const Pass& pass, const Replica* replicas, int devices,
                                 size_t least);

#endif  // CHAPTERS_10_NCCL_07_OVERLAP_BACKWARD_H_
