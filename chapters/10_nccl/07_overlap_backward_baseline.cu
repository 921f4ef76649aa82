// 10/07 Overlap backward: the layers, and a pass that reduces when everything is computed.
#include "07_overlap_backward.h"

// A stand-in for the products of a layer: y = x + x^2 + ... , `terms` terms, one element per
// thread. Many short blocks: NCCL's find room soon, and a multiprocessor less costs no whole wave
// more.
__global__ void layer_gradient(const float* x, float* y, size_t n, int terms) {
  const size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x;
  if (i >= n) return;
  const float factor = x[i];
  float sum = 0.0f;
  for (int k = 0; k < terms; ++k) sum = sum * factor + factor;
  y[i] = sum;
}

cudaError_t launch_layers(const Pass& pass, const Replica& replica, int first, int last) {
  constexpr int kBlock = 256;  // threads
  for (int layer = last; layer >= first; --layer) {
    const size_t begin = pass.begins[layer], n = pass.begins[layer + 1] - begin;
    if (n == 0) continue;
    const unsigned grid = static_cast<unsigned>((n + kBlock - 1) / kBlock);
    layer_gradient<<<grid, kBlock, 0, replica.compute>>>(replica.x + begin,
                                                         replica.gradient + begin, n, pass.terms);
  }
  return cudaGetLastError();
}

ncclResult_t backward_serial(const Pass& pass, const Replica* replicas, int devices) {
  int before = 0;
  cudaGetDevice(&before);
  for (int layer = pass.layers - 1; layer >= 0; --layer) {
    for (int d = 0; d < devices; ++d) {
      cudaSetDevice(d);
      launch_layers(pass, replicas[d], layer, layer);
    }
  }
  cudaSetDevice(before);
  ncclGroupStart();
  for (int d = 0; d < devices; ++d) {
    float* const all = replicas[d].gradient;
    ncclAllReduce(all, all, pass.begins[pass.layers], ncclFloat, ncclAvg, replicas[d].comm,
                  replicas[d].compute);
  }
  return ncclGroupEnd();
}
