// The network in double against finite differences, which know nothing of derivatives, and against
// properties of its layers.
#include "12_mnist_cnn/test/network.h"

#include <cmath>

#include "kit/kit.h"

namespace {

constexpr kit::NetworkSizes kNetworkSizes = {8, 3, 4, 5, 6};

struct Batch {
  std::vector<float> images;
  std::vector<uint8_t> labels;
};
Batch random_batch(int n) {
  Batch batch{
      kit::random_floats(static_cast<size_t>(n) * kNetworkSizes.image * kNetworkSizes.image), {}};
  for (const int label : kit::random_ints(n, 0, kNetworkSizes.classes - 1)) {
    batch.labels.push_back(static_cast<uint8_t>(label));
  }
  return batch;
}

// The loss with parameter i moved by `step`; false if a ReLU or a window then chooses otherwise.
bool loss_beside(kit::DoubleNetwork& network, const Batch& batch, size_t i, double step,
                 double& loss) {
  const std::vector<uint8_t> before = network.decisions();
  const double middle = network.parameters()[i];
  network.parameters()[i] = middle + step;
  loss = network.forward(batch.images, batch.labels);
  const bool smooth = network.decisions() == before;
  network.parameters()[i] = middle;
  network.forward(batch.images, batch.labels);
  return smooth;
}

}  // namespace

TEST(DoubleNetwork, TensorsFollowEachOtherWithoutAGap) {
  size_t next = 0;
  for (const kit::NetworkTensor& tensor : kit::network_tensors({28, 16, 32, 128, 10})) {
    EXPECT_EQ(tensor.offset, next) << tensor.name;
    next += tensor.size;
  }
  EXPECT_EQ(next, 144u + 32 + 4608 + 64 + 200832 + 1290);  // as many as the page of chapter 12 says
}

TEST(DoubleNetwork, GradientsAgreeWithFiniteDifferencesAwayFromTies) {
  const Batch batch = random_batch(4);
  kit::DoubleNetwork network(kNetworkSizes, kit::random_parameters(kNetworkSizes));
  network.forward(batch.images, batch.labels);
  const std::vector<double> gradients = network.backward();
  for (const kit::NetworkTensor& tensor : kit::network_tensors(kNetworkSizes)) {
    int compared = 0;
    double size = 0;  // of the gradient, root mean square
    for (size_t i = 0; i < tensor.size; ++i) {
      size += gradients[tensor.offset + i] * gradients[tensor.offset + i] / tensor.size;
    }
    size = std::sqrt(size);
    EXPECT_GT(size, 1e-4) << tensor.name << " has no gradient to speak of";
    for (size_t i = 0; i < tensor.size; i += 1 + tensor.size / 24) {
      const double step = 1e-6;
      double above, below;
      if (!loss_beside(network, batch, tensor.offset + i, step, above)) continue;
      if (!loss_beside(network, batch, tensor.offset + i, -step, below)) continue;
      const double difference = (above - below) / (2 * step);
      EXPECT_NEAR(gradients[tensor.offset + i], difference, 1e-6 * size + 2e-9)
          << tensor.name << "[" << i << "]";
      ++compared;
    }
    EXPECT_GE(compared, 3) << tensor.name;
  }
}

TEST(DoubleNetwork, AStepOverATieIsNoticed) {
  const Batch batch = random_batch(4);
  kit::DoubleNetwork network(kNetworkSizes, kit::random_parameters(kNetworkSizes));
  network.forward(batch.images, batch.labels);
  EXPECT_GT(network.margin(), 0);
  EXPECT_LT(network.margin(), 0.1);
  // With a bias of 100, then of -100, no hidden value of that column keeps its sign.
  double loss;
  const size_t bias = kit::network_tensors(kNetworkSizes)[7].offset;
  EXPECT_FALSE(loss_beside(network, batch, bias, 100, loss) &&
               loss_beside(network, batch, bias, -100, loss));
}

TEST(DoubleNetwork, ConstantsDoNotPassBatchNorm) {
  // A factor and an offset of all images are what batch norm takes away again, but for its epsilon
  // and the border of zeros: an offset alone changes the border, a factor does not.
  Batch batch = random_batch(3);
  kit::DoubleNetwork network(kNetworkSizes, kit::random_parameters(kNetworkSizes));
  const double loss = network.forward(batch.images, batch.labels);
  for (float& pixel : batch.images) pixel *= 4;
  EXPECT_NEAR(network.forward(batch.images, batch.labels), loss, 1e-3);
}

TEST(DoubleNetwork, LossOfEqualLogitsIsTheLogarithmOfTheClasses) {
  const Batch batch = random_batch(3);
  kit::DoubleNetwork network(kNetworkSizes, kit::random_parameters(kNetworkSizes));
  const std::vector<kit::NetworkTensor> tensors = kit::network_tensors(kNetworkSizes);
  for (size_t i = tensors[8].offset; i < network.parameters().size(); ++i) {
    network.parameters()[i] = 0;
  }
  EXPECT_NEAR(network.forward(batch.images, batch.labels), std::log(kNetworkSizes.classes), 1e-12);
}

TEST(DoubleNetwork, StepsLowerTheLoss) {
  const Batch batch = random_batch(6);
  kit::DoubleNetwork network(kNetworkSizes, kit::random_parameters(kNetworkSizes));
  const double first = network.forward(batch.images, batch.labels);
  double last = first;
  for (int step = 0; step < 40; ++step) {
    network.update(network.backward(), 0.05);
    last = network.forward(batch.images, batch.labels);
  }
  EXPECT_LT(last, 0.9 * first);
}
