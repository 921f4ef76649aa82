// A sectored cache: lines of 128 bytes in four sectors of 32, 16 ways, least recently used.
#ifndef WARPLINGS_SIMULATOR_PROFILE_CACHE_H_
#define WARPLINGS_SIMULATOR_PROFILE_CACHE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace warplings::sim {

class SectorCache {
 public:
  // Holds nothing where `bytes` is less than a set.
  explicit SectorCache(size_t bytes) : sets_(bytes / (kWays * kLineBytes)) {
    ways_.resize(sets_ * kWays);
  }

  struct Result {
    bool hit = false;
    bool turned_dirty = false;  // a write to a sector that was clean or absent
  };

  // `sector`: address / 32. A read that misses brings its sector in; a write makes it dirty where
  // `allocate_on_write` is set, else it changes what is there and leaves the rest alone.
  Result access(uint64_t sector, bool write, bool allocate_on_write) {
    if (sets_ == 0) return {false, write};
    const uint64_t line = sector >> 2;
    const uint8_t bit = static_cast<uint8_t>(1u << (sector & 3));
    Way* const set = &ways_[set_of(line) * kWays];
    Way* oldest = set;
    for (size_t i = 0; i < kWays; ++i) {
      Way& way = set[i];
      if (way.line == line && way.epoch == epoch_) {
        way.used = ++clock_;
        const bool hit = (way.valid & bit) != 0, clean = (way.dirty & bit) == 0;
        if (!write || allocate_on_write) way.valid |= bit;
        if (write && allocate_on_write) way.dirty |= bit;
        return {hit, write && clean};
      }
      if (age(way) < age(*oldest)) oldest = &way;
    }
    if (write && !allocate_on_write) return {false, true};
    *oldest = {line, ++clock_, epoch_, bit, write ? bit : uint8_t{0}};
    return {false, write};
  }

  void clear() { ++epoch_; }

 private:
  static constexpr size_t kWays = 16, kLineBytes = 128;
  struct Way {
    uint64_t line = 0;
    uint64_t used = 0;
    uint32_t epoch = 0;  // empty unless that of the cache
    uint8_t valid = 0, dirty = 0;
  };
  uint64_t age(const Way& way) const { return way.epoch == epoch_ ? way.used : 0; }
  // Hashed, as in hardware, so that powers of two do not all meet in one set.
  size_t set_of(uint64_t line) const {
    return static_cast<size_t>((line * 0x9e3779b97f4a7c15ull >> 20) % sets_);
  }

  size_t sets_;
  std::vector<Way> ways_;
  uint64_t clock_ = 0;
  uint32_t epoch_ = 1;
};

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_PROFILE_CACHE_H_
