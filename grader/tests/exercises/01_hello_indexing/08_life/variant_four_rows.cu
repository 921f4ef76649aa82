// Another right answer: a thread walks down four rows of its column in a loop that is right for any
// grid, the sums of a row of three are kept, and the host counts neighbours in a frame.
#include <vector>

#include "08_life.h"

namespace {

__device__ int three(const unsigned char* cells, int row, int left, int col, int right, int rows,
                     int cols) {
  const unsigned char* line = cells + (row + rows) % rows * cols;
  return line[left] + line[col] + line[right];
}

__global__ void columns(const unsigned char* cells, unsigned char* next, int rows, int cols) {
  for (int col = blockIdx.x * blockDim.x + threadIdx.x; col < cols; col += gridDim.x * blockDim.x) {
    const int left = (col + cols - 1) % cols, right = (col + 1) % cols;
    const int first = 4 * blockIdx.y, last = first + 4 < rows ? first + 4 : rows;
    int above = three(cells, first - 1, left, col, right, rows, cols);
    int here = three(cells, first, left, col, right, rows, cols);
    for (int row = first; row < last; ++row) {
      const int below = three(cells, row + 1, left, col, right, rows, cols);
      const unsigned char self = cells[row * cols + col];
      const int living = above + here + below - self;
      next[row * cols + col] = living == 3 || (living == 2 && self);
      above = here;
      here = below;
    }
  }
}

}  // namespace

void launch_generation(const unsigned char* d_cells, unsigned char* d_next, int rows, int cols) {
  columns<<<dim3((cols + 63) / 64, (rows + 3) / 4), 64>>>(d_cells, d_next, rows, cols);
}

void live(const unsigned char* h_cells, unsigned char* h_after, int rows, int cols,
          int generations) {
  const size_t bytes = static_cast<size_t>(rows) * cols;
  unsigned char* d_board[2] = {};
  for (unsigned char*& board : d_board) cudaMalloc(&board, bytes);
  cudaMemcpy(d_board[0], h_cells, bytes, cudaMemcpyHostToDevice);
  int now = 0;
  while (generations-- > 0) {
    launch_generation(d_board[now], d_board[1 - now], rows, cols);
    now = 1 - now;
  }
  cudaMemcpy(h_after, d_board[now], bytes, cudaMemcpyDeviceToHost);
  for (unsigned char* board : d_board) cudaFree(board);
}

void live_on_cpu(const unsigned char* h_cells, unsigned char* h_after, int rows, int cols,
                 int generations) {
  std::vector<std::vector<int>> board(rows, std::vector<int>(cols));
  for (int i = 0; i < rows * cols; ++i) board[i / cols][i % cols] = h_cells[i];
  for (; generations > 0; --generations) {
    std::vector<std::vector<int>> next = board;
    for (int r = 0; r < rows; ++r) {
      for (int c = 0; c < cols; ++c) {
        int living = -board[r][c];
        for (const int y : {r + rows - 1, r, r + 1}) {
          for (const int x : {c + cols - 1, c, c + 1}) living += board[y % rows][x % cols];
        }
        next[r][c] = living == 3 || (living == 2 && board[r][c] == 1);
      }
    }
    board = next;
  }
  for (int i = 0; i < rows * cols; ++i) h_after[i] = board[i / cols][i % cols];
}
