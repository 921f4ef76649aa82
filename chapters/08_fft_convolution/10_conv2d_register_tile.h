// 08/10 Conv2d, register tile: what the test calls.
#ifndef CHAPTERS_08_FFT_CONVOLUTION_10_CONV2D_REGISTER_TILE_H_
#define CHAPTERS_08_FFT_CONVOLUTION_10_CONV2D_REGISTER_TILE_H_

#include "09_conv2d_nchw.h"

// The layer of 08/09, the same arrays: layer.n >= 0, all other sizes, p() and q() at least 1. At
// most 65,535 filters; none of the three arrays has 2^31 elements or more; weights are finite.
// Around an image lie zeros: a pixel goes into the outputs whose filter covers it, and into no
// others, also if it is infinite.
void launch_conv2d_register_tile(const float* d_x, const float* d_f, float* d_y,
                                 const ConvLayer& layer);

#endif  // CHAPTERS_08_FFT_CONVOLUTION_10_CONV2D_REGISTER_TILE_H_
