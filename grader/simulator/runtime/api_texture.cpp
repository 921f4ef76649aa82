// Texture and surface objects of the runtime API.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <map>

#include "core/machine.h"
#include "memory/device_memory.h"
#include "runtime/api.h"
#include "runtime/array.h"
#include "runtime/device_model.h"
#include "runtime/device_state.h"
#include "runtime/pointer.h"
#include "runtime/stream.h"

using namespace warplings::sim;

namespace {

// What the program asked for, to hand back.
struct Described {
  cudaResourceDesc resource{};
  cudaTextureDesc texture{};
};
std::map<cudaTextureObject_t, Described>& descriptions() {
  struct Descriptions {
    std::map<cudaTextureObject_t, Described> all;
  };
  return Machine::get<Descriptions>().all;
}

template <class Part>
cudaError_t describe_object(cudaTextureObject_t object, Part Described::*part, Part* out) {
  const auto found = descriptions().find(object);
  if (out == nullptr || found == descriptions().end()) return cudaErrorInvalidValue;
  *out = found->second.*part;
  return cudaSuccess;
}

// Kernels that were launched before may still use the object: it goes when they have run.
cudaError_t destroy_object(cudaTextureObject_t object, bool (ImageObjects::*remove)(uint64_t)) {
  if (object == 0) return cudaSuccess;
  if (const cudaError_t error = Streams::instance().synchronize_device(current_device());
      error != cudaSuccess) {
    return error;
  }
  descriptions().erase(object);
  return (ImageObjects::instance().*remove)(object) ? cudaSuccess : cudaErrorInvalidValue;
}

bool on_device(const void* pointer, size_t bytes) {
  return DeviceMemory::instance().accessible(address_of(pointer), bytes);
}

// Memory as an image of one row.
cudaError_t linear_image(const cudaResourceDesc& resource, Image* image) {
  const auto& linear = resource.res.linear;
  if (const cudaError_t error = texel_format(linear.desc, &image->format); error != cudaSuccess) {
    return error;
  }
  const size_t texels = linear.sizeInBytes / image->format.bytes();
  if (texels == 0 || !on_device(linear.devPtr, linear.sizeInBytes)) return cudaErrorInvalidValue;
  if (address_of(linear.devPtr) % DeviceModel::kTextureAlignment != 0) {
    return cudaErrorInvalidValue;
  }
  image->base = address_of(linear.devPtr);
  image->width = static_cast<uint32_t>(texels);
  image->is_linear = true;
  return cudaSuccess;
}

cudaError_t pitched_image(const cudaResourceDesc& resource, Image* image) {
  const auto& pitched = resource.res.pitch2D;
  if (const cudaError_t error = texel_format(pitched.desc, &image->format); error != cudaSuccess) {
    return error;
  }
  const size_t row = pitched.width * image->format.bytes();
  if (pitched.width == 0 || pitched.height == 0 || pitched.pitchInBytes < row) {
    return cudaErrorInvalidValue;
  }
  if (address_of(pitched.devPtr) % DeviceModel::kTextureAlignment != 0 ||
      pitched.pitchInBytes % DeviceModel::kTexturePitchAlignment != 0) {
    return cudaErrorInvalidValue;
  }
  image->base = address_of(pitched.devPtr);
  image->width = static_cast<uint32_t>(pitched.width);
  image->height = static_cast<uint32_t>(pitched.height);
  image->pitch = pitched.pitchInBytes;
  return on_device(pitched.devPtr, image->bytes()) ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t image_of(const ApiCall& call, const cudaResourceDesc& resource, Image* image) {
  switch (resource.resType) {
    case cudaResourceTypeArray: {
      const cudaArray* array = Arrays::instance().find(resource.res.array.array);
      if (array == nullptr) return cudaErrorInvalidResourceHandle;
      *image = array->image;
      return cudaSuccess;
    }
    case cudaResourceTypeLinear:
      return linear_image(resource, image);
    case cudaResourceTypePitch2D:
      return pitched_image(resource, image);
    case cudaResourceTypeMipmappedArray:
      return refuse(call, "a texture of a mipmapped array");
    default:
      return cudaErrorInvalidValue;
  }
}

AddressMode address_mode(cudaTextureAddressMode mode) {
  switch (mode) {
    case cudaAddressModeWrap:
      return AddressMode::kWrap;
    case cudaAddressModeMirror:
      return AddressMode::kMirror;
    case cudaAddressModeBorder:
      return AddressMode::kBorder;
    default:
      return AddressMode::kClamp;
  }
}

cudaError_t sampler_of(const ApiCall& call, const cudaTextureDesc& texture, const Image& image,
                       Sampler* sampler) {
  const bool is_float = image.format.kind == TexelKind::kFloat;
  if (texture.sRGB != 0) return refuse(call, "a texture with sRGB conversion");
  if (texture.seamlessCubemap != 0) return refuse(call, "a seamless cube map");
  const bool to_float = texture.readMode == cudaReadModeNormalizedFloat;
  if (to_float && !is_float && image.format.channel_bytes == 4) {
    return cudaErrorInvalidNormSetting;  // 32-bit integers have no fractions
  }
  sampler->linear = texture.filterMode == cudaFilterModeLinear;
  sampler->to_float = to_float && !is_float;
  if (sampler->linear && !is_float && !to_float) return cudaErrorInvalidFilterSetting;
  sampler->normalised = texture.normalizedCoords != 0;
  for (size_t k = 0; k < 3; ++k) sampler->modes[k] = address_mode(texture.addressMode[k]);
  std::copy(texture.borderColor, texture.borderColor + 4, sampler->border.begin());
  return cudaSuccess;
}

}  // namespace

extern "C" {

cudaError_t cudaCreateTextureObject(cudaTextureObject_t* object, const cudaResourceDesc* resource,
                                    const cudaTextureDesc* texture,
                                    const cudaResourceViewDesc* view) {
  return WARPLINGS_API {
    if (object == nullptr || resource == nullptr || texture == nullptr) {
      return cudaErrorInvalidValue;
    }
    if (view != nullptr) return refuse(call, "a texture with a resource view");
    Texture made;
    if (const cudaError_t error = image_of(call, *resource, &made.image); error != cudaSuccess) {
      return error;
    }
    const cudaError_t error = sampler_of(call, *texture, made.image, &made.sampler);
    if (error != cudaSuccess) return error;
    *object = ImageObjects::instance().add(made);
    descriptions()[*object] = {*resource, *texture};
    return cudaSuccess;
  };
}

cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object) {
  return WARPLINGS_API { return destroy_object(object, &ImageObjects::remove_texture); };
}

cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc* resource,
                                             cudaTextureObject_t object) {
  return WARPLINGS_API { return describe_object(object, &Described::resource, resource); };
}

cudaError_t cudaGetTextureObjectTextureDesc(cudaTextureDesc* texture, cudaTextureObject_t object) {
  return WARPLINGS_API { return describe_object(object, &Described::texture, texture); };
}

cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* object, const cudaResourceDesc* resource) {
  return WARPLINGS_API {
    if (object == nullptr || resource == nullptr) return cudaErrorInvalidValue;
    if (resource->resType != cudaResourceTypeArray) return cudaErrorInvalidValue;
    const cudaArray* array = Arrays::instance().find(resource->res.array.array);
    if (array == nullptr) return cudaErrorInvalidResourceHandle;
    if ((array->flags & cudaArraySurfaceLoadStore) == 0) {
      call.report("api", "surface-flag",
                  call.description() +
                      " needs an array that was made with cudaArraySurfaceLoadStore. Pass that "
                      "flag to cudaMallocArray or cudaMalloc3DArray.");
      return cudaErrorInvalidValue;
    }
    *object = ImageObjects::instance().add(array->image);
    descriptions()[*object].resource = *resource;
    return cudaSuccess;
  };
}

cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t object) {
  return WARPLINGS_API { return destroy_object(object, &ImageObjects::remove_surface); };
}

cudaError_t cudaGetSurfaceObjectResourceDesc(cudaResourceDesc* resource,
                                             cudaSurfaceObject_t object) {
  return WARPLINGS_API { return describe_object(object, &Described::resource, resource); };
}

}  // extern "C"
