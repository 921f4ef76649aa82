// No tiles: a warp adds up one output; a thread adds up one element of a gradient, beside its
// neighbour's.
#include "02_linear.h"

namespace {

constexpr int kWarps = 4;  // of a block

__global__ void forward(const float* x, const float* w, const float* b, float* y, int count, int in,
                        int out) {
  const int i = blockIdx.x * kWarps + threadIdx.y, lane = threadIdx.x;
  if (i >= count) return;
  const float* row = x + i / out * in;
  const float* weights = w + i % out * in;
  float sum = 0.0f;
  for (int j = lane; j < in; j += 32) sum += row[j] * weights[j];
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(~0u, sum, offset);
  if (lane == 0) y[i] = sum + b[i % out];
}

// Element i of rows x cols: the sum over t of a[row * row_step + t * a_step] b[t * cols + col].
__global__ void gradient(const float* a, const float* b, float* c, int count, int cols, int terms,
                         int row_step, int a_step) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  float sum = 0.0f;
  for (int t = 0; t < terms; ++t) {
    sum += a[i / cols * row_step + t * a_step] * (b == nullptr ? 1.0f : b[t * cols + i % cols]);
  }
  c[i] = sum;
}

void launch_gradient(const float* a, const float* b, float* c, int rows, int cols, int terms,
                     int row_step, int a_step) {
  const int count = rows * cols;
  if (count == 0) return;
  gradient<<<(count + 127) / 128, 128>>>(a, b, c, count, cols, terms, row_step, a_step);
}

}  // namespace

void launch_linear_forward(const float* d_x, const float* d_w, const float* d_b, float* d_y, int n,
                           int in, int out) {
  const int count = n * out;
  if (count == 0) return;
  const dim3 block(32, kWarps);
  forward<<<(count + kWarps - 1) / kWarps, block>>>(d_x, d_w, d_b, d_y, count, in, out);
}

void launch_linear_backward(const float* d_x, const float* d_w, const float* d_dy, float* d_dx,
                            float* d_dw, float* d_db, int n, int in, int out) {
  if (d_dx != nullptr) launch_gradient(d_dy, d_w, d_dx, n, in, out, out, 1);
  launch_gradient(d_dy, d_x, d_dw, out, in, n, 1, out);
  launch_gradient(d_dy, nullptr, d_db, out, 1, n, 1, out);
}
