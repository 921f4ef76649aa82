// 03/07 Constant polynomial: what the test calls.
#ifndef CHAPTERS_03_MEMORY_MODEL_07_CONSTANT_POLYNOMIAL_H_
#define CHAPTERS_03_MEMORY_MODEL_07_CONSTANT_POLYNOMIAL_H_

constexpr int kMaxTerms = 64;

// y[i] = sum over k < terms of coefficients[k] * x[i]^k.
//   h_coefficients  terms floats in host memory, 1 <= terms <= kMaxTerms; other ones at each call,
//                   and the caller may overwrite them as soon as it has returned
//   d_x, d_y        n floats each in device memory, x finite; n from 0 to 2^30, 0 does nothing
void launch_polynomial(const float* h_coefficients, int terms, const float* d_x, float* d_y, int n);

#endif  // CHAPTERS_03_MEMORY_MODEL_07_CONSTANT_POLYNOMIAL_H_
