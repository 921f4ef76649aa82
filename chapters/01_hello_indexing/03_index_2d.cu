// 01/03 Index 2-D: mirror a picture, left to right, with one thread per pixel.
//   in, out  height x width bytes in row-major order: pixel (row, col) is element row * width + col
//   out(row, col) = in(row, width - 1 - col)
//   width and height are any numbers from 1 on, rarely multiples of the block
//   TODOs    2
#include "03_index_2d.h"

__global__ void mirror_image(const unsigned char* in, unsigned char* out, int width, int height) {
  // TODO(1): Find this thread's col (along x) and row (along y), leave out the threads that
  // stand outside of the picture, and write one mirrored pixel (about 5 lines).
}

void launch_mirror_image(const unsigned char* d_in, unsigned char* d_out, int width, int height) {
  const dim3 block(32, 8);  // threads along x and y
  // TODO(2): Enough blocks for the width and the height (1 line).
  const dim3 grid(1, 1);
  mirror_image<<<grid, block>>>(d_in, d_out, width, height);
}
