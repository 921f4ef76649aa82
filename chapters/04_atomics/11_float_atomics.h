// 04/11 Float atomics: what the test calls.
#ifndef CHAPTERS_04_ATOMICS_11_FLOAT_ATOMICS_H_
#define CHAPTERS_04_ATOMICS_11_FLOAT_ATOMICS_H_

// Three sums of the same n floats x in device memory, |x[i]| <= 1 and 0 <= n <= 2^22. The results
// hold nothing of use before the call, and 0 for n = 0.

// In float and in double, with one atomicAdd of that type per element.
void launch_sum_float(const float* d_x, float* d_sum, int n);
void launch_sum_double(const float* d_x, double* d_sum, int n);

// Each x[i] is rounded to the nearest multiple of 2^-40; these are added without any error, so that
// the sum depends on nothing but the elements. *d_total = the sum in units of 2^-40.
void launch_sum_fixed(const float* d_x, long long* d_total, int n);
// The sum itself, on the host.
double value_of_total(long long total);

#endif  // CHAPTERS_04_ATOMICS_11_FLOAT_ATOMICS_H_
