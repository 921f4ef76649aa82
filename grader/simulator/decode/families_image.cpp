// Textures and surfaces through objects: tex, tld4, txq, suld, sust, sured, suq.
#include "decode/decoder.h"
#include "decode/handlers.h"

namespace warplings::sim {

using ptx::Instruction;
using ptx::Operand;
using ptx::Type;

namespace {

Geometry take_geometry(Spec& spec) {
  const int g = spec.take_one_of({"1d", "2d", "3d", "a1d", "a2d", "cube", "acube"});
  if (g < 0) throw Unsupported{"only 1d, 2d, 3d, a1d, a2d, cube and acube are supported"};
  return static_cast<Geometry>(g);
}

}  // namespace

// [object] or [object, {coordinates}]. A 3D position is written with a fourth, unused element.
void FunctionDecoder::image_operand(const Operand& operand, ImageOp& op, Type coordinate) {
  if (operand.kind != Operand::Kind::kAddress || operand.elements.empty() ||
      operand.elements[0].kind != Operand::Kind::kRegister) {
    throw Unsupported{"only texture and surface objects are supported, not references"};
  }
  op.handle = source(operand.elements[0], 8, Type::kU64);
  op.coordinates.fill(kNoPlace);
  if (operand.elements.size() < 2) return;
  if (operand.elements.size() > 2) throw Unsupported{"separate samplers are not supported"};
  const Operand& list = operand.elements[1];
  const bool is_list = list.kind == Operand::Kind::kVector;
  const size_t needed =
      static_cast<size_t>(dimensions(op.geometry)) + (has_layer(op.geometry) ? 1 : 0);
  if ((is_list ? list.elements.size() : 1) < needed) throw Unsupported{"coordinates are missing"};
  for (size_t k = 0; k < needed; ++k) {
    const bool layer = has_layer(op.geometry) && k == 0;
    op.coordinates[k] =
        source(is_list ? list.elements[k] : list, 4, layer ? Type::kU32 : coordinate);
  }
}

void FunctionDecoder::image_values(const Operand& operand, ImageOp& op, bool written, Type type) {
  const bool is_list = operand.kind == Operand::Kind::kVector;
  if (operand.is_pair) throw Unsupported{"sparse textures are not supported"};
  op.n_values = is_list ? static_cast<int>(operand.elements.size()) : 1;
  if (op.n_values > 4) throw Unsupported{"too many values"};
  op.values.fill(kNoPlace);
  const int lane_bytes = op.bytes == 8 ? 8 : 4;
  for (int k = 0; k < op.n_values; ++k) {
    const Operand& part = is_list ? operand.elements[static_cast<size_t>(k)] : operand;
    if (written && part.kind == Operand::Kind::kSink) continue;
    op.values[static_cast<size_t>(k)] =
        written ? destination(part, lane_bytes) : source(part, lane_bytes, type);
  }
}

void FunctionDecoder::add_image(const ImageOp& op, Instr& in) {
  in.destinations = 0;  // initcheck reads them from the ImageOp
  in.extra = static_cast<uint32_t>(module_.images.size());
  module_.images.push_back(op);
}

void FunctionDecoder::decode_tex(const Instruction& instruction, Spec& spec, Instr& in) {
  const bool gather = spec.op == k_tld4;
  if (instruction.operands.size() < 2) throw Unsupported{"operands are missing"};
  ImageOp op;
  if (gather) {
    op.component = spec.take_one_of({"r", "g", "b", "a"});
    if (op.component < 0) throw Unsupported{"the channel is missing"};
  } else {
    // Mipmaps are refused when a texture is made, so there is one level whatever these ask for.
    spec.take_one_of({"base", "level", "grad"});
  }
  op.geometry = take_geometry(spec);
  const bool flat = op.geometry == Geometry::k2d || op.geometry == Geometry::kA2d;
  if (gather && !flat) throw Unsupported{"only 2d and a2d are supported"};
  const Type result = spec.type(0), coordinate = spec.type(1);
  const bool known = result == Type::kF32 || result == Type::kS32 || result == Type::kU32;
  if (!spec.take("v4") || !known || spec.types.size() != 2 ||
      (coordinate != Type::kF32 && coordinate != Type::kS32)) {
    throw Unsupported{"only .v4 of f32, s32 or u32 at f32 or s32 coordinates is supported"};
  }
  op.integer_coordinates = coordinate == Type::kS32;
  image_values(instruction.operands[0], op, true, result);
  image_operand(instruction.operands[1], op, coordinate);
  if (op.coordinates[0] == kNoPlace) throw Unsupported{"coordinates are missing"};
  add_image(op, in);
  in.fn = handler_texture(gather);
}

// suld.b, sust.b, sured.b: bytes as they lie there. The formatted forms (.p) convert.
void FunctionDecoder::decode_surface(const Instruction& instruction, Spec& spec, Instr& in) {
  if (instruction.operands.size() < 2) throw Unsupported{"operands are missing"};
  const bool load = in.destinations != 0, reduce = spec.op == k_sured;
  if (!spec.take("b")) throw Unsupported{"only unformatted accesses (.b) are supported"};
  spec.take_cache_hints();
  ImageOp op;
  op.integer_coordinates = true;
  op.geometry = take_geometry(spec);
  if (op.geometry == Geometry::kCube || op.geometry == Geometry::kACube) {
    throw Unsupported{"a surface has no cube geometry"};
  }
  const int bounds = spec.take_one_of({"trap", "clamp", "zero"});
  op.bounds = static_cast<SurfaceBounds>(bounds < 0 ? 0 : bounds);
  const Type type = spec.last_type();
  op.bytes = static_cast<uint32_t>(ptx::size_of(type));
  op.is_signed = type == Type::kS32 || type == Type::kS64;
  const int width = spec.take("v4") ? 4 : spec.take("v2") ? 2 : 1;
  if (reduce) {
    const int kind = spec.take_one_of({"add", "min", "max", "and", "or"});
    if (kind < 0 || (op.bytes != 4 && op.bytes != 8)) throw Unsupported{"no such reduction"};
    op.reduction = static_cast<SurfaceReduction>(kind);
  }
  const size_t object = load ? 1 : 0;
  image_values(instruction.operands[1 - object], op, load, type);
  image_operand(instruction.operands[object], op, Type::kS32);
  if (op.n_values != width || op.bytes == 0 || op.coordinates[0] == kNoPlace) {
    throw Unsupported{"values or coordinates are missing"};
  }
  add_image(op, in);
  in.strong = reduce;
  in.fn = handler_surface(load     ? SurfaceAccess::kLoad
                          : reduce ? SurfaceAccess::kReduce
                                   : SurfaceAccess::kStore);
}

void FunctionDecoder::decode_image_query(const Instruction& instruction, Spec& spec, Instr& in) {
  if (instruction.operands.size() != 2) throw Unsupported{"operands are missing"};
  const int query =
      spec.take_one_of({"width", "height", "depth", "array_size", "normalized_coords"});
  if (query < 0) throw Unsupported{"only sizes and normalized_coords can be asked for"};
  ImageOp op;
  op.query = static_cast<ImageQuery>(query);
  image_values(instruction.operands[0], op, true, Type::kB32);
  if (op.values[0] == kNoPlace) throw Unsupported{"the result must be a register"};
  image_operand(instruction.operands[1], op, Type::kS32);
  add_image(op, in);
  in.fn = handler_image_query(spec.op == k_txq);
}

}  // namespace warplings::sim
