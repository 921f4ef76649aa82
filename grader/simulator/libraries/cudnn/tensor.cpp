#include "cudnn/tensor.h"

#include <algorithm>
#include <mutex>
#include <set>
#include <utility>

namespace warplings::libraries {
namespace {

std::mutex& handles_mutex() {
  static auto* const mutex = new std::mutex();
  return *mutex;
}

std::set<cudnnHandle_t>& handles() {
  static auto* const set = new std::set<cudnnHandle_t>();
  return *set;
}

// Calls visit(offset in the layout) for each element, the last dimension fastest.
template <class Visit>
void for_each_element(const Layout& l, Visit visit) {
  for (int64_t a = 0; a < l.size[0]; ++a) {
    for (int64_t b = 0; b < l.size[1]; ++b) {
      for (int64_t c = 0; c < l.size[2]; ++c) {
        for (int64_t d = 0; d < l.size[3]; ++d) {
          const int64_t row = a * l.stride[0] + b * l.stride[1] + c * l.stride[2] + d * l.stride[3];
          for (int64_t e = 0; e < l.size[4]; ++e) visit(row + e * l.stride[4]);
        }
      }
    }
  }
}

void add_operand(Operands* operands, const char* role, const Layout& layout, const void* data,
                 Access access) {
  const auto size = static_cast<int64_t>(size_of(layout.type));
  // From the innermost in memory to the outermost, so that neighbours join.
  std::vector<Level> levels;
  for (int i = 0; i < kDimensions; ++i) {
    const auto at = static_cast<size_t>(i);
    if (layout.size[at] > 1) levels.push_back({layout.size[at], layout.stride[at] * size});
  }
  std::sort(levels.begin(), levels.end(),
            [](const Level& a, const Level& b) { return a.stride < b.stride; });
  operands->add(role, data, size_of(layout.type), levels, access);
}

}  // namespace

bool is_live(cudnnHandle_t handle) {
  const std::lock_guard lock(handles_mutex());
  return handles().contains(handle);
}

int64_t Layout::extent() const {
  int64_t last = 0;
  for (size_t i = 0; i < kDimensions; ++i) last += (size[i] - 1) * stride[i];
  return last + 1;
}

Number number_of(cudnnDataType_t type) {
  switch (type) {
    case CUDNN_DATA_FLOAT:
      return Number::kFloat;
    case CUDNN_DATA_DOUBLE:
      return Number::kDouble;
    case CUDNN_DATA_HALF:
      return Number::kHalf;
    case CUDNN_DATA_BFLOAT16:
      return Number::kBfloat16;
    case CUDNN_DATA_INT8:
      return Number::kInt8;
    case CUDNN_DATA_INT32:
      return Number::kInt32;
    default:
      return Number::kNone;
  }
}

Layout dense_layout(Number type, cudnnTensorFormat_t format, int n, int c, int h, int w) {
  Layout layout;
  layout.type = type;
  layout.rank = 4;
  layout.size = {n, c, h, w, 1};
  const int64_t plane = static_cast<int64_t>(h) * w;
  if (format == CUDNN_TENSOR_NHWC) {
    layout.stride = {plane * c, 1, static_cast<int64_t>(w) * c, c, 1};
  } else {
    layout.stride = {plane * c, plane, w, 1, 1};
  }
  return layout;
}

template <class T>
std::vector<T> load_dense(const Layout& layout, const void* data) {
  std::vector<T> values;
  values.reserve(static_cast<size_t>(layout.count()));
  for_each_element(
      layout, [&](int64_t at) { values.push_back(static_cast<T>(load(layout.type, data, at))); });
  return values;
}

template <class T>
void store_dense(const Layout& layout, void* to, const std::vector<T>& values, double alpha,
                 double beta) {
  size_t i = 0;
  for_each_element(layout, [&](int64_t at) {
    T value = static_cast<T>(alpha) * values[i++];
    if (beta != 0) value += static_cast<T>(beta) * static_cast<T>(load(layout.type, to, at));
    store(layout.type, to, at, static_cast<double>(value));
  });
}

template std::vector<float> load_dense<float>(const Layout&, const void*);
template std::vector<double> load_dense<double>(const Layout&, const void*);
template void store_dense<float>(const Layout&, void*, const std::vector<float>&, double, double);
template void store_dense<double>(const Layout&, void*, const std::vector<double>&, double, double);

LayerCall::LayerCall(const Call& site, cudnnHandle_t handle) : site_(site), handle_(handle) {
  if (!is_live(handle)) status_ = CUDNN_STATUS_BAD_PARAM;
}

void LayerCall::require(bool condition, cudnnStatus_t status, const char* what) {
  if (condition || !ok()) return;
  status_ = status;
  if (what != nullptr) site_.explain("bad-parameter", std::string("refuses: ") + what + ".");
}

double LayerCall::scalar(const void* pointer, const Layout& layout) {
  require(pointer != nullptr, CUDNN_STATUS_BAD_PARAM, "alpha and beta are not null");
  if (!ok()) return 0;
  if (wsim_is_device_only(pointer) != 0) {
    site_.report("scalar-on-device",
                 "was given a device pointer as alpha or beta. cuDNN reads them from host memory: "
                 "on a GPU the program would crash. Nothing was done.");
    status_ = CUDNN_STATUS_BAD_PARAM;
    return 0;
  }
  return load(layout.is_double() ? Number::kDouble : Number::kFloat, pointer, 0);
}

void LayerCall::reads(const char* role, const Layout& layout, const void* data) {
  add_operand(&operands_, role, layout, data, Access::kRead);
}

void LayerCall::writes(const char* role, const Layout& layout, const void* data, double beta) {
  add_operand(&operands_, role, layout, data, beta == 0 ? Access::kWrite : Access::kReadWrite);
}

void LayerCall::workspace(const void* data, size_t bytes) {
  if (bytes > 0) {
    operands_.add("workspace", data, 1, {{static_cast<int64_t>(bytes), 1}}, Access::kWrite);
  }
}

cudnnStatus_t LayerCall::run(double operations, std::function<void()> work) {
  if (!ok()) return status_;
  Placement placement;
  placement.device = handle_->device;
  placement.stream = handle_->stream;
  placement.operations = operations;
  const cudaError_t error = site_.enqueue(placement, operands_, std::move(work));
  return error == cudaSuccess ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_EXECUTION_FAILED;
}

}  // namespace warplings::libraries

using namespace warplings::libraries;

extern "C" {

size_t cudnnGetVersion(void) { return CUDNN_VERSION; }
size_t cudnnGetCudartVersion(void) { return 13000; }

const char* cudnnGetErrorString(cudnnStatus_t status) {
  switch (status) {
#define WARPLINGS_NAME(value) \
  case value:                 \
    return #value
    WARPLINGS_NAME(CUDNN_STATUS_SUCCESS);
    WARPLINGS_NAME(CUDNN_STATUS_NOT_INITIALIZED);
    WARPLINGS_NAME(CUDNN_STATUS_BAD_PARAM);
    WARPLINGS_NAME(CUDNN_STATUS_BAD_PARAM_NULL_POINTER);
    WARPLINGS_NAME(CUDNN_STATUS_BAD_PARAM_SIZE_INSUFFICIENT);
    WARPLINGS_NAME(CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH);
    WARPLINGS_NAME(CUDNN_STATUS_NOT_SUPPORTED);
    WARPLINGS_NAME(CUDNN_STATUS_NOT_SUPPORTED_SHAPE);
    WARPLINGS_NAME(CUDNN_STATUS_NOT_SUPPORTED_DATA_TYPE);
    WARPLINGS_NAME(CUDNN_STATUS_NOT_SUPPORTED_LAYOUT);
    WARPLINGS_NAME(CUDNN_STATUS_INTERNAL_ERROR);
    WARPLINGS_NAME(CUDNN_STATUS_EXECUTION_FAILED);
#undef WARPLINGS_NAME
  }
  return "CUDNN_STATUS_UNKNOWN";
}

cudnnStatus_t cudnnGetProperty(libraryPropertyType type, int* value) {
  if (value == nullptr || type < MAJOR_VERSION || type > PATCH_LEVEL) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  constexpr int kVersion[] = {CUDNN_MAJOR, CUDNN_MINOR, CUDNN_PATCHLEVEL};
  *value = kVersion[type];
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnCreate(cudnnHandle_t* handle) {
  WARPLINGS_MAY_FAIL(cudnnCreate, CUDNN_STATUS_INTERNAL_ERROR);
  if (handle == nullptr) return CUDNN_STATUS_BAD_PARAM;
  *handle = new cudnnContext();
  (*handle)->device = current_device();
  const std::lock_guard lock(handles_mutex());
  handles().insert(*handle);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnDestroy(cudnnHandle_t handle) {
  const std::lock_guard lock(handles_mutex());
  if (handles().erase(handle) == 0) return CUDNN_STATUS_BAD_PARAM;
  wsim_library_gone(handle);
  delete handle;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t streamId) {
  WARPLINGS_MAY_FAIL(cudnnSetStream, CUDNN_STATUS_INTERNAL_ERROR);
  if (!is_live(handle)) return CUDNN_STATUS_BAD_PARAM;
  handle->stream = streamId;
  wsim_library_mode("stream of a cuDNN handle", handle, reinterpret_cast<int64_t>(streamId));
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetStream(cudnnHandle_t handle, cudaStream_t* streamId) {
  if (!is_live(handle) || streamId == nullptr) return CUDNN_STATUS_BAD_PARAM;
  *streamId = handle->stream;
  return CUDNN_STATUS_SUCCESS;
}

}  // extern "C"
