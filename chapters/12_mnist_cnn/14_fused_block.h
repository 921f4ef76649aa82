// 12/14 Fused block: what the test calls.
#ifndef CHAPTERS_12_MNIST_CNN_14_FUSED_BLOCK_H_
#define CHAPTERS_12_MNIST_CNN_14_FUSED_BLOCK_H_

// A block of the network as it predicts, with statistics that are given: convolution as in 12/06,
// then batch norm, ReLU, and the greatest of each 2 x 2 window. Floats in device memory.
//   d_x  n x c x h x w, any alignment;  d_w  k x c x 3 x 3;  d_y  n x k x (h/2) x (w/2)
//   d_gamma, d_beta, d_mean, d_inv_std  k floats, as in 12/09; gamma may be negative
// An odd last row or column of outputs is in no window. n >= 0, c and k from 1 to 65,535, h and
// w from 2 to 100; no array has 2^31 elements, and all of them are finite.
struct BatchNorm {
  const float *d_gamma, *d_beta, *d_mean, *d_inv_std;
};
void launch_fused_block(const float* d_x, const float* d_w, BatchNorm norm, float* d_y, int n,
                        int c, int h, int w, int k);

// What it is compared with: four kernels, a thread per element in each. d_conv and d_norm have room
// for n x k x h x w floats.
void launch_block_by_four(const float* d_x, const float* d_w, BatchNorm norm, float* d_y,
                          float* d_conv, float* d_norm, int n, int c, int h, int w, int k);

#endif  // CHAPTERS_12_MNIST_CNN_14_FUSED_BLOCK_H_
