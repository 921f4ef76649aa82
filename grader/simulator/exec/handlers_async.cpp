// cp.async: the copy is checked and counted where it is issued, and written where it is waited for
// (exec/async_copy.h).
#include <cstring>

#include "decode/handlers.h"
#include "exec/fault.h"
#include "exec/lanes.h"
#include "exec/reports.h"
#include "exec/request.h"
#include "memory/device_memory.h"

namespace warplings::sim {
namespace {

using namespace baseline;  // NOLINT: lanes.h lives in the namespace of its build

void check_operands(Warp& w, const Instr& in, uint32_t mask) {
  if (!w.any_undefined) return;
  for (const int k : {1, 2, 3, 4}) {
    if (in.ops[k] == kNoPlace || !is_register(in.ops[k])) continue;
    const uint32_t lanes = w.undefined_lanes(in.ops[k]) & mask;
    if (lanes == 0) continue;
    const bool address = k == 1 || k == 4;
    report_undefined(w, in.ops[k], lanes,
                     address ? "is used as an address" : "decides how much is copied");
    w.undefined_lanes(in.ops[k]) &= ~lanes;
  }
}

// The shared-memory side: base in ops[1], offset in target.
Request destination_of(const Warp& w, const Instr& in, uint32_t mask) {
  Instr to = in;
  to.ops[4] = in.ops[1];
  to.imm = static_cast<int32_t>(in.target);
  to.address_is_32bit = in.register_size == 4;
  return make_request(w, to, mask, true);
}

void require_alignment(Warp& w, const Request& request) {
  each_lane(request.mask, [&](int lane) {
    if (request.address[lane] % request.bytes == 0) return;
    report_access(w, request, lane, AccessProblem::kMisaligned);
    throw LaunchFault{LaunchStatus::kMisaligned};
  });
}

// Bytes that each lane reads; the rest of its copy is zeros.
std::array<uint32_t, 32> source_sizes(Warp& w, const Instr& in, uint32_t mask) {
  std::array<uint32_t, 32> sizes;
  sizes.fill(in.size);
  if (in.ops[3] != kNoPlace) {  // ignore-src
    const uint32_t ignored = w.predicate(in.ops[3]);
    each_lane(mask, [&](int lane) {
      if ((ignored >> lane) & 1) sizes[lane] = 0;
    });
  }
  if (in.ops[2] == kNoPlace) return sizes;
  const uint32_t* asked = w.in<uint32_t>(in.ops[2]);
  each_lane(mask, [&](int lane) {
    if (asked[lane] > in.size) {
      report_async_size(w, lane, in.size, asked[lane]);
      throw LaunchFault{LaunchStatus::kTrap};
    }
    sizes[lane] = asked[lane];
  });
  return sizes;
}

Request part_of(const Request& all, uint32_t lanes) {
  Request part = all;
  part.mask = lanes;
  part.contiguous = all.contiguous && lanes == all.mask;
  part.low = ~uint64_t{0};
  part.high = 0;
  each_lane(lanes, [&](int lane) {
    part.low = std::min(part.low, part.address[lane]);
    part.high = std::max(part.high, part.address[lane] + part.bytes);
  });
  return part;
}

// Lanes that copy fewer bytes than the instruction names touch only those.
void check_partial(Warp& w, const Instr& in, const Request& all, uint32_t lanes,
                   const std::array<uint32_t, 32>& sizes) {
  each_lane(lanes, [&](int lane) {
    Request one = all;
    one.bytes = 1;
    one.contiguous = false;
    check_global(w, in, part_of(one, 1u << lane));
    one.address[lane] += sizes[lane] - 1;
    check_global(w, in, part_of(one, 1u << lane));
  });
}

void read_source(Warp& w, const Instr& in, const Request& from,
                 const std::array<uint32_t, 32>& sizes, AsyncCopy* copy) {
  uint32_t whole = 0, some = 0;
  each_lane(from.mask, [&](int lane) {
    if (sizes[lane] == from.bytes) whole |= 1u << lane;
    if (sizes[lane] != 0) some |= 1u << lane;
  });
  if (whole != 0) check_global(w, in, part_of(from, whole));
  check_partial(w, in, from, some & ~whole, sizes);
  if (some != 0) {
    count_global(w, part_of(from, some), Traffic::kGlobalLoad);
    race_global(w, in, part_of(from, some));
  }
  const DeviceMemory& memory = DeviceMemory::instance();
  each_lane(from.mask, [&](int lane) {
    copy->value[lane].fill(0);
    copy->undefined[lane] = 0;
    if (sizes[lane] == 0) return;
    std::memcpy(copy->value[lane].data(), memory.view(from.address[lane]), sizes[lane]);
    if (!w.checks) return;
    copy->undefined[lane] =
        static_cast<uint16_t>(memory.undefined_bytes(from.address[lane], sizes[lane]));
  });
}

void op_cp_async(Warp& w, const Instr& in, uint32_t m) {
  check_operands(w, in, m);
  const Request to = destination_of(w, in, m);
  const Request from = make_request(w, in, m, false);
  check_shared(w, in, to);
  require_alignment(w, from);
  const std::array<uint32_t, 32> sizes = source_sizes(w, in, m);
  AsyncCopy copy;
  copy.lanes = m;
  copy.bytes = in.size;
  std::copy(to.address, to.address + 32, copy.to.begin());
  read_source(w, in, from, sizes, &copy);
  race_async_copy(w, to);
  w.async_copies.issue(copy);
}

void op_commit_group(Warp& w, const Instr&, uint32_t m) { w.async_copies.commit(m); }

void op_wait_group(Warp& w, const Instr& in, uint32_t m) {
  w.async_copies.wait_group(w, m, static_cast<uint32_t>(in.imm));
}

// A group of everything so far, and a wait for it.
void op_wait_all(Warp& w, const Instr&, uint32_t m) {
  w.async_copies.commit(m);
  w.async_copies.wait_all(w, m);
}

}  // namespace

Handler handler_async_copy() { return op_cp_async; }
Handler handler_async_commit() { return op_commit_group; }
Handler handler_async_wait(bool all) { return all ? op_wait_all : op_wait_group; }

}  // namespace warplings::sim
