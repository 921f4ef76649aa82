// tex, tld4, suld, sust, sured and the queries of textures and surfaces: one lane after the other.
#include <algorithm>
#include <cstring>

#include "decode/handlers.h"
#include "exec/access.h"
#include "exec/fault.h"
#include "exec/reports.h"
#include "exec/sampling.h"
#include "memory/footprint.h"

namespace warplings::sim {
namespace {

using namespace baseline;  // NOLINT: lanes.h lives in the namespace of its build

const ImageOp& op_of(const Warp& w, const Instr& in) { return w.module->images[in.extra]; }

[[noreturn]] void fail(Warp& w, int lane, ImageProblem problem) {
  report_image(w, lane, problem);
  throw LaunchFault{problem == ImageProblem::kMisaligned ? LaunchStatus::kMisaligned
                                                         : LaunchStatus::kIllegalAddress};
}

void check_defined(Warp& w, Place place, uint32_t mask, const char* what) {
  if (place == kNoPlace || !is_register(place)) return;
  const uint32_t lanes = w.undefined_lanes(place) & mask;
  if (lanes == 0) return;
  report_undefined(w, place, lanes, what);
  w.undefined_lanes(place) &= ~lanes;
}

void check_operands(Warp& w, const ImageOp& op, uint32_t mask) {
  if (!w.any_undefined) return;
  check_defined(w, op.handle, mask, "names a texture or surface");
  for (const Place place : op.coordinates) {
    check_defined(w, place, mask, "is a coordinate of a texture or surface");
  }
}

void require_memory(Warp& w, int lane, const Image& image) {
  if (!DeviceMemory::instance().accessible(image.base, image.bytes())) {
    fail(w, lane, ImageProblem::kFreed);
  }
}

// Lanes mostly use one object: what the last lane used is checked already.
class TextureOfLane {
 public:
  TextureOfLane(Warp& w, const ImageOp& op) : w_(w), handles_(w.in<uint64_t>(op.handle)) {}
  const Texture& operator()(int lane) {
    if (texture_ != nullptr && handles_[lane] == handle_) return *texture_;
    handle_ = handles_[lane];
    texture_ = ImageObjects::instance().texture(handle_);
    if (texture_ == nullptr) fail(w_, lane, ImageProblem::kNoTexture);
    require_memory(w_, lane, texture_->image);
    return *texture_;
  }

 private:
  Warp& w_;
  const uint64_t* handles_;
  uint64_t handle_ = 0;
  const Texture* texture_ = nullptr;
};

class SurfaceOfLane {
 public:
  SurfaceOfLane(Warp& w, const ImageOp& op) : w_(w), handles_(w.in<uint64_t>(op.handle)) {}
  const Image& operator()(int lane) {
    if (image_ != nullptr && handles_[lane] == handle_) return *image_;
    handle_ = handles_[lane];
    image_ = ImageObjects::instance().surface(handle_);
    if (image_ == nullptr) fail(w_, lane, ImageProblem::kNoSurface);
    require_memory(w_, lane, *image_);
    return *image_;
  }

 private:
  Warp& w_;
  const uint64_t* handles_;
  uint64_t handle_ = 0;
  const Image* image_ = nullptr;
};

// Texels are memory like any other: what a kernel writes to them is not there for its fetches
// without an order. Each lane has found its place already, and such requests are not counted.
struct InImage : InGlobal {
  uint32_t check() const { return r.mask; }
  void count() const {}
};

Position3 position_of(const Warp& w, const ImageOp& op, int lane) {
  Position3 where;
  where.is_integer = op.integer_coordinates;
  size_t next = 0;
  if (has_layer(op.geometry)) where.layer = w.in<uint32_t>(op.coordinates[next++])[lane];
  for (size_t k = 0; k < static_cast<size_t>(dimensions(op.geometry)); ++k) {
    const Place place = op.coordinates[next++];
    if (op.integer_coordinates) {
      where.index[k] = w.in<int32_t>(place)[lane];
    } else {
      where.at[k] = static_cast<double>(w.in<float>(place)[lane]);
    }
  }
  return where;
}

// The texels that a fetch reads: one request for each corner of its filter.
void race_corners(Warp& w, const Instr& in, uint32_t m, const Texel* texels, uint32_t bytes) {
  for (size_t corner = 0; corner < texels->addresses.size(); ++corner) {
    Request request;
    request.bytes = bytes;
    each_lane(m, [&](int lane) {
      if (corner >= texels[lane].n_addresses) return;
      request.mask |= 1u << lane;
      request.address[lane] = texels[lane].addresses[corner];
    });
    if (request.mask == 0) return;
    const Request corners = part_of(request, request.mask, 0);
    InImage{{w, in, corners}}.tell();
  }
}

template <bool kGather>
void op_tex(Warp& w, const Instr& in, uint32_t m) {
  const ImageOp& op = op_of(w, in);
  check_operands(w, op, m);
  TextureOfLane texture_of(w, op);
  Texel texels[32];
  uint32_t undefined = 0, bytes = 0;
  each_lane(m, [&](int lane) {
    const Texture& texture = texture_of(lane);
    bytes = texture.image.format.bytes();
    const Position3 where = position_of(w, op, lane);
    texels[lane] = kGather ? gather(texture, op.geometry, where, op.component)
                           : sample(texture, op.geometry, where);
    if (texels[lane].undefined && w.checks) undefined |= 1u << lane;
  });
  if (w.checks) race_corners(w, in, m, texels, bytes);
  if (undefined != 0) w.any_undefined = true;
  for (size_t k = 0; k < 4; ++k) {
    if (op.values[k] == kNoPlace) continue;
    uint32_t* d = w.out<uint32_t>(op.values[k]);
    each_lane(m, [&](int lane) { d[lane] = texels[lane].bits[k]; });
    if (!w.any_undefined) continue;
    w.undefined_lanes(op.values[k]) = (w.undefined_lanes(op.values[k]) & ~m) | undefined;
    each_lane(undefined, [&](int lane) { w.undefined_bytes(op.values[k])[lane] = 0xf; });
  }
}

// ---- surfaces: x counts bytes

struct SurfacePlace {
  uint64_t address = 0;
  bool inside = true;  // false: zero mode, and the coordinates lie outside
};

SurfacePlace locate(Warp& w, const ImageOp& op, const Image& image, int lane, bool write) {
  size_t next = 0;
  const int64_t layer = has_layer(op.geometry) ? w.in<int32_t>(op.coordinates[next++])[lane] : 0;
  const uint32_t bytes = op.bytes * static_cast<uint32_t>(op.n_values);
  std::array<int64_t, 4> at{0, 0, 0, layer};
  for (size_t k = 0; k < static_cast<size_t>(dimensions(op.geometry)); ++k) {
    at[k] = w.in<int32_t>(op.coordinates[next++])[lane];
  }
  const int64_t row = int64_t{image.width} * image.format.bytes();
  const std::array<int64_t, 4> sizes = {row - bytes + 1, std::max<int64_t>(image.height, 1),
                                        std::max<int64_t>(image.depth, 1),
                                        std::max<int64_t>(image.layers, 1)};
  for (size_t k = 0; k < 4; ++k) {
    if (at[k] >= 0 && at[k] < sizes[k]) continue;
    if (op.bounds == SurfaceBounds::kTrap) fail(w, lane, ImageProblem::kOutside);
    if (op.bounds == SurfaceBounds::kZero) return {0, false};
    at[k] = std::clamp<int64_t>(at[k], 0, sizes[k] - 1);
    if (k == 0) at[k] -= at[k] % bytes;
  }
  if (at[0] % bytes != 0) fail(w, lane, ImageProblem::kMisaligned);
  const uint64_t address = image.base + static_cast<uint64_t>(at[0]) +
                           static_cast<uint64_t>(at[1]) * image.pitch +
                           static_cast<uint64_t>(at[2] + at[3]) * image.slice;
  if (Footprint* footprint = Footprint::recording()) footprint->add(address, bytes, write);
  return {address, true};
}

// The lanes that lie inside, and where.
Request request_for(Warp& w, const ImageOp& op, uint32_t m, bool write) {
  SurfaceOfLane image_of(w, op);
  Request request;
  request.bytes = op.bytes * static_cast<uint32_t>(op.n_values);
  request.write = write;
  each_lane(m, [&](int lane) {
    const SurfacePlace place = locate(w, op, image_of(lane), lane, write);
    request.address[lane] = place.address;
    if (place.inside) request.mask |= 1u << lane;
  });
  return part_of(request, request.mask, 0);
}

uint64_t value_of(const Warp& w, const ImageOp& op, size_t k, int lane) {
  return op.bytes == 8 ? w.in<uint64_t>(op.values[k])[lane] : w.in<uint32_t>(op.values[k])[lane];
}

// What the lanes hold of a surface, and which bytes are undefined.
struct SurfaceLanes {
  uint8_t value[32][16] = {};
  uint8_t undefined[32][16] = {};
  Buffered buffered() { return {value[0], undefined[0], sizeof value[0]}; }
};

void op_suld(Warp& w, const Instr& in, uint32_t m) {
  const ImageOp& op = op_of(w, in);
  check_operands(w, op, m);
  SurfaceLanes held;
  const Request request = request_for(w, op, m, false);
  if (request.mask != 0) access(InImage{{w, in, request}}, held.buffered());
  for (size_t k = 0; k < static_cast<size_t>(op.n_values); ++k) {
    if (op.values[k] == kNoPlace) continue;
    each_lane(m, [&](int lane) {
      uint64_t value = 0;
      std::memcpy(&value, held.value[lane] + k * op.bytes, op.bytes);
      if (op.bytes == 8) {
        w.out<uint64_t>(op.values[k])[lane] = value;
      } else {
        w.out<uint32_t>(op.values[k])[lane] = static_cast<uint32_t>(value);
      }
      uint8_t code = 1;
      const uint32_t undefined = read_shadow(held.undefined[lane] + k * op.bytes, op.bytes, &code);
      if (undefined != 0) w.any_undefined = true;
      if (!w.any_undefined) return;
      uint32_t& lanes = w.undefined_lanes(op.values[k]);
      lanes = undefined != 0 ? lanes | (1u << lane) : lanes & ~(1u << lane);
      w.undefined_bytes(op.values[k])[lane] = static_cast<uint8_t>(undefined);
    });
  }
}

void op_sust(Warp& w, const Instr& in, uint32_t m) {
  const ImageOp& op = op_of(w, in);
  check_operands(w, op, m);
  Request request = request_for(w, op, m, true);
  SurfaceLanes held;
  for (size_t k = 0; k < static_cast<size_t>(op.n_values); ++k) {
    const bool track = w.any_undefined && is_register(op.values[k]);
    each_lane(request.mask, [&](int lane) {
      const uint64_t value = value_of(w, op, k, lane);
      std::memcpy(held.value[lane] + k * op.bytes, &value, op.bytes);
      if (!track || ((w.undefined_lanes(op.values[k]) >> lane) & 1) == 0) return;
      const uint32_t undefined = w.undefined_bytes(op.values[k])[lane] & ((1u << op.bytes) - 1);
      write_shadow(held.undefined[lane] + k * op.bytes, op.bytes, undefined, 1);
    });
  }
  request.values = held.value[0];
  request.values_stride = sizeof held.value[0];
  if (request.mask != 0) access(InImage{{w, in, request}}, held.buffered());
}

template <class T>
T reduced(SurfaceReduction reduction, T a, T b) {
  switch (reduction) {
    case SurfaceReduction::kAdd:
      return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
    case SurfaceReduction::kMin:
      return std::min(a, b);
    case SurfaceReduction::kMax:
      return std::max(a, b);
    case SurfaceReduction::kAnd:
      return static_cast<T>(a & b);
    case SurfaceReduction::kOr:
      return static_cast<T>(a | b);
  }
  return a;
}

template <class T>
void reduce_at(uint8_t* at, SurfaceReduction reduction, uint64_t value) {
  T old;
  std::memcpy(&old, at, sizeof old);
  const T now = reduced(reduction, old, static_cast<T>(value));
  std::memcpy(at, &now, sizeof now);
}

struct ReduceSurface {
  const ImageOp& op;

  void move(const InImage& place, uint32_t lanes) const {
    note_change(place.w);
    each_lane(lanes, [&](int lane) {
      uint8_t* bytes = place.at(lane);
      const uint64_t value = value_of(place.w, op, 0, lane);
      if (op.bytes == 8) {
        op.is_signed ? reduce_at<int64_t>(bytes, op.reduction, value)
                     : reduce_at<uint64_t>(bytes, op.reduction, value);
      } else {
        op.is_signed ? reduce_at<int32_t>(bytes, op.reduction, value)
                     : reduce_at<uint32_t>(bytes, op.reduction, value);
      }
    });
  }
  void follow(const InImage& place, uint32_t lanes) const {
    uint8_t bytes[32] = {};
    const uint32_t found = take_undefined(place, lanes, bytes);
    if (found != 0) report_undefined(place.w, found, "is changed by an atomic operation");
  }
};

void op_sured(Warp& w, const Instr& in, uint32_t m) {
  const ImageOp& op = op_of(w, in);
  check_operands(w, op, m);
  if (w.any_undefined) check_defined(w, op.values[0], m, "is used in arithmetic");
  Request request = request_for(w, op, m, true);
  request.atomic = true;
  if (request.mask != 0) access(InImage{{w, in, request}}, ReduceSurface{op});
}

uint32_t answer(ImageQuery query, const Image& image, bool normalised) {
  switch (query) {
    case ImageQuery::kWidth:
      return image.width;
    case ImageQuery::kHeight:
      return image.height;
    case ImageQuery::kDepth:
      return image.depth;
    case ImageQuery::kArraySize:
      return image.layers;
    case ImageQuery::kNormalised:
      return normalised ? 1 : 0;
  }
  return 0;
}

template <bool kTexture>
void op_query(Warp& w, const Instr& in, uint32_t m) {
  const ImageOp& op = op_of(w, in);
  check_operands(w, op, m);
  uint32_t* d = w.out<uint32_t>(op.values[0]);
  TextureOfLane texture_of(w, op);
  SurfaceOfLane image_of(w, op);
  uint32_t result[32];
  each_lane(m, [&](int lane) {
    if constexpr (kTexture) {
      const Texture& texture = texture_of(lane);
      result[lane] = answer(op.query, texture.image, texture.sampler.normalised);
    } else {
      result[lane] = answer(op.query, image_of(lane), false);
    }
  });
  each_lane(m, [&](int lane) { d[lane] = result[lane]; });
  if (w.any_undefined) w.undefined_lanes(op.values[0]) &= ~m;
}

}  // namespace

Handler handler_texture(bool gather) { return gather ? op_tex<true> : op_tex<false>; }
Handler handler_surface(SurfaceAccess access) {
  switch (access) {
    case SurfaceAccess::kLoad:
      return op_suld;
    case SurfaceAccess::kStore:
      return op_sust;
    case SurfaceAccess::kReduce:
      return op_sured;
  }
  return nullptr;
}
Handler handler_image_query(bool texture) { return texture ? op_query<true> : op_query<false>; }

}  // namespace warplings::sim
