#include "exec/async_copy.h"

#include <bit>
#include <cstring>

#include "exec/events.h"
#include "exec/warp.h"

namespace warplings::sim {
namespace {

void write_lane(Block& block, const AsyncCopy& copy, size_t lane) {
  std::memcpy(block.shared.data() + copy.to[lane], copy.value[lane].data(), copy.bytes);
  if (block.shared_undefined.empty()) return;
  for (uint32_t k = 0; k < copy.bytes; ++k) {
    block.shared_undefined[copy.to[lane] + k] = (copy.undefined[lane] >> k) & 1;
  }
}

}  // namespace

void AsyncCopies::reset() {
  in_flight_.clear();
  committed_.fill(0);
  issued_ = 0;
}

void AsyncCopies::issue(const AsyncCopy& copy) {
  const uint64_t sequence = ++issued_;
  for (uint32_t rest = copy.lanes; rest != 0;) {
    const uint32_t group = committed_[static_cast<size_t>(std::countr_zero(rest))];
    uint32_t same = 0;
    for (uint32_t bits = rest; bits != 0; bits &= bits - 1) {
      const int lane = std::countr_zero(bits);
      if (committed_[static_cast<size_t>(lane)] == group) same |= 1u << lane;
    }
    rest &= ~same;
    in_flight_.push_back(copy);
    in_flight_.back().sequence = sequence;
    in_flight_.back().group = group;
    in_flight_.back().lanes = same;
  }
}

void AsyncCopies::commit(uint32_t lanes) {
  for (uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    ++committed_[static_cast<size_t>(std::countr_zero(rest))];
  }
}

template <class Done>
void AsyncCopies::finish(Warp& warp, uint32_t moment, Done done) {
  Block& block = *warp.block;
  size_t kept = 0;
  for (size_t i = 0; i < in_flight_.size(); ++i) {
    AsyncCopy& copy = in_flight_[i];
    const uint32_t lanes = done(copy);
    for (uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
      write_lane(block, copy, static_cast<size_t>(std::countr_zero(rest)));
    }
    if (lanes != 0 && warp.checks) copies_landed(warp, copy, lanes, moment);
    copy.lanes &= ~lanes;
    if (copy.lanes == 0) continue;
    if (kept != i) in_flight_[kept] = copy;
    ++kept;
  }
  in_flight_.resize(kept);
}

void AsyncCopies::wait_group(Warp& warp, uint32_t lanes, uint32_t pending) {
  finish(warp, warp.checks ? moment_of(warp) : 0, [&](const AsyncCopy& copy) {
    uint32_t done = 0;
    for (uint32_t rest = copy.lanes & lanes; rest != 0; rest &= rest - 1) {
      const int lane = std::countr_zero(rest);
      const uint64_t committed = committed_[static_cast<size_t>(lane)];
      if (uint64_t{copy.group} + pending < committed) done |= 1u << lane;
    }
    return done;
  });
}

void AsyncCopies::wait_all(Warp& warp, uint32_t lanes) {
  finish(warp, warp.checks ? moment_of(warp) : 0,
         [&](const AsyncCopy& copy) { return copy.lanes & lanes; });
}

void AsyncCopies::finish_until(Warp& warp, uint32_t lanes, uint64_t sequence, uint32_t moment) {
  finish(warp, moment, [&](const AsyncCopy& copy) {
    return copy.sequence <= sequence ? copy.lanes & lanes : 0u;
  });
}

}  // namespace warplings::sim
