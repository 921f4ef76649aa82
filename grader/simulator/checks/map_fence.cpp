// Tensor maps that a kernel changes: they are read through a proxy of their own, so a change needs
// a fence on both sides (PTX ISA, fence.proxy.tensormap).
#include <algorithm>

#include "checks/watch.h"
#include "checks/words.h"
#include "exec/events.h"
#include "exec/interpreter.h"
#include "exec/reports.h"

namespace warplings::sim {
namespace {

std::map<uint64_t, ChangedMap>& maps_of(const Warp& warp) {
  return warp.block->grid->watch->changed_maps;
}

}  // namespace

void map_changed(const Warp& warp, uint64_t address) {
  maps_of(warp)[address] = {
      order_of(warp).block, static_cast<uint32_t>(warp.index), warp.pc, false, {}};
}

void maps_released(const Warp& warp) {
  for (auto& [address, map] : maps_of(warp)) {
    const bool own = map.block == order_of(warp).block;
    if (own && map.warp == static_cast<uint32_t>(warp.index)) map.released = true;
  }
}

void map_acquired(const Warp& warp, uint64_t address) {
  const auto map = maps_of(warp).find(address);
  if (map != maps_of(warp).end()) map->second.acquired.push_back(order_of(warp).block);
}

void map_used(const Warp& warp, int lane, uint64_t address) {
  const auto found = maps_of(warp).find(address);
  if (found == maps_of(warp).end()) return;
  const ChangedMap& map = found->second;
  const bool acquired = std::find(map.acquired.begin(), map.acquired.end(), order_of(warp).block) !=
                        map.acquired.end();
  if (map.released && acquired) return;
  if (repeated(warp, Report::kProxy, map.pc)) return;
  Finding finding = make(warp, "racecheck", "missing-tensormap-fence", warp.pc);
  finding.other = warp.module->position_of(map.pc).user;
  finding.message = "In " + kernel_name(warp) + ", the tensor map that " + thread_name(warp, lane) +
                    " uses " + at(warp, warp.pc) + " was changed " + at(warp, map.pc) + ", and ";
  finding.message +=
      map.released
          ? "the block has not executed fence.proxy.tensormap::generic.acquire for its 128 bytes "
            "since: the copy may still go by the old map."
          : "whoever changed it has not executed fence.proxy.tensormap::generic.release since "
            "(tensormap.cp_fenceproxy does both): the copy may go by the old map, or by a mixture.";
  FindingLog::instance().report(std::move(finding));
}

}  // namespace warplings::sim
