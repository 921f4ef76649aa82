// Racecheck for the shared memory of a block: its words, and what goes on in the background.
//
// Order comes from barriers. A barrier of all live threads starts a new epoch: whatever lies in an
// earlier epoch (clocks up to BlockOrder::before) is ordered with everything now. Inside an epoch,
// barriers of some threads and bar.warp.sync order their participants: each warp counts its
// synchronisations (`now`), and
// `seen[v]` is the clock of warp v up to which everything of v happened before the warp's present.
// Within a warp `lane_seen` holds the same per pair of lanes, once a sync has named only some
// lanes. An mbarrier collects a SyncClock from those who arrive and hands it to those who wait:
// thread by thread, in these clocks where whole warps arrive and wait, else in checks/order.h.
//
// A cp.async is a write that lasts from its issue to the wait of the thread that issued it: while
// it is in flight every other access to its bytes races with it, whatever barriers lie between,
// also one by the issuing thread (checks/shared_race_async.cpp). A bulk copy does the same for its
// mbarrier: it is remembered as a write by a thread that does not exist, one for each mbarrier,
// whose clock a wait for the phase hands on. A bulk copy out of shared memory is a read that lasts.
#ifndef WARPLINGS_SIMULATOR_CHECKS_SHARED_RACE_H_
#define WARPLINGS_SIMULATOR_CHECKS_SHARED_RACE_H_

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "checks/race.h"

namespace warplings::sim {

struct WarpClock {
  uint32_t now = 1;
  uint32_t all_lanes_seen = 0;      // accesses of this warp with clock <= this are ordered
  std::vector<uint32_t> seen;       // per warp of the block
  std::vector<uint32_t> lane_seen;  // [to * 32 + from]; empty until a sync names only some lanes
  std::vector<LaneOrder> lanes;     // fences and flags; empty until there is one
  void start(size_t warps);
};

// What the threads that arrived at a synchronisation object had done by then.
struct SyncClock {
  std::vector<uint32_t> threads;  // per thread of the block: its clock; 0: nothing
  std::vector<uint32_t> warps;    // per warp: what the threads had seen of it
  ThreadOrder order;
  void merge(const SyncClock& other);
};

class SharedRace {
 public:
  using Access = RaceAccess;

  // `order`: of the block.
  void start(uint32_t shared_bytes, InnerOrder inner_order, const BlockOrder* order);
  bool enabled() const { return !words_.empty(); }

  // Accesses of the lanes in `mask`; `access` says what they have in common. addresses are offsets
  // in shared memory; `bytes` per lane, at most 16; `stored` of a store, else null. True, and the
  // heaviest race found, if there is one.
  bool access(const WarpClock& clock, uint32_t warp, uint32_t mask, const uint64_t* addresses,
              uint32_t bytes, Access access, const StoredValues* stored, Race* race);

  // Per word: equal to epoch() if plain reads can find nothing new there, because two threads have
  // read it in this epoch and none has written.
  const uint32_t* quiet_epochs() const { return quiet_.data(); }
  uint32_t epoch() const { return order_->before + 1; }

  void next_epoch();  // all live threads of the block have met
  // bar.warp.sync of the lanes in `mask`.
  static void join_lanes(WarpClock& clock, uint32_t mask);

  // Lanes that arrive: what they have done by now goes into `to`. The clock of the warp must go on
  // before they do anything else.
  void release(const WarpClock& clock, uint32_t warp, uint32_t lanes, SyncClock* to) const;
  // Lanes that have waited, of those that are `live`: what `from` holds happened before whatever
  // they do next.
  void acquire(WarpClock& clock, uint32_t warp, uint32_t lanes, uint32_t live,
               const SyncClock& from) const;

  // Strong accesses that change a synchronisation object: compared with what came before, and not
  // remembered, because what comes after them is ordered by the object.
  bool compare_strong(const WarpClock& clock, uint32_t warp, uint32_t mask, const uint64_t* offsets,
                      uint32_t bytes, uint32_t pc, Race* race) const;

  // The two ends of a cp.async of the lanes in `mask`: whole words at offsets[lane]. The first
  // returns true, and a race, where an access before it is not ordered.
  bool begin_async_write(const WarpClock& clock, uint32_t warp, uint32_t mask,
                         const uint64_t* offsets, uint32_t bytes, uint32_t pc, Race* race);
  // `finished`: the clock of the warp at which the write counts as done.
  void end_async_write(const WarpClock& clock, uint32_t warp, uint32_t mask,
                       const uint64_t* offsets, uint32_t bytes, uint32_t finished);

  // The reads of the `number`th wgmma of a warpgroup, by its first warp: units of 16 bytes. They
  // are compared with the writes before them that some of its four warps do not know of, and last
  // until one of the warps has waited: whatever is ordered after that wait is ordered after the
  // reads.
  bool begin_tensor_reads(const WarpClock* clocks, uint32_t first_warp, uint32_t number,
                          const uint32_t* units, size_t count, uint32_t pc, Race* race);
  void end_tensor_reads(const WarpClock& clock, uint32_t warp, uint32_t number);

  // The two ends of a bulk copy: words [first, first + words). `access` names thread and pc of the
  // issuer; its thread while it lasts is `holder`. begin returns true, and a race, where an access
  // before it is not ordered; `issuer` null: the caller has compared.
  bool begin_bulk(const WarpClock* issuer, Access access, uint32_t holder, uint32_t first,
                  uint32_t words, Race* race);
  void end_bulk_write(uint32_t holder, uint32_t clock, uint32_t first, uint32_t words);
  void end_bulk_read(const WarpClock& clock, uint32_t thread, uint32_t first, uint32_t words);

  // What is known of a word, whenever it was: for threads of other blocks.
  template <class Use>
  void visit(uint32_t index, Use use) const {
    const Word& word = words_[index];
    for (const Access* access : {&word.write, &word.read[0], &word.read[1]}) {
      if (access->exists()) use(*access);
    }
    if (words_in_flight_ != 0 && in_flight_[index].bytes != 0) use(in_flight_[index]);
    if (!word.overflow) return;
    for (const Listed& listed : overflow_.at(index)) {
      Access one = listed;
      for (uint32_t rest = listed.lanes; rest != 0; rest &= rest - 1) {
        one.thread = static_cast<uint16_t>(listed.thread / 32 * 32 + std::countr_zero(rest));
        use(one);
      }
    }
  }
  // A read of a word by tensor cores that `knows` says nothing of: it is asked with the lanes that
  // have waited for it, one after the other. True, and the read, if there is one; `awaited`:
  // whether any warp has waited.
  template <class Knows>
  bool find_tensor_read(uint32_t index, Knows knows, Access* read, bool* awaited) const;
  // The last plain write of a word.
  const Access& last_write(uint32_t index) const { return words_[index].write; }

 private:
  // The reads of one wgmma, and when each warp had waited for it.
  struct TensorReads {
    uint32_t pc = 0;
    std::array<uint32_t, 4> clocks{};  // 0: it has not
  };
  struct Warpgroup {
    std::vector<TensorReads> all;     // in the order of issue
    std::vector<uint32_t> last;       // per unit: how many there were after the last that read it
    std::array<uint32_t, 4> ended{};  // how many each warp has waited for
  };
  // A write and the last reads of each warpgroup.
  bool check_tensor_reads(const WarpClock& clock, uint32_t warp, const Access& access,
                          uint32_t index, Race* race) const;
  struct Word : RaceEntry {
    static constexpr uint8_t kMixed = 0xff;
    bool overflow = false;
    uint8_t strong_size = kMixed;  // of all accesses in the list, if all are strong
  };
  // The same access by several lanes of a warp at one time; `thread` is one of them.
  struct Listed : Access {
    uint32_t lanes = 0;
    explicit Listed(const Access& access) : Access(access), lanes(1u << access.thread % 32) {}
    // Takes in what another lane has done in the same moment.
    bool join(const Access& other);
  };
  Standing standing(const WarpClock& clock, uint32_t warp, uint32_t lane,
                    const Access& earlier) const;
  // Whether it lies in this epoch.
  bool is_current(const Access& access) const {
    return access.clock > order_->before || access.late;
  }
  bool check(const WarpClock& clock, uint32_t warp, const Access& access, uint32_t index,
             const StoredValues* stored, Race* race) const;
  bool take_alone(const Access& access, uint32_t index);
  bool read_together(const Access& access, uint32_t lanes, uint32_t index);
  void remember(const WarpClock& clock, uint32_t warp, const Access& access, uint32_t index);
  template <class Replaceable>
  void remember_in_list(const Listed& access, uint32_t index, Replaceable replaceable);

  std::vector<Word> words_;
  std::vector<uint32_t> quiet_;                                 // see quiet_epochs()
  std::unordered_map<uint32_t, std::vector<Listed>> overflow_;  // word -> further accesses
  RaceRules rules_;
  const BlockOrder* order_ = nullptr;
  std::vector<uint32_t> late_;     // words with a write that is RaceAccess::late
  std::vector<Access> in_flight_;  // per word; empty until the block issues its first cp.async
  uint32_t words_in_flight_ = 0;
  std::vector<Warpgroup> warpgroups_;  // empty until the block issues its first wgmma
};

template <class Knows>
bool SharedRace::find_tensor_read(uint32_t index, Knows knows, Access* read, bool* awaited) const {
  constexpr uint32_t kUnitWords = 4;
  for (uint32_t which = 0; which < warpgroups_.size(); ++which) {
    const Warpgroup& group = warpgroups_[which];
    if (group.last.empty() || group.last[index / kUnitWords] == 0) continue;
    const TensorReads& reads = group.all[group.last[index / kUnitWords] - 1];
    *read = Access();
    read->block = order_->block;
    read->pc = reads.pc;
    read->bytes = 0xf;
    read->tensor = true;
    bool ordered = false;
    *awaited = false;
    for (uint32_t member = 0; member < reads.clocks.size() && !ordered; ++member) {
      if (reads.clocks[member] == 0) continue;
      *awaited = true;
      read->clock = reads.clocks[member];
      // All lanes of a warp wait together, and one of them may tell.
      for (uint32_t lane = 0; lane < 32 && !ordered; ++lane) {
        const size_t warp = which * reads.clocks.size() + member;
        read->thread = static_cast<uint16_t>(warp * 32 + lane);
        ordered = knows(*read);
      }
    }
    if (ordered) continue;
    read->thread = static_cast<uint16_t>(which * reads.clocks.size() * 32);
    return true;
  }
  return false;
}

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_CHECKS_SHARED_RACE_H_
