// Launches whose grid or block the caller of a launcher has chosen.
#ifndef WARPLINGS_KIT_LAUNCHES_H_
#define WARPLINGS_KIT_LAUNCHES_H_

#include <cuda_runtime_api.h>

#include <string>

#include "kit/kit.h"

namespace kit {
namespace internal {

inline std::string size_text(const unsigned (&size)[3]) {
  return std::to_string(size[0]) + " x " + std::to_string(size[1]) + " x " +
         std::to_string(size[2]);
}

inline bool is_size(const unsigned (&got)[3], dim3 wanted) {
  return got[0] == wanted.x && got[1] == wanted.y && got[2] == wanted.z;
}

}  // namespace internal

// Fails unless every launch of `run` has blocks of this shape. Always true on a GPU, where nobody
// counts launches, and for a run without one: what it should have computed shows that.
inline bool expect_blocks_of(const Run& run, dim3 block, Site site = Site::here()) {
  for (const Launch& launch : run.launches()) {
    if (internal::is_size(launch.block, block)) continue;
    const unsigned wanted[3] = {block.x, block.y, block.z};
    return fail("The caller asked for blocks of " + internal::size_text(wanted) +
                    " threads; the launch has blocks of " + internal::size_text(launch.block) + ".",
                site);
  }
  return true;
}

// The same for the grid.
inline bool expect_grid_of(const Run& run, dim3 grid, Site site = Site::here()) {
  for (const Launch& launch : run.launches()) {
    if (internal::is_size(launch.grid, grid)) continue;
    const unsigned wanted[3] = {grid.x, grid.y, grid.z};
    return fail("The caller asked for a grid of " + internal::size_text(wanted) +
                    " blocks; the launch has " + internal::size_text(launch.grid) + ".",
                site);
  }
  return true;
}

// Fails if a launch has more blocks than the caller allows.
inline bool expect_at_most_blocks(const Run& run, uint64_t most, Site site = Site::here()) {
  for (const Launch& launch : run.launches()) {
    const uint64_t blocks = uint64_t{launch.grid[0]} * launch.grid[1] * launch.grid[2];
    if (blocks <= most) continue;
    return fail("The caller allows " + std::to_string(most) + " blocks; the launch has " +
                    std::to_string(blocks) + ".",
                site);
  }
  return true;
}

}  // namespace kit

#endif  // WARPLINGS_KIT_LAUNCHES_H_
