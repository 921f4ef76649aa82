// Another right answer: blocks of 16 x 16 threads, early return, row pointers.
#include "03_index_2d.h"

__global__ void mirror_rows(const unsigned char* in, unsigned char* out, int width, int height) {
  const int x = threadIdx.x + blockDim.x * blockIdx.x;
  const int y = threadIdx.y + blockDim.y * blockIdx.y;
  if (x >= width || y >= height) {
    return;
  }
  const unsigned char* in_row = in + static_cast<size_t>(y) * width;
  unsigned char* out_row = out + static_cast<size_t>(y) * width;
  out_row[width - 1 - x] = in_row[x];
}

void launch_mirror_image(const unsigned char* d_in, unsigned char* d_out, int width, int height) {
  const dim3 block(16, 16);
  const dim3 grid(width / block.x + 1, height / block.y + 1);
  mirror_rows<<<grid, block>>>(d_in, d_out, width, height);
}
