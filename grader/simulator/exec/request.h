// Building a memory request: 32 addresses and what they have in common.
#ifndef WARPLINGS_SIMULATOR_EXEC_REQUEST_H_
#define WARPLINGS_SIMULATOR_EXEC_REQUEST_H_

#include <algorithm>
#include <bit>

#include "exec/lanes.h"
#include "exec/memory_access.h"

namespace warplings::sim::WARPLINGS_ISA {

inline Request make_request(const Warp& warp, const Instr& in, uint32_t mask, bool write) {
  Request request;
  request.mask = mask;
  request.bytes = static_cast<uint32_t>(in.size) * in.vector;
  request.write = write;
  const uint64_t offset = static_cast<uint64_t>(in.imm);
  if (in.ops[4] == kNoPlace) {
    for (uint64_t& address : request.address) address = offset;
  } else if (in.address_is_32bit) {
    const uint32_t* base = warp.in<uint32_t>(in.ops[4]);
    for (int i = 0; i < 32; ++i) {
      request.address[i] = static_cast<uint32_t>(base[i] + static_cast<uint32_t>(offset));
    }
  } else {
    const uint64_t* base = warp.in<uint64_t>(in.ops[4]);
    for (int i = 0; i < 32; ++i) request.address[i] = base[i] + offset;
  }
  if (mask == 0xffffffffu) {
    uint64_t different = 0;
    const uint64_t start = request.address[0];
    for (uint32_t i = 0; i < 32; ++i) {
      different |= request.address[i] ^ (start + uint64_t{i} * request.bytes);
    }
    if (different == 0) {
      request.contiguous = true;
      request.low = start;
      request.high = start + 32 * uint64_t{request.bytes};
      return request;
    }
  }
  const uint64_t first = request.address[std::countr_zero(mask)];
  uint64_t low = first, high = first;
  for (int i = 0; i < 32; ++i) {
    const uint64_t address = ((mask >> i) & 1) ? request.address[i] : first;
    low = std::min(low, address);
    high = std::max(high, address);
  }
  request.low = low;
  request.high = high + request.bytes;
  return request;
}

// Of the lanes in `mask`, those whose generic address lies in `space`.
inline uint32_t lanes_in(const Request& request, uint32_t mask, Space space) {
  uint32_t same = 0;
  each_lane(mask, [&](int i) { same |= (space_of(request.address[i]) == space ? 1u : 0u) << i; });
  return same;
}

// The lanes of `mask` alone, with addresses relative to the start of their state space.
inline Request part_of(const Request& all, uint32_t mask, uint64_t window) {
  Request part = all;
  part.mask = mask;
  part.low = ~uint64_t{0};
  part.high = 0;
  each_lane(mask, [&](int i) {
    part.address[i] -= window;
    part.low = std::min(part.low, part.address[i]);
    part.high = std::max(part.high, part.address[i] + part.bytes);
  });
  part.contiguous = mask == 0xffffffffu;
  for (uint64_t i = 0; part.contiguous && i < 32; ++i) {
    part.contiguous = part.address[i] == part.low + i * part.bytes;
  }
  return part;
}

}  // namespace warplings::sim::WARPLINGS_ISA

#endif  // WARPLINGS_SIMULATOR_EXEC_REQUEST_H_
