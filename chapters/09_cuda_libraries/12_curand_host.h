// 09/12 cuRAND from the host: what the test calls.
#ifndef CHAPTERS_09_CUDA_LIBRARIES_12_CURAND_HOST_H_
#define CHAPTERS_09_CUDA_LIBRARIES_12_CURAND_HOST_H_

#include <cuda_runtime.h>
#include <curand.h>

#include <cstddef>

// All return the first status that is no success; a launch or a copy that fails is
// CURAND_STATUS_LAUNCH_FAILURE.

// *generator: a new generator of this kind, at the beginning of the sequence of `seed`. Its calls
// are work of `stream`, and its numbers come in this order. CURAND_ORDERING_PSEUDO_LEGACY is the
// order that later versions of the library keep. The caller destroys it, also where an option was
// refused; where none could be made there is nothing to destroy.
curandStatus_t create_generator(curandRngType_t kind, unsigned long long seed,
                                curandOrdering_t order, cudaStream_t stream,
                                curandGenerator_t* generator);

// x = the uniform values `first` to `first + count - 1` of the generator's sequence, counted from
// 0, whatever has been drawn before. d_x: count floats in device memory. Does not wait.
curandStatus_t launch_part(curandGenerator_t generator, unsigned long long first, float* d_x,
                           size_t count);

// x = the next n normal values of the generator; any n. `stream` is the generator's. d_x: n floats,
// d_pair: room for 2, both in device memory. Does not wait.
curandStatus_t launch_normal(curandGenerator_t generator, cudaStream_t stream, float* d_x, size_t n,
                             float mean, float deviation, float* d_pair);

// w = the next fan_out * fan_in uniform values, spread from (0, 1] over (-b, b] with
// b = 1 / sqrt(fan_in); the smallest may be rounded to -b. `stream` is the generator's. Does not
// wait.
curandStatus_t launch_weights(curandGenerator_t generator, cudaStream_t stream, float* d_w,
                              int fan_out, int fan_in);

#endif  // CHAPTERS_09_CUDA_LIBRARIES_12_CURAND_HOST_H_
