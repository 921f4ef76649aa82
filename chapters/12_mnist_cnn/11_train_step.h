// 12/11 Training step: what the test calls, and 12 and later.
#ifndef CHAPTERS_12_MNIST_CNN_11_TRAIN_STEP_H_
#define CHAPTERS_12_MNIST_CNN_11_TRAIN_STEP_H_

#include <algorithm>
#include <cstddef>

#include "07_conv_backward.h"
#include "09_batch_norm.h"
#include "support.h"

// What a step works on; all in device memory. The caller allocates once, for all steps.
struct TrainStep {
  Network network;
  int n;                        // images of the batch, >= 1
  const float* images;          // n x image x image
  const unsigned char* labels;  // n, each less than classes
  float* parameters;            // one array, as parameters_of(network) says
  float* gradients;             // of the same layout
  float* loss;                  // 1 float: the mean over the batch
  float* workspace;             // workspace_size(network, n) floats; its contents do not matter
};

// What the layers hand on to each other, in the workspace. d... is the derivative of the loss by
// what the member without d holds.
struct Activations {
  float *conv1, *norm1, *pool1;  // n x channels1 x image x image, the same, x image/2 x image/2
  float *conv2, *norm2, *pool2;  // n x channels2 x image/2 x image/2, the same, x image/4 x image/4
  float *hidden, *relu;          // n x hidden
  float* logits;                 // n x classes
  float *mean1, *inv_std1;       // channels1
  float *mean2, *inv_std2;       // channels2
  float *dconv1, *dnorm1, *dpool1, *dconv2, *dnorm2, *dpool2, *dhidden, *drelu, *dlogits;
  float* scratch;  // for one layer at a time
  size_t total;    // floats
};

// Where each lies; with workspace null, how large they are together.
inline Activations activations_of(const Network& network, int n, float* workspace) {
  Activations a = {};
  const auto take = [&](size_t floats) {
    float* at = workspace == nullptr ? nullptr : workspace + a.total;
    a.total += (floats + 63) / 64 * 64;  // every array begins at a multiple of 256 bytes
    return at;
  };
  const size_t pixels = static_cast<size_t>(n) * network.image * network.image;
  const size_t plane1 = pixels * network.channels1, plane2 = pixels / 4 * network.channels2;
  for (float** at : {&a.conv1, &a.norm1, &a.dconv1, &a.dnorm1}) *at = take(plane1);
  for (float** at : {&a.conv2, &a.norm2, &a.dconv2, &a.dnorm2}) *at = take(plane2);
  for (float** at : {&a.pool1, &a.dpool1}) *at = take(plane1 / 4);
  for (float** at : {&a.pool2, &a.dpool2}) *at = take(plane2 / 4);
  const size_t hidden = static_cast<size_t>(n) * network.hidden;
  for (float** at : {&a.hidden, &a.relu, &a.dhidden, &a.drelu}) *at = take(hidden);
  for (float** at : {&a.logits, &a.dlogits}) *at = take(static_cast<size_t>(n) * network.classes);
  for (float** at : {&a.mean1, &a.inv_std1}) *at = take(network.channels1);
  for (float** at : {&a.mean2, &a.inv_std2}) *at = take(network.channels2);
  a.scratch = take(std::max({conv_backward_scratch(n, 1, network.channels1),
                             conv_backward_scratch(n, network.channels1, network.channels2),
                             batch_norm_scratch(std::max(network.channels1, network.channels2))}));
  return a;
}

inline size_t workspace_size(const Network& network, int n) {
  return activations_of(network, n, nullptr).total;
}

// From the images to the logits; then from the logits to the loss and all gradients.
void launch_forward(const TrainStep& step);
void launch_backward(const TrainStep& step);

// Both, and parameters -= rate * gradients.
void launch_train_step(const TrainStep& step, float rate);

#endif  // CHAPTERS_12_MNIST_CNN_11_TRAIN_STEP_H_
