// cuTensorMapEncodeTiled: the rules of the CUDA driver API documentation, each refused with its
// reason as a note; the layout is that of memory/tensor_map.h.
#include <bit>
#include <cstring>
#include <string>

#include "memory/tensor_map.h"
#include "runtime/api.h"
#include "runtime/driver_api.h"

namespace warplings::sim {
namespace {

constexpr uint64_t kMostStride = uint64_t{1} << 40, kMostExtent = uint64_t{1} << 32;
constexpr uint32_t kMostBox = 256, kMostStep = 8;

struct TiledRequest {
  CUtensorMap* map;
  CUtensorMapDataType type;
  cuuint32_t dimensions;
  const void* address;
  const cuuint64_t *extent, *strides;
  const cuuint32_t *box, *steps;
  CUtensorMapInterleave interleave;
  CUtensorMapSwizzle swizzle;
  CUtensorMapL2promotion promotion;
  CUtensorMapFloatOOBfill fill;
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

std::string check_dimension(const TiledRequest& r, size_t i, uint32_t bytes) {
  if (r.extent[i] == 0 || r.extent[i] > kMostExtent) {
    return at("globalDim", i) + " is " + std::to_string(r.extent[i]) + "; it is 1 to 2^32";
  }
  if (r.box[i] == 0 || r.box[i] > kMostBox) {
    return at("boxDim", i) + " is " + std::to_string(r.box[i]) + "; it is 1 to 256";
  }
  if (r.steps[i] == 0 || r.steps[i] > kMostStep) {
    return at("elementStrides", i) + " is " + std::to_string(r.steps[i]) + "; it is 1 to 8";
  }
  if (i + 1 < r.dimensions && (r.strides[i] % 16 != 0 || r.strides[i] >= kMostStride)) {
    return at("globalStrides", i) + " is " + std::to_string(r.strides[i]) +
           " bytes; it is a multiple of 16, below 2^40";
  }
  if (i == 0 && r.box[0] * bytes % 16 != 0) {
    return "a row of the box has " + std::to_string(r.box[0] * bytes) +
           " bytes; boxDim[0] times the size of an element is a multiple of 16";
  }
  return {};
}

// Why the driver refuses it; "" if it does not.
std::string problem_of(const TiledRequest& r) {
  if (r.map == nullptr || r.extent == nullptr || r.box == nullptr || r.steps == nullptr ||
      (r.dimensions > 1 && r.strides == nullptr)) {
    return "an argument is a null pointer";
  }
  if (reinterpret_cast<uintptr_t>(r.map) % 64 != 0) {
    return "the CUtensorMap is not aligned to 64 bytes";
  }
  if (r.dimensions < 1 || r.dimensions > 5) return "a tensor has 1 to 5 dimensions";
  if (reinterpret_cast<uintptr_t>(r.address) % 16 != 0 || r.address == nullptr) {
    return "globalAddress is not aligned to 16 bytes, or null";
  }
  const uint32_t bytes = bytes_of(r.type);
  for (size_t i = 0; i < r.dimensions; ++i) {
    if (std::string problem = check_dimension(r, i, bytes); !problem.empty()) return problem;
  }
  const uint32_t width = 16u << static_cast<int>(r.swizzle);
  if (r.swizzle != CU_TENSOR_MAP_SWIZZLE_NONE && r.box[0] * bytes > width) {
    return "a row of the box has " + std::to_string(r.box[0] * bytes) +
           " bytes, and this swizzle permutes rows of at most " + std::to_string(width);
  }
  if (r.fill != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE && !is_floating(r.type)) {
    return "only floating-point tensors are filled with NaN";
  }
  return {};
}

void encode(const TiledRequest& r) {
  TensorMap map;
  map.magic = TensorMap::kMagic;
  map.type = static_cast<uint8_t>(r.type);
  map.element_bytes = static_cast<uint8_t>(bytes_of(r.type));
  map.dimensions = static_cast<uint8_t>(r.dimensions);
  map.swizzle = static_cast<TensorSwizzle>(r.swizzle);
  map.fills_nan = r.fill != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE ? 1 : 0;
  map.address = reinterpret_cast<uint64_t>(r.address);
  map.steps.fill(1);
  map.box.fill(1);
  for (size_t i = 0; i < r.dimensions; ++i) {
    map.extent[i] = static_cast<uint32_t>(r.extent[i] - 1);
    map.box[i] = static_cast<uint16_t>(r.box[i]);
    // Without interleaving the first one is ignored.
    if (i > 0) map.steps[i] = static_cast<uint8_t>(r.steps[i]);
    map.stride[i] = i == 0 ? map.element_bytes : r.strides[i - 1];
  }
  map.check = map.sum();
  std::memset(r.map, 0, sizeof *r.map);
  std::memcpy(r.map, &map, sizeof map);
}

// What these bytes mean on this card is not known here.
const char* unknown_here(const TiledRequest& r) {
  if (bytes_of(r.type) == 0) return "packed types of later cards";
  if (r.interleave != CU_TENSOR_MAP_INTERLEAVE_NONE) return "interleaved layouts";
  if (r.swizzle > CU_TENSOR_MAP_SWIZZLE_128B) return "swizzles of later cards";
  return nullptr;
}

}  // namespace
}  // namespace warplings::sim

using namespace warplings::sim;

extern "C" {

CUresult cuTensorMapEncodeTiled(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t dimensions,
                                void* address, const cuuint64_t* extent, const cuuint64_t* strides,
                                const cuuint32_t* box, const cuuint32_t* steps,
                                CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill) {
  const TiledRequest request{map, type,  dimensions, address, extent,    strides,
                             box, steps, interleave, swizzle, promotion, fill};
  const void* const caller = __builtin_return_address(0);
  return forward([&] {
    return run_api("cuTensorMapEncodeTiled", caller, OnFault::kWork, [&](const ApiCall& call) {
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
