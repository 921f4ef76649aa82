// Kernels that a measurement on a GPU needs, all on the default stream.
#ifndef WARPLINGS_KIT_SPEED_GPU_H_
#define WARPLINGS_KIT_SPEED_GPU_H_

#include <cstddef>

namespace kit::internal {

// Reads `bytes` (a multiple of 16) once. `sink` is one word of device memory.
void read_all(const void* data, size_t bytes, unsigned* sink);

// Holds the stream until *go is set by the host, at most `most_seconds`; then *expired is set. Both
// are pinned host memory.
void hold(const unsigned* go, unsigned* expired, double most_seconds);

// Fused multiply-adds on every multiprocessor; returns how many floating-point operations.
double multiply_add_all(int multiprocessors, int rounds, float* sink);

void launch_nothing();

}  // namespace kit::internal

#endif  // WARPLINGS_KIT_SPEED_GPU_H_
