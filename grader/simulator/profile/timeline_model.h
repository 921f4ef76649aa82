// Constants of the modelled timeline. Formulas and sources: TIMELINE.md. What can be measured on a
// GPU is measured by grader/tests/gpu/timeline_constants.cu.
#ifndef WARPLINGS_SIMULATOR_PROFILE_TIMELINE_MODEL_H_
#define WARPLINGS_SIMULATOR_PROFILE_TIMELINE_MODEL_H_

namespace warplings::sim {

// Times in seconds, rates in bytes per second.
struct TimelineModel {
  // ---- what calls cost the host
  double call;              // any call that only looks something up
  double launch;            // <<<...>>>
  double first_launch;      // more, of a kernel on a device: its code is loaded
  double copy_call;         // cudaMemcpyAsync, cudaMemsetAsync
  double event_call;        // cudaEventRecord, cudaStreamWaitEvent
  double graph_launch;      // cudaGraphLaunch, of any number of nodes
  double instantiate_node;  // cudaGraphInstantiate, for each node
  double allocate;          // cudaMalloc, cudaFree
  double allocate_host;     // cudaMallocHost, cudaFreeHost: pages are locked
  double create;            // a stream
  double wake;              // from the end of the work until a wait returns

  // ---- the device
  double kernel_least;    // a kernel that does nothing
  double launch_latency;  // from the call until an idle device starts
  double kernel_gap;      // between dependent kernels of a stream
  double graph_gap;       // between dependent nodes of a graph
  double stream_gap;      // more, where an event of another stream is waited for
  double host_function;   // waking the thread that runs it

  // ---- copies
  double copy_latency;             // of each, beside its bytes
  double pinned_rate;              // host link, one direction
  double pageable_rate_to_device;  // staged through pinned memory by the host
  double pageable_rate_to_host;
  double host_rate;  // between host memory
  double peer_rate;  // link between two devices, one direction
  double dram_rate;  // read and written bytes together
};

const TimelineModel& timeline_model();
const char* timeline_label();  // "modelled (H200)"

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_PROFILE_TIMELINE_MODEL_H_
