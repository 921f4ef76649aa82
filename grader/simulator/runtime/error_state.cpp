#include "runtime/error_state.h"

namespace warplings::sim {
namespace {

cudaError_t& sticky() {
  static cudaError_t error = cudaSuccess;
  return error;
}

}  // namespace

cudaError_t sticky_error() { return sticky(); }

void set_sticky_error(cudaError_t error) {
  if (sticky() == cudaSuccess) sticky() = error;
}

void clear_sticky_error() { sticky() = cudaSuccess; }

cudaError_t& last_error() {
  thread_local cudaError_t error = cudaSuccess;
  return error;
}

}  // namespace warplings::sim
