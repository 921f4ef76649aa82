// Handles of cuBLAS, their state, and copies between host and device.
#include "cublas/handle.h"

#include <cuda_runtime_api.h>

#include <mutex>
#include <set>
#include <utility>

namespace warplings::libraries {
namespace {

std::mutex& handles_mutex() {
  static auto* const mutex = new std::mutex();
  return *mutex;
}

std::set<cublasHandle_t>& handles() {
  static auto* const set = new std::set<cublasHandle_t>();
  return *set;
}

}  // namespace

bool is_live(cublasHandle_t handle) {
  const std::lock_guard lock(handles_mutex());
  return handles().contains(handle);
}

BlasCall::BlasCall(const Call& call, cublasHandle_t handle) : call_(call), handle_(handle) {
  if (!is_live(handle)) {
    status_ = CUBLAS_STATUS_NOT_INITIALIZED;
    return;
  }
  placement_.device = handle->device;
  placement_.stream = handle->stream;
}

void BlasCall::require(bool condition, int parameter, const char* what) {
  if (condition || !ok()) return;
  status_ = CUBLAS_STATUS_INVALID_VALUE;
  call_.explain("invalid-value", "refuses parameter " + std::to_string(parameter) +
                                     " behind the handle: " + what + ".");
}

Scalar BlasCall::scalar(const char* role, const void* pointer, Number type) {
  Scalar scalar;
  scalar.type_ = type;
  if (!ok()) return scalar;
  if (pointer == nullptr) {
    fail(CUBLAS_STATUS_INVALID_VALUE);
  } else if (handle_->pointer_mode == CUBLAS_POINTER_MODE_DEVICE) {
    scalar.device_ = pointer;
    operands_.add(role, pointer, size_of(type), {}, Access::kRead);
  } else if (wsim_is_device_only(pointer) != 0) {
    call_.report("scalar-on-device",
                 std::string("was given a device pointer as its ") + role +
                     ", but the handle expects scalars in host memory. Nothing was done; on a GPU "
                     "the program would crash. Pass the address of a variable of the host, or call "
                     "cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE).");
    fail(CUBLAS_STATUS_INVALID_VALUE);
  } else {
    scalar.value_ = load(type, pointer, 0);
  }
  return scalar;
}

void BlasCall::vector(const char* role, const void* data, Number type, int64_t n, int64_t step,
                      Access access) {
  const auto size = static_cast<int64_t>(size_of(type));
  operands_.add(role, data, size_of(type), {{n, step * size}}, access);
}

void BlasCall::matrix(const char* role, const void* data, Number type, int64_t rows,
                      int64_t columns, int64_t ld, Access access, int64_t stride, int64_t count) {
  const auto size = static_cast<int64_t>(size_of(type));
  operands_.add(role, data, size_of(type),
                {{rows, size}, {columns, ld * size}, {count, stride * size}}, access);
}

cublasStatus_t BlasCall::run(double operations, std::function<void()> work) {
  if (!ok()) return status_;
  placement_.operations = operations;
  const cudaError_t error = call_.enqueue(placement_, operands_, std::move(work));
  return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

cublasStatus_t BlasCall::run_with_result(void* result, Number type, const Result& compute) {
  if (!ok()) return status_;
  if (result == nullptr) return CUBLAS_STATUS_MAPPING_ERROR;
  if (handle_->pointer_mode == CUBLAS_POINTER_MODE_DEVICE) {
    operands_.add("result", result, size_of(type), {}, Access::kWrite);
    return run(0, [compute, result] { compute(view(result)); });
  }
  if (wsim_is_device_only(result) != 0) {
    call_.report("scalar-on-device",
                 "was given a device pointer for its result, but the handle writes results to host "
                 "memory. Nothing was done; on a GPU the program would crash. Pass the address of "
                 "a variable of the host, or call cublasSetPointerMode(handle, "
                 "CUBLAS_POINTER_MODE_DEVICE).");
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  placement_.wait = true;
  return run(0, [compute, result] { compute(result); });
}

}  // namespace warplings::libraries

using namespace warplings::libraries;

namespace {

// Sets or reads a field of a handle.
template <class T>
cublasStatus_t get_field(cublasHandle_t handle, T cublasContext::*field, T* value) {
  if (!is_live(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (value == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *value = handle->*field;
  return CUBLAS_STATUS_SUCCESS;
}

template <class T>
cublasStatus_t set_field(const char* what, cublasHandle_t handle, T cublasContext::*field, T value,
                         bool valid) {
  if (!is_live(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (!valid) return CUBLAS_STATUS_INVALID_VALUE;
  handle->*field = value;
  wsim_library_mode(what, handle, (int64_t)value);
  return CUBLAS_STATUS_SUCCESS;
}

struct Copy2D {
  int64_t rows, columns, element, from_ld, to_ld;
};

// Columns of `rows` elements, leading dimensions apart.
cublasStatus_t copy(const Copy2D& c, const void* from, void* to, cudaMemcpyKind kind,
                    const cudaStream_t* stream) {
  if (c.rows < 0 || c.columns < 0 || c.element <= 0 || c.from_ld <= 0 || c.to_ld <= 0) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  if (c.rows == 0 || c.columns == 0) return CUBLAS_STATUS_SUCCESS;
  const auto bytes = [&](int64_t count) { return static_cast<size_t>(count * c.element); };
  const cudaError_t error =
      stream == nullptr
          ? cudaMemcpy2D(to, bytes(c.to_ld), from, bytes(c.from_ld), bytes(c.rows),
                         static_cast<size_t>(c.columns), kind)
          : cudaMemcpy2DAsync(to, bytes(c.to_ld), from, bytes(c.from_ld), bytes(c.rows),
                              static_cast<size_t>(c.columns), kind, *stream);
  return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_MAPPING_ERROR;
}

}  // namespace

extern "C" {

cublasStatus_t cublasCreate(cublasHandle_t* handle) {
  WARPLINGS_MAY_FAIL(cublasCreate, CUBLAS_STATUS_ALLOC_FAILED);
  if (handle == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *handle = new cublasContext();
  (*handle)->device = current_device();
  const std::lock_guard lock(handles_mutex());
  handles().insert(*handle);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDestroy(cublasHandle_t handle) {
  const std::lock_guard lock(handles_mutex());
  if (handles().erase(handle) == 0) return CUBLAS_STATUS_NOT_INITIALIZED;
  wsim_library_gone(handle);
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetVersion(cublasHandle_t, int* version) {
  if (version == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *version = CUBLAS_VERSION;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetProperty(libraryPropertyType type, int* value) {
  if (value == nullptr || type < MAJOR_VERSION || type > PATCH_LEVEL) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  constexpr int kVersion[] = {CUBLAS_VER_MAJOR, CUBLAS_VER_MINOR, CUBLAS_VER_PATCH};
  *value = kVersion[type];
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t streamId) {
  WARPLINGS_MAY_FAIL(cublasSetStream, CUBLAS_STATUS_INTERNAL_ERROR);
  return set_field("stream of a cuBLAS handle", handle, &cublasContext::stream, streamId, true);
}

cublasStatus_t cublasGetStream(cublasHandle_t handle, cudaStream_t* streamId) {
  WARPLINGS_MAY_FAIL(cublasGetStream, CUBLAS_STATUS_INTERNAL_ERROR);
  return get_field(handle, &cublasContext::stream, streamId);
}

// Our calls need no memory of their own.
cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void*, size_t) {
  WARPLINGS_MAY_FAIL(cublasSetWorkspace, CUBLAS_STATUS_INTERNAL_ERROR);
  return is_live(handle) ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_INITIALIZED;
}

cublasStatus_t cublasSetPointerMode(cublasHandle_t handle, cublasPointerMode_t mode) {
  WARPLINGS_MAY_FAIL(cublasSetPointerMode, CUBLAS_STATUS_INTERNAL_ERROR);
  return set_field("pointer mode of a cuBLAS handle", handle, &cublasContext::pointer_mode, mode,
                   mode == CUBLAS_POINTER_MODE_HOST || mode == CUBLAS_POINTER_MODE_DEVICE);
}

cublasStatus_t cublasGetPointerMode(cublasHandle_t handle, cublasPointerMode_t* mode) {
  WARPLINGS_MAY_FAIL(cublasGetPointerMode, CUBLAS_STATUS_INTERNAL_ERROR);
  return get_field(handle, &cublasContext::pointer_mode, mode);
}

cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode) {
  WARPLINGS_MAY_FAIL(cublasSetMathMode, CUBLAS_STATUS_INTERNAL_ERROR);
  const int base = mode & ~CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION;
  return set_field("math mode of a cuBLAS handle", handle, &cublasContext::math, mode,
                   base >= CUBLAS_DEFAULT_MATH && base <= CUBLAS_TF32_TENSOR_OP_MATH);
}

cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t* mode) {
  WARPLINGS_MAY_FAIL(cublasGetMathMode, CUBLAS_STATUS_INTERNAL_ERROR);
  return get_field(handle, &cublasContext::math, mode);
}

cublasStatus_t cublasSetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t mode) {
  WARPLINGS_MAY_FAIL(cublasSetAtomicsMode, CUBLAS_STATUS_INTERNAL_ERROR);
  return set_field("atomics mode of a cuBLAS handle", handle, &cublasContext::atomics, mode,
                   mode == CUBLAS_ATOMICS_ALLOWED || mode == CUBLAS_ATOMICS_NOT_ALLOWED);
}

cublasStatus_t cublasGetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t* mode) {
  WARPLINGS_MAY_FAIL(cublasGetAtomicsMode, CUBLAS_STATUS_INTERNAL_ERROR);
  return get_field(handle, &cublasContext::atomics, mode);
}

const char* cublasGetStatusName(cublasStatus_t status) {
  switch (status) {
#define WARPLINGS_NAME(value) \
  case value:                 \
    return #value
    WARPLINGS_NAME(CUBLAS_STATUS_SUCCESS);
    WARPLINGS_NAME(CUBLAS_STATUS_NOT_INITIALIZED);
    WARPLINGS_NAME(CUBLAS_STATUS_ALLOC_FAILED);
    WARPLINGS_NAME(CUBLAS_STATUS_INVALID_VALUE);
    WARPLINGS_NAME(CUBLAS_STATUS_ARCH_MISMATCH);
    WARPLINGS_NAME(CUBLAS_STATUS_MAPPING_ERROR);
    WARPLINGS_NAME(CUBLAS_STATUS_EXECUTION_FAILED);
    WARPLINGS_NAME(CUBLAS_STATUS_INTERNAL_ERROR);
    WARPLINGS_NAME(CUBLAS_STATUS_NOT_SUPPORTED);
    WARPLINGS_NAME(CUBLAS_STATUS_LICENSE_ERROR);
#undef WARPLINGS_NAME
  }
  return "unknown status";
}

const char* cublasGetStatusString(cublasStatus_t status) {
  switch (status) {
    case CUBLAS_STATUS_SUCCESS:
      return "success";
    case CUBLAS_STATUS_NOT_INITIALIZED:
      return "the handle was not made by cublasCreate, or is gone";
    case CUBLAS_STATUS_ALLOC_FAILED:
      return "there is no memory left";
    case CUBLAS_STATUS_INVALID_VALUE:
      return "an argument has a value that the call does not allow";
    case CUBLAS_STATUS_ARCH_MISMATCH:
      return "the device lacks a feature";
    case CUBLAS_STATUS_MAPPING_ERROR:
      return "a pointer is no memory of the device";
    case CUBLAS_STATUS_EXECUTION_FAILED:
      return "the work could not be run";
    case CUBLAS_STATUS_INTERNAL_ERROR:
      return "the library failed";
    case CUBLAS_STATUS_NOT_SUPPORTED:
      return "this combination is not supported";
    case CUBLAS_STATUS_LICENSE_ERROR:
      return "a licence is missing";
  }
  return "unknown status";
}

cublasStatus_t cublasSetVector(int n, int elemSize, const void* x, int incx, void* devicePtr,
                               int incy) {
  WARPLINGS_MAY_FAIL(cublasSetVector, CUBLAS_STATUS_INTERNAL_ERROR);
  return copy({1, n, elemSize, incx, incy}, x, devicePtr, cudaMemcpyHostToDevice, nullptr);
}

cublasStatus_t cublasGetVector(int n, int elemSize, const void* x, int incx, void* y, int incy) {
  WARPLINGS_MAY_FAIL(cublasGetVector, CUBLAS_STATUS_INTERNAL_ERROR);
  return copy({1, n, elemSize, incx, incy}, x, y, cudaMemcpyDeviceToHost, nullptr);
}

cublasStatus_t cublasSetMatrix(int rows, int cols, int elemSize, const void* A, int lda, void* B,
                               int ldb) {
  WARPLINGS_MAY_FAIL(cublasSetMatrix, CUBLAS_STATUS_INTERNAL_ERROR);
  return copy({rows, cols, elemSize, lda, ldb}, A, B, cudaMemcpyHostToDevice, nullptr);
}

cublasStatus_t cublasGetMatrix(int rows, int cols, int elemSize, const void* A, int lda, void* B,
                               int ldb) {
  WARPLINGS_MAY_FAIL(cublasGetMatrix, CUBLAS_STATUS_INTERNAL_ERROR);
  return copy({rows, cols, elemSize, lda, ldb}, A, B, cudaMemcpyDeviceToHost, nullptr);
}

cublasStatus_t cublasSetVectorAsync(int n, int elemSize, const void* x, int incx, void* devicePtr,
                                    int incy, cudaStream_t stream) {
  WARPLINGS_MAY_FAIL(cublasSetVectorAsync, CUBLAS_STATUS_INTERNAL_ERROR);
  return copy({1, n, elemSize, incx, incy}, x, devicePtr, cudaMemcpyHostToDevice, &stream);
}

cublasStatus_t cublasGetVectorAsync(int n, int elemSize, const void* x, int incx, void* y, int incy,
                                    cudaStream_t stream) {
  WARPLINGS_MAY_FAIL(cublasGetVectorAsync, CUBLAS_STATUS_INTERNAL_ERROR);
  return copy({1, n, elemSize, incx, incy}, x, y, cudaMemcpyDeviceToHost, &stream);
}

cublasStatus_t cublasSetMatrixAsync(int rows, int cols, int elemSize, const void* A, int lda,
                                    void* B, int ldb, cudaStream_t stream) {
  WARPLINGS_MAY_FAIL(cublasSetMatrixAsync, CUBLAS_STATUS_INTERNAL_ERROR);
  return copy({rows, cols, elemSize, lda, ldb}, A, B, cudaMemcpyHostToDevice, &stream);
}

cublasStatus_t cublasGetMatrixAsync(int rows, int cols, int elemSize, const void* A, int lda,
                                    void* B, int ldb, cudaStream_t stream) {
  WARPLINGS_MAY_FAIL(cublasGetMatrixAsync, CUBLAS_STATUS_INTERNAL_ERROR);
  return copy({rows, cols, elemSize, lda, ldb}, A, B, cudaMemcpyDeviceToHost, &stream);
}

}  // extern "C"
