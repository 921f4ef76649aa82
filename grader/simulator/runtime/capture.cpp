#include "runtime/capture.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <utility>

#include "core/machine.h"
#include "runtime/device_state.h"

namespace warplings::sim {
namespace {

struct CaptureIds {
  uint64_t last = 0;
};

std::vector<std::shared_ptr<Capture>>& captures() {  // in progress
  struct Captures {
    std::vector<std::shared_ptr<Capture>> all;
  };
  return Machine::get<Captures>().all;
}

bool is_live(const CapturedPoint& point) {
  return std::find(captures().begin(), captures().end(), point.capture) != captures().end();
}

bool protects(const Capture& capture) {
  if (capture.mode == cudaStreamCaptureModeRelaxed) return false;
  if (capture.thread == std::this_thread::get_id()) return true;
  return capture_mode_of_thread() == cudaStreamCaptureModeGlobal &&
         capture.mode == cudaStreamCaptureModeGlobal;
}

void add_edge(std::vector<GraphEdge>* edges, const GraphEdge& edge) {
  const bool known = std::any_of(edges->begin(), edges->end(),
                                 [&](const GraphEdge& other) { return other.from == edge.from; });
  if (!known) edges->push_back(edge);
}

}  // namespace

cudaStreamCaptureMode& capture_mode_of_thread() {
  thread_local cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  return mode;
}

bool any_capture() { return !captures().empty(); }

bool is_unsafe_during_capture(const char* name) {
  static const char* const kNames[] = {"cudaMalloc",
                                       "cudaMallocPitch",
                                       "cudaMalloc3D",
                                       "cudaMallocManaged",
                                       "cudaMallocHost",
                                       "cudaHostAlloc",
                                       "cudaMallocArray",
                                       "cudaMalloc3DArray",
                                       "cudaMallocMipmappedArray",
                                       "cudaFree",
                                       "cudaFreeHost",
                                       "cudaFreeArray",
                                       "cudaHostRegister",
                                       "cudaHostUnregister",
                                       "cudaDeviceSynchronize",
                                       "cudaEventSynchronize",
                                       "cudaEventQuery",
                                       "cudaStreamSynchronize",
                                       "cudaStreamQuery",
                                       "cudaMemcpyPeer",
                                       "cudaMemcpy3DPeer",
                                       "cudaMemPoolTrimTo",
                                       "cudaDeviceGraphMemTrim"};
  return std::any_of(std::begin(kNames), std::end(kNames),
                     [name](const char* known) { return std::strcmp(known, name) == 0; });
}

cudaError_t check_unsafe_call(const ApiCall& call) {
  if (capture_mode_of_thread() == cudaStreamCaptureModeRelaxed) return cudaSuccess;
  cudaError_t error = cudaSuccess;
  for (const auto& capture : captures()) {
    if (!protects(*capture)) continue;
    capture->invalid = true;
    error = cudaErrorStreamCaptureUnsupported;
  }
  if (error != cudaSuccess) {
    call.report("api", "forbidden-during-capture",
                call.description() +
                    " is not allowed while a stream is being captured: it would not become a part "
                    "of the graph. The capture is invalid from here on. Move the call in front of "
                    "cudaStreamBeginCapture or behind cudaStreamEndCapture.",
                true);
  }
  return error;
}

cudaError_t find_target(cudaStream_t handle, std::shared_ptr<StreamState>* stream) {
  *stream = Streams::instance().find(handle);
  if (*stream == nullptr) return cudaErrorInvalidResourceHandle;
  if ((*stream)->capture != nullptr) {
    return (*stream)->capture->capture->invalid ? cudaErrorStreamCaptureInvalidated : cudaSuccess;
  }
  if (!(*stream)->is_default) return cudaSuccess;
  // The default stream would have to wait for the blocking streams, also for captured ones.
  cudaError_t error = cudaSuccess;
  for (const auto& capture : captures()) {
    const bool blocking =
        std::any_of(capture->streams.begin(), capture->streams.end(), [&](const auto& known) {
          const auto other = known.lock();
          return other != nullptr && other->is_blocking() && other->device == (*stream)->device;
        });
    if (!blocking) continue;
    capture->invalid = true;
    error = cudaErrorStreamCaptureImplicit;
  }
  return error;
}

cudaGraphNode_t capture_node(StreamState& stream, NodeWork work) {
  CaptureBranch& branch = *stream.capture;
  const cudaGraphNode_t node =
      Graphs::instance().add(branch.capture->graph, branch.tips, std::move(work));
  branch.tips = {{node, {}}};
  return node;
}

cudaError_t refuse_if_captured(const StreamState& stream) {
  if (stream.capture == nullptr) return cudaSuccess;
  if (stream.capture->capture->invalid) return cudaErrorStreamCaptureInvalidated;
  stream.capture->capture->invalid = true;
  return cudaErrorStreamCaptureUnsupported;
}

cudaError_t begin_capture(const std::shared_ptr<StreamState>& stream, cudaGraph_t graph,
                          std::vector<GraphEdge> tips, cudaStreamCaptureMode mode) {
  if (stream->is_default) return cudaErrorStreamCaptureUnsupported;
  if (stream->capture != nullptr) return cudaErrorIllegalState;
  auto capture = std::make_shared<Capture>();
  capture->id = ++Machine::get<CaptureIds>().last;
  capture->owns_graph = graph == nullptr;
  capture->graph = graph == nullptr ? Graphs::instance().create() : graph;
  capture->nodes_before = capture->graph->nodes.size();
  capture->mode = mode;
  capture->thread = std::this_thread::get_id();
  capture->origin = stream;
  capture->streams.push_back(stream);
  stream->capture = std::make_shared<CaptureBranch>();
  stream->capture->capture = capture;
  stream->capture->tips = std::move(tips);
  captures().push_back(std::move(capture));
  return cudaSuccess;
}

namespace {

// Every captured node leads to the end of the origin stream.
bool is_joined(const Capture& capture) {
  std::set<const CUgraphNode_st*> reached;
  std::vector<const CUgraphNode_st*> open;
  for (const GraphEdge& tip : capture.origin->capture->tips) open.push_back(tip.from);
  while (!open.empty()) {
    const CUgraphNode_st* node = open.back();
    open.pop_back();
    if (!reached.insert(node).second) continue;
    for (const GraphEdge& edge : node->after) open.push_back(edge.from);
  }
  const auto& nodes = capture.graph->nodes;
  return std::all_of(nodes.begin() + static_cast<long>(capture.nodes_before), nodes.end(),
                     [&](const auto& node) { return reached.contains(node.get()); });
}

}  // namespace

cudaError_t end_capture(const std::shared_ptr<StreamState>& stream, cudaGraph_t* graph) {
  *graph = nullptr;
  if (stream->capture == nullptr) return cudaErrorIllegalState;
  const std::shared_ptr<Capture> capture = stream->capture->capture;
  if (capture->origin != stream) {
    capture->invalid = true;
    return cudaErrorStreamCaptureUnmatched;
  }
  if (capture->mode != cudaStreamCaptureModeRelaxed &&
      capture->thread != std::this_thread::get_id()) {
    return cudaErrorStreamCaptureWrongThread;
  }
  cudaError_t error = cudaSuccess;
  if (capture->invalid) {
    error = cudaErrorStreamCaptureInvalidated;
  } else if (!is_joined(*capture)) {
    error = cudaErrorStreamCaptureUnjoined;
  }
  for (const auto& known : capture->streams) {
    if (const auto member = known.lock()) member->capture = nullptr;
  }
  capture->origin = nullptr;
  std::erase(captures(), capture);
  if (error == cudaSuccess) {
    *graph = capture->graph;
  } else if (capture->owns_graph) {
    Graphs::instance().destroy(capture->graph);
  }
  return error;
}

void capture_record(CUevent_st* event, const StreamState& stream) {
  auto record = std::make_shared<EventRecord>();
  record->captured = std::make_shared<CapturedPoint>();
  record->captured->capture = stream.capture->capture;
  record->captured->tips = stream.capture->tips;
  event->record = std::move(record);
}

cudaError_t capture_wait(const std::shared_ptr<StreamState>& stream, const EventRecord& record) {
  if (record.captured == nullptr) {
    // Work outside of the graph cannot be waited for inside of it.
    stream->capture->capture->invalid = true;
    return cudaErrorStreamCaptureIsolation;
  }
  const CapturedPoint& point = *record.captured;
  if (!is_live(point)) return cudaErrorCapturedEvent;
  if (point.capture->invalid) return cudaErrorStreamCaptureInvalidated;
  if (stream->is_default) return cudaErrorStreamCaptureImplicit;
  if (stream->capture == nullptr) {
    stream->capture = std::make_shared<CaptureBranch>();
    stream->capture->capture = point.capture;
    point.capture->streams.push_back(stream);
  } else if (stream->capture->capture != point.capture) {
    stream->capture->capture->invalid = true;
    point.capture->invalid = true;
    return cudaErrorStreamCaptureMerge;
  }
  for (const GraphEdge& tip : point.tips) add_edge(&stream->capture->tips, tip);
  return cudaSuccess;
}

cudaError_t refuse_captured_event(const CUevent_st& event) {
  if (event.record == nullptr || event.record->captured == nullptr) return cudaSuccess;
  if (is_live(*event.record->captured)) event.record->captured->capture->invalid = true;
  return cudaErrorCapturedEvent;
}

}  // namespace warplings::sim
