// The network of chapter 12 on the CPU, in double: what its training steps are compared with.
// Twice [3 x 3 convolution, pad 1, no bias -> batch norm -> ReLU -> 2 x 2 max pool], then linear ->
// ReLU -> linear -> cross-entropy, mean over the batch. Written from the definitions, one loop per
// index; its own gradients are tested against finite differences.
//
//   kit::DoubleNetwork network(sizes, kit::random_parameters(sizes));
//   const double loss = network.forward(images, labels);
//   const std::vector<double> gradients = network.backward();
//   network.update(gradients, 0.01);
#ifndef WARPLINGS_MNIST_CNN_TEST_NETWORK_H_
#define WARPLINGS_MNIST_CNN_TEST_NETWORK_H_

#include <cstdint>
#include <string>
#include <vector>

namespace kit {

// As struct Network of chapters/12_mnist_cnn/support.h; image is a multiple of 4.
struct NetworkSizes {
  int image, channels1, channels2, hidden, classes;
};

// A part of the parameters, which are one flat array: convolution, gamma, beta; the same of the
// second block; weights and bias of the first linear layer, and of the second. Row-major, filters
// [out][in][3][3], linear weights [out][in].
struct NetworkTensor {
  std::string name;
  size_t offset, size;
  int fan_in;  // 0: gamma or beta
};
std::vector<NetworkTensor> network_tensors(const NetworkSizes& sizes);

// Uniform in +-1 / sqrt(fan_in); gamma around 1 and beta around 0, so that no gradient is special.
std::vector<float> random_parameters(const NetworkSizes& sizes);

class DoubleNetwork {
 public:
  DoubleNetwork(const NetworkSizes& sizes, const std::vector<float>& parameters);

  // images: n x image x image; one label per image. Returns the loss.
  double forward(const std::vector<float>& images, const std::vector<uint8_t>& labels);
  // Derivatives of the loss of the last forward() by every parameter, in the layout of the
  // parameters.
  std::vector<double> backward() const;
  void update(const std::vector<double>& gradients, double rate);

  std::vector<double>& parameters() { return parameters_; }
  const std::vector<double>& logits() const { return logits_; }  // n x classes

  // What ReLU and pooling chose in the last forward(): of each window the value that won (4: none
  // is above 0), of each hidden value whether it passed. The loss is smooth where these stay the
  // same.
  std::vector<uint8_t> decisions() const;
  // How far the closest of these choices was from falling otherwise.
  double margin() const;

 private:
  using Values = std::vector<double>;
  // Convolution, batch norm, ReLU and pool.
  struct Block {
    int channels, filters, side;  // of the input; side is its height and width
    size_t first;                 // of its parameters
    Values x, conv, mean, inv_std, y;
    std::vector<uint8_t> winners;  // of each window, 4 for none
    double margin = 0;
  };
  void forward_block(Block& block, const Values& x) const;
  void normalise_and_pool(Block& block) const;
  Values backward_block(const Block& block, const Values& dy, Values& gradients) const;
  Values backward_to_conv(const Block& block, const Values& dy, Values& gradients) const;
  Values forward_linear(const Values& x, int tensor) const;
  Values backward_linear(const Values& x, const Values& dy, int tensor, Values& gradients) const;

  NetworkSizes sizes_;
  std::vector<NetworkTensor> tensors_;
  Values parameters_;
  int n_ = 0;
  std::vector<uint8_t> labels_;
  Block blocks_[2];
  Values hidden_, relu_, logits_;  // of the last forward()
};

}  // namespace kit

#endif  // WARPLINGS_MNIST_CNN_TEST_NETWORK_H_
