#include "runtime/graph_arguments.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "memory/device_memory.h"
#include "runtime/device_model.h"
#include "runtime/device_state.h"
#include "runtime/host_fault.h"
#include "runtime/registry.h"

namespace warplings::sim {
namespace {

dim3 to_dim3(const Dim3& size) { return dim3(size.x, size.y, size.z); }

cudaError_t child_work(cudaGraph_t graph, NodeWork* work) {
  Graphs& graphs = Graphs::instance();
  if (!graphs.is_graph(graph)) return cudaErrorInvalidValue;
  if (has_memory_nodes(*graph)) return cudaErrorNotSupported;
  *work = ChildWork{std::shared_ptr<CUgraph_st>(graphs.clone(*graph))};
  return cudaSuccess;
}

cudaError_t refuse_conditional(const ApiCall& call) {
  call.report("api", "not-simulated",
              call.description() +
                  " was given a conditional node, which the simulator does not have. It returned "
                  "cudaErrorNotSupported. Run this program on a GPU, or let the host decide which "
                  "graph to launch.");
  return cudaErrorNotSupported;
}

// The devices that a list of permissions names, besides the owner.
bool read_access(const cudaMemAllocNodeParams& params, uint32_t* devices) {
  for (size_t i = 0; i < params.accessDescCount; ++i) {
    const cudaMemAccessDesc& entry = params.accessDescs[i];
    if (entry.location.type != cudaMemLocationTypeDevice || entry.location.id < 0 ||
        entry.location.id >= device_count()) {
      return false;
    }
    if (entry.flags != cudaMemAccessFlagsProtNone) *devices |= 1u << entry.location.id;
  }
  return true;
}

template <class Params, class Other>
Params same_bytes(const Other& other) {
  static_assert(sizeof(Params) == sizeof(Other));
  Params result;
  std::memcpy(static_cast<void*>(&result), &other, sizeof result);
  return result;
}

}  // namespace

bool read_edges(cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                const cudaGraphEdgeData* data, size_t count, std::vector<GraphEdge>* edges) {
  if (count > 0 && dependencies == nullptr) return false;
  for (size_t i = 0; i < count; ++i) {
    const cudaGraphNode_t node = dependencies[i];
    if (!Graphs::instance().is_node(node) || node->graph != graph) return false;
    if (std::find(dependencies, dependencies + i, node) != dependencies + i) return false;
    edges->push_back({node, data == nullptr ? cudaGraphEdgeData{} : data[i]});
  }
  return true;
}

cudaError_t work_of(const ApiCall& call, const cudaKernelNodeParams& params, NodeWork* work) {
  LaunchRequest request;
  request.registered = Registry::instance().kernel_of(params.func);
  if (request.registered == nullptr) return cudaErrorInvalidDeviceFunction;
  request.function = params.func;
  request.config.grid = {params.gridDim.x, params.gridDim.y, params.gridDim.z};
  request.config.block = {params.blockDim.x, params.blockDim.y, params.blockDim.z};
  request.config.dynamic_shared = params.sharedMemBytes;
  request.config.where = call.where();
  request.arguments = params.kernelParams;
  request.extra = params.extra;
  KernelNodeWork node;
  const cudaError_t error = prepare_launch(request, &node.launch);
  if (error == cudaSuccess) *work = std::move(node);
  return error;
}

cudaError_t work_of(const ApiCall& call, const cudaMemcpy3DParms& params, NodeWork* work) {
  Copy copy;
  const cudaError_t error = copy_of(call, params, &copy);
  return error == cudaSuccess ? copy_work(call, copy, work) : error;
}

cudaError_t copy_work(const ApiCall& call, const Copy& copy, NodeWork* work) {
  if (copy.box.empty()) return cudaErrorInvalidValue;
  const cudaError_t error = check_copy(call, copy);
  if (error == cudaSuccess) *work = CopyWork{copy, call};
  return error;
}

cudaError_t copy_to_symbol_work(const ApiCall& call, const void* symbol, const void* from,
                                size_t bytes, size_t offset, cudaMemcpyKind kind, NodeWork* work) {
  uint64_t address = 0, size = 0;
  const cudaError_t error = Registry::instance().resolve(symbol, &address, &size);
  if (error != cudaSuccess) return error;
  auto* variable = reinterpret_cast<char*>(address) + offset;
  return copy_work(call, linear_copy(variable, from, bytes, kind), work);
}

cudaError_t copy_from_symbol_work(const ApiCall& call, void* to, const void* symbol, size_t bytes,
                                  size_t offset, cudaMemcpyKind kind, NodeWork* work) {
  uint64_t address = 0, size = 0;
  const cudaError_t error = Registry::instance().resolve(symbol, &address, &size);
  if (error != cudaSuccess) return error;
  const auto* variable = reinterpret_cast<const char*>(address) + offset;
  return copy_work(call, linear_copy(to, variable, bytes, kind), work);
}

cudaError_t set_attribute(KernelNodeWork* work, cudaLaunchAttributeID id,
                          const cudaLaunchAttributeValue& value) {
  const cudaLaunchAttribute attribute{id, {}, value};
  const cudaError_t error = apply_attribute(attribute, &work->launch.config);
  if (error == cudaSuccess) work->attributes[id] = value;
  return error;
}

cudaError_t work_of(const ApiCall& call, const cudaMemsetParams& params, NodeWork* work) {
  FillWork node{Fill(), call};
  const size_t size = params.elementSize;
  if (size != 1 && size != 2 && size != 4) return cudaErrorInvalidValue;
  const size_t row = params.width * size;
  const size_t pitch = params.height > 1 ? params.pitch : row;
  if (row == 0 || params.height == 0 || pitch < row) return cudaErrorInvalidValue;
  node.fill.to = params.dst;
  node.fill.box = {row, params.height, 1};
  node.fill.layout = {pitch, pitch * params.height};
  node.fill.value = params.value;
  node.fill.element_size = static_cast<unsigned>(size);
  const cudaError_t error = check_fill(call, node.fill);
  if (error == cudaSuccess) *work = node;
  return error;
}

cudaError_t work_of(const ApiCall& call, const cudaHostNodeParams& params, NodeWork* work) {
  if (params.fn == nullptr) return cudaErrorInvalidValue;
  *work = HostWork{params.fn, params.userData, call};
  return cudaSuccess;
}

cudaError_t allocation_work(const ApiCall& call, cudaMemAllocNodeParams* params, NodeWork* work) {
  const int device = params->poolProps.location.id;
  uint32_t access = 1u << device;
  if (params->poolProps.allocType != cudaMemAllocationTypePinned ||
      params->poolProps.location.type != cudaMemLocationTypeDevice || device < 0 ||
      device >= device_count() || params->bytesize == 0 || !read_access(*params, &access)) {
    return cudaErrorInvalidValue;
  }
  catch_host_access();
  DeviceMemory& memory = DeviceMemory::instance();
  const uint64_t address = memory.allocate(params->bytesize, AllocationKind::kDevice, "", device);
  if (address == 0) return cudaErrorMemoryAllocation;
  const Position where = call.where();
  if (where.known()) memory.set_allocated_at(address, where.short_name());
  memory.set_access(address, access);
  memory.promise(address);
  params->dptr = reinterpret_cast<void*>(address);
  AllocateWork node{*params, device};
  node.params.accessDescs = nullptr;  // the program's list need not outlive the call
  node.params.accessDescCount = 0;
  *work = node;
  return cudaSuccess;
}

cudaError_t work_of(const ApiCall& call, cudaGraphNodeParams* params, NodeWork* work) {
  switch (params->type) {
    case cudaGraphNodeTypeKernel:
      return work_of(call, same_bytes<cudaKernelNodeParams>(params->kernel), work);
    case cudaGraphNodeTypeMemcpy:
      return work_of(call, params->memcpy.copyParams, work);
    case cudaGraphNodeTypeMemset:
      return work_of(call, same_bytes<cudaMemsetParams>(params->memset), work);
    case cudaGraphNodeTypeHost:
      return work_of(call, same_bytes<cudaHostNodeParams>(params->host), work);
    case cudaGraphNodeTypeGraph:
      return child_work(params->graph.graph, work);
    case cudaGraphNodeTypeEmpty:
      *work = EmptyWork();
      return cudaSuccess;
    case cudaGraphNodeTypeWaitEvent:
      if (Streams::instance().find(params->eventWait.event) == nullptr) {
        return cudaErrorInvalidResourceHandle;
      }
      *work = EventWaitWork{params->eventWait.event};
      return cudaSuccess;
    case cudaGraphNodeTypeEventRecord:
      if (Streams::instance().find(params->eventRecord.event) == nullptr) {
        return cudaErrorInvalidResourceHandle;
      }
      *work = EventRecordWork{params->eventRecord.event};
      return cudaSuccess;
    case cudaGraphNodeTypeMemAlloc: {
      auto alloc = same_bytes<cudaMemAllocNodeParams>(params->alloc);
      const cudaError_t error = allocation_work(call, &alloc, work);
      params->alloc.dptr = alloc.dptr;
      return error;
    }
    case cudaGraphNodeTypeMemFree:
      *work = FreeWork{params->free.dptr, call};
      return cudaSuccess;
    case cudaGraphNodeTypeConditional:
      return refuse_conditional(call);
    default:
      return cudaErrorNotSupported;  // external semaphores: nothing outside of the simulator exists
  }
}

cudaMemcpy3DParms copy_parameters(const Copy& copy) {
  cudaMemcpy3DParms params{};
  const auto rows = [&](const Layout& layout) {
    return copy.box.depth > 1 ? layout.slice / layout.pitch : copy.box.height;
  };
  params.srcPtr = {const_cast<void*>(copy.from), copy.from_layout.pitch, copy.box.width,
                   rows(copy.from_layout)};
  params.dstPtr = {copy.to, copy.to_layout.pitch, copy.box.width, rows(copy.to_layout)};
  params.extent = {copy.box.width, copy.box.height, copy.box.depth};
  params.kind = copy.kind;
  return params;
}

cudaMemsetParams fill_parameters(const Fill& fill) {
  cudaMemsetParams params{};
  params.dst = fill.to;
  params.pitch = fill.layout.pitch;
  params.value = fill.value;
  params.elementSize = fill.element_size;
  params.width = fill.box.width / fill.element_size;
  params.height = fill.box.height;
  return params;
}

cudaKernelNodeParams kernel_parameters(CUgraphNode_st* node) {
  KernelWork& launch = std::get<KernelNodeWork>(node->work).launch;
  node->arguments.clear();
  for (const Kernel::Param& param : launch.kernel->params) {
    node->arguments.push_back(launch.parameters.data() + param.offset);
  }
  cudaKernelNodeParams params{};
  params.func = launch.function;
  params.gridDim = to_dim3(launch.config.grid);
  params.blockDim = to_dim3(launch.config.block);
  params.sharedMemBytes = static_cast<unsigned>(launch.config.dynamic_shared);
  params.kernelParams = node->arguments.data();
  return params;
}

}  // namespace warplings::sim
