// Another right answer: a thread per query row walks over its keys, visible ones first; the rule as
// two loops on the device and as one expression on the host, through a shared product.
#include "07_device_functions.h"

__host__ __device__ float scaled(float score, float scale) { return score * scale; }

__global__ void mask_rows(const float* scores, float* out, float scale, int queries, int keys) {
  const int query = blockIdx.x * blockDim.x + threadIdx.x;
  if (query >= queries) {
    return;
  }
  const int visible = query + 1 < keys ? query + 1 : keys;
  for (int key = 0; key < visible; ++key) {
    out[query * keys + key] = scaled(scores[query * keys + key], scale);
  }
  for (int key = visible; key < keys; ++key) {
    out[query * keys + key] = -INFINITY;
  }
}

void launch_mask_scores(const float* d_scores, float* d_out, float scale, int queries, int keys) {
  mask_rows<<<(queries + 63) / 64, 64>>>(d_scores, d_out, scale, queries, keys);
}

void mask_scores_on_cpu(const float* h_scores, float* h_out, float scale, int queries, int keys) {
  for (int i = 0; i < queries * keys; ++i) {
    h_out[i] = i % keys > i / keys ? -INFINITY : scaled(h_scores[i], scale);
  }
}
