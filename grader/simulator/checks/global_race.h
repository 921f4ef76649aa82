// Racecheck for global memory: the accesses of one launch, by all its blocks. Launches order
// everything, so each begins with nothing.
//
// Memory is remembered in segments of 16 words. Where a warp reads or writes whole segments, thread
// after thread, one entry stands for all 16 words (`shift`: the words of a thread, as a power of
// two). Any other access makes the segment remember its words one by one. Words that two blocks
// have only read need no further look, as long as nothing but the end of the launch can order
// blocks.
#ifndef WARPLINGS_SIMULATOR_CHECKS_GLOBAL_RACE_H_
#define WARPLINGS_SIMULATOR_CHECKS_GLOBAL_RACE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "checks/race.h"
#include "memory/device_memory.h"

namespace warplings::sim {

struct Request;

class GlobalRace {
 public:
  using Access = RaceAccess;
  using Entry = RaceEntry;

  GlobalRace();
  ~GlobalRace();
  GlobalRace(const GlobalRace&) = delete;
  GlobalRace& operator=(const GlobalRace&) = delete;
  static GlobalRace& instance();  // of the current machine

  // `across`: fences or acquiring and releasing accesses may order blocks.
  void begin(InnerOrder inner_order, bool across);

  // True if these plain reads can find nothing: all words are known as read by two blocks.
  bool is_quiet(const Request& request) const;

  // The lanes of a request; `access` says what they have in common. True, and the
  // heaviest race found, if there is one.
  bool access(const Warp& warp, const Request& request, Access access, const StoredValues& stored,
              Race* race);

  // True, with a write of this launch and the first lane that now reads what it wrote, whatever
  // orders the two, and also where one thread did both; `read` says what the lanes have in common.
  bool written(const Warp& warp, const Request& request, Access read, Race* found) const;

 private:
  static constexpr uint64_t kPageBytes = 4096;
  static constexpr size_t kTableBytes = DeviceMemory::kSize / kPageBytes * sizeof(void*);
  static constexpr uint32_t kSegmentBytes = 64;
  static constexpr uint32_t kWords = 16;  // of a segment
  static constexpr uint32_t kSegments = 64;
  static constexpr size_t kMostListed = 16;         // accesses of a word beyond the usual three
  static constexpr size_t kLatestStrong = 0;        // place in the list of the latest strong one
  static constexpr size_t kMostDetail = 192 << 20;  // bytes of words that are remembered one by one
  static constexpr size_t kKeptPages = 16384;       // shadow pages that survive the launch

  struct Word : Entry {
    uint32_t list : 31 = 0;    // index in lists_; 0: none
    uint32_t awaited : 1 = 0;  // a strong read of it has decided a branch
  };
  struct Page {
    uint64_t launch = 0;  // that the rest belongs to
    std::array<Entry, kSegments> segment;
    std::array<Word*, kSegments> words;     // of segments that are remembered word by word
    std::array<uint16_t, kSegments> quiet;  // bit per word
    uint64_t written = 0;                   // bit per segment
  };
  // One request under way.
  struct Check;

  static uint64_t page_number(uint64_t address) {
    return DeviceMemory::offset_of(address) / kPageBytes;
  }
  Page& page_of(uint64_t address);
  Word* detail(Page& page, uint32_t segment);
  void forget_detail();

  void whole_segment(Check& check, uint64_t address, Access access);
  bool fits(const Check& check, const Access& earlier, const Access& later) const;
  void keep_read(Entry& entry, const Access& access, bool free0, bool free1) const;
  void one_word(Check& check, uint64_t address, const Access& access);
  void compare(Check& check, const Word& word, uint64_t address, const Access& access) const;
  bool updates(const Check& check, const Word& word, const Access& access) const;
  bool is_wait(const Check& check, const Access& access);
  bool observed(const Check& check, const Word& word, const Access& access) const;
  void remember(const Check& check, Word& word, const Access& access);
  void remember_in_list(const Check& check, Word& word, const Access& access);
  bool replaceable(const Check& check, const Access& old, const Access& access) const;
  bool is_read_only(const Entry& entry) const;
  bool has_written_segment(uint64_t low, uint64_t high) const;
  Access write_of(const Page& page, uint64_t address, uint8_t bytes) const;

  Page** pages_;                                                  // by page number; sparse
  std::vector<std::pair<uint64_t, std::unique_ptr<Page>>> used_;  // which of these, and the owner
  uint64_t launch_ = 0;
  RaceRules rules_;
  std::vector<std::unique_ptr<Word[]>> chunks_;
  size_t chunks_used_ = 0, words_used_ = 0;
  std::vector<std::vector<Access>> lists_;
  size_t lists_used_ = 1;
  std::unordered_map<uint32_t, bool> waits_;  // by the pc of a strong read
};

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_CHECKS_GLOBAL_RACE_H_
