#include "memory/image.h"

#include <algorithm>

#include "core/machine.h"

namespace warplings::sim {

uint64_t Image::bytes() const {
  const uint64_t rows = std::max(height, 1u), slices = std::max({depth, layers, 1u});
  return (slices - 1) * slice + (rows - 1) * pitch + uint64_t{width} * format.bytes();
}

ImageObjects& ImageObjects::instance() { return Machine::get<ImageObjects>(); }

uint64_t ImageObjects::add(const Texture& texture) {
  textures_[next_] = texture;
  return next_++;
}

uint64_t ImageObjects::add(const Image& surface) {
  surfaces_[next_] = surface;
  return next_++;
}

const Texture* ImageObjects::texture(uint64_t handle) const {
  const auto it = textures_.find(handle);
  return it == textures_.end() ? nullptr : &it->second;
}

const Image* ImageObjects::surface(uint64_t handle) const {
  const auto it = surfaces_.find(handle);
  return it == surfaces_.end() ? nullptr : &it->second;
}

}  // namespace warplings::sim
