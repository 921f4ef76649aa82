// Given to the exercises with cuDNN graphs (09/07, 08, 11, 18): the descriptors of a graph, with
// one function for each kind of attribute, and what becomes of them.
#ifndef CHAPTERS_09_CUDA_LIBRARIES_07_CUDNN_ACTIVATION_SUPPORT_H_
#define CHAPTERS_09_CUDA_LIBRARIES_07_CUDNN_ACTIVATION_SUPPORT_H_

#include <cudnn.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <vector>

// Makes descriptors, keeps them all, and destroys them together. The first status that is no
// success stays, and everything behind it is left out: ask once, at the end.
class CudnnGraph {
 public:
  using Node = cudnnBackendDescriptor_t;

  explicit CudnnGraph(cudnnHandle_t handle) : handle_(handle) {}
  ~CudnnGraph() {
    for (auto node = nodes_.rbegin(); node != nodes_.rend(); ++node) {
      cudnnBackendDestroyDescriptor(*node);
    }
  }
  CudnnGraph(const CudnnGraph&) = delete;
  CudnnGraph& operator=(const CudnnGraph&) = delete;

  cudnnHandle_t handle() const { return handle_; }
  cudnnStatus_t status() const { return status_; }
  bool ok() const { return status_ == CUDNN_STATUS_SUCCESS; }

  // A descriptor of this kind, to be set and finished; nullptr behind a refusal.
  Node make(cudnnBackendDescriptorType_t kind) {
    Node node = nullptr;
    if (ok() && keep(cudnnBackendCreateDescriptor(kind, &node))) nodes_.push_back(node);
    return node;
  }
  // The same for one that was made elsewhere, and the status of making it. nullptr if that failed.
  Node take(cudnnStatus_t made, Node node) {
    if (keep(made) && node != nullptr) nodes_.push_back(node);
    return ok() ? node : nullptr;
  }
  // The other way: this one is the caller's now, who destroys it.
  Node release(Node node) {
    nodes_.erase(std::remove(nodes_.begin(), nodes_.end(), node), nodes_.end());
    return node;
  }
  // No attribute can be set behind this, and other descriptors may refer to it.
  Node finish(Node node) {
    if (ok()) keep(cudnnBackendFinalize(node));
    return node;
  }

  // Attributes: whole numbers (one, or a value for each dimension), types of elements, flags,
  // factors, modes, other descriptors, pointers. A literal says what it is, as {int64_t{1}}
  // or 1.0f: 0 and 1 fit several of these.
  void set(Node node, cudnnBackendAttributeName_t name, std::initializer_list<int64_t> values) {
    put(node, name, CUDNN_TYPE_INT64, static_cast<int64_t>(values.size()), values.begin());
  }
  void set(Node node, cudnnBackendAttributeName_t name, cudnnDataType_t type) {
    put(node, name, CUDNN_TYPE_DATA_TYPE, 1, &type);
  }
  void set(Node node, cudnnBackendAttributeName_t name, bool flag) {
    put(node, name, CUDNN_TYPE_BOOLEAN, 1, &flag);
  }
  void set(Node node, cudnnBackendAttributeName_t name, float factor) {
    put(node, name, CUDNN_TYPE_FLOAT, 1, &factor);
  }
  void set(Node node, cudnnBackendAttributeName_t name, cudnnConvolutionMode_t mode) {
    put(node, name, CUDNN_TYPE_CONVOLUTION_MODE, 1, &mode);
  }
  void set(Node node, cudnnBackendAttributeName_t name, cudnnPointwiseMode_t mode) {
    put(node, name, CUDNN_TYPE_POINTWISE_MODE, 1, &mode);
  }
  void set(Node node, cudnnBackendAttributeName_t name, cudnnBackendHeurMode_t mode) {
    put(node, name, CUDNN_TYPE_HEUR_MODE, 1, &mode);
  }
  void set(Node node, cudnnBackendAttributeName_t name, std::initializer_list<Node> others) {
    put(node, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, static_cast<int64_t>(others.size()),
        others.begin());
  }
  void set_pointers(Node node, cudnnBackendAttributeName_t name,
                    std::initializer_list<void*> pointers) {
    put(node, name, CUDNN_TYPE_VOID_PTR, static_cast<int64_t>(pointers.size()), pointers.begin());
  }
  void set_handle(Node node, cudnnBackendAttributeName_t name) {
    put(node, name, CUDNN_TYPE_HANDLE, 1, &handle_);
  }

  // The configurations of engines that the heuristic found for a graph, the most promising first.
  std::vector<Node> configurations(Node heuristic) {
    constexpr int64_t kMost = 16;
    std::vector<Node> found;
    for (int64_t i = 0; i < kMost; ++i) {
      found.push_back(make(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR));
    }
    int64_t count = 0;
    if (ok()) {
      keep(cudnnBackendGetAttribute(heuristic, CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                    CUDNN_TYPE_BACKEND_DESCRIPTOR, kMost, &count, found.data()));
    }
    found.resize(ok() ? static_cast<size_t>(count) : 0);
    return found;
  }

 private:
  bool keep(cudnnStatus_t status) {
    if (ok()) status_ = status;
    return status == CUDNN_STATUS_SUCCESS;
  }
  void put(Node node, cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
           int64_t count, const void* values) {
    if (ok()) keep(cudnnBackendSetAttribute(node, name, type, count, values));
  }

  cudnnHandle_t handle_;
  cudnnStatus_t status_ = CUDNN_STATUS_SUCCESS;
  std::vector<Node> nodes_;
};

// A graph that was compiled, and what it needs. A plan that is left in it is destroyed with it.
struct CompiledGraph {
  explicit CompiledGraph(cudnnHandle_t handle) : graph(handle) {}
  ~CompiledGraph() {
    if (plan != nullptr) cudnnBackendDestroyDescriptor(plan);
  }
  CudnnGraph graph;
  cudnnBackendDescriptor_t plan = nullptr;
  int64_t workspace = 0;  // bytes
};

#endif  // CHAPTERS_09_CUDA_LIBRARIES_07_CUDNN_ACTIVATION_SUPPORT_H_
