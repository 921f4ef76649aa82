// 01/03 Index 2-D
#ifndef CHAPTERS_01_HELLO_INDEXING_03_INDEX_2D_H_
#define CHAPTERS_01_HELLO_INDEXING_03_INDEX_2D_H_

// Mirrors a picture left to right: out(row, col) = in(row, width - 1 - col).
//   d_in, d_out  height x width bytes, row-major: (row, col) is element row * width + col
//   width and height from 1 to 65,535, fewer than 2^31 pixels
void launch_mirror_image(const unsigned char* d_in, unsigned char* d_out, int width, int height);

#endif  // CHAPTERS_01_HELLO_INDEXING_03_INDEX_2D_H_
