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
  //~ // TODO(1): dx where y = relu(x): a value that did not pass has no part in the loss (1 line).
  //~ if (i < count) dx[i] = dy[i] * x[i];
  //~begin 1
  if (i < count) dx[i] = x[i] > 0.0f ? dy[i] : 0.0f;
  //~end
}

int blocks_for(int count) { return (count + kThreads - 1) / kThreads; }

void forward(const TrainStep& step) {
  const Network& net = step.network;
  const Parameters p = parameters_of(net);
  const Activations a = activations_of(net, step.n, step.workspace);
  const auto w = [&](const Tensor& tensor) { return step.parameters + tensor.offset; };
  const int n = step.n, c1 = net.channels1, side1 = net.image;
  //~ // TODO(2): Every activation up to the logits, from the images on: two blocks of convolution,
  //~ // batch norm, ReLU and pooling, then linear1, ReLU, linear2. Where each lies says Activations.
  //~ static_cast<void>(c1), static_cast<void>(side1);
  //~ cudaMemset(a.hidden, 0, n * net.hidden * sizeof(float));
  //~ relu_forward<<<blocks_for(n * net.hidden), kThreads>>>(a.hidden, a.relu, n * net.hidden);
  //~ launch_linear_forward(a.relu, w(p.linear2_w), w(p.linear2_b), a.logits, n, net.hidden,
  //~                       net.classes);
  //~begin 2
  launch_conv_forward(step.images, w(p.conv1_w), a.conv1, n, 1, side1, side1, c1);
  launch_batch_norm_forward(a.conv1, w(p.bn1_gamma), w(p.bn1_beta), a.norm1, a.mean1, a.inv_std1,
                            a.scratch, n, c1, side1 * side1);
  launch_relu_pool_forward(a.norm1, a.pool1, n, c1, side1, side1);
  const int c2 = net.channels2, side2 = side1 / 2;
  launch_conv_forward(a.pool1, w(p.conv2_w), a.conv2, n, c1, side2, side2, c2);
  launch_batch_norm_forward(a.conv2, w(p.bn2_gamma), w(p.bn2_beta), a.norm2, a.mean2, a.inv_std2,
                            a.scratch, n, c2, side2 * side2);
  launch_relu_pool_forward(a.norm2, a.pool2, n, c2, side2, side2);
  launch_linear_forward(a.pool2, w(p.linear1_w), w(p.linear1_b), a.hidden, n, net.features(),
                        net.hidden);
  relu_forward<<<blocks_for(n * net.hidden), kThreads>>>(a.hidden, a.relu, n * net.hidden);
  launch_linear_forward(a.relu, w(p.linear2_w), w(p.linear2_b), a.logits, n, net.hidden,
                        net.classes);
  //~end
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
  //~ // TODO(3): All gradients, from dlogits on; each layer takes what its forward call has read, and
  //~ // the derivative by what that has written. Nobody wants the derivative by the images.
  //~ static_cast<void>(c1), static_cast<void>(c2), static_cast<void>(side1), static_cast<void>(side2);
  //~ cudaMemset(a.drelu, 0, n * net.hidden * sizeof(float));
  //~ relu_backward<<<blocks_for(n * net.hidden), kThreads>>>(a.hidden, a.drelu, a.dhidden,
  //~                                                         n * net.hidden);
  //~ cudaMemset(step.gradients, 0, p.total * sizeof(float));
  //~ static_cast<void>(w), static_cast<void>(dw);
  //~begin 3
  launch_linear_backward(a.relu, w(p.linear2_w), a.dlogits, a.drelu, dw(p.linear2_w),
                         dw(p.linear2_b), n, net.hidden, net.classes);
  relu_backward<<<blocks_for(n * net.hidden), kThreads>>>(a.hidden, a.drelu, a.dhidden,
                                                          n * net.hidden);
  launch_linear_backward(a.pool2, w(p.linear1_w), a.dhidden, a.dpool2, dw(p.linear1_w),
                         dw(p.linear1_b), n, net.features(), net.hidden);
  launch_relu_pool_backward(a.norm2, a.dpool2, a.dnorm2, n, c2, side2, side2);
  launch_batch_norm_backward(a.conv2, w(p.bn2_gamma), a.mean2, a.inv_std2, a.dnorm2, a.dconv2,
                             dw(p.bn2_gamma), dw(p.bn2_beta), a.scratch, n, c2, side2 * side2);
  launch_conv_backward(a.pool1, w(p.conv2_w), a.dconv2, a.dpool1, dw(p.conv2_w), a.scratch, n, c1,
                       side2, side2, c2);
  launch_relu_pool_backward(a.norm1, a.dpool1, a.dnorm1, n, c1, side1, side1);
  launch_batch_norm_backward(a.conv1, w(p.bn1_gamma), a.mean1, a.inv_std1, a.dnorm1, a.dconv1,
                             dw(p.bn1_gamma), dw(p.bn1_beta), a.scratch, n, c1, side1 * side1);
  launch_conv_backward(step.images, w(p.conv1_w), a.dconv1, nullptr, dw(p.conv1_w), a.scratch, n, 1,
                       side1, side1, c1);
  //~end
}

}  // namespace

void launch_forward(const TrainStep& step) { forward(step); }
void launch_backward(const TrainStep& step) { backward(step); }

void launch_train_step(const TrainStep& step, float rate) {
  //~ // TODO(4): Forward, backward, and the update of all parameters by one launch (3 lines).
  //~ forward(step);
  //~ launch_sgd_update(step.parameters, step.parameters, rate, 1);
  //~begin 4
  forward(step);
  backward(step);
  launch_sgd_update(step.parameters, step.gradients, rate,
                    static_cast<int>(parameters_of(step.network).total));
  //~end
}
