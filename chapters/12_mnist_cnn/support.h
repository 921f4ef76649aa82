// Given code of chapter 12: the network that its exercises train, and where the parameters lie.
#ifndef CHAPTERS_12_MNIST_CNN_SUPPORT_H_
#define CHAPTERS_12_MNIST_CNN_SUPPORT_H_

#include <cstddef>

// Twice [3 x 3 convolution, pad 1, no bias -> batch norm -> ReLU -> 2 x 2 max pool], then linear ->
// ReLU -> linear. An image is one channel of image x image floats; image is a multiple of 4.
struct Network {
  int image;      // pixels per side
  int channels1;  // of the first convolution
  int channels2;  // of the second
  int hidden;     // outputs of the first linear layer
  int classes;    // outputs of the second

  // Floats per image that the second pooling leaves, which the first linear layer takes.
  constexpr int features() const { return channels2 * (image / 4) * (image / 4); }
};

constexpr Network kMnistNetwork = {28, 16, 32, 128, 10};  // MNIST, Fashion-MNIST
constexpr Network kNarrowNetwork = {12, 4, 8, 32, 10};    // the same code on less work

// One tensor of the parameters: a part of one flat array of floats. fan_in is how many inputs one
// output sums up; 0 for batch norm, which starts as gamma 1, beta 0.
struct Tensor {
  const char* name;
  size_t offset;  // floats before it
  int size;       // floats
  int fan_in;
};

// All parameters in one array, each tensor row-major, in the order and layout that PyTorch has.
// Gradients are a second array of the same layout.
struct Parameters {
  Tensor conv1_w;    // [channels1][1][3][3]
  Tensor bn1_gamma;  // [channels1]
  Tensor bn1_beta;   // [channels1]
  Tensor conv2_w;    // [channels2][channels1][3][3]
  Tensor bn2_gamma;  // [channels2]
  Tensor bn2_beta;   // [channels2]
  Tensor linear1_w;  // [hidden][features]
  Tensor linear1_b;  // [hidden]
  Tensor linear2_w;  // [classes][hidden]
  Tensor linear2_b;  // [classes]
  size_t total;      // floats
};

constexpr int kTensors = 10;  // in Parameters

constexpr Parameters parameters_of(const Network& net) {
  size_t next = 0;
  const auto tensor = [&next](const char* name, int size, int fan_in) {
    const Tensor t = {name, next, size, fan_in};
    next += size;
    return t;
  };
  Parameters p = {};
  p.conv1_w = tensor("conv1.weight", net.channels1 * 9, 9);
  p.bn1_gamma = tensor("bn1.weight", net.channels1, 0);
  p.bn1_beta = tensor("bn1.bias", net.channels1, 0);
  p.conv2_w = tensor("conv2.weight", net.channels2 * net.channels1 * 9, net.channels1 * 9);
  p.bn2_gamma = tensor("bn2.weight", net.channels2, 0);
  p.bn2_beta = tensor("bn2.bias", net.channels2, 0);
  p.linear1_w = tensor("linear1.weight", net.hidden * net.features(), net.features());
  p.linear1_b = tensor("linear1.bias", net.hidden, net.features());
  p.linear2_w = tensor("linear2.weight", net.classes * net.hidden, net.hidden);
  p.linear2_b = tensor("linear2.bias", net.classes, net.hidden);
  p.total = next;
  return p;
}

// The same as a list, for loops over all tensors. `tensors` has room for kTensors.
inline void list_tensors(const Parameters& p, Tensor* tensors) {
  const Tensor all[kTensors] = {p.conv1_w,  p.bn1_gamma, p.bn1_beta,  p.conv2_w,   p.bn2_gamma,
                                p.bn2_beta, p.linear1_w, p.linear1_b, p.linear2_w, p.linear2_b};
  for (int i = 0; i < kTensors; ++i) tensors[i] = all[i];
}

// ---- random numbers ----------------------------------------------------------------------------

#ifdef __CUDACC__
#define SUPPORT_BOTH __host__ __device__
#else
#define SUPPORT_BOTH
#endif

// 64 random bits at a position of the sequence that a seed chooses. There is no state: every
// position is computed by itself. SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): a counter in
// steps of the golden ratio, mixed so that each bit of it changes half the bits of the result.
SUPPORT_BOTH inline unsigned long long random_bits(unsigned long long seed,
                                                   unsigned long long position) {
  unsigned long long z = seed + (position + 1) * 0x9e3779b97f4a7c15ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

#undef SUPPORT_BOTH

// ---- the weight file ---------------------------------------------------------------------------
// Eight bytes "WARPNET1", five little-endian int32 (the members of Network in their order), then
// little-endian floats: the parameters; for the first batch norm and then the second, the means and
// then the variances of its channels over the training set; mean and deviation of the set's pixels.
constexpr char kWeightMagic[9] = "WARPNET1";

// ---- for kernels (tests include this file, too) ------------------------------------------------
#ifdef __CUDACC__

// The sum over the 32 lanes of a warp, in every lane: 05/02. All lanes must call it.
__device__ __forceinline__ float warp_sum(float value) {
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(~0u, value, offset);
  return value;
}

#endif

#endif  // CHAPTERS_12_MNIST_CNN_SUPPORT_H_
