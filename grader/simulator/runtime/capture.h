// Stream capture: while a stream is captured, calls that would give it work make graph nodes.
//
// An operation that capture does not allow returns its error and invalidates the capture: its
// streams then refuse everything until cudaStreamEndCapture.
#ifndef WARPLINGS_SIMULATOR_RUNTIME_CAPTURE_H_
#define WARPLINGS_SIMULATOR_RUNTIME_CAPTURE_H_

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "runtime/graph.h"
#include "runtime/stream.h"

namespace warplings::sim {

struct Capture {
  uint64_t id = 0;
  cudaGraph_t graph = nullptr;
  bool owns_graph = true;  // false: cudaStreamBeginCaptureToGraph
  size_t nodes_before = 0;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  std::thread::id thread;
  std::shared_ptr<StreamState> origin;
  std::vector<std::weak_ptr<StreamState>> streams;  // that joined, the origin first
  bool invalid = false;
};

// The part of a capture that one stream contributes.
struct CaptureBranch {
  std::shared_ptr<Capture> capture;
  std::vector<GraphEdge> tips;  // what its next node waits for
  // For cudaStreamGetCaptureInfo, which hands out pointers.
  std::vector<cudaGraphNode_t> tip_nodes;
  std::vector<cudaGraphEdgeData> tip_data;
};

// An event that was recorded while capturing.
struct CapturedPoint {
  std::shared_ptr<Capture> capture;
  std::vector<GraphEdge> tips;
};

// Calls that could break a capture anywhere (cudaMalloc, synchronisation) are not allowed while one
// is in progress that this mode and its own protect; run_api in runtime/api.h asks.
cudaStreamCaptureMode& capture_mode_of_thread();

// The stream of a call that gives it work, which becomes a node if the stream is being captured.
cudaError_t find_target(cudaStream_t handle, std::shared_ptr<StreamState>* stream);
// Adds a node behind what the stream has captured so far.
cudaGraphNode_t capture_node(StreamState& stream, NodeWork work);
// A call that a stream cannot execute while it is captured (a query, a synchronisation).
cudaError_t refuse_if_captured(const StreamState& stream);

cudaError_t begin_capture(const std::shared_ptr<StreamState>& stream, cudaGraph_t graph,
                          std::vector<GraphEdge> tips, cudaStreamCaptureMode mode);
cudaError_t end_capture(const std::shared_ptr<StreamState>& stream, cudaGraph_t* graph);

void capture_record(CUevent_st* event, const StreamState& stream);
// The stream waits for a captured event: it joins the capture, or gains a dependency.
cudaError_t capture_wait(const std::shared_ptr<StreamState>& stream, const EventRecord& record);
// An event that was recorded by a capture says nothing about work that ran.
cudaError_t refuse_captured_event(const CUevent_st& event);

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_RUNTIME_CAPTURE_H_
