// Keeps the inputs in a part of the L2 that reading other data does not touch.
//
// gpu: gains nothing
// simulator: Left behind: the device limit
#include "05_vectorized_add.h"
#include "add.cuh"

void launch_vectorized_add(const float* d_a, const float* d_b, float* d_c, int n) {
  if (n <= 0) return;
  cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, size_t{1} << 25);
  cudaLaunchAttributeValue attribute = {};
  attribute.accessPolicyWindow.base_ptr = const_cast<float*>(d_a);
  attribute.accessPolicyWindow.num_bytes = size_t{1} << 25;
  attribute.accessPolicyWindow.hitRatio = 1;
  attribute.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
  attribute.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
  cudaStreamSetAttribute(cudaStreamLegacy, cudaLaunchAttributeAccessPolicyWindow, &attribute);
  cudaGetLastError();
  add<<<blocks_for(n), kBlock>>>(d_a, d_b, d_c, n);
}
