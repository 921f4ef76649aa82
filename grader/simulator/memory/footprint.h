// The bytes of global memory that a launch or a copy reads and writes, exactly.
//
// Streamcheck compares footprints of work that nothing orders. They are collected only then: a
// launch that is ordered with all other work costs one test of a pointer per request.
#ifndef WARPLINGS_SIMULATOR_MEMORY_FOOTPRINT_H_
#define WARPLINGS_SIMULATOR_MEMORY_FOOTPRINT_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

namespace warplings::sim {

struct Request;

// A set of addresses: a bitmap per 64 KiB, nothing but a mark where all of it is in the set.
class ByteSet {
 public:
  ByteSet() = default;
  ByteSet(const ByteSet&) = delete;  // last_ points into pages_
  ByteSet& operator=(const ByteSet&) = delete;
  void add(uint64_t address, uint64_t size);
  void add(const ByteSet& other) {
    for (const auto& [page, theirs] : other.pages_) {
      Page& mine = pages_[page];
      if (mine.full) continue;
      if (theirs.full || mine.bits.empty()) {
        mine = theirs;
      } else {
        for (size_t i = 0; i < mine.bits.size(); ++i) mine.bits[i] |= theirs.bits[i];
      }
    }
  }
  bool empty() const { return pages_.empty(); }
  bool contains(uint64_t address) const;
  // The lowest address in both.
  std::optional<uint64_t> first_common(const ByteSet& other) const;
  // Calls visit(first address of a page) for every page with bytes of the set.
  template <class Visit>
  void for_each_page(Visit visit) const {
    for (const auto& [page, content] : pages_) visit(page * kPage);
  }

 private:
  static constexpr uint64_t kPage = 64 * 1024;  // bytes
  using Bits = std::vector<uint64_t>;           // empty: every byte
  struct Page {
    bool full = false;
    Bits bits;
  };
  static std::optional<uint64_t> first_common(const Page& a, const Page& b);
  void add_in_page(uint64_t page, uint64_t first, uint64_t count);

  std::unordered_map<uint64_t, Page> pages_;  // by address / kPage
  uint64_t last_page_ = ~uint64_t{0};         // where the last add() went
  Page* last_ = nullptr;
};

// A conflict of two footprints, or of one with the host.
struct Conflict {
  uint64_t address = 0;  // the lowest byte
  bool first_writes = false, second_writes = false;
};

class Footprint {
 public:
  // The one that the launch of this thread adds to; nullptr: nobody wants to know.
  static Footprint* recording() { return recording_; }
  static void record_into(Footprint* footprint) { recording_ = footprint; }

  void add(uint64_t address, uint64_t size, bool write) {
    (write ? writes_ : reads_).add(address, size);
  }
  // A request of a warp. Strong accesses (atomics, volatile, relaxed and stronger) are meant to
  // meet others of their kind.
  void add(const Request& request, bool strong);
  void add(const Footprint& other) {
    reads_.add(other.reads_);
    writes_.add(other.writes_);
    strong_reads_.add(other.strong_reads_);
    strong_writes_.add(other.strong_writes_);
  }

  // Bytes that both use, one of them writing, unless both accesses are strong.
  std::optional<Conflict> conflict_with(const Footprint& other) const;
  // The host reads or writes a byte: is it used here by plain accesses that forbid it?
  std::optional<Conflict> conflict_with_host(uint64_t address, bool write) const;

  const ByteSet& strong_writes() const { return strong_writes_; }

 private:
  inline static constinit thread_local Footprint* recording_ = nullptr;
  ByteSet reads_, writes_, strong_reads_, strong_writes_;
};

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_MEMORY_FOOTPRINT_H_
