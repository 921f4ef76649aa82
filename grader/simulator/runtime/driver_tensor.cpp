// cuTensorMapEncodeTiled and its like: the rules of the CUDA driver API documentation, each refused
// with its reason as a note; the layout is that of memory/tensor_map.h.
#include <algorithm>
#include <bit>
#include <cstring>
#include <string>
#include <utility>

#include "memory/tensor_map.h"
#include "runtime/api.h"
#include "runtime/driver_api.h"

namespace warplings::sim {
namespace {

constexpr uint64_t kMostStride = uint64_t{1} << 40, kMostExtent = uint64_t{1} << 32;
constexpr uint32_t kMostBox = 256, kMostStep = 8, kMostPixels = 1024;

struct MapRequest {
  CUtensorMap* map = nullptr;
  CUtensorMapDataType type = CU_TENSOR_MAP_DATA_TYPE_UINT8;
  cuuint32_t dimensions = 0;
  const void* address = nullptr;
  const cuuint64_t *extent = nullptr, *strides = nullptr;
  const cuuint32_t* steps = nullptr;
  CUtensorMapInterleave interleave = CU_TENSOR_MAP_INTERLEAVE_NONE;
  CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;
  CUtensorMapFloatOOBfill fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
  const cuuint32_t* box = nullptr;  // tiled
  bool im2col = false;
  const int *lower = nullptr, *upper = nullptr;
  cuuint32_t channels = 0, pixels = 0;

  uint32_t unit() const {
    return interleave == CU_TENSOR_MAP_INTERLEAVE_NONE ? 0 : 8u << static_cast<int>(interleave);
  }
  uint32_t alignment() const { return std::max(16u, unit()); }
  uint32_t box_at(size_t i) const { return !im2col ? box[i] : i == 0 ? channels : 1; }
};

// 0: not a type of this card.
uint32_t bytes_of(CUtensorMapDataType type) {
  constexpr uint8_t kBytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
  const auto index = static_cast<size_t>(type);
  return index < sizeof kBytes ? kBytes[index] : 0;
}

bool is_floating(CUtensorMapDataType type) {
  return type >= CU_TENSOR_MAP_DATA_TYPE_FLOAT16 && type <= CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ;
}

std::string at(const char* name, size_t i) {
  return std::string(name) + "[" + std::to_string(i) + "]";
}

std::string check_dimension(const MapRequest& r, size_t i, uint32_t bytes) {
  if (r.extent[i] == 0 || r.extent[i] > kMostExtent) {
    return at("globalDim", i) + " is " + std::to_string(r.extent[i]) + "; it is 1 to 2^32";
  }
  if (r.box_at(i) == 0 || r.box_at(i) > kMostBox) {
    return (r.im2col ? "channelsPerPixel" : at("boxDim", i)) + " is " +
           std::to_string(r.box_at(i)) + "; it is 1 to 256";
  }
  if (r.steps[i] == 0 || r.steps[i] > kMostStep) {
    return at("elementStrides", i) + " is " + std::to_string(r.steps[i]) + "; it is 1 to 8";
  }
  if (i + 1 < r.dimensions && (r.strides[i] % r.alignment() != 0 || r.strides[i] >= kMostStride)) {
    return at("globalStrides", i) + " is " + std::to_string(r.strides[i]) +
           " bytes; it is a multiple of " + std::to_string(r.alignment()) + ", below 2^40";
  }
  if (i == 0 && r.box_at(0) * bytes % 16 != 0) {
    return "a row of the box has " + std::to_string(r.box_at(0) * bytes) + " bytes; " +
           (r.im2col ? "channelsPerPixel" : "boxDim[0]") +
           " times the size of an element is a multiple of 16";
  }
  return {};
}

// Offsets of the bounding box: 16 bits of one, 8 of each of two, 5 of each of three.
std::string check_corners(const MapRequest& r) {
  if (r.dimensions < 3) return "a tensor of im2col has 3 to 5 dimensions";
  if (r.pixels == 0 || r.pixels > kMostPixels) {
    return "pixelsPerColumn is " + std::to_string(r.pixels) + "; it is 1 to 1024";
  }
  const int most = r.dimensions == 3 ? 1 << 15 : r.dimensions == 4 ? 1 << 7 : 1 << 4;
  for (size_t i = 0; i < r.dimensions - 2u; ++i) {
    for (const auto& [name, value] :
         {std::pair{"pixelBoxLowerCorner", r.lower[i]}, {"pixelBoxUpperCorner", r.upper[i]}}) {
      if (value >= -most && value < most) continue;
      return at(name, i) + " is " + std::to_string(value) + "; with " +
             std::to_string(r.dimensions) + " dimensions it is " + std::to_string(-most) + " to " +
             std::to_string(most - 1);
    }
    const size_t d = i + (r.unit() != 0 ? 0 : 1);
    if (static_cast<int64_t>(r.extent[d]) + r.upper[i] - r.lower[i] < 1) {
      return "the bounding box of pixels is empty in dimension " + std::to_string(d);
    }
  }
  return {};
}

// Why the driver refuses it; "" if it does not.
std::string problem_of(const MapRequest& r) {
  if (r.map == nullptr || r.extent == nullptr || r.steps == nullptr ||
      (r.im2col ? r.lower == nullptr || r.upper == nullptr : r.box == nullptr) ||
      r.strides == nullptr) {
    return "an argument is a null pointer";
  }
  if (reinterpret_cast<uintptr_t>(r.map) % 64 != 0) {
    return "the CUtensorMap is not aligned to 64 bytes";
  }
  if (r.dimensions < 1 || r.dimensions > 5) return "a tensor has 1 to 5 dimensions";
  if (r.unit() != 0 && r.dimensions < 3) return "an interleaved tensor has 3 to 5 dimensions";
  if (reinterpret_cast<uintptr_t>(r.address) % r.alignment() != 0 || r.address == nullptr) {
    return "globalAddress is not aligned to " + std::to_string(r.alignment()) + " bytes, or null";
  }
  const uint32_t bytes = bytes_of(r.type);
  for (size_t i = 0; i < r.dimensions; ++i) {
    if (std::string problem = check_dimension(r, i, bytes); !problem.empty()) return problem;
  }
  if (r.im2col) {
    if (std::string problem = check_corners(r); !problem.empty()) return problem;
  }
  const uint32_t width = 16u << static_cast<int>(r.swizzle);
  if (r.swizzle != CU_TENSOR_MAP_SWIZZLE_NONE && r.unit() == 0 && r.box_at(0) * bytes > width) {
    return "a row of the box has " + std::to_string(r.box_at(0) * bytes) +
           " bytes, and this swizzle permutes rows of at most " + std::to_string(width);
  }
  if (r.fill != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE && !is_floating(r.type)) {
    return "only floating-point tensors are filled with NaN";
  }
  return {};
}

void encode(const MapRequest& r) {
  TensorMap map;
  map.magic = TensorMap::kMagic;
  map.type = static_cast<uint8_t>(r.type);
  map.element_bytes = static_cast<uint8_t>(bytes_of(r.type));
  map.dimensions = static_cast<uint8_t>(r.dimensions);
  map.swizzle = static_cast<TensorSwizzle>(r.swizzle);
  map.fills_nan = r.fill != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE ? 1 : 0;
  map.address = reinterpret_cast<uint64_t>(r.address);
  map.unit = static_cast<uint8_t>(r.unit());
  map.im2col = r.im2col;
  map.pixels = static_cast<uint16_t>(r.pixels);
  for (size_t i = 0; r.im2col && i < r.dimensions - 2u; ++i) {
    map.lower[i] = static_cast<int16_t>(r.lower[i]);
    map.upper[i] = static_cast<int16_t>(r.upper[i]);
  }
  map.steps.fill(1);
  map.box.fill(1);
  for (size_t i = 0; i < r.dimensions; ++i) {
    map.extent[i] = static_cast<uint32_t>(r.extent[i] - 1);
    map.box[i] = static_cast<uint16_t>(r.box_at(i));
    // Without interleaving the first one is ignored.
    if (i > 0 || r.unit() != 0) map.steps[i] = static_cast<uint8_t>(r.steps[i]);
    map.stride[i] = i > 0 ? r.strides[i - 1] : r.unit() != 0 ? r.unit() : map.element_bytes;
  }
  map.check = map.sum();
  std::memset(r.map, 0, sizeof *r.map);
  std::memcpy(r.map, &map, sizeof map);
}

// What these bytes mean on this card is not known here.
const char* unknown_here(const MapRequest& r) {
  if (bytes_of(r.type) == 0) return "packed types of later cards";
  if (r.swizzle > CU_TENSOR_MAP_SWIZZLE_128B) return "swizzles of later cards";
  return nullptr;
}

CUresult answer(const char* name, const void* caller, const MapRequest& request) {
  return forward([&] {
    return run_api(name, caller, OnFault::kWork, [&](const ApiCall& call) {
      if (const char* what = unknown_here(request)) {
        call.report("api", "not-simulated",
                    call.description() + " asks for " + what +
                        ", which the simulator does not have. It returned "
                        "CUDA_ERROR_NOT_SUPPORTED.");
        return cudaErrorNotSupported;
      }
      const std::string problem = problem_of(request);
      if (!problem.empty()) {
        call.report(
            "api", "tensor-map",
            call.description() + " was refused (CUDA_ERROR_INVALID_VALUE): " + problem + ".", true);
        return cudaErrorInvalidValue;
      }
      encode(request);
      return cudaSuccess;
    });
  });
}

}  // namespace
}  // namespace warplings::sim

using namespace warplings::sim;

extern "C" {

CUresult cuTensorMapEncodeTiled(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t dimensions,
                                void* address, const cuuint64_t* extent, const cuuint64_t* strides,
                                const cuuint32_t* box, const cuuint32_t* steps,
                                CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion, CUtensorMapFloatOOBfill fill) {
  MapRequest request{map,     type,  dimensions, address, extent,
                     strides, steps, interleave, swizzle, fill};
  request.box = box;
  return answer("cuTensorMapEncodeTiled", __builtin_return_address(0), request);
}

CUresult cuTensorMapEncodeIm2col(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t dimensions,
                                 void* address, const cuuint64_t* extent, const cuuint64_t* strides,
                                 const int* lower, const int* upper, cuuint32_t channels,
                                 cuuint32_t pixels, const cuuint32_t* steps,
                                 CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                 CUtensorMapL2promotion, CUtensorMapFloatOOBfill fill) {
  MapRequest request{map,     type,  dimensions, address, extent,
                     strides, steps, interleave, swizzle, fill};
  request.im2col = true;
  request.lower = lower;
  request.upper = upper;
  request.channels = channels;
  request.pixels = pixels;
  return answer("cuTensorMapEncodeIm2col", __builtin_return_address(0), request);
}

CUresult cuTensorMapReplaceAddress(CUtensorMap* map, void* address) {
  TensorMap known;
  if (map == nullptr || address == nullptr || reinterpret_cast<uintptr_t>(address) % 16 != 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  std::memcpy(static_cast<void*>(&known), map->opaque, sizeof known);
  if (!known.is_whole()) return CUDA_ERROR_INVALID_VALUE;
  known.address = reinterpret_cast<uint64_t>(address);
  known.check = known.sum();
  std::memcpy(map->opaque, &known, sizeof known);
  return CUDA_SUCCESS;
}

}  // extern "C"
