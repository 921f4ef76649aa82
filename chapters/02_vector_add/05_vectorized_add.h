// 02/05 Vectorized add: what the test calls.
#ifndef CHAPTERS_02_VECTOR_ADD_05_VECTORIZED_ADD_H_
#define CHAPTERS_02_VECTOR_ADD_05_VECTORIZED_ADD_H_

// c = a + b.
//   d_a, d_b, d_c  n floats each in device memory, n from 0 to 2^30, aligned to 16 bytes
void launch_vectorized_add(const float* d_a, const float* d_b, float* d_c, int n);

#endif  // CHAPTERS_02_VECTOR_ADD_05_VECTORIZED_ADD_H_
