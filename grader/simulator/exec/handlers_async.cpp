// cp.async: the copy is checked and counted where it is issued, and written where it is waited for
// (exec/async_copy.h).
#include <cstring>

#include "decode/handlers.h"
#include "exec/access.h"
#include "exec/fault.h"
#include "exec/reports.h"

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

// The global side. Lanes that copy fewer bytes than the instruction names touch only those.
struct Source : InGlobal {
  const std::array<uint32_t, 32>& sizes;

  uint32_t check() const {
    uint32_t whole = 0;
    each_lane(r.mask, [&](int lane) { whole |= (sizes[lane] == r.bytes ? 1u : 0u) << lane; });
    if (whole != 0) check_global(w, in, part_of(r, whole, 0));
    each_lane(r.mask & ~whole, [&](int lane) {
      Request one = r;
      one.bytes = 1;
      check_global(w, in, part_of(one, 1u << lane, 0));
      one.address[lane] += sizes[lane] - 1;
      check_global(w, in, part_of(one, 1u << lane, 0));
    });
    return r.mask;
  }
};

struct IntoCopy {
  AsyncCopy& copy;

  void move(const Source& from, uint32_t lanes) const {
    each_lane(lanes, [&](int lane) {
      std::memcpy(copy.value[lane].data(), from.at(lane), from.sizes[lane]);
    });
  }
  void follow(const Source& from, uint32_t lanes) const {
    each_lane(lanes, [&](int lane) {
      copy.undefined[lane] = static_cast<uint16_t>(
          from.memory.undefined_bytes(from.r.address[lane], from.sizes[lane]));
    });
  }
};

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
  uint32_t some = 0;
  each_lane(m, [&](int lane) {
    copy.value[lane].fill(0);
    copy.undefined[lane] = 0;
    if (sizes[lane] != 0) some |= 1u << lane;
  });
  if (some != 0) access(Source{{w, in, part_of(from, some, 0)}, sizes}, IntoCopy{copy});
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
