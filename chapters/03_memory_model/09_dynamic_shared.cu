// 03/09 Dynamic shared memory: two arrays in one block of memory whose size is known at the launch.
//   x      rows x cols floats in device memory, row-major, changed in place
//   p      cols indices in device memory, each below cols; the same for every row
//   x[r][c] becomes x[r][p[p[c]]], for any row that fits into the shared memory of a block
//   A kernel gets 48 KiB (8192 columns) without asking. How much more it may ask for depends on the
//   card: 64 KiB on a T4, 99 on an RTX 3070, 227 on an H200.
//   TODOs  3
#include "09_dynamic_shared.h"

// One block per row. `memory` has as many bytes as the launch says.
__global__ void permute_rows_twice(float* x, const unsigned short* p, int cols) {
  extern __shared__ __align__(16) unsigned char memory[];
  // TODO(1): Divide the memory: cols floats and cols indices, each array aligned to the size of
  // its elements also where cols is odd (change 2 lines).
  float* values = reinterpret_cast<float*>(memory);
  unsigned short* index = reinterpret_cast<unsigned short*>(memory);

  float* row = x + static_cast<size_t>(blockIdx.x) * cols;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) {
    values[c] = row[c];
    index[c] = p[c];
  }
  __syncthreads();  // closes write against read, in shared memory, and read against write of x
  for (int c = threadIdx.x; c < cols; c += blockDim.x) {
    row[c] = values[index[index[c]]];
  }
}

// Bytes of shared memory for a row.
static size_t row_bytes(int cols) { return cols * (sizeof(float) + sizeof(unsigned short)); }

int largest_row() {
  const int most = 48 * 1024;  // TODO(2): Ask this device (about 4 lines).
  return static_cast<int>(most / row_bytes(1));
}

bool launch_permute_twice(float* d_x, const unsigned short* d_p, int rows, int cols) {
  if (cols > largest_row()) return false;
  constexpr int kBlock = 512;  // threads
  // TODO(3): Allow the kernel as many bytes as a row needs, and launch it with them (2 lines).
  permute_rows_twice<<<rows, kBlock>>>(d_x, d_p, cols);
  return true;
}
