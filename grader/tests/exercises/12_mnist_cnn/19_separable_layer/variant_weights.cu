// Accepted: tiles of 64 pixels by 32 results, with z made into shared memory; on the way back z and
// dz lie in scratch memory, and a block sums up each weight over the whole batch.
#include "19_separable_layer.h"

namespace {

constexpr int kThreads = 128, kPixels = 64, kResults = 32, kDepth = 16;

struct Layer {
  int n, c, h, w, k;
  __host__ __device__ int area() const { return h * w; }
};

// Pixel `at` of a plane under a filter, read from its begin (step 1) or from its end (step -1).
__device__ float filtered(const Layer& l, const float* plane, const float* filter, int step,
                          int at) {
  const int row = at / l.w, col = at % l.w;
  float sum = 0.0f;
  for (int r = max(row - 1, 0); r <= min(row + 1, l.h - 1); ++r) {
    for (int s = max(col - 1, 0); s <= min(col + 1, l.w - 1); ++s) {
      sum += filter[step * ((r - row + 1) * 3 + s - col + 1)] * plane[r * l.w + s];
    }
  }
  return sum;
}

// out[to] = sum of matrix[to * to_step + from * from_step] times in[from], filtered if f is given.
// A thread has four pixels, 16 apart, and four results, 8 apart.
__global__ void __launch_bounds__(kThreads)
    product(Layer l, const float* in, const float* f, const float* matrix, int to_step,
            int from_step, float* out, int from, int to) {
  __shared__ float of_in[kDepth][kPixels];
  __shared__ float weights[kDepth][kResults];
  const int first_pixel = blockIdx.x * kPixels, first_result = blockIdx.y * kResults;
  const int own_pixel = threadIdx.x % 16, own_result = threadIdx.x / 16;
  float sums[4][4] = {};  // [result][pixel]
  for (int first = 0; first < from; first += kDepth) {
    for (int e = threadIdx.x; e < kDepth * kPixels; e += kThreads) {
      const int channel = first + e / kPixels, pixel = first_pixel + e % kPixels;
      float value = 0.0f;
      if (channel < from && pixel < l.n * l.area()) {
        const int at = pixel % l.area();
        const float* plane =
            in + (static_cast<size_t>(pixel / l.area()) * from + channel) * l.area();
        value = f == nullptr ? plane[at] : filtered(l, plane, f + channel * 9, 1, at);
      }
      of_in[e / kPixels][e % kPixels] = value;
    }
    for (int e = threadIdx.x; e < kDepth * kResults; e += kThreads) {
      const int channel = first + e / kResults, result = first_result + e % kResults;
      const bool exists = channel < from && result < to;
      weights[e / kResults][e % kResults] =
          exists ? matrix[result * to_step + channel * from_step] : 0.0f;
    }
    __syncthreads();
#pragma unroll
    for (int d = 0; d < kDepth; ++d) {
      for (int s = 0; s < 16; ++s) {
        sums[s / 4][s % 4] +=
            weights[d][own_result + s / 4 * 8] * of_in[d][own_pixel + s % 4 * 16];
      }
    }
    __syncthreads();
  }
  for (int s = 0; s < 16; ++s) {
    const int pixel = first_pixel + own_pixel + s % 4 * 16;
    const int result = first_result + own_result + s / 4 * 8;
    if (pixel >= l.n * l.area() || result >= to) continue;
    const size_t plane = static_cast<size_t>(pixel / l.area()) * to + result;
    out[plane * l.area() + pixel % l.area()] = sums[s / 4][s % 4];
  }
}

__global__ void filter_planes(Layer l, const float* in, const float* f, int step, float* out) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= l.n * l.c * l.area()) return;
  const int plane = i / l.area();
  const float* filter = f + plane % l.c * 9 + (step < 0 ? 8 : 0);
  out[i] = filtered(l, in + static_cast<size_t>(plane) * l.area(), filter, step, i % l.area());
}

__device__ float block_sum(float value) {
  __shared__ float values[kThreads];
  values[threadIdx.x] = value;
  for (int half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) values[threadIdx.x] += values[threadIdx.x + half];
  }
  return values[0];
}

// A block for each weight of f: j in blockIdx.x % 9.
__global__ void sum_df(Layer l, const float* x, const float* dz, float* df) {
  const int channel = blockIdx.x / 9, down = blockIdx.x % 9 / 3 - 1, right = blockIdx.x % 3 - 1;
  float sum = 0.0f;
  for (int i = threadIdx.x; i < l.n * l.area(); i += kThreads) {
    const size_t first = (static_cast<size_t>(i / l.area()) * l.c + channel) * l.area();
    const int row = i / l.w % l.h + down, col = i % l.w + right;
    if (row < 0 || row >= l.h || col < 0 || col >= l.w) continue;
    sum += dz[first + i % l.area()] * x[first + row * l.w + col];
  }
  sum = block_sum(sum);
  if (threadIdx.x == 0) df[blockIdx.x] = sum;
}

// A block for each weight of m.
__global__ void sum_dm(Layer l, const float* z, const float* dy, float* dm) {
  const int channel = blockIdx.x % l.c, filter = blockIdx.x / l.c;
  float sum = 0.0f;
  for (int i = threadIdx.x; i < l.n * l.area(); i += kThreads) {
    const size_t image = i / l.area(), at = i % l.area();
    sum += dy[(image * l.k + filter) * l.area() + at] * z[(image * l.c + channel) * l.area() + at];
  }
  sum = block_sum(sum);
  if (threadIdx.x == 0) dm[blockIdx.x] = sum;
}

int over(int count, int size) { return (count + size - 1) / size; }

}  // namespace

void launch_separable_forward(const float* d_x, const float* d_f, const float* d_m, float* d_y,
                              int n, int c, int h, int w, int k) {
  const dim3 grid(over(n * h * w, kPixels), over(k, kResults));
  if (n == 0) return;
  product<<<grid, kThreads>>>(Layer{n, c, h, w, k}, d_x, d_f, d_m, c, 1, d_y, c, k);
}

size_t separable_scratch(int n, int c, int h, int w, int) {
  return 2 * static_cast<size_t>(n) * c * h * w;
}

void launch_separable_backward(const float* d_x, const float* d_f, const float* d_m,
                               const float* d_dy, float* d_dx, float* d_df, float* d_dm,
                               float* d_scratch, int n, int c, int h, int w, int k) {
  const Layer l = {n, c, h, w, k};
  const int count = n * c * h * w;
  float *d_z = d_scratch, *d_dz = d_scratch + count;
  if (n > 0) {
    const dim3 grid(over(n * h * w, kPixels), over(c, kResults));
    product<<<grid, kThreads>>>(l, d_dy, nullptr, d_m, 1, c, d_dz, k, c);
    filter_planes<<<over(count, kThreads), kThreads>>>(l, d_x, d_f, 1, d_z);
    filter_planes<<<over(count, kThreads), kThreads>>>(l, d_dz, d_f, -1, d_dx);
  }
  sum_df<<<c * 9, kThreads>>>(l, d_x, d_dz, d_df);
  sum_dm<<<k * c, kThreads>>>(l, d_z, d_dy, d_dm);
}
