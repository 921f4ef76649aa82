// 05/13 Max pool 2x2: what the test calls, and chapter 12.
#ifndef CHAPTERS_05_WARPS_13_MAX_POOL_2X2_H_
#define CHAPTERS_05_WARPS_13_MAX_POOL_2X2_H_

// Of each 2 x 2 window of relu(x): the greatest value, or the average. relu(v) = max(v, 0).
//   d_x  planes x height x width floats in device memory, x fastest; a plane is one channel of one
//        image; planes >= 0, height >= 2, width >= 2; aligned to 8 bytes; no NaN, which fmaxf would
//        drop and PyTorch keeps
//   d_y  planes x (height / 2) x (width / 2) floats; an odd last row or column is left out
void launch_relu_max_pool(const float* d_x, float* d_y, int planes, int height, int width);
void launch_relu_average_pool(const float* d_x, float* d_y, int planes, int height, int width);

#endif  // CHAPTERS_05_WARPS_13_MAX_POOL_2X2_H_
