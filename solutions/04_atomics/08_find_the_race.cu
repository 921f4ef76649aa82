// 04/08 Find the race: three kernels that often give the right result, each with a race. Fix them.
//   ./grade run shows one report, ./grade sanitize all. A report names two lines, and what each of
//   the two threads did there. Ask: which of the two must come first, and what makes it so?
//   The remedy is one line or one word. Afterwards say in TODO 4 what kind of race it was.
//   TODOs    4
#include "08_find_the_race.h"

__global__ void reverse_tiles(const int* x, int* out, int n) {
  __shared__ int tile[kTile];
  const int first = blockIdx.x * kTile;
  const int size = min(kTile, n - first);  // the last tile may be short
  const int t = threadIdx.x;
  //~ // TODO(1): Read the report for these lines, then order the two accesses.
  //~ if (t < size) tile[t] = x[first + t];
  //~ if (t < size) out[first + t] = tile[size - 1 - t];
  //~begin 1
  if (t < size) tile[t] = x[first + t];
  __syncthreads();  // the tile is whole: element size - 1 - t was stored by another thread
  if (t < size) out[first + t] = tile[size - 1 - t];
  //~end
}

__global__ void add_mirrored(const int* x, int* out, int n) {
  __shared__ int tile[kTile];
  const int t = threadIdx.x;
  for (int first = blockIdx.x * kTile; first < n; first += gridDim.x * kTile) {
    const int size = min(kTile, n - first);
    //~ // TODO(2): The tile is complete before it is read. And yet there is a race: order it, too.
    //~ if (t < size) tile[t] = x[first + t];
    //~ __syncthreads();  // the tile is complete
    //~ if (t < size) out[first + t] = tile[t] + tile[size - 1 - t];
    //~begin 2
    if (t < size) tile[t] = x[first + t];
    __syncthreads();  // the tile is complete
    if (t < size) out[first + t] = tile[t] + tile[size - 1 - t];
    __syncthreads();  // everybody has read before the next round overwrites the tile
    //~end
  }
}

__global__ void add_columns(const int* x, int* sums, int rows, int cols) {
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (col >= cols) return;
  int mine = 0;  // sum over the rows blockIdx.y, blockIdx.y + gridDim.y, ...
  for (int row = blockIdx.y; row < rows; row += gridDim.y) {
    mine += x[row * cols + col];
  }
  //~ // TODO(3): No barrier orders threads of different blocks. What else is there?
  //~ sums[col] += mine;
  //~begin 3
  atomicAdd(&sums[col], mine);  // the blocks with the same x and another y add to it, too
  //~end
}

// What each of the reports was about; 08_find_the_race.h lists the kinds.
//~ // TODO(4): Replace the three kUnanswered.
//~ Hazard hazard_of_reverse_tiles() { return Hazard::kUnanswered; }
//~ Hazard hazard_of_add_mirrored() { return Hazard::kUnanswered; }
//~ Hazard hazard_of_add_columns() { return Hazard::kUnanswered; }
//~begin 4
Hazard hazard_of_reverse_tiles() { return Hazard::kReadTooEarly; }
Hazard hazard_of_add_mirrored() { return Hazard::kWriteTooEarly; }
Hazard hazard_of_add_columns() { return Hazard::kLostUpdate; }
//~end

void launch_reverse_tiles(const int* d_x, int* d_out, int n) {
  const int grid = (n + kTile - 1) / kTile;
  if (grid > 0) {
    reverse_tiles<<<grid, kTile>>>(d_x, d_out, n);
  }
}

void launch_add_mirrored(const int* d_x, int* d_out, int n, int max_blocks) {
  const int grid = min((n + kTile - 1) / kTile, max_blocks);
  if (grid > 0) {
    add_mirrored<<<grid, kTile>>>(d_x, d_out, n);
  }
}

void launch_add_columns(const int* d_x, int* d_sums, int rows, int cols) {
  cudaMemset(d_sums, 0, cols * sizeof(int));
  const dim3 grid((cols + kTile - 1) / kTile, min(rows, 8));
  add_columns<<<grid, kTile>>>(d_x, d_sums, rows, cols);
}
