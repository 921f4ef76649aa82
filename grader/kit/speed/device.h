// What a measurement does to device memory besides the graded work. On a GPU these are kernels on
// the default stream (device.cu); in the simulator they are copies from the host
// (device_simulated.cpp), so that only the graded work is counted.
#ifndef WARPLINGS_KIT_SPEED_DEVICE_H_
#define WARPLINGS_KIT_SPEED_DEVICE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kit/speed/element.h"
#include "kit/speed/values.h"

namespace kit::internal {

// Writes n elements: those of `values` for the content `key`.
void fill(Element element, void* data, size_t n, const Values& values, uint64_t key);
// How many of n elements are not what fill() wrote.
uint64_t count_changed(Element element, const void* data, size_t n, const Values& values,
                       uint64_t key);
// The elements at these positions, as doubles.
std::vector<double> gather(Element element, const void* data, const std::vector<size_t>& positions);

}  // namespace kit::internal

#endif  // WARPLINGS_KIT_SPEED_DEVICE_H_
