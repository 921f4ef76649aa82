#include "exec/edges.h"

#include <numeric>
#include <set>

#include "core/machine.h"

namespace warplings::sim {
namespace {

constexpr uint64_t kFewBlocks = 16, kFewAlongAnAxis = 4;

// The first and the last of n blocks along one axis, and those that a stride of n leads to the end
// of what n blocks, of `threads` threads each, do not cover; or all of a few: an axis may count
// arrays.
std::vector<uint64_t> ends_of(uint64_t n, uint64_t threads, const std::vector<uint64_t>& extents) {
  if (n <= kFewAlongAnAxis) {
    std::vector<uint64_t> all(n);
    std::iota(all.begin(), all.end(), uint64_t{0});
    return all;
  }
  std::set<uint64_t> ends = {0, n - 1};
  for (const uint64_t extent : extents) {
    const uint64_t last_block = (extent - 1) / threads;
    if (last_block < n) continue;  // a block for each
    ends.insert((extent - 1) % n);
    ends.insert(last_block % n);
  }
  return {ends.begin(), ends.end()};
}

// More places among n blocks.
std::vector<uint64_t> places(uint64_t n) {
  std::vector<uint64_t> all = {1, n - 2};
  for (uint64_t power = 2; power < n; power *= 2) {
    all.push_back(power - 1);
    all.push_back(power);
  }
  std::erase_if(all, [n](uint64_t place) { return place >= n; });
  return all;
}

}  // namespace

Edges& Edges::instance() { return Machine::get<Edges>(); }

EdgeBlocks edge_blocks(Dim3 grid, Dim3 block, const std::vector<uint64_t>& extents) {
  EdgeBlocks edges;
  const uint64_t count = grid.count();
  if (count <= kFewBlocks) {
    for (uint64_t i = 0; i < count; ++i) edges.blocks.push_back(i);
    edges.ends = count;
    return edges;
  }
  std::set<uint64_t> known;
  const auto add = [&](uint64_t x, uint64_t y, uint64_t z) {
    const uint64_t number = x + grid.x * (y + uint64_t{grid.y} * z);
    if (known.insert(number).second) edges.blocks.push_back(number);
  };
  for (const uint64_t z : ends_of(grid.z, block.z, extents)) {
    for (const uint64_t y : ends_of(grid.y, block.y, extents)) {
      for (const uint64_t x : ends_of(grid.x, block.x, extents)) add(x, y, z);
    }
  }
  // Tiles of several dimensions may be numbered in one, from either side: the first of a row that a
  // power of two makes up is as good as a corner.
  const bool is_flat = grid.x == count;
  for (uint64_t power = 2; is_flat && power < count; power *= 2) add(count - power, 0, 0);
  edges.ends = edges.blocks.size();
  for (uint64_t power = 2; is_flat && power < count; power *= 2) {
    add(power - 1, 0, 0);
    add(power, 0, 0);
  }
  for (const uint64_t y : {uint64_t{0}, uint64_t{grid.y} - 1}) {
    for (const uint64_t z : {uint64_t{0}, uint64_t{grid.z} - 1}) {
      for (const uint64_t x : places(grid.x)) add(x, y, z);
    }
  }
  for (const uint64_t x : {uint64_t{0}, uint64_t{grid.x} - 1}) {
    for (const uint64_t z : {uint64_t{0}, uint64_t{grid.z} - 1}) {
      for (const uint64_t y : places(grid.y)) add(x, y, z);
    }
    for (const uint64_t y : {uint64_t{0}, uint64_t{grid.y} - 1}) {
      for (const uint64_t z : places(grid.z)) add(x, y, z);
    }
  }
  return edges;
}

}  // namespace warplings::sim
