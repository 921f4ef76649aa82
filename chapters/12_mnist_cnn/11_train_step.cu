// 12/11 Training step: the layers of 02 to 10 put together, forward, backward and update.
//   images -> [conv -> batch norm -> ReLU and pool] twice -> linear -> ReLU -> linear -> loss
//   Every launcher is yours, if you have passed its exercise, and writes all of its output: nothing
//   has to be cleared between two steps. Backward calls the layers in reverse order; each takes the
//   derivative by its output and leaves that by its input, and its parameters' gradients.
//   TODOs  4
#include "02_linear.h"
#include "03_cross_entropy.h"
#include "04_sgd_update.h"
#include "06_conv_forward.h"
#include "07_conv_backward.h"
#include "09_batch_norm.h"
#include "10_relu_pool.h"
#include "11_train_step.h"

namespace {

constexpr int kThreads = 256;

__global__ void relu_forward(const float* x, float* y, int count) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (i < count) y[i] = fmaxf(x[i], 0.0f);
}

__global__ void relu_backward(const float* x, const float* dy, float* dx, int count) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  // TODO(1): dx where y = relu(x): a value that did not pass has no part in the loss (1 line).
  if (i < count) dx[i] = dy[i] * x[i];
}

int blocks_for(int count) { return (count + kThreads - 1) / kThreads; }

void forward(const TrainStep& step) {
  const Network& net = step.network;
  const Parameters p = parameters_of(net);
  const Activations a = activations_of(net, step.n, step.workspace);
  const auto w = [&](const Tensor& tensor) { return step.parameters + tensor.offset; };
  const int n = step.n, c1 = net.channels1, side1 = net.image;
  // TODO(2): Every activation up to the logits, from the images on: two blocks of convolution,
  // batch norm, ReLU and pooling, then linear1, ReLU, linear2. Where each lies says Activations.
  static_cast<void>(c1), static_cast<void>(side1);
  cudaMemset(a.hidden, 0, n * net.hidden * sizeof(float));
  relu_forward<<<blocks_for(n * net.hidden), kThreads>>>(a.hidden, a.relu, n * net.hidden);
  launch_linear_forward(a.relu, w(p.linear2_w), w(p.linear2_b), a.logits, n, net.hidden,
                        net.classes);
}

void backward(const TrainStep& step) {
  const Network& net = step.network;
  const Parameters p = parameters_of(net);
  const Activations a = activations_of(net, step.n, step.workspace);
  const auto w = [&](const Tensor& tensor) { return step.parameters + tensor.offset; };
  const auto dw = [&](const Tensor& tensor) { return step.gradients + tensor.offset; };
  const int n = step.n, c1 = net.channels1, c2 = net.channels2;
  const int side1 = net.image, side2 = side1 / 2;
  launch_cross_entropy(a.logits, step.labels, step.loss, a.dlogits, n, net.classes);
  // TODO(3): All gradients, from dlogits on; each layer takes what its forward call has read, and
  // the derivative by what that has written. Nobody wants the derivative by the images.
  static_cast<void>(c1), static_cast<void>(c2), static_cast<void>(side1), static_cast<void>(side2);
  cudaMemset(a.drelu, 0, n * net.hidden * sizeof(float));
  relu_backward<<<blocks_for(n * net.hidden), kThreads>>>(a.hidden, a.drelu, a.dhidden,
                                                          n * net.hidden);
  cudaMemset(step.gradients, 0, p.total * sizeof(float));
  static_cast<void>(w), static_cast<void>(dw);
}

}  // namespace

void launch_forward(const TrainStep& step) { forward(step); }
void launch_backward(const TrainStep& step) { backward(step); }

void launch_train_step(const TrainStep& step, float rate) {
  // TODO(4): Forward, backward, and the update of all parameters by one launch (3 lines).
  forward(step);
  launch_sgd_update(step.parameters, step.parameters, rate, 1);
}
