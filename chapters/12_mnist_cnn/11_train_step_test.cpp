// Tests of 12/11 training step. The reference is test/network.h: the same network in double, tested
// against finite differences.
#include "11_train_step.h"

#include <algorithm>
#include <cmath>

#include "12_mnist_cnn/test/network.h"
#include "12_mnist_cnn/test/train_step.h"
#include "kit/kit.h"

namespace {

using kit::sizes_of;

// The narrow network in the simulator, the whole one on a GPU.
Network network() { return kit::simulated() ? kNarrowNetwork : kMnistNetwork; }

kit::ImageBatch decided_batch(kit::DoubleNetwork& reference, const Network& net, int n) {
  return kit::decided_batch(reference, 4e-6, [&] { return kit::random_batch(net, n); });
}

using Arrays = kit::StepArrays<TrainStep>;

// Copies part of the workspace, which the kit knows as a whole.
std::vector<float> logits_of(const Arrays& arrays) {
  const TrainStep& step = arrays.step;
  const Activations a = activations_of(step.network, step.n, step.workspace);
  const std::vector<float> all = arrays.workspace.download();
  const auto begin = all.begin() + (a.logits - step.workspace);
  return {begin, begin + step.n * step.network.classes};
}

// One gradient: the loss, and the gradients of the last `count` tensors against the reference.
void check_gradients(const Network& net, int n, int count = kTensors) {
  const std::vector<float> weights = kit::random_parameters(sizes_of(net));
  kit::DoubleNetwork reference(sizes_of(net), weights);
  const kit::ImageBatch batch = decided_batch(reference, net, n);
  const Arrays arrays(net, weights, batch);
  kit::run([&] {
    launch_forward(arrays.step);
    launch_backward(arrays.step);
  });
  const double loss = reference.forward(batch.images, batch.labels);
  kit::expect_near(arrays.loss, {loss}, kit::Tolerance::relative(1e-5));
  const std::vector<double> expected = reference.backward();
  std::vector<kit::NetworkTensor> tensors = kit::network_tensors(sizes_of(net));
  tensors.erase(tensors.begin(), tensors.end() - count);
  kit::expect_tensors_near("gradient", arrays.gradients.download(), expected, tensors, 1e-5);
}

const std::vector<Network> kNetworks = {{4, 5, 6, 8, 3}, {8, 3, 5, 7, 4}, kNarrowNetwork};
std::string name_of(const Network& net) {
  return "image " + std::to_string(net.image) + ", channels " + std::to_string(net.channels1) +
         " and " + std::to_string(net.channels2);
}

}  // namespace

TEST(TrainStep, GoesForwardToTheLogits) {
  RecordProperty("todo", 2);
  kit::Cases cases;
  for (const Network& net : kNetworks) {
    cases.run(name_of(net), [&] {
      const std::vector<float> weights = kit::random_parameters(sizes_of(net));
      kit::DoubleNetwork reference(sizes_of(net), weights);
      const kit::ImageBatch batch = decided_batch(reference, net, 3);
      const Arrays arrays(net, weights, batch);
      kit::run([&] { launch_forward(arrays.step); });
      kit::expect_norm_near("logits", logits_of(arrays), reference.logits(), 1e-5);
    });
  }
}

TEST(TrainStep, HandsTheGradientThroughTheHiddenReLU) {
  RecordProperty("todo", 1);
  check_gradients(kNetworks[1], 4, 4);  // those of the linear layers
}

TEST(TrainStep, AHiddenValueOfZeroHandsNothingBack) {
  RecordProperty("todo", 1);
  const Network& net = kNetworks[1];
  const Parameters p = parameters_of(net);
  std::vector<float> weights = kit::random_parameters(sizes_of(net));
  std::fill_n(&weights[p.linear1_w.offset], net.features(), 0.0f);
  weights[p.linear1_b.offset] = 0;
  const Arrays arrays(net, weights, kit::random_batch(net, 4));
  kit::run([&] {
    launch_forward(arrays.step);
    launch_backward(arrays.step);
  });
  const float of_bias = arrays.gradients.download()[p.linear1_b.offset];
  if (of_bias != 0) {
    kit::fail("The first hidden value is 0 for every image, but the gradient of its bias is " +
              std::to_string(of_bias) + ", expected 0: the derivative of ReLU is 1 above 0 only.");
  }
}

TEST(TrainStep, GradientsOfEveryTensorAreThoseOfTheDoubleNetwork) {
  RecordProperty("todo", 3);
  kit::Cases cases;
  for (const Network& net : kNetworks) {
    cases.run(name_of(net), [&] { check_gradients(net, 12); });
  }
  cases.run("larger batch", [&] { check_gradients(network(), kit::work_scale(8, 32)); });
}

TEST(TrainStep, TenStepsMoveTheParametersAsInDouble) {
  RecordProperty("todo", 4);
  const Network net = network();
  const std::vector<float> weights = kit::random_parameters(sizes_of(net));
  kit::DoubleNetwork reference(sizes_of(net), weights);
  const kit::ImageBatch batch = kit::random_batch(net, 8);
  const Arrays arrays(net, weights, batch);
  std::vector<std::vector<float>> states;
  kit::run([&] {
    states = {weights};
    for (int i = 0; i < 10; ++i) {
      launch_train_step(arrays.step, 0.01f);
      states.push_back(arrays.parameters.download());
    }
  });
  const auto same_batch = [&](size_t) -> const kit::ImageBatch& { return batch; };
  kit::expect_steps_alike(reference, states, same_batch, 0.01f,
                          kit::network_tensors(sizes_of(net)));
}

TEST(TrainStep, TheLossIsOfTheParametersBeforeTheUpdate) {
  RecordProperty("todo", 4);
  const Network net = kNetworks[1];
  const std::vector<float> weights = kit::random_parameters(sizes_of(net));
  kit::DoubleNetwork reference(sizes_of(net), weights);
  const kit::ImageBatch batch = kit::random_batch(net, 6);
  const Arrays arrays(net, weights, batch);
  kit::run([&] { launch_train_step(arrays.step, 0.05f); });
  kit::expect_near(arrays.loss, {reference.forward(batch.images, batch.labels)},
                   kit::Tolerance::relative(1e-5));
}

TEST(TrainStep, RepeatsItself) {
  RecordProperty("todo", 4);
  const Network net = kNetworks[1];
  const std::vector<float> weights = kit::random_parameters(sizes_of(net));
  const kit::ImageBatch batch = kit::random_batch(net, 17);
  std::vector<std::vector<float>> results;
  kit::for_each_block_order([&] {
    const Arrays arrays(net, weights, batch);
    kit::run([&] {
      for (int i = 0; i < 2; ++i) launch_train_step(arrays.step, 0.05f);
    });
    results.push_back(arrays.parameters.download());
    kit::expect_equal("parameters, bit by bit as in the first run", results.back(), results[0]);
  });
}

TEST(TrainStep, AllocatesNothing) {
  RecordProperty("todo", 4);
  const Network net = kNetworks[1];
  const Arrays arrays(net, kit::random_parameters(sizes_of(net)), kit::random_batch(net, 2));
  const kit::Run run = kit::run([&] { launch_train_step(arrays.step, 0.05f); });
  kit::budget("allocations per step",
              static_cast<double>(kit::api_calls("cudaMalloc") + kit::api_calls("cudaMallocAsync")),
              kit::at_most(0),
              "The workspace has room for everything: a step that allocates waits for the device");
  kit::expect_no_leak(run);
}
