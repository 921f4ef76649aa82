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

//~begin 1
namespace {

constexpr int kThreads = 128;
constexpr int kWarp = 32;
constexpr int kOwn = 16;        // channels that come out of a thread, at the four pixels of a patch
constexpr int kChannels = 16;   // that go in, whose weights lie in shared memory at a time
constexpr int kFilters = 32;    // whose gradients a block of mixture_gradient has, for kChannels
constexpr int kPatches = 16;    // whose pixels it has in shared memory at a time
constexpr int kMostParts = 256;  // of the batch

// A matrix: element (to, from) is data[to * to_step + from * from_step].
struct View {
  const float* data;
  int to_step, from_step;
};

// Patch i of 2 x 2 pixels, counted along a row, row by row, image by image.
struct Patch {
  int image, row, col;
  __device__ Patch(int i, int h, int w) {
    const int rows = (h + 1) / 2, cols = (w + 1) / 2;
    image = i / (rows * cols);
    row = i / cols % rows * 2;
    col = i % cols * 2;
  }
};
__host__ __device__ int patches_of(int n, int h, int w) { return n * ((h + 1) / 2) * ((w + 1) / 2); }

// A 3 x 3 filter at the four pixels of a patch, from the window around it.
__device__ void filter_patch(const float (&window)[4][4], const float* filter, float (&z)[4]) {
#pragma unroll
  for (int p = 0; p < 4; ++p) {
    z[p] = 0.0f;
#pragma unroll
    for (int j = 0; j < 9; ++j) z[p] += filter[j] * window[j / 3 + p / 2][j % 3 + p % 2];
  }
}

__device__ void store_patch(float* plane, const Patch& at, int h, int w, const float (&patch)[4]) {
#pragma unroll
  for (int p = 0; p < 4; ++p) {
    const int row = at.row + p / 2, col = at.col + p % 2;
    if (row < h && col < w) plane[row * w + col] = patch[p];
  }
}

// out (n x to x h x w): at every pixel the matrix times the channels of in (n x from x h x w), which
// pass through their filters first where there are any: y of x with them, dz of dy without.
template <bool kFiltered>
__global__ void __launch_bounds__(kThreads)
    mix(const float* in, const float* filters, View matrix, float* out, int n, int from, int h,
        int w, int to) {
  __shared__ float tile[kChannels][kOwn];  // [from][to]
  __shared__ float filter[kChannels][9];
  const int i = blockIdx.x * kThreads + threadIdx.x, first_to = blockIdx.y * kOwn;
  const bool has_patch = i < patches_of(n, h, w);  // no return: barriers follow
  const Patch patch(i, h, w);
  float sums[kOwn][4] = {};  // [to][pixel of the patch]
  for (int first = 0; first < from; first += kChannels) {
    const int count = min(kChannels, from - first);
    __syncthreads();  // read against write: all threads have used the weights before
    for (int e = threadIdx.x; e < count * kOwn; e += kThreads) {
      const int channel = e / kOwn, own = e % kOwn;
      const float* row = matrix.data + (first + channel) * matrix.from_step;
      tile[channel][own] = first_to + own < to ? row[(first_to + own) * matrix.to_step] : 0.0f;
    }
    for (int e = threadIdx.x; kFiltered && e < count * 9; e += kThreads) {
      filter[e / 9][e % 9] = filters[first * 9 + e];
    }
    __syncthreads();  // write against read: the weights are complete
    if (!has_patch) continue;
    for (int channel = 0; channel < count; ++channel) {
      const float* plane = in + (static_cast<size_t>(patch.image) * from + first + channel) * h * w;
      float z[4];
      if (kFiltered) {
        float window[4][4];
        load_window(plane, patch.row, patch.col, h, w, window);
        filter_patch(window, filter[channel], z);
      } else {
        load_patch(plane, patch.row, patch.col, h, w, z);
      }
#pragma unroll
      for (int own = 0; own < kOwn; ++own) {
        for (int p = 0; p < 4; ++p) sums[own][p] += tile[channel][own] * z[p];
      }
    }
  }
  if (!has_patch) return;
#pragma unroll
  for (int own = 0; own < kOwn; ++own) {
    if (first_to + own >= to) break;
    const size_t plane = static_cast<size_t>(patch.image) * to + first_to + own;
    store_patch(out + plane * h * w, patch, h, w, sums[own]);
  }
}

// The images of this block's part of the batch.
__device__ int first_image(int n, int part) {
  return static_cast<int>(static_cast<long long>(n) * part / gridDim.x);
}

// Block (part, channel): dx, which is dz under the filter turned by half a turn, and what the images
// of the part add to df. of_parts: `values` floats for each part, those of df first.
__global__ void __launch_bounds__(kThreads)
    filter_gradients(const float* x, const float* filters, const float* dz, float* dx,
                     float* of_parts, int n, int c, int h, int w, int values) {
  __shared__ float of_warp[kThreads / kWarp][9];
  const int channel = blockIdx.y, begin = first_image(n, blockIdx.x);
  const int count = patches_of(first_image(n, blockIdx.x + 1) - begin, h, w);
  float turned[9], sums[9] = {};
#pragma unroll
  for (int j = 0; j < 9; ++j) turned[j] = filters[channel * 9 + 8 - j];
  for (int i = threadIdx.x; i < count; i += kThreads) {
    const Patch patch(i, h, w);
    const size_t plane = (static_cast<size_t>(begin + patch.image) * c + channel) * h * w;
    float window[4][4], of_x[4];
    load_window(dz + plane, patch.row, patch.col, h, w, window);
    filter_patch(window, turned, of_x);
    store_patch(dx + plane, patch, h, w, of_x);
    const float of_z[4] = {window[1][1], window[1][2], window[2][1], window[2][2]};
    load_window(x + plane, patch.row, patch.col, h, w, window);
#pragma unroll
    for (int j = 0; j < 9; ++j) {
      for (int p = 0; p < 4; ++p) sums[j] += of_z[p] * window[j / 3 + p / 2][j % 3 + p % 2];
    }
  }
#pragma unroll
  for (int j = 0; j < 9; ++j) {
    const float sum = warp_sum(sums[j]);
    if (threadIdx.x % kWarp == 0) of_warp[threadIdx.x / kWarp][j] = sum;
  }
  __syncthreads();  // write against read: the sums of all warps are there
  if (threadIdx.x >= 9) return;
  float sum = 0.0f;
  for (int warp = 0; warp < kThreads / kWarp; ++warp) sum += of_warp[warp][threadIdx.x];
  of_parts[static_cast<size_t>(blockIdx.x) * values + channel * 9 + threadIdx.x] = sum;
}

// Block (part, group of channels, group of filters): what the images of the part add to dm, the
// products of dy and z over all pixels. z is made again.
__global__ void __launch_bounds__(kThreads)
    mixture_gradient(const float* x, const float* filters, const float* dy, float* of_parts, int n,
                     int c, int h, int w, int k, int values) {
  __shared__ float of_z[kChannels][4 * kPatches + 1];  // [channel][pixel]
  __shared__ float of_y[kFilters][4 * kPatches + 1];   // [filter][pixel]
  const int first_channel = blockIdx.y * kChannels, first_filter = blockIdx.z * kFilters;
  const int begin = first_image(n, blockIdx.x);
  const int count = patches_of(first_image(n, blockIdx.x + 1) - begin, h, w);
  const int own_channel = threadIdx.x % 8, own_filter = threadIdx.x / 8;  // and 8 and 16 further
  float sums[2][2] = {};                                                  // [filter][channel]
  for (int first = 0; first < count; first += kPatches) {
    __syncthreads();  // read against write: all threads have used the pixels before
    for (int e = threadIdx.x; e < kPatches * (kChannels + kFilters); e += kThreads) {
      const int i = first + e % kPatches, plane = e / kPatches;
      const Patch patch(i, h, w);
      const size_t image = begin + patch.image;
      const int channel = first_channel + plane, filter = first_filter + plane - kChannels;
      float values_of[4] = {};
      if (plane < kChannels && i < count && channel < c) {
        float window[4][4];
        load_window(x + (image * c + channel) * h * w, patch.row, patch.col, h, w, window);
        filter_patch(window, filters + channel * 9, values_of);
      } else if (plane >= kChannels && i < count && filter < k) {
        load_patch(dy + (image * k + filter) * h * w, patch.row, patch.col, h, w, values_of);
      }
      float* const to = plane < kChannels ? of_z[plane] : of_y[plane - kChannels];
      // A patch may hang over the edge: z is not 0 there, but dy is.
#pragma unroll
      for (int p = 0; p < 4; ++p) to[e % kPatches * 4 + p] = values_of[p];
    }
    __syncthreads();  // write against read: the pixels are complete
#pragma unroll 8
    for (int pixel = 0; pixel < 4 * kPatches; ++pixel) {
#pragma unroll
      for (int s = 0; s < 4; ++s) {
        sums[s / 2][s % 2] +=
            of_y[own_filter + s / 2 * 16][pixel] * of_z[own_channel + s % 2 * 8][pixel];
      }
    }
  }
  float* const of_part = of_parts + static_cast<size_t>(blockIdx.x) * values + 9 * c;
  for (int s = 0; s < 4; ++s) {
    const int filter = first_filter + own_filter + s / 2 * 16;
    const int channel = first_channel + own_channel + s % 2 * 8;
    if (filter < k && channel < c) of_part[filter * c + channel] = sums[s / 2][s % 2];
  }
}

// A warp for each value of df, and then of dm: its parts, in an order that is always the same.
__global__ void add_parts(const float* of_parts, float* df, float* dm, int parts, int c,
                          int values) {
  // Not the threads counted, then divided: their number needs more than 32 bits.
  const int i = blockIdx.x * (kThreads / kWarp) + threadIdx.x / kWarp, lane = threadIdx.x % kWarp;
  if (i >= values) return;
  float sum = 0.0f;
  for (int part = lane; part < parts; part += kWarp) {
    sum += of_parts[static_cast<size_t>(part) * values + i];
  }
  sum = warp_sum(sum);
  if (lane == 0) (i < 9 * c ? df[i] : dm[i - 9 * c]) = sum;
}

int parts_of(int n) { return std::max(1, std::min(n, kMostParts)); }
int groups_of(int count, int size) { return (count + size - 1) / size; }

}  // namespace

//~end
void launch_separable_forward(const float* d_x, const float* d_f, const float* d_m, float* d_y,
                              int n, int c, int h, int w, int k) {
  //~ static_cast<void>(d_x), static_cast<void>(d_f), static_cast<void>(d_m);
  //~ static_cast<void>(d_y), static_cast<void>(n), static_cast<void>(c);
  //~ static_cast<void>(h), static_cast<void>(w), static_cast<void>(k);
  //~begin 1
  if (n == 0) return;
  const dim3 grid(groups_of(patches_of(n, h, w), kThreads), groups_of(k, kOwn));
  mix<true><<<grid, kThreads>>>(d_x, d_f, View{d_m, c, 1}, d_y, n, c, h, w, k);
  //~end
}

size_t separable_scratch(int n, int c, int h, int w, int k) {
  //~ return n + c + h + w + k > 0 ? 0 : 1;
  //~begin 1
  return static_cast<size_t>(n) * c * h * w + static_cast<size_t>(parts_of(n)) * (9 + k) * c;
  //~end
}

void launch_separable_backward(const float* d_x, const float* d_f, const float* d_m,
                               const float* d_dy, float* d_dx, float* d_df, float* d_dm,
                               float* d_scratch, int n, int c, int h, int w, int k) {
  //~ static_cast<void>(d_x), static_cast<void>(d_f), static_cast<void>(d_m);
  //~ static_cast<void>(d_dy), static_cast<void>(d_dx), static_cast<void>(d_df);
  //~ static_cast<void>(d_dm), static_cast<void>(d_scratch), static_cast<void>(n);
  //~ static_cast<void>(c), static_cast<void>(h), static_cast<void>(w), static_cast<void>(k);
  //~begin 1
  float *d_dz = d_scratch, *d_parts = d_scratch + static_cast<size_t>(n) * c * h * w;
  const int parts = parts_of(n), values = (9 + k) * c;
  if (n > 0) {
    const dim3 grid(groups_of(patches_of(n, h, w), kThreads), groups_of(c, kOwn));
    mix<false><<<grid, kThreads>>>(d_dy, nullptr, View{d_m, 1, c}, d_dz, n, k, h, w, c);
  }
  filter_gradients<<<dim3(parts, c), kThreads>>>(d_x, d_f, d_dz, d_dx, d_parts, n, c, h, w, values);
  const dim3 grid(parts, groups_of(c, kChannels), groups_of(k, kFilters));
  mixture_gradient<<<grid, kThreads>>>(d_x, d_f, d_dy, d_parts, n, c, h, w, k, values);
  add_parts<<<groups_of(values, kThreads / kWarp), kThreads>>>(d_parts, d_df, d_dm, parts, c,
                                                               values);
  //~end
}
