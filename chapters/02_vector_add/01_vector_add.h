// 02/01 Vector add: what the test calls.
#ifndef CHAPTERS_02_VECTOR_ADD_01_VECTOR_ADD_H_
#define CHAPTERS_02_VECTOR_ADD_01_VECTOR_ADD_H_

// c[i] = a[i] + b[i] for 0 <= i < n.
//   d_a, d_b, d_c  n floats each in device memory
//   n              from 0 to 2^30; 0 adds nothing and is not an error
void launch_vector_add(const float* d_a, const float* d_b, float* d_c, int n);

#endif  // CHAPTERS_02_VECTOR_ADD_01_VECTOR_ADD_H_
