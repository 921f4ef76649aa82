// 03/14 Turn to planes, the capstone: a photo becomes three planes, mixed and turned.
//   pixels  rows x cols x 3 floats in device memory, row-major: r g b r g b ...
//   mix     3 x 3 weights: channel k of the result is the sum over j of mix.at[k][j] * channel j
//   planes  3 x cols x rows floats; planes[k][c][rows - 1 - r] belongs to pixel (r, c)
//           0 <= rows, cols <= 2^20
//   Budget: every pixel is loaded once, nothing is moved that is not wanted, no bank conflict.
//   Bar, on a GPU: half of the copy rate.
//
//   Nothing is given here: kernels, launches and all sizes are yours.
#include "14_turn_to_planes.h"

void launch_turn_to_planes(const float* d_pixels, const Mix& mix, float* d_planes, int rows,
                           int cols) {
}
