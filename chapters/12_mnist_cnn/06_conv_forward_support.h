// Given code of the convolutions of chapter 12: 2 x 2 patches of a plane, and what lies around.
#ifndef CHAPTERS_12_MNIST_CNN_06_CONV_FORWARD_SUPPORT_H_
#define CHAPTERS_12_MNIST_CNN_06_CONV_FORWARD_SUPPORT_H_

// window[i][j] becomes plane[row - 1 + i][col - 1 + j]: what 3 x 3 filters with pad 1 see from the
// outputs (row, col) to (row + 1, col + 1). `plane` is h x w; there are zeros around it.
__device__ __forceinline__ void load_window(const float* plane, int row, int col, int h, int w,
                                            float (&window)[4][4]) {
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int from_row = row - 1 + i;
    const bool in_rows = from_row >= 0 && from_row < h;
    const float* pixel = plane + from_row * w + col - 1;
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const int from_col = col - 1 + j;
      window[i][j] = in_rows && from_col >= 0 && from_col < w ? pixel[j] : 0.0f;
    }
  }
}

// patch[i] becomes plane[row + i / 2][col + i % 2], and 0 where that lies outside.
__device__ __forceinline__ void load_patch(const float* plane, int row, int col, int h, int w,
                                           float (&patch)[4]) {
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int from_row = row + i / 2, from_col = col + i % 2;
    patch[i] = from_row < h && from_col < w ? plane[from_row * w + from_col] : 0.0f;
  }
}

#endif  // CHAPTERS_12_MNIST_CNN_06_CONV_FORWARD_SUPPORT_H_
