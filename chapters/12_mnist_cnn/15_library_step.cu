// 12/15 Library step: the training step of 12/11 by calls of cuDNN and cuBLAS.
//   What a framework does for you, spelled out: 30 calls, one or more kernels each, and every
//   result goes to memory and comes back. Descriptors, algorithms and handles are given
//   (15_library_step_support.h); the loss is the kernel of 12/03. alpha and beta of cuDNN: a result
//   is alpha * result + beta * what was there.
//   TODOs      5
#include "03_cross_entropy.h"
#include "15_library_step.h"

namespace {

constexpr float kOne = 1.0f, kZero = 0.0f;

// Derivatives of the loss by what the members are called; dx may be null: not wanted.
struct BlockGradients {
  const float* dpooled;
  float *drelu, *dconv, *dx;
  float *dw, *dgamma, *dbeta;
};

bool block_forward(const Libraries& l, const LibraryBlock& b, const BlockArrays& a) {
  // TODO(1): conv, relu and pooled from x: convolution, batch norm in training without running
  // averages, ReLU in place, pooling. False if a call has failed.
  static_cast<void>(l), static_cast<void>(b), static_cast<void>(a);
  return true;
}

bool block_backward(const Libraries& l, const LibraryBlock& b, const BlockArrays& a,
                    const BlockGradients& g) {
  // TODO(2): All arrays of g, from dpooled on; dx only if it is wanted.
  return succeeded(cudnnPoolingBackward(l.dnn, b.pooling, &kOne, b.pooled, a.pooled, b.pooled,
                                        g.dpooled, b.map, a.relu, &kZero, b.map, g.drelu));
}

bool dense_forward(const Libraries& l, const LibraryLinear& s, const float* x, const float* w,
                   const float* b, float* y) {
  // TODO(3): y (n x out, as we store it) = x w^T + b: a product of cuBLAS, which counts in columns,
  // and then the bias in every row of y, added by cudnnAddTensor (not as it is called here).
  static_cast<void>(x), static_cast<void>(w);
  return succeeded(cudnnAddTensor(l.dnn, &kOne, s.bias, b, &kZero, s.y, y));
}

bool dense_backward(const Libraries& l, const LibraryLinear& s, const float* x, const float* w,
                    const float* dy, float* dx, float* dw, float* db) {
  // TODO(4): dx = dy w, dw = dy^T x, and db, for which cuDNN has a call: a bias is added to every
  // row.
  static_cast<void>(x), static_cast<void>(w), static_cast<void>(dx), static_cast<void>(dw);
  return succeeded(cudnnConvolutionBackwardBias(l.dnn, &kOne, s.y, dy, &kZero, s.bias, db));
}

}  // namespace

bool launch_library_step(const Libraries& l, const TrainStep& step, float rate) {
  const Parameters p = parameters_of(step.network);
  const Activations a = activations_of(step.network, step.n, step.workspace);
  const auto w = [&](const Tensor& tensor) { return step.parameters + tensor.offset; };
  const auto dw = [&](const Tensor& tensor) { return step.gradients + tensor.offset; };
  const BlockArrays first = {step.images,    a.conv1,       a.norm1, a.pool1,   w(p.conv1_w),
                             w(p.bn1_gamma), w(p.bn1_beta), a.mean1, a.inv_std1};
  // TODO(5): The step: forward, loss (03), backward, parameters -= rate * gradients, in the order of
  // 12/11. False as soon as a call has failed.
  launch_cross_entropy(a.logits, step.labels, step.loss, a.dlogits, step.n, step.network.classes);
  return block_forward(l, l.block[0], first) && rate > 0.0f &&
         block_backward(l, l.block[0], first,
                        {a.dpool1, a.dnorm1, a.dconv1, nullptr, dw(p.conv1_w), dw(p.bn1_gamma),
                         dw(p.bn1_beta)});
}

bool launch_block_forward(const Libraries& libraries, const LibraryBlock& block,
                          const BlockArrays& arrays) {
  return block_forward(libraries, block, arrays);
}

bool launch_dense_forward(const Libraries& libraries, const LibraryLinear& linear, const float* x,
                          const float* w, const float* b, float* y) {
  return dense_forward(libraries, linear, x, w, b, y);
}

bool launch_dense_backward(const Libraries& libraries, const LibraryLinear& linear, const float* x,
                           const float* w, const float* dy, float* dx, float* dw, float* db) {
  return dense_backward(libraries, linear, x, w, dy, dx, dw, db);
}
