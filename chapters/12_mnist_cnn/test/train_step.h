// What the tests of chapter 12's training steps share: batches, and the arrays of a step.
#ifndef WARPLINGS_MNIST_CNN_TEST_TRAIN_STEP_H_
#define WARPLINGS_MNIST_CNN_TEST_TRAIN_STEP_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "12_mnist_cnn/test/network.h"
#include "kit/kit.h"

namespace kit {

// Of the chapter's struct Network.
template <class Network>
NetworkSizes sizes_of(const Network& net) {
  return {net.image, net.channels1, net.channels2, net.hidden, net.classes};
}

struct ImageBatch {
  std::vector<float> images;
  std::vector<uint8_t> labels;
};

// n images of pixels between low and high.
template <class Network>
ImageBatch random_batch(const Network& net, int n, float low = -1, float high = 1) {
  ImageBatch batch{random_floats(static_cast<size_t>(n) * net.image * net.image, low, high), {}};
  for (const int label : random_ints(n, 0, net.classes - 1)) {
    batch.labels.push_back(static_cast<uint8_t>(label));
  }
  return batch;
}

// Of the batches that make() returns, the first one on which no ReLU and no window of the double
// network is nearly undecided: rounding could turn a tie, and then right gradients are those of
// another loss. The network has gone forward on it.
template <class Make>
auto decided_batch(DoubleNetwork& reference, double margin, const Make& make) {
  for (;;) {
    auto batch = make();
    reference.forward(batch.images, batch.labels);
    if (reference.margin() > margin) return batch;
  }
}

// The chapter's struct TrainStep with its arrays, for one batch.
template <class TrainStep>
struct StepArrays {
  DeviceBuffer<float> images, parameters, gradients, loss, workspace;
  DeviceBuffer<uint8_t> labels;
  TrainStep step;

  template <class Network>
  StepArrays(const Network& net, const std::vector<float>& weights, const ImageBatch& batch)
      : images(DeviceBuffer<float>::input(batch.images, "images")),
        parameters(DeviceBuffer<float>::inout(weights, "parameters")),
        gradients(DeviceBuffer<float>::output(weights.size(), "gradients")),
        loss(DeviceBuffer<float>::output(1, "loss")),
        workspace(DeviceBuffer<float>::output(
            workspace_size(net, static_cast<int>(batch.labels.size())), "workspace")),
        labels(DeviceBuffer<uint8_t>::input(batch.labels, "labels")),
        step{net,
             static_cast<int>(batch.labels.size()),
             images.get(),
             labels.get(),
             parameters.get(),
             gradients.get(),
             loss.get(),
             workspace.get()} {}
};

// Compares tensor by tensor: those next to the loss first, which the others are made from.
inline void expect_tensors_near(const std::string& what, const std::vector<float>& got,
                                const std::vector<double>& expected,
                                const std::vector<NetworkTensor>& tensors, double limit) {
  for (size_t i = tensors.size(); i-- > 0;) {
    const auto first = static_cast<std::ptrdiff_t>(tensors[i].offset);
    const auto last = first + static_cast<std::ptrdiff_t>(tensors[i].size);
    expect_norm_near(what + " of " + tensors[i].name, {got.begin() + first, got.begin() + last},
                     {expected.begin() + first, expected.begin() + last}, limit);
  }
}

// How far each step of a training has moved the parameters, against the double network:
// states[0] .. states[i] and those after it are the device's, step i works on batch_of(i). The
// reference begins every step where the device does. Where two values of a window are alike but for
// rounding, pooling may choose otherwise than in double; steps in a row would carry that on, and
// refused 2 of 31 right runs on an H100.
template <class BatchOf>
void expect_steps_alike(DoubleNetwork& reference, const std::vector<std::vector<float>>& states,
                        const BatchOf& batch_of, float rate,
                        const std::vector<NetworkTensor>& tensors) {
  for (size_t step = 0; step + 1 < states.size(); ++step) {
    const std::vector<float>& from = states[step];
    reference.parameters().assign(from.begin(), from.end());
    reference.forward(batch_of(step).images, batch_of(step).labels);
    reference.update(reference.backward(), static_cast<double>(rate));
    std::vector<float> moved = states[step + 1];
    std::vector<double> expected = reference.parameters();
    for (size_t i = 0; i < moved.size(); ++i) {
      moved[i] -= from[i];
      expected[i] -= static_cast<double>(from[i]);
    }
    const std::string what = "the update of step " + std::to_string(step + 1);
    expect_tensors_near(what, moved, expected, tensors, 3e-2);
    expect_norm_near(what + " of all parameters", moved, expected, 1e-2);
  }
}

}  // namespace kit

#endif  // WARPLINGS_MNIST_CNN_TEST_TRAIN_STEP_H_
