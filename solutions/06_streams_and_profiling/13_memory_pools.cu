// 06/13 Memory pools: scratch memory that is taken and given back in the order of a stream.
//   x, y      n floats in device memory: y = blur(blur(x)) + contrast(x, blur(x))
//   workshop  a pool of memory for all calls of the program
//   The kernels, order_streams() and sharpen_slowly() are given (13_memory_pools.h). That last
//   function is right, and spends most of its time in cudaMalloc and cudaFree.
//   TODOs     2
#include <cstdint>

#include "13_memory_pools.h"

cudaError_t open_workshop(Workshop* workshop, size_t keep) {
  //~ // TODO(1): The workshop has a pool that keeps what the header says; close_workshop() undoes it.
  //~ (void)workshop, (void)keep;
  //~ return cudaSuccess;
  //~begin 1
  cudaMemPoolProps properties = {};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  cudaError_t error = cudaGetDevice(&properties.location.id);
  if (error == cudaSuccess) error = cudaMemPoolCreate(&workshop->pool, &properties);
  if (error != cudaSuccess) return error;
  uint64_t threshold = keep;  // bytes; 0, the default, gives everything back at every wait
  error = cudaMemPoolSetAttribute(workshop->pool, cudaMemPoolAttrReleaseThreshold, &threshold);
  if (error != cudaSuccess) close_workshop(workshop);
  return error;
  //~end
}

cudaError_t close_workshop(Workshop* workshop) {
  //~ (void)workshop;
  //~ return cudaSuccess;
  //~begin 1
  const cudaError_t error =
      workshop->pool == nullptr ? cudaSuccess : cudaMemPoolDestroy(workshop->pool);
  workshop->pool = nullptr;
  return error;
  //~end
}

cudaError_t sharpen(const Workshop& workshop, const float* d_x, float* d_y, int n,
                    cudaStream_t stream, cudaStream_t side) {
  //~ // TODO(2): The scratch memory is the pool's and goes back in the order of the streams; contrast
  //~ // runs beside the second blur, in `side`. The host waits for nothing.
  //~ (void)workshop, (void)side;
  //~ return sharpen_slowly(d_x, d_y, n, stream);
  //~begin 2
  float* scratch[2] = {};  // blur(x); contrast(x, blur(x)). The second blur is made in y
  float *&once = scratch[0], *&edges = scratch[1];
  cudaError_t error = cudaSuccess;
  for (float*& array : scratch) {
    if (error != cudaSuccess) break;
    void* memory = nullptr;
    error = cudaMallocFromPoolAsync(&memory, n * sizeof(float), workshop.pool, stream);
    array = static_cast<float*>(memory);
  }
  if (error == cudaSuccess) error = launch_blur(d_x, once, n, stream);
  if (error == cudaSuccess) error = order_streams(stream, side);
  if (error == cudaSuccess) {
    error = launch_contrast(d_x, once, edges, n, side);
    if (error == cudaSuccess) error = launch_blur(once, d_y, n, stream);
    // Whatever has happened: `side` may still use what is given back below. Where even the order
    // fails, only the host is left to wait.
    const cudaError_t joined = order_streams(side, stream);
    if (joined != cudaSuccess) cudaStreamSynchronize(side);
    if (error == cudaSuccess) error = joined;
  }
  if (error == cudaSuccess) error = launch_add(d_y, edges, d_y, n, stream);
  for (float* array : scratch) {
    if (array == nullptr) continue;
    // The memory goes back when the stream gets here; the next call may have it at once.
    const cudaError_t freed = cudaFreeAsync(array, stream);
    if (error == cudaSuccess) error = freed;
  }
  return error;
  //~end
}
