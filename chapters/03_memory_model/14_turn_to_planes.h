// 03/14 Turn to planes: what the test calls.
#ifndef CHAPTERS_03_MEMORY_MODEL_14_TURN_TO_PLANES_H_
#define CHAPTERS_03_MEMORY_MODEL_14_TURN_TO_PLANES_H_

// Channel k of a result is the sum over j of at[k][j] times channel j of the pixel.
struct Mix {
  float at[3][3];
};

// A photo, three floats for each pixel, becomes three planes of other colours, turned by a quarter
// to the right: planes[k][c][rows - 1 - r] is channel k of the mixed pixel (r, c).
//   d_pixels   rows x cols x 3 floats in device memory, row-major: r g b r g b ...; 0 <= rows,
//              cols <= 2^20
//   d_planes   3 x cols x rows floats in device memory; nothing happens if rows or cols is 0
void launch_turn_to_planes(const float* d_pixels, const Mix& mix, float* d_planes, int rows,
                           int cols);

// The same without shared memory (14_turn_to_planes_baseline.cu); rows, cols >= 1.
void launch_turn_directly(const float* d_pixels, const Mix& mix, float* d_planes, int rows,
                          int cols);

#endif  // CHAPTERS_03_MEMORY_MODEL_14_TURN_TO_PLANES_H_
