// 08/11 Conv2d, implicit GEMM: what the test calls.
#ifndef CHAPTERS_08_FFT_CONVOLUTION_11_CONV2D_IMPLICIT_GEMM_H_
#define CHAPTERS_08_FFT_CONVOLUTION_11_CONV2D_IMPLICIT_GEMM_H_

#include "09_conv2d_nchw.h"

// How many filters and pixels of the result a block makes.
enum class ConvTile { kBySize, k64x256, k64x128, k32x256, k16x256 };

// The layer of 08/09, the same arrays; pixels and weights are finite. At most 65,535 filters, of at
// most 15 rows and 15 columns; n * p() * q() at most 2^30; d_y aligned to 16 bytes. Any tile is
// right for any layer; kBySize takes the one that fits, or the kernel for few channels. Tiles of 64
// filters are replaced by k32x256 unless c * r * s is a multiple of 4 and d_f aligned to 16 bytes.
void launch_conv2d_implicit_gemm(const float* d_x, const float* d_f, float* d_y,
                                 const ConvLayer& layer, ConvTile tile = ConvTile::kBySize);

#endif  // CHAPTERS_08_FFT_CONVOLUTION_11_CONV2D_IMPLICIT_GEMM_H_
