// The cases of speed.cu.
#ifndef WARPLINGS_TESTS_SPEED_H_
#define WARPLINGS_TESTS_SPEED_H_

#include <cstddef>

struct SpeedCase {
  const char* name;
  int n;  // a, b and c are matrices of n x n floats, row-major, in device memory
  bool is_product;
  void (*launch)(const float* a, const float* b, float* c, int n);
};
struct SpeedCases {
  const SpeedCase* first;
  std::size_t size;
};
extern const SpeedCases kSpeedCases;

#endif  // WARPLINGS_TESTS_SPEED_H_
