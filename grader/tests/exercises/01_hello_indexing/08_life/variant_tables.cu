// Another right answer: one-dimensional blocks and a division, neighbours' rows and columns found
// by comparisons, the rule as a table, one piece of memory for both boards.
#include <cstring>
#include <vector>

#include "08_life.h"

namespace {

__host__ __device__ int before(int i, int extent) { return i == 0 ? extent - 1 : i - 1; }
__host__ __device__ int behind(int i, int extent) { return i == extent - 1 ? 0 : i + 1; }

__host__ __device__ unsigned char fate(const unsigned char* cells, int i, int rows, int cols) {
  const int row = i / cols, col = i % cols;
  const int up = before(row, rows) * cols, down = behind(row, rows) * cols, here = row * cols;
  const int left = before(col, cols), right = behind(col, cols);
  const int living = cells[up + left] + cells[up + col] + cells[up + right] + cells[here + left] +
                     cells[here + right] + cells[down + left] + cells[down + col] +
                     cells[down + right];
  // Bit 3 is set for every cell, bit 2 for living ones.
  return ((cells[i] ? 12 : 8) >> living) & 1;
}

__global__ void step(const unsigned char* cells, unsigned char* next, int rows, int cols) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < rows * cols) next[i] = fate(cells, i, rows, cols);
}

}  // namespace

void launch_generation(const unsigned char* d_cells, unsigned char* d_next, int rows, int cols) {
  step<<<(rows * cols + 127) / 128, 128>>>(d_cells, d_next, rows, cols);
}

void live(const unsigned char* h_cells, unsigned char* h_after, int rows, int cols,
          int generations) {
  const size_t bytes = static_cast<size_t>(rows) * cols;
  unsigned char* d_boards = nullptr;
  cudaMalloc(&d_boards, 2 * bytes);
  cudaMemcpy(d_boards, h_cells, bytes, cudaMemcpyHostToDevice);
  for (int k = 0; k < generations; ++k) {
    launch_generation(d_boards + k % 2 * bytes, d_boards + (k + 1) % 2 * bytes, rows, cols);
  }
  cudaMemcpy(h_after, d_boards + generations % 2 * bytes, bytes, cudaMemcpyDeviceToHost);
  cudaFree(d_boards);
}

void live_on_cpu(const unsigned char* h_cells, unsigned char* h_after, int rows, int cols,
                 int generations) {
  const int n = rows * cols;
  std::vector<unsigned char> old(n);
  std::memcpy(h_after, h_cells, n);
  for (int k = 0; k < generations; ++k) {
    std::memcpy(old.data(), h_after, n);
    for (int i = 0; i < n; ++i) h_after[i] = fate(old.data(), i, rows, cols);
  }
}
