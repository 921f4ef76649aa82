// Who took part in what a finding tells, for those who draw it.
#ifndef WARPLINGS_SIMULATOR_CORE_SCENE_H_
#define WARPLINGS_SIMULATOR_CORE_SCENE_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/kernel.h"
#include "core/position.h"

namespace warplings::sim {

// Lanes of one warp, and what they do at a line.
struct Party {
  Dim3 block{0, 0, 0};
  int warp = 0;
  uint32_t lanes = 0;
  Position where;
  std::string does;  // "reads", "writes", "changes", "waits", "spins"; "": it is found there
};

struct Scene {
  Dim3 grid, block;  // of the launch
  std::vector<Party> parties;
  // The place in question: `bytes` at `offset` of an array; in shared memory of the block.
  bool has_place = false, shared = false;
  int64_t offset = 0;
  uint32_t bytes = 0;
  std::string array;         // its name, "" if it has none
  uint64_t array_bytes = 0;  // 0: nobody's memory is near
  // What all lanes of the warp asked for, from the first byte of the array; lanes of `mask` only.
  std::array<int64_t, 32> asked{};
  uint32_t mask = 0;
};

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_CORE_SCENE_H_
