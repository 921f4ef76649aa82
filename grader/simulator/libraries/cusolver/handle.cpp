// Handles of cuSOLVER and their state.
#include "cusolver/handle.h"

#include <mutex>
#include <set>
#include <string>
#include <utility>

namespace warplings::libraries {
namespace {

std::mutex& handles_mutex() {
  static auto* const mutex = new std::mutex();
  return *mutex;
}

std::set<cusolverDnHandle_t>& handles() {
  static auto* const set = new std::set<cusolverDnHandle_t>();
  return *set;
}

bool is_live(cusolverDnHandle_t handle) {
  const std::lock_guard lock(handles_mutex());
  return handles().contains(handle);
}

}  // namespace

SolverCall::SolverCall(const Call& call, cusolverDnHandle_t handle) : call_(call) {
  if (!is_live(handle)) {
    status_ = CUSOLVER_STATUS_NOT_INITIALIZED;
    return;
  }
  placement_.device = handle->device;
  placement_.stream = handle->stream;
}

void SolverCall::require(bool condition, int parameter, const char* what) {
  if (condition || !ok()) return;
  status_ = CUSOLVER_STATUS_INVALID_VALUE;
  call_.explain("invalid-value", "refuses parameter " + std::to_string(parameter) +
                                     " behind the handle: " + what + ".");
}

cusolverStatus_t SolverCall::run(double operations, int* info, const std::function<int()>& work) {
  if (!ok()) return status_;
  vector("info", info, 1, Access::kWrite);
  placement_.operations = operations;
  const cudaError_t error = call_.enqueue(placement_, operands_, [=] { *view(info) = work(); });
  return error == cudaSuccess ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_EXECUTION_FAILED;
}

cusolverStatus_t answer(const SolverCall& call, int needed, int* size) {
  if (!call.ok()) return call.status();
  if (size == nullptr) return CUSOLVER_STATUS_INVALID_VALUE;
  *size = needed;
  return CUSOLVER_STATUS_SUCCESS;
}

}  // namespace warplings::libraries

using namespace warplings::libraries;

extern "C" {

cusolverStatus_t cusolverDnCreate(cusolverDnHandle_t* handle) {
  WARPLINGS_MAY_FAIL(cusolverDnCreate, CUSOLVER_STATUS_ALLOC_FAILED);
  if (handle == nullptr) return CUSOLVER_STATUS_INVALID_VALUE;
  *handle = new cusolverDnContext();
  (*handle)->device = current_device();
  const std::lock_guard lock(handles_mutex());
  handles().insert(*handle);
  return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverDnDestroy(cusolverDnHandle_t handle) {
  const std::lock_guard lock(handles_mutex());
  if (handles().erase(handle) == 0) return CUSOLVER_STATUS_NOT_INITIALIZED;
  wsim_library_gone(handle);
  delete handle;
  return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverDnSetStream(cusolverDnHandle_t handle, cudaStream_t streamId) {
  WARPLINGS_MAY_FAIL(cusolverDnSetStream, CUSOLVER_STATUS_INTERNAL_ERROR);
  if (!is_live(handle)) return CUSOLVER_STATUS_NOT_INITIALIZED;
  handle->stream = streamId;
  wsim_library_mode("stream of a cuSOLVER handle", handle,
                    static_cast<int64_t>(reinterpret_cast<intptr_t>(streamId)));
  return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverDnGetStream(cusolverDnHandle_t handle, cudaStream_t* streamId) {
  WARPLINGS_MAY_FAIL(cusolverDnGetStream, CUSOLVER_STATUS_INTERNAL_ERROR);
  if (!is_live(handle)) return CUSOLVER_STATUS_NOT_INITIALIZED;
  if (streamId == nullptr) return CUSOLVER_STATUS_INVALID_VALUE;
  *streamId = handle->stream;
  return CUSOLVER_STATUS_SUCCESS;
}

}  // extern "C"
