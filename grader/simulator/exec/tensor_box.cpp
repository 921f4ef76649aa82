#include "exec/tensor_box.h"

#include <algorithm>

namespace warplings::sim {
namespace {

class Box {
 public:
  Box(const TensorMap& map, const TensorPlace& place) : map_(map), place_(place) {}

  std::vector<BulkPiece> pieces() {
    if (map_.im2col) {
      walk_pixels();
    } else {
      walk_rows();
    }
    return std::move(pieces_);
  }

 private:
  using Coordinates = std::array<int64_t, 5>;

  // Where the element with these coordinates lies, but for those before dimension `first`; 0:
  // outside.
  uint64_t address_of(const Coordinates& x, size_t first) const {
    uint64_t global = map_.address;
    for (size_t d = first; d < map_.dimensions; ++d) {
      if (x[d] < 0 || x[d] > int64_t{map_.extent[d]}) return 0;
      global += static_cast<uint64_t>(x[d]) * map_.stride[d];
    }
    return global;
  }

  void walk_rows() {
    std::array<uint32_t, 5> at{};
    const uint32_t rows = map_.rows();
    for (uint32_t row = 0; row < rows; ++row) {
      Coordinates x{};
      for (size_t d = 1; d < map_.dimensions; ++d) {
        x[d] = int64_t{place_.at[d]} + int64_t{at[d]} * map_.steps[d];
      }
      append_row(address_of(x, 1), row * map_.pitch());
      size_t d = 1;
      while (d < map_.dimensions && ++at[d] == map_.taken(d)) at[d++] = 0;
    }
  }

  // From pixel to pixel: along w to the end of the bounding box, then on in h, d and n.
  void walk_pixels() {
    const size_t first = map_.first_spatial(), end = first + map_.spatial();
    const size_t images = map_.dimensions - 1u;
    Coordinates at{};
    std::copy_n(place_.at.begin(), map_.dimensions, at.begin());
    for (uint32_t pixel = 0; pixel < map_.pixels; ++pixel) {
      Coordinates x = at;
      for (size_t d = first; d < end; ++d) x[d] += place_.offset[d - first];
      const uint32_t shared = pixel * map_.pitch();
      if (map_.unit != 0) {
        pieces_.push_back({address_of(x, 0), shared, map_.unit});
      } else {
        append_row(address_of(x, 1), shared);
      }
      size_t d = first;
      for (; d < end; ++d) {
        at[d] += map_.steps[d];
        if (at[d] <= map_.last_pixel(d)) break;
        at[d] = map_.lower[d - first];
      }
      if (d == end) at[images] += map_.steps[images];
    }
  }

  // `global`: where the row begins, before coordinate 0; 0: outside of the tensor.
  void append_row(uint64_t global, uint32_t shared) {
    const int64_t n = map_.taken(0), x = place_.at[0], step = map_.steps[0];
    const int64_t bytes = static_cast<int64_t>(map_.stride[0]);
    const auto append = [&](int64_t from, int64_t to, bool is_there) {
      if (from >= to) return;
      const uint64_t address = global + static_cast<uint64_t>((x + from * step) * bytes);
      pieces_.push_back({is_there ? address : 0, shared + static_cast<uint32_t>(from * bytes),
                         static_cast<uint32_t>((to - from) * bytes)});
    };
    if (global == 0) return append(0, n, false);
    if (step > 1) {
      for (int64_t i = 0; i < n; ++i) {
        append(i, i + 1, x + i * step >= 0 && x + i * step <= int64_t{map_.extent[0]});
      }
      return;
    }
    const int64_t first = std::clamp<int64_t>(-x, 0, n);
    const int64_t end = std::clamp<int64_t>(int64_t{map_.extent[0]} + 1 - x, first, n);
    append(0, first, false);
    append(first, end, true);
    append(end, n, false);
  }

  const TensorMap& map_;
  const TensorPlace& place_;
  std::vector<BulkPiece> pieces_;
};

}  // namespace

std::vector<BulkPiece> tensor_box(const TensorMap& map, const TensorPlace& place) {
  return Box(map, place).pieces();
}

std::vector<BulkPiece> place_box(const TensorMap& map, uint32_t base,
                                 const std::vector<BulkPiece>& pieces) {
  std::vector<BulkPiece> out;
  for (const BulkPiece& piece : pieces) {
    uint32_t done = 0;
    while (done < piece.bytes) {
      const uint32_t at = base + piece.shared + done;
      const uint32_t chunk = map.swizzle == TensorSwizzle::kNone
                                 ? piece.bytes - done
                                 : std::min(16 - at % 16, piece.bytes - done);
      out.push_back({piece.global == 0 ? 0 : piece.global + done, map.swizzled(at), chunk});
      done += chunk;
    }
  }
  return out;
}

}  // namespace warplings::sim
