// 09/12 cuRAND from the host: a generator, its sequence, and the first weights of a network.
//   x  n floats, w  fan_out x fan_in floats: in device memory
//   A generator is a kind, a seed and a position. The seed chooses a sequence of numbers; each call
//   writes the next ones, in the stream of the generator, and moves the position on.
//   TODOs  4
#include <cmath>

#include "12_curand_host.h"

curandStatus_t create_generator(curandRngType_t kind, unsigned long long seed,
                                curandOrdering_t order, cudaStream_t stream,
                                curandGenerator_t* generator) {
  //~ // TODO(1): A generator of this kind, with this seed, order and stream. The first
  //~ // refusal is returned, and the caller destroys what there is.
  //~ static_cast<void>(seed), static_cast<void>(order), static_cast<void>(stream);
  //~ return curandCreateGenerator(generator, kind);
  //~begin 1
  curandStatus_t status = curandCreateGenerator(generator, kind);
  if (status != CURAND_STATUS_SUCCESS) return status;  // then there is no generator to set
  status = curandSetStream(*generator, stream);
  if (status != CURAND_STATUS_SUCCESS) return status;
  status = curandSetGeneratorOrdering(*generator, order);
  if (status != CURAND_STATUS_SUCCESS) return status;
  return curandSetPseudoRandomGeneratorSeed(*generator, seed);
  //~end
}

curandStatus_t launch_part(curandGenerator_t generator, unsigned long long first, float* d_x,
                           size_t count) {
  //~ // TODO(2): Values `first` to `first + count - 1` of the sequence, whatever was drawn
  //~ // before.
  //~ static_cast<void>(first);
  //~ return count == 0 ? CURAND_STATUS_SUCCESS : curandGenerateUniform(generator, d_x, count);
  //~begin 2
  if (count == 0) return CURAND_STATUS_SUCCESS;
  const curandStatus_t status = curandSetGeneratorOffset(generator, first);
  if (status != CURAND_STATUS_SUCCESS) return status;
  return curandGenerateUniform(generator, d_x, count);
  //~end
}

curandStatus_t launch_normal(curandGenerator_t generator, cudaStream_t stream, float* d_x, size_t n,
                             float mean, float deviation, float* d_pair) {
  //~ // TODO(3): The next n normal values, also for an odd n, for which this call is refused.
  //~ // Nothing is written behind x, and nothing waits.
  //~ static_cast<void>(stream), static_cast<void>(d_pair);
  //~ return curandGenerateNormal(generator, d_x, n, mean, deviation);
  //~begin 3
  const size_t even = n / 2 * 2;
  curandStatus_t status = CURAND_STATUS_SUCCESS;
  if (even > 0) status = curandGenerateNormal(generator, d_x, even, mean, deviation);
  if (status != CURAND_STATUS_SUCCESS || even == n) return status;
  status = curandGenerateNormal(generator, d_pair, 2, mean, deviation);
  if (status != CURAND_STATUS_SUCCESS) return status;
  const cudaError_t copied =  // in the same stream, so behind the numbers
      cudaMemcpyAsync(d_x + even, d_pair, sizeof(float), cudaMemcpyDeviceToDevice, stream);
  return copied == cudaSuccess ? CURAND_STATUS_SUCCESS : CURAND_STATUS_LAUNCH_FAILURE;
  //~end
}

//~begin 4
// From (0, 1] to (-bound, bound].
__global__ void spread(float* w, size_t count, float bound) {
  const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < count) {
    w[i] = bound * (2.0f * w[i] - 1.0f);
  }
}

//~end
curandStatus_t launch_weights(curandGenerator_t generator, cudaStream_t stream, float* d_w,
                              int fan_out, int fan_in) {
  //~ // TODO(4): The next values, spread from (0, 1] over (-b, b] with b = 1 / sqrt(fan_in)
  //~ // by a kernel of yours.
  //~ static_cast<void>(generator), static_cast<void>(stream), static_cast<void>(d_w);
  //~ static_cast<void>(fan_out), static_cast<void>(fan_in);
  //~ return CURAND_STATUS_NOT_INITIALIZED;
  //~begin 4
  constexpr int kBlock = 256;  // threads
  const size_t count = static_cast<size_t>(fan_out) * fan_in;
  if (count == 0) return CURAND_STATUS_SUCCESS;
  const auto grid = static_cast<unsigned>((count + kBlock - 1) / kBlock);
  const curandStatus_t status = curandGenerateUniform(generator, d_w, count);
  if (status != CURAND_STATUS_SUCCESS) return status;  // there is nothing to spread
  spread<<<grid, kBlock, 0, stream>>>(d_w, count, 1.0f / std::sqrt(static_cast<float>(fan_in)));
  return cudaGetLastError() == cudaSuccess ? CURAND_STATUS_SUCCESS : CURAND_STATUS_LAUNCH_FAILURE;
  //~end
}
