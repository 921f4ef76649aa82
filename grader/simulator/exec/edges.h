// Blocks that stand for all blocks of a launch: what an index does at the largest sizes, it does in
// the first blocks, in the last, or where a power of two has been passed.
#ifndef WARPLINGS_SIMULATOR_EXEC_EDGES_H_
#define WARPLINGS_SIMULATOR_EXEC_EDGES_H_

#include <cstdint>
#include <vector>

#include "core/kernel.h"

namespace warplings::sim {

struct Edges {
  static Edges& instance();  // of the current machine
  bool only = false;         // launches run these blocks alone
  bool to_end = false;       // those that have begun run to their end, however long they take
  uint64_t cut = 0;          // launches that were ended before these were done
  uint64_t unfinished = 0;   // ... with blocks in the middle of their work
  uint64_t ended = 0;        // blocks that have run to their end
};

struct EdgeBlocks {
  std::vector<uint64_t> blocks;  // their numbers in the grid
  size_t ends = 0;               // so many of them, the first ones, are the corners of the grid
};
// All blocks, in their order, of a grid that has few. `extents` are the kernel's whole numbers:
// where one is more than an axis covers and blocks walk on in steps of the grid, the last of them
// all belongs to a block in the middle, which counts as a corner here.
EdgeBlocks edge_blocks(Dim3 grid, Dim3 block, const std::vector<uint64_t>& extents);

// Warp instructions of a launch that runs only these blocks: after so many, and the corners, no
// further block begins; after so many none begins at all; and after so many those that have begun
// are left where they are. A loop in steps of a whole grid may write to another page of memory in
// each of them.
inline constexpr uint64_t kEnoughAtEdges = 150'000;
inline constexpr uint64_t kMostAtEdges = 400'000;
inline constexpr uint64_t kMostToEnd = 1'500'000;

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_EXEC_EDGES_H_
