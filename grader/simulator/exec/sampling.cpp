#include "exec/sampling.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "exec/half.h"
#include "memory/device_memory.h"
#include "memory/footprint.h"

namespace warplings::sim {
namespace {

constexpr int64_t kOutside = -1;

uint32_t float_bits(double value) { return std::bit_cast<uint32_t>(static_cast<float>(value)); }

// An integer channel as a fraction: unsigned in [0, 1], signed in [-1, 1].
double fraction(int64_t value, uint32_t bytes, bool is_signed) {
  const double most = static_cast<double>((int64_t{1} << (8 * bytes - (is_signed ? 1 : 0))) - 1);
  return std::max(static_cast<double>(value) / most, -1.0);
}

uint32_t channel(const uint8_t* from, const TexelFormat& format, bool to_float) {
  uint32_t raw = 0;
  std::memcpy(&raw, from, format.channel_bytes);
  const uint32_t bytes = format.channel_bytes;
  if (format.kind == TexelKind::kFloat) {
    return bytes == 4 ? raw : float_bits(to_double(Half{static_cast<uint16_t>(raw)}));
  }
  const int unused = static_cast<int>(32 - 8 * bytes);
  const bool is_signed = format.kind == TexelKind::kSigned;
  const int64_t value = is_signed ? static_cast<int32_t>(raw << unused) >> unused : int64_t{raw};
  return to_float ? float_bits(fraction(value, bytes, is_signed)) : static_cast<uint32_t>(value);
}

bool gives_float(const Texture& texture) {
  return texture.sampler.to_float || texture.image.format.kind == TexelKind::kFloat;
}

Texel border(const Texture& texture) {
  Texel texel;
  for (size_t c = 0; c < 4; ++c) {
    if (gives_float(texture)) texel.bits[c] = float_bits(texture.sampler.border[c]);
  }
  return texel;
}

// The texel with these indices, none of which lies outside.
Texel read(const Texture& texture, int64_t x, int64_t y, int64_t z) {
  const Image& image = texture.image;
  const TexelFormat& format = image.format;
  const uint64_t address = image.base + static_cast<uint64_t>(x) * format.bytes() +
                           static_cast<uint64_t>(y) * image.pitch +
                           static_cast<uint64_t>(z) * image.slice;
  const DeviceMemory& memory = DeviceMemory::instance();
  if (Footprint* footprint = Footprint::recording()) {
    footprint->add(address, format.bytes(), false);
  }
  const uint8_t* from = memory.view(address);
  Texel texel;
  texel.bits[3] = gives_float(texture) ? float_bits(1) : 1;
  for (uint32_t c = 0; c < format.channels; ++c) {
    texel.bits[c] = channel(from + c * format.channel_bytes, format, texture.sampler.to_float);
  }
  texel.undefined = memory.undefined_bytes(address, format.bytes()) != 0;
  texel.addresses[texel.n_addresses++] = address;
  return texel;
}

// Index of a texel along an axis after the address mode. Wrap and mirror exist for normalised
// coordinates only; without them they clamp.
int64_t addressed(int64_t i, int64_t size, AddressMode mode, bool normalised) {
  if (i >= 0 && i < size) return i;
  if (mode == AddressMode::kBorder) return kOutside;
  if (normalised && mode == AddressMode::kWrap) return ((i % size) + size) % size;
  if (normalised && mode == AddressMode::kMirror) {
    const int64_t period = ((i % (2 * size)) + 2 * size) % (2 * size);
    return period < size ? period : 2 * size - 1 - period;
  }
  return std::clamp<int64_t>(i, 0, size - 1);
}

struct Axis {
  int64_t first = 0;  // index of the texel, or of the lower of two
  double weight = 0;  // of the upper one
};

// The guide's i and alpha: 9-bit fixed point with 8 bits of fraction.
Axis place_on_axis(double at, int64_t size, const Sampler& sampler, bool two_texels) {
  double position = sampler.normalised ? at * static_cast<double>(size) : at;
  if (!(std::fabs(position) < 1e9)) position = position > 0 ? 1e9 : position < 0 ? -1e9 : 0;
  if (!two_texels) return {static_cast<int64_t>(std::floor(position)), 0};
  const double fixed = std::floor((position - 0.5) * 256 + 0.5) / 256;
  const double lower = std::floor(fixed);
  return {static_cast<int64_t>(lower), fixed - lower};
}

struct FilterArea {
  std::array<Axis, 3> axes{};
  std::array<int64_t, 3> sizes{1, 1, 1};
  int n = 1;
  int64_t slice = 0;  // layer or face, for what has fewer than three axes
};

// Which face a direction meets, and where: the table of the guide's "Cubemap Textures".
int64_t cube_face(std::array<double, 3>& at) {
  const double x = at[0], y = at[1], z = at[2];
  const double ax = std::fabs(x), ay = std::fabs(y), az = std::fabs(z);
  double s = 0, t = 0, major = 1;
  int64_t face = 0;
  if (ax >= ay && ax >= az) {
    face = x >= 0 ? 0 : 1;
    s = x >= 0 ? -z : z;
    t = -y;
    major = ax;
  } else if (ay >= az) {
    face = y >= 0 ? 2 : 3;
    s = x;
    t = y >= 0 ? z : -z;
    major = ay;
  } else {
    face = z >= 0 ? 4 : 5;
    s = z >= 0 ? x : -x;
    t = -y;
    major = az;
  }
  at = {(s / major + 1) / 2, (t / major + 1) / 2, 0};
  return face;
}

FilterArea filter_area(const Texture& texture, Geometry geometry, const Position3& where,
                       bool two_texels) {
  const Image& image = texture.image;
  const bool cube = geometry == Geometry::kCube || geometry == Geometry::kACube;
  FilterArea out;
  out.n = cube ? 2 : dimensions(geometry);
  out.sizes = {image.width, std::max(image.height, 1u), std::max(image.depth, 1u)};
  std::array<double, 3> at = where.at;
  const int64_t face = cube ? cube_face(at) : 0;
  const int64_t group = cube ? 6 : 1;  // slices of one layer
  const int64_t layers = std::max<int64_t>(image.layers / group, 1);
  const int64_t layer = has_layer(geometry) ? std::clamp<int64_t>(where.layer, 0, layers - 1) : 0;
  out.slice = layer * group + face;
  for (int k = 0; k < out.n; ++k) {
    const size_t axis = static_cast<size_t>(k);
    out.axes[axis] = where.is_integer
                         ? Axis{where.index[axis], 0}
                         : place_on_axis(at[axis], out.sizes[axis], texture.sampler, two_texels);
  }
  return out;
}

// A corner of the footprint: bit k of `corner` is set for the upper texel of axis k.
Texel corner_texel(const Texture& texture, const FilterArea& area, unsigned corner) {
  std::array<int64_t, 3> index{0, 0, area.slice};
  for (int k = 0; k < area.n; ++k) {
    const size_t axis = static_cast<size_t>(k);
    const int64_t i = area.axes[axis].first + ((corner >> k) & 1);
    if (texture.image.is_linear && (i < 0 || i >= area.sizes[axis])) return Texel{};
    const int64_t found =
        addressed(i, area.sizes[axis], texture.sampler.modes[axis], texture.sampler.normalised);
    if (found == kOutside) return border(texture);
    index[axis] = found;
  }
  return read(texture, index[0], index[1], index[2]);
}

// `sum` has been made of this corner too.
void note_origin(const Texel& corner, Texel* sum) {
  sum->undefined = sum->undefined || corner.undefined;
  if (corner.n_addresses != 0) sum->addresses[sum->n_addresses++] = corner.addresses[0];
}

}  // namespace

Texel sample(const Texture& texture, Geometry geometry, const Position3& where) {
  const bool linear = texture.sampler.linear && !where.is_integer;
  const FilterArea area = filter_area(texture, geometry, where, linear);
  if (!linear) return corner_texel(texture, area, 0);
  std::array<double, 4> sum{};
  Texel out;
  for (unsigned corner = 0; corner < (1u << area.n); ++corner) {
    double weight = 1;
    for (int k = 0; k < area.n; ++k) {
      const double upper = area.axes[static_cast<size_t>(k)].weight;
      weight *= ((corner >> k) & 1) != 0 ? upper : 1 - upper;
    }
    if (weight == 0) continue;
    const Texel texel = corner_texel(texture, area, corner);
    note_origin(texel, &out);
    for (size_t c = 0; c < 4; ++c) {
      sum[c] += weight * static_cast<double>(std::bit_cast<float>(texel.bits[c]));
    }
  }
  for (size_t c = 0; c < 4; ++c) out.bits[c] = float_bits(sum[c]);
  return out;
}

Texel gather(const Texture& texture, Geometry geometry, const Position3& where, int component) {
  const FilterArea area = filter_area(texture, geometry, where, true);
  // (i, j + 1), (i + 1, j + 1), (i + 1, j), (i, j)
  constexpr std::array<unsigned, 4> kCorners = {2, 3, 1, 0};
  Texel out;
  for (size_t k = 0; k < 4; ++k) {
    const Texel texel = corner_texel(texture, area, kCorners[k]);
    out.bits[k] = texel.bits[static_cast<size_t>(component)];
    note_origin(texel, &out);
  }
  return out;
}

}  // namespace warplings::sim
