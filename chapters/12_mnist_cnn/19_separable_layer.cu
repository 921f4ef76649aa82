// 12/19 Separable layer, the capstone: forward, and back to the pixels and to both kinds of weights.
//   z[n][c][row][col] = sum over r, s of f[c][r][s] x[n][c][row + r - 1][col + s - 1]
//   y[n][k][row][col] = sum over c of m[k][c] z[n][c][row][col]
//   x, dx  n x c x h x w   f, df  c x 3 x 3   m, dm  k x c   y, dy  n x k x h x w
//   Budget: forward stores y and nothing else, and loads half a word for each product; backward has
//   no atomic addition. 19_separable_layer.h says how much memory it may use.
//   Bar: six times the speed of a thread for each result on a card, three times in the model.
//
//   Nothing is given here: kernels, launches and all sizes are yours. load_window, load_patch and
//   warp_sum are what 06 and 07 had.
#include <algorithm>

#include "06_conv_forward_support.h"
#include "19_separable_layer.h"
#include "support.h"

void launch_separable_forward(const float* d_x, const float* d_f, const float* d_m, float* d_y,
                              int n, int c, int h, int w, int k) {
  static_cast<void>(d_x), static_cast<void>(d_f), static_cast<void>(d_m);
  static_cast<void>(d_y), static_cast<void>(n), static_cast<void>(c);
  static_cast<void>(h), static_cast<void>(w), static_cast<void>(k);
}

size_t separable_scratch(int n, int c, int h, int w, int k) {
  return n + c + h + w + k > 0 ? 0 : 1;
}

void launch_separable_backward(const float* d_x, const float* d_f, const float* d_m,
                               const float* d_dy, float* d_dx, float* d_df, float* d_dm,
                               float* d_scratch, int n, int c, int h, int w, int k) {
  static_cast<void>(d_x), static_cast<void>(d_f), static_cast<void>(d_m);
  static_cast<void>(d_dy), static_cast<void>(d_dx), static_cast<void>(d_df);
  static_cast<void>(d_dm), static_cast<void>(d_scratch), static_cast<void>(n);
  static_cast<void>(c), static_cast<void>(h), static_cast<void>(w), static_cast<void>(k);
}
