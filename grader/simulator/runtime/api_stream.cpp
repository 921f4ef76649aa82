// Streams, events and host functions of the CUDA runtime API.
#include <cuda_runtime_api.h>

#include "profile/timeline.h"
#include "runtime/api.h"
#include "runtime/capture.h"
#include "runtime/device_state.h"
#include "runtime/memory_work.h"
#include "runtime/stream.h"

using namespace warplings::sim;

namespace {

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

cudaError_t record_event(cudaEvent_t handle, cudaStream_t stream, unsigned flags) {
  Streams& streams = Streams::instance();
  CUevent_st* event = streams.find(handle);
  std::shared_ptr<StreamState> state;
  if (const cudaError_t error = find_target(stream, &state); error != cudaSuccess) return error;
  if (event == nullptr || event->device != state->device) return cudaErrorInvalidResourceHandle;
  if (state->capture == nullptr) {
    streams.record(event, state);
  } else if (flags == cudaEventRecordExternal) {
    capture_node(*state, EventRecordWork{handle});
  } else {
    capture_record(event, *state);
  }
  return cudaSuccess;
}

cudaError_t wait_event(cudaStream_t stream, cudaEvent_t handle, unsigned flags) {
  Streams& streams = Streams::instance();
  const CUevent_st* event = streams.find(handle);
  std::shared_ptr<StreamState> state;
  if (const cudaError_t error = find_target(stream, &state); error != cudaSuccess) return error;
  if (event == nullptr) return cudaErrorInvalidResourceHandle;
  if (state->capture != nullptr && flags == cudaEventWaitExternal) {
    capture_node(*state, EventWaitWork{handle});
    return cudaSuccess;
  }
  // An event that was never recorded is no reason to wait.
  if (event->record == nullptr) return cudaSuccess;
  if (state->capture != nullptr || event->record->captured != nullptr) {
    return capture_wait(state, *event->record);
  }
  streams.wait(state, *event->record);
  return cudaSuccess;
}

// A host function, which `function` gets to run when the stream reaches it.
cudaError_t give_host_function(const ApiCall& call, cudaStream_t stream, cudaHostFn_t function,
                               void* data) {
  std::shared_ptr<StreamState> state;
  if (const cudaError_t error = find_target(stream, &state); error != cudaSuccess) return error;
  if (state->capture != nullptr) {
    capture_node(*state, HostWork{function, data, call});
  } else {
    Streams::instance().enqueue(state, host_work(function, data, call));
  }
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
  for (const cudaEvent_t event : {start, end}) {
    if (event->record->captured != nullptr) return cudaErrorCapturedEvent;
  }
  if (start->device != end->device) return cudaErrorInvalidResourceHandle;
  if (!start->record->done || !end->record->done) return cudaErrorNotReady;
  Timeline::instance().place_what_has_run();
  constexpr double kMsPerSecond = 1e3;
  *ms = static_cast<float>(kMsPerSecond * (*end->record->reached - *start->record->reached));
  return cudaSuccess;
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
    std::shared_ptr<StreamState> state;
    cudaError_t error = find_target(stream, &state);
    if (error == cudaSuccess) error = refuse_if_captured(*state);
    return error == cudaSuccess ? Streams::instance().synchronize(state) : error;
  };
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return WARPLINGS_API {
    std::shared_ptr<StreamState> state;
    cudaError_t error = find_target(stream, &state);
    if (error == cudaSuccess) error = refuse_if_captured(*state);
    return error == cudaSuccess ? query(state) : error;
  };
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  return WARPLINGS_API {
    return flags > cudaEventWaitExternal ? cudaErrorInvalidValue : wait_event(stream, event, flags);
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

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return WARPLINGS_API {
    if (least != nullptr) *least = kLeastPriority;
    if (greatest != nullptr) *greatest = kGreatestPriority;
    return cudaSuccess;
  };
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  return WARPLINGS_API {
    if (function == nullptr) return cudaErrorInvalidValue;
    return give_host_function(call, stream, function, data);
  };
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* data,
                                  unsigned flags) {
  return WARPLINGS_API {
    std::shared_ptr<StreamState> state;
    if (const cudaError_t error = find_target(stream, &state); error != cudaSuccess) return error;
    if (callback == nullptr || flags != 0) return cudaErrorInvalidValue;
    if (state->capture != nullptr) return refuse_if_captured(*state);
    WorkItem item;
    item.about = describe(WorkKind::kHostFunction, call);
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
  return WARPLINGS_API { return record_event(event, stream, cudaEventRecordDefault); };
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
  return WARPLINGS_API {
    return flags > cudaEventRecordExternal ? cudaErrorInvalidValue
                                           : record_event(event, stream, flags);
  };
}

cudaError_t cudaEventSynchronize(cudaEvent_t handle) {
  return WARPLINGS_API {
    const CUevent_st* event = Streams::instance().find(handle);
    if (event == nullptr) return cudaErrorInvalidResourceHandle;
    if (event->record == nullptr) return cudaSuccess;
    if (const cudaError_t error = refuse_captured_event(*event); error != cudaSuccess) {
      return error;
    }
    return Streams::instance().synchronize(*event->record);
  };
}

cudaError_t cudaEventQuery(cudaEvent_t handle) {
  return WARPLINGS_API {
    const CUevent_st* event = Streams::instance().find(handle);
    if (event == nullptr) return cudaErrorInvalidResourceHandle;
    if (event->record == nullptr) return cudaSuccess;
    if (event->record->done) return Streams::instance().synchronize(*event->record);
    if (const cudaError_t refused = refuse_captured_event(*event); refused != cudaSuccess) {
      return refused;
    }
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
