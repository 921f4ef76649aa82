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
  //~ // TODO(1): conv, relu and pooled from x: convolution, batch norm in training without running
  //~ // averages, ReLU in place, pooling. False if a call has failed.
  //~ static_cast<void>(l), static_cast<void>(b), static_cast<void>(a);
  //~ return true;
  //~begin 1
  if (!succeeded(cudnnConvolutionForward(l.dnn, &kOne, b.x, a.x, b.filters, a.w, b.convolution,
                                         b.forward, l.workspace, l.kWorkspaceBytes, &kZero, b.map,
                                         a.conv))) {
    return false;
  }
  return succeeded(cudnnBatchNormalizationForwardTraining(
             l.dnn, CUDNN_BATCHNORM_SPATIAL, &kOne, &kZero, b.map, a.conv, b.map, a.relu, b.channel,
             a.gamma, a.beta, 1.0, nullptr, nullptr, kNormEpsilon, a.mean, a.inv_std)) &&
         succeeded(
             cudnnActivationForward(l.dnn, b.relu, &kOne, b.map, a.relu, &kZero, b.map, a.relu)) &&
         succeeded(cudnnPoolingForward(l.dnn, b.pooling, &kOne, b.map, a.relu, &kZero, b.pooled,
                                       a.pooled));
  //~end
}

bool block_backward(const Libraries& l, const LibraryBlock& b, const BlockArrays& a,
                    const BlockGradients& g) {
  //~ // TODO(2): All arrays of g, from dpooled on; dx only if it is wanted.
  //~ return succeeded(cudnnPoolingBackward(l.dnn, b.pooling, &kOne, b.pooled, a.pooled, b.pooled,
  //~                                       g.dpooled, b.map, a.relu, &kZero, b.map, g.drelu));
  //~begin 2
  if (!succeeded(cudnnPoolingBackward(l.dnn, b.pooling, &kOne, b.pooled, a.pooled, b.pooled,
                                      g.dpooled, b.map, a.relu, &kZero, b.map, g.drelu)) ||
      !succeeded(cudnnActivationBackward(l.dnn, b.relu, &kOne, b.map, a.relu, b.map, g.drelu, b.map,
                                         a.relu, &kZero, b.map, g.drelu)) ||
      !succeeded(cudnnBatchNormalizationBackward(l.dnn, CUDNN_BATCHNORM_SPATIAL, &kOne, &kZero,
                                                 &kOne, &kZero, b.map, a.conv, b.map, g.drelu,
                                                 b.map, g.dconv, b.channel, a.gamma, g.dgamma,
                                                 g.dbeta, kNormEpsilon, a.mean, a.inv_std))) {
    return false;
  }
  if (g.dx != nullptr && !succeeded(cudnnConvolutionBackwardData(
                             l.dnn, &kOne, b.filters, a.w, b.map, g.dconv, b.convolution,
                             b.by_input, l.workspace, l.kWorkspaceBytes, &kZero, b.x, g.dx))) {
    return false;
  }
  return succeeded(cudnnConvolutionBackwardFilter(l.dnn, &kOne, b.x, a.x, b.map, g.dconv,
                                                  b.convolution, b.by_filter, l.workspace,
                                                  l.kWorkspaceBytes, &kZero, b.filters, g.dw));
  //~end
}

bool dense_forward(const Libraries& l, const LibraryLinear& s, const float* x, const float* w,
                   const float* b, float* y) {
  //~ // TODO(3): y (n x out, as we store it) = x w^T + b: a product of cuBLAS, which counts in columns,
  //~ // and then the bias in every row of y, added by cudnnAddTensor (not as it is called here).
  //~ static_cast<void>(x), static_cast<void>(w);
  //~ return succeeded(cudnnAddTensor(l.dnn, &kOne, s.bias, b, &kZero, s.y, y));
  //~begin 3
  return succeeded(cublasSgemm(l.blas, CUBLAS_OP_T, CUBLAS_OP_N, s.out, s.n, s.in, &kOne, w, s.in,
                               x, s.in, &kZero, y, s.out)) &&
         succeeded(cudnnAddTensor(l.dnn, &kOne, s.bias, b, &kOne, s.y, y));
  //~end
}

bool dense_backward(const Libraries& l, const LibraryLinear& s, const float* x, const float* w,
                    const float* dy, float* dx, float* dw, float* db) {
  //~ // TODO(4): dx = dy w, dw = dy^T x, and db, for which cuDNN has a call: a bias is added to every
  //~ // row.
  //~ static_cast<void>(x), static_cast<void>(w), static_cast<void>(dx), static_cast<void>(dw);
  //~ return succeeded(cudnnConvolutionBackwardBias(l.dnn, &kOne, s.y, dy, &kZero, s.bias, db));
  //~begin 4
  if (!succeeded(cublasSgemm(l.blas, CUBLAS_OP_N, CUBLAS_OP_N, s.in, s.n, s.out, &kOne, w, s.in, dy,
                             s.out, &kZero, dx, s.in)) ||
      !succeeded(cublasSgemm(l.blas, CUBLAS_OP_N, CUBLAS_OP_T, s.in, s.out, s.n, &kOne, x, s.in, dy,
                             s.out, &kZero, dw, s.in))) {
    return false;
  }
  return succeeded(cudnnConvolutionBackwardBias(l.dnn, &kOne, s.y, dy, &kZero, s.bias, db));
  //~end
}

}  // namespace

bool launch_library_step(const Libraries& l, const TrainStep& step, float rate) {
  const Parameters p = parameters_of(step.network);
  const Activations a = activations_of(step.network, step.n, step.workspace);
  const auto w = [&](const Tensor& tensor) { return step.parameters + tensor.offset; };
  const auto dw = [&](const Tensor& tensor) { return step.gradients + tensor.offset; };
  const BlockArrays first = {step.images,    a.conv1,       a.norm1, a.pool1,   w(p.conv1_w),
                             w(p.bn1_gamma), w(p.bn1_beta), a.mean1, a.inv_std1};
  //~ // TODO(5): The step: forward, loss (03), backward, parameters -= rate * gradients, in the order of
  //~ // 12/11. False as soon as a call has failed.
  //~ launch_cross_entropy(a.logits, step.labels, step.loss, a.dlogits, step.n, step.network.classes);
  //~ return block_forward(l, l.block[0], first) && rate > 0.0f &&
  //~        block_backward(l, l.block[0], first,
  //~                       {a.dpool1, a.dnorm1, a.dconv1, nullptr, dw(p.conv1_w), dw(p.bn1_gamma),
  //~                        dw(p.bn1_beta)});
  //~begin 5
  const BlockArrays second = {a.pool1,        a.conv2,       a.norm2, a.pool2,   w(p.conv2_w),
                              w(p.bn2_gamma), w(p.bn2_beta), a.mean2, a.inv_std2};
  const bool forward =
      block_forward(l, l.block[0], first) && block_forward(l, l.block[1], second) &&
      dense_forward(l, l.linear[0], a.pool2, w(p.linear1_w), w(p.linear1_b), a.hidden) &&
      succeeded(cudnnActivationForward(l.dnn, l.relu, &kOne, l.linear[0].y, a.hidden, &kZero,
                                       l.linear[0].y, a.relu)) &&
      dense_forward(l, l.linear[1], a.relu, w(p.linear2_w), w(p.linear2_b), a.logits);
  if (!forward) return false;
  launch_cross_entropy(a.logits, step.labels, step.loss, a.dlogits, step.n, step.network.classes);
  if (cudaGetLastError() != cudaSuccess) return false;
  const bool backward = dense_backward(l, l.linear[1], a.relu, w(p.linear2_w), a.dlogits, a.drelu,
                                       dw(p.linear2_w), dw(p.linear2_b)) &&
                        succeeded(cudnnActivationBackward(
                            l.dnn, l.relu, &kOne, l.linear[0].y, a.relu, l.linear[0].y, a.drelu,
                            l.linear[0].y, a.hidden, &kZero, l.linear[0].y, a.dhidden)) &&
                        dense_backward(l, l.linear[0], a.pool2, w(p.linear1_w), a.dhidden, a.dpool2,
                                       dw(p.linear1_w), dw(p.linear1_b)) &&
                        block_backward(l, l.block[1], second,
                                       {a.dpool2, a.dnorm2, a.dconv2, a.dpool1, dw(p.conv2_w),
                                        dw(p.bn2_gamma), dw(p.bn2_beta)}) &&
                        block_backward(l, l.block[0], first,
                                       {a.dpool1, a.dnorm1, a.dconv1, nullptr, dw(p.conv1_w),
                                        dw(p.bn1_gamma), dw(p.bn1_beta)});
  if (!backward) return false;
  const float minus_rate = -rate;
  return succeeded(cublasSaxpy(l.blas, static_cast<int>(p.total), &minus_rate, step.gradients, 1,
                               step.parameters, 1));
  //~end
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
