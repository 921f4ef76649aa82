// Copies and fills of the CUDA runtime API.
#include <cuda_runtime_api.h>

#include "runtime/api.h"
#include "runtime/copy.h"
#include "runtime/device_model.h"
#include "runtime/pointer.h"
#include "runtime/registry.h"
#include "runtime/stream.h"

using namespace warplings::sim;

namespace {

cudaError_t copy_2d(const ApiCall& call, void* to, size_t to_pitch, const void* from,
                    size_t from_pitch, size_t width, size_t height, cudaMemcpyKind kind,
                    cudaStream_t stream, Wait wait) {
  if (height > 1 && (width > to_pitch || width > from_pitch)) return cudaErrorInvalidPitchValue;
  Copy copy;
  copy.to = to;
  copy.from = from;
  copy.box = {width, height, 1};
  copy.to_layout = {to_pitch, to_pitch * height};
  copy.from_layout = {from_pitch, from_pitch * height};
  copy.kind = kind;
  return start_copy(call, copy, stream, wait);
}

cudaError_t copy_3d(const ApiCall& call, const cudaMemcpy3DParms* p, cudaStream_t stream,
                    Wait wait) {
  if (p == nullptr) return cudaErrorInvalidValue;
  Copy copy;
  const cudaError_t error = copy_of(call, *p, &copy);
  return error == cudaSuccess ? start_copy(call, copy, stream, wait) : error;
}

// Such a copy comes after all work that either device was given, and before all that follows.
cudaError_t copy_between_devices(const ApiCall& call, const Copy& copy, int to, int from) {
  if (!is_device(to) || !is_device(from)) return cudaErrorInvalidDevice;
  Streams& streams = Streams::instance();
  streams.synchronize_device(from);
  streams.synchronize_device(to);
  const cudaError_t error = start_copy(call, copy, nullptr, Wait::kAlways);
  return error == cudaSuccess ? streams.synchronize(streams.find(cudaStreamLegacy)) : error;
}

enum class SymbolCopy { kToSymbol, kFromSymbol };

// `host` is the other side, which may also be device memory.
cudaError_t copy_symbol(const ApiCall& call, const void* symbol, void* host, size_t count,
                        size_t offset, cudaMemcpyKind kind, SymbolCopy direction,
                        cudaStream_t stream, Wait wait) {
  uint64_t address = 0, size = 0;
  if (const cudaError_t error = Registry::instance().resolve(symbol, &address, &size);
      error != cudaSuccess) {
    return error;
  }
  const cudaMemcpyKind wrong =
      direction == SymbolCopy::kToSymbol ? cudaMemcpyDeviceToHost : cudaMemcpyHostToDevice;
  if (kind == wrong || kind == cudaMemcpyHostToHost) return cudaErrorInvalidMemcpyDirection;
  auto* variable = reinterpret_cast<char*>(address) + offset;
  return direction == SymbolCopy::kToSymbol
             ? start_copy(call, linear_copy(variable, host, count, kind), stream, wait)
             : start_copy(call, linear_copy(host, variable, count, kind), stream, wait);
}

Fill make_fill(void* to, const Layout& layout, const Box& box, int value) {
  return {to, layout, box, static_cast<unsigned>(value), 1};
}

cudaError_t fill_2d(const ApiCall& call, void* to, size_t pitch, int value, size_t width,
                    size_t height, cudaStream_t stream) {
  if (height > 1 && width > pitch) return cudaErrorInvalidValue;
  return start_fill(call, make_fill(to, {pitch, pitch * height}, {width, height, 1}, value),
                    stream);
}

cudaError_t fill_3d(const ApiCall& call, const cudaPitchedPtr& to, int value,
                    const cudaExtent& extent, cudaStream_t stream) {
  return start_fill(call,
                    make_fill(to.ptr, {to.pitch, to.pitch * to.ysize},
                              {extent.width, extent.height, extent.depth}, value),
                    stream);
}

cudaError_t fill_1d(const ApiCall& call, void* to, int value, size_t count, cudaStream_t stream) {
  return start_fill(call, make_fill(to, {count, count}, {count, 1, 1}, value), stream);
}

}  // namespace

extern "C" {

cudaError_t cudaMemcpy(void* dst, const void* src, size_t count, cudaMemcpyKind kind) {
  return WARPLINGS_API {
    return start_copy(call, linear_copy(dst, src, count, kind), nullptr, Wait::kAlways);
  };
}

cudaError_t cudaMemcpyAsync(void* dst, const void* src, size_t count, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  return WARPLINGS_API {
    return start_copy(call, linear_copy(dst, src, count, kind), stream, Wait::kAsNeeded);
  };
}

cudaError_t cudaMemcpy2D(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width,
                         size_t height, cudaMemcpyKind kind) {
  return WARPLINGS_API {
    return copy_2d(call, dst, dpitch, src, spitch, width, height, kind, nullptr, Wait::kAlways);
  };
}

cudaError_t cudaMemcpy2DAsync(void* dst, size_t dpitch, const void* src, size_t spitch,
                              size_t width, size_t height, cudaMemcpyKind kind,
                              cudaStream_t stream) {
  return WARPLINGS_API {
    return copy_2d(call, dst, dpitch, src, spitch, width, height, kind, stream, Wait::kAsNeeded);
  };
}

cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* p) {
  return WARPLINGS_API { return copy_3d(call, p, nullptr, Wait::kAlways); };
}

cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* p, cudaStream_t stream) {
  return WARPLINGS_API { return copy_3d(call, p, stream, Wait::kAsNeeded); };
}

cudaError_t cudaMemcpyPeer(void* dst, int to, const void* src, int from, size_t count) {
  return WARPLINGS_API {
    return copy_between_devices(call, linear_copy(dst, src, count, cudaMemcpyDeviceToDevice), to,
                                from);
  };
}

cudaError_t cudaMemcpyPeerAsync(void* dst, int to, const void* src, int from, size_t count,
                                cudaStream_t stream) {
  return WARPLINGS_API {
    if (!is_device(to) || !is_device(from)) return cudaErrorInvalidDevice;
    return start_copy(call, linear_copy(dst, src, count, cudaMemcpyDeviceToDevice), stream,
                      Wait::kAsNeeded);
  };
}

cudaError_t cudaMemcpy3DPeer(const cudaMemcpy3DPeerParms* p) {
  return WARPLINGS_API {
    if (p == nullptr) return cudaErrorInvalidValue;
    Copy copy;
    if (const cudaError_t error = copy_of(call, *p, &copy); error != cudaSuccess) return error;
    return copy_between_devices(call, copy, p->dstDevice, p->srcDevice);
  };
}

cudaError_t cudaMemcpy3DPeerAsync(const cudaMemcpy3DPeerParms* p, cudaStream_t stream) {
  return WARPLINGS_API {
    if (p == nullptr) return cudaErrorInvalidValue;
    if (!is_device(p->dstDevice) || !is_device(p->srcDevice)) return cudaErrorInvalidDevice;
    Copy copy;
    if (const cudaError_t error = copy_of(call, *p, &copy); error != cudaSuccess) return error;
    return start_copy(call, copy, stream, Wait::kAsNeeded);
  };
}

cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* src, size_t count, size_t offset,
                               cudaMemcpyKind kind) {
  return WARPLINGS_API {
    return copy_symbol(call, symbol, const_cast<void*>(src), count, offset, kind,
                       SymbolCopy::kToSymbol, nullptr, Wait::kAlways);
  };
}

cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* src, size_t count,
                                    size_t offset, cudaMemcpyKind kind, cudaStream_t stream) {
  return WARPLINGS_API {
    return copy_symbol(call, symbol, const_cast<void*>(src), count, offset, kind,
                       SymbolCopy::kToSymbol, stream, Wait::kAsNeeded);
  };
}

cudaError_t cudaMemcpyFromSymbol(void* dst, const void* symbol, size_t count, size_t offset,
                                 cudaMemcpyKind kind) {
  return WARPLINGS_API {
    return copy_symbol(call, symbol, dst, count, offset, kind, SymbolCopy::kFromSymbol, nullptr,
                       Wait::kAlways);
  };
}

cudaError_t cudaMemcpyFromSymbolAsync(void* dst, const void* symbol, size_t count, size_t offset,
                                      cudaMemcpyKind kind, cudaStream_t stream) {
  return WARPLINGS_API {
    return copy_symbol(call, symbol, dst, count, offset, kind, SymbolCopy::kFromSymbol, stream,
                       Wait::kAsNeeded);
  };
}

cudaError_t cudaGetSymbolAddress(void** pointer, const void* symbol) {
  return WARPLINGS_API {
    uint64_t address = 0, size = 0;
    const cudaError_t error = Registry::instance().resolve(symbol, &address, &size);
    if (error == cudaSuccess) *pointer = reinterpret_cast<void*>(address);
    return error;
  };
}

cudaError_t cudaGetSymbolSize(size_t* bytes, const void* symbol) {
  return WARPLINGS_API {
    uint64_t address = 0, size = 0;
    const cudaError_t error = Registry::instance().resolve(symbol, &address, &size);
    if (error == cudaSuccess) *bytes = size;
    return error;
  };
}

cudaError_t cudaMemset(void* pointer, int value, size_t count) {
  return WARPLINGS_API { return fill_1d(call, pointer, value, count, nullptr); };
}

cudaError_t cudaMemsetAsync(void* pointer, int value, size_t count, cudaStream_t stream) {
  return WARPLINGS_API { return fill_1d(call, pointer, value, count, stream); };
}

cudaError_t cudaMemset2D(void* pointer, size_t pitch, int value, size_t width, size_t height) {
  return WARPLINGS_API { return fill_2d(call, pointer, pitch, value, width, height, nullptr); };
}

cudaError_t cudaMemset2DAsync(void* pointer, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream) {
  return WARPLINGS_API { return fill_2d(call, pointer, pitch, value, width, height, stream); };
}

cudaError_t cudaMemset3D(cudaPitchedPtr pointer, int value, cudaExtent extent) {
  return WARPLINGS_API { return fill_3d(call, pointer, value, extent, nullptr); };
}

cudaError_t cudaMemset3DAsync(cudaPitchedPtr pointer, int value, cudaExtent extent,
                              cudaStream_t stream) {
  return WARPLINGS_API { return fill_3d(call, pointer, value, extent, stream); };
}

}  // extern "C"
