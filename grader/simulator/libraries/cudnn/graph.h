// A graph of cuDNN's backend interface as the engines see it: tensors by name, and the operations
// that lead from one to the next.
#ifndef WARPLINGS_SIMULATOR_LIBRARIES_CUDNN_GRAPH_H_
#define WARPLINGS_SIMULATOR_LIBRARIES_CUDNN_GRAPH_H_

#include <cudnn.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "cudnn/tensor.h"

namespace warplings::libraries {

struct GraphTensor {
  int64_t id = 0;
  Layout layout;
  int64_t alignment = 1;    // bytes
  bool is_virtual = false;  // no array is behind it
};

struct GraphOperation {
  bool is_convolution = false;
  cudnnConvolutionStruct how;  // of a convolution
  cudnnPointwiseMode_t mode = CUDNN_POINTWISE_IDENTITY;
  double lower_clip = 0, upper_clip = 0;  // of a ReLU
  bool has_upper_clip = false;
  double x_factor = 1, b_factor = 1;
  int64_t x = 0, b = 0, y = 0;  // tensors; b: the filters, or the second operand
  bool has_b = false;
};

struct Graph {
  std::map<int64_t, GraphTensor> tensors;
  std::vector<GraphOperation> operations;  // in the order in which they run

  // What is wrong with it, "" if nothing: sizes that do not fit, a value that nothing has computed.
  std::string problem() const;
  double flops() const;
  // The arrays that it reads before it writes them, and those that it writes.
  std::vector<int64_t> inputs() const, outputs() const;
  void run(const std::map<int64_t, void*>& arrays) const;
};

// The engines that a heuristic proposes, as far as a program can tell them apart: which graphs each
// takes, and its work space.
constexpr int kEngines = 3;
bool engine_takes(int engine, const Graph& graph);
int64_t engine_workspace(int engine, const Graph& graph);

}  // namespace warplings::libraries

#endif  // WARPLINGS_SIMULATOR_LIBRARIES_CUDNN_GRAPH_H_
