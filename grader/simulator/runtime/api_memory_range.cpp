// Managed memory: advice, prefetches and what is known of ranges; copies in batches.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <bit>
#include <cstdint>

#include "runtime/api.h"
#include "runtime/copy.h"
#include "runtime/device_model.h"
#include "runtime/memory_advice.h"
#include "runtime/pointer.h"
#include "runtime/stream.h"

using namespace warplings::sim;

namespace {

// All bytes lie in one allocation that is managed, or in a managed variable.
bool is_managed(const void* pointer, size_t size) {
  const DeviceMemory& memory = DeviceMemory::instance();
  const Allocation* allocation = memory.allocation_at(address_of(pointer));
  return allocation != nullptr && !allocation->freed &&
         (allocation->kind == AllocationKind::kManaged ||
          allocation->kind == AllocationKind::kModule) &&
         memory.accessible(address_of(pointer), size);
}

bool faults_for_pages(int device) {
  return is_device(device) && !gpu_model_of(device).moves_managed_whole;
}

cudaError_t check_location(const cudaMemLocation& location) {
  switch (location.type) {
    case cudaMemLocationTypeDevice:
      return faults_for_pages(location.id) ? cudaSuccess : cudaErrorInvalidDevice;
    case cudaMemLocationTypeHost:
    case cudaMemLocationTypeHostNuma:
    case cudaMemLocationTypeHostNumaCurrent:
      return cudaSuccess;
    default:
      return cudaErrorInvalidValue;
  }
}

uint32_t bit_of(const cudaMemLocation& location) {
  return location.type == cudaMemLocationTypeDevice ? 1u << location.id : MemoryAdvice::kHost;
}

// As the older attributes have it: a device, the host, or nothing.
int number_of(const cudaMemLocation& location) {
  if (location.type == cudaMemLocationTypeInvalid) return cudaInvalidDeviceId;
  return location.type == cudaMemLocationTypeDevice ? location.id : cudaCpuDeviceId;
}

cudaError_t prefetch(const void* pointer, size_t size, const cudaMemLocation& location) {
  if (!is_managed(pointer, size)) return cudaErrorInvalidValue;
  if (const cudaError_t error = check_location(location); error != cudaSuccess) return error;
  MemoryAdvices::instance().change(address_of(pointer), size,
                                   [&](MemoryAdvice& known) { known.prefetched = location; });
  return cudaSuccess;
}

cudaError_t advise(const void* pointer, size_t size, cudaMemoryAdvise advice,
                   const cudaMemLocation& location) {
  if (!is_managed(pointer, size) || advice < cudaMemAdviseSetReadMostly ||
      advice > cudaMemAdviseUnsetAccessedBy) {
    return cudaErrorInvalidValue;
  }
  const bool needs_location = advice == cudaMemAdviseSetPreferredLocation ||
                              advice == cudaMemAdviseSetAccessedBy ||
                              advice == cudaMemAdviseUnsetAccessedBy;
  if (needs_location) {
    if (const cudaError_t error = check_location(location); error != cudaSuccess) return error;
  }
  MemoryAdvices::instance().change(address_of(pointer), size, [&](MemoryAdvice& known) {
    switch (advice) {
      case cudaMemAdviseSetReadMostly:
      case cudaMemAdviseUnsetReadMostly:
        known.read_mostly = advice == cudaMemAdviseSetReadMostly;
        break;
      case cudaMemAdviseSetPreferredLocation:
        known.preferred = location;
        break;
      case cudaMemAdviseUnsetPreferredLocation:
        known.preferred = MemoryAdvice{}.preferred;
        break;
      case cudaMemAdviseSetAccessedBy:
        known.accessed_by |= bit_of(location);
        break;
      case cudaMemAdviseUnsetAccessedBy:
        known.accessed_by &= ~bit_of(location);
        break;
    }
  });
  return cudaSuccess;
}

// A value that holds for all of the range, or what stands for "not the same everywhere".
template <class Value>
int same_everywhere(const void* pointer, size_t size, int otherwise, Value value) {
  bool first = true;
  int result = otherwise;
  MemoryAdvices::instance().each(address_of(pointer), size, [&](const MemoryAdvice& known) {
    const int here = value(known);
    result = first || result == here ? here : otherwise;
    first = false;
  });
  return result;
}

// Those that access all of the range; the places that are left say that nobody does.
cudaError_t accessed_by(int* devices, size_t places, const void* pointer, size_t size) {
  uint32_t bits = ~uint32_t{0};
  MemoryAdvices::instance().each(address_of(pointer), size,
                                 [&](const MemoryAdvice& known) { bits &= known.accessed_by; });
  std::fill_n(devices, places, static_cast<int>(cudaInvalidDeviceId));
  for (size_t i = 0; i < places && bits != 0; ++i, bits &= bits - 1) {
    const int bit = std::countr_zero(bits);
    devices[i] = bit == 31 ? static_cast<int>(cudaCpuDeviceId) : bit;
  }
  return cudaSuccess;
}

cudaError_t range_attribute(void* data, size_t data_size, cudaMemRangeAttribute attribute,
                            const void* pointer, size_t size) {
  if (data == nullptr || data_size == 0 || data_size % sizeof(int) != 0 || size == 0 ||
      !is_managed(pointer, size)) {
    return cudaErrorInvalidValue;
  }
  int* result = static_cast<int*>(data);
  if (attribute == cudaMemRangeAttributeAccessedBy) {
    return accessed_by(result, data_size / sizeof(int), pointer, size);
  }
  if (data_size != sizeof(int)) return cudaErrorInvalidValue;
  const auto set = [&](int otherwise, auto value) {
    *result = same_everywhere(pointer, size, otherwise, value);
    return cudaSuccess;
  };
  switch (attribute) {
    case cudaMemRangeAttributeReadMostly:
      return set(0, [](const MemoryAdvice& known) { return known.read_mostly ? 1 : 0; });
    case cudaMemRangeAttributePreferredLocation:
      return set(cudaInvalidDeviceId,
                 [](const MemoryAdvice& known) { return number_of(known.preferred); });
    case cudaMemRangeAttributeLastPrefetchLocation:
      return set(cudaInvalidDeviceId,
                 [](const MemoryAdvice& known) { return number_of(known.prefetched); });
    case cudaMemRangeAttributePreferredLocationType:
      return set(cudaMemLocationTypeInvalid,
                 [](const MemoryAdvice& known) { return static_cast<int>(known.preferred.type); });
    case cudaMemRangeAttributePreferredLocationId:
      return set(0, [](const MemoryAdvice& known) { return known.preferred.id; });
    case cudaMemRangeAttributeLastPrefetchLocationType:
      return set(cudaMemLocationTypeInvalid,
                 [](const MemoryAdvice& known) { return static_cast<int>(known.prefetched.type); });
    case cudaMemRangeAttributeLastPrefetchLocationId:
      return set(0, [](const MemoryAdvice& known) { return known.prefetched.id; });
    default:
      return cudaErrorInvalidValue;
  }
}

// `firsts[i]` is the first operation that the i-th of so many attributes belongs to.
bool are_groups(const size_t* firsts, size_t groups, size_t operations) {
  if (firsts == nullptr || groups == 0 || groups > operations || firsts[0] != 0) return false;
  return std::adjacent_find(firsts, firsts + groups, std::greater_equal<>()) == firsts + groups &&
         firsts[groups - 1] < operations;
}
size_t group_of(const size_t* firsts, size_t groups, size_t operation) {
  return static_cast<size_t>(std::upper_bound(firsts, firsts + groups, operation) - firsts) - 1;
}

// The operations of a batch are given to a stream that somebody has made.
bool is_batch_stream(cudaStream_t stream) {
  return stream != nullptr && stream != cudaStreamLegacy && Streams::instance().find(stream);
}

cudaError_t copy_batch(const ApiCall& call, void* const* to, const void* const* from,
                       const size_t* sizes, size_t count, const cudaMemcpyAttributes* attributes,
                       const size_t* firsts, size_t groups, cudaStream_t stream) {
  if (to == nullptr || from == nullptr || sizes == nullptr || attributes == nullptr ||
      !are_groups(firsts, groups, count) || !is_batch_stream(stream)) {
    return cudaErrorInvalidValue;
  }
  for (size_t i = 0; i < groups; ++i) {
    const cudaMemcpySrcAccessOrder order = attributes[i].srcAccessOrder;
    if (order < cudaMemcpySrcAccessOrderStream || order > cudaMemcpySrcAccessOrderAny) {
      return cudaErrorInvalidValue;
    }
  }
  for (size_t i = 0; i < count; ++i) {
    const bool during_call = attributes[group_of(firsts, groups, i)].srcAccessOrder ==
                             cudaMemcpySrcAccessOrderDuringApiCall;
    const cudaError_t error =
        start_copy(call, linear_copy(to[i], from[i], sizes[i], cudaMemcpyDefault), stream,
                   during_call ? Wait::kAlways : Wait::kAsNeeded);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

cudaError_t prefetch_batch(void* const* pointers, const size_t* sizes, size_t count,
                           const cudaMemLocation* locations, const size_t* firsts, size_t groups,
                           unsigned long long flags, cudaStream_t stream) {
  if (pointers == nullptr || sizes == nullptr || locations == nullptr || flags != 0 ||
      !are_groups(firsts, groups, count) || !is_batch_stream(stream)) {
    return cudaErrorInvalidValue;
  }
  for (size_t i = 0; i < count; ++i) {
    const cudaError_t error =
        prefetch(pointers[i], sizes[i], locations[group_of(firsts, groups, i)]);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

// Discarded bytes may have any value until they are written: here they keep theirs.
cudaError_t discard_batch(void* const* pointers, const size_t* sizes, size_t count,
                          unsigned long long flags, cudaStream_t stream) {
  if (pointers == nullptr || sizes == nullptr || count == 0 || flags != 0 ||
      !is_batch_stream(stream)) {
    return cudaErrorInvalidValue;
  }
  for (size_t i = 0; i < count; ++i) {
    if (!is_managed(pointers[i], sizes[i])) return cudaErrorInvalidValue;
  }
  return cudaSuccess;
}

}  // namespace

extern "C" {

cudaError_t cudaMemPrefetchAsync(const void* pointer, size_t size, cudaMemLocation location,
                                 unsigned flags, cudaStream_t stream) {
  return WARPLINGS_API {
    const std::shared_ptr<StreamState> found = Streams::instance().find(stream);
    if (found == nullptr) return cudaErrorInvalidResourceHandle;
    if (!faults_for_pages(found->device)) return cudaErrorInvalidDevice;
    return flags != 0 ? cudaErrorInvalidValue : prefetch(pointer, size, location);
  };
}

cudaError_t cudaMemPrefetchBatchAsync(void** pointers, size_t* sizes, size_t count,
                                      cudaMemLocation* locations, size_t* firsts, size_t groups,
                                      unsigned long long flags, cudaStream_t stream) {
  return WARPLINGS_API {
    return prefetch_batch(pointers, sizes, count, locations, firsts, groups, flags, stream);
  };
}

cudaError_t cudaMemDiscardBatchAsync(void** pointers, size_t* sizes, size_t count,
                                     unsigned long long flags, cudaStream_t stream) {
  return WARPLINGS_API { return discard_batch(pointers, sizes, count, flags, stream); };
}

cudaError_t cudaMemDiscardAndPrefetchBatchAsync(void** pointers, size_t* sizes, size_t count,
                                                cudaMemLocation* locations, size_t* firsts,
                                                size_t groups, unsigned long long flags,
                                                cudaStream_t stream) {
  return WARPLINGS_API {
    const cudaError_t error = discard_batch(pointers, sizes, count, flags, stream);
    if (error != cudaSuccess) return error;
    return prefetch_batch(pointers, sizes, count, locations, firsts, groups, flags, stream);
  };
}

cudaError_t cudaMemAdvise(const void* pointer, size_t size, cudaMemoryAdvise advice,
                          cudaMemLocation location) {
  return WARPLINGS_API { return advise(pointer, size, advice, location); };
}

cudaError_t cudaMemRangeGetAttribute(void* data, size_t data_size, cudaMemRangeAttribute attribute,
                                     const void* pointer, size_t size) {
  return WARPLINGS_API { return range_attribute(data, data_size, attribute, pointer, size); };
}

cudaError_t cudaMemRangeGetAttributes(void** data, size_t* data_sizes,
                                      cudaMemRangeAttribute* attributes, size_t count,
                                      const void* pointer, size_t size) {
  return WARPLINGS_API {
    if (data == nullptr || data_sizes == nullptr || attributes == nullptr || count == 0) {
      return cudaErrorInvalidValue;
    }
    for (size_t i = 0; i < count; ++i) {
      const cudaError_t error =
          range_attribute(data[i], data_sizes[i], attributes[i], pointer, size);
      if (error != cudaSuccess) return error;
    }
    return cudaSuccess;
  };
}

cudaError_t cudaMemcpyBatchAsync(void* const* to, const void* const* from, const size_t* sizes,
                                 size_t count, cudaMemcpyAttributes* attributes, size_t* firsts,
                                 size_t groups, cudaStream_t stream) {
  return WARPLINGS_API {
    return copy_batch(call, to, from, sizes, count, attributes, firsts, groups, stream);
  };
}

}  // extern "C"
