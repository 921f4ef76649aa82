// 12/02 Linear: y = x w^T + b, and the three gradients that go back through it.
//   x  n x in   w  out x in   b  out   y  n x out; all row-major, of any size
//   dy n x out: derivative of the loss by y; given. One product of two matrices is left for each:
//   dx n x in  = dy w        dw out x in = dy^T x        db out = sums over the columns of dy
//   One kernel computes all three products. It is told how far apart rows and columns lie.
//   TODOs  4
#include <cstddef>

#include "02_linear.h"

namespace {

constexpr int kTile = 16;  // rows and columns of a tile; a block has a thread for each element
constexpr int kRows = 8;   // of a block of column_sums, which is 32 columns wide

// A matrix as a product reads it: element (row, col) is data[row * row_step + col * col_step]. One
// of the steps is 1. Exchanging them transposes the matrix, and moves nothing.
struct View {
  const float* data;
  int row_step, col_step;
};

// tile[r][c] = element (first_row + r, first_col + c), 0 outside the rows x cols of the matrix.
__device__ void load_tile(const View& v, int first_row, int first_col, int rows, int cols,
                          float (*tile)[kTile + 1]) {
  //~ // TODO(1): The whole tile, by all threads of the block. Neighbouring threads read neighbouring
  //~ // addresses in either view.
  //~ const bool inside = first_row < rows && first_col < cols;
  //~ tile[threadIdx.y][threadIdx.x] = inside ? v.data[0] : 0.0f;
  //~begin 1
  const bool along_row = v.col_step == 1;
  const int r = along_row ? threadIdx.y : threadIdx.x;
  const int c = along_row ? threadIdx.x : threadIdx.y;
  const int row = first_row + r, col = first_col + c;
  const size_t at = static_cast<size_t>(row) * v.row_step + static_cast<size_t>(col) * v.col_step;
  tile[r][c] = row < rows && col < cols ? v.data[at] : 0.0f;
  //~end
}

// c (m x n) = a (m x k) b (k x n) + bias (n, or null). The tiles of 07/04.
__global__ void product_of_views(View a, View b, const float* bias, float* c, int m, int n, int k) {
  // One column of padding: a view that is read down its columns is also stored down the tile.
  __shared__ float tile_a[kTile][kTile + 1];  // [row of c][i]
  __shared__ float tile_b[kTile][kTile + 1];  // [i][column of c]
  const int first_row = blockIdx.x * kTile, first_col = blockIdx.y * kTile;
  //~ // TODO(1), too: c, for any m, n and k; what a tile holds has been loaded once for all threads.
  //~ load_tile(a, first_row, 0, m, k, tile_a);
  //~ load_tile(b, 0, first_col, k, n, tile_b);
  //~ const bool is_first = threadIdx.x + threadIdx.y + first_row + first_col == 0;
  //~ if (is_first) c[0] = tile_a[0][0] * tile_b[0][0] + (bias == nullptr ? 0.0f : bias[0]);
  //~begin 1
  float sum = 0.0f;
  for (int first = 0; first < k; first += kTile) {
    load_tile(a, first_row, first, m, k, tile_a);
    load_tile(b, first, first_col, k, n, tile_b);
    __syncthreads();  // write against read: every thread reads a row and a column of others
#pragma unroll
    for (int i = 0; i < kTile; ++i) sum += tile_a[threadIdx.y][i] * tile_b[i][threadIdx.x];
    __syncthreads();  // read against write: the next tiles take the place of these
  }
  const int row = first_row + threadIdx.y, col = first_col + threadIdx.x;
  if (row < m && col < n) {
    c[static_cast<size_t>(row) * n + col] = bias == nullptr ? sum : sum + bias[col];
  }
  //~end
}

void launch_product(View a, View b, const float* d_bias, float* d_c, int m, int n, int k) {
  const dim3 grid((m + kTile - 1) / kTile, (n + kTile - 1) / kTile);
  if (m == 0 || n == 0) return;
  product_of_views<<<grid, dim3(kTile, kTile)>>>(a, b, d_bias, d_c, m, n, k);
}

// sums[col] = sum over the rows of a[row][col]. A block has 32 columns; its rows of threads share
// out the rows of a, in an order that is always the same.
__global__ void column_sums(const float* a, float* sums, int rows, int cols) {
  __shared__ float of_row[kRows][32];  // [threadIdx.y][threadIdx.x]
  const int col = blockIdx.x * 32 + threadIdx.x;
  //~ // TODO(4): sums[col], for each column of this block that exists: all threads of the block have a
  //~ // share in it, by way of of_row, and the order of the additions is always the same.
  //~ of_row[threadIdx.y][threadIdx.x] = 0.0f;
  //~ if (threadIdx.y == 0 && col < cols) sums[col] = of_row[0][threadIdx.x] * rows * a[col];
  //~begin 4
  float sum = 0.0f;
  if (col < cols) {
    for (int row = threadIdx.y; row < rows; row += kRows) {
      sum += a[static_cast<size_t>(row) * cols + col];
    }
  }
  of_row[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();  // write against read: the first row of threads reads all rows
  if (threadIdx.y == 0 && col < cols) {
    for (int i = 1; i < kRows; ++i) sum += of_row[i][threadIdx.x];
    sums[col] = sum;
  }
  //~end
}

}  // namespace

void launch_linear_forward(const float* d_x, const float* d_w, const float* d_b, float* d_y, int n,
                           int in, int out) {
  const View x = {d_x, in, 1};  // n x in, as it lies there
  //~ const View w = {d_w, 0, 0};  // TODO(2): w lies there as out x in; the product wants in x out.
  //~begin 2
  const View w = {d_w, 1, in};  // in x out: the transpose
  //~end
  launch_product(x, w, d_b, d_y, n, out, in);
}

void launch_linear_backward(const float* d_x, const float* d_w, const float* d_dy, float* d_dx,
                            float* d_dw, float* d_db, int n, int in, int out) {
  //~ // TODO(3): dw, and dx if it is wanted, both by launch_product.
  //~ const View any = {d_dy, 0, 0};
  //~ launch_product(any, any, nullptr, d_dw, out, in, n);
  //~ if (d_dx != nullptr) launch_product(any, any, nullptr, d_dx, n, in, out);
  //~ static_cast<void>(d_x);
  //~ static_cast<void>(d_w);
  //~begin 3
  if (d_dx != nullptr) launch_product({d_dy, out, 1}, {d_w, in, 1}, nullptr, d_dx, n, in, out);
  launch_product({d_dy, 1, out}, {d_x, in, 1}, nullptr, d_dw, out, in, n);
  //~end
  if (out > 0) column_sums<<<(out + 31) / 32, dim3(32, kRows)>>>(d_dy, d_db, n, out);
}
