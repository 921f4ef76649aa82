// What a piece of work is, for those who look at it from outside: streamcheck and the timeline.
#ifndef WARPLINGS_SIMULATOR_CORE_WORK_H_
#define WARPLINGS_SIMULATOR_CORE_WORK_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/memory_range.h"
#include "core/position.h"

namespace warplings::sim {

enum class WorkKind : uint8_t {
  kOther,  // touches no memory that anybody checks
  kKernel,
  kLibrary,  // a call of cuBLAS and its like
  kCopy,
  kFill,
  kHostFunction,
  kAllocate,
  kFree,
  kGraph,
  kCaller,  // of whoever calls the function under test; does nothing
};

// The way that a copy takes.
enum class CopyPath : uint8_t { kToDevice, kToHost, kOnDevice, kPeer, kOnHost };

struct Work {
  WorkKind kind = WorkKind::kOther;
  std::string name;  // the kernel, demangled, or the function that was called
  Position where;    // the line of the program
  // Bytes that it reads and writes, where they are known before it runs.
  std::vector<MemoryRange> ranges;
  // Memory that the host sees too and that a kernel was given a pointer to.
  std::vector<MemoryRange> host_visible;
  // A blocking copy from pageable memory: the call returns when the bytes are staged.
  bool staged = false;
  bool blocking = false;  // the call that enqueues it waits for it
  // A kernel that may begin before the kernel before it in its stream has ended.
  bool programmatic = false;
  // Copies and fills; of a library's call, what it sends to other devices.
  uint64_t bytes = 0;
  CopyPath path = CopyPath::kOnDevice;
  bool pageable = false;  // one side is ordinary host memory
};

// What they need to know of a stream.
struct StreamTraits {
  uint64_t id = 0;
  int device = 0;
  bool is_default = false;   // the legacy default stream of its device
  bool is_blocking = false;  // ordered with it
  std::string name;          // "stream 2"
};

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_CORE_WORK_H_
