// Given code of 12/16 and 12/17: the memory of a fused training step, its kernels one by one, and
// what the kernels share.
#ifndef CHAPTERS_12_MNIST_CNN_16_FASTER_THAN_PYTORCH_SUPPORT_H_
#define CHAPTERS_12_MNIST_CNN_16_FASTER_THAN_PYTORCH_SUPPORT_H_

#include <cuda_runtime.h>

#include <cstddef>

#include "support.h"

// Everything a step works on, in device memory. Between kernels images lie with the channel last,
// so that neighbouring threads, which own neighbouring channels, touch neighbouring floats. All
// sums over the batch are doubles: many blocks add to them in any order, and the float that comes
// out is the same in every run.
struct FusedStep {
  Network network;
  int n;              // images of the batch on this GPU
  int total;          // images of the batch on all GPUs together: what means are taken over
  float rate;         // of learning
  float* parameters;  // as in support.h, but linear1.weight is [hidden][cell][channel]
  float* gradients;   // the same layout, then the loss; used by several GPUs only
  float* loss;        // of the last step

  // A batch in one piece: n images of floats, then n labels of a byte. Two of them: one is used
  // while the next one arrives.
  unsigned char* batch[2];
  double* moments[2];  // of the batch: kMoments sums that the first batch norm is computed from
  size_t batch_bytes;

  double* sums2;     // [2][channels2]: sum and sum of squares of the second convolution
  double* back2;     // [2][channels2]: the two sums of batch norm's backward pass
  double* back1;     // [channels1][10]: sum of dy times each of 9 inputs, and of dy
  size_t sum_count;  // doubles from sums2 on, one piece, that a step starts with as zeros

  float* pool1;          // [n][half][half][channels1], half = image / 2
  unsigned char* from1;  // which of the four was the maximum; 4: none was above 0
  float* conv2;          // [n][half][half][channels2]
  float* pool2;          // [n][cells][channels2], cells = (image / 4)^2
  unsigned char* from2;
  float* dpool2;        // derivative by pool2 where it is alive, else 0
  float* hidden;        // [splits][n][hidden]: parts of the first linear layer, not yet added up
  float* dhidden;       // [n][hidden]
  float* head_parts;    // [head_blocks][head_size()]
  float* conv2_parts;   // [conv2_blocks][weights of conv2]
  float* linear_parts;  // [linear_splits][weights of linear1]
  int splits, cells_per_split, head_blocks, conv2_blocks, linear_splits;
};

constexpr int kMoments = 9 + 45;  // a 3 x 3 window's values and products of two of them
constexpr float kFusedEps = 1e-5f;

inline int cells_of(const Network& net) { return (net.image / 4) * (net.image / 4); }
// Gradients of the last layer, of the hidden biases, and the loss.
inline int head_size(const Network& net) {
  return net.classes * net.hidden + net.hidden + net.classes + 1;
}

// Up to here a batch is small: its work is cut finely, so that every multiprocessor has some.
constexpr int kFewImages = 256;
// Rows of a batch that one part of linear1's weight gradient sums over.
inline int linear_rows(int n) { return n <= kFewImages ? 64 : n <= 4 * kFewImages ? 128 : 512; }

// Allocates and clears; for kMnistNetwork and kNarrowNetwork. free_step() takes it back.
cudaError_t make_step(const Network& network, int n, int total, float rate, FusedStep* step);
void free_step(FusedStep* step);
// Parameters in the order of support.h, to the device and back.
cudaError_t write_parameters(const FusedStep& step, const float* parameters);
cudaError_t read_parameters(const FusedStep& step, float* parameters);

// The kernels in the order of a step; `slot` is the batch's. What each reads and writes is said
// where it is defined: 16_faster_than_pytorch_forward.cu and _backward.cu.
void launch_moments(const FusedStep& step, int slot, cudaStream_t stream);
void launch_convolutions(const FusedStep& step, int slot, cudaStream_t stream);
void launch_head(const FusedStep& step, int slot, cudaStream_t stream);
void launch_linear_input_gradient(const FusedStep& step, cudaStream_t stream);
void launch_linear_weight_gradient(const FusedStep& step, cudaStream_t stream);
void launch_conv_input_gradient(const FusedStep& step, int slot, cudaStream_t stream);
void launch_conv_weight_gradient(const FusedStep& step, cudaStream_t stream);
void launch_fused_update(const FusedStep& step, int slot, cudaStream_t stream);
// The update in two halves, between which several GPUs add up their gradients.
void launch_sum_gradients(const FusedStep& step, int slot, cudaStream_t stream);
void launch_apply_gradients(const FusedStep& step, int slot, cudaStream_t stream);

// ---- for kernels ------------------------------------------------------------------------------
#ifdef __CUDACC__

// A Network as types see it, with what follows from it.
template <int kImage_, int kC1_, int kC2_, int kHidden_>
struct FusedNet {
  static constexpr int kImage = kImage_, kC1 = kC1_, kC2 = kC2_, kHidden = kHidden_, kClasses = 10;
  static constexpr int kPixels = kImage * kImage;
  static constexpr int kHalf = kImage / 2;     // rows after the first pooling
  static constexpr int kQuarter = kImage / 4;  // rows after the second one, and of a quadrant
  static constexpr int kHalfPixels = kHalf * kHalf, kCells = kQuarter * kQuarter;
  static constexpr int kFeatures = kC2 * kCells;
  static constexpr Network kNetwork = {kImage, kC1, kC2, kHidden, kClasses};
  static constexpr Parameters kOffsets = parameters_of(kNetwork);
  static constexpr int kW1 = kOffsets.conv1_w.offset, kG1 = kOffsets.bn1_gamma.offset,
                       kB1 = kOffsets.bn1_beta.offset, kW2 = kOffsets.conv2_w.offset,
                       kG2 = kOffsets.bn2_gamma.offset, kB2 = kOffsets.bn2_beta.offset,
                       kW3 = kOffsets.linear1_w.offset, kB3 = kOffsets.linear1_b.offset,
                       kW4 = kOffsets.linear2_w.offset, kB4 = kOffsets.linear2_b.offset;
  static constexpr int kHead = kClasses * kHidden + kHidden + kClasses + 1;
  static constexpr int kW2Size = kC2 * kC1 * 9, kW3Size = kHidden * kFeatures;

  // A plane of half x half pixels in shared memory. A thread owns a quadrant of it and reads
  // kQuarter + 2 columns by 16-byte loads, so a row is stored as two pieces of kSide floats that
  // overlap: [0, x0 ... x(q)] and [x(q-1) ... x(2q-1), 0]. The four floats at the end turn the
  // planes' first banks away from each other.
  static constexpr int kSide = (kQuarter + 2 + 3) / 4 * 4;
  static constexpr int kRow = 2 * kSide;
  static constexpr int kPlane = kHalf * kRow + 4;
};
using MnistFused = FusedNet<28, 16, 32, 128>;
using NarrowFused = FusedNet<12, 4, 8, 32>;

template <class N>
bool is_network(const FusedStep& step) {
  return step.network.image == N::kImage && step.network.channels1 == N::kC1;
}

struct Statistics {
  float mean, inv_std;
};

// Of the values whose sum and sum of squares these are. Differences are taken in double, the root
// in float.
__device__ inline Statistics statistics_of(double sum, double square, double inv_count) {
  const double mean = sum * inv_count, variance = square * inv_count - mean * mean;
  return {static_cast<float>(mean), 1.0f / sqrtf(static_cast<float>(variance) + kFusedEps)};
}

// Of channel c of the second convolution, over all images of all GPUs.
template <class N>
__device__ Statistics statistics2(const double* sums2, int c, int total) {
  return statistics_of(sums2[c], sums2[N::kC2 + c], 1.0 / (double(total) * N::kHalfPixels));
}

// Four neighbouring floats by one 16-byte access.
__device__ __forceinline__ float4 load4(const float* from) {
  return *reinterpret_cast<const float4*>(from);
}
__device__ __forceinline__ void store4(float* to, float a, float b, float c, float d) {
  *reinterpret_cast<float4*>(to) = make_float4(a, b, c, d);
}

// Where the sum of the products of taps a and b lies among the moments.
__device__ inline int moment_of(int a, int b) {
  const int low = min(a, b), high = max(a, b);
  return 9 + low * 9 - low * (low - 1) / 2 + high - low;
}

// taps[c * 9 + t] = what tap t of channel c of the first convolution adds to the sum and to the sum
// of squares of its outputs: y = sum over t of w_t x_t, so y^2 = sum over a, b of w_a w_b x_a x_b.
template <class N>
__device__ void conv1_taps(const float* w1, const double* moments, double (*taps)[2]) {
  for (int i = threadIdx.x; i < N::kC1 * 9; i += blockDim.x) {
    const float* w = w1 + i / 9 * 9;
    const int a = i % 9;
    double products = 0;
#pragma unroll
    for (int b = 0; b < 9; ++b) products += w[b] * moments[moment_of(a, b)];
    taps[i][0] = w[a] * moments[a];
    taps[i][1] = w[a] * products;
  }
}
template <class N>
__device__ Statistics statistics1(const double (*taps)[2], int c, int total) {
  double sum = 0, square = 0;
#pragma unroll
  for (int t = 0; t < 9; ++t) {
    sum += taps[c * 9 + t][0];
    square += taps[c * 9 + t][1];
  }
  return statistics_of(sum, square, 1.0 / (double(total) * N::kPixels));
}

// acc[r][j] += w times the 3 x 3 window around pixel (r, j) of a quadrant of a plane. `in` is the
// row above the quadrant. The row above the upper quadrants (qy = 0) and the one below the lower
// ones are zeros and not stored.
template <class N>
__device__ __forceinline__ void correlate(const float* in, const float (&w)[9], int qy,
                                          float (&acc)[N::kQuarter][N::kQuarter]) {
  constexpr int Q = N::kQuarter;
#pragma unroll
  for (int r = 0; r < Q + 2; ++r) {
    if ((r == 0 && qy == 0) || (r == Q + 1 && qy == 1)) continue;
    float v[N::kSide];  // all lanes of a quadrant read the same 16 bytes: one broadcast
#pragma unroll
    for (int j = 0; j < N::kSide; j += 4) {
      *reinterpret_cast<float4*>(&v[j]) = load4(in + r * N::kRow + j);
    }
#pragma unroll
    for (int ky = 0; ky < 3; ++ky) {
      if (r - ky < 0 || r - ky >= Q) continue;
#pragma unroll
      for (int j = 0; j < Q; ++j) {
#pragma unroll
        for (int kx = 0; kx < 3; ++kx) acc[r - ky][j] += v[j + kx] * w[ky * 3 + kx];
      }
    }
  }
}

// The tile of linear_pooled (12/16): kRows images by all hidden values; a thread owns 4 x 8 of
// them. k runs over the channels of one cell at a time.
template <class N>
struct LinearTile {
  static constexpr int kRows = 64, kThreads = kRows / 4 * (N::kHidden / 8);
  static constexpr int kQuads = kRows * N::kC2 / 4;  // four channels of an image's cell each
  static constexpr int kLoads = (kQuads + kThreads - 1) / kThreads;  // of them per thread
  static constexpr int kStrideA = kRows + 4, kStrideB = N::kHidden + 4;
  float a[N::kC2 * kStrideA];  // [c2][kStrideA]: pooled values
  float b[N::kC2 * kStrideB];  // [c2][kStrideB]: weights

  // Image (in the tile) and first channel of quad e. A warp takes 16 images by 8 channels: it reads
  // whole sectors, and no two lanes store to one bank.
  static __device__ int row_of(int e) { return e / 2 % kRows; }
  static __device__ int channel_of(int e) { return (e / (2 * kRows) * 2 + e % 2) * 4; }

  // The four pixels of each quad's window; 0 where the batch has ended.
  static __device__ __forceinline__ void fetch(const float* conv2, int row0, int n, int cell,
                                               float4 (&y)[kLoads][4]) {
    const int corner = cell / N::kQuarter * 2 * N::kHalf + cell % N::kQuarter * 2;
#pragma unroll
    for (int l = 0; l < kLoads; ++l) {
      const int e = threadIdx.x + l * kThreads, row = row0 + row_of(e);
#pragma unroll
      for (int s = 0; s < 4; ++s) {
        const int pixel = corner + s / 2 * N::kHalf + s % 2;
        y[l][s] = make_float4(0, 0, 0, 0);
        if (e < kQuads && row < n) {
          y[l][s] = load4(&conv2[(size_t(row) * N::kHalfPixels + pixel) * N::kC2 + channel_of(e)]);
        }
      }
    }
  }

  __device__ __forceinline__ void load_weights(const float* params, int cell) {
#pragma unroll
    for (int e = threadIdx.x; e < N::kHidden * N::kC2 / 4; e += kThreads) {
      const int o = e / 2 % N::kHidden, c = (e / (2 * N::kHidden) * 2 + e % 2) * 4;
      const float4 w = load4(&params[N::kW3 + o * N::kFeatures + cell * N::kC2 + c]);
      b[(c + 0) * kStrideB + o] = w.x;
      b[(c + 1) * kStrideB + o] = w.y;
      b[(c + 2) * kStrideB + o] = w.z;
      b[(c + 3) * kStrideB + o] = w.w;
    }
  }

  __device__ __forceinline__ void multiply(float (&acc)[4][8]) const {
    const int tx = threadIdx.x % (N::kHidden / 8), ty = threadIdx.x / (N::kHidden / 8);
#pragma unroll 8
    for (int k = 0; k < N::kC2; ++k) {
      const float4 a4 = load4(&a[k * kStrideA + ty * 4]);
      const float4 low = load4(&b[k * kStrideB + tx * 4]);
      const float4 high = load4(&b[k * kStrideB + N::kHidden / 2 + tx * 4]);
      const float row[4] = {a4.x, a4.y, a4.z, a4.w};
      const float col[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
#pragma unroll
      for (int i = 0; i < 32; ++i) acc[i / 8][i % 8] += row[i / 8] * col[i % 8];
    }
  }

  // hidden: [n][hidden], this block's part.
  static __device__ __forceinline__ void write(const float (&acc)[4][8], float* hidden, int row0,
                                               int n) {
    const int tx = threadIdx.x % (N::kHidden / 8), ty = threadIdx.x / (N::kHidden / 8);
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const int row = row0 + ty * 4 + i / 2, j = i % 2 * 4;
      float* to = &hidden[size_t(row) * N::kHidden + i % 2 * (N::kHidden / 2) + tx * 4];
      if (row < n)
        store4(to, acc[i / 2][j], acc[i / 2][j + 1], acc[i / 2][j + 2], acc[i / 2][j + 3]);
    }
  }
};

#endif  // __CUDACC__

#endif  // CHAPTERS_12_MNIST_CNN_16_FASTER_THAN_PYTORCH_SUPPORT_H_
