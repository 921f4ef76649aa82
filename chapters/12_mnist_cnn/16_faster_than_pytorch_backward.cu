// Given code of 12/16 and 12/17: the kernels of a fused step from the derivative of the hidden
// layer to the update. Those before it lie in 16_faster_than_pytorch_forward.cu.
#include <cuda_pipeline.h>

#include <algorithm>

#include "16_faster_than_pytorch_support.h"

namespace fused {

// ---- first linear layer ------------------------------------------------------------------------

template <class N, int kRows_, int kTile_>
struct LinearBackward {
  static constexpr int kRows = kRows_, kTile = kTile_;  // of a block, of a thread
  static constexpr int kThreads = kRows / kTile * (N::kC2 / 4);
  static constexpr int kStride = kRows + 4;
  static constexpr int kBytes = 4 * N::kHidden * (kStride + 2 * N::kC2);
};

__device__ __forceinline__ void load_tile(const float* from, float (&to)[2]) {
  *reinterpret_cast<float2*>(to) = *reinterpret_cast<const float2*>(from);
}
__device__ __forceinline__ void load_tile(const float* from, float (&to)[4]) {
  *reinterpret_cast<float4*>(to) = load4(from);
}

// Derivative by the pooled maps, zero where ReLU or pooling let nothing through, and the two sums
// that batch norm's backward pass needs. A block takes kRows images and one cell after another; the
// weights of the next cell arrive during the products of this one.
template <class N, int kRows, int kTile>
__global__ void __launch_bounds__(LinearBackward<N, kRows, kTile>::kThreads)
    linear_input_gradient(const float* __restrict__ dhidden, const float* __restrict__ params,
                          const float* __restrict__ conv2, const double* sums2,
                          const unsigned char* __restrict__ from2, float* dpool2, double* back2,
                          int n, int total, int cells_per_block) {
  using Shape = LinearBackward<N, kRows, kTile>;
  constexpr int kThreads = Shape::kThreads, kStride = Shape::kStride;
  constexpr int H = N::kHalf, Q = N::kQuarter, C = N::kC2, O = N::kHidden;
  extern __shared__ float4 shared[];
  float* rows = reinterpret_cast<float*>(shared);  // [hidden][kStride]: dhidden, transposed
  float* weights = rows + O * kStride;             // [2][hidden][c2]
  __shared__ float mean[C], inv_std[C];
  __shared__ float parts[2][kThreads / (C / 4)][C];
  const int tid = threadIdx.x, row0 = blockIdx.x * kRows;
  const int first = blockIdx.y * cells_per_block, last = min(N::kCells, first + cells_per_block);
  const auto fetch_weights = [&](int cell) {
    float* to = weights + (cell - first) % 2 * O * C;
    for (int e = tid; e < O * C / 4; e += kThreads) {
      const int o = e / (C / 4), c = e % (C / 4) * 4;
      __pipeline_memcpy_async(&to[o * C + c], &params[N::kW3 + o * N::kFeatures + cell * C + c],
                              16);
    }
    __pipeline_commit();
  };
  fetch_weights(first);
  for (int c = tid; c < C; c += kThreads) {
    const Statistics s = statistics2<N>(sums2, c, total);
    mean[c] = s.mean;
    inv_std[c] = s.inv_std;
  }
#pragma unroll 4
  for (int e = tid; e < kRows * O / 4; e += kThreads) {
    // 16 rows by 8 columns per warp: whole sectors are read, and no two lanes store to one bank.
    const int row = e / 2 % kRows, o = (e / (2 * kRows) * 2 + e % 2) * 4;
    float4 d = make_float4(0, 0, 0, 0);
    if (row0 + row < n) d = load4(&dhidden[size_t(row0 + row) * O + o]);
    rows[(o + 0) * kStride + row] = d.x;
    rows[(o + 1) * kStride + row] = d.y;
    rows[(o + 2) * kStride + row] = d.z;
    rows[(o + 3) * kStride + row] = d.w;
  }
  const int tx = tid % (C / 4), ty = tid / (C / 4), c0 = tx * 4;
  float sum[4] = {}, dot[4] = {};
  for (int cell = first; cell < last; ++cell) {
    if (cell + 1 < last) fetch_weights(cell + 1);
    // What the end of this cell needs is on its way during the products.
    const int corner = cell / Q * 2 * H + cell % Q * 2;
    float y[kTile][4];
    unsigned alive = 0;  // bit i * 4 + j
#pragma unroll
    for (int i = 0; i < kTile; ++i) {
      const int row = row0 + ty * kTile + i;
      uchar4 from4 = make_uchar4(4, 4, 4, 4);
      if (row < n) {
        const size_t at = (size_t(row) * N::kCells + cell) * C + c0;
        from4 = *reinterpret_cast<const uchar4*>(&from2[at]);
      }
      const int from[4] = {from4.x, from4.y, from4.z, from4.w};
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        y[i][j] = 0.0f;
        if (from[j] < 4) {
          const int pixel = corner + from[j] / 2 * H + from[j] % 2;
          y[i][j] = conv2[(size_t(row) * N::kHalfPixels + pixel) * C + c0 + j];
          alive |= 1u << (i * 4 + j);
        }
      }
    }
    __pipeline_wait_prior(cell + 1 < last ? 1 : 0);
    __syncthreads();  // everybody's part of this cell's weights; at first also rows and statistics
    const float* now = weights + (cell - first) % 2 * O * C;
    float acc[kTile][4] = {};
#pragma unroll 8
    for (int o = 0; o < O; ++o) {
      float a[kTile];
      load_tile(&rows[o * kStride + ty * kTile], a);
      const float4 b4 = load4(&now[o * C + c0]);
      const float b[4] = {b4.x, b4.y, b4.z, b4.w};
#pragma unroll
      for (int i = 0; i < kTile * 4; ++i) acc[i / 4][i % 4] += a[i / 4] * b[i % 4];
    }
#pragma unroll
    for (int i = 0; i < kTile; ++i) {
      const int row = row0 + ty * kTile + i;
      if (row >= n) continue;
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        if ((alive >> (i * 4 + j) & 1) == 0) acc[i][j] = 0.0f;
        sum[j] += acc[i][j];
        dot[j] += acc[i][j] * (y[i][j] - mean[c0 + j]) * inv_std[c0 + j];
      }
      store4(&dpool2[(size_t(row) * N::kCells + cell) * C + c0], acc[i][0], acc[i][1], acc[i][2],
             acc[i][3]);
    }
    __syncthreads();  // this cell's weights are read; the fetch after the next overwrites them
  }
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    parts[0][ty][c0 + j] = sum[j];
    parts[1][ty][c0 + j] = dot[j];
  }
  __syncthreads();  // parts of all threads
  for (int i = tid; i < 2 * C; i += kThreads) {
    double value = 0;
#pragma unroll
    for (int j = 0; j < kThreads / (C / 4); ++j) value += parts[i / C][j][i % C];
    atomicAdd(&back2[i], value);
  }
}

// linear_parts[split][o][cell][c] = sum over the split's images of dhidden[.][o] *
// pool2[.][cell][c].
template <class N>
__global__ void __launch_bounds__(N::kHidden / 8 * (N::kC2 / 4))
    linear_weight_gradient(const float* __restrict__ dhidden, const float* __restrict__ pool2,
                           float* linear_parts, int n, int rows_per_split) {
  constexpr int C = N::kC2, O = N::kHidden, kThreads = O / 8 * (C / 4), kRows = 32;
  __shared__ float a_rows[kRows * O];  // of dhidden
  __shared__ float b_rows[kRows * C];  // of this cell's pool2
  const int tid = threadIdx.x, cell = blockIdx.x;
  const int first = blockIdx.y * rows_per_split, last = min(n, first + rows_per_split);
  const int tx = tid % (C / 4), ty = tid / (C / 4);
  const float4 zeros = make_float4(0, 0, 0, 0);
  float acc[8][4] = {};
  for (int row0 = first; row0 < last; row0 += kRows) {
    __syncthreads();  // the rows before are read
#pragma unroll
    for (int e = tid; e < kRows * O / 4; e += kThreads) {
      const int row = row0 + e / (O / 4), o = e % (O / 4) * 4;
      const float4 d = row < last ? load4(&dhidden[size_t(row) * O + o]) : zeros;
      *reinterpret_cast<float4*>(&a_rows[e * 4]) = d;
    }
#pragma unroll
    for (int e = tid; e < kRows * C / 4; e += kThreads) {
      const int row = row0 + e / (C / 4), c = e % (C / 4) * 4;
      const float4 v = row < last ? load4(&pool2[(size_t(row) * N::kCells + cell) * C + c]) : zeros;
      *reinterpret_cast<float4*>(&b_rows[e * 4]) = v;
    }
    __syncthreads();  // these rows are complete
#pragma unroll 8
    for (int r = 0; r < kRows; ++r) {
      const float4 low = load4(&a_rows[r * O + ty * 4]);
      const float4 high = load4(&a_rows[r * O + O / 2 + ty * 4]);
      const float4 b4 = load4(&b_rows[r * C + tx * 4]);
      const float a[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
      const float b[4] = {b4.x, b4.y, b4.z, b4.w};
#pragma unroll
      for (int i = 0; i < 32; ++i) acc[i / 4][i % 4] += a[i / 4] * b[i % 4];
    }
  }
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const int o = i / 4 * (O / 2) + ty * 4 + i % 4;
    store4(&linear_parts[(size_t(blockIdx.y) * O + o) * N::kFeatures + cell * C + tx * 4],
           acc[i][0], acc[i][1], acc[i][2], acc[i][3]);
  }
}

// ---- second convolution ------------------------------------------------------------------------

// Batch norm's backward pass with its two sums known: the derivative by the convolution's output y
// is a * dz + b * y + d, where dz is dpool2 at the pixel that won and 0 at the others.
template <class N>
struct NormBackward {
  float a[N::kC2], b[N::kC2], d[N::kC2];

  __device__ void set(const float* params, const double* sums2, const double* back2, int total) {
    for (int c = threadIdx.x; c < N::kC2; c += blockDim.x) {
      const double inv_count = 1.0 / (double(total) * N::kHalfPixels);
      const Statistics s = statistics2<N>(sums2, c, total);
      const float g = params[N::kG2 + c] * s.inv_std;
      const float mean_dz = static_cast<float>(back2[c] * inv_count);
      const float mean_dot = static_cast<float>(back2[N::kC2 + c] * inv_count);
      a[c] = g;
      b[c] = -g * s.inv_std * mean_dot;
      d[c] = g * (s.mean * s.inv_std * mean_dot - mean_dz);
    }
  }
};

template <class N, int kSplit>
struct ConvInputGradient {
  static constexpr int kSlots = 4 * N::kC1, kThreads = kSlots * kSplit;
  static constexpr int kImageStride = N::kImage + 4;
  // floats in shared memory
  static constexpr int kWeights = N::kC2 * 9 * N::kC1, kInput = (N::kImage + 2) * kImageStride;
  static constexpr int kPlanes = N::kC2 * N::kPlane, kSwap = kSplit * N::kCells * kSlots;
  static constexpr int kRoom = kPlanes > kSwap ? kPlanes : kSwap;  // first one, then the other
  static constexpr int kBytes = 4 * (kWeights + kInput + kRoom);
};

// The derivative by conv2's output of one image, into planes [c2][kPlane] with their zero borders.
template <class N, int kThreads>
__device__ __forceinline__ void load_derivative(const NormBackward<N>& norm, const float* conv2,
                                                const float* dpool2, const unsigned char* from2,
                                                float* planes) {
  constexpr int Q = N::kQuarter, H = N::kHalf, C = N::kC2;
  const int k = threadIdx.x % C;
  const float a = norm.a[k], b = norm.b[k], d = norm.d[k];
#pragma unroll 4
  for (int cell = threadIdx.x / C; cell < N::kCells; cell += kThreads / C) {
    const float dz = a * dpool2[cell * C + k];
    const int from = from2[cell * C + k];
#pragma unroll
    for (int s = 0; s < 4; ++s) {
      const int row = cell / Q * 2 + s / 2, col = cell % Q * 2 + s % 2;
      const float value = b * conv2[(row * H + col) * C + k] + d + (from == s ? dz : 0.0f);
      float* to = planes + k * N::kPlane + row * N::kRow;
      if (col <= Q) to[col + 1] = value;
      if (col >= Q - 1) to[N::kSide + col - (Q - 1)] = value;
    }
  }
  for (int i = threadIdx.x; i < C * H; i += kThreads) {
    float* row = planes + i / H * N::kPlane + i % H * N::kRow;
    row[0] = 0.0f;
    row[N::kSide + Q + 1] = 0.0f;
  }
}

// From conv2's output back to the first block's, through its pooling and ReLU, and on to ten sums
// per channel: of the derivative dz times each of the 9 inputs under its window, and of dz. The
// gradient of the first convolution through its batch norm is a formula of these and the moments of
// the input (update, below), so nothing of the first block's derivative is ever stored.
// Two blocks share a multiprocessor: a third would leave each thread too few registers.
template <class N, int kSplit>
__global__ void __launch_bounds__(ConvInputGradient<N, kSplit>::kThreads, 2)
    conv_input_gradient(const float* __restrict__ x, const float* __restrict__ params,
                        const float* __restrict__ conv2, const float* __restrict__ dpool2,
                        const unsigned char* __restrict__ from2,
                        const unsigned char* __restrict__ from1, const double* sums2,
                        const double* back2, double* back1, int n, int total) {
  using Shape = ConvInputGradient<N, kSplit>;
  constexpr int kThreads = Shape::kThreads, kSlots = Shape::kSlots;
  constexpr int kStride = Shape::kImageStride;
  constexpr int Q = N::kQuarter, H = N::kHalf, C1 = N::kC1, C2 = N::kC2;
  extern __shared__ float4 shared[];
  float* planes = reinterpret_cast<float*>(shared);  // [c2][kPlane]
  float* weights = planes + Shape::kRoom;            // [c2][9][c1], windows turned round
  float* image = weights + Shape::kWeights;          // [image + 2][kStride]
  __shared__ NormBackward<N> norm;
  const int tid = threadIdx.x;
  for (int i = tid; i < Shape::kWeights; i += kThreads) {
    const int k = i / (C1 * 9), c = i / 9 % C1, t = i % 9;
    weights[(k * 9 + 8 - t) * C1 + c] = params[N::kW2 + i];
  }
  for (int i = tid; i < Shape::kInput; i += kThreads) image[i] = 0.0f;
  norm.set(params, sums2, back2, total);
  __syncthreads();  // weights, borders, factors
  const int slot = tid % kSlots, split = tid / kSlots;
  const int c = slot % C1, qx = slot / C1 % 2, qy = slot / C1 / 2;
  float sums[10] = {};
  for (int img = blockIdx.x; img < n; img += gridDim.x) {
    for (int i = tid; i < N::kPixels; i += kThreads) {
      image[(i / N::kImage + 1) * kStride + i % N::kImage + 1] = x[size_t(img) * N::kPixels + i];
    }
    load_derivative<N, kThreads>(norm, conv2 + size_t(img) * N::kHalfPixels * C2,
                                 dpool2 + size_t(img) * N::kFeatures,
                                 from2 + size_t(img) * N::kFeatures, planes);
    __syncthreads();  // image and planes are complete
    float acc[Q][Q] = {};
    const float* in = planes + qx * N::kSide + (qy * Q - 1) * N::kRow;
#pragma unroll 1
    for (int k = split * (C2 / kSplit); k < (split + 1) * (C2 / kSplit); ++k) {
      float w[9];
#pragma unroll
      for (int t = 0; t < 9; ++t) w[t] = weights[(k * 9 + t) * C1 + c];
      correlate<N>(in + k * N::kPlane, w, qy, acc);
    }
    __syncthreads();       // the planes are read
    float* swap = planes;  // [kSplit][cells][kSlots]
#pragma unroll
    for (int i = 0; i < N::kCells; ++i) {
      swap[(split * N::kCells + i) * kSlots + slot] = acc[i / Q][i % Q];
    }
    __syncthreads();  // the parts of all groups
#pragma unroll 4
    for (int i = split; i < N::kCells; i += kSplit) {
      const int row = qy * Q + i / Q, col = qx * Q + i % Q;
      const int from = from1[(size_t(img) * N::kHalfPixels + row * H + col) * C1 + c];
      float dz = 0.0f;
#pragma unroll
      for (int s = 0; s < kSplit; ++s) dz += swap[(s * N::kCells + i) * kSlots + slot];
      if (from < 4) {
        const float* window = image + (2 * row + from / 2) * kStride + 2 * col + from % 2;
#pragma unroll
        for (int t = 0; t < 9; ++t) sums[t] += dz * window[t / 3 * kStride + t % 3];
        sums[9] += dz;
      }
    }
    __syncthreads();  // the exchange is read; the next image overwrites it
  }
  float* parts = planes;  // [kThreads][10]
#pragma unroll
  for (int t = 0; t < 10; ++t) parts[tid * 10 + t] = sums[t];
  __syncthreads();  // sums of all threads
  for (int i = tid; i < C1 * 10; i += kThreads) {
    double value = 0;
#pragma unroll
    for (int j = 0; j < kThreads / C1; ++j) value += parts[(j * C1 + i / 10) * 10 + i % 10];
    atomicAdd(&back1[i], value);
  }
}

template <class N>
struct ConvWeightGradient {
  static constexpr int kPairs = N::kC1 / 2 * (N::kC2 / 2), kThreads = 2 * kPairs;
  // Rows of dy: two pieces that need no overlap.
  static constexpr int kSide = (N::kQuarter + 3) / 4 * 4, kRow = 2 * kSide;
  static constexpr int kPlane = N::kHalf * kRow + 4;
  static constexpr int kBytes = 4 * (N::kC1 * N::kPlane + N::kC2 * kPlane);
};

// One row of a thread's two channels of dy, its half of the columns.
template <class N>
__device__ __forceinline__ void load_row(const float* planes, float (&row)[2][N::kQuarter]) {
  using Shape = ConvWeightGradient<N>;
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    float v[Shape::kSide];
#pragma unroll
    for (int j = 0; j < Shape::kSide; j += 4) {
      *reinterpret_cast<float4*>(&v[j]) = load4(planes + h * (N::kC2 / 2) * Shape::kPlane + j);
    }
#pragma unroll
    for (int j = 0; j < N::kQuarter; ++j) row[h][j] = v[j];
  }
}

// One row of a thread's two channels of x against the rows of dy below, beside and above it.
template <class N>
__device__ __forceinline__ void add_row(const float* planes, const float (&above)[2][N::kQuarter],
                                        const float (&beside)[2][N::kQuarter],
                                        const float (&below)[2][N::kQuarter],
                                        float (&acc)[2][2][9]) {
#pragma unroll
  for (int g = 0; g < 2; ++g) {
    float v[N::kSide];
#pragma unroll
    for (int j = 0; j < N::kSide; j += 4) {
      *reinterpret_cast<float4*>(&v[j]) = load4(planes + g * (N::kC1 / 2) * N::kPlane + j);
    }
#pragma unroll
    for (int i = 0; i < 2 * N::kQuarter * 3; ++i) {
      const int h = i / (N::kQuarter * 3), j = i / 3 % N::kQuarter, kx = i % 3;
      acc[h][g][kx] += below[h][j] * v[j + kx];
      acc[h][g][3 + kx] += beside[h][j] * v[j + kx];
      acc[h][g][6 + kx] += above[h][j] * v[j + kx];
    }
  }
}

// conv2_parts[block] = the weight gradient of the block's images. A thread owns two filters, two
// input channels and one half of the columns: 36 sums that stay in registers over all images.
template <class N>
__global__ void __launch_bounds__(ConvWeightGradient<N>::kThreads)
    conv_weight_gradient(const float* __restrict__ params, const float* __restrict__ pool1,
                         const float* __restrict__ conv2, const float* __restrict__ dpool2,
                         const unsigned char* __restrict__ from2, const double* sums2,
                         const double* back2, float* conv2_parts, int n, int total) {
  using Shape = ConvWeightGradient<N>;
  constexpr int Q = N::kQuarter, H = N::kHalf, C1 = N::kC1, C2 = N::kC2;
  constexpr int kThreads = Shape::kThreads;
  extern __shared__ float4 shared[];
  float* x_planes = reinterpret_cast<float*>(shared);  // [c1][N::kPlane]
  float* dy_planes = x_planes + C1 * N::kPlane;        // [c2][Shape::kPlane]
  __shared__ NormBackward<N> norm;
  const int tid = threadIdx.x;
  norm.set(params, sums2, back2, total);
  for (int i = tid; i < C1 * N::kPlane; i += kThreads) x_planes[i] = 0.0f;
  __syncthreads();  // factors, zeros of the borders
  // Filters k and k + c2 / 2, channels c and c + c1 / 2: lanes are neighbours in k, so in banks.
  const int k = tid % (C2 / 2), c = tid / (C2 / 2) % (C1 / 2), side = tid / Shape::kPairs;
  const float* my_x = x_planes + c * N::kPlane + side * N::kSide;
  const float* my_dy = dy_planes + k * Shape::kPlane + side * Shape::kSide;
  float acc[2][2][9] = {};
  for (int img = blockIdx.x; img < n; img += gridDim.x) {
#pragma unroll 4
    for (int i = tid; i < N::kHalfPixels * C1; i += kThreads) {
      const int row = i / C1 / H, col = i / C1 % H;
      const float value = pool1[size_t(img) * N::kHalfPixels * C1 + i];
      float* to = x_planes + i % C1 * N::kPlane + row * N::kRow;
      if (col <= Q) to[col + 1] = value;
      if (col >= Q - 1) to[N::kSide + col - (Q - 1)] = value;
    }
#pragma unroll 4
    for (int i = tid; i < N::kCells * C2; i += kThreads) {
      const size_t at = size_t(img) * N::kFeatures + i;
      const int channel = i % C2, cell = i / C2, from = from2[at];
      const float dz = norm.a[channel] * dpool2[at];
#pragma unroll
      for (int s = 0; s < 4; ++s) {
        const int row = cell / Q * 2 + s / 2, col = cell % Q * 2 + s % 2;
        const float y = conv2[(size_t(img) * N::kHalfPixels + row * H + col) * C2 + channel];
        const int in_row = col < Q ? col : Shape::kSide + col - Q;
        dy_planes[channel * Shape::kPlane + row * Shape::kRow + in_row] =
            norm.b[channel] * y + norm.d[channel] + (from == s ? dz : 0.0f);
      }
    }
    __syncthreads();      // planes of this image are complete
    float ring[3][2][Q];  // rows of dy: each is read once and used three times
#pragma unroll
    for (int j = 0; j < Q; ++j) ring[2][0][j] = ring[2][1][j] = 0.0f;  // above the first row
    load_row<N>(my_dy, ring[0]);
    const auto advance = [&](int row, float(&above)[2][Q], float(&beside)[2][Q],
                             float(&below)[2][Q]) {
      if (row + 1 < H) {
        load_row<N>(my_dy + (row + 1) * Shape::kRow, below);
      } else {
#pragma unroll
        for (int j = 0; j < Q; ++j) below[0][j] = below[1][j] = 0.0f;
      }
      add_row<N>(my_x + row * N::kRow, above, beside, below, acc);
    };
    int row = 0;
#pragma unroll 1
    for (; row + 3 <= H; row += 3) {
      advance(row, ring[2], ring[0], ring[1]);
      advance(row + 1, ring[0], ring[1], ring[2]);
      advance(row + 2, ring[1], ring[2], ring[0]);
    }
    if (H % 3 > 0) advance(row, ring[2], ring[0], ring[1]);
    if (H % 3 > 1) advance(row + 1, ring[0], ring[1], ring[2]);
    __syncthreads();  // the planes are read
  }
  float* right = x_planes;  // [36][kPairs]: the sums of the right halves
  if (side == 1) {
#pragma unroll
    for (int i = 0; i < 36; ++i)
      right[i * Shape::kPairs + tid % Shape::kPairs] = acc[i / 18][i / 9 % 2][i % 9];
  }
  __syncthreads();  // sums of the right halves
  if (side == 0) {
#pragma unroll
    for (int i = 0; i < 36; ++i) {
      const int filter = k + i / 18 * (C2 / 2), channel = c + i / 9 % 2 * (C1 / 2);
      conv2_parts[size_t(blockIdx.x) * N::kW2Size + (filter * C1 + channel) * 9 + i % 9] =
          acc[i / 18][i / 9 % 2][i % 9] + right[i * Shape::kPairs + tid];
    }
  }
}

// ---- gradients and update ----------------------------------------------------------------------

// kUpdate: parameters -= rate * gradient. For several GPUs first kSum: gradients are written, and
// once they and the sums are added up over the GPUs, kApply.
enum class Phase { kUpdate, kSum, kApply };

constexpr int kUpdateThreads = 256;
constexpr int kColumns = 32;  // gradients per block where many parts are added up

template <class N>
struct UpdateBlocks {
  static constexpr int kLinear = (N::kW3Size / 4 + kUpdateThreads - 1) / kUpdateThreads;
  static constexpr int kConv = (N::kW2Size + kColumns - 1) / kColumns;
  static constexpr int kHead = (N::kHead + kColumns - 1) / kColumns;
  static constexpr int kAll = kLinear + kConv + kHead + 1;
};

// A gradient takes its way: into the array of gradients or into its parameter.
template <Phase phase>
__device__ __forceinline__ void use(const FusedStep& s, int parameter, float gradient) {
  if (phase == Phase::kSum) {
    s.gradients[parameter] = gradient;
  } else {
    s.parameters[parameter] -= s.rate * gradient;
  }
}

// Four weights of linear1 per thread: their few parts are read by 16-byte loads.
template <class N, Phase phase>
__device__ void update_linear(const FusedStep& s, int block) {
  const int i = (block * kUpdateThreads + threadIdx.x) * 4;
  if (i >= N::kW3Size) return;
  float4 sum = make_float4(0, 0, 0, 0);
  if (phase == Phase::kApply) {
    sum = load4(&s.gradients[N::kW3 + i]);
  } else {
#pragma unroll 4
    for (int p = 0; p < s.linear_splits; ++p) {
      const float4 part = load4(&s.linear_parts[size_t(p) * N::kW3Size + i]);
      sum.x += part.x;
      sum.y += part.y;
      sum.z += part.z;
      sum.w += part.w;
    }
  }
  use<phase>(s, N::kW3 + i, sum.x);
  use<phase>(s, N::kW3 + i + 1, sum.y);
  use<phase>(s, N::kW3 + i + 2, sum.z);
  use<phase>(s, N::kW3 + i + 3, sum.w);
}

// Which parameter gradient i of the head is; the loss follows the last one.
template <class N>
__device__ int head_parameter(int i) {
  constexpr int kWeights = N::kClasses * N::kHidden;
  if (i < kWeights) return N::kW4 + i;
  if (i < kWeights + N::kHidden) return N::kB3 + i - kWeights;
  return N::kB4 + i - kWeights - N::kHidden;
}

// kColumns gradients of conv2 or of the head: warps add up every 8th part, then one adds up the
// warps.
template <class N, Phase phase>
__device__ void update_parts(const FusedStep& s, const float* parts, int count, int size, bool conv,
                             int block) {
  constexpr int kSlices = kUpdateThreads / kColumns;
  __shared__ float sums[kSlices][kColumns];
  const int column = threadIdx.x % kColumns, slice = threadIdx.x / kColumns;
  const int i = block * kColumns + column;
  const int parameter = conv ? N::kW2 + i : head_parameter<N>(i);
  if (i < size && phase == Phase::kApply && slice == 0) {
    const float gradient = s.gradients[parameter];
    if (conv || i + 1 < size)
      use<phase>(s, parameter, gradient);
    else
      *s.loss = gradient;
  }
  if (phase == Phase::kApply) return;
  float sum = 0.0f;
  if (i < size) {
#pragma unroll 4
    for (int p = slice; p < count; p += kSlices) sum += parts[size_t(p) * size + i];
  }
  sums[slice][column] = sum;
  __syncthreads();  // sums of all warps
  if (slice > 0 || i >= size) return;
  for (int j = 1; j < kSlices; ++j) sum += sums[j][column];
  if (conv || i + 1 < size || phase == Phase::kSum) {
    use<phase>(s, parameter, sum);
  } else {
    *s.loss = sum;
  }
}

// Both batch norms and the first convolution: formulas of the sums. Then the sums are cleared.
// With xhat = (y - mean) * inv_std and y the convolution, its weight gradient is
//   dw_t = gamma * inv_std * (S_t - mean(dz) * sum(x_t) - mean(dz xhat) * sum(xhat x_t)),
// S_t = sum(dz x_t) from back1; sum(x_t) is a moment; sum(xhat x_t) and sum(dz xhat) follow,
// because y is a sum over the taps.
template <class N>
__device__ void update_first_block(const FusedStep& s, int slot) {
  constexpr int C1 = N::kC1, C2 = N::kC2;
  float* params = s.parameters;
  double* moments = s.moments[slot];
  const int tid = threadIdx.x;
  __shared__ double taps[C1 * 9][2], dot[C1];
  __shared__ Statistics stats[C1];
  for (int c = tid; c < C2; c += kUpdateThreads) {
    params[N::kG2 + c] -= s.rate * static_cast<float>(s.back2[C2 + c]);
    params[N::kB2 + c] -= s.rate * static_cast<float>(s.back2[c]);
  }
  conv1_taps<N>(params + N::kW1, moments, taps);
  __syncthreads();  // taps of all channels
  if (tid < C1) {
    stats[tid] = statistics1<N>(taps, tid, s.total);
    double sum = 0;  // of dz y
    for (int t = 0; t < 9; ++t) sum += params[N::kW1 + tid * 9 + t] * s.back1[tid * 10 + t];
    dot[tid] = (sum - stats[tid].mean * s.back1[tid * 10 + 9]) * stats[tid].inv_std;
  }
  __syncthreads();  // statistics and dots
  float dw = 0.0f;
  if (tid < C1 * 9) {
    const int c = tid / 9, t = tid % 9;
    const double inv_count = 1.0 / (double(s.total) * N::kPixels);
    double y_x = 0;
    for (int b = 0; b < 9; ++b) y_x += params[N::kW1 + c * 9 + b] * moments[moment_of(t, b)];
    const double hat_x = stats[c].inv_std * (y_x - stats[c].mean * moments[t]);
    const double mean_dz = s.back1[c * 10 + 9] * inv_count, mean_dot = dot[c] * inv_count;
    dw = static_cast<float>(params[N::kG1 + c] * stats[c].inv_std *
                            (s.back1[c * 10 + t] - mean_dz * moments[t] - mean_dot * hat_x));
  }
  __syncthreads();  // the old weights are read
  if (tid < C1 * 9) params[N::kW1 + tid] -= s.rate * dw;
  if (tid < C1) {
    params[N::kG1 + tid] -= s.rate * static_cast<float>(dot[tid]);
    params[N::kB1 + tid] -= s.rate * static_cast<float>(s.back1[tid * 10 + 9]);
  }
  __syncthreads();  // the sums are read
  for (int i = tid; i < kMoments; i += kUpdateThreads) moments[i] = 0;
  for (int i = tid; i < static_cast<int>(s.sum_count); i += kUpdateThreads) s.sums2[i] = 0;
}

template <class N, Phase phase>
__global__ void __launch_bounds__(kUpdateThreads) update(FusedStep s, int slot) {
  using Blocks = UpdateBlocks<N>;
  const int block = blockIdx.x;
  if (block < Blocks::kLinear) {
    update_linear<N, phase>(s, block);
  } else if (block < Blocks::kLinear + Blocks::kConv) {
    update_parts<N, phase>(s, s.conv2_parts, s.conv2_blocks, N::kW2Size, true,
                           block - Blocks::kLinear);
  } else if (block < Blocks::kAll - 1) {
    update_parts<N, phase>(s, s.head_parts, s.head_blocks, N::kHead, false,
                           block - Blocks::kLinear - Blocks::kConv);
  } else if (phase != Phase::kSum) {
    update_first_block<N>(s, slot);
  }
}

}  // namespace fused

// ---- launchers ---------------------------------------------------------------------------------

namespace {

int multiprocessors() {
  int device = 0, count = 1;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device);
  return count;
}

const float* images_of(const FusedStep& step, int slot) {
  return reinterpret_cast<const float*>(step.batch[slot]);
}

template <class Kernel>
void allow_shared(Kernel* kernel, int bytes) {
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
}

template <class N, int kRows, int kTile>
void run_linear_input(const FusedStep& s, int cells, cudaStream_t stream) {
  using Shape = fused::LinearBackward<N, kRows, kTile>;
  auto* kernel = fused::linear_input_gradient<N, kRows, kTile>;
  allow_shared(kernel, Shape::kBytes);
  const dim3 blocks((s.n + kRows - 1) / kRows, (N::kCells + cells - 1) / cells);
  kernel<<<blocks, Shape::kThreads, Shape::kBytes, stream>>>(
      s.dhidden, s.parameters, s.conv2, s.sums2, s.from2, s.dpool2, s.back2, s.n, s.total, cells);
}

template <class N>
void choose_linear_input(const FusedStep& s, cudaStream_t stream) {
  if (s.n <= kFewImages) {
    run_linear_input<N, 32, 2>(s, 1, stream);
  } else {
    // As many cells per block as let all blocks run at once.
    run_linear_input<N, 64, 4>(s, s.n <= 4 * kFewImages ? 3 : 9, stream);
  }
}

template <class N>
void run_linear_weight(const FusedStep& s, cudaStream_t stream) {
  const dim3 blocks(N::kCells, s.linear_splits);
  fused::linear_weight_gradient<N><<<blocks, N::kHidden / 8 * (N::kC2 / 4), 0, stream>>>(
      s.dhidden, s.pool2, s.linear_parts, s.n, linear_rows(s.n));
}

template <class N>
void run_conv_input(const FusedStep& s, int slot, cudaStream_t stream) {
  using Shape = fused::ConvInputGradient<N, 4>;
  auto* kernel = fused::conv_input_gradient<N, 4>;
  allow_shared(kernel, Shape::kBytes);
  const int blocks = std::min(s.n, 2 * multiprocessors());  // all at once
  kernel<<<blocks, Shape::kThreads, Shape::kBytes, stream>>>(
      images_of(s, slot), s.parameters, s.conv2, s.dpool2, s.from2, s.from1, s.sums2, s.back2,
      s.back1, s.n, s.total);
}

template <class N>
void run_conv_weight(const FusedStep& s, cudaStream_t stream) {
  using Shape = fused::ConvWeightGradient<N>;
  auto* kernel = fused::conv_weight_gradient<N>;
  allow_shared(kernel, Shape::kBytes);
  kernel<<<s.conv2_blocks, Shape::kThreads, Shape::kBytes, stream>>>(
      s.parameters, s.pool1, s.conv2, s.dpool2, s.from2, s.sums2, s.back2, s.conv2_parts, s.n,
      s.total);
}

template <fused::Phase phase>
void run_update(const FusedStep& s, int slot, cudaStream_t stream) {
  auto* kernel = fused::update<NarrowFused, phase>;
  int blocks = fused::UpdateBlocks<NarrowFused>::kAll;
  if (is_network<MnistFused>(s)) {
    kernel = fused::update<MnistFused, phase>;
    blocks = fused::UpdateBlocks<MnistFused>::kAll;
  }
  kernel<<<blocks, fused::kUpdateThreads, 0, stream>>>(s, slot);
}

}  // namespace

void launch_linear_input_gradient(const FusedStep& step, cudaStream_t stream) {
  if (is_network<MnistFused>(step)) return choose_linear_input<MnistFused>(step, stream);
  choose_linear_input<NarrowFused>(step, stream);
}

void launch_linear_weight_gradient(const FusedStep& step, cudaStream_t stream) {
  if (is_network<MnistFused>(step)) return run_linear_weight<MnistFused>(step, stream);
  run_linear_weight<NarrowFused>(step, stream);
}

void launch_conv_input_gradient(const FusedStep& step, int slot, cudaStream_t stream) {
  if (is_network<MnistFused>(step)) return run_conv_input<MnistFused>(step, slot, stream);
  run_conv_input<NarrowFused>(step, slot, stream);
}

void launch_conv_weight_gradient(const FusedStep& step, cudaStream_t stream) {
  if (is_network<MnistFused>(step)) return run_conv_weight<MnistFused>(step, stream);
  run_conv_weight<NarrowFused>(step, stream);
}

void launch_fused_update(const FusedStep& step, int slot, cudaStream_t stream) {
  run_update<fused::Phase::kUpdate>(step, slot, stream);
}

void launch_sum_gradients(const FusedStep& step, int slot, cudaStream_t stream) {
  run_update<fused::Phase::kSum>(step, slot, stream);
}

void launch_apply_gradients(const FusedStep& step, int slot, cudaStream_t stream) {
  run_update<fused::Phase::kApply>(step, slot, stream);
}
