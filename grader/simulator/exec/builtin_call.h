// Arguments and results of a call to a built-in function, lane by lane.
#ifndef WARPLINGS_SIMULATOR_EXEC_BUILTIN_CALL_H_
#define WARPLINGS_SIMULATOR_EXEC_BUILTIN_CALL_H_

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "exec/warp.h"

namespace warplings::sim {

// The whole argument, which may be a structure; what it does not fill stays as it was.
template <class T>
T argument_as(const Warp& warp, const CallSite& site, size_t index, int lane) {
  T value{};
  if (index >= site.arguments.size()) return value;
  const Frame& frame = warp.frames[static_cast<size_t>(warp.current_frame)];
  const uint32_t size = site.argument_sizes[index];
  const size_t at = frame.registers + site.arguments[index] + static_cast<size_t>(lane) * size;
  std::memcpy(&value, warp.storage.data() + at, std::min<size_t>(sizeof value, size));
  return value;
}

inline uint64_t argument(const Warp& warp, const CallSite& site, size_t index, int lane) {
  return argument_as<uint64_t>(warp, site, index, lane);
}

inline void set_result(Warp& warp, const CallSite& site, int lane, uint64_t value) {
  if (site.results.empty()) return;
  const Frame& frame = warp.frames[static_cast<size_t>(warp.current_frame)];
  const uint32_t size = site.result_sizes[0];
  const size_t at = frame.registers + site.results[0] + static_cast<size_t>(lane) * size;
  std::memcpy(warp.storage.data() + at, &value, std::min<uint32_t>(8, size));
}

// Where the bytes behind a generic address of one lane lie; nullptr where nothing may be touched.
uint8_t* bytes_at(Warp& warp, int lane, uint64_t address, uint64_t size);
const uint8_t* bytes_at(const Warp& warp, int lane, uint64_t address, uint64_t size);
// A built-in function has written there.
void mark_written(Warp& warp, int lane, uint64_t address, uint64_t size);

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_EXEC_BUILTIN_CALL_H_
