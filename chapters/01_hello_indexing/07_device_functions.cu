// 01/07 Device functions: scale attention scores and hide the future (a causal mask).
//   scores, out  queries x keys floats, row-major: one row per query, one column per key
//   out(query, key) = scale * score where the query may see the key, else -infinity
//   One rule, written once: masked_score() serves the kernel and the CPU reference.
//   TODOs        2
#include "07_device_functions.h"

// Runs where it is called: on the host and on the device.
__host__ __device__ bool is_visible(int query, int key) {
  // TODO(1): A query sees its own key and all keys before it (1 line, and the loop below).
  return key == query;
}

// TODO(2): Both sides may call masked_score().
float masked_score(float score, int query, int key, float scale) {
  return is_visible(query, key) ? scale * score : -INFINITY;
}

// Device only: threadIdx and blockIdx do not exist on the host.
__device__ int key_of_thread() { return blockIdx.x * blockDim.x + threadIdx.x; }
__device__ int query_of_thread() { return blockIdx.y * blockDim.y + threadIdx.y; }

__global__ void mask_scores(const float* scores, float* out, float scale, int queries, int keys) {
  // TODO(2), the kernel: one thread writes one element, by the rule that the host has too.
}

void launch_mask_scores(const float* d_scores, float* d_out, float scale, int queries, int keys) {
  const dim3 block(32, 8);  // threads along keys and queries
  // TODO(2), the launch: a thread for every query and key.
  mask_scores<<<1, block>>>(d_scores, d_out, scale, queries, keys);
}

void mask_scores_on_cpu(const float* h_scores, float* h_out, float scale, int queries, int keys) {
  // TODO(1), the host: every element of h_out, by the one rule.
}
