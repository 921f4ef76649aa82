// Launches that may begin before the kernel before them has ended (programmatic dependent launch).
//
// Kernels of a stream run one after the other here, so the footprint of the kernels before is known
// when a thread of the next one touches memory. What it touches before its griddepcontrol.wait must
// not be what the other one writes, nor may it write what the other one uses: when that one lets it
// begin (griddepcontrol.launch_dependents) says nothing about its writes.
#include <bit>
#include <vector>

#include "checks/stream_order.h"
#include "checks/watch.h"
#include "checks/words.h"
#include "exec/events.h"
#include "exec/interpreter.h"
#include "exec/reports.h"

namespace warplings::sim {

namespace {

// A thread of the block has waited, and the lane knows of it: by a barrier or an mbarrier.
bool knows_of_wait(const Warp& warp, uint32_t lane) {
  const BlockWatch& watch = *warp.block->watch;
  for (const auto& [thread, clock] : watch.grid_waits) {
    if (standing_of(warp, lane, watch.order.block, thread, clock) == Standing::kOrdered)
      return true;
  }
  return false;
}

void report_early(const Warp& warp, int lane, const OrderEntry& before, const Conflict& conflict) {
  Finding finding = make(warp, "streamcheck", "early-dependent", warp.pc);
  finding.other = before.work->where;
  finding.message = "In " + kernel_name(warp) + ", " + thread_name(warp, lane) +
                    (conflict.second_writes ? " writes " : " reads ") + place_of(conflict.address) +
                    " " + at(warp, warp.pc) + " before it has waited for the kernel " +
                    readable(before.work->name) + ", which " +
                    (conflict.first_writes ? "writes" : "reads") +
                    " it: the launch allows the two to overlap (programmatic stream "
                    "serialization). Call cudaGridDependencySynchronize() (griddepcontrol.wait) "
                    "before the first access to what the other kernel uses. Its "
                    "cudaTriggerProgrammaticLaunchCompletion() does not say that its writes are "
                    "there.";
  FindingLog::instance().report(std::move(finding));
}

void touched_before(Warp& warp, const Instr& in, const Request& request, const OrderEntry& before) {
  Request part = request;
  part.mask &= warp.early;
  part.contiguous = part.contiguous && part.mask == request.mask;
  while (part.mask != 0) {
    Footprint own;
    own.add(part, in.strong);
    const auto conflict = before.footprint.conflict_with(own);
    if (!conflict) return;
    int lane = std::countr_zero(part.mask);
    const auto touches = [&] { return conflict->address - part.address[lane] < part.bytes; };
    while (lane < 31 && (!touches() || (part.mask >> lane & 1) == 0)) ++lane;
    if (!knows_of_wait(warp, static_cast<uint32_t>(lane))) {
      if (!repeated(warp, Report::kEarly, 0)) report_early(warp, lane, before, *conflict);
      return;
    }
    warp.early &= ~(1u << lane);
    part.mask &= warp.early;
    part.contiguous = false;
  }
}

}  // namespace

void touched_early(Warp& warp, const Instr& in, const Request& request) {
  const std::vector<OrderEntry*>& overlapped = StreamOrder::instance().overlapped();
  if (overlapped.empty()) warp.early = 0;
  for (const OrderEntry* before : overlapped) touched_before(warp, in, request, *before);
}

void waited_for_kernel_before(Warp& warp, uint32_t lanes) {
  StreamOrder::instance().running_waits();
  warp.early &= ~lanes;
  const uint32_t thread = static_cast<uint32_t>(warp.index * 32 + std::countr_zero(lanes));
  warp.block->watch->grid_waits.emplace_back(thread, warp.clock->now);
}

}  // namespace warplings::sim
