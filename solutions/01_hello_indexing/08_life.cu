// 01/08 Life, the capstone: a world of cells that live and die. A thread for each is enough.
//   cells, after  rows x cols bytes, row-major, 1 or 0; a board without borders, rows, cols >= 3
//   The header has the rule and the three functions.
//   Budget: a byte stored per cell, at most nine loaded; at most 5 sectors per request; two copies.
//
//   Nothing is given here: kernels, launches and all sizes are yours.
#include "08_life.h"

//~begin 1
#include <algorithm>
#include <utility>
#include <vector>

// The one rule, for both sides.
__host__ __device__ unsigned char next_cell(const unsigned char* cells, int row, int col, int rows,
                                            int cols) {
  int living = 0;
  for (int dy = -1; dy <= 1; ++dy) {
    for (int dx = -1; dx <= 1; ++dx) {
      if (dx == 0 && dy == 0) continue;
      // rows and cols are added because the remainder of a negative number is negative.
      const int r = (row + dy + rows) % rows, c = (col + dx + cols) % cols;
      living += cells[r * cols + c];
    }
  }
  if (living == 2) return cells[row * cols + col];
  return living == 3 ? 1 : 0;
}

__global__ void generation(const unsigned char* cells, unsigned char* next, int rows, int cols) {
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (col >= cols || row >= rows) {
    return;
  }
  next[row * cols + col] = next_cell(cells, row, col, rows, cols);
}

//~end
void launch_generation(const unsigned char* d_cells, unsigned char* d_next, int rows, int cols) {
  //~begin 1
  const dim3 block(32, 8);  // threads
  const dim3 grid((cols + block.x - 1) / block.x, (rows + block.y - 1) / block.y);
  generation<<<grid, block>>>(d_cells, d_next, rows, cols);
  //~end
}

void live(const unsigned char* h_cells, unsigned char* h_after, int rows, int cols,
          int generations) {
  //~begin 1
  const size_t bytes = static_cast<size_t>(rows) * cols;
  unsigned char *d_cells = nullptr, *d_next = nullptr;
  cudaMalloc(&d_cells, bytes);
  cudaMalloc(&d_next, bytes);
  cudaMemcpy(d_cells, h_cells, bytes, cudaMemcpyHostToDevice);
  for (int k = 0; k < generations; ++k) {
    launch_generation(d_cells, d_next, rows, cols);
    std::swap(d_cells, d_next);  // the pointers: no cell is moved
  }
  cudaMemcpy(h_after, d_cells, bytes, cudaMemcpyDeviceToHost);
  cudaFree(d_next);
  cudaFree(d_cells);
  //~end
}

void live_on_cpu(const unsigned char* h_cells, unsigned char* h_after, int rows, int cols,
                 int generations) {
  //~begin 1
  std::vector<unsigned char> cells(h_cells, h_cells + static_cast<size_t>(rows) * cols);
  std::vector<unsigned char> next(cells.size());
  for (int k = 0; k < generations; ++k) {
    for (int row = 0; row < rows; ++row) {
      for (int col = 0; col < cols; ++col) {
        next[row * cols + col] = next_cell(cells.data(), row, col, rows, cols);
      }
    }
    cells.swap(next);
  }
  std::copy(cells.begin(), cells.end(), h_after);
  //~end
}
