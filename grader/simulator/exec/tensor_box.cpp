#include "exec/tensor_box.h"

#include <algorithm>

namespace warplings::sim {
namespace {

class Box {
 public:
  Box(const TensorMap& map, const TensorPlace& place)
      : map_(map), place_(place), last_(map.dimensions - 1u) {}

  std::vector<BulkPiece> pieces() {
    if (map_.im2col) {
      walk_pixels();
    } else {
      walk_rows();
    }
    return std::move(pieces_);
  }

 private:
  // Of the elements with these coordinates but the first: where those with 0 begin; 0: outside.
  uint64_t row_at(const std::array<int64_t, 5>& x) const {
    uint64_t global = map_.address;
    for (size_t d = 1; d <= last_; ++d) {
      if (x[d] < 0 || x[d] > int64_t{map_.extent[d]}) return 0;
      global += static_cast<uint64_t>(x[d]) * map_.stride[d];
    }
    return global;
  }

  void walk_rows() {
    std::array<uint32_t, 5> at{};
    const uint32_t rows = map_.rows();
    for (uint32_t row = 0; row < rows; ++row) {
      std::array<int64_t, 5> x{};
      for (size_t d = 1; d <= last_; ++d) {
        x[d] = int64_t{place_.at[d]} + int64_t{at[d]} * map_.steps[d];
      }
      append_row(row_at(x), row * map_.pitch());
      for (size_t d = 1; d <= last_ && ++at[d] == map_.taken(static_cast<int>(d)); ++d) at[d] = 0;
    }
  }

  // From pixel to pixel: along w to the end of the bounding box, then on in h, d and n.
  void walk_pixels() {
    std::array<int64_t, 5> at{};
    std::copy_n(place_.at.begin(), last_ + 1, at.begin());
    for (uint32_t pixel = 0; pixel < map_.pixels; ++pixel) {
      std::array<int64_t, 5> x = at;
      for (size_t d = 1; d < last_; ++d) x[d] += place_.offset[d - 1];
      append_row(row_at(x), pixel * map_.pitch());
      size_t d = 1;
      for (; d < last_; ++d) {
        at[d] += map_.steps[d];
        if (at[d] <= int64_t{map_.extent[d]} + map_.upper[d - 1]) break;
        at[d] = map_.lower[d - 1];
      }
      if (d == last_) at[d] += map_.steps[d];
    }
  }

  // `global`: where the row begins, before coordinate 0; 0: outside of the tensor.
  void append_row(uint64_t global, uint32_t shared) {
    const int64_t n = map_.taken(0), x = place_.at[0];
    const int64_t first = std::clamp<int64_t>(-x, 0, n);
    const int64_t end = std::clamp<int64_t>(int64_t{map_.extent[0]} + 1 - x, first, n);
    const auto append = [&](int64_t from, int64_t to, bool is_there) {
      if (from >= to) return;
      const auto bytes = static_cast<uint32_t>((to - from) * map_.element_bytes);
      const auto offset = static_cast<uint32_t>(from * map_.element_bytes);
      const uint64_t address = global + static_cast<uint64_t>((x + from) * map_.element_bytes);
      pieces_.push_back({is_there ? address : 0, shared + offset, bytes});
    };
    if (global == 0) return append(0, n, false);
    append(0, first, false);
    append(first, end, true);
    append(end, n, false);
  }

  const TensorMap& map_;
  const TensorPlace& place_;
  const size_t last_;  // dimension
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
