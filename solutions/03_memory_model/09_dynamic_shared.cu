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
  //~ // TODO(1): The memory is divided into cols floats and cols indices, each array aligned to the
  //~ // size of its elements also where cols is odd. Every element of the row and of p is loaded from
  //~ // global memory once, and the row is permuted in place (about 12 lines).
  //~ if (threadIdx.x < cols) memory[threadIdx.x] = static_cast<unsigned char>(p[threadIdx.x]);
  //~begin 1
  // The larger elements first: 4 * cols bytes are a multiple of 2, but 2 * cols not always of 4.
  float* values = reinterpret_cast<float*>(memory);                          // [column]
  unsigned short* index = reinterpret_cast<unsigned short*>(values + cols);  // [column]

  float* row = x + static_cast<size_t>(blockIdx.x) * cols;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) {
    values[c] = row[c];
    index[c] = p[c];
  }
  __syncthreads();  // closes write against read, in shared memory, and read against write of x
  for (int c = threadIdx.x; c < cols; c += blockDim.x) {
    row[c] = values[index[index[c]]];
  }
  //~end
}

// Bytes of shared memory for a row.
static size_t row_bytes(int cols) { return cols * (sizeof(float) + sizeof(unsigned short)); }

int largest_row() {
  //~ const int most = 48 * 1024;  // TODO(2): What this device gives a block at most (3 lines).
  //~begin 2
  int device = 0, most = 0;
  cudaGetDevice(&device);
  // What a block may have at most, not what it gets without asking.
  cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  //~end
  return static_cast<int>(most / row_bytes(1));
}

bool launch_permute_twice(float* d_x, const unsigned short* d_p, int rows, int cols) {
  if (cols > largest_row()) return false;
  //~ // TODO(3): The kernel may use as many bytes as a row needs, and gets them (about 4 lines).
  //~ if (rows > 0) permute_rows_twice<<<1, 512, row_bytes(1)>>>(d_x, d_p, 1);
  //~begin 3
  constexpr int kBlock = 512;  // threads
  // Without this a launch with more than 48 KiB is refused.
  cudaFuncSetAttribute(permute_rows_twice, cudaFuncAttributeMaxDynamicSharedMemorySize,
                       static_cast<int>(row_bytes(cols)));
  permute_rows_twice<<<rows, kBlock, row_bytes(cols)>>>(d_x, d_p, cols);
  //~end
  return true;
}
