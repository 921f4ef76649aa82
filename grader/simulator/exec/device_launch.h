// Dynamic parallelism: grids that a kernel launches.
//
// They run when all blocks of the kernel have ended, before its launch counts as complete: as late
// as is legal, because nothing in a kernel can wait for them. Those of one stream of one block run
// in order; where nothing orders two, the one launched last runs first. Tail launches come after
// all others.
#ifndef WARPLINGS_SIMULATOR_EXEC_DEVICE_LAUNCH_H_
#define WARPLINGS_SIMULATOR_EXEC_DEVICE_LAUNCH_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "exec/launch.h"

namespace warplings::sim {

class Warp;
struct CallSite;

class DeviceLaunches {
 public:
  explicit DeviceLaunches(const LaunchConfig& parent) : parent_(parent) {}
  ~DeviceLaunches();
  DeviceLaunches(const DeviceLaunches&) = delete;
  DeviceLaunches& operator=(const DeviceLaunches&) = delete;

  // What the calls of the device runtime do, for one lane; the results are its error codes.
  uint64_t parameter_buffer(const Kernel* kernel, const LaunchConfig& config);
  int launch(uint64_t buffer, uint64_t stream, uint64_t block);
  int copy(uint64_t to, uint64_t from, uint64_t bytes, uint64_t stream, uint64_t block);
  int fill(uint64_t to, int value, uint64_t bytes, uint64_t stream, uint64_t block);
  uint64_t create_handle() { return next_handle_++; }  // of a stream or an event
  void record(uint64_t event, uint64_t stream, uint64_t block);
  void wait(uint64_t stream, uint64_t event, uint64_t block);
  int fail(uint64_t thread, int error);  // remembers it for the thread
  int last_error(uint64_t thread, bool clear);

  bool empty() const { return work_.empty(); }
  // Runs all of it, with all that it launches itself.
  LaunchStatus run();

 private:
  struct Work {
    const Kernel* kernel = nullptr;  // nullptr: a copy or a fill
    LaunchConfig config;
    std::vector<uint8_t> parameters;
    uint64_t to = 0, from = 0, bytes = 0;
    int value = -1;  // of a fill; -1: a copy
    bool is_tail = false;
    std::vector<size_t> after;  // indices of work
  };
  struct Buffer {
    const Kernel* kernel = nullptr;
    LaunchConfig config;
  };
  using StreamKey = std::pair<uint64_t, uint64_t>;  // block, stream

  int add(Work work, uint64_t stream, uint64_t block);
  std::vector<size_t> order() const;
  static LaunchStatus run_one(const Work& work);

  const LaunchConfig& parent_;
  std::vector<Work> work_;
  std::map<StreamKey, std::vector<size_t>> ends_;  // what the next work of the stream waits for
  std::map<uint64_t, std::vector<size_t>> events_;
  std::map<uint64_t, int> errors_;      // by thread
  std::map<uint64_t, Buffer> buffers_;  // by address
  std::vector<uint64_t> slabs_;         // allocations that hold parameter buffers
  uint64_t slab_next_ = 0, slab_end_ = 0;
  uint64_t next_handle_ = 0x1000;  // small values mean the streams that need no creation
};

// Index of a function of the device runtime, which compiled code calls by names of its own; -1 for
// any other name.
int device_runtime_index(const std::string& name);
void call_device_runtime(Warp& warp, const CallSite& site, int index, uint32_t mask);

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_EXEC_DEVICE_LAUNCH_H_
