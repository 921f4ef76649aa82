// 01/03 Index 2-D: mirror a picture, left to right. Planned with one thread per pixel.
//   in, out  height x width bytes in row-major order: pixel (row, col) is element row * width + col
//   out(row, col) = in(row, width - 1 - col)
//   width and height are any numbers from 1 on, rarely multiples of the block
//   TODOs    2
#include "03_index_2d.h"

__global__ void mirror_image(const unsigned char* in, unsigned char* out, int width, int height) {
  // TODO(1): Each thread writes one pixel of the mirrored picture: x runs over the columns, y
  // over the rows, and the threads outside the picture touch nothing (about 5 lines).
}

void launch_mirror_image(const unsigned char* d_in, unsigned char* d_out, int width, int height) {
  const dim3 block(32, 8);  // threads along x and y
  // TODO(2): Blocks that cover the whole picture, along both axes (2 lines).
  mirror_image<<<1, block>>>(d_in, d_out, width, height);
}
