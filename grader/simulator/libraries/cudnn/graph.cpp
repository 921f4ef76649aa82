#include "cudnn/graph.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "cudnn/convolution.h"

namespace warplings::libraries {
namespace {

using Values = std::vector<float>;

ConvolutionShape shape_of(const Graph& graph, const GraphOperation& op) {
  return {graph.tensors.at(op.x).layout, graph.tensors.at(op.b).layout, op.how};
}

bool is_binary(cudnnPointwiseMode_t mode) {
  return mode == CUDNN_POINTWISE_ADD || mode == CUDNN_POINTWISE_MUL ||
         mode == CUDNN_POINTWISE_MIN || mode == CUDNN_POINTWISE_MAX || mode == CUDNN_POINTWISE_SUB;
}

float apply(const GraphOperation& op, float x, float b) {
  switch (op.mode) {
    case CUDNN_POINTWISE_ADD:
      return x + b;
    case CUDNN_POINTWISE_MUL:
      return x * b;
    case CUDNN_POINTWISE_MIN:
      return std::fmin(x, b);
    case CUDNN_POINTWISE_MAX:
      return std::fmax(x, b);
    case CUDNN_POINTWISE_SUB:
      return x - b;
    case CUDNN_POINTWISE_IDENTITY:
      return x;
    case CUDNN_POINTWISE_RELU_FWD:
      x = x > static_cast<float>(op.lower_clip) ? x : static_cast<float>(op.lower_clip);
      return op.has_upper_clip ? std::fmin(x, static_cast<float>(op.upper_clip)) : x;
    case CUDNN_POINTWISE_TANH_FWD:
      return std::tanh(x);
    case CUDNN_POINTWISE_SIGMOID_FWD:
      return 1 / (1 + std::exp(-x));
  }
  return x;
}

// b has the size of y or 1 in each dimension.
bool is_spread(const Layout& b, const Layout& y) {
  for (size_t i = 0; i < kDimensions; ++i) {
    if (b.size[i] != y.size[i] && b.size[i] != 1) return false;
  }
  return true;
}

std::string problem_of(const Graph& graph, const GraphOperation& op) {
  const Layout& x = graph.tensors.at(op.x).layout;
  const Layout& y = graph.tensors.at(op.y).layout;
  if (op.is_convolution) {
    const ConvolutionShape shape = shape_of(graph, op);
    if (!shape.is_valid()) return "the filters of its convolution do not fit its input";
    return shape.gives(y) ? "" : "y of its convolution has other sizes than the convolution gives";
  }
  if (!x.same_size(y)) return "x and y of an operation element by element have different sizes";
  if (is_binary(op.mode) != op.has_b) {
    return op.has_b ? "an operation of one tensor has got two"
                    : "an operation of two tensors has got one";
  }
  if (op.has_b && !is_spread(graph.tensors.at(op.b).layout, y)) {
    return "the second tensor of an operation has neither the size of y nor 1 in every dimension";
  }
  return "";
}

Values convolved(const Graph& graph, const GraphOperation& op, const Values& x,
                 const Values& filters) {
  Values y(static_cast<size_t>(graph.tensors.at(op.y).layout.count()));
  convolve(shape_of(graph, op), x, filters, &y);
  if (op.x_factor != 1) {
    for (float& value : y) value *= static_cast<float>(op.x_factor);
  }
  return y;
}

Values element_by_element(const Graph& graph, const GraphOperation& op, const Values& x,
                          const Values& b) {
  const Layout& y_layout = graph.tensors.at(op.y).layout;
  Values y(x.size());
  Index at{};
  for (size_t i = 0; i < y.size(); ++i) {
    float second = 0;
    if (op.has_b) {
      const Layout& b_layout = graph.tensors.at(op.b).layout;
      int64_t offset = 0;
      for (size_t d = 0; d < kDimensions; ++d) {
        offset = offset * b_layout.size[d] + (b_layout.size[d] == 1 ? 0 : at[d]);
      }
      second = b[static_cast<size_t>(offset)] * static_cast<float>(op.b_factor);
    }
    y[i] = apply(op, x[i] * static_cast<float>(op.x_factor), second);
    for (size_t d = kDimensions; d-- > 0 && ++at[d] == y_layout.size[d];) at[d] = 0;
  }
  return y;
}

bool channels_are_last(const Graph& graph, int64_t multiple) {
  for (const auto& [id, tensor] : graph.tensors) {
    const Layout& layout = tensor.layout;
    if (tensor.is_virtual || layout.count() == layout.size[1]) continue;
    if (layout.stride[1] != 1 || layout.size[1] % multiple != 0) return false;
  }
  return true;
}

}  // namespace

std::string Graph::problem() const {
  std::set<int64_t> computed;
  for (const GraphOperation& op : operations) {
    for (const int64_t from : {op.x, op.has_b ? op.b : op.x}) {
      if (tensors.at(from).is_virtual && computed.count(from) == 0) {
        return "an operation reads the virtual tensor " + std::to_string(from) +
               ", which none before it computes";
      }
    }
    const std::string problem = problem_of(*this, op);
    if (!problem.empty()) return problem;
    computed.insert(op.y);
  }
  return operations.empty() ? "it has no operation" : "";
}

double Graph::flops() const {
  double sum = 0;
  for (const GraphOperation& op : operations) {
    sum += op.is_convolution ? shape_of(*this, op).operations()
                             : static_cast<double>(tensors.at(op.y).layout.count());
  }
  return sum;
}

std::vector<int64_t> Graph::inputs() const {
  std::set<int64_t> found, computed;
  for (const GraphOperation& op : operations) {
    for (const int64_t from : {op.x, op.has_b ? op.b : op.x}) {
      if (!tensors.at(from).is_virtual && computed.count(from) == 0) found.insert(from);
    }
    computed.insert(op.y);
  }
  return {found.begin(), found.end()};
}

std::vector<int64_t> Graph::outputs() const {
  std::set<int64_t> found;
  for (const GraphOperation& op : operations) {
    if (!tensors.at(op.y).is_virtual) found.insert(op.y);
  }
  return {found.begin(), found.end()};
}

void Graph::run(const std::map<int64_t, void*>& arrays) const {
  std::map<int64_t, Values> values;
  for (const int64_t id : inputs()) {
    values[id] = load_dense<float>(tensors.at(id).layout, view(arrays.at(id)));
  }
  for (const GraphOperation& op : operations) {
    const Values b = op.has_b ? values.at(op.b) : Values();
    Values y = op.is_convolution ? convolved(*this, op, values.at(op.x), b)
                                 : element_by_element(*this, op, values.at(op.x), b);
    const GraphTensor& to = tensors.at(op.y);
    if (!to.is_virtual) store_dense(to.layout, view(arrays.at(op.y)), y, 1, 0);
    values[op.y] = std::move(y);
  }
}

// The first wants tensor cores to be fed well, the second channels side by side, the third takes
// all.
bool engine_takes(int engine, const Graph& graph) {
  if (engine == 0) return channels_are_last(graph, 16);
  return engine != 1 || channels_are_last(graph, 1);
}

int64_t engine_workspace(int engine, const Graph& graph) {
  if (engine == 0) return 16 * 1024;
  return engine == 1 ? 0 : 4 * static_cast<int64_t>(graph.operations.size()) * 1024;
}

}  // namespace warplings::libraries
