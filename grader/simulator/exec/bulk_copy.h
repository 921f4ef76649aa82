// Copies of the asynchronous proxy: cp.async.bulk, tensor copies, st.async and their reductions.
//
// What comes to shared memory leaves its source when it is issued and arrives as late as is legal:
// when somebody asks for the phase of the mbarrier that counts its bytes. What goes out of shared
// memory is read when its thread waits for that (wait_group.read) and written when it waits for the
// whole. So a missing wait shows as stale data, every time.
#ifndef WARPLINGS_SIMULATOR_EXEC_BULK_COPY_H_
#define WARPLINGS_SIMULATOR_EXEC_BULK_COPY_H_

#include <array>
#include <cstdint>
#include <vector>

#include "decode/bulk.h"

namespace warplings::sim {

class Block;
class Warp;

// Neighbouring bytes of both sides. Nothing is at `global` where a tensor ends: zeros or NaN.
struct BulkPiece {
  uint64_t global = 0;
  uint32_t shared = 0;  // offset
  uint32_t bytes = 0;
};

// Combines `bytes` of `with` into `into`.
void combine_bulk(BulkOp op, BulkType type, uint8_t* into, const uint8_t* with, uint32_t bytes);

// Who issued a copy, for reports.
struct BulkIssuer {
  uint32_t block = 0;  // linear
  uint32_t thread = 0;
  uint32_t pc = 0;
};

// Bytes on their way to the shared memory of a block, which one of its mbarriers counts.
struct BulkArrival {
  uint32_t bytes = 0;  // that the mbarrier is told
  BulkOp op = BulkOp::kCopy;
  BulkType type = BulkType::kU32;
  std::vector<BulkPiece> pieces;   // where they go
  std::vector<uint8_t> data;       // of all pieces
  std::vector<uint8_t> undefined;  // a byte each; empty: all are written
  BulkIssuer issuer;
};
// Writes them.
void land(Block& home, const BulkArrival& arrival);

// What goes from shared to global memory, for one lane.
struct BulkDeparture {
  int lane = 0;
  uint32_t group = 0;  // how many the lane had committed before
  bool was_read = false;
  BulkOp op = BulkOp::kCopy;
  BulkType type = BulkType::kU32;
  std::vector<BulkPiece> pieces;
  std::vector<uint8_t> data, undefined;  // once it was read
  uint32_t pc = 0;
};

class BulkGroups {
 public:
  void reset();
  void issue(int lane, BulkDeparture copy);
  void commit(uint32_t lanes);
  // All but the latest `pending` groups of each lane; `read`: they have left shared memory only.
  void wait(Warp& warp, uint32_t lanes, uint32_t pending, bool read);
  // The block ends.
  void finish(Warp& warp);

 private:
  std::vector<BulkDeparture> under_way_;  // in the order of issue
  std::array<uint32_t, 32> committed_{};
};

// The block has ended: what is under way arrives. Copies that nobody has seen leave shared memory
// are a finding.
void finish_bulk_copies(Block& block);

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_EXEC_BULK_COPY_H_
