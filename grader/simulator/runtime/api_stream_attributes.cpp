// Attributes of streams in the CUDA runtime API. Only the priority has an effect here.
#include <cuda_runtime_api.h>

#include <algorithm>

#include "runtime/api.h"
#include "runtime/stream.h"

using namespace warplings::sim;

namespace {

bool is_known(cudaLaunchAttributeID id) {
  return id == cudaLaunchAttributeAccessPolicyWindow ||
         id == cudaLaunchAttributeSynchronizationPolicy || id == cudaLaunchAttributePriority ||
         id == cudaLaunchAttributeMemSyncDomain || id == cudaLaunchAttributeMemSyncDomainMap;
}

}  // namespace

extern "C" {

cudaError_t cudaStreamSetAttribute(cudaStream_t handle, cudaLaunchAttributeID id,
                                   const cudaLaunchAttributeValue* value) {
  return WARPLINGS_API {
    const auto stream = Streams::instance().find(handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    if (!is_known(id) || value == nullptr) return cudaErrorInvalidValue;
    if (id == cudaLaunchAttributePriority) {
      stream->priority = std::clamp(value->priority, kGreatestPriority, kLeastPriority);
    }
    stream->attributes[id] = *value;
    return cudaSuccess;
  };
}

cudaError_t cudaStreamGetAttribute(cudaStream_t handle, cudaLaunchAttributeID id,
                                   cudaLaunchAttributeValue* value) {
  return WARPLINGS_API {
    const auto stream = Streams::instance().find(handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    if (!is_known(id) || value == nullptr) return cudaErrorInvalidValue;
    const auto known = stream->attributes.find(id);
    *value = known == stream->attributes.end() ? cudaLaunchAttributeValue{} : known->second;
    if (id == cudaLaunchAttributePriority) value->priority = stream->priority;
    return cudaSuccess;
  };
}

cudaError_t cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from) {
  return WARPLINGS_API {
    const auto target = Streams::instance().find(to), source = Streams::instance().find(from);
    if (target == nullptr || source == nullptr) return cudaErrorInvalidResourceHandle;
    target->attributes = source->attributes;
    target->priority = source->priority;
    return cudaSuccess;
  };
}

}  // extern "C"
