// Stream capture in the CUDA runtime API.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <utility>

#include "runtime/api.h"
#include "runtime/capture.h"
#include "runtime/graph_arguments.h"

using namespace warplings::sim;

namespace {

bool is_mode(cudaStreamCaptureMode mode) {
  return mode == cudaStreamCaptureModeGlobal || mode == cudaStreamCaptureModeThreadLocal ||
         mode == cudaStreamCaptureModeRelaxed;
}

cudaStreamCaptureStatus status_of(const StreamState& stream) {
  if (stream.capture == nullptr) return cudaStreamCaptureStatusNone;
  return stream.capture->capture->invalid ? cudaStreamCaptureStatusInvalidated
                                          : cudaStreamCaptureStatusActive;
}

// Asking the default stream while a blocking stream is captured would tie the two together.
cudaError_t find_asked(cudaStream_t handle, std::shared_ptr<StreamState>* stream) {
  const cudaError_t error = find_target(handle, stream);
  return error == cudaErrorStreamCaptureInvalidated ? cudaSuccess : error;
}

void list_tips(CaptureBranch* branch) {
  branch->tip_nodes.clear();
  branch->tip_data.clear();
  for (const GraphEdge& tip : branch->tips) {
    branch->tip_nodes.push_back(tip.from);
    branch->tip_data.push_back(tip.data);
  }
}

bool has_data(const std::vector<cudaGraphEdgeData>& data) {
  return std::any_of(data.begin(), data.end(), [](const cudaGraphEdgeData& edge) {
    return edge.from_port != 0 || edge.to_port != 0 || edge.type != 0;
  });
}

}  // namespace

extern "C" {

cudaError_t cudaStreamBeginCapture(cudaStream_t handle, cudaStreamCaptureMode mode) {
  return WARPLINGS_API {
    const auto stream = Streams::instance().find(handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    return is_mode(mode) ? begin_capture(stream, nullptr, {}, mode) : cudaErrorInvalidValue;
  };
}

cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t handle, cudaGraph_t graph,
                                          const cudaGraphNode_t* dependencies,
                                          const cudaGraphEdgeData* data, size_t count,
                                          cudaStreamCaptureMode mode) {
  return WARPLINGS_API {
    const auto stream = Streams::instance().find(handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    std::vector<GraphEdge> tips;
    if (!is_mode(mode) || !Graphs::instance().is_graph(graph) ||
        !read_edges(graph, dependencies, data, count, &tips)) {
      return cudaErrorInvalidValue;
    }
    return begin_capture(stream, graph, std::move(tips), mode);
  };
}

cudaError_t cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t* graph) {
  return WARPLINGS_API {
    const auto stream = Streams::instance().find(handle);
    if (graph == nullptr) return cudaErrorInvalidValue;
    return stream == nullptr ? cudaErrorInvalidResourceHandle : end_capture(stream, graph);
  };
}

cudaError_t cudaStreamIsCapturing(cudaStream_t handle, cudaStreamCaptureStatus* status) {
  return WARPLINGS_API {
    std::shared_ptr<StreamState> stream;
    if (status == nullptr) return cudaErrorInvalidValue;
    const cudaError_t error = find_asked(handle, &stream);
    if (error == cudaSuccess) *status = status_of(*stream);
    return error;
  };
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t handle, cudaStreamCaptureStatus* status,
                                     unsigned long long* id, cudaGraph_t* graph,
                                     const cudaGraphNode_t** dependencies,
                                     const cudaGraphEdgeData** data, size_t* count) {
  return WARPLINGS_API {
    std::shared_ptr<StreamState> stream;
    if (status == nullptr) return cudaErrorInvalidValue;
    if (const cudaError_t error = find_asked(handle, &stream); error != cudaSuccess) return error;
    *status = status_of(*stream);
    if (*status == cudaStreamCaptureStatusNone) return cudaSuccess;
    CaptureBranch& branch = *stream->capture;
    if (id != nullptr) *id = branch.capture->id;
    if (*status != cudaStreamCaptureStatusActive) return cudaSuccess;
    list_tips(&branch);
    // Edges that say more than "wait" may not be dropped silently.
    if (dependencies != nullptr && data == nullptr && has_data(branch.tip_data)) {
      return cudaErrorLossyQuery;
    }
    if (graph != nullptr) *graph = branch.capture->graph;
    if (dependencies != nullptr) *dependencies = branch.tip_nodes.data();
    if (data != nullptr) *data = branch.tip_data.data();
    if (count != nullptr) *count = branch.tips.size();
    return cudaSuccess;
  };
}

cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t handle, cudaGraphNode_t* dependencies,
                                                const cudaGraphEdgeData* data, size_t count,
                                                unsigned flags) {
  return WARPLINGS_API {
    std::shared_ptr<StreamState> stream;
    if (const cudaError_t error = find_target(handle, &stream); error != cudaSuccess) return error;
    if (stream->capture == nullptr) return cudaErrorIllegalState;
    std::vector<GraphEdge> edges;
    CaptureBranch& branch = *stream->capture;
    if (flags > cudaStreamSetCaptureDependencies ||
        !read_edges(branch.capture->graph, dependencies, data, count, &edges)) {
      return cudaErrorInvalidValue;
    }
    if (flags == cudaStreamSetCaptureDependencies) branch.tips.clear();
    branch.tips.insert(branch.tips.end(), edges.begin(), edges.end());
    return cudaSuccess;
  };
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  return WARPLINGS_API {
    if (mode == nullptr || !is_mode(*mode)) return cudaErrorInvalidValue;
    std::swap(*mode, capture_mode_of_thread());
    return cudaSuccess;
  };
}

}  // extern "C"
