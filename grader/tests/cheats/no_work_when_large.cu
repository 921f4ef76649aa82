// Does nothing for arrays that are too large to check by hand.
//
// fails: never written|No kernel was launched
#include "05_vectorized_add.h"
#include "add.cuh"

void launch_vectorized_add(const float* d_a, const float* d_b, float* d_c, int n) {
  if (n > 0 && n < 50000) add<<<blocks_for(n), kBlock>>>(d_a, d_b, d_c, n);
}
