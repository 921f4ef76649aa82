// A handle of cuSOLVER, and what its calls share.
#ifndef WARPLINGS_SIMULATOR_LIBRARIES_CUSOLVER_HANDLE_H_
#define WARPLINGS_SIMULATOR_LIBRARIES_CUSOLVER_HANDLE_H_

#include <cusolverDn.h>

#include <cstdint>
#include <functional>

#include "common/call.h"
#include "common/held.h"

struct cusolverDnContext {
  int device = 0;
  cudaStream_t stream = nullptr;
  warplings::libraries::Held held{"cuSOLVER handle"};
};

namespace warplings::libraries {

// One call: checks its arguments, collects operands, then runs.
class SolverCall {
 public:
  SolverCall(const Call& call, cusolverDnHandle_t handle);

  // The first thing that is wrong is what the call returns. Parameters count from 1 behind the
  // handle, as in LAPACK.
  void require(bool condition, int parameter, const char* what);
  bool ok() const { return status_ == CUSOLVER_STATUS_SUCCESS; }
  cusolverStatus_t status() const { return status_; }

  template <class T>
  void matrix(const char* role, const T* data, int64_t rows, int64_t columns, int64_t ld,
              Access access) {
    const auto size = static_cast<int64_t>(sizeof(T));
    operands_.add(role, data, sizeof(T), {{rows, size}, {columns, ld * size}}, access);
  }
  template <class T>
  void vector(const char* role, const T* data, int64_t n, Access access) {
    if (n > 0) operands_.add(role, data, sizeof(T), {{n, sizeof(T)}}, access);
  }
  // One triangle of an n x n matrix with its diagonal.
  template <class T>
  void triangle(const char* role, const T* data, bool lower, int64_t n, int64_t ld, Access access) {
    for (int64_t j = 0; j < n; ++j) {
      vector(role, data + (lower ? j : 0) + j * ld, lower ? n - j : j + 1, access);
    }
  }
  // What every call that computes has: `given` elements of work space where `needed` are used, and
  // one int in device memory, which `work` gets.
  template <class T>
  void space(const T* work, int given, int needed, int parameter) {
    require(given >= needed, parameter,
            "the work space has at least as many elements as the ..._bufferSize of the call says");
    if (ok()) vector("work space", work, needed, Access::kWrite);
  }
  cusolverStatus_t run(double operations, int* info, const std::function<int()>& work);

 private:
  const Call& call_;
  cusolverStatus_t status_ = CUSOLVER_STATUS_SUCCESS;
  Operands operands_;
  Placement placement_;
};

// What a ..._bufferSize answers.
cusolverStatus_t answer(const SolverCall& call, int needed, int* size);

}  // namespace warplings::libraries

#endif  // WARPLINGS_SIMULATOR_LIBRARIES_CUSOLVER_HANDLE_H_
