// Given code of 12/16 and 12/17: memory of a fused step, and its kernels up to the derivative of
// the hidden layer. The backward pass lies in 16_faster_than_pytorch_backward.cu.
#include <algorithm>
#include <vector>

#include "16_faster_than_pytorch_support.h"

namespace fused {

// ---- moments of the input ----------------------------------------------------------------------

// moments[0 .. 9): sums over all pixels of what tap t of a 3 x 3 window sees; then for a <= b the
// sums of the products of taps a and b. The convolution has one input channel, so mean and variance
// of every output channel follow from these 54 numbers and its nine weights: no pass over its
// output, and no waiting for weights, so the moments of a batch are ready before its step begins.
template <class N, int kThreads>
__global__ void __launch_bounds__(kThreads)
    input_moments(const float* __restrict__ x, double* moments, int n) {
  constexpr int kStride = N::kImage + 2;
  __shared__ float image[kStride * kStride];  // with a border of zeros
  __shared__ float parts[kThreads / 32][kMoments];
  const int tid = threadIdx.x;
  for (int i = tid; i < kStride * kStride; i += kThreads) image[i] = 0.0f;
  float sums[kMoments] = {};
  for (int img = blockIdx.x; img < n; img += gridDim.x) {
    __syncthreads();  // the image before is summed up
    for (int i = tid; i < N::kPixels; i += kThreads) {
      image[(i / N::kImage + 1) * kStride + i % N::kImage + 1] = x[size_t(img) * N::kPixels + i];
    }
    __syncthreads();  // this one is complete
    for (int i = tid; i < N::kPixels; i += kThreads) {
      const float* corner = &image[(i / N::kImage) * kStride + i % N::kImage];
      float v[9];
#pragma unroll
      for (int t = 0; t < 9; ++t) v[t] = corner[(t / 3) * kStride + t % 3];
      int k = 9;
#pragma unroll
      for (int a = 0; a < 9; ++a) {
        sums[a] += v[a];
#pragma unroll
        for (int b = a; b < 9; ++b) sums[k++] += v[a] * v[b];
      }
    }
  }
#pragma unroll
  for (int k = 0; k < kMoments; ++k) {
    const float sum = warp_sum(sums[k]);
    if (tid % 32 == 0) parts[tid / 32][k] = sum;
  }
  __syncthreads();  // parts of all warps
  if (tid < kMoments) {
    double sum = 0;
    for (int warp = 0; warp < kThreads / 32; ++warp) sum += parts[warp][tid];
    atomicAdd(&moments[tid], sum);
  }
}

// ---- both convolutions -------------------------------------------------------------------------

// A block computes kC2 / kParts channels of one image after another; its threads are kSplit groups
// that share the input channels of the second convolution. Many parts and groups keep all
// multiprocessors busy when images are few; one of each wastes nothing when they are many.
template <class N, int kParts, int kSplit>
struct ConvForward {
  static constexpr int kChannels = N::kC2 / kParts;
  static constexpr int kSlots = 4 * kChannels;  // quadrants times channels
  static constexpr int kThreads = kSlots * kSplit;
  static constexpr int kImageStride = N::kImage + 4;
  // floats in shared memory
  static constexpr int kWeights = N::kC1 * 9 * kChannels, kPlanes = N::kC1 * N::kPlane,
                       kInput = (N::kImage + 2) * kImageStride,
                       kSwap = kSplit > 1 ? kSplit *N::kCells *kSlots : 0;
  static constexpr int kBytes = 4 * (kWeights + kPlanes + kInput + kSwap);
};

// First convolution, batch norm, ReLU and pool of one image, from `image` (with its border) into
// the planes and to global memory. A thread owns one channel, and half a row of pooled pixels at a
// time.
template <class N, int kStride, int kThreads>
__device__ __forceinline__ void first_block(const float* image, const float (&w)[9], float shift,
                                            float* planes, float* pool1, unsigned char* from1,
                                            bool stores) {
  constexpr int Q = N::kQuarter, H = N::kHalf;
  const int c = threadIdx.x % N::kC1;
  for (int piece = threadIdx.x / N::kC1; piece < 2 * H; piece += kThreads / N::kC1) {
    const int row = piece / 2, side = piece % 2;
    const float* in = image + 2 * row * kStride + side * 2 * Q;
    float* out = planes + c * N::kPlane + row * N::kRow;
    const int at = (row * H + side * Q) * N::kC1 + c;
    float v[4][4];  // the pixels under one window; two columns move on to the next
#pragma unroll
    for (int r = 0; r < 4; ++r) {
      const float2 pair = *reinterpret_cast<const float2*>(in + r * kStride);
      v[r][2] = pair.x;
      v[r][3] = pair.y;
    }
#pragma unroll
    for (int j = 0; j < Q; ++j) {
#pragma unroll
      for (int r = 0; r < 4; ++r) {
        const float2 pair = *reinterpret_cast<const float2*>(in + r * kStride + 2 * j + 2);
        v[r][0] = v[r][2];
        v[r][1] = v[r][3];
        v[r][2] = pair.x;
        v[r][3] = pair.y;
      }
      float best = 0.0f;  // ReLU: what is not above 0 does not win
      int from = 4;
#pragma unroll
      for (int s = 0; s < 4; ++s) {
        float z = shift;
#pragma unroll
        for (int t = 0; t < 9; ++t) z += w[t] * v[s / 2 + t / 3][s % 2 + t % 3];
        if (z > best) {
          best = z;
          from = s;
        }
      }
      out[side * N::kSide + j + 1] = best;
      if (side == 0 && j == Q - 1) out[N::kSide] = best;  // the columns that both pieces hold
      if (side == 1 && j == 0) out[Q + 1] = best;
      if (stores) {
        pool1[at + j * N::kC1] = best;
        from1[at + j * N::kC1] = from;
      }
    }
  }
}

// Scale and shift that batch norm 1 amounts to, in shared memory. All threads call it.
template <class N>
__device__ __forceinline__ void first_norm(const float* params, const double* moments, int total,
                                           float* scale, float* shift) {
  __shared__ double taps[N::kC1 * 9][2];
  conv1_taps<N>(params + N::kW1, moments, taps);
  __syncthreads();  // taps of all channels
  if (threadIdx.x < N::kC1) {
    const int c = threadIdx.x;
    const Statistics s = statistics1<N>(taps, c, total);
    scale[c] = params[N::kG1 + c] * s.inv_std;
    shift[c] = params[N::kB1 + c] - params[N::kG1 + c] * s.inv_std * s.mean;
  }
}

// From the input to the output of the second convolution with its two sums per channel; the first
// block's result goes to global memory for the backward pass only.
template <class N, int kParts, int kSplit>
__global__ void __launch_bounds__(ConvForward<N, kParts, kSplit>::kThreads)
    convolutions(const float* __restrict__ x, const float* __restrict__ params,
                 const double* moments, float* pool1, unsigned char* from1, float* conv2,
                 double* sums2, int n, int total) {
  using Shape = ConvForward<N, kParts, kSplit>;
  constexpr int kThreads = Shape::kThreads, kSlots = Shape::kSlots, K = Shape::kChannels;
  constexpr int kStride = Shape::kImageStride, Q = N::kQuarter, H = N::kHalf;
  extern __shared__ float4 shared[];
  float* weights = reinterpret_cast<float*>(shared);  // [c1][9][K]
  float* planes = weights + Shape::kWeights;          // [c1][kPlane]
  float* image = planes + Shape::kPlanes;             // [image + 2][kStride]
  float* swap = image + Shape::kInput;                // [kSplit][cells][kSlots]
  __shared__ float scale[N::kC1], shift[N::kC1];
  const int tid = threadIdx.x, part = blockIdx.x % kParts;
  for (int i = tid; i < Shape::kWeights; i += kThreads) {
    const int k = i / (N::kC1 * 9), rest = i % (N::kC1 * 9);
    weights[rest * K + k] = params[N::kW2 + part * Shape::kWeights + i];
  }
  for (int i = tid; i < Shape::kPlanes; i += kThreads) planes[i] = 0.0f;
  for (int i = tid; i < Shape::kInput; i += kThreads) image[i] = 0.0f;
  first_norm<N>(params, moments, total, scale, shift);
  __syncthreads();  // scale and shift; zeros of the borders
  float w1[9];      // batch norm's factor is part of the weights
#pragma unroll
  for (int t = 0; t < 9; ++t) {
    w1[t] = params[N::kW1 + tid % N::kC1 * 9 + t] * scale[tid % N::kC1];
  }
  const int slot = tid % kSlots, split = tid / kSlots;
  const int k = slot % K, qy = slot / K / 2, qx = slot / K % 2;
  float sum = 0.0f, square = 0.0f;
  for (int img = blockIdx.x / kParts; img < n; img += gridDim.x / kParts) {
    for (int i = tid; i < N::kPixels; i += kThreads) {
      image[(i / N::kImage + 1) * kStride + i % N::kImage + 1] = x[size_t(img) * N::kPixels + i];
    }
    __syncthreads();  // the image is complete
    const size_t first = size_t(img) * N::kHalfPixels;
    first_block<N, kStride, kThreads>(image, w1, shift[tid % N::kC1], planes,
                                      pool1 + first * N::kC1, from1 + first * N::kC1, part == 0);
    __syncthreads();  // the planes are complete
    float acc[Q][Q] = {};
    const float* in = planes + qx * N::kSide + (qy * Q - 1) * N::kRow;
#pragma unroll 1
    for (int c = split * (N::kC1 / kSplit); c < (split + 1) * (N::kC1 / kSplit); ++c) {
      float w[9];
#pragma unroll
      for (int t = 0; t < 9; ++t) w[t] = weights[(c * 9 + t) * K + k];
      correlate<N>(in + c * N::kPlane, w, qy, acc);
    }
    float* out = conv2 + (first + qy * Q * H + qx * Q) * N::kC2 + part * K + k;
    if (kSplit == 1) {
#pragma unroll
      for (int i = 0; i < N::kCells; ++i) {
        const float y = acc[i / Q][i % Q];
        out[(i / Q * H + i % Q) * N::kC2] = y;
        sum += y;
        square += y * y;
      }
    } else {
#pragma unroll
      for (int i = 0; i < N::kCells; ++i) {
        swap[(split * N::kCells + i) * kSlots + slot] = acc[i / Q][i % Q];
      }
      __syncthreads();  // the parts of all groups
      for (int i = split; i < N::kCells; i += kSplit) {
        float y = 0.0f;
#pragma unroll
        for (int s = 0; s < kSplit; ++s) y += swap[(s * N::kCells + i) * kSlots + slot];
        out[(i / Q * H + i % Q) * N::kC2] = y;
        sum += y;
        square += y * y;
      }
    }
    __syncthreads();  // planes and image are read; the next image may overwrite them
  }
  float* sums = planes;  // [2][kThreads]
  sums[tid] = sum;
  sums[kThreads + tid] = square;
  __syncthreads();  // sums of all threads
  for (int i = tid; i < 2 * K; i += kThreads) {
    double value = 0;
#pragma unroll
    for (int j = 0; j < 4 * kSplit; ++j) value += sums[(i / K * 4 * kSplit + j) * K + i % K];
    atomicAdd(&sums2[i / K * N::kC2 + part * K + i % K], value);
  }
}

// ---- the head ----------------------------------------------------------------------------------

// Adds up the parts of the hidden layer; bias, ReLU, second linear layer, softmax, loss; and back:
// dhidden, and parts [block][kHead] of the gradients of the second layer and the hidden biases and
// of the loss. kShare warps add up one row; one of them goes on with it.
template <class N, int kShare>
__global__ void __launch_bounds__(128)
    head(const float* __restrict__ hidden, const float* __restrict__ params,
         const unsigned char* labels, float* dhidden, float* head_parts, int n, int total,
         int splits) {
  constexpr int O = N::kHidden, K = N::kClasses, F = O / 32;  // F values of a row per lane
  constexpr int kWarps = 4, kRows = kWarps / kShare;
  __shared__ float parts[kRows][N::kHead];
  __shared__ float sums[kWarps][O];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  float w4[K][F], dw4[K][F] = {}, db3[F] = {}, db4[K] = {}, loss = 0.0f;
#pragma unroll
  for (int i = 0; i < K * F; ++i) w4[i / F][i % F] = params[N::kW4 + i / F * O + i % F * 32 + lane];
  for (int row0 = blockIdx.x * kRows; row0 < n; row0 += gridDim.x * kRows) {
    const int row = row0 + warp / kShare;
    float h[F] = {};
    if (row < n) {
#pragma unroll 7
      for (int s = warp % kShare; s < splits; s += kShare) {
#pragma unroll
        for (int f = 0; f < F; ++f) h[f] += hidden[(size_t(s) * n + row) * O + f * 32 + lane];
      }
    }
    if (kShare > 1) {
      __syncthreads();  // the sums before are read
#pragma unroll
      for (int f = 0; f < F; ++f) sums[warp][f * 32 + lane] = h[f];
      __syncthreads();  // sums of all warps
    }
    if (row >= n || warp % kShare != 0) continue;
#pragma unroll
    for (int f = 0; f < F; ++f) {
#pragma unroll
      for (int s = 1; s < kShare; ++s) h[f] += sums[warp + s][f * 32 + lane];
      h[f] = fmaxf(h[f] + params[N::kB3 + f * 32 + lane], 0.0f);
    }
    float logit[K], largest = -INFINITY;
#pragma unroll
    for (int j = 0; j < K; ++j) {
      float product = 0.0f;
#pragma unroll
      for (int f = 0; f < F; ++f) product += h[f] * w4[j][f];
      logit[j] = warp_sum(product) + params[N::kB4 + j];
      largest = fmaxf(largest, logit[j]);
    }
    float power[K], sum = 0.0f;  // of e; every lane has all of them
#pragma unroll
    for (int j = 0; j < K; ++j) {
      power[j] = expf(logit[j] - largest);
      sum += power[j];
    }
    const int label = labels[row];
    const float scale = 1.0f / (sum * total);
#pragma unroll
    for (int j = 0; j < K; ++j) {
      if (j == label) loss += (logf(sum) - (logit[j] - largest)) / total;
      logit[j] = power[j] * scale - (j == label ? 1.0f / total : 0.0f);  // from here on dlogit
      db4[j] += logit[j];
    }
#pragma unroll
    for (int f = 0; f < F; ++f) {
      float d = 0.0f;
#pragma unroll
      for (int j = 0; j < K; ++j) {
        d += logit[j] * w4[j][f];
        dw4[j][f] += logit[j] * h[f];
      }
      d = h[f] > 0.0f ? d : 0.0f;
      db3[f] += d;
      dhidden[size_t(row) * O + f * 32 + lane] = d;
    }
  }
  if (warp % kShare == 0) {
    float* mine = parts[warp / kShare];
#pragma unroll
    for (int i = 0; i < K * F; ++i) mine[i / F * O + i % F * 32 + lane] = dw4[i / F][i % F];
#pragma unroll
    for (int f = 0; f < F; ++f) mine[K * O + f * 32 + lane] = db3[f];
    if (lane == 0) {
#pragma unroll
      for (int j = 0; j < K; ++j) mine[K * O + O + j] = db4[j];
      mine[K * O + O + K] = loss;
    }
  }
  __syncthreads();  // parts of all rows
  for (int i = threadIdx.x; i < N::kHead; i += 128) {
    float sum = 0.0f;
    for (int r = 0; r < kRows; ++r) sum += parts[r][i];
    head_parts[size_t(blockIdx.x) * N::kHead + i] = sum;
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
const unsigned char* labels_of(const FusedStep& step, int slot) {
  return step.batch[slot] + size_t(step.n) * step.network.image * step.network.image * 4;
}

template <class N>
void run_moments(const FusedStep& s, int slot, cudaStream_t stream) {
  constexpr int kThreads = 128;
  const int blocks = std::min(s.n, 2 * multiprocessors());
  fused::input_moments<N, kThreads>
      <<<blocks, kThreads, 0, stream>>>(images_of(s, slot), s.moments[slot], s.n);
}

template <class N, int kParts, int kSplit>
void run_convolutions(const FusedStep& s, int slot, int blocks, cudaStream_t stream) {
  using Shape = fused::ConvForward<N, kParts, kSplit>;
  auto* kernel = fused::convolutions<N, kParts, kSplit>;
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, Shape::kBytes);
  kernel<<<blocks, Shape::kThreads, Shape::kBytes, stream>>>(images_of(s, slot), s.parameters,
                                                             s.moments[slot], s.pool1, s.from1,
                                                             s.conv2, s.sums2, s.n, s.total);
}

template <class N>
void choose_convolutions(const FusedStep& s, int slot, cudaStream_t stream) {
  const int sms = multiprocessors();
  if (s.n <= sms) {
    run_convolutions<N, 2, 4>(s, slot, 2 * s.n, stream);
  } else {
    run_convolutions<N, 1, 1>(s, slot, std::min(s.n, 4 * sms), stream);
  }
}

template <class N>
void run_head(const FusedStep& s, int slot, cudaStream_t stream) {
  auto* kernel = s.n <= kFewImages ? fused::head<N, 4> : fused::head<N, 1>;
  kernel<<<s.head_blocks, 128, 0, stream>>>(s.hidden, s.parameters, labels_of(s, slot), s.dhidden,
                                            s.head_parts, s.n, s.total, s.splits);
}

}  // namespace

void launch_moments(const FusedStep& step, int slot, cudaStream_t stream) {
  if (is_network<MnistFused>(step)) return run_moments<MnistFused>(step, slot, stream);
  run_moments<NarrowFused>(step, slot, stream);
}

void launch_convolutions(const FusedStep& step, int slot, cudaStream_t stream) {
  if (is_network<MnistFused>(step)) return choose_convolutions<MnistFused>(step, slot, stream);
  choose_convolutions<NarrowFused>(step, slot, stream);
}

void launch_head(const FusedStep& step, int slot, cudaStream_t stream) {
  if (is_network<MnistFused>(step)) return run_head<MnistFused>(step, slot, stream);
  run_head<NarrowFused>(step, slot, stream);
}

// ---- memory ------------------------------------------------------------------------------------

namespace {

// One allocation, cut into pieces; the first pass, without memory, only counts.
class Pieces {
 public:
  explicit Pieces(unsigned char* memory) : memory_(memory) {}
  template <class T>
  T* take(size_t count) {
    T* piece = memory_ == nullptr ? nullptr : reinterpret_cast<T*>(memory_ + used_);
    used_ += (count * sizeof(T) + 255) / 256 * 256;
    return piece;
  }
  size_t used() const { return used_; }

 private:
  unsigned char* memory_;
  size_t used_ = 0;
};

size_t cut(unsigned char* memory, FusedStep* s) {
  const Network& net = s->network;
  const size_t n = s->n, features = net.features();
  const size_t half = size_t(net.image / 2) * (net.image / 2);
  const Parameters p = parameters_of(net);
  Pieces pieces(memory);
  // First, so that the allocation's address is the step's.
  s->parameters = pieces.take<float>(p.total);
  s->gradients = pieces.take<float>(p.total + 1);
  s->loss = pieces.take<float>(1);
  for (int slot = 0; slot < 2; ++slot) {
    s->batch[slot] = pieces.take<unsigned char>(s->batch_bytes);
    s->moments[slot] = pieces.take<double>(kMoments);
  }
  s->sum_count = 4 * net.channels2 + 10 * net.channels1;
  s->sums2 = pieces.take<double>(s->sum_count);
  s->back2 = s->sums2 + 2 * net.channels2;
  s->back1 = s->back2 + 2 * net.channels2;
  s->pool1 = pieces.take<float>(n * half * net.channels1);
  s->from1 = pieces.take<unsigned char>(n * half * net.channels1);
  s->conv2 = pieces.take<float>(n * half * net.channels2);
  s->pool2 = pieces.take<float>(n * features);
  s->from2 = pieces.take<unsigned char>(n * features);
  s->dpool2 = pieces.take<float>(n * features);
  s->hidden = pieces.take<float>(s->splits * n * net.hidden);
  s->dhidden = pieces.take<float>(n * net.hidden);
  s->head_parts = pieces.take<float>(size_t(s->head_blocks) * head_size(net));
  s->conv2_parts = pieces.take<float>(size_t(s->conv2_blocks) * p.conv2_w.size);
  s->linear_parts = pieces.take<float>(size_t(s->linear_splits) * p.linear1_w.size);
  return pieces.used();
}

// [hidden][channel][cell] as in files, or [hidden][cell][channel] as in a step.
std::vector<float> reordered(const Network& net, const float* parameters, bool to_step) {
  const Parameters p = parameters_of(net);
  std::vector<float> out(parameters, parameters + p.total);
  const int cells = cells_of(net), channels = net.channels2;
  for (int o = 0; o < net.hidden; ++o) {
    const size_t row = p.linear1_w.offset + size_t(o) * net.features();
    for (int c = 0; c < channels; ++c) {
      for (int cell = 0; cell < cells; ++cell) {
        const size_t in_file = row + c * cells + cell, in_step = row + cell * channels + c;
        out[to_step ? in_step : in_file] = parameters[to_step ? in_file : in_step];
      }
    }
  }
  return out;
}

}  // namespace

cudaError_t make_step(const Network& network, int n, int total, float rate, FusedStep* step) {
  FusedStep s = {};
  s.network = network;
  s.n = n;
  s.total = total;
  s.rate = rate;
  s.batch_bytes = size_t(n) * (network.image * network.image * sizeof(float) + 1);
  const int sms = multiprocessors(), cells = cells_of(network);
  // Few images: cut finely, so that every multiprocessor has work.
  s.cells_per_split = n <= kFewImages ? 1 : n <= 4 * kFewImages ? 4 : 13;
  s.splits = (cells + s.cells_per_split - 1) / s.cells_per_split;
  s.head_blocks = std::min(n <= kFewImages ? n : (n + 3) / 4, 2 * sms);
  s.conv2_blocks = std::min(n, 2 * sms);
  s.linear_splits = (n + linear_rows(n) - 1) / linear_rows(n);
  const size_t bytes = cut(nullptr, &s);
  unsigned char* memory = nullptr;
  cudaError_t error = cudaMalloc(&memory, bytes);
  if (error != cudaSuccess) return error;
  cut(memory, &s);
  *step = s;
  // Sums must begin as zeros; what follows them is written before it is read. The streams of a step
  // do not wait for the default stream.
  error = cudaMemset(memory, 0, reinterpret_cast<unsigned char*>(s.pool1) - memory);
  return error == cudaSuccess ? cudaStreamSynchronize(nullptr) : error;
}

void free_step(FusedStep* step) {
  cudaFree(step->parameters);
  *step = {};
}

cudaError_t write_parameters(const FusedStep& step, const float* parameters) {
  const std::vector<float> mine = reordered(step.network, parameters, true);
  const cudaError_t error =
      cudaMemcpy(step.parameters, mine.data(), mine.size() * sizeof(float), cudaMemcpyHostToDevice);
  if (error != cudaSuccess) return error;
  // The call may return while the last bytes of pageable memory are still on their way, and
  // streams that do not block wait for nothing in the default stream.
  return cudaStreamSynchronize(cudaStreamLegacy);
}

cudaError_t read_parameters(const FusedStep& step, float* parameters) {
  std::vector<float> mine(parameters_of(step.network).total);
  const cudaError_t error =
      cudaMemcpy(mine.data(), step.parameters, mine.size() * sizeof(float), cudaMemcpyDeviceToHost);
  if (error != cudaSuccess) return error;
  mine = reordered(step.network, mine.data(), false);
  std::copy(mine.begin(), mine.end(), parameters);
  return cudaSuccess;
}
