// Streams, events and host functions of the CUDA runtime API.
#include <cuda_runtime_api.h>

#include "runtime/api.h"
#include "runtime/device_state.h"
#include "runtime/stream.h"

using namespace warplings::sim;

namespace {

constexpr int kLeastPriority = 0, kGreatestPriority = -5;

// Work that is still waiting counts as not ready once; asking makes it run.
cudaError_t query(const std::shared_ptr<StreamState>& stream) {
  Streams& streams = Streams::instance();
  if (streams.is_idle(stream)) return streams.synchronize(stream);
  const cudaError_t error = streams.run_stream(stream);
  return error == cudaSuccess ? cudaErrorNotReady : error;
}

cudaError_t create_stream(cudaStream_t* stream, unsigned flags, int priority) {
  if (stream == nullptr || (flags & ~unsigned{cudaStreamNonBlocking}) != 0) {
    return cudaErrorInvalidValue;
  }
  const int clamped = std::min(kLeastPriority, std::max(kGreatestPriority, priority));
  *stream = Streams::instance().create(flags, clamped, current_device());
  return cudaSuccess;
}

cudaError_t create_event(cudaEvent_t* event, unsigned flags) {
  constexpr unsigned kKnown =
      cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;
  if (event == nullptr || (flags & ~kKnown) != 0) return cudaErrorInvalidValue;
  *event = Streams::instance().create_event(flags, current_device());
  return cudaSuccess;
}

cudaError_t record_event(cudaEvent_t handle, cudaStream_t stream) {
  Streams& streams = Streams::instance();
  CUevent_st* event = streams.find(handle);
  const auto state = streams.find(stream);
  if (event == nullptr || state == nullptr || event->device != state->device) {
    return cudaErrorInvalidResourceHandle;
  }
  streams.record(event, state);
  return cudaSuccess;
}

cudaError_t elapsed_time(float* ms, cudaEvent_t start, cudaEvent_t end) {
  Streams& streams = Streams::instance();
  for (const cudaEvent_t handle : {start, end}) {
    const CUevent_st* event = streams.find(handle);
    if (event == nullptr || event->record == nullptr ||
        (event->flags & cudaEventDisableTiming) != 0) {
      return cudaErrorInvalidResourceHandle;
    }
  }
  if (start->device != end->device) return cudaErrorInvalidResourceHandle;
  if (!start->record->done || !end->record->done) return cudaErrorNotReady;
  *ms = static_cast<float>(end->record->modelled_ms - start->record->modelled_ms);
  return cudaSuccess;
}

std::shared_ptr<Work> host_function(const ApiCall& call) {
  auto work = std::make_shared<Work>();
  work->kind = WorkKind::kHostFunction;
  work->name = call.name();
  work->where = call.where();
  return work;
}

}  // namespace

extern "C" {

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return WARPLINGS_API { return create_stream(stream, cudaStreamDefault, 0); };
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return WARPLINGS_API { return create_stream(stream, flags, 0); };
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
  return WARPLINGS_API { return create_stream(stream, flags, priority); };
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return WARPLINGS_API {
    return Streams::instance().destroy(stream) ? cudaSuccess : cudaErrorInvalidResourceHandle;
  };
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return WARPLINGS_API {
    const auto state = Streams::instance().find(stream);
    return state == nullptr ? cudaErrorInvalidResourceHandle
                            : Streams::instance().synchronize(state);
  };
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return WARPLINGS_API {
    const auto state = Streams::instance().find(stream);
    return state == nullptr ? cudaErrorInvalidResourceHandle : query(state);
  };
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t handle, unsigned) {
  return WARPLINGS_API {
    Streams& streams = Streams::instance();
    const auto state = streams.find(stream);
    const CUevent_st* event = streams.find(handle);
    if (state == nullptr || event == nullptr) return cudaErrorInvalidResourceHandle;
    // An event that was never recorded is no reason to wait.
    if (event->record != nullptr) streams.wait(state, *event->record);
    return cudaSuccess;
  };
}

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags) {
  return WARPLINGS_API {
    const auto state = Streams::instance().find(stream);
    if (state == nullptr) return cudaErrorInvalidResourceHandle;
    *flags = state->flags;
    return cudaSuccess;
  };
}

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  return WARPLINGS_API {
    const auto state = Streams::instance().find(stream);
    if (state == nullptr) return cudaErrorInvalidResourceHandle;
    *priority = state->priority;
    return cudaSuccess;
  };
}

cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* id) {
  return WARPLINGS_API {
    const auto state = Streams::instance().find(stream);
    if (state == nullptr) return cudaErrorInvalidResourceHandle;
    *id = state->id;
    return cudaSuccess;
  };
}

cudaError_t cudaStreamGetDevice(cudaStream_t stream, int* device) {
  return WARPLINGS_API {
    const auto state = Streams::instance().find(stream);
    if (state == nullptr) return cudaErrorInvalidResourceHandle;
    *device = state->device;
    return cudaSuccess;
  };
}

// Graphs are not simulated: no stream ever captures.
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return WARPLINGS_API {
    if (Streams::instance().find(stream) == nullptr) return cudaErrorInvalidResourceHandle;
    *status = cudaStreamCaptureStatusNone;
    return cudaSuccess;
  };
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return WARPLINGS_API {
    if (least != nullptr) *least = kLeastPriority;
    if (greatest != nullptr) *greatest = kGreatestPriority;
    return cudaSuccess;
  };
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  return WARPLINGS_API {
    const auto state = Streams::instance().find(stream);
    if (state == nullptr) return cudaErrorInvalidResourceHandle;
    if (function == nullptr) return cudaErrorInvalidValue;
    WorkItem item;
    item.about = host_function(call);
    item.run = [function, data] {
      function(data);
      return cudaSuccess;
    };
    Streams::instance().enqueue(state, std::move(item));
    return cudaSuccess;
  };
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* data,
                                  unsigned) {
  return WARPLINGS_API {
    const auto state = Streams::instance().find(stream);
    if (state == nullptr) return cudaErrorInvalidResourceHandle;
    if (callback == nullptr) return cudaErrorInvalidValue;
    WorkItem item;
    item.about = host_function(call);
    item.run = [stream, callback, data] {
      callback(stream, cudaSuccess, data);
      return cudaSuccess;
    };
    Streams::instance().enqueue(state, std::move(item));
    return cudaSuccess;
  };
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return WARPLINGS_API { return create_event(event, cudaEventDefault); };
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  return WARPLINGS_API { return create_event(event, flags); };
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return WARPLINGS_API {
    return Streams::instance().destroy_event(event) ? cudaSuccess : cudaErrorInvalidResourceHandle;
  };
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return WARPLINGS_API { return record_event(event, stream); };
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned) {
  return WARPLINGS_API { return record_event(event, stream); };
}

cudaError_t cudaEventSynchronize(cudaEvent_t handle) {
  return WARPLINGS_API {
    const CUevent_st* event = Streams::instance().find(handle);
    if (event == nullptr) return cudaErrorInvalidResourceHandle;
    if (event->record == nullptr) return cudaSuccess;
    return Streams::instance().synchronize(*event->record);
  };
}

cudaError_t cudaEventQuery(cudaEvent_t handle) {
  return WARPLINGS_API {
    const CUevent_st* event = Streams::instance().find(handle);
    if (event == nullptr) return cudaErrorInvalidResourceHandle;
    if (event->record == nullptr) return cudaSuccess;
    if (event->record->done) return Streams::instance().synchronize(*event->record);
    const cudaError_t error = Streams::instance().run_until(event->record->point);
    return error == cudaSuccess ? cudaErrorNotReady : error;
  };
}

cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t start, cudaEvent_t end) {
  return WARPLINGS_API {
    return ms == nullptr ? cudaErrorInvalidValue : elapsed_time(ms, start, end);
  };
}

}  // extern "C"
