#include "exec/mbarrier.h"

#include <algorithm>
#include <cstring>

#include "exec/events.h"
#include "exec/interpreter.h"

namespace warplings::sim {

MBarrier* MBarriers::find(uint32_t offset) {
  const auto it = objects_.find(offset);
  return it == objects_.end() ? nullptr : &it->second;
}

MBarrier& MBarriers::initialise(uint32_t offset, uint32_t expected) {
  MBarrier& barrier = objects_[offset] = MBarrier{};
  barrier.expected = barrier.pending = expected;
  barrier.number = made_++;
  return barrier;
}

namespace {

// The copies arrive as late as is legal: when nothing else is missing.
void finish_copies(Block& block, MBarrier& barrier) {
  for (const MBarrier::AfterCopies& arrival : barrier.after_copies) {
    Warp& warp = block.warps[arrival.warp];
    warp.async_copies.finish_until(warp, 1u << arrival.lane, arrival.sequence, arrival.moment);
  }
  barrier.pending -= static_cast<uint32_t>(barrier.after_copies.size());
  barrier.after_copies.clear();
}

void put_image(Block& block, uint32_t offset, const MBarrier& barrier) {
  note_change(block.warps[0]);
  const uint64_t image = barrier.image();
  std::memcpy(block.shared.data() + offset, &image, sizeof image);
  if (!block.shared_undefined.empty()) {
    std::fill_n(block.shared_undefined.begin() + offset, sizeof image, uint8_t{0});
  }
}

}  // namespace

void settle(Block& block, uint32_t offset, MBarrier& barrier) {
  if (barrier.incoming.empty() && barrier.can_end()) {
    finish_copies(block, barrier);
    ++barrier.phase;
    barrier.pending = barrier.expected;
    if (block.watch != nullptr) object_phase_ends(block, offset);
  }
  put_image(block, offset, barrier);
}

void end_phase(Block& block, uint32_t offset, MBarrier& barrier) {
  if (barrier.incoming.empty() || !barrier.can_end()) return;
  for (const BulkArrival& arrival : barrier.incoming) {
    land(block, arrival);
    if (block.warps[0].checks) bulk_landed(block, offset, barrier.number, arrival);
  }
  barrier.transactions = 0;
  barrier.incoming.clear();
  settle(block, offset, barrier);
}

}  // namespace warplings::sim
