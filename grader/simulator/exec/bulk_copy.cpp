#include "exec/bulk_copy.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "exec/events.h"
#include "exec/half.h"
#include "exec/interpreter.h"
#include "exec/observer.h"
#include "exec/reports.h"
#include "memory/device_memory.h"

namespace warplings::sim {
namespace {

template <class T>
T combined(BulkOp op, T old, T b) {
  using U = std::make_unsigned_t<T>;
  switch (op) {
    case BulkOp::kAdd:
      return static_cast<T>(U(old) + U(b));
    case BulkOp::kMin:
      return std::min(old, b);
    case BulkOp::kMax:
      return std::max(old, b);
    case BulkOp::kInc:
      return old >= b ? T{0} : static_cast<T>(old + 1);
    case BulkOp::kDec:
      return old == 0 || old > b ? b : static_cast<T>(old - 1);
    case BulkOp::kAnd:
      return old & b;
    case BulkOp::kOr:
      return old | b;
    case BulkOp::kXor:
      return old ^ b;
    case BulkOp::kCopy:
      break;
  }
  return b;
}

float combined(BulkOp, float old, float b) { return old + b; }
double combined(BulkOp, double old, double b) { return old + b; }

// Sums are rounded once. min and max return the other one of a NaN.
template <class H>
H combined_half(BulkOp op, H old, H b) {
  const double x = to_double(old), y = to_double(b);
  double result = sum_to_odd(x, y);
  if (op != BulkOp::kAdd) {
    if (std::isnan(x)) return b;
    if (std::isnan(y)) return old;
    return (op == BulkOp::kMin ? y < x : y > x) ? b : old;
  }
  if constexpr (std::is_same_v<H, Half>) {
    return half_from_double(result, Rounding::kNearest);
  } else {
    return bfloat16_from_double(result, Rounding::kNearest);
  }
}
Half combined(BulkOp op, Half old, Half b) { return combined_half(op, old, b); }
BFloat16 combined(BulkOp op, BFloat16 old, BFloat16 b) { return combined_half(op, old, b); }

template <class T>
void combine_all(BulkOp op, uint8_t* into, const uint8_t* with, uint32_t bytes) {
  for (uint32_t k = 0; k + sizeof(T) <= bytes; k += sizeof(T)) {
    T old, b;
    std::memcpy(&old, into + k, sizeof(T));
    std::memcpy(&b, with + k, sizeof(T));
    old = combined(op, old, b);
    std::memcpy(into + k, &old, sizeof(T));
  }
}

}  // namespace

void combine_bulk(BulkOp op, BulkType type, uint8_t* into, const uint8_t* with, uint32_t bytes) {
  if (op == BulkOp::kCopy) {
    std::memcpy(into, with, bytes);
    return;
  }
  switch (type) {
    case BulkType::kU32:
      return combine_all<uint32_t>(op, into, with, bytes);
    case BulkType::kS32:
      return combine_all<int32_t>(op, into, with, bytes);
    case BulkType::kU64:
      return combine_all<uint64_t>(op, into, with, bytes);
    case BulkType::kS64:
      return combine_all<int64_t>(op, into, with, bytes);
    case BulkType::kF16:
      return combine_all<Half>(op, into, with, bytes);
    case BulkType::kBF16:
      return combine_all<BFloat16>(op, into, with, bytes);
    case BulkType::kF32:
      return combine_all<float>(op, into, with, bytes);
    case BulkType::kF64:
      return combine_all<double>(op, into, with, bytes);
  }
}

void land(Block& home, const BulkArrival& arrival) {
  size_t at = 0;
  for (const BulkPiece& piece : arrival.pieces) {
    combine_bulk(arrival.op, arrival.type, home.shared.data() + piece.shared,
                 arrival.data.data() + at, piece.bytes);
    if (!home.shared_undefined.empty()) {
      uint8_t* shadow = home.shared_undefined.data() + piece.shared;
      if (arrival.undefined.empty()) {
        std::fill_n(shadow, piece.bytes, uint8_t{0});
      } else {
        std::copy_n(arrival.undefined.data() + at, piece.bytes, shadow);
      }
    }
    at += piece.bytes;
  }
}

namespace {

void read_source(Warp& warp, BulkDeparture& copy) {
  const Block& block = *warp.block;
  for (const BulkPiece& piece : copy.pieces) {
    const uint8_t* from = block.shared.data() + piece.shared;
    copy.data.insert(copy.data.end(), from, from + piece.bytes);
    if (block.shared_undefined.empty()) continue;
    const uint8_t* shadow = block.shared_undefined.data() + piece.shared;
    copy.undefined.insert(copy.undefined.end(), shadow, shadow + piece.bytes);
  }
  copy.was_read = true;
  if (warp.checks) bulk_was_read(warp, copy);
  tell(warp, {.kind = PipelineEvent::Kind::kWasTaken,
              .lanes = 1u << copy.lane,
              .shared = copy.pieces.empty() ? 0 : copy.pieces[0].shared});
}

void write_target(Warp& warp, const BulkDeparture& copy) {
  DeviceMemory& memory = DeviceMemory::instance();
  size_t at = 0;
  for (const BulkPiece& piece : copy.pieces) {
    if (piece.global != 0) {
      combine_bulk(copy.op, copy.type, memory.view(piece.global), copy.data.data() + at,
                   piece.bytes);
      for (uint32_t k = 0; k < piece.bytes && warp.checks; ++k) {
        const bool unwritten = !copy.undefined.empty() && copy.undefined[at + k] != 0;
        memory.set_undefined_bytes(piece.global + k, 1, unwritten ? 1 : 0);
      }
    }
    at += piece.bytes;
  }
  note_change(warp);
}

}  // namespace

void BulkGroups::reset() {
  under_way_.clear();
  committed_.fill(0);
}

void BulkGroups::issue(int lane, BulkDeparture copy) {
  copy.lane = lane;
  copy.group = committed_[static_cast<size_t>(lane)];
  under_way_.push_back(std::move(copy));
}

void BulkGroups::commit(uint32_t lanes) {
  for (uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    ++committed_[static_cast<size_t>(std::countr_zero(rest))];
  }
}

void BulkGroups::wait(Warp& warp, uint32_t lanes, uint32_t pending, bool read) {
  for (BulkDeparture& copy : under_way_) {
    if (((lanes >> copy.lane) & 1) == 0) continue;
    const uint64_t committed = committed_[static_cast<size_t>(copy.lane)];
    if (uint64_t{copy.group} + pending >= committed) continue;
    if (!copy.was_read) read_source(warp, copy);
    if (read) continue;
    write_target(warp, copy);
    copy.pieces.clear();
  }
  std::erase_if(under_way_, [](const BulkDeparture& copy) { return copy.pieces.empty(); });
}

void BulkGroups::finish(Warp& warp) {
  for (BulkDeparture& copy : under_way_) {
    if (!copy.was_read) {
      if (warp.checks) report_unread_bulk(warp, copy.lane, copy.pc);
      read_source(warp, copy);
    }
    write_target(warp, copy);
  }
  under_way_.clear();
}

void finish_bulk_copies(Block& block) {
  for (Warp& warp : block.warps) warp.bulk_groups.finish(warp);
}

}  // namespace warplings::sim
