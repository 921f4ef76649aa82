#include "profile/timeline_model.h"

#include <algorithm>
#include <map>
#include <string>

#include "core/gpu_model.h"
#include "core/machine.h"

namespace warplings::sim {

namespace {

TimelineModel timeline_of(const GpuModel& card) {
  TimelineModel m{};
  m.call = 0.022e-6;
  m.launch = 3.15e-6;
  m.first_launch = 12.24e-6 - m.launch;
  m.copy_call = 1.30e-6;
  m.event_call = 1.04e-6;
  m.graph_launch = 2.48e-6;
  m.instantiate_node = 3.56e-6;
  m.allocate = 37.2e-6;
  m.allocate_host = 200e-6;
  m.create = 1.86e-6;

  // Where a program sees only sums, the sum is what was measured.
  m.kernel_least = 0.40e-6;
  m.kernel_gap = 1.38e-6 - m.kernel_least;
  m.graph_gap = 0.50e-6 - m.kernel_least;
  m.stream_gap = 1.60e-6 - m.kernel_gap - m.kernel_least;
  m.launch_latency = 2.5e-6;
  m.wake = 8.32e-6 - m.launch - m.launch_latency - m.kernel_least;
  m.host_function = 5.0e-6;

  m.copy_latency = 3.36e-6 - m.kernel_gap;
  m.pinned_rate = card.link_bytes_per_second;
  m.pageable_rate_to_device = std::min(7.34e9, m.pinned_rate / 2);
  m.pageable_rate_to_host = std::min(13.4e9, m.pinned_rate / 2);
  m.host_rate = 7.61e9;
  m.peer_rate = 370e9;
  m.dram_rate = card.dram_bytes_per_second;
  return m;
}

}  // namespace

const TimelineModel& timeline_model() {
  struct Models {
    std::map<const GpuModel*, TimelineModel> all;
  };
  const GpuModel& card = gpu_model();
  const auto [entry, is_new] = Machine::get<Models>().all.try_emplace(&card);
  if (is_new) entry->second = timeline_of(card);
  return entry->second;
}

const char* timeline_label() {
  struct Labels {
    std::map<const GpuModel*, std::string> all;
  };
  std::string& label = Machine::get<Labels>().all[&gpu_model()];
  if (label.empty()) label = std::string("modelled (") + gpu_model().name + ")";
  return label.c_str();
}

}  // namespace warplings::sim
