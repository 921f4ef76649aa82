#include "profile/timeline_model.h"

#include <algorithm>
#include <string>

#include "profile/device_model.h"

namespace warplings::sim {

const TimelineModel& timeline_model() {
  static const TimelineModel model = [] {
    TimelineModel m{};
    m.call = 0.1e-6;
    m.launch = 2.2e-6;
    m.first_launch = 40e-6;
    m.copy_call = 2.0e-6;
    m.event_call = 0.5e-6;
    m.graph_launch = 4.0e-6;
    m.graph_node_call = 0.02e-6;
    m.instantiate_node = 1.0e-6;
    m.allocate = 50e-6;
    m.allocate_host = 200e-6;
    m.create = 5e-6;
    m.wake = 3.0e-6;

    m.kernel_least = 1.2e-6;
    m.launch_latency = 2.5e-6;
    m.kernel_gap = 1.0e-6;
    m.graph_gap = 0.3e-6;
    m.stream_gap = 1.0e-6;
    m.host_function = 5.0e-6;

    m.copy_latency = 1.5e-6;
    m.pinned_rate = gpu_model().link_bytes_per_second;
    m.pageable_rate = std::min(12e9, m.pinned_rate / 2);
    m.host_rate = 20e9;
    m.peer_rate = 370e9;
    m.dram_rate = gpu_model().dram_bytes_per_second;
    return m;
  }();
  return model;
}

const char* timeline_label() {
  static const std::string label = std::string("modelled (") + gpu_model().name + ")";
  return label.c_str();
}

}  // namespace warplings::sim
