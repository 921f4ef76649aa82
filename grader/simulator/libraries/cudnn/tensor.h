// Descriptors of cuDNN, and tensors as dense arrays that the layers compute with.
#ifndef WARPLINGS_SIMULATOR_LIBRARIES_CUDNN_TENSOR_H_
#define WARPLINGS_SIMULATOR_LIBRARIES_CUDNN_TENSOR_H_

#include <cudnn.h>

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/call.h"
#include "common/held.h"
#include "common/number.h"

namespace warplings::libraries {

inline constexpr int kDimensions = 5;  // the most that tensors have here
using Index = std::array<int64_t, kDimensions>;

// Lower ranks fill the front; the rest are ones.
struct Layout {
  Number type = Number::kNone;  // kNone: not set yet
  int rank = 0;
  Index size{1, 1, 1, 1, 1}, stride{1, 1, 1, 1, 1};

  int64_t count() const { return size[0] * size[1] * size[2] * size[3] * size[4]; }
  // Elements from the first to one past the last.
  int64_t extent() const;
  bool is_set() const { return type != Number::kNone; }
  bool same_size(const Layout& other) const { return size == other.size; }
  bool is_double() const { return type == Number::kDouble; }
};

Number number_of(cudnnDataType_t type);
Layout dense_layout(Number type, cudnnTensorFormat_t format, int n, int c, int h, int w);

}  // namespace warplings::libraries

struct cudnnContext {
  int device = 0;
  cudaStream_t stream = nullptr;
  warplings::libraries::Held held{"cuDNN handle"};
};
struct cudnnTensorStruct {
  warplings::libraries::Layout layout;
  warplings::libraries::Held held{"cuDNN tensor descriptor"};
};
struct cudnnFilterStruct {
  warplings::libraries::Layout layout;
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  cudnnTensorFormat_t format = CUDNN_TENSOR_NCHW;
  warplings::libraries::Held held{"cuDNN filter descriptor"};
};
struct cudnnConvolutionStruct {
  bool set = false;
  int pad[2] = {0, 0}, stride[2] = {1, 1}, dilation[2] = {1, 1};
  cudnnConvolutionMode_t mode = CUDNN_CONVOLUTION;
  cudnnDataType_t compute = CUDNN_DATA_FLOAT;
  cudnnMathType_t math = CUDNN_DEFAULT_MATH;
  int groups = 1;
  warplings::libraries::Held held{"cuDNN convolution descriptor"};
};
struct cudnnPoolingStruct {
  bool set = false;
  cudnnPoolingMode_t mode = CUDNN_POOLING_MAX;
  cudnnNanPropagation_t nan = CUDNN_NOT_PROPAGATE_NAN;
  int window[2] = {1, 1}, pad[2] = {0, 0}, stride[2] = {1, 1};
  warplings::libraries::Held held{"cuDNN pooling descriptor"};
};
struct cudnnActivationStruct {
  bool set = false;
  cudnnActivationMode_t mode = CUDNN_ACTIVATION_IDENTITY;
  cudnnNanPropagation_t nan = CUDNN_NOT_PROPAGATE_NAN;
  double coefficient = 0;
  warplings::libraries::Held held{"cuDNN activation descriptor"};
};
struct cudnnOpTensorStruct {
  bool set = false;
  cudnnOpTensorOp_t op = CUDNN_OP_TENSOR_ADD;
  warplings::libraries::Held held{"cuDNN op-tensor descriptor"};
};

namespace warplings::libraries {

bool is_live(cudnnHandle_t handle);

// A tensor of the program as a dense array, dimensions in the order of the descriptor.
template <class T>
std::vector<T> load_dense(const Layout& layout, const void* data);

// to = alpha * values + beta * to; `to` is not read if beta is 0.
template <class T>
void store_dense(const Layout& layout, void* to, const std::vector<T>& values, double alpha,
                 double beta);

// One call: checks and operands first, then the work.
class LayerCall {
 public:
  LayerCall(const Call& site, cudnnHandle_t handle);

  void require(bool condition, cudnnStatus_t status, const char* what = nullptr);
  bool ok() const { return status_ == CUDNN_STATUS_SUCCESS; }
  cudnnStatus_t status() const { return status_; }

  // A factor of the host: a double if the tensors are, else a float.
  double scalar(const void* pointer, const Layout& layout);
  void reads(const char* role, const Layout& layout, const void* data);
  void writes(const char* role, const Layout& layout, const void* data, double beta);
  void workspace(const void* data, size_t bytes);
  cudnnStatus_t run(double operations, std::function<void()> work);

 private:
  const Call& site_;
  cudnnHandle_t handle_;
  cudnnStatus_t status_ = CUDNN_STATUS_SUCCESS;
  Operands operands_;
};

// Runs `work` with T = double for tensors of double, else with float.
template <class Work>
void with_type(const Layout& layout, Work work) {
  if (layout.is_double()) {
    work(double{});
  } else {
    work(float{});
  }
}

}  // namespace warplings::libraries

#endif  // WARPLINGS_SIMULATOR_LIBRARIES_CUDNN_TENSOR_H_
