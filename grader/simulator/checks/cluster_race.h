// Racecheck between blocks of a cluster, in the shared memory of one of them.
//
// The block keeps, beside its own record (checks/shared_race.h), what threads of other blocks did,
// word by word. Order between blocks is what checks/order.h knows: the barrier of the cluster, an
// mbarrier that the other block arrived at, fences and flags.
#ifndef WARPLINGS_SIMULATOR_CHECKS_CLUSTER_RACE_H_
#define WARPLINGS_SIMULATOR_CHECKS_CLUSTER_RACE_H_

#include "checks/explain_race.h"
#include "checks/shared_race.h"
#include "core/request.h"
#include "exec/warp.h"

namespace warplings::sim {

// Plain writes to units of 16 bytes (their offsets) that a wgmma reads, with no fence.proxy.async
// between.
void check_tensor_proxy(const Warp& warp, const uint32_t* units, size_t count);

// Accesses of a warp to the shared memory of `home`, compared with what other blocks did there.
// True after a finding.
bool race_with_remote(Warp& warp, Block& home, const Request& request, const RaceAccess& like);

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_CHECKS_CLUSTER_RACE_H_
