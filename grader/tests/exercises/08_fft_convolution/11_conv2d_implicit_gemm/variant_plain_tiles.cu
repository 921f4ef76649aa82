// No copies in the background, no table: a block of 16 x 16 threads makes 64 filters x 64 pixels,
// and each thread takes the number of a product apart when it loads its pixel. For few channels the
// transform is written as what it is, a product with a matrix from both sides.
#include "11_conv2d_implicit_gemm.h"
#include "11_conv2d_implicit_gemm_support.h"

namespace {

constexpr int kTile = 64, kStep = 8, kSide = 16, kEach = kTile / kSide;

__device__ float pixel_of(const float* x, const ConvLayer& layer, int j, int pixel) {
  if (j >= layer.c * layer.r * layer.s || pixel >= layer.n * layer.p() * layer.q()) return 0.0f;
  const int row = pixel / layer.q() % layer.p() + j / layer.s % layer.r - layer.pad;
  const int col = pixel % layer.q() + j % layer.s - layer.pad;
  if (row < 0 || row >= layer.h || col < 0 || col >= layer.w) return 0.0f;
  const int plane = pixel / (layer.p() * layer.q()) * layer.c + j / (layer.r * layer.s);
  return x[(plane * layer.h + row) * layer.w + col];
}

struct ByMatrix {
  __device__ void operator()(float (&d)[4][4]) const {
    constexpr float kB[4][4] = {{1, 0, -1, 0}, {0, 1, 1, 0}, {0, -1, 1, 0}, {0, 1, 0, -1}};
    float result[4][4] = {};
#pragma unroll
    for (int e = 0; e < 256; ++e) {
      const int i = e / 64, j = e / 16 % 4, p = e / 4 % 4, q = e % 4;
      if (kB[i][p] * kB[j][q] > 0) result[i][j] += d[p][q];
      if (kB[i][p] * kB[j][q] < 0) result[i][j] -= d[p][q];
    }
#pragma unroll
    for (int e = 0; e < 16; ++e) d[e / 4][e % 4] = result[e / 4][e % 4];
  }
};

__global__ void plain(const float* x, const float* f, float* y, ConvLayer layer) {
  __shared__ float of_f[kStep][kTile + 1], of_x[kStep][kTile];
  const int tx = threadIdx.x % kSide, ty = threadIdx.x / kSide;
  const int products = layer.c * layer.r * layer.s, plane = layer.p() * layer.q();
  float sums[kEach][kEach] = {};
  for (int first = 0; first < products; first += kStep) {
    for (int e = threadIdx.x; e < kStep * kTile; e += kSide * kSide) {
      const int filter = blockIdx.y * kTile + e / kStep, j = first + e % kStep;
      const bool exists = filter < layer.k && j < products;
      of_f[e % kStep][e / kStep] = exists ? f[filter * products + j] : 0.0f;
      of_x[e / kTile][e % kTile] =
          pixel_of(x, layer, first + e / kTile, blockIdx.x * kTile + e % kTile);
    }
    __syncthreads();
    for (int j = 0; j < kStep; ++j) {
      for (int a = 0; a < kEach; ++a) {
        for (int b = 0; b < kEach; ++b) {
          sums[a][b] += of_f[j][ty + kSide * a] * of_x[j][tx + kSide * b];
        }
      }
    }
    __syncthreads();
  }
  for (int a = 0; a < kEach; ++a) {
    for (int b = 0; b < kEach; ++b) {
      const int filter = blockIdx.y * kTile + ty + kSide * a;
      const int pixel = blockIdx.x * kTile + tx + kSide * b;
      if (filter < layer.k && pixel < layer.n * plane) {
        y[(pixel / plane * layer.k + filter) * plane + pixel % plane] = sums[a][b];
      }
    }
  }
}

}  // namespace

void launch_conv2d_implicit_gemm(const float* d_x, const float* d_f, float* d_y,
                                 const ConvLayer& layer, ConvTile tile) {
  if (tile == ConvTile::kBySize && quads::are_best_for(layer)) {
    quads::launch<ByMatrix>(d_x, d_f, d_y, layer);
    return;
  }
  const int pixels = layer.n * layer.p() * layer.q();
  const dim3 grid((pixels + kTile - 1) / kTile, (layer.k + kTile - 1) / kTile);
  if (pixels > 0) plain<<<grid, kSide * kSide>>>(d_x, d_f, d_y, layer);
}
