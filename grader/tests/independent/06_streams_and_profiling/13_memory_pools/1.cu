// Join tried even after a failed launch; waits only if the join is refused
#include "13_memory_pools.h"
#include <cstdint>
cudaError_t open_workshop(Workshop* w, size_t keep) {
  w->pool = nullptr;
  cudaMemPoolProps p = {};
  p.allocType = cudaMemAllocationTypePinned;
  p.location.type = cudaMemLocationTypeDevice;
  cudaError_t e = cudaGetDevice(&p.location.id);
  if (e == cudaSuccess) e = cudaMemPoolCreate(&w->pool, &p);
  if (e != cudaSuccess) { w->pool = nullptr; return e; }
  uint64_t k = keep;
  e = cudaMemPoolSetAttribute(w->pool, cudaMemPoolAttrReleaseThreshold, &k);
  if (e != cudaSuccess) close_workshop(w);
  return e;
}
cudaError_t close_workshop(Workshop* w) {
  if (!w->pool) return cudaSuccess;
  const cudaError_t e = cudaMemPoolDestroy(w->pool);
  w->pool = nullptr;
  return e;
}
cudaError_t sharpen(const Workshop& w, const float* d_x, float* d_y, int n, cudaStream_t stream, cudaStream_t side) {
  float *soft = nullptr, *softer = nullptr, *edge = nullptr;
  const size_t bytes = (size_t)n * 4;
  cudaError_t e = cudaMallocFromPoolAsync((void**)&soft, bytes, w.pool, stream);
  if (e == cudaSuccess) e = cudaMallocFromPoolAsync((void**)&softer, bytes, w.pool, stream);
  if (e == cudaSuccess) e = cudaMallocFromPoolAsync((void**)&edge, bytes, w.pool, stream);
  if (e == cudaSuccess) e = launch_blur(d_x, soft, n, stream);
  bool joined = true;
  if (e == cudaSuccess) e = order_streams(stream, side);
  if (e == cudaSuccess) {
    e = launch_contrast(d_x, soft, edge, n, side);
    if (e == cudaSuccess) e = launch_blur(soft, softer, n, stream);
    const cudaError_t j = order_streams(side, stream);
    joined = j == cudaSuccess;
    if (e == cudaSuccess) e = j;
  }
  if (e == cudaSuccess) e = launch_add(softer, edge, d_y, n, stream);
  if (!joined) cudaStreamSynchronize(side);
  for (float* p : {edge, softer, soft}) if (p) { const cudaError_t f = cudaFreeAsync(p, stream); if (e == cudaSuccess) e = f; }
  return e;
}
