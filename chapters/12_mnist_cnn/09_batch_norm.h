// 12/09 Batch norm: what the test calls, and 11 and later.
#ifndef CHAPTERS_12_MNIST_CNN_09_BATCH_NORM_H_
#define CHAPTERS_12_MNIST_CNN_09_BATCH_NORM_H_

#include <cstddef>

constexpr float kBatchNormEpsilon = 1e-5f;

// Floats of scratch memory that forward and backward need; what they hold before does not matter.
size_t batch_norm_scratch(int c);

// A channel is n x hw values: its planes of all images. mean and variance are those of the batch
// (the variance divides by n hw, not by one less).
//   y = gamma (x - mean) inv_std + beta, inv_std = 1 / sqrt(variance + epsilon), for each channel
//   d_x, d_y, d_dy, d_dx  n x c x hw finite floats in device memory, fewer than 2^31;
//                         n, c, hw >= 1, c at most 65,535
//   d_gamma, d_beta, d_mean, d_inv_std, d_dgamma, d_dbeta  c floats
// Forward writes y, mean and inv_std; backward takes them, and writes the derivatives of the loss
// by x, gamma and beta from that by y. The same arrays give the same bits every time.
void launch_batch_norm_forward(const float* d_x, const float* d_gamma, const float* d_beta,
                               float* d_y, float* d_mean, float* d_inv_std, float* d_scratch, int n,
                               int c, int hw);
void launch_batch_norm_backward(const float* d_x, const float* d_gamma, const float* d_mean,
                                const float* d_inv_std, const float* d_dy, float* d_dx,
                                float* d_dgamma, float* d_dbeta, float* d_scratch, int n, int c,
                                int hw);

// y as above with a mean and inv_std that are given: what a trained network does.
void launch_batch_norm_apply(const float* d_x, const float* d_gamma, const float* d_beta,
                             const float* d_mean, const float* d_inv_std, float* d_y, int n, int c,
                             int hw);

#endif  // CHAPTERS_12_MNIST_CNN_09_BATCH_NORM_H_
