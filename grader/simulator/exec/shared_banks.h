// Passes ("wavefronts") that a request takes through the 32 banks of shared memory, each 4 bytes
// wide. A pass serves one word of every bank, to any number of lanes.
//
// Requests of 4 bytes per lane and less are served for the whole warp together, of 8 bytes for each
// half, of 16 bytes for each quarter. Two halves, or the two quarters of a half, are served
// together where lanes share their words: every active lane i reads the same address as lane i^1
// (or every one the same as lane i^2), inactive partners apart.
#ifndef WARPLINGS_SIMULATOR_EXEC_SHARED_BANKS_H_
#define WARPLINGS_SIMULATOR_EXEC_SHARED_BANKS_H_

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "exec/lanes.h"

// Part of the lane loops: one copy per instruction set, or the linker would choose one for all.
namespace warplings::sim::WARPLINGS_ISA {

struct SharedPasses {
  uint32_t passes = 0;
  uint32_t least = 0;  // without bank conflicts
};

// Passes of lanes that are served together: the most distinct words of one bank.
template <class Address>
uint32_t bank_passes(const Address* address, uint32_t lanes, uint32_t bytes) {
  std::array<std::array<uint32_t, 32>, 32> words;
  std::array<uint8_t, 32> count{};
  uint32_t passes = 1;
  for (; lanes != 0; lanes &= lanes - 1) {
    const uint32_t first = static_cast<uint32_t>(address[std::countr_zero(lanes)] >> 2);
    const uint32_t n = std::max(1u, bytes / 4);
    for (uint32_t word = first; word < first + n; ++word) {
      const uint32_t bank = word & 31;
      uint8_t k = 0;
      while (k < count[bank] && words[bank][k] != word) ++k;
      if (k < count[bank] || k == 32) continue;
      words[bank][count[bank]++] = word;
      passes = std::max<uint32_t>(passes, count[bank]);
    }
  }
  return passes;
}

// Every active lane reads what its neighbour at distance 1, or each at distance 2, reads.
template <class Address>
bool lanes_share_words(const Address* address, uint32_t lanes) {
  for (uint32_t distance : {1u, 2u}) {
    bool shared = true;
    for (uint32_t rest = lanes; rest != 0 && shared; rest &= rest - 1) {
      const uint32_t lane = static_cast<uint32_t>(std::countr_zero(rest)), other = lane ^ distance;
      shared = ((lanes >> other) & 1) == 0 || address[lane] == address[other];
    }
    if (shared) return true;
  }
  return false;
}

template <class Address>
SharedPasses shared_passes(const Address* address, uint32_t mask, uint32_t bytes) {
  SharedPasses out;
  if (bytes <= 4) return {bank_passes(address, mask, bytes), 1};
  const uint32_t width = bytes == 8 ? 16 : 8;  // lanes that are served together at least
  for (uint32_t first = 0; first < 32; first += 2 * width) {
    const uint32_t low = mask & (((1u << width) - 1) << first);
    const uint32_t high = mask & (((1u << width) - 1) << (first + width));
    if ((low | high) == 0) continue;
    const uint32_t apart = (low == 0 ? 0 : bank_passes(address, low, bytes)) +
                           (high == 0 ? 0 : bank_passes(address, high, bytes));
    const uint32_t groups = (low != 0) + (high != 0);
    if (groups == 2 && lanes_share_words(address, low | high)) {
      out.passes += std::min(apart, bank_passes(address, low | high, bytes));
      out.least += 1;
    } else {
      out.passes += apart;
      out.least += groups;
    }
  }
  return out;
}

}  // namespace warplings::sim::WARPLINGS_ISA

#endif  // WARPLINGS_SIMULATOR_EXEC_SHARED_BANKS_H_
