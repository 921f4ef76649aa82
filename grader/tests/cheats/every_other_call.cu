// Works in every second call only, once there are many.
//
// fails: never written|No element of c was ever written
#include "05_vectorized_add.h"
#include "add.cuh"

void launch_vectorized_add(const float* d_a, const float* d_b, float* d_c, int n) {
  static int calls = 0;
  if (n <= 0) return;
  if (++calls > 20 && calls % 2 == 0) return;
  add<<<blocks_for(n), kBlock>>>(d_a, d_b, d_c, n);
}
