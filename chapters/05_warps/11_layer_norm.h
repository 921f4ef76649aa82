// 05/11 Layer norm: what the test calls.
#ifndef CHAPTERS_05_WARPS_11_LAYER_NORM_H_
#define CHAPTERS_05_WARPS_11_LAYER_NORM_H_

constexpr float kEpsilon = 1e-5f;  // added to the variance

// y(row, col) = (x(row, col) - mean) / sqrt(variance + kEpsilon) * gamma[col] + beta[col], with the
// mean and the variance (divided by cols, not cols - 1) of the row. Where the values of a row are
// close to each other, y keeps its digits wherever they lie: around 100 with a spread of 1, it is
// within 4e-5. Of a row in which a value lies far from the others, fewer digits are asked.
//   d_x, d_y         rows x cols floats in device memory, row-major, aligned to 16 bytes;
//                    rows >= 0, any cols >= 1; x is finite, and a float holds cols
//                    times the square of any distance in a row
//   d_gamma, d_beta  cols floats each, aligned to 16 bytes
void launch_layer_norm(const float* d_x, const float* d_gamma, const float* d_beta, float* d_y,
                       int rows, int cols);

// Given, in 11_layer_norm_baseline.cu: a thread per row, three passes over it.
void launch_layer_norm_by_thread(const float* d_x, const float* d_gamma, const float* d_beta,
                                 float* d_y, int rows, int cols);

#endif  // CHAPTERS_05_WARPS_11_LAYER_NORM_H_
