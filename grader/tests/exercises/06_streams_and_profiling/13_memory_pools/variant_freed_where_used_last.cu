// Accepted: three arrays, each allocated in the stream that writes it; the one that both streams
// read goes back in the helper, behind a second order.
#include <cstdint>

#include "13_memory_pools.h"

cudaError_t open_workshop(Workshop* workshop, size_t keep) {
  int device = 0;
  cudaGetDevice(&device);
  cudaMemPoolProps wanted{};
  wanted.allocType = cudaMemAllocationTypePinned;
  wanted.handleTypes = cudaMemHandleTypeNone;
  wanted.location = cudaMemLocation{cudaMemLocationTypeDevice, {device}};
  cudaMemPool_t pool = nullptr;
  cudaError_t error = cudaMemPoolCreate(&pool, &wanted);
  uint64_t bytes = keep;
  if (error == cudaSuccess) {
    error = cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &bytes);
    if (error != cudaSuccess) {
      cudaMemPoolDestroy(pool);
      pool = nullptr;
    }
  }
  workshop->pool = pool;
  return error;
}

cudaError_t close_workshop(Workshop* workshop) {
  cudaMemPool_t pool = workshop->pool;
  workshop->pool = nullptr;
  return pool == nullptr ? cudaSuccess : cudaMemPoolDestroy(pool);
}

namespace {

// Keeps the first error.
void note(cudaError_t* first, cudaError_t error) {
  if (*first == cudaSuccess) *first = error;
}

float* take(const Workshop& workshop, size_t n, cudaStream_t stream, cudaError_t* error) {
  void* memory = nullptr;
  if (*error != cudaSuccess) return nullptr;
  note(error, cudaMallocFromPoolAsync(&memory, n * sizeof(float), workshop.pool, stream));
  return static_cast<float*>(memory);
}

}  // namespace

cudaError_t sharpen(const Workshop& workshop, const float* d_x, float* d_y, int n,
                    cudaStream_t stream, cudaStream_t side) {
  cudaError_t error = cudaSuccess;
  float* const once = take(workshop, n, stream, &error);
  if (once != nullptr) note(&error, launch_blur(d_x, once, n, stream));
  note(&error, order_streams(stream, side));
  float* const twice = take(workshop, n, stream, &error);
  float* const edges = take(workshop, n, side, &error);
  if (error == cudaSuccess) note(&error, launch_contrast(d_x, once, edges, n, side));
  if (error == cudaSuccess) note(&error, launch_blur(once, twice, n, stream));
  cudaError_t joined = order_streams(side, stream);
  if (joined != cudaSuccess) cudaStreamSynchronize(side);
  note(&error, joined);
  if (error == cudaSuccess) note(&error, launch_add(edges, twice, d_y, n, stream));
  if (twice != nullptr) note(&error, cudaFreeAsync(twice, stream));
  if (edges != nullptr) note(&error, cudaFreeAsync(edges, stream));
  joined = order_streams(stream, side);
  if (joined != cudaSuccess) cudaStreamSynchronize(stream);
  note(&error, joined);
  if (once != nullptr) note(&error, cudaFreeAsync(once, side));
  return error;
}
