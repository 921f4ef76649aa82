// Blocks of a cluster: they run together, meet at barrier.cluster, and reach each other's shared
// memory.
//
// An address of shared memory has 32 bits. Below kOwnShared it is an offset in the block's own; the
// byte above says which block of the cluster it belongs to (its rank, and 1). mapa makes such
// addresses, for the own block the plain offset.
#ifndef WARPLINGS_SIMULATOR_EXEC_CLUSTER_H_
#define WARPLINGS_SIMULATOR_EXEC_CLUSTER_H_

#include <bit>
#include <cstdint>
#include <vector>

#include "core/kernel.h"
#include "core/request.h"
#include "exec/warp.h"

namespace warplings::sim {

inline constexpr uint64_t kOwnShared = uint64_t{1} << 24;

class Cluster {
 public:
  Dim3 size;
  std::vector<Block*> blocks;  // by rank; all stay until the last has ended
  uint32_t ended = 0;
  Watch<ClusterWatch> watch;
};

// Address of `offset` in the shared memory of a block, as `from` sees it.
uint32_t shared_address_in(const Block& from, uint32_t rank, uint32_t offset);
// The rank that an address of shared memory names.
inline uint32_t rank_of(const Block& block, uint64_t address) {
  const uint32_t high = static_cast<uint32_t>(address >> 24) & 0xff;
  return high == 0 ? block.rank : high - 1;
}
// The block in whose shared memory the address of a lane lies; stops the launch with a finding if
// there is none, if it has left, or if nothing says that it has started.
Block& home_of(Warp& warp, int lane, uint64_t address);

// Calls use(home, part) for each block whose shared memory the request touches, with offsets for
// addresses.
template <class Use>
void each_home(Warp& warp, const Request& request, Use use) {
  if (request.high <= kOwnShared) {
    use(*warp.block, request);
    return;
  }
  for (uint32_t rest = request.mask; rest != 0;) {
    const int first = std::countr_zero(rest);
    const uint64_t high = request.address[first] >> 24;
    Request part = request;
    part.mask = 0;
    part.contiguous = false;
    part.low = ~uint64_t{0};
    part.high = 0;
    for (uint32_t bits = rest; bits != 0; bits &= bits - 1) {
      const int lane = std::countr_zero(bits);
      if (request.address[lane] >> 24 != high) continue;
      part.mask |= 1u << lane;
      part.address[lane] &= kOwnShared - 1;
      part.low = std::min(part.low, part.address[lane]);
      part.high = std::max(part.high, part.address[lane] + part.bytes);
    }
    rest &= ~part.mask;
    use(home_of(warp, first, request.address[first]), part);
  }
}

// barrier.cluster: lanes arrive, and the phase ends when every thread of the cluster that has not
// exited has arrived.
void arrive_at_cluster(Warp& warp, uint32_t lanes, bool releases);
// Whether these lanes may go on; if so they have.
bool pass_cluster_barrier(Warp& warp, uint32_t lanes, bool acquires);
// Lets the phase end if nobody is missing; true if it has ended.
bool release_cluster_barrier(Block& block);
bool waits_for_cluster(const Block& block);

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_EXEC_CLUSTER_H_
