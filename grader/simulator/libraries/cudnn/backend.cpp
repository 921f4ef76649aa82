// cuDNN's graph interface: descriptors with attributes, which become a graph, plans and a call.
#include <cudnn.h>

#include <cstring>
#include <memory>
#include <mutex>
#include <set>
#include <utility>

#include "cudnn/graph.h"

using namespace warplings::libraries;

namespace {

struct Attribute {
  cudnnBackendAttributeType_t type;
  int64_t count;
  std::vector<unsigned char> bytes;
};

struct Descriptor {
  explicit Descriptor(cudnnBackendDescriptorType_t type) : kind(type) {}
  cudnnBackendDescriptorType_t kind;
  bool is_final = false;
  std::map<int, Attribute> attributes;
  int engine = -1;                     // of a configuration or a plan
  std::shared_ptr<const Graph> graph;  // of a graph, a heuristic, a configuration or a plan
  Held held{"cuDNN backend descriptor"};

  bool has(cudnnBackendAttributeName_t name) const { return attributes.count(name) != 0; }
  template <class T>
  std::vector<T> list(cudnnBackendAttributeName_t name) const {
    const auto found = attributes.find(name);
    if (found == attributes.end()) return {};
    std::vector<T> values(found->second.bytes.size() / sizeof(T));
    std::memcpy(values.data(), found->second.bytes.data(), values.size() * sizeof(T));
    return values;
  }
  template <class T>
  T value(cudnnBackendAttributeName_t name, T otherwise) const {
    const auto found = attributes.find(name);
    if (found == attributes.end() || found->second.bytes.size() < sizeof(T)) return otherwise;
    T first;
    std::memcpy(&first, found->second.bytes.data(), sizeof(T));
    return first;
  }
  double factor(cudnnBackendAttributeName_t name, double otherwise) const {
    const auto found = attributes.find(name);
    if (found == attributes.end()) return otherwise;
    return found->second.type == CUDNN_TYPE_FLOAT ? value<float>(name, 0) : value<double>(name, 0);
  }
};

std::mutex& descriptors_mutex() {
  static auto* const mutex = new std::mutex();
  return *mutex;
}
std::set<const Descriptor*>& descriptors() {
  static auto* const set = new std::set<const Descriptor*>();
  return *set;
}
// nullptr unless it exists.
Descriptor* live(cudnnBackendDescriptor_t pointer) {
  auto* const descriptor = static_cast<Descriptor*>(pointer);
  const std::lock_guard lock(descriptors_mutex());
  return descriptors().count(descriptor) != 0 ? descriptor : nullptr;
}

// ---- which attributes there are ----------------------------------------------------------------

enum class Need { kRequired, kOptional };

struct Known {
  cudnnBackendAttributeName_t name;
  const char* text;
  cudnnBackendDescriptorType_t kind;
  cudnnBackendAttributeType_t type;  // CUDNN_TYPE_DOUBLE: a float will do
  Need need;
};

constexpr Known kKnown[] = {
#define ATTRIBUTE(kind, name, type, need)                                                        \
  {CUDNN_ATTR_##name, "CUDNN_ATTR_" #name, CUDNN_BACKEND_##kind##_DESCRIPTOR, CUDNN_TYPE_##type, \
   Need::need},
#include "cudnn/backend_attributes.def"
#undef ATTRIBUTE
};

const Known* find_known(cudnnBackendDescriptorType_t kind, cudnnBackendAttributeName_t name) {
  for (const Known& known : kKnown) {
    if (known.kind == kind && known.name == name) return &known;
  }
  return nullptr;
}

size_t size_of(cudnnBackendAttributeType_t type) {
  switch (type) {
    case CUDNN_TYPE_BOOLEAN:
      return sizeof(bool);
    case CUDNN_TYPE_HANDLE:
    case CUDNN_TYPE_INT64:
    case CUDNN_TYPE_DOUBLE:
    case CUDNN_TYPE_VOID_PTR:
    case CUDNN_TYPE_BACKEND_DESCRIPTOR:
      return 8;
    default:
      return 4;
  }
}

// ---- what a finished descriptor means
// --------------------------------------------------------------

// The reason why a call is refused, for a note; "" if it is not.
using Refusal = std::string;

std::string& last_refusal() {
  thread_local std::string text;
  return text;
}

cudnnStatus_t refuse(const Call& call, cudnnStatus_t status, const std::string& why) {
  last_refusal() = why;
  call.explain("bad-parameter", "refuses: " + why + ".");
  return status;
}

GraphTensor tensor_of(const Descriptor& d) {
  GraphTensor tensor;
  tensor.id = d.value<int64_t>(CUDNN_ATTR_TENSOR_UNIQUE_ID, 0);
  tensor.alignment = d.value<int64_t>(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, 1);
  tensor.is_virtual = d.value<bool>(CUDNN_ATTR_TENSOR_IS_VIRTUAL, false);
  tensor.layout.type = number_of(d.value(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_DATA_FLOAT));
  const auto sizes = d.list<int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS);
  const auto strides = d.list<int64_t>(CUDNN_ATTR_TENSOR_STRIDES);
  tensor.layout.rank = static_cast<int>(sizes.size());
  for (size_t i = 0; i < sizes.size(); ++i) {
    tensor.layout.size[i] = sizes[i];
    tensor.layout.stride[i] = strides[i];
  }
  return tensor;
}

Refusal check_tensor(const Descriptor& d) {
  const auto sizes = d.list<int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS);
  const auto strides = d.list<int64_t>(CUDNN_ATTR_TENSOR_STRIDES);
  if (sizes.size() != strides.size()) return "a tensor has as many strides as dimensions";
  if (sizes.size() < 3 || sizes.size() > kDimensions) return "a tensor has 3 to 5 dimensions";
  for (const int64_t size : sizes) {
    if (size < 1) return "every dimension of a tensor is at least 1";
  }
  for (const int64_t stride : strides) {
    if (stride < 1) return "every stride of a tensor is at least 1";
  }
  const int64_t alignment = d.value<int64_t>(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, 1);
  return alignment < 1 || (alignment & (alignment - 1)) != 0
             ? "the alignment of a tensor is a power of two"
             : "";
}

Refusal check_convolution(const Descriptor& d) {
  if (d.value<int64_t>(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, 0) != 2) {
    return "only convolutions with 2 spatial dimensions are simulated";
  }
  for (const cudnnBackendAttributeName_t name :
       {CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS,
        CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_ATTR_CONVOLUTION_DILATIONS}) {
    if (d.list<int64_t>(name).size() != 2) return "one number for each spatial dimension is needed";
  }
  if (d.list<int64_t>(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS) !=
      d.list<int64_t>(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS)) {
    return "paddings that differ before and behind an image are not simulated";
  }
  return d.value(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_DATA_FLOAT) == CUDNN_DATA_FLOAT
             ? ""
             : "only convolutions that add in CUDNN_DATA_FLOAT are simulated";
}

cudnnConvolutionStruct convolution_of(const Descriptor& d) {
  cudnnConvolutionStruct how;
  how.set = true;
  how.mode = d.value(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_CROSS_CORRELATION);
  const auto pads = d.list<int64_t>(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS);
  const auto strides = d.list<int64_t>(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES);
  const auto dilations = d.list<int64_t>(CUDNN_ATTR_CONVOLUTION_DILATIONS);
  for (size_t i = 0; i < 2; ++i) {
    how.pad[i] = static_cast<int>(pads[i]);
    how.stride[i] = static_cast<int>(strides[i]);
    how.dilation[i] = static_cast<int>(dilations[i]);
  }
  return how;
}

// The tensor that an attribute refers to, entered into the graph; its name.
int64_t enter(const Descriptor& d, cudnnBackendAttributeName_t name, Graph* graph) {
  const GraphTensor tensor = tensor_of(*static_cast<Descriptor*>(d.value<void*>(name, nullptr)));
  graph->tensors[tensor.id] = tensor;
  return tensor.id;
}

GraphOperation operation_of(const Descriptor& d, Graph* graph) {
  GraphOperation op;
  if (d.kind == CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR) {
    op.is_convolution = op.has_b = true;
    op.how = convolution_of(*static_cast<Descriptor*>(
        d.value<void*>(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, nullptr)));
    op.x_factor = d.factor(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, 1);
    op.x = enter(d, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, graph);
    op.b = enter(d, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, graph);
    op.y = enter(d, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, graph);
    return op;
  }
  const auto& how = *static_cast<Descriptor*>(
      d.value<void*>(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, nullptr));
  op.mode = how.value(CUDNN_ATTR_POINTWISE_MODE, CUDNN_POINTWISE_IDENTITY);
  op.lower_clip = how.factor(CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP, 0);
  op.has_upper_clip = how.has(CUDNN_ATTR_POINTWISE_RELU_UPPER_CLIP);
  op.upper_clip = how.factor(CUDNN_ATTR_POINTWISE_RELU_UPPER_CLIP, 0);
  op.x_factor = d.factor(CUDNN_ATTR_OPERATION_POINTWISE_ALPHA1, 1);
  op.b_factor = d.factor(CUDNN_ATTR_OPERATION_POINTWISE_ALPHA2, 1);
  op.has_b = d.has(CUDNN_ATTR_OPERATION_POINTWISE_BDESC);
  op.x = enter(d, CUDNN_ATTR_OPERATION_POINTWISE_XDESC, graph);
  if (op.has_b) op.b = enter(d, CUDNN_ATTR_OPERATION_POINTWISE_BDESC, graph);
  op.y = enter(d, CUDNN_ATTR_OPERATION_POINTWISE_YDESC, graph);
  return op;
}

Refusal make_graph(Descriptor* d) {
  auto graph = std::make_shared<Graph>();
  for (void* const operation : d->list<void*>(CUDNN_ATTR_OPERATIONGRAPH_OPS)) {
    const auto& op = *static_cast<Descriptor*>(operation);
    if (op.kind != CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR &&
        op.kind != CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR) {
      return "an operation of the graph is no descriptor of an operation";
    }
    graph->operations.push_back(operation_of(op, graph.get()));
  }
  const std::string problem = graph->problem();
  d->graph = std::move(graph);
  return problem.empty() ? "" : "the graph cannot be run: " + problem;
}

// Takes the graph of a descriptor that an attribute refers to.
Refusal take_graph(Descriptor* d, cudnnBackendAttributeName_t name) {
  const auto& from = *static_cast<Descriptor*>(d->value<void*>(name, nullptr));
  d->graph = from.graph;
  d->engine = from.engine;
  return d->graph == nullptr ? "it refers to a descriptor that belongs to no graph" : "";
}

// Every attribute that is needed is there, and what it refers to is finished.
Refusal check_attributes(const Descriptor& d) {
  for (const Known& known : kKnown) {
    if (known.kind != d.kind) continue;
    if (known.need == Need::kRequired && !d.has(known.name)) {
      return std::string("the descriptor has no ") + known.text;
    }
    if (known.type != CUDNN_TYPE_BACKEND_DESCRIPTOR) continue;
    for (void* const other : d.list<void*>(known.name)) {
      const Descriptor* const descriptor = live(other);
      if (descriptor == nullptr || !descriptor->is_final) {
        return std::string(known.text) + " refers to a descriptor that was not finalized";
      }
    }
  }
  return "";
}

cudnnStatus_t finalize(const Call& call, Descriptor* d) {
  if (d->is_final) return CUDNN_STATUS_SUCCESS;
  Refusal why = check_attributes(*d);
  if (why.empty()) {
    switch (d->kind) {
      case CUDNN_BACKEND_TENSOR_DESCRIPTOR:
        why = check_tensor(*d);
        break;
      case CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR:
        why = check_convolution(*d);
        break;
      case CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR:
        if (d->factor(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, 0) != 0) {
          why = "a convolution in a graph that adds to y is not simulated";
        }
        break;
      case CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR:
        why = make_graph(d);
        break;
      case CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR:
        why = take_graph(d, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH);
        break;
      case CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR:
        why = take_graph(d, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG);
        if (why.empty() && !engine_takes(d->engine, *d->graph)) {
          last_refusal() = "this engine does not take the graph";  // no mistake: another may
          return CUDNN_STATUS_NOT_SUPPORTED;
        }
        break;
      case CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR:
        if (d->list<int64_t>(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS).size() !=
            d->list<void*>(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS).size()) {
          why = "there is a pointer for every name";
        }
        break;
      default:
        break;
    }
  }
  if (!why.empty()) return refuse(call, CUDNN_STATUS_BAD_PARAM, why);
  d->is_final = true;
  return CUDNN_STATUS_SUCCESS;
}

// The engines in the order of the heuristic's mode; `others` are descriptors that the program has
// made.
cudnnStatus_t propose(const Descriptor& heuristic, int64_t requested, int64_t* count,
                      void* const* others) {
  const bool reversed = wsim_library_lists_are_turned() != 0 ||
                        heuristic.value(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_HEUR_MODE_INSTANT) ==
                            CUDNN_HEUR_MODE_FALLBACK;
  if (count != nullptr) *count = requested == 0 ? kEngines : std::min<int64_t>(requested, kEngines);
  for (int64_t i = 0; i < std::min<int64_t>(requested, kEngines); ++i) {
    Descriptor* const found = live(others[i]);
    if (found == nullptr || found->kind != CUDNN_BACKEND_ENGINECFG_DESCRIPTOR) {
      return CUDNN_STATUS_BAD_PARAM;
    }
    found->engine = static_cast<int>(reversed ? kEngines - 1 - i : i);
    found->graph = heuristic.graph;
    found->is_final = true;
  }
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t execute(const Call& site, cudnnHandle_t handle, const Descriptor& plan,
                      const Descriptor& pack) {
  std::map<int64_t, void*> arrays;
  const auto ids = pack.list<int64_t>(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
  const auto pointers = pack.list<void*>(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS);
  for (size_t i = 0; i < ids.size(); ++i) arrays[ids[i]] = pointers[i];
  LayerCall call(site, handle);
  const Graph& graph = *plan.graph;
  for (const auto& [id, tensor] : graph.tensors) {
    if (tensor.is_virtual) continue;
    const auto found = arrays.find(id);
    if (found == arrays.end() || found->second == nullptr) {
      return refuse(site, CUDNN_STATUS_BAD_PARAM,
                    "the variant pack has no array for the tensor " + std::to_string(id));
    }
    if (reinterpret_cast<uintptr_t>(found->second) % static_cast<uintptr_t>(tensor.alignment) !=
        0) {
      return refuse(site, CUDNN_STATUS_BAD_PARAM,
                    "the array of the tensor " + std::to_string(id) +
                        " does not lie at a multiple of its alignment");
    }
  }
  const int64_t workspace = engine_workspace(plan.engine, graph);
  void* const space = pack.value<void*>(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, nullptr);
  call.require(workspace == 0 || space != nullptr, CUDNN_STATUS_BAD_PARAM,
               "the plan needs a work space, and the variant pack has none");
  for (const int64_t id : graph.inputs()) {
    call.reads("input", graph.tensors.at(id).layout, arrays.at(id));
  }
  for (const int64_t id : graph.outputs()) {
    call.writes("output", graph.tensors.at(id).layout, arrays.at(id), 0);
  }
  if (workspace > 0) call.workspace(space, static_cast<size_t>(workspace));
  return call.run(graph.flops(), [kept = plan.graph, arrays] { kept->run(arrays); });
}

}  // namespace

extern "C" {

cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t descriptorType,
                                           cudnnBackendDescriptor_t* descriptor) {
  WARPLINGS_LIBRARY_CALL(cudnnBackendCreateDescriptor);
  WARPLINGS_MAY_FAIL(cudnnBackendCreateDescriptor, CUDNN_STATUS_INTERNAL_ERROR);
  if (descriptor == nullptr) return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
  bool is_known = descriptorType == CUDNN_BACKEND_ENGINECFG_DESCRIPTOR;
  for (const Known& known : kKnown) is_known |= known.kind == descriptorType;
  if (!is_known) {
    call.not_simulated("descriptors of the kind " + std::to_string(descriptorType));
    return CUDNN_STATUS_NOT_SUPPORTED;
  }
  auto* const made = new Descriptor(descriptorType);
  const std::lock_guard lock(descriptors_mutex());
  descriptors().insert(made);
  *descriptor = made;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t descriptor) {
  if (descriptor == nullptr) return CUDNN_STATUS_SUCCESS;
  const std::lock_guard lock(descriptors_mutex());
  auto* const gone = static_cast<Descriptor*>(descriptor);
  if (descriptors().erase(gone) == 0) return CUDNN_STATUS_BAD_PARAM;
  delete gone;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t descriptor) {
  WARPLINGS_LIBRARY_CALL(cudnnBackendFinalize);
  WARPLINGS_MAY_FAIL(cudnnBackendFinalize, CUDNN_STATUS_INTERNAL_ERROR);
  Descriptor* const d = live(descriptor);
  return d == nullptr ? CUDNN_STATUS_BAD_PARAM : finalize(call, d);
}

cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t descriptor,
                                       cudnnBackendAttributeName_t attributeName,
                                       cudnnBackendAttributeType_t attributeType,
                                       int64_t elementCount, const void* arrayOfElements) {
  WARPLINGS_LIBRARY_CALL(cudnnBackendSetAttribute);
  WARPLINGS_MAY_FAIL(cudnnBackendSetAttribute, CUDNN_STATUS_INTERNAL_ERROR);
  Descriptor* const d = live(descriptor);
  if (d == nullptr || elementCount < 0 || (elementCount > 0 && arrayOfElements == nullptr)) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  const Known* const known = find_known(d->kind, attributeName);
  if (known == nullptr) {
    call.not_simulated("the attribute " + std::to_string(attributeName) +
                       " of this kind of descriptor");
    return CUDNN_STATUS_NOT_SUPPORTED;
  }
  if (d->is_final) {
    return refuse(call, CUDNN_STATUS_BAD_PARAM,
                  std::string(known->text) + " of a descriptor that was finalized");
  }
  const bool fits = attributeType == known->type ||
                    (known->type == CUDNN_TYPE_DOUBLE && attributeType == CUDNN_TYPE_FLOAT);
  if (!fits) {
    return refuse(call, CUDNN_STATUS_BAD_PARAM,
                  std::string(known->text) + " is given as another type");
  }
  const auto* const bytes = static_cast<const unsigned char*>(arrayOfElements);
  d->attributes[attributeName] = {
      attributeType,
      elementCount,
      {bytes, bytes + static_cast<size_t>(elementCount) * size_of(attributeType)}};
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendGetAttribute(const cudnnBackendDescriptor_t descriptor,
                                       cudnnBackendAttributeName_t attributeName,
                                       cudnnBackendAttributeType_t attributeType,
                                       int64_t requestedElementCount, int64_t* elementCount,
                                       void* arrayOfElements) {
  WARPLINGS_LIBRARY_CALL(cudnnBackendGetAttribute);
  WARPLINGS_MAY_FAIL(cudnnBackendGetAttribute, CUDNN_STATUS_INTERNAL_ERROR);
  const Descriptor* const d = live(descriptor);
  if (d == nullptr || requestedElementCount < 0 ||
      (requestedElementCount > 0 && arrayOfElements == nullptr)) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  if (!d->is_final) return refuse(call, CUDNN_STATUS_BAD_PARAM, "the descriptor is not finalized");
  if (attributeName == CUDNN_ATTR_ENGINEHEUR_RESULTS) {
    return propose(*d, requestedElementCount, elementCount,
                   static_cast<void* const*>(arrayOfElements));
  }
  int64_t workspace = 0;
  const void* from = &workspace;
  int64_t count = 1;
  size_t element = sizeof workspace;
  if (attributeName == CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE ||
      attributeName == CUDNN_ATTR_ENGINECFG_WORKSPACE_SIZE) {
    if (d->graph == nullptr || attributeType != CUDNN_TYPE_INT64) return CUDNN_STATUS_BAD_PARAM;
    workspace = engine_workspace(d->engine, *d->graph);
  } else {
    const auto found = d->attributes.find(attributeName);
    if (found == d->attributes.end() || found->second.type != attributeType) {
      return CUDNN_STATUS_BAD_PARAM;
    }
    from = found->second.bytes.data();
    count = found->second.count;
    element = size_of(attributeType);
  }
  if (elementCount != nullptr) *elementCount = count;
  std::memcpy(arrayOfElements, from,
              static_cast<size_t>(std::min(count, requestedElementCount)) * element);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendExecute(cudnnHandle_t handle, cudnnBackendDescriptor_t executionPlan,
                                  cudnnBackendDescriptor_t variantPack) {
  WARPLINGS_LIBRARY_CALL(cudnnBackendExecute);
  if (!is_live(handle)) return CUDNN_STATUS_NOT_INITIALIZED;
  const Descriptor *const plan = live(executionPlan), *const pack = live(variantPack);
  if (plan == nullptr || pack == nullptr || !plan->is_final || !pack->is_final ||
      plan->kind != CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR ||
      pack->kind != CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR) {
    return refuse(call, CUDNN_STATUS_BAD_PARAM,
                  "a plan and a variant pack are needed, both finalized");
  }
  return execute(call, handle, *plan, *pack);
}

void cudnnGetLastErrorString(char* message, size_t max_size) {
  if (message == nullptr || max_size == 0) return;
  std::strncpy(message, last_refusal().c_str(), max_size - 1);
  message[max_size - 1] = '\0';
}

}  // extern "C"
