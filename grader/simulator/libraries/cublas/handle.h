// A handle of cuBLAS, and what its calls share.
#ifndef WARPLINGS_SIMULATOR_LIBRARIES_CUBLAS_HANDLE_H_
#define WARPLINGS_SIMULATOR_LIBRARIES_CUBLAS_HANDLE_H_

#include <cublas_v2.h>

#include <cstdint>
#include <functional>
#include <string>

#include "common/call.h"
#include "common/held.h"
#include "common/number.h"

struct cublasContext {
  int device = 0;
  cudaStream_t stream = nullptr;
  cublasPointerMode_t pointer_mode = CUBLAS_POINTER_MODE_HOST;
  cublasMath_t math = CUBLAS_DEFAULT_MATH;
  cublasAtomicsMode_t atomics = CUBLAS_ATOMICS_NOT_ALLOWED;
  warplings::libraries::Held held{"cuBLAS handle"};
};

namespace warplings::libraries {

bool is_live(cublasHandle_t handle);

// A scalar of a call: a value of the host, taken when the call is made, or one in device memory,
// read when the work runs.
class Scalar {
 public:
  double get() const { return device_ == nullptr ? value_ : load(type_, view(device_), 0); }
  // Known to be zero already now: what it multiplies is not read.
  bool is_zero() const { return device_ == nullptr && value_ == 0; }
  bool on_device() const { return device_ != nullptr; }

 private:
  friend class BlasCall;
  Number type_ = Number::kFloat;
  const void* device_ = nullptr;
  double value_ = 0;
};

// One call: collects operands, then runs.
class BlasCall {
 public:
  BlasCall(const Call& call, cublasHandle_t handle);

  // The first thing that is wrong is what the call returns. Parameters count from 1 behind the
  // handle, as in the reference BLAS.
  void require(bool condition, int parameter, const char* what);
  bool ok() const { return status_ == CUBLAS_STATUS_SUCCESS; }
  cublasStatus_t status() const { return status_; }
  void fail(cublasStatus_t status) {
    if (ok()) status_ = status;
  }

  Scalar scalar(const char* role, const void* pointer, Number type);
  // n elements, `step` apart.
  void vector(const char* role, const void* data, Number type, int64_t n, int64_t step,
              Access access);
  // rows x columns of a column-major matrix; `count` of them, `stride` elements apart.
  void matrix(const char* role, const void* data, Number type, int64_t rows, int64_t columns,
              int64_t ld, Access access, int64_t stride = 0, int64_t count = 1);
  // Writes a result where the pointer mode says; the call waits if that is the host.
  using Result = std::function<void(void*)>;
  cublasStatus_t run_with_result(void* result, Number type, const Result& compute);
  cublasStatus_t run(double operations, std::function<void()> work);

  const Call& call() const { return call_; }
  const cublasContext& context() const { return *handle_; }

 private:
  const Call& call_;
  cublasHandle_t handle_;
  cublasStatus_t status_ = CUBLAS_STATUS_SUCCESS;
  Operands operands_;
  Placement placement_;
};

inline bool is_operation(cublasOperation_t op) {
  return op == CUBLAS_OP_N || op == CUBLAS_OP_T || op == CUBLAS_OP_C;
}

template <class T>
constexpr Number kNumberOf = sizeof(T) == sizeof(double) ? Number::kDouble : Number::kFloat;

// An element of a vector with a step; a negative one starts at the end.
inline int64_t element(int64_t i, int64_t n, int64_t step) {
  return step < 0 ? (n - 1 - i) * -step : i * step;
}

}  // namespace warplings::libraries

#endif  // WARPLINGS_SIMULATOR_LIBRARIES_CUBLAS_HANDLE_H_
