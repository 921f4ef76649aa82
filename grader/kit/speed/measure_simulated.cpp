// In the simulator the work runs with all checks on: what a timed call gets wrong must be found
// without a GPU as well. Twice, with new contents at the same addresses, so that an answer that was
// remembered is a wrong one. The modelled cost on a slice of the card stands for the clock.
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
    wsim_model_start(m_.slice);
    const uint64_t mark = wsim_model_mark();
    const bool right = call("the timed call", ~seed());
    Contender yours{"yours", m_.launch, 1, {wsim_modelled_seconds(mark)}};
    result_.contenders.push_back(std::move(yours));
    if (right) add_baselines();
    wsim_model_stop();
    return std::move(result_);
  }

 private:
  bool call(const char* what, uint64_t key) {
    m_.prepare(0, key);
    cudaDeviceSynchronize();
    const Run timed = kit::run(what, m_.launch, m_.site);
    if (!timed.ok()) return false;  // reported by run()
    if (timed.launches().empty()) {
      result_.problem = "No kernel was launched.";
    } else {
      result_.problem = m_.check_results(key);
    }
    return result_.problem.empty();
  }

  void add_baselines() {
    for (const Bar* bar : m_.counted_bars()) {
      const Baseline& baseline = bar->baseline;
      if (baseline.kind == Baseline::Kind::kStage) {
        result_.contenders.push_back(
            {baseline.name, baseline.launch, 1, {stage_seconds(baseline)}});
      } else {
        result_.contenders.push_back(ceiling(baseline));
      }
    }
  }

  // The stage is ours: what it computes is checked by the tests of its own exercise.
  double stage_seconds(const Baseline& stage) {
    m_.prepare(0, seed());
    cudaDeviceSynchronize();
    const uint64_t mark = wsim_model_mark();
    stage.launch();
    cudaDeviceSynchronize();
    return wsim_modelled_seconds(mark);
  }

  // One second at the limit of the slice.
  static Contender ceiling(const Baseline& baseline) {
    double bytes = 0, flops = 0;
    wsim_model_rates(&bytes, &flops);
    const bool computes = baseline.kind == Baseline::Kind::kFmaRate;
    return {baseline.name, nullptr, computes ? flops : bytes, {1.0}};
  }

  Measurement& m_;
  Timings result_;
};

}  // namespace

Timings measure(Measurement& measurement) { return SimulatedMeasurement(measurement).run(); }

}  // namespace kit::internal
