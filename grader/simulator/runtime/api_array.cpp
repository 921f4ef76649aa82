// CUDA arrays in the runtime API: allocation, properties, and copies from and to them.
#include <cuda_runtime_api.h>

#include <algorithm>

#include "memory/device_memory.h"
#include "runtime/api.h"
#include "runtime/array.h"
#include "runtime/device_state.h"
#include "runtime/host_fault.h"
#include "runtime/stream.h"

using namespace warplings::sim;

namespace {

constexpr unsigned kArrayFlags = cudaArrayLayered | cudaArraySurfaceLoadStore | cudaArrayCubemap |
                                 cudaArrayTextureGather | cudaArrayColorAttachment;

// Texels in each direction; false for a shape that no array has.
bool lay_out(const cudaExtent& extent, unsigned flags, Image* image) {
  const bool layered = (flags & cudaArrayLayered) != 0, cube = (flags & cudaArrayCubemap) != 0;
  if (extent.width == 0) return false;
  if (cube && (extent.height != extent.width || extent.depth == 0 || extent.depth % 6 != 0 ||
               (!layered && extent.depth != 6))) {
    return false;
  }
  if (layered && extent.depth == 0) return false;
  if (!layered && extent.depth != 0 && extent.height == 0) return false;
  image->width = static_cast<uint32_t>(extent.width);
  image->height = static_cast<uint32_t>(extent.height);
  const auto slices = static_cast<uint32_t>(extent.depth);
  (layered || cube ? image->layers : image->depth) = slices;
  image->pitch = extent.width * image->format.bytes();
  image->slice = image->pitch * std::max<size_t>(extent.height, 1);
  return true;
}

cudaError_t make_array(const ApiCall& call, cudaArray_t* handle, const cudaChannelFormatDesc* desc,
                       const cudaExtent& extent, unsigned flags) {
  if (handle == nullptr || desc == nullptr) return cudaErrorInvalidValue;
  *handle = nullptr;
  if ((flags & (cudaArraySparse | cudaArrayDeferredMapping)) != 0) {
    return refuse(call, "an array whose memory is mapped later");
  }
  if ((flags & ~kArrayFlags) != 0) return cudaErrorInvalidValue;
  auto array = std::make_unique<cudaArray>();
  array->description = *desc;
  array->extent = extent;
  array->flags = flags;
  if (const cudaError_t error = texel_format(*desc, &array->image.format); error != cudaSuccess) {
    return error;
  }
  if (!lay_out(extent, flags, &array->image)) return cudaErrorInvalidValue;
  catch_host_access();
  DeviceMemory& memory = DeviceMemory::instance();
  array->image.base = memory.allocate(array->image.bytes(), AllocationKind::kDevice, "CUDA array",
                                      current_device());
  if (array->image.base == 0) return cudaErrorMemoryAllocation;
  if (const Position where = call.where(); where.known()) {
    memory.set_allocated_at(array->image.base, where.short_name());
  }
  *handle = Arrays::instance().add(std::move(array));
  return cudaSuccess;
}

// A rectangle of an array; offsets in bytes and rows.
struct Corner {
  cudaArray_const_t array;
  size_t x, y;
};

cudaError_t side_of(const ApiCall& call, const Corner& corner, const Box& box, ArraySide* side) {
  const cudaArray* array = Arrays::instance().find(corner.array);
  if (array == nullptr) return cudaErrorInvalidResourceHandle;
  return array_side(call, array, {corner.x, corner.y, 0}, box, side);
}

// Between an array and memory whose rows are `pitch` bytes apart; `memory` is written from an
// array.
enum class ArrayCopy { kToArray, kFromArray };
cudaError_t copy_rectangle(const ApiCall& call, ArrayCopy direction, const Corner& corner,
                           const void* memory, size_t pitch, const Box& box, cudaMemcpyKind kind,
                           cudaStream_t stream, Wait wait) {
  if (box.height > 1 && box.width > pitch) return cudaErrorInvalidPitchValue;
  ArraySide side;
  if (const cudaError_t error = side_of(call, corner, box, &side); error != cudaSuccess) {
    return error;
  }
  const Layout rows{pitch, pitch * box.height};
  Copy copy;
  copy.box = box;
  copy.kind = kind;
  if (direction == ArrayCopy::kToArray) {
    copy.to = side.start, copy.to_layout = side.layout;
    copy.from = memory, copy.from_layout = rows;
  } else {
    copy.to = const_cast<void*>(memory), copy.to_layout = rows;
    copy.from = side.start, copy.from_layout = side.layout;
  }
  return start_copy(call, copy, stream, wait);
}

cudaError_t copy_to_array(const ApiCall& call, const Corner& to, const void* from, size_t pitch,
                          size_t width, size_t height, cudaMemcpyKind kind, cudaStream_t stream,
                          Wait wait) {
  return copy_rectangle(call, ArrayCopy::kToArray, to, from, pitch, {width, height, 1}, kind,
                        stream, wait);
}

cudaError_t copy_from_array(const ApiCall& call, void* to, size_t pitch, const Corner& from,
                            size_t width, size_t height, cudaMemcpyKind kind, cudaStream_t stream,
                            Wait wait) {
  return copy_rectangle(call, ArrayCopy::kFromArray, from, to, pitch, {width, height, 1}, kind,
                        stream, wait);
}

// The older copies name a number of bytes that runs on from row to row: one long row.
bool run_on(const Corner& corner, size_t count, char** start) {
  const cudaArray* array = Arrays::instance().find(corner.array);
  if (array == nullptr) return false;
  const size_t offset = corner.y * array->image.pitch + corner.x;
  if (offset > array->image.bytes() || count > array->image.bytes() - offset) return false;
  *start = reinterpret_cast<char*>(array->image.base + offset);
  return true;
}

}  // namespace

extern "C" {

cudaError_t cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* desc, size_t width,
                            size_t height, unsigned flags) {
  return WARPLINGS_API {
    if ((flags & (cudaArrayLayered | cudaArrayCubemap)) != 0) return cudaErrorInvalidValue;
    return make_array(call, array, desc, {width, height, 0}, flags);
  };
}

cudaError_t cudaMalloc3DArray(cudaArray_t* array, const cudaChannelFormatDesc* desc,
                              cudaExtent extent, unsigned flags) {
  return WARPLINGS_API { return make_array(call, array, desc, extent, flags); };
}

cudaError_t cudaFreeArray(cudaArray_t handle) {
  return WARPLINGS_API {
    if (handle == nullptr) return cudaSuccess;
    const cudaArray* array = Arrays::instance().find(handle);
    if (array == nullptr) return cudaErrorInvalidResourceHandle;
    if (const cudaError_t error = Streams::instance().synchronize_device(current_device());
        error != cudaSuccess) {
      return error;
    }
    DeviceMemory::instance().free(array->image.base);
    Arrays::instance().remove(handle);
    return cudaSuccess;
  };
}

cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t*, const cudaChannelFormatDesc*,
                                     cudaExtent, unsigned, unsigned) {
  return WARPLINGS_API { return refuse(call, "a mipmapped array"); };
}

cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* desc, cudaExtent* extent, unsigned* flags,
                             cudaArray_t handle) {
  return WARPLINGS_API {
    const cudaArray* array = Arrays::instance().find(handle);
    if (array == nullptr) return cudaErrorInvalidResourceHandle;
    if (desc != nullptr) *desc = array->description;
    if (extent != nullptr) *extent = array->extent;
    if (flags != nullptr) *flags = array->flags;
    return cudaSuccess;
  };
}

cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
                                            cudaChannelFormatKind kind) {
  return {x, y, z, w, kind};
}

cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* desc, cudaArray_const_t handle) {
  return WARPLINGS_API {
    const cudaArray* array = Arrays::instance().find(handle);
    if (array == nullptr) return cudaErrorInvalidResourceHandle;
    if (desc == nullptr) return cudaErrorInvalidValue;
    *desc = array->description;
    return cudaSuccess;
  };
}

cudaError_t cudaMemcpy2DToArray(cudaArray_t dst, size_t x, size_t y, const void* src, size_t pitch,
                                size_t width, size_t height, cudaMemcpyKind kind) {
  return WARPLINGS_API {
    return copy_to_array(call, {dst, x, y}, src, pitch, width, height, kind, nullptr,
                         Wait::kAlways);
  };
}

cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t dst, size_t x, size_t y, const void* src,
                                     size_t pitch, size_t width, size_t height, cudaMemcpyKind kind,
                                     cudaStream_t stream) {
  return WARPLINGS_API {
    return copy_to_array(call, {dst, x, y}, src, pitch, width, height, kind, stream,
                         Wait::kAsNeeded);
  };
}

cudaError_t cudaMemcpy2DFromArray(void* dst, size_t pitch, cudaArray_const_t src, size_t x,
                                  size_t y, size_t width, size_t height, cudaMemcpyKind kind) {
  return WARPLINGS_API {
    return copy_from_array(call, dst, pitch, {src, x, y}, width, height, kind, nullptr,
                           Wait::kAlways);
  };
}

cudaError_t cudaMemcpy2DFromArrayAsync(void* dst, size_t pitch, cudaArray_const_t src, size_t x,
                                       size_t y, size_t width, size_t height, cudaMemcpyKind kind,
                                       cudaStream_t stream) {
  return WARPLINGS_API {
    return copy_from_array(call, dst, pitch, {src, x, y}, width, height, kind, stream,
                           Wait::kAsNeeded);
  };
}

cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t dst, size_t to_x, size_t to_y,
                                     cudaArray_const_t src, size_t from_x, size_t from_y,
                                     size_t width, size_t height, cudaMemcpyKind kind) {
  return WARPLINGS_API {
    ArraySide side;
    const Box box{width, height, 1};
    if (const cudaError_t error = side_of(call, {src, from_x, from_y}, box, &side);
        error != cudaSuccess) {
      return error;
    }
    // Between arrays rows follow each other at the pitch of the source.
    return copy_to_array(call, {dst, to_x, to_y}, side.start, side.layout.pitch, width, height,
                         kind, nullptr, Wait::kAlways);
  };
}

cudaError_t cudaMemcpyToArray(cudaArray_t dst, size_t x, size_t y, const void* src, size_t count,
                              cudaMemcpyKind kind) {
  return WARPLINGS_API {
    char* to = nullptr;
    if (!run_on({dst, x, y}, count, &to)) return cudaErrorInvalidValue;
    return start_copy(call, linear_copy(to, src, count, kind), nullptr, Wait::kAlways);
  };
}

cudaError_t cudaMemcpyToArrayAsync(cudaArray_t dst, size_t x, size_t y, const void* src,
                                   size_t count, cudaMemcpyKind kind, cudaStream_t stream) {
  return WARPLINGS_API {
    char* to = nullptr;
    if (!run_on({dst, x, y}, count, &to)) return cudaErrorInvalidValue;
    return start_copy(call, linear_copy(to, src, count, kind), stream, Wait::kAsNeeded);
  };
}

cudaError_t cudaMemcpyFromArray(void* dst, cudaArray_const_t src, size_t x, size_t y, size_t count,
                                cudaMemcpyKind kind) {
  return WARPLINGS_API {
    char* from = nullptr;
    if (!run_on({src, x, y}, count, &from)) return cudaErrorInvalidValue;
    return start_copy(call, linear_copy(dst, from, count, kind), nullptr, Wait::kAlways);
  };
}

cudaError_t cudaMemcpyFromArrayAsync(void* dst, cudaArray_const_t src, size_t x, size_t y,
                                     size_t count, cudaMemcpyKind kind, cudaStream_t stream) {
  return WARPLINGS_API {
    char* from = nullptr;
    if (!run_on({src, x, y}, count, &from)) return cudaErrorInvalidValue;
    return start_copy(call, linear_copy(dst, from, count, kind), stream, Wait::kAsNeeded);
  };
}

cudaError_t cudaMemcpyArrayToArray(cudaArray_t dst, size_t to_x, size_t to_y, cudaArray_const_t src,
                                   size_t from_x, size_t from_y, size_t count,
                                   cudaMemcpyKind kind) {
  return WARPLINGS_API {
    char *to = nullptr, *from = nullptr;
    if (!run_on({dst, to_x, to_y}, count, &to) || !run_on({src, from_x, from_y}, count, &from)) {
      return cudaErrorInvalidValue;
    }
    return start_copy(call, linear_copy(to, from, count, kind), nullptr, Wait::kAlways);
  };
}

}  // extern "C"
