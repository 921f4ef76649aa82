// The missing normal value by a kernel of one thread, weights by a grid-stride loop of few blocks,
// and statuses in one chain.
#include <cmath>

#include "12_curand_host.h"

namespace {

__global__ void move_one(const float* from, float* to) { *to = *from; }

__global__ void spread_few(float* w, size_t count, float width, float least) {
  const size_t step = static_cast<size_t>(gridDim.x) * blockDim.x;
  for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
    w[i] = fmaf(width, w[i], least);
  }
}

bool good(curandStatus_t status) { return status == CURAND_STATUS_SUCCESS; }

}  // namespace

curandStatus_t create_generator(curandRngType_t kind, unsigned long long seed,
                                curandOrdering_t order, cudaStream_t stream,
                                curandGenerator_t* generator) {
  curandStatus_t status = curandCreateGenerator(generator, kind);
  if (good(status)) status = curandSetPseudoRandomGeneratorSeed(*generator, seed);
  if (good(status)) {
    status = curandSetGeneratorOrdering(*generator, order);
  }
  if (good(status)) status = curandSetGeneratorOffset(*generator, 0);
  if (good(status)) status = curandSetStream(*generator, stream);
  return status;
}

curandStatus_t launch_part(curandGenerator_t generator, unsigned long long first, float* d_x,
                           size_t count) {
  const curandStatus_t status = curandSetGeneratorOffset(generator, first);
  if (!good(status) || count == 0) return status;
  return curandGenerateUniform(generator, d_x, count);
}

curandStatus_t launch_normal(curandGenerator_t generator, cudaStream_t stream, float* d_x, size_t n,
                             float mean, float deviation, float* d_pair) {
  const size_t odd = n % 2;
  if (n > odd) {
    const curandStatus_t status = curandGenerateNormal(generator, d_x, n - odd, mean, deviation);
    if (!good(status)) return status;
  }
  if (odd == 0) return CURAND_STATUS_SUCCESS;
  const curandStatus_t status = curandGenerateNormal(generator, d_pair, 2, mean, deviation);
  if (!good(status)) return status;
  move_one<<<1, 1, 0, stream>>>(d_pair, d_x + n - 1);
  return cudaGetLastError() == cudaSuccess ? status : CURAND_STATUS_LAUNCH_FAILURE;
}

curandStatus_t launch_weights(curandGenerator_t generator, cudaStream_t stream, float* d_w,
                              int fan_out, int fan_in) {
  const size_t count = static_cast<size_t>(fan_out) * fan_in;
  if (count == 0) return CURAND_STATUS_SUCCESS;
  const curandStatus_t status = curandGenerateUniform(generator, d_w, count);
  const float bound = 1.0f / std::sqrt(static_cast<float>(fan_in));
  if (!good(status)) return status;
  spread_few<<<2, 128, 0, stream>>>(d_w, count, 2 * bound, -bound);
  return cudaGetLastError() == cudaSuccess ? status : CURAND_STATUS_LAUNCH_FAILURE;
}
