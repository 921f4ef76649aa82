// CUDA arrays: images in device memory that programs reach through textures, surfaces and copies.
// Rows lie one after the other without padding; hardware has an order of its own that no program
// sees.
#ifndef WARPLINGS_SIMULATOR_RUNTIME_ARRAY_H_
#define WARPLINGS_SIMULATOR_RUNTIME_ARRAY_H_

#include <cuda_runtime_api.h>

#include <cstddef>
#include <map>
#include <memory>

#include "memory/image.h"
#include "runtime/copy.h"
#include "runtime/holdings.h"

// What a cudaArray_t points to.
struct cudaArray {
  cudaChannelFormatDesc description{};
  cudaExtent extent{};  // as asked for: texels
  unsigned flags = 0;
  warplings::sim::Image image;
  warplings::sim::Held held{"array"};
};

namespace warplings::sim {

class Arrays {
 public:
  static Arrays& instance();  // of the current machine
  cudaArray_t add(std::unique_ptr<cudaArray> array);
  const cudaArray* find(cudaArray_const_t handle) const;  // nullptr: no live array
  void remove(cudaArray_const_t handle) { live_.erase(handle); }

 private:
  std::map<cudaArray_const_t, std::unique_ptr<cudaArray>> live_;
};

// cudaErrorInvalidChannelDescriptor if nothing has such texels.
cudaError_t texel_format(const cudaChannelFormatDesc& description, TexelFormat* format);

// One side of a copy that lies in an array: a position (x in bytes) and how rows follow.
struct ArraySide {
  char* start = nullptr;
  Layout layout;
};
// Reports a box that does not lie in the array.
cudaError_t array_side(const ApiCall& call, const cudaArray* array, const cudaPos& position,
                       const Box& box, ArraySide* side);

// A part of CUDA that is refused, in words.
cudaError_t refuse(const ApiCall& call, const char* what);

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_RUNTIME_ARRAY_H_
