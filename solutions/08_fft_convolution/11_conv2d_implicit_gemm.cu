// 08/11 Conv2d, implicit GEMM: a layer as a matrix product whose right factor is never stored.
//   y = f X: f is k x (c r s), as it lies in memory. X is (c r s) x (n p q): its column for an
//   output pixel lists the pixels of x under the filter, one for each product. Product j lies
//   `offset` floats after the pixel under the filter's first weight, and the offset depends on j
//   alone: a table of taps replaces X. Only tiles of X are made, in shared memory, by copies of one
//   float. The rest is the product of 10 and of chapter 07: a thread makes 8 filters x kOwn pixels.
//   Layers of 9 to 16 channels under 3 x 3 filters have a kernel with fewer multiplications.
//   TODOs  5
#include "11_conv2d_implicit_gemm.h"
#include "11_conv2d_implicit_gemm_support.h"
#include "support.h"

namespace {

constexpr int kThreads = 128;    // of a block: four warps
constexpr int kOwnFilters = 8;   // of a thread
constexpr int kWarpPixels = 64;  // of a warp

// A tile of kFilters x kPixels, kOwn pixels per thread, in steps of kStep products. kStages tiles
// of each factor: one is multiplied, the others are on their way. kBlocks fit on a multiprocessor.
template <int kFilters, int kPixels, int kOwn, int kStep, int kStages, int kBlocks>
__global__ void __launch_bounds__(kThreads, kBlocks)
    conv2d_implicit_gemm(const float* x, const float* f, float* y, ConvLayer layer) {
  extern __shared__ float4 memory[];
  auto& tiles = *reinterpret_cast<ConvTiles<kFilters, kPixels, kStep, kStages>*>(memory);
  constexpr int kColumns = kPixels / kThreads;  // of X, copied by a thread
  constexpr int kLanesX = kWarpPixels / kOwn, kLanesY = 32 / kLanesX;
  constexpr int kWarpFilters = kLanesY * kOwnFilters, kWarpsX = kPixels / kWarpPixels;
  const int t = threadIdx.x, warp = t / 32, lane = t % 32;
  const int first_filter = blockIdx.y * kFilters, first_pixel = blockIdx.x * kPixels;
  const int products = layer.c * layer.r * layer.s, steps = (products + kStep - 1) / kStep;

  Column column[kColumns];
#pragma unroll
  for (int i = 0; i < kColumns; ++i) {
    column[i] = column_of(x, layer, first_pixel + t + i * kThreads);
  }
  const auto describe = [&](int step) {  // thread t describes product t of the step
    if (t >= kStep) return;
    Tap tap = {0, kNoProduct};
    //~ // TODO(1): tap describes product step * kStep + t of every output, if there is one: how far its
    //~ // pixel lies behind that under the first weight, and which parts of the filter it belongs to
    //~ // (about 5 lines).
    //~begin 1
    const int j = step * kStep + t;
    if (j < products) {
      const int s = j % layer.s, r = j / layer.s % layer.r, c = j / (layer.s * layer.r);
      tap = {(c * layer.h + r) * layer.w + s, 1u << r | 1u << (16 + s)};
    }
    //~end
    tiles.taps[step % 2][t] = tap;
  };
  const auto gather = [&](int step, int stage) {
#pragma unroll
    for (int j = 0; j < kStep; ++j) {
      const Tap tap = tiles.taps[step % 2][j];
#pragma unroll
      for (int i = 0; i < kColumns; ++i) {
        float* to = &tiles.x[stage][j][t + i * kThreads];
        //~ // TODO(2): The element of X is on its way to `to` (copy_or_zero_async, support.h): a pixel,
        //~ // or a zero where the filter hangs over the edge (about 2 lines).
        //~ static_cast<void>(column[i].corner), static_cast<void>(tap.offset);
        //~ *to = 0.0f;
        //~begin 2
        const bool inside = (column[i].outside & tap.parts) == 0;
        copy_or_zero_async(to, column[i].corner + tap.offset, inside);
        //~end
      }
    }
  };
  WeightLoads<kFilters, kStep, kThreads, (kFilters > 32)> weights;
  // This thread's filters: from_f + 0 .. 3, and 4 kLanesY later. Its pixels: from_x + 0 .. 3, and
  // so on, 4 kLanesX apart.
  const int from_f = warp / kWarpsX * kWarpFilters + lane / kLanesX * 4;
  const int from_x = warp % kWarpsX * kWarpPixels + lane % kLanesX * 4;
  float sums[kOwnFilters][kOwn] = {};
  describe(0);
  int stage = 0, next = 0;  // tiles that are multiplied, and that are filled
  for (int step = 1 - kStages; step < steps; ++step) {
    wait_for_copies<kStages - 2>();
    __syncthreads();  // taps and tiles of this step are complete, those of the last are free
    const int ahead = step + kStages - 1;
    if (ahead < steps) {
      gather(ahead, next);
      weights.load(f, layer.k, products, first_filter, ahead);
      describe(ahead + 1);
    }
    close_copy_group();
    if (step < 0) {  // nothing to multiply yet
      if (ahead < steps) weights.store_all(tiles.f[next]);
      ++next;
      continue;
    }
    float4 u[2][kOwnFilters / 4], v[2][kOwn / 4];  // of this product and the next
    const auto fetch = [&](int j) {
      load_groups<4 * kLanesY>(u[j % 2], &tiles.f[stage][j][from_f]);
      load_groups<4 * kLanesX>(v[j % 2], &tiles.x[stage][j][from_x]);
    };
    //~ // TODO(3): All products of this step are in sums: for each of kStep, kOwnFilters weights times
    //~ // kOwn pixels, fetched a product ahead. The weights of the tile that is filled are stored by
    //~ // the last line, all at once; in groups, between the products, nothing waits (about 12 lines).
    //~ fetch(0);
    //~ sums[0][0] += u[0][0].x * v[0][0].x;
    //~ if (ahead < steps) weights.store_all(tiles.f[next]);
    //~begin 3
    fetch(0);
#pragma unroll
    for (int j = 0; j < kStep; ++j) {
      if (j + 1 < kStep) fetch(j + 1);
      const float* of_f = reinterpret_cast<const float*>(u[j % 2]);
      const float* of_x = reinterpret_cast<const float*>(v[j % 2]);
      for (int a = 0; a < kOwnFilters; ++a) {
        for (int b = 0; b < kOwn; ++b) sums[a][b] += of_f[a] * of_x[b];
      }
      // One group of weights after the other, late: they have arrived, and the stores do not crowd.
      const int i = j - (kStep - weights.kCount);
      if (i >= 0 && ahead < steps) weights.store(i, tiles.f[next]);
    }
    //~end
    stage = stage + 1 == kStages ? 0 : stage + 1;
    next = next + 1 == kStages ? 0 : next + 1;
  }
  const int plane = layer.p() * layer.q(), pixels = layer.n * plane;
  const bool four = plane % 4 == 0;  // then groups of four lie in one plane, aligned to 16 bytes
#pragma unroll
  for (int b = 0; b < kOwn; ++b) {
    const int pixel = first_pixel + from_x + b / 4 * (4 * kLanesX) + b % 4;
    //~ // TODO(4): `to` is where filter 0 has this pixel in y, if there is one (about 2 lines).
    //~ float* to = y + pixel;
    //~begin 4
    const int image = pixel / plane;
    float* to = y + static_cast<size_t>(image) * layer.k * plane + pixel % plane;
    //~end
    if (pixel >= pixels) continue;
#pragma unroll
    for (int a = 0; a < kOwnFilters; ++a) {
      const int filter = first_filter + from_f + a / 4 * (4 * kLanesY) + a % 4;
      float* result = to + static_cast<size_t>(filter) * plane;
      if (filter < layer.k) store_of_group(result, &sums[a][b / 4 * 4], b % 4, four);
    }
  }
}

// Turns 4 x 4 pixels of a channel into the factors of 16 products: the support file says how.
struct TransformPixels {
  __device__ void operator()(float (&d)[4][4]) const {
    //~ // TODO(5): d has the factors of the 16 products: the sums of pixels that the support file writes
    //~ // down for four in a line, made of every column and then of every row (about 8 lines).
    //~begin 5
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const float d0 = d[0][j], d1 = d[1][j], d2 = d[2][j], d3 = d[3][j];
      d[0][j] = d0 - d2, d[1][j] = d1 + d2, d[2][j] = d2 - d1, d[3][j] = d1 - d3;
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float d0 = d[i][0], d1 = d[i][1], d2 = d[i][2], d3 = d[i][3];
      d[i][0] = d0 - d2, d[i][1] = d1 + d2, d[i][2] = d2 - d1, d[i][3] = d1 - d3;
    }
    //~end
  }
};

template <int kFilters, int kPixels, int kOwn, int kStep, int kStages, int kBlocks>
void launch(const float* d_x, const float* d_f, float* d_y, const ConvLayer& layer) {
  const auto kernel = conv2d_implicit_gemm<kFilters, kPixels, kOwn, kStep, kStages, kBlocks>;
  constexpr int kBytes = sizeof(ConvTiles<kFilters, kPixels, kStep, kStages>);
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes);
  const int pixels = layer.n * layer.p() * layer.q();
  const dim3 grid((pixels + kPixels - 1) / kPixels, (layer.k + kFilters - 1) / kFilters);
  if (pixels > 0) kernel<<<grid, kThreads, kBytes>>>(d_x, d_f, d_y, layer);
}

}  // namespace

void launch_conv2d_implicit_gemm(const float* d_x, const float* d_f, float* d_y,
                                 const ConvLayer& layer, ConvTile tile) {
  if (tile == ConvTile::kBySize && quads::are_best_for(layer)) {
    return quads::launch<TransformPixels>(d_x, d_f, d_y, layer);
  }
  tile = tile_for(layer, d_f, tile);
  if (tile == ConvTile::k64x256) launch<64, 256, 16, 16, 3, 2>(d_x, d_f, d_y, layer);
  if (tile == ConvTile::k64x128) launch<64, 128, 8, 16, 3, 3>(d_x, d_f, d_y, layer);
  if (tile == ConvTile::k32x256) launch<32, 256, 8, 16, 3, 3>(d_x, d_f, d_y, layer);
  if (tile == ConvTile::k16x256) launch<16, 256, 4, 12, 2, 4>(d_x, d_f, d_y, layer);
}
