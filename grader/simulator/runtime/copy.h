// Copies and fills: checked when they are called, done when their stream gets there.
#ifndef WARPLINGS_SIMULATOR_RUNTIME_COPY_H_
#define WARPLINGS_SIMULATOR_RUNTIME_COPY_H_

#include <cstddef>
#include <memory>

#include "runtime/api.h"
#include "runtime/stream.h"

namespace warplings::sim {

// A box of bytes: `width` bytes per row, rows `pitch` bytes apart, slices `slice` bytes apart.
struct Box {
  size_t width = 0, height = 1, depth = 1;
  bool empty() const { return width == 0 || height == 0 || depth == 0; }
  size_t bytes() const { return width * height * depth; }
};
struct Layout {
  size_t pitch = 0, slice = 0;
  // Bytes from the first to one past the last.
  size_t extent(const Box& box) const {
    return (box.depth - 1) * slice + (box.height - 1) * pitch + box.width;
  }
};

struct Copy {
  void* to = nullptr;
  const void* from = nullptr;
  Layout to_layout, from_layout;
  Box box;
  cudaMemcpyKind kind = cudaMemcpyDefault;
};
// Fails if the parameters contradict each other, or a box does not lie in its array.
cudaError_t copy_of(const ApiCall& call, const cudaMemcpy3DParms& parameters, Copy* copy);
cudaError_t copy_of(const ApiCall& call, const cudaMemcpy3DPeerParms& parameters, Copy* copy);
Copy linear_copy(void* to, const void* from, size_t size, cudaMemcpyKind kind);

struct Fill {
  void* to = nullptr;
  Layout layout;
  Box box;
  unsigned value = 0;
  unsigned element_size = 1;  // bytes of `value` that repeat: 1, 2 or 4
};

// Whether the call may do this at all; a refusal is reported.
cudaError_t check_copy(const ApiCall& call, const Copy& copy);
cudaError_t check_fill(const ApiCall& call, const Fill& fill);
// Work for a stream; what its checks find when it runs names `call`.
WorkItem work_item(const Copy& copy, const ApiCall& call);
WorkItem work_item(const Fill& fill, const ApiCall& call);

enum class Wait { kAsNeeded, kAlways };  // the -Async form, or the blocking one

cudaError_t start_copy(const ApiCall& call, const Copy& copy, cudaStream_t stream, Wait wait);
cudaError_t start_fill(const ApiCall& call, const Fill& fill, cudaStream_t stream);

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_RUNTIME_COPY_H_
