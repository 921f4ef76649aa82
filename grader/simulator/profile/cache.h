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
    bool completed = false;     // a read of a sector of which parts were written
  };

  // `sector`: address / 32. A read that misses brings its sector in; a write makes it dirty where
  // `allocate_on_write` is set, else it changes what is there and leaves the rest alone.
  Result access(uint64_t sector, bool write, bool allocate_on_write) {
    if (sets_ == 0) return {false, write};
    const uint8_t bit = static_cast<uint8_t>(1u << (sector & 3));
    bool found = false;
    Way& way = find(sector >> 2, found);
    if (found) {
      way.used = ++clock_;
      const bool hit = (way.valid & bit) != 0, clean = (way.dirty & bit) == 0;
      if (!write || allocate_on_write) way.valid |= bit;
      if (write && allocate_on_write) way.dirty |= bit;
      return {hit, write && clean, !hit && !clean};
    }
    if (write && !allocate_on_write) return {false, true, false};
    way = {sector >> 2, ++clock_, epoch_, bit, write ? bit : uint8_t{0}, 0};
    return {false, write, false};
  }

  struct Store {
    bool hit = false;           // the sector was there, or what was written of it before
    bool turned_dirty = false;  // it was clean or absent
    // Parts of the sector are new and the rest is not here: the rest must be read some time.
    bool turned_partial = false;
    bool completed = false;  // it was so, and now all of it is written
  };
  // A write of some of the eight words of a sector, bit i for word i.
  Store store(uint64_t sector, uint8_t words) {
    if (sets_ == 0) return {false, true, words != kWhole, false};
    const uint8_t bit = static_cast<uint8_t>(1u << (sector & 3));
    const int shift = static_cast<int>(sector & 3) * 8;
    bool found = false;
    Way& way = find(sector >> 2, found);
    if (!found) {
      way = {sector >> 2, ++clock_,
             epoch_,      words == kWhole ? bit : uint8_t{0},
             bit,         static_cast<uint32_t>(words) << shift};
      return {false, true, words != kWhole, false};
    }
    way.used = ++clock_;
    const bool valid = (way.valid & bit) != 0, dirty = (way.dirty & bit) != 0;
    way.dirty |= bit;
    if (valid) return {true, !dirty, false, false};
    if (!dirty) way.written &= ~(uint32_t{kWhole} << shift);
    way.written |= static_cast<uint32_t>(words) << shift;
    const bool whole = (way.written >> shift & kWhole) == kWhole;
    if (whole) way.valid |= bit;
    return {dirty, !dirty, !whole && !dirty, whole && dirty};
  }

  void clear() { ++epoch_; }

 private:
  static constexpr size_t kWays = 16, kLineBytes = 128;
  static constexpr uint8_t kWhole = 0xff;
  struct Way {
    uint64_t line = 0;
    uint64_t used = 0;
    uint32_t epoch = 0;  // empty unless that of the cache
    uint8_t valid = 0, dirty = 0;
    uint32_t written = 0;  // words of sectors that are dirty and not valid, eight for each
  };
  // The way that holds the line, else the one that a new line takes.
  Way& find(uint64_t line, bool& found) {
    Way* const set = &ways_[set_of(line) * kWays];
    Way* oldest = set;
    for (size_t i = 0; i < kWays; ++i) {
      if (set[i].line == line && set[i].epoch == epoch_) {
        found = true;
        return set[i];
      }
      if (age(set[i]) < age(*oldest)) oldest = &set[i];
    }
    return *oldest;
  }
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
