// 07/22 Nearest rows, the capstone: for every row of x the nearest row of y, and how near it is.
//   x         m x k floats, y  n x k floats, row-major; m from 0, n and k from 1
//   nearest   nearest[i] is the row of y whose distance to row i of x is least, the first of equals
//   distance  distance[i] is the square of that distance
//   Budget: no table of m x n is written; 1/20 word from global memory for each of the m n k
//   differences, and 0.6 words from shared memory.
//   Bar: ten times the speed of a thread for each row of x on a card, three times in the model.
//
//   Nothing is given here: kernels, launches and all sizes are yours.
#include "22_nearest_rows.h"

void launch_nearest_rows(const float* d_x, const float* d_y, int* d_nearest, float* d_distance,
                         int m, int n, int k) {
  static_cast<void>(d_x), static_cast<void>(d_y), static_cast<void>(d_nearest);
  static_cast<void>(d_distance), static_cast<void>(m), static_cast<void>(n), static_cast<void>(k);
}
