// Contents and definedness of all device memory at one moment.
#ifndef WARPLINGS_SIMULATOR_MEMORY_SNAPSHOT_H_
#define WARPLINGS_SIMULATOR_MEMORY_SNAPSHOT_H_

#include <string>
#include <vector>

#include "memory/device_memory.h"

namespace warplings::sim {

class MemorySnapshot {
 public:
  MemorySnapshot();
  // Puts everything back; allocations that have been made since stay as they are.
  void restore() const;
  // Is all of it as it was? The way to ask what a kernel has changed; for everything else that
  // changes memory there is DeviceMemory::version().
  bool is_current() const;

 private:
  struct Part {
    Allocation allocation;
    std::string bytes, undefined;
  };
  std::vector<Part> parts_;
};

// Live allocations and the variables of modules.
std::vector<Allocation> all_allocations();

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_MEMORY_SNAPSHOT_H_
