// cp.async.bulk and its relatives, st.async and red.async, clusters.
#include "decode/decoder.h"
#include "decode/handlers.h"

namespace warplings::sim {

using ptx::Instruction;
using ptx::Operand;
using ptx::Type;

namespace {

int take_dimensions(Spec& spec) { return spec.take_one_of({"1d", "2d", "3d", "4d", "5d"}) + 1; }

BulkType type_of_reduction(Type type) {
  switch (type) {
    case Type::kS32:
      return BulkType::kS32;
    case Type::kU64:
    case Type::kB64:
      return BulkType::kU64;
    case Type::kS64:
      return BulkType::kS64;
    case Type::kF16:
      return BulkType::kF16;
    case Type::kBF16:
      return BulkType::kBF16;
    case Type::kF32:
      return BulkType::kF32;
    case Type::kF64:
      return BulkType::kF64;
    case Type::kU32:
    case Type::kB32:
    case Type::kNone:
      return BulkType::kU32;
    default:
      throw Unsupported{"a reduction of this type is not supported"};
  }
}

BulkOp take_reduction(Spec& spec) {
  const int op = spec.take_one_of({"add", "min", "max", "inc", "dec", "and", "or", "xor"});
  if (op < 0) throw Unsupported{"the operation of the reduction is missing"};
  return static_cast<BulkOp>(static_cast<int>(BulkOp::kAdd) + op);
}

}  // namespace

BulkAddress FunctionDecoder::bulk_address(const Operand& operand, Space space) {
  Instr part;
  part.size = 1;
  memory_address(operand, space, part);
  return {part.ops[4], part.imm, part.address_is_32bit, space};
}

void FunctionDecoder::tensor_operand(const Operand& operand, BulkForm& form) {
  form.global = bulk_address(operand, Space::kGeneric);
  if (operand.elements.size() != 2 || operand.elements[1].kind != Operand::Kind::kVector ||
      operand.elements[1].elements.size() != static_cast<size_t>(form.dimensions)) {
    throw Unsupported{
        "a tensor map and as many coordinates as the tensor has dimensions are "
        "expected: [map, {x, y}]"};
  }
  for (size_t i = 0; i < static_cast<size_t>(form.dimensions); ++i) {
    form.coordinates[i] = source(operand.elements[1].elements[i], 4, Type::kS32);
  }
}

void FunctionDecoder::offset_operand(const Operand& operand, BulkForm& form) {
  const size_t count = static_cast<size_t>(form.dimensions) - 2;
  if (operand.kind != Operand::Kind::kVector || operand.elements.size() != count) {
    throw Unsupported{
        "an offset for each dimension but the first and the last is expected: {x, y}"};
  }
  for (size_t i = 0; i < count; ++i) {
    form.offsets[i] = source(operand.elements[i], 4, Type::kU16);
  }
}

void FunctionDecoder::add_bulk(const BulkForm& form, Instr& in) {
  in.destinations = 0;
  in.extra = static_cast<uint32_t>(module_.bulks.size());
  in.fn = handler_bulk();
  in.space = Space::kShared;
  module_.bulks.push_back(form);
  out_.inner_order = InnerOrder::kAny;
}

void FunctionDecoder::decode_bulk(const Instruction& instruction, Spec& spec, Instr& in) {
  const std::vector<Operand>& operands = instruction.operands;
  if (spec.take("commit_group")) {
    in.fn = handler_bulk_commit();
    return;
  }
  if (spec.take("wait_group")) {
    const Operand& groups = operands.at(0);
    if (groups.kind != Operand::Kind::kInteger) throw Unsupported{"a constant is expected"};
    in.imm = static_cast<int64_t>(groups.bits);
    in.fn = handler_bulk_wait(spec.take("read"));
    return;
  }
  BulkForm form;
  const bool reduces = spec.take("reduce"), prefetches = spec.take("prefetch");
  if (spec.take("tensor")) {
    form.dimensions = take_dimensions(spec);
    if (form.dimensions == 0) throw Unsupported{"the number of dimensions is missing"};
    form.im2col = spec.take("im2col") || spec.take("im2col_no_offs");
    if (form.im2col && form.dimensions < 3) throw Unsupported{"im2col takes 3 to 5 dimensions"};
    if (!form.im2col) spec.take("tile");
  }
  const bool hint = spec.take("L2::cache_hint");
  spec.take("L2");
  const bool counted = spec.take("mbarrier::complete_tx::bytes"), grouped = spec.take("bulk_group");
  const bool to_cluster = spec.take("shared::cluster"), own = spec.take("shared::cta");
  const bool global = spec.take("global");
  form.multicast = spec.take("multicast::cluster");
  if (reduces) {
    form.op = take_reduction(spec);
    spec.take("noftz");
    form.type = type_of_reduction(form.dimensions > 0 ? Type::kNone : spec.last_type());
  }
  size_t next = 0;
  const auto size = [&] { form.size = source(operands.at(next++), 4, Type::kU32); };
  const auto tensor_or_global = [&](const Operand& operand) {
    if (form.dimensions > 0) {
      tensor_operand(operand, form);
    } else {
      form.global = bulk_address(operand, Space::kGlobal);
    }
  };
  if (prefetches) {
    form.way = BulkForm::Way::kPrefetch;
    tensor_or_global(operands.at(next++));
    if (form.dimensions == 0) size();
    if (form.im2col) offset_operand(operands.at(next++), form);
  } else if (grouped && global && own) {
    form.way = BulkForm::Way::kSharedToGlobal;
    tensor_or_global(operands.at(next++));
    form.shared = bulk_address(operands.at(next++), Space::kShared);
    if (form.dimensions == 0) size();
  } else if (counted && global && (to_cluster || own) && !reduces) {
    form.shared = bulk_address(operands.at(next++), Space::kShared);
    tensor_or_global(operands.at(next++));
    if (form.dimensions == 0) size();
    form.barrier = bulk_address(operands.at(next++), Space::kShared);
    if (form.im2col) offset_operand(operands.at(next++), form);
    if (form.multicast) form.blocks = source(operands.at(next++), 4, Type::kB16);
  } else if (counted && to_cluster && own && form.dimensions == 0) {
    form.way = BulkForm::Way::kSharedToCluster;
    form.shared = bulk_address(operands.at(next++), Space::kShared);
    form.source = bulk_address(operands.at(next++), Space::kShared);
    size();
    form.barrier = bulk_address(operands.at(next++), Space::kShared);
  } else {
    throw Unsupported{"this direction of a bulk copy is not supported"};
  }
  if (hint) ++next;  // the policy: no effect on results
  if (next != operands.size()) throw Unsupported{"an operand of this bulk copy is not supported"};
  add_bulk(form, in);
}

// st.async and red.async: [address], value, [mbarrier].
void FunctionDecoder::decode_async_store(const Instruction& instruction, Spec& spec, Instr& in) {
  const std::vector<Operand>& operands = instruction.operands;
  if (operands.size() != 3) throw Unsupported{"an address, a value and an mbarrier are expected"};
  BulkForm form;
  form.way = BulkForm::Way::kRegisters;
  spec.take("async");
  spec.take("weak");
  spec.take("relaxed");
  spec.take("cluster");
  spec.take("mbarrier::complete_tx::bytes");
  if (!spec.take("shared::cluster")) throw Unsupported{".shared::cluster is expected"};
  const int vector = spec.take("v2") ? 2 : spec.take("v4") ? 4 : 1;
  const Type type = spec.last_type();
  form.bytes = static_cast<uint8_t>(ptx::size_of(type));
  form.count = static_cast<uint8_t>(vector);
  if (form.bytes != 4 && form.bytes != 8) throw Unsupported{"values have 32 or 64 bits"};
  if (spec.op == k_red) {
    form.op = take_reduction(spec);
    form.type = type_of_reduction(type);
  }
  form.shared = bulk_address(operands[0], Space::kShared);
  form.barrier = bulk_address(operands[2], Space::kShared);
  const Operand& value = operands[1];
  if ((vector > 1) != (value.kind == Operand::Kind::kVector) ||
      (vector > 1 && value.elements.size() != static_cast<size_t>(vector))) {
    throw Unsupported{"a vector of as many values is expected"};
  }
  for (int i = 0; i < vector; ++i) {
    const Operand& part = vector > 1 ? value.elements[static_cast<size_t>(i)] : value;
    form.values[static_cast<size_t>(i)] = source(part, form.bytes, type);
  }
  add_bulk(form, in);
}

// mapa d, address, rank; getctarank d, address. imm 1: a generic address.
void FunctionDecoder::decode_cluster_address(const Instruction& instruction, Spec& spec,
                                             Instr& in) {
  const std::vector<Operand>& operands = instruction.operands;
  const Space space = take_space(spec);
  if (space != Space::kShared && space != Space::kGeneric) {
    throw Unsupported{"an address of shared memory is expected"};
  }
  const bool is_map = spec.op == k_mapa;
  if (operands.size() != (is_map ? 3u : 2u)) throw Unsupported{"operands are missing"};
  const int bytes = ptx::size_of(spec.last_type());
  if (bytes != 4 && bytes != 8) throw Unsupported{"a type of .u32 or .u64 is expected"};
  in.imm = space == Space::kGeneric ? 1 : 0;
  in.source_size = static_cast<uint8_t>(bytes);
  in.ops[0] = destination(operands[0], is_map ? bytes : 4);
  in.ops[1] = source(operands[1], bytes, spec.last_type());
  in.sources = 1;
  if (is_map) {
    in.ops[2] = source(operands[2], 4, Type::kU32);
    in.sources = 2;
  }
  in.fn = is_map ? handler_mapa() : handler_getctarank();
}

// barrier.cluster.arrive and .wait
void FunctionDecoder::decode_cluster_barrier(const Instruction&, Spec& spec, Instr& in) {
  spec.take("aligned");
  const bool waits = spec.take("wait");
  if (!waits && !spec.take("arrive")) throw Unsupported{".arrive or .wait is expected"};
  const int order = spec.take_one_of({"relaxed", "acquire", "release"});
  out_.inner_order = InnerOrder::kAny;
  if (waits) {
    in.kind = Kind::kClusterWait;
    in.acquires = order != 0;
    return;
  }
  in.imm = order != 0 ? 1 : 0;  // releases
  in.fn = handler_cluster_arrive();
}

// tensormap.replace: imm and ops[4] the address, ops[1] the value, extra the MapField, target the
// dimension. tensormap.cp_fenceproxy: imm and ops[4] the destination, ops[1] and extra the source.
void FunctionDecoder::decode_tensormap(const Instruction& instruction, Spec& spec, Instr& in) {
  const std::vector<Operand>& operands = instruction.operands;
  in.size = 16;
  in.vector = 8;
  if (spec.take("cp_fenceproxy")) {
    for (const char* word : {"global", "shared::cta", "tensormap::generic", "release", "sync"}) {
      if (!spec.take(word)) throw Unsupported{std::string(".") + word + " is expected"};
    }
    spec.take("aligned");
    take_scope(spec, Scope::kDevice);
    const BulkAddress from = bulk_address(operands.at(1), Space::kShared);
    memory_address(operands.at(0), Space::kGlobal, in);
    in.ops[1] = from.base;
    in.extra = static_cast<uint32_t>(from.offset);
    in.fn = handler_map_copy();
    return;
  }
  if (!spec.take("replace") || !spec.take("tile")) throw Unsupported{".replace.tile is expected"};
  const int field =
      spec.take_one_of({"global_address", "rank", "box_dim", "global_dim", "global_stride",
                        "element_stride", "elemtype", "swizzle_mode", "fill_mode"});
  if (field < 0) throw Unsupported{"this field of a tensor map cannot be changed here"};
  const Space space = take_space(spec);
  spec.take("b1024");
  const int bytes = ptx::size_of(spec.last_type());
  const bool has_dimension =
      field >= static_cast<int>(MapField::kBox) && field <= static_cast<int>(MapField::kStep);
  memory_address(operands.at(0), space, in);
  if (has_dimension) {
    const Operand& dimension = operands.at(1);
    if (dimension.kind != Operand::Kind::kInteger || dimension.bits > 4) {
      throw Unsupported{"a dimension of 0 to 4 is expected"};
    }
    in.target = static_cast<uint32_t>(dimension.bits);
  }
  in.ops[1] = source(operands.at(has_dimension ? 2 : 1), bytes, spec.last_type());
  in.source_size = static_cast<uint8_t>(bytes);
  in.extra = static_cast<uint32_t>(field);
  in.fn = handler_map_replace();
}

}  // namespace warplings::sim
