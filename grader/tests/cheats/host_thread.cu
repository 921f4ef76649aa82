// Returns at once; another host thread does the work a little later.
//
// fails: ever written|all zeros
#include <chrono>
#include <thread>

#include "05_vectorized_add.h"
#include "add.cuh"

void launch_vectorized_add(const float* d_a, const float* d_b, float* d_c, int n) {
  if (n <= 0) return;
  std::thread([=] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    add<<<blocks_for(n), kBlock>>>(d_a, d_b, d_c, n);
  }).detach();
}
