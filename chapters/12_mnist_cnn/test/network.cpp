#include "12_mnist_cnn/test/network.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kit/kit.h"

namespace kit {

namespace {

constexpr double kEpsilon = 1e-5f;                                 // the float that the kernels use
constexpr int kConv1 = 0, kConv2 = 3, kLinear1 = 6, kLinear2 = 8;  // positions among the tensors

// Calls add(position in x, position in w, position in y) for every product of a convolution of n
// images with 3 x 3 filters and a border of one pixel: y is the sum of w x.
template <class Add>
void for_each_conv_product(int n, int channels, int filters, int side, const Add& add) {
  for (int image = 0; image < n; ++image) {
    for (int filter = 0; filter < filters; ++filter) {
      for (int channel = 0; channel < channels; ++channel) {
        for (int i = 0; i < side * side * 9; ++i) {
          const int row = i / 9 / side, col = i / 9 % side, r = i % 9 / 3, s = i % 3;
          const int from_row = row + r - 1, from_col = col + s - 1;
          if (from_row < 0 || from_row >= side || from_col < 0 || from_col >= side) continue;
          const size_t plane = static_cast<size_t>(image) * channels + channel;
          add((plane * side + from_row) * side + from_col,
              (static_cast<size_t>(filter) * channels + channel) * 9 + i % 9,
              ((static_cast<size_t>(image) * filters + filter) * side + row) * side + col);
        }
      }
    }
  }
}

// The four values of window i of planes of side x side.
struct Window {
  size_t at[4];
  Window(size_t i, int side) {
    const size_t half = side / 2, plane = i / (half * half);
    const size_t corner = (plane * side + i / half % half * 2) * side + i % half * 2;
    for (size_t k = 0; k < 4; ++k) at[k] = corner + k / 2 * side + k % 2;
  }
};

}  // namespace

std::vector<NetworkTensor> network_tensors(const NetworkSizes& s) {
  const int features = s.channels2 * (s.image / 4) * (s.image / 4);
  std::vector<NetworkTensor> tensors;
  const auto add = [&](const char* name, int size, int fan_in) {
    const size_t offset = tensors.empty() ? 0 : tensors.back().offset + tensors.back().size;
    tensors.push_back({name, offset, static_cast<size_t>(size), fan_in});
  };
  add("conv1.weight", s.channels1 * 9, 9);
  add("bn1.weight", s.channels1, 0);
  add("bn1.bias", s.channels1, 0);
  add("conv2.weight", s.channels2 * s.channels1 * 9, s.channels1 * 9);
  add("bn2.weight", s.channels2, 0);
  add("bn2.bias", s.channels2, 0);
  add("linear1.weight", s.hidden * features, features);
  add("linear1.bias", s.hidden, features);
  add("linear2.weight", s.classes * s.hidden, s.hidden);
  add("linear2.bias", s.classes, s.hidden);
  return tensors;
}

std::vector<float> random_parameters(const NetworkSizes& sizes) {
  std::vector<float> parameters;
  for (const NetworkTensor& tensor : network_tensors(sizes)) {
    const bool gamma = tensor.name == "bn1.weight" || tensor.name == "bn2.weight";
    const float middle = gamma ? 1.0f : 0.0f;
    const float bound =
        tensor.fan_in == 0 ? 0.25f : 1.0f / std::sqrt(static_cast<float>(tensor.fan_in));
    const std::vector<float> values = random_floats(tensor.size, middle - bound, middle + bound);
    parameters.insert(parameters.end(), values.begin(), values.end());
  }
  return parameters;
}

DoubleNetwork::DoubleNetwork(const NetworkSizes& sizes, const std::vector<float>& parameters)
    : sizes_(sizes),
      tensors_(network_tensors(sizes)),
      parameters_(parameters.begin(), parameters.end()) {
  blocks_[0].channels = 1;
  blocks_[0].filters = sizes.channels1;
  blocks_[0].side = sizes.image;
  blocks_[0].first = kConv1;
  blocks_[1].channels = sizes.channels1;
  blocks_[1].filters = sizes.channels2;
  blocks_[1].side = sizes.image / 2;
  blocks_[1].first = kConv2;
}

void DoubleNetwork::forward_block(Block& block, const Values& x) const {
  const size_t plane = static_cast<size_t>(block.side) * block.side;
  const double* w = &parameters_[tensors_[block.first].offset];
  block.x = x;
  block.conv.assign(plane * n_ * block.filters, 0.0);
  for_each_conv_product(
      n_, block.channels, block.filters, block.side,
      [&](size_t in_x, size_t in_w, size_t in_y) { block.conv[in_y] += w[in_w] * x[in_x]; });
  block.mean.assign(block.filters, 0.0);
  block.inv_std.assign(block.filters, 0.0);
  const double count = static_cast<double>(plane) * n_;
  const auto channel_of = [&](size_t i) { return i / plane % block.filters; };
  for (size_t i = 0; i < block.conv.size(); ++i) block.mean[channel_of(i)] += block.conv[i] / count;
  for (size_t i = 0; i < block.conv.size(); ++i) {
    const double distance = block.conv[i] - block.mean[channel_of(i)];
    block.inv_std[channel_of(i)] += distance * distance / count;  // the variance, so far
  }
  for (double& value : block.inv_std) value = 1 / std::sqrt(value + kEpsilon);
  normalise_and_pool(block);
}

void DoubleNetwork::normalise_and_pool(Block& block) const {
  const double* gamma = &parameters_[tensors_[block.first + 1].offset];
  const double* beta = &parameters_[tensors_[block.first + 2].offset];
  const size_t plane = static_cast<size_t>(block.side) * block.side;
  block.margin = std::numeric_limits<double>::infinity();
  block.y.clear();
  block.winners.clear();
  for (size_t i = 0; i < block.conv.size() / 4; ++i) {
    const Window window(i, block.side);
    const size_t c = window.at[0] / plane % block.filters;
    double first = 0, second = -std::numeric_limits<double>::infinity();  // the two greatest
    uint8_t winner = 4;
    for (uint8_t k = 0; k < 4; ++k) {
      const double xhat = (block.conv[window.at[k]] - block.mean[c]) * block.inv_std[c];
      const double value = gamma[c] * xhat + beta[c];
      if (value > first) {
        second = first;
        first = value;
        winner = k;
      } else {
        second = std::max(second, value);
      }
    }
    block.y.push_back(first);
    block.winners.push_back(winner);
    block.margin = std::min(block.margin, first - second);
  }
}

DoubleNetwork::Values DoubleNetwork::forward_linear(const Values& x, int tensor) const {
  const double* w = &parameters_[tensors_[tensor].offset];
  const double* b = &parameters_[tensors_[tensor + 1].offset];
  const size_t out = tensors_[tensor + 1].size, in = tensors_[tensor].fan_in;
  Values y;
  for (size_t i = 0; i < n_ * out; ++i) {
    double sum = b[i % out];
    for (size_t j = 0; j < in; ++j) sum += x[i / out * in + j] * w[i % out * in + j];
    y.push_back(sum);
  }
  return y;
}

double DoubleNetwork::forward(const std::vector<float>& images,
                              const std::vector<uint8_t>& labels) {
  n_ = static_cast<int>(labels.size());
  labels_ = labels;
  forward_block(blocks_[0], Values(images.begin(), images.end()));
  forward_block(blocks_[1], blocks_[0].y);
  hidden_ = forward_linear(blocks_[1].y, kLinear1);
  relu_.clear();
  for (const double value : hidden_) relu_.push_back(std::max(value, 0.0));
  logits_ = forward_linear(relu_, kLinear2);
  double loss = 0;
  for (int i = 0; i < n_; ++i) {
    const double* row = &logits_[static_cast<size_t>(i) * sizes_.classes];
    const double greatest = *std::max_element(row, row + sizes_.classes);
    double sum = 0;
    for (int c = 0; c < sizes_.classes; ++c) sum += std::exp(row[c] - greatest);
    loss += (std::log(sum) + greatest - row[labels[i]]) / n_;
  }
  return loss;
}

DoubleNetwork::Values DoubleNetwork::backward_linear(const Values& x, const Values& dy, int tensor,
                                                     Values& gradients) const {
  const double* w = &parameters_[tensors_[tensor].offset];
  double* dw = &gradients[tensors_[tensor].offset];
  double* db = &gradients[tensors_[tensor + 1].offset];
  const size_t out = tensors_[tensor + 1].size, in = tensors_[tensor].fan_in;
  Values dx(x.size());
  for (size_t i = 0; i < n_ * out; ++i) {
    db[i % out] += dy[i];
    for (size_t j = 0; j < in; ++j) {
      dw[i % out * in + j] += dy[i] * x[i / out * in + j];
      dx[i / out * in + j] += dy[i] * w[i % out * in + j];
    }
  }
  return dx;
}

// From the derivative by the block's output to that by the convolution's.
DoubleNetwork::Values DoubleNetwork::backward_to_conv(const Block& block, const Values& dy,
                                                      Values& gradients) const {
  const size_t plane = static_cast<size_t>(block.side) * block.side;
  const double* gamma = &parameters_[tensors_[block.first + 1].offset];
  double* dgamma = &gradients[tensors_[block.first + 1].offset];
  double* dbeta = &gradients[tensors_[block.first + 2].offset];
  Values d(block.conv.size());  // by the output of batch norm, then by its input
  for (size_t i = 0; i < dy.size(); ++i) {
    if (block.winners[i] < 4) d[Window(i, block.side).at[block.winners[i]]] = dy[i];
  }
  const auto channel_of = [&](size_t i) { return i / plane % block.filters; };
  const auto xhat = [&](size_t i) {
    return (block.conv[i] - block.mean[channel_of(i)]) * block.inv_std[channel_of(i)];
  };
  for (size_t i = 0; i < d.size(); ++i) {
    dbeta[channel_of(i)] += d[i];
    dgamma[channel_of(i)] += d[i] * xhat(i);
  }
  const double count = static_cast<double>(plane) * n_;
  for (size_t i = 0; i < d.size(); ++i) {
    const size_t c = channel_of(i);
    d[i] = gamma[c] * block.inv_std[c] * (d[i] - (dbeta[c] + xhat(i) * dgamma[c]) / count);
  }
  return d;
}

DoubleNetwork::Values DoubleNetwork::backward_block(const Block& block, const Values& dy,
                                                    Values& gradients) const {
  const Values d = backward_to_conv(block, dy, gradients);
  const size_t offset = tensors_[block.first].offset;
  Values dx(block.x.size());
  for_each_conv_product(n_, block.channels, block.filters, block.side,
                        [&](size_t in_x, size_t in_w, size_t in_y) {
                          gradients[offset + in_w] += d[in_y] * block.x[in_x];
                          dx[in_x] += d[in_y] * parameters_[offset + in_w];
                        });
  return dx;
}

std::vector<double> DoubleNetwork::backward() const {
  Values gradients(parameters_.size()), d;
  for (int i = 0; i < n_; ++i) {
    const double* row = &logits_[static_cast<size_t>(i) * sizes_.classes];
    const double greatest = *std::max_element(row, row + sizes_.classes);
    double sum = 0;
    for (int c = 0; c < sizes_.classes; ++c) sum += std::exp(row[c] - greatest);
    for (int c = 0; c < sizes_.classes; ++c) {
      d.push_back((std::exp(row[c] - greatest) / sum - (c == labels_[i] ? 1 : 0)) / n_);
    }
  }
  d = backward_linear(relu_, d, kLinear2, gradients);
  for (size_t i = 0; i < d.size(); ++i) d[i] = hidden_[i] > 0 ? d[i] : 0;
  d = backward_linear(blocks_[1].y, d, kLinear1, gradients);
  d = backward_block(blocks_[1], d, gradients);
  backward_block(blocks_[0], d, gradients);
  return gradients;
}

void DoubleNetwork::update(const std::vector<double>& gradients, double rate) {
  for (size_t i = 0; i < parameters_.size(); ++i) parameters_[i] -= rate * gradients[i];
}

std::vector<uint8_t> DoubleNetwork::decisions() const {
  std::vector<uint8_t> all;
  for (const Block& block : blocks_) {
    all.insert(all.end(), block.winners.begin(), block.winners.end());
  }
  for (const double value : hidden_) all.push_back(value > 0 ? 1 : 0);
  return all;
}

double DoubleNetwork::margin() const {
  double margin = std::min(blocks_[0].margin, blocks_[1].margin);
  for (const double value : hidden_) margin = std::min(margin, std::fabs(value));
  return margin;
}

}  // namespace kit
