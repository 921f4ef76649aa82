// What goes on in the background of a recorded block: copies under way, the phases of its mbarriers
// and who waits for which, products of its warpgroups. Times are steps (view_recorder.h).
//
// A copy takes no steps. It is under way from its issue until a warp that asked for its phase goes
// on, as late as is legal: that is when its bytes arrive here (exec/bulk_copy.h).
#ifndef WARPLINGS_SIMULATOR_PROFILE_VIEW_PIPELINE_H_
#define WARPLINGS_SIMULATOR_PROFILE_VIEW_PIPELINE_H_

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "exec/observer.h"

namespace warplings::sim {

// A time that has not come.
inline constexpr uint32_t kNever = ~0u;

struct Flight {
  enum class Kind : uint8_t { kIn, kOut, kProduct };
  Kind kind = Kind::kIn;
  uint16_t warp = 0;
  uint32_t start = 0, end = kNever;
  uint32_t pc = 0;
  uint32_t shared = 0, bytes = 0;  // of a copy
  uint32_t object = 0, phase = 0;  // kIn: the mbarrier that counts it
  uint32_t number = 0, group = 0;  // kProduct: the last of them, and what they have in common
  uint32_t count = 1;              // kProduct
};

struct PhaseSpan {
  uint32_t object = 0, number = 0;
  uint32_t start = 0, end = kNever;
};

struct PhaseWait {
  uint16_t warp = 0;
  uint32_t lanes = 0;
  uint32_t start = 0, end = kNever;
  uint32_t pc = 0;
  uint32_t object = 0, phase = 0;
};

class PipelineView {
 public:
  // `now`: the step of the warp. Returns the step at which lanes of it go on.
  uint32_t take(const Warp& warp, const PipelineEvent& event, uint32_t now);
  // Whether all these lanes stand in a loop that asks for a phase: what they execute there is no
  // work of theirs.
  bool spins(int warp, uint32_t lanes);
  // What was not seen to end, ended when the next phase began, or never.
  void finish();

  bool empty() const { return objects_.empty() && flights_.empty(); }
  bool is_cut() const { return is_cut_; }
  const std::vector<Flight>& flights() const { return flights_; }
  const std::vector<PhaseWait>& waits() const { return waits_; }
  std::vector<PhaseSpan> phases() const;

 private:
  struct Phase {
    uint32_t start = kNever, end = kNever;
    uint32_t latest = 0;  // arrival, or start of a copy
    bool has_copies = false;
  };
  struct Spin {
    size_t wait = 0;     // in waits_
    uint32_t asked = 0;  // instructions since it has asked
  };
  Phase& phase(uint32_t object, uint32_t number);
  void miss(const Warp& warp, const PipelineEvent& event, uint32_t now);
  uint32_t pass(const Warp& warp, const PipelineEvent& event, uint32_t now);
  void multiply(const Warp& warp, const PipelineEvent& event, uint32_t now);
  void add(const Flight& flight);

  std::map<uint32_t, std::map<uint32_t, Phase>> objects_;  // by offset, by number
  std::vector<Flight> flights_;
  std::vector<PhaseWait> waits_;
  std::map<int, std::vector<Spin>> spins_;  // by warp
  bool is_cut_ = false;
};

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_PROFILE_VIEW_PIPELINE_H_
