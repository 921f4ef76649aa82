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
  // TODO(1): A generator of this kind, with this seed, order and stream. The first
  // refusal is returned, and the caller destroys what there is.
  static_cast<void>(seed), static_cast<void>(order), static_cast<void>(stream);
  return curandCreateGenerator(generator, kind);
}

curandStatus_t launch_part(curandGenerator_t generator, unsigned long long first, float* d_x,
                           size_t count) {
  // TODO(2): Values `first` to `first + count - 1` of the sequence, whatever was drawn
  // before.
  static_cast<void>(first);
  return count == 0 ? CURAND_STATUS_SUCCESS : curandGenerateUniform(generator, d_x, count);
}

curandStatus_t launch_normal(curandGenerator_t generator, cudaStream_t stream, float* d_x, size_t n,
                             float mean, float deviation, float* d_pair) {
  // TODO(3): The next n normal values, also for an odd n, for which this call is refused.
  // Nothing is written behind x, and nothing waits.
  static_cast<void>(stream), static_cast<void>(d_pair);
  return curandGenerateNormal(generator, d_x, n, mean, deviation);
}

curandStatus_t launch_weights(curandGenerator_t generator, cudaStream_t stream, float* d_w,
                              int fan_out, int fan_in) {
  // TODO(4): The next values, spread from (0, 1] over (-b, b] with b = 1 / sqrt(fan_in)
  // by a kernel of yours.
  static_cast<void>(generator), static_cast<void>(stream), static_cast<void>(d_w);
  static_cast<void>(fan_out), static_cast<void>(fan_in);
  return CURAND_STATUS_NOT_INITIALIZED;
}
