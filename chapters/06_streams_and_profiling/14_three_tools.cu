// 06/14 Three tools: one of these functions reads what is not its own, one is wrong for some
// keys, and one moves eight times the bytes that it needs.
//   windows  n floats                   -> sums of three neighbours, n - 2 floats
//   places   sorted, n floats; keys, m  -> for each key, the first place whose value is not smaller
//   scaled   rows x cols floats         -> each row times its factor
//   The lesson shows what three tools said about them on an H200. Read the reports before the code:
//   a report names a place and a number, the code only shows what somebody meant.
//   TODOs  3
#include "14_three_tools.h"

// ---- 1: compute-sanitizer ---------------------------------------------------------------------

__global__ void window_sums(const float* x, float* sums, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  // TODO(1): Each window has three floats of x. Which threads have one (1 line)?
  if (i < n) {
    sums[i] = x[i] + x[i + 1] + x[i + 2];
  }
}

void launch_window_sums(const float* d_x, float* d_sums, int n) {
  if (n < 3) return;
  constexpr int kBlock = 128;
  window_sums<<<(n + kBlock - 1) / kBlock, kBlock>>>(d_x, d_sums, n);
}

// ---- 2: cuda-gdb ------------------------------------------------------------------------------

__global__ void find_places(const float* sorted, int n, const float* keys, int* places, int m) {
  const int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k >= m) return;
  int low = 0, high = n;  // the place is one of low, low + 1, ..., high
  while (low < high) {
    const int middle = (low + high) / 2;
    // TODO(2): What each branch rules out must be ruled out, and nothing else (about 5 lines).
    if (sorted[middle] < keys[k]) {
      low = middle + 1;
    } else {
      high = middle - 1;
    }
  }
  places[k] = low;
}

void launch_find_places(const float* d_sorted, int n, const float* d_keys, int* d_places, int m) {
  if (m == 0) return;
  constexpr int kBlock = 128;
  find_places<<<(m + kBlock - 1) / kBlock, kBlock>>>(d_sorted, n, d_keys, d_places, m);
}

// ---- 3: Nsight Compute ------------------------------------------------------------------------

// TODO(3): The same products, with as few sectors as they need: the kernel and its launch (about
// 10 lines).
__global__ void scale_rows(const float* in, const float* factors, float* out, int rows, int cols) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  for (int col = 0; col < cols; ++col) {
    const size_t at = static_cast<size_t>(row) * cols + col;
    out[at] = in[at] * factors[row];
  }
}

void launch_scale_rows(const float* d_in, const float* d_factors, float* d_out, int rows,
                       int cols) {
  if (rows == 0 || cols == 0) return;
  constexpr int kBlock = 128;
  scale_rows<<<(rows + kBlock - 1) / kBlock, kBlock>>>(d_in, d_factors, d_out, rows, cols);
}
