// Watches a launch for the model: every request to global and local memory goes through a model of
// L1 and L2, and some blocks are recorded instruction by instruction for the model of a
// multiprocessor (sm_timeline.h).
//
// Blocks run one after the other here and together on a card. So their L1 misses are kept, and
// when as many blocks have run as the card holds at a time, L2 sees the misses of all of them in
// turns of 32 sectors.
#ifndef WARPLINGS_SIMULATOR_PROFILE_RECORDER_H_
#define WARPLINGS_SIMULATOR_PROFILE_RECORDER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "core/gpu_model.h"
#include "exec/observer.h"
#include "profile/cache.h"

namespace warplings::sim {

// One executed instruction of a recorded warp.
struct TraceEntry {
  uint32_t pc = 0;
  uint32_t first = 0;       // of its sectors in the stream of its block
  uint16_t sectors = 0;     // that L1 did not have, or that are written
  uint16_t wavefronts = 0;  // through the L1 data path
  uint16_t reads_from = 0;  // 0 nothing or shared memory, 1 L1, 2 L2, 3 DRAM
  uint16_t steps = 0;       // in BlockTrace::steps, from first_step on
  uint32_t first_step = 0;
};
using WarpTrace = std::vector<TraceEntry>;

// What an instruction does to a phase of an mbarrier, or has done in the background.
struct PhaseStep {
  enum class Kind : uint8_t { kArrives, kArrivesBehind, kBrings, kWaits, kTakes, kMultiplies };
  Kind kind = Kind::kArrives;
  uint32_t phase = 0;  // in BlockTrace::needed
  uint32_t bytes = 0;  // copied, or read from shared memory by wgmma
};
struct BlockTrace {
  std::vector<WarpTrace> warps;
  std::vector<PhaseStep> steps;
  std::vector<uint32_t> needed;  // arrivals and copies of each phase
};

struct CacheTotals {
  uint64_t l1_sectors = 0, l1_hits = 0;           // loads
  uint64_t l2_sectors = 0, l2_hits = 0;           // loads that missed L1, stores, atomics
  uint64_t l2_writes = 0, l2_partial_writes = 0;  // of these, of whole sectors and of parts
  uint64_t dram_sectors = 0;                      // read, and written back sooner or later
  uint64_t dram_writes = 0;                       // of these, written back
  uint64_t hottest_atomics = 0;                   // operations on the address that has most
};

// Bytes from the address of one active lane to that of the next.
struct LaneDistance {
  int64_t bytes = 0;              // of the first pair
  uint64_t pairs = 0, equal = 0;  // all, and those as far apart as the first
  // A block that is narrower than a warp has other distances at the ends of its rows.
  bool is_typical() const { return 4 * equal >= 3 * pairs; }
};

struct Recording {
  const Kernel* kernel = nullptr;
  std::vector<BlockTrace> blocks;
  uint64_t recorded = 0;  // instructions in `blocks`
  uint64_t longest = 0;   // instructions of the block that executed most, recorded or not
  CacheTotals cache;
  std::unordered_map<uint32_t, LaneDistance> distances;  // by pc
};

class Recorder : public LaunchObserver {
 public:
  static Recorder& instance();

  // The card is divided by `slice`: multiprocessors, L2, bandwidths. 0: so that the blocks of each
  // launch fill four waves, or the whole card.
  void start(double slice);
  void stop();
  // On for the whole program, with this slice wherever start() does not say another.
  void stay_on(double slice);
  bool is_on() const { return on_; }
  // Another one that watches the same launches: told all that happens to blocks and requests, and
  // each instruction of the warps whose watch_instructions it sets to itself.
  void watch_with(LaunchObserver* other) { beside_ = other; }
  // Multiprocessors of the slice, at least one.
  int multiprocessors() const { return multiprocessors_; }

  uint64_t recordings() const { return recordings_; }  // finished so far
  const Recording& last() const { return recording_; }

  void launch_started(const Kernel& kernel, const LaunchConfig& config) override;
  void launch_ended() override;
  void block_started(Block& block) override;
  void block_ended(Block& block) override;
  void instruction(Warp& warp, const Instr& in, uint32_t active) override;
  void request(Warp& warp, const Request& request, Traffic traffic, uint32_t transactions) override;
  void pipeline(Warp& warp, const PipelineEvent& event) override;

 private:
  struct Stream {  // of one block
    int multiprocessor = 0;
    bool finished = false;
    bool alone = false;             // when it began, no other block was under way
    uint64_t number = 0;            // of the blocks, in the order in which they began
    uint64_t begun_at = 0;          // instructions of the launch by then
    std::vector<uint64_t> sectors;  // see kWrite in recorder.cpp
    int recorded = -1;              // index in Recording::blocks
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> phases;  // of an mbarrier, in `needed`
    struct Spin {
      size_t from = 0;  // the entry that asked first
      uint32_t lanes = 0, offset = 0;
    };
    std::map<int, std::vector<Spin>> spins;  // by warp
  };
  bool is_sampled(uint64_t linear) const;
  Stream& stream_of(const Warp& warp);
  void set_multiprocessors(double count);
  void note_distance(const Warp& warp, const Request& request);
  void drop_spins(Stream& stream, int warp, const PipelineEvent& event);
  void add_step(Stream& stream, TraceEntry& entry, const PipelineEvent& event);
  TraceEntry* entry_of(const Warp& warp, const Stream& stream);
  void load_sector(Stream& stream, TraceEntry* entry, uint64_t sector, bool bypass);
  void store_sector(Stream& stream, TraceEntry* entry, uint64_t sector, uint8_t words, bool bypass);
  uint32_t request_local(const Warp& warp, Stream& stream, TraceEntry* entry,
                         const Request& request, Traffic traffic);
  void request_atomic(const Warp& warp, Stream& stream, TraceEntry* entry, const Request& request,
                      uint32_t transactions);
  void keep(Stream& stream, TraceEntry* entry, uint64_t kept);
  void access_l2(uint64_t& kept);
  void run_l2();
  void resolve(const Stream& stream);

  bool on_ = false;
  double slice_ = 1;
  bool chooses_slice_ = false;
  bool stays_on_ = false;
  double usual_slice_ = 0;
  int multiprocessors_ = 1;
  LaunchObserver* beside_ = nullptr;
  uint64_t recordings_ = 0;
  Recording recording_;
  uint64_t blocks_ = 0, wave_ = 1;
  std::map<uint64_t, Stream> streams_;  // of the wave, by block
  Stream* last_ = nullptr;              // in streams_, that of last_block_
  uint64_t last_block_ = 0;
  size_t kept_ = 0;              // sectors in streams_
  uint64_t begun_ = 0;           // blocks of this launch
  uint64_t finished_ = 0;        // blocks in streams_ that have ended
  uint64_t partial_ = 0;         // sectors in L2, or pushed out of it, whose rest was never here
  std::vector<SectorCache> l1_;  // by multiprocessor
  std::unique_ptr<SectorCache> l2_;
  size_t l2_bytes_ = 0;
  uint64_t local_span_ = 0;
  std::unordered_map<uint64_t, uint64_t> atomics_;  // by address
};

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_PROFILE_RECORDER_H_
