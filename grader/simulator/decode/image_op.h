// Operands of the texture and surface instructions: more than an Instr holds.
#ifndef WARPLINGS_SIMULATOR_DECODE_IMAGE_OP_H_
#define WARPLINGS_SIMULATOR_DECODE_IMAGE_OP_H_

#include <array>
#include <cstdint>

namespace warplings::sim {

enum class Geometry : uint8_t { k1d, k2d, k3d, kA1d, kA2d, kCube, kACube };
inline bool has_layer(Geometry g) {
  return g == Geometry::kA1d || g == Geometry::kA2d || g == Geometry::kACube;
}
// Coordinates besides the layer.
inline int dimensions(Geometry g) {
  switch (g) {
    case Geometry::k1d:
    case Geometry::kA1d:
      return 1;
    case Geometry::k2d:
    case Geometry::kA2d:
      return 2;
    default:
      return 3;
  }
}

enum class SurfaceBounds : uint8_t { kTrap, kClamp, kZero };
enum class SurfaceReduction : uint8_t { kAdd, kMin, kMax, kAnd, kOr };
enum class ImageQuery : uint8_t { kWidth, kHeight, kDepth, kArraySize, kNormalised };

struct ImageOp {
  uint32_t handle = 0;               // place of the object, 64 bits
  std::array<uint32_t, 4> values{};  // places: results, or what a surface is written with
  int n_values = 0;
  std::array<uint32_t, 4> coordinates{};  // places; the layer first
  Geometry geometry = Geometry::k2d;
  bool integer_coordinates = false;
  int component = 0;  // tld4
  // Surfaces.
  uint32_t bytes = 4;  // of one value
  SurfaceBounds bounds = SurfaceBounds::kTrap;
  SurfaceReduction reduction = SurfaceReduction::kAdd;
  bool is_signed = false;
  ImageQuery query = ImageQuery::kWidth;
};

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_DECODE_IMAGE_OP_H_
