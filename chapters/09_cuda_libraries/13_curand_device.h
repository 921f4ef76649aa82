// 09/13 cuRAND in kernels: what the test calls.
#ifndef CHAPTERS_09_CUDA_LIBRARIES_13_CURAND_DEVICE_H_
#define CHAPTERS_09_CUDA_LIBRARIES_13_CURAND_DEVICE_H_

#include <cstddef>

// Bytes of the states of `threads` generators of the kind XORWOW.
size_t state_bytes(int threads);

// One generator per thread: the same seed for all, and a sequence of its own for each, from its
// beginning. d_states: state_bytes(threads) bytes of device memory, aligned as cudaMalloc aligns
// them; threads is at least 1. These and all below: default stream, do not wait.
void launch_init(void* d_states, int threads, unsigned long long seed);

// x[round * threads + t]: the next uniform number of generator t, in each of `rounds` rounds. The
// next call goes on where this one ends.
void launch_draw(void* d_states, int threads, float* d_x, int rounds);

// y[i] = x[i] / (1 - rate) if number i is above rate, else 0; number i is uniform in (0, 1]. It
// follows from seed, offset and i alone: it is value offset + i % 4 of sequence i / 4 of
// Philox4x32-10. offset counts values, as that of curand_init does, and is a multiple of 4. x, y: n
// floats in device memory; 0 <= rate < 1.
void launch_dropout(const float* d_x, float* d_y, int n, float rate, unsigned long long seed,
                    unsigned long long offset);

// First weights of a layer with ReLU: w[i] = sqrt(2 / fan_in) times normal value i, which is value
// i % 4 of sequence i / 4 of Philox4x32-10. w: fan_out x fan_in floats in device memory.
void launch_weights(float* d_w, int fan_out, int fan_in, unsigned long long seed);

#endif  // CHAPTERS_09_CUDA_LIBRARIES_13_CURAND_DEVICE_H_
