// 08/14 Convolution through the spectrum, 2-D: what it has to overtake, the sum itself.
#include "14_fft_conv2d.h"

namespace {

__global__ void conv2d_naive(const float* image, const float* filter, float* out, Conv2d shape) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  const int out_width = shape.width - shape.filter_width + 1;
  if (x >= out_width || y > shape.height - shape.filter_height) return;
  float sum = 0.0f;
  for (int r = 0; r < shape.filter_height; ++r) {
    const float* row = image + static_cast<size_t>(y + r) * shape.width + x;
    for (int c = 0; c < shape.filter_width; ++c) sum += row[c] * filter[r * shape.filter_width + c];
  }
  out[static_cast<size_t>(y) * out_width + x] = sum;
}

constexpr int kWide = 4, kHigh = 8;                              // elements of out per thread
constexpr int kBlockX = 32, kBlockY = 8;                         // threads of a block
constexpr int kOutX = kBlockX * kWide, kOutY = kBlockY * kHigh;  // elements of out per block

// The filter is taken in parts of kRows x kCols. An element of out is the sum of 16 bytes at a time
// from a row of the image, of which a thread keeps the last two loads: 128 products for 9 loads.
template <int kRows, int kCols>
__global__ void __launch_bounds__(kBlockX* kBlockY)
    conv2d_direct(const float* image, const float* filter, float* out, Conv2d shape) {
  constexpr int kTileX = kOutX + kCols, kTileY = kOutY + kRows - 1;
  constexpr int kPartRows = kRows + 2 * (kHigh - 1);  // with zeros above and below
  extern __shared__ float4 shared[];
  float* tile = reinterpret_cast<float*>(shared);  // [kTileY][kTileX]
  float* part = tile + kTileY * kTileX;            // [kPartRows][kCols]
  const int x0 = blockIdx.x * kOutX, y0 = blockIdx.y * kOutY;
  const int t = threadIdx.y * kBlockX + threadIdx.x;
  float sums[kHigh][kWide] = {};
  for (int first_row = 0; first_row < shape.filter_height; first_row += kRows) {
    for (int first_col = 0; first_col < shape.filter_width; first_col += kCols) {
      __syncthreads();  // closes read against write: other threads may still read the parts before
      for (int i = t; i < kTileY * kTileX; i += kBlockX * kBlockY) {
        const int y = y0 + first_row + i / kTileX, x = x0 + first_col + i % kTileX;
        const bool inside = y < shape.height && x < shape.width;
        tile[i] = inside ? image[static_cast<size_t>(y) * shape.width + x] : 0.0f;
      }
      for (int i = t; i < kPartRows * kCols; i += kBlockX * kBlockY) {
        const int in_part = i / kCols - (kHigh - 1), r = first_row + in_part;
        const int c = first_col + i % kCols;
        const bool inside =
            in_part >= 0 && in_part < kRows && r < shape.filter_height && c < shape.filter_width;
        part[i] = inside ? filter[r * shape.filter_width + c] : 0.0f;
      }
      __syncthreads();  // closes write against read: both parts come from all threads
      // Row r of the thread's window is row r - k of the filter for its k-th row of out.
      for (int r = 0; r < kRows + kHigh - 1; ++r) {
        const float* row = tile + (threadIdx.y * kHigh + r) * kTileX + threadIdx.x * kWide;
        float4 left = *reinterpret_cast<const float4*>(row);
#pragma unroll 2
        for (int c = 0; c < kCols; c += 4) {
          const float4 right = *reinterpret_cast<const float4*>(row + c + 4);
          const float window[8] = {left.x,  left.y,  left.z,  left.w,
                                   right.x, right.y, right.z, right.w};
#pragma unroll
          for (int k = 0; k < kHigh; ++k) {
            const float4 w =
                *reinterpret_cast<const float4*>(part + (r - k + kHigh - 1) * kCols + c);
#pragma unroll
            for (int o = 0; o < kWide; ++o) {
              sums[k][o] +=
                  window[o] * w.x + window[o + 1] * w.y + window[o + 2] * w.z + window[o + 3] * w.w;
            }
          }
          left = right;
        }
      }
    }
  }
  const int out_width = shape.width - shape.filter_width + 1;
#pragma unroll
  for (int k = 0; k < kHigh; ++k) {
#pragma unroll
    for (int o = 0; o < kWide; ++o) {
      const int y = y0 + threadIdx.y * kHigh + k, x = x0 + threadIdx.x * kWide + o;
      if (y <= shape.height - shape.filter_height && x < out_width) {
        out[static_cast<size_t>(y) * out_width + x] = sums[k][o];
      }
    }
  }
}

template <int kRows, int kCols>
void launch_direct(const float* d_image, const float* d_filter, float* d_out, const Conv2d& shape) {
  constexpr int kTile = (kOutY + kRows - 1) * (kOutX + kCols);
  constexpr int kBytes = (kTile + (kRows + 2 * (kHigh - 1)) * kCols) * sizeof(float);
  cudaFuncSetAttribute(conv2d_direct<kRows, kCols>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                       kBytes);
  const dim3 block(kBlockX, kBlockY);
  const dim3 grid((shape.out_width() + kOutX - 1) / kOutX,
                  (shape.out_height() + kOutY - 1) / kOutY);
  conv2d_direct<kRows, kCols><<<grid, block, kBytes>>>(d_image, d_filter, d_out, shape);
}

}  // namespace

void launch_conv2d_naive(const float* d_image, const float* d_filter, float* d_out,
                         const Conv2d& shape) {
  const dim3 block(32, 8);
  const dim3 grid((shape.out_width() + block.x - 1) / block.x,
                  (shape.out_height() + block.y - 1) / block.y);
  conv2d_naive<<<grid, block>>>(d_image, d_filter, d_out, shape);
}

// Parts of the filter that hold a small one whole, and a large one in few steps.
void launch_conv2d_direct(const float* d_image, const float* d_filter, float* d_out,
                          const Conv2d& shape) {
  if (shape.filter_width <= 4) {
    launch_direct<4, 4>(d_image, d_filter, d_out, shape);
  } else if (shape.filter_width <= 8) {
    launch_direct<8, 8>(d_image, d_filter, d_out, shape);
  } else if (shape.filter_width <= 16) {
    launch_direct<16, 16>(d_image, d_filter, d_out, shape);
  } else {
    launch_direct<32, 32>(d_image, d_filter, d_out, shape);
  }
}
