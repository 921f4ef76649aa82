// From ratios to a verdict. Everything that decides is here and needs no GPU, so that it can be
// tested.
#ifndef WARPLINGS_KIT_SPEED_JUDGE_H_
#define WARPLINGS_KIT_SPEED_JUDGE_H_

#include <string>
#include <vector>

#include "kit/speed/estimate.h"

namespace kit {

// Bars of one comparison: the least ratio for each level; 0 where a level is not asked.
struct Bars {
  double pass = 0, gold = 0, reference = 0;
  explicit Bars(double pass_, double gold_ = 0, double reference_ = 0)
      : pass(pass_), gold(gold_), reference(reference_) {}
  // The model is known to be wrong about the levels above: the simulator judges the pass only.
  Bars gold_on_gpu_only() const {
    Bars copy = *this;
    copy.gold_gpu_only = true;
    return copy;
  }
  bool gold_gpu_only = false;
  // The model is off by more than noise: in the simulator a ratio from the first on passes and one
  // below the second fails. Between the two it cannot tell, and the verdict is inconclusive: a GPU
  // decides. Both come from kernels that were modelled and timed.
  Bars modelled(double pass_in_simulator, double doubt) const {
    Bars copy = *this;
    copy.modelled_pass = pass_in_simulator;
    copy.modelled_doubt = doubt;
    return copy;
  }
  double modelled_pass = 0, modelled_doubt = 0;
  double doubt_from = 0;  // a ratio from here on that misses the pass is inconclusive; 0: none is
  // What counts in the simulator.
  Bars in_simulator() const {
    Bars copy = modelled_pass > 0 ? Bars(modelled_pass) : *this;
    if (gold_gpu_only) copy.gold = copy.reference = 0;
    copy.doubt_from = modelled_doubt;
    return copy;
  }
};

namespace internal {

enum class Level { kNone, kPass, kGold, kReference };
const char* name_of(Level level);  // "none", "pass", "gold", "reference"

enum class SpeedVerdict { kPass, kFail, kInconclusive, kImpossible };
const char* name_of(SpeedVerdict verdict);

// One thing that the graded code is compared with.
struct SpeedRatio {
  std::string name;
  bool is_share = false;  // of what the card can do, else a speed-up
  Estimate estimate;      // of the graded code: 2 means twice as fast as a stage
  Bars bars{0};
};

// A kernel is let pass that misses its bar by less than this: noise must not decide.
inline constexpr double kGuardBand = 0.03;
inline constexpr double kMostSpread = 0.15;  // of the paired ratios; above, the card was busy

Level level_of(const SpeedRatio& ratio);

struct Judgement {
  SpeedVerdict verdict = SpeedVerdict::kFail;
  Level level = Level::kNone;
  const SpeedRatio* by = nullptr;  // the one that gave the level, or came nearest to pass
  std::string reason;              // of an inconclusive one
};
// A level is reached as soon as one ratio reaches it. `busy`: the times show that something
// else used the card, so only a ratio far from its bar counts. Where no bar is reached, a ratio in
// the doubt of its bars is inconclusive, without a reason.
Judgement judge(const std::vector<SpeedRatio>& ratios, bool busy = false);

// True if the times of one piece of work jump about as they do on a card that others use.
bool looks_busy(const std::vector<double>& seconds);

// The least time in seconds in which the work can be done by this card's data sheet.
struct Limits {
  double bytes_per_second = 0, flops_per_second = 0;  // data sheet; 0: unknown
};
double least_seconds(const Limits& limits, double bytes, double flops);

}  // namespace internal
}  // namespace kit

#endif  // WARPLINGS_KIT_SPEED_JUDGE_H_
