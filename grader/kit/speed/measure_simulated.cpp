// In the simulator the work runs with all checks on: what a timed call gets wrong must be found
// without a GPU as well. Twice, with new contents at the same addresses, so that an answer that was
// remembered is a wrong one. The modelled cost on a slice of the card stands for the clock; where
// the whole call is timed, the modelled timeline of the whole card does.
#include <cuda_runtime_api.h>

#include "kit/context.h"
#include "kit/speed/measurement.h"

namespace kit::internal {
namespace {

class SimulatedMeasurement {
 public:
  explicit SimulatedMeasurement(Measurement& m) : m_(m) {}

  Timings run() {
    result_.device = std::string("modelled (") + wsim_model_name() + ")";
    result_.problem = m_.allocate(1);
    if (!result_.problem.empty() || !call("the call", seed())) return std::move(result_);
    wsim_model_start(m_.whole_call ? 1 : m_.slice);
    const bool right = call("the timed call", ~seed());
    result_.contenders.push_back({"yours", m_.launch, 1, {seconds_}});
    if (right) add_baselines();
    wsim_model_stop();
    return std::move(result_);
  }

 private:
  bool call(const char* what, uint64_t key) {
    m_.prepare(0, key);
    synchronize_devices();
    const std::function<void()> whole = [this] { time_whole(m_.launch); };
    const uint64_t mark = wsim_model_mark();
    const Run timed = kit::run(what, m_.whole_call ? whole : m_.launch, m_.site);
    if (!timed.ok()) return false;  // reported by run()
    if (!m_.whole_call) seconds_ = wsim_modelled_seconds(mark);
    if (timed.launches().empty() && !m_.whole_call) {
      result_.problem = "No kernel was launched.";
    } else {
      result_.problem = m_.check_results(key);
    }
    return result_.problem.empty();
  }

  // The length of the whole call on the timeline goes to seconds_. What the kit does afterwards
  // must not count, so this waits as well.
  void time_whole(const std::function<void()>& work) {
    const double begin = wsim_timeline_now();
    work();
    if (cudaPeekAtLastError() == cudaSuccess) synchronize_devices();
    seconds_ = wsim_timeline_now() - begin;
  }

  void add_baselines() {
    for (const Bar* bar : m_.counted_bars()) {
      const Baseline& baseline = bar->baseline;
      if (baseline.kind == Baseline::Kind::kStage || baseline.kind == Baseline::Kind::kLimit) {
        result_.contenders.push_back(
            {baseline.name, baseline.launch, 1, {stage_seconds(baseline)}});
      } else {
        result_.contenders.push_back(ceiling(baseline));
      }
    }
  }

  // The stage is ours: what it computes is checked by the tests of its own exercise.
  double stage_seconds(const Baseline& stage) {
    report_at_work("measuring " + stage.name);
    m_.prepare(0, seed());
    synchronize_devices();
    if (m_.whole_call) {
      time_whole(stage.launch);  // the first launch of a kernel loads its code
      time_whole(stage.launch);
      return seconds_;
    }
    const uint64_t mark = wsim_model_mark();
    stage.launch();
    synchronize_devices();
    return wsim_modelled_seconds(mark);
  }

  // One second at the limit of the slice.
  static Contender ceiling(const Baseline& baseline) {
    double copied = 0, read = 0, flops = 0;
    wsim_model_rates(&copied, &read, &flops);
    const bool reads = baseline.kind == Baseline::Kind::kReadRate;
    const bool computes = baseline.kind == Baseline::Kind::kFmaRate;
    return {baseline.name, nullptr, computes ? flops : reads ? read : copied, {1.0}};
  }

  Measurement& m_;
  Timings result_;
  double seconds_ = 0;  // of the latest time()
};

}  // namespace

Timings measure(Measurement& measurement) { return SimulatedMeasurement(measurement).run(); }

}  // namespace kit::internal
