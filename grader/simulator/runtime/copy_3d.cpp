// Copies in three dimensions: pitched memory or an array on either side.
#include "runtime/array.h"
#include "runtime/copy.h"

namespace warplings::sim {
namespace {

// One side of a copy in three dimensions: an array, or pitched memory.
cudaError_t side_3d(const ApiCall& call, cudaArray_t array, const cudaPitchedPtr& pitched,
                    cudaPos position, const Box& box, ArraySide* side) {
  if (array == nullptr) {
    side->start = static_cast<char*>(pitched.ptr) +
                  (position.z * pitched.ysize + position.y) * pitched.pitch + position.x;
    side->layout = {pitched.pitch, pitched.pitch * pitched.ysize};
    return cudaSuccess;
  }
  const cudaArray* live = Arrays::instance().find(array);
  if (live == nullptr) return cudaErrorInvalidResourceHandle;
  position.x *= live->image.format.bytes();
  return array_side(call, live, position, box, side);
}

// Where an array takes part, the extent counts its elements, else bytes.
size_t element_bytes(cudaArray_t array) {
  const cudaArray* live = Arrays::instance().find(array);
  return live == nullptr ? 1 : live->image.format.bytes();
}

// cudaMemcpy3DParms and cudaMemcpy3DPeerParms name the two sides alike.
template <class Parameters>
cudaError_t boxes_3d(const ApiCall& call, const Parameters& p, Copy* copy) {
  if (p.srcArray != nullptr && p.dstArray != nullptr &&
      element_bytes(p.srcArray) != element_bytes(p.dstArray)) {
    return cudaErrorInvalidValue;
  }
  const size_t bytes = element_bytes(p.srcArray != nullptr ? p.srcArray : p.dstArray);
  copy->box = {p.extent.width * bytes, p.extent.height, p.extent.depth};
  ArraySide to, from;
  cudaError_t error = side_3d(call, p.dstArray, p.dstPtr, p.dstPos, copy->box, &to);
  if (error == cudaSuccess) {
    error = side_3d(call, p.srcArray, p.srcPtr, p.srcPos, copy->box, &from);
  }
  copy->to = to.start;
  copy->to_layout = to.layout;
  copy->from = from.start;
  copy->from_layout = from.layout;
  return error;
}

}  // namespace

cudaError_t copy_of(const ApiCall& call, const cudaMemcpy3DParms& parameters, Copy* copy) {
  copy->kind = parameters.kind;
  return boxes_3d(call, parameters, copy);
}

cudaError_t copy_of(const ApiCall& call, const cudaMemcpy3DPeerParms& parameters, Copy* copy) {
  copy->kind = cudaMemcpyDeviceToDevice;
  return boxes_3d(call, parameters, copy);
}

}  // namespace warplings::sim
