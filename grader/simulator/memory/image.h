// What textures and surfaces read and write: an image in device memory, and how it is sampled. Lies
// apart from the runtime (which makes these objects) and the engine (which uses them).
#ifndef WARPLINGS_SIMULATOR_MEMORY_IMAGE_H_
#define WARPLINGS_SIMULATOR_MEMORY_IMAGE_H_

#include <array>
#include <cstdint>
#include <map>

namespace warplings::sim {

enum class TexelKind : uint8_t { kUnsigned, kSigned, kFloat };

struct TexelFormat {
  TexelKind kind = TexelKind::kFloat;
  uint32_t channels = 1;       // 1, 2 or 4
  uint32_t channel_bytes = 4;  // 1, 2 or 4
  uint32_t bytes() const { return channels * channel_bytes; }
};

// Rows one after the other: texel (x, y, z) of layer l lies at
// base + x * format.bytes() + y * pitch + (z + l) * slice.
struct Image {
  uint64_t base = 0;  // device address
  TexelFormat format;
  // Texels; 0 for a dimension that the image does not have. Layers of a cube map are its faces.
  uint32_t width = 0, height = 0, depth = 0, layers = 0;
  uint64_t pitch = 0, slice = 0;  // bytes
  bool is_linear = false;         // plain memory, read by index: zero outside
  uint64_t bytes() const;         // from the first texel to one past the last
};

enum class AddressMode : uint8_t { kWrap, kClamp, kMirror, kBorder };

struct Sampler {
  std::array<AddressMode, 3> modes{};
  bool linear = false;      // filter
  bool normalised = false;  // coordinates in [0, 1)
  bool to_float = false;    // 8 and 16 bit integers are read as fractions
  std::array<float, 4> border{};
};

struct Texture {
  Image image;
  Sampler sampler;
};

// Live texture and surface objects by handle. Handles are never used twice.
class ImageObjects {
 public:
  static ImageObjects& instance();  // of the current machine
  uint64_t add(const Texture& texture);
  uint64_t add(const Image& surface);
  bool remove_texture(uint64_t handle) { return textures_.erase(handle) != 0; }
  bool remove_surface(uint64_t handle) { return surfaces_.erase(handle) != 0; }
  const Texture* texture(uint64_t handle) const;  // nullptr: no such object
  const Image* surface(uint64_t handle) const;

 private:
  std::map<uint64_t, Texture> textures_;
  std::map<uint64_t, Image> surfaces_;
  uint64_t next_ = 1;
};

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_MEMORY_IMAGE_H_
