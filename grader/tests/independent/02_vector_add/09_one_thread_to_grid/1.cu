// kernel with long long indices
#include "09_one_thread_to_grid.h"
constexpr int kBlock = 256;
constexpr double kInstructionRatio = 32;
double predicted_instruction_ratio() { return kInstructionRatio; }
int predicted_blocks(int n) { return (n + kBlock - 1) / kBlock; }
__global__ void add_any_grid(const float* a, const float* b, float* c, int n) {
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (long long)gridDim.x * blockDim.x) c[i] = a[i] + b[i];
}
void launch_one_thread(const float* d_a, const float* d_b, float* d_c, int n) { add_any_grid<<<1, 1>>>(d_a, d_b, d_c, n); }
void launch_one_block(const float* d_a, const float* d_b, float* d_c, int n) { add_any_grid<<<1, kBlock>>>(d_a, d_b, d_c, n); }
void launch_full_grid(const float* d_a, const float* d_b, float* d_c, int n) { add_any_grid<<<(n + kBlock - 1) / kBlock, kBlock>>>(d_a, d_b, d_c, n); }
