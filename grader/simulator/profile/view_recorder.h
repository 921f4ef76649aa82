// What `grade view` draws of a launch: for each load and store some of its executions with the
// addresses of all lanes, and one block instruction by instruction.
//
// It watches beside the model's recorder (Recorder::watch_with), so a launch that nobody looks at
// pays nothing, and one that is recorded anyway a few comparisons per request.
#ifndef WARPLINGS_SIMULATOR_PROFILE_VIEW_RECORDER_H_
#define WARPLINGS_SIMULATOR_PROFILE_VIEW_RECORDER_H_

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/finding.h"
#include "exec/observer.h"
#include "profile/view_pipeline.h"

namespace warplings::sim {

// One execution of a load, store or atomic by a warp.
struct AccessSample {
  uint64_t number = 0;  // of all executions of the instruction, from 0
  uint64_t block = 0;   // linear index
  int warp = 0;
  uint32_t mask = 0;
  uint32_t transactions = 0;  // sectors; in shared memory wavefronts
  std::array<uint64_t, 32> address{};
};

// An instruction that accesses memory.
struct AccessSite {
  uint32_t pc = 0;
  Traffic traffic = Traffic::kNone;
  uint32_t bytes = 0, element = 0;  // of a lane, of one of its elements
  uint64_t executions = 0;
  uint64_t stride = 1;                // of the spread: each stride-th execution is kept
  std::vector<AccessSample> samples;  // the first ones, one with most transactions, a spread
  uint32_t most = 0;                  // transactions so far
  bool has_partial = false;           // an execution of some lanes only is kept
};

// A stretch of consecutive instructions of one line by the same lanes of a warp, or a wait. Time
// counts instructions of the warp, one step each; at a barrier all warps of it are level again.
struct BlockStep {
  enum class Kind : uint8_t { kRuns, kWaits, kWaitsForever };
  Kind kind = Kind::kRuns;
  uint16_t warp = 0;
  uint32_t start = 0, length = 0;
  uint32_t pc = 0;  // the first instruction, or the barrier
  uint32_t lanes = 0;
};

// What a warp stored to shared memory, read back after it had happened.
struct SharedStore {
  uint32_t time = 0, pc = 0;
  uint16_t warp = 0;
  std::vector<std::pair<uint32_t, std::string>> values;  // byte offset, JSON
};

struct BlockView {
  Dim3 index;
  uint64_t linear = 0;
  bool is_wrong = false;  // a finding names it
  bool is_cut = false;    // it went on for longer than is kept
  std::vector<BlockStep> steps;
  std::vector<SharedStore> stores;
  PipelineView pipeline;
};

struct ViewArray {
  uint64_t id = 0;  // of the allocation
  std::string name, made_at;
  uint64_t address = 0, bytes = 0;  // without red zones
};

struct LaunchView {
  const Kernel* kernel = nullptr;
  LaunchConfig config;
  std::vector<uint8_t> params;
  uint32_t shared_bytes = 0;
  std::map<uint32_t, AccessSite> sites;  // by pc
  std::vector<ViewArray> arrays;
  BlockView block;
  bool has_block = false;
};

class ViewRecorder : public LaunchObserver {
 public:
  static ViewRecorder& instance();

  void start();  // from now on, until the machine ends
  bool is_on() const { return is_on_; }
  std::shared_ptr<const LaunchView> last() const { return last_; }  // nullptr: none, or not on
  // The first launch of each kernel in which something was found.
  const std::map<std::string, std::shared_ptr<const LaunchView>>& wrong() const { return wrong_; }
  const std::vector<Finding>& findings() const { return findings_; }
  uint64_t findings_left_out() const { return left_out_; }

  void launch_started(const Kernel& kernel, const LaunchConfig& config) override;
  void launch_ended() override;
  void block_started(Block& block) override;
  void block_ended(Block& block) override;
  void instruction(Warp& warp, const Instr& in, uint32_t active) override;
  void request(Warp& warp, const Request& request, Traffic traffic, uint32_t transactions) override;
  void pipeline(Warp& warp, const PipelineEvent& event) override;

 private:
  struct Wait {  // a group of lanes at a barrier
    uint16_t warp = 0;
    uint32_t lanes = 0, pc = 0, since = 0;
    int barrier = 0;
    bool is_over = false;
    uint32_t until = 0;
  };
  struct Watched {  // a block that is recorded
    BlockView view;
    std::vector<uint32_t> clocks;  // of its warps
    std::vector<Wait> waits;
    size_t stored = 0;  // elements in view.stores
    // A store that has not happened yet when it is noted.
    bool has_pending = false;
    SharedStore pending;
    std::vector<uint32_t> pending_offsets;
    uint32_t pending_element = 0;
  };
  void note_finding(const Finding& finding);
  void keep(const Warp& warp, const Request& request, uint32_t transactions, AccessSite& site);
  Watched* watched(const Block& block);
  void add_step(Watched& block, const BlockStep& step);
  void resume(Watched& block, int warp, uint32_t lanes);
  void arrive(Watched& block, Warp& warp, const Instr& in, uint32_t active);
  void note_store(const Warp& warp, const Request& request, uint32_t element);
  void end_waits(Watched& block);
  void finish_store(Watched& watched, const Block& block);
  void name_arrays();

  bool is_on_ = false, in_launch_ = false;
  std::shared_ptr<LaunchView> now_;
  std::shared_ptr<const LaunchView> last_;
  std::vector<AccessSite*> site_of_;  // by pc
  std::map<uint64_t, Watched> blocks_;
  bool is_wrong_ = false;  // the launch
  std::map<std::string, std::shared_ptr<const LaunchView>> wrong_;
  std::vector<Finding> findings_;
  uint64_t left_out_ = 0;
};

// As JSON, in the form that grader/view/data.js reads. `counters`: of the launch, one for each
// instruction; nullptr: not known.
std::string launch_view_json(const LaunchView& view, const std::vector<PcCounters>* counters);
std::string scene_json(const Scene& scene);
std::string dim_json(const Dim3& d);

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_PROFILE_VIEW_RECORDER_H_
