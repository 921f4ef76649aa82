#include "runtime/array.h"

#include <algorithm>
#include <string>

#include "core/machine.h"

namespace warplings::sim {

Arrays& Arrays::instance() { return Machine::get<Arrays>(); }

cudaArray_t Arrays::add(std::unique_ptr<cudaArray> array) {
  cudaArray* handle = array.get();
  live_[handle] = std::move(array);
  return handle;
}

const cudaArray* Arrays::find(cudaArray_const_t handle) const {
  const auto it = live_.find(handle);
  return it == live_.end() ? nullptr : it->second.get();
}

cudaError_t texel_format(const cudaChannelFormatDesc& description, TexelFormat* format) {
  const int bits[] = {description.x, description.y, description.z, description.w};
  uint32_t channels = 0;
  while (channels < 4 && bits[channels] != 0) ++channels;
  bool regular = channels == 1 || channels == 2 || channels == 4;
  for (uint32_t c = 0; c < 4; ++c) regular = regular && bits[c] == (c < channels ? bits[0] : 0);
  if (!regular || (bits[0] != 8 && bits[0] != 16 && bits[0] != 32)) {
    return cudaErrorInvalidChannelDescriptor;
  }
  format->channels = channels;
  format->channel_bytes = static_cast<uint32_t>(bits[0] / 8);
  switch (description.f) {
    case cudaChannelFormatKindUnsigned:
      format->kind = TexelKind::kUnsigned;
      return cudaSuccess;
    case cudaChannelFormatKindSigned:
      format->kind = TexelKind::kSigned;
      return cudaSuccess;
    case cudaChannelFormatKindFloat:
      format->kind = TexelKind::kFloat;
      return bits[0] == 8 ? cudaErrorInvalidChannelDescriptor : cudaSuccess;
    default:
      return cudaErrorInvalidChannelDescriptor;
  }
}

cudaError_t array_side(const ApiCall& call, const cudaArray* array, const cudaPos& position,
                       const Box& box, ArraySide* side) {
  const Image& image = array->image;
  const size_t row = size_t{image.width} * image.format.bytes();
  const size_t rows = std::max(image.height, 1u),
               slices = std::max({image.depth, image.layers, 1u});
  const auto fits = [](size_t at, size_t count, size_t size) {
    return at <= size && count <= size - at;
  };
  if (!fits(position.x, box.width, row) || !fits(position.y, box.height, rows) ||
      !fits(position.z, box.depth, slices)) {
    call.report("memcheck", "out-of-bounds-copy",
                call.description() + " reaches beyond its array, which has rows of " +
                    std::to_string(row) + " bytes, " + std::to_string(rows) + " rows and " +
                    std::to_string(slices) +
                    " slices. Nothing was done. Offsets and widths of array copies are in bytes, "
                    "those of cudaMemcpy3D in elements.");
    return cudaErrorInvalidValue;
  }
  side->start = reinterpret_cast<char*>(image.base + position.x + position.y * image.pitch +
                                        position.z * image.slice);
  side->layout = {image.pitch, image.slice};
  return cudaSuccess;
}

cudaError_t refuse(const ApiCall& call, const char* what) {
  call.report("api", "not-simulated",
              call.description() + " asks for " + what +
                  ", which the simulator does not have. It returned cudaErrorNotSupported. Run "
                  "this program on a GPU.");
  return cudaErrorNotSupported;
}

}  // namespace warplings::sim
