// cp.async of a warp: what has been issued and not been waited for. The bytes leave global memory
// when the copy is issued and reach shared memory as late as is legal, so that a missing wait shows
// as stale data, every time.
#ifndef WARPLINGS_SIMULATOR_EXEC_ASYNC_COPY_H_
#define WARPLINGS_SIMULATOR_EXEC_ASYNC_COPY_H_

#include <array>
#include <cstdint>
#include <vector>

namespace warplings::sim {

class Warp;

// One instruction, for lanes that stand in the same group of copies.
struct AsyncCopy {
  uint64_t sequence = 0;        // of the instruction, counted per warp
  uint32_t group = 0;           // how many groups the lanes had committed before
  uint32_t lanes = 0;           // whose bytes are still under way
  uint32_t bytes = 0;           // per lane: 4, 8 or 16
  std::array<uint64_t, 32> to;  // offset in shared memory
  std::array<std::array<uint8_t, 16>, 32> value;
  std::array<uint16_t, 32> undefined;  // bit i: byte i was never written in global memory
};

class AsyncCopies {
 public:
  void reset();
  // Splits the copy by the groups that its lanes have open.
  void issue(const AsyncCopy& copy);
  void commit(uint32_t lanes);
  // Finishes what a wait names: all but the latest `pending` committed groups of each lane, or
  // everything.
  void wait_group(Warp& warp, uint32_t lanes, uint32_t pending);
  void wait_all(Warp& warp, uint32_t lanes);
  // Finishes what the lanes had issued up to `sequence`; for the checks it happened at `moment`.
  void finish_until(Warp& warp, uint32_t lanes, uint64_t sequence, uint32_t moment);
  uint64_t issued() const { return issued_; }

 private:
  // Writes the lanes that `done(copy)` returns of each copy, oldest first.
  template <class Done>
  void finish(Warp& warp, uint32_t moment, Done done);

  std::vector<AsyncCopy> in_flight_;      // in the order of issue
  std::array<uint32_t, 32> committed_{};  // groups that each lane has committed
  uint64_t issued_ = 0;
};

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_EXEC_ASYNC_COPY_H_
