#include "exec/memory_access.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "exec/fault.h"
#include "exec/lanes.h"
#include "exec/observer.h"
#include "exec/reports.h"
#include "exec/shared_banks.h"
#include "memory/device_memory.h"
#include "memory/footprint.h"

namespace warplings::sim {

using baseline::each_lane;
using baseline::shared_passes;
using baseline::SharedPasses;

namespace {

// True if a bit of [first, first + count) is set.
bool any_bit(const uint64_t* bits, uint64_t first, uint64_t count) {
  while (count > 0) {
    const uint64_t offset = first & 63;
    const uint64_t n = std::min<uint64_t>(64 - offset, count);
    const uint64_t mask = n == 64 ? ~uint64_t{0} : ((uint64_t{1} << n) - 1) << offset;
    if (bits[first >> 6] & mask) return true;
    first += n;
    count -= n;
  }
  return false;
}

constexpr uint64_t kScanLimit = 16 * 1024;  // bytes: wider requests are looked at lane by lane

[[noreturn]] void fail(Warp& warp, const Request& request, int lane, AccessProblem problem) {
  report_access(warp, request, lane, problem);
  const bool misaligned = problem == AccessProblem::kMisaligned;
  throw LaunchFault{misaligned ? LaunchStatus::kMisaligned : LaunchStatus::kIllegalAddress};
}

void check_alignment(Warp& warp, const Request& request) {
  uint64_t bits = request.low;
  if (!request.contiguous && request.mask == 0xffffffffu) {
    for (const uint64_t address : request.address) bits |= address;
  } else if (!request.contiguous) {
    each_lane(request.mask, [&](int lane) { bits |= request.address[lane]; });
  }
  if ((bits & (request.bytes - 1)) == 0) return;
  each_lane(request.mask, [&](int lane) {
    if (request.address[lane] & (request.bytes - 1)) {
      fail(warp, request, lane, AccessProblem::kMisaligned);
    }
  });
}

}  // namespace

uint32_t check_global(Warp& warp, const Instr& in, const Request& request) {
  if (Footprint* footprint = Footprint::recording()) footprint->add(request, in.strong);
  if ((warp.early & request.mask) != 0) touched_early(warp, in, request);
  check_alignment(warp, request);
  const DeviceMemory& memory = DeviceMemory::instance();
  uint32_t allowed = request.mask;
  const auto check_range = [&](uint64_t low, uint64_t high, int lane) {
    const Allocation* allocation = memory.in_arena(low) ? memory.allocation_at(low) : nullptr;
    const bool inside = allocation != nullptr && !allocation->freed &&
                        (allocation->access & memory.running_bit()) != 0 &&
                        low >= allocation->start && high <= allocation->end() && low < high;
    if (!inside) {
      if (lane < 0) return false;
      fail(warp, request, lane, AccessProblem::kOutside);
    }
    if (request.write && allocation->constant) {
      if (lane < 0) return false;
      if (allowed == request.mask) report_access(warp, request, lane, AccessProblem::kConstant);
      allowed &= ~(1u << lane);
      return false;
    }
    if (allocation->has_red_zones) {
      if (high - low > kScanLimit) return false;
      if (any_bit(memory.red_bits(), DeviceMemory::offset_of(low), high - low)) {
        if (lane >= 0) {
          if (allowed == request.mask) report_access(warp, request, lane, AccessProblem::kRedZone);
          allowed &= ~(1u << lane);
        }
        return false;
      }
    }
    return true;
  };
  if (check_range(request.low, request.high, -1)) return allowed;
  each_lane(request.mask, [&](int lane) {
    check_range(request.address[lane], request.address[lane] + request.bytes, lane);
  });
  return allowed;
}

void check_shared(Warp& warp, const Instr& in, const Request& request) {
  check_shared(warp, in, request, *warp.block);
}

void check_shared(Warp& warp, const Instr&, const Request& request, const Block& home) {
  check_alignment(warp, request);
  const uint64_t size = home.shared.size();
  if (request.high <= size && request.low < request.high) return;
  each_lane(request.mask, [&](int lane) {
    if (request.address[lane] >= size || request.address[lane] + request.bytes > size) {
      fail(warp, request, lane, AccessProblem::kOutsideShared);
    }
  });
}

void check_local(Warp& warp, const Request& request) {
  const Frame& frame = warp.frames[warp.current_frame];
  const uint64_t variables = frame.local + warp.module->functions[frame.function].local_bytes;
  each_lane(request.mask, [&](int lane) {
    const uint64_t end = std::max<uint64_t>(variables, warp.stack_top[lane]);
    const uint64_t address = request.address[lane];
    if (address + request.bytes > end || address + request.bytes < address || end > kMostLocal) {
      fail(warp, request, lane, AccessProblem::kOutsideLocal);
    }
    if (address % request.bytes != 0) fail(warp, request, lane, AccessProblem::kMisaligned);
  });
}

void check_parameters(Warp& warp, const Request& request) {
  if (request.write) {
    report_unsupported(warp, "kernel parameters cannot be written");
  } else if (request.high > warp.param_bytes || request.low > warp.param_bytes) {
    report_unsupported(warp, "a kernel parameter is read outside of it");
  } else {
    return;
  }
  throw LaunchFault{LaunchStatus::kIllegalAddress};
}

namespace {

// Distinct 32-byte sectors, and distinct bytes, of a request that is not contiguous.
void count_scattered(const Request& request, uint64_t* sectors, uint64_t* unique) {
  std::array<uint64_t, 64> touched;
  size_t n = 0;
  std::array<uint64_t, 32> starts;
  size_t lanes = 0;
  each_lane(request.mask, [&](int lane) {
    const uint64_t first = request.address[lane] >> 5;
    touched[n++] = first;
    const uint64_t last = (request.address[lane] + request.bytes - 1) >> 5;
    if (last != first) touched[n++] = last;
    starts[lanes++] = request.address[lane];
  });
  std::sort(touched.begin(), touched.begin() + n);
  *sectors = std::unique(touched.begin(), touched.begin() + n) - touched.begin();
  std::sort(starts.begin(), starts.begin() + lanes);
  // Aligned accesses of one size are either the same or apart.
  *unique = (std::unique(starts.begin(), starts.begin() + lanes) - starts.begin()) * request.bytes;
}

}  // namespace

void count_global(Warp& warp, const Request& request, Traffic traffic) {
  if (warp.counters == nullptr) return;
  PcCounters& c = warp.counters[warp.pc];
  c.traffic = traffic;
  ++c.requests;
  if (request.bytes == 16) ++c.requests_16;
  c.bytes += uint64_t{request.bytes} * std::popcount(request.mask);
  uint64_t sectors = 0, unique = 0;
  if (request.contiguous) {
    sectors = ((request.high - 1) >> 5) - (request.low >> 5) + 1;
    unique = request.high - request.low;
  } else {
    count_scattered(request, &sectors, &unique);
  }
  c.transactions += sectors;
  c.unique_bytes += unique;
  if (warp.watch_requests != nullptr) {
    warp.watch_requests->request(warp, request, traffic, static_cast<uint32_t>(sectors));
  }
}

void count_shared(Warp& warp, const Request& request, Traffic traffic) {
  if (warp.counters == nullptr) return;
  PcCounters& c = warp.counters[warp.pc];
  c.traffic = traffic;
  ++c.requests;
  if (request.bytes == 16) ++c.requests_16;
  c.bytes += uint64_t{request.bytes} * std::popcount(request.mask);
  const uint64_t span = ((request.high - 1) >> 2) - (request.low >> 2) + 1;  // words
  SharedPasses count;
  if (request.bytes <= 4 && span <= 32) {
    count = {1, 1};
  } else if (request.contiguous) {
    const uint32_t phases = request.bytes <= 4 ? 1 : request.bytes / 4;
    count = {phases, phases};
  } else {
    count = shared_passes(request.address, request.mask, request.bytes);
  }
  c.transactions += count.passes;
  c.excess += count.passes - count.least;
  if (warp.watch_requests != nullptr) {
    warp.watch_requests->request(warp, request, traffic, count.passes);
  }
}

// A thread's words lie 128 bytes apart, so that a warp that reads the same variable reads a line.
Request local_as_stored(const Request& request, uint64_t base) {
  Request out = request;
  out.contiguous = false;
  each_lane(request.mask, [&](int lane) {
    out.address[lane] = base + (request.address[lane] >> 2) * 128 +
                        static_cast<uint64_t>(lane) * 4 + (request.address[lane] & 3);
  });
  return out;
}

void count_local(Warp& warp, const Request& request, Traffic traffic) {
  if (warp.counters == nullptr) return;
  PcCounters& c = warp.counters[warp.pc];
  c.traffic = traffic;
  ++c.requests;
  c.bytes += uint64_t{request.bytes} * std::popcount(request.mask);
  Request word = local_as_stored(request, 0);
  word.bytes = std::min(request.bytes, 4u);
  uint64_t sectors = 0, unique = 0;
  count_scattered(word, &sectors, &unique);
  sectors *= std::max(1u, request.bytes / 4);
  c.transactions += sectors;
  if (warp.watch_requests != nullptr) {
    warp.watch_requests->request(warp, request, traffic, static_cast<uint32_t>(sectors));
  }
}

void count_atomic(Warp& warp, const Instr& in, const Request& request, Traffic traffic) {
  if (warp.counters == nullptr) return;
  PcCounters& c = warp.counters[warp.pc];
  c.traffic = traffic;
  ++c.requests;
  c.bytes += uint64_t{request.bytes} * std::popcount(request.mask);
  std::array<uint64_t, 32> sorted;
  size_t n = 0;
  each_lane(request.mask, [&](int i) { sorted[n++] = request.address[i]; });
  std::sort(sorted.begin(), sorted.begin() + n);
  size_t longest = 1, run = 1, sectors = 1;
  for (size_t i = 1; i < n; ++i) {
    run = sorted[i] == sorted[i - 1] ? run + 1 : 1;
    longest = std::max(longest, run);
    sectors += sorted[i] >> 5 != sorted[i - 1] >> 5;
  }
  // The machine adds up the lanes first where the assembler sees that they share the address.
  const bool one_per_warp = in.aggregated && longest == n;
  c.operations += one_per_warp ? 1 : n;
  c.excess += one_per_warp ? 0 : longest - 1;  // steps that same-address lanes take in turn
  c.transactions += traffic == Traffic::kGlobalAtomic ? sectors : longest;
  if (warp.watch_requests != nullptr) {
    warp.watch_requests->request(warp, request, traffic,
                                 static_cast<uint32_t>(one_per_warp ? 1 : longest));
  }
}

void ensure_local(Warp& warp, uint32_t bytes) {
  if (bytes <= warp.local_size) return;
  const uint32_t grown = std::max(bytes, warp.local_size * 2);
  std::vector<uint8_t> local(size_t{32} * grown), undefined(size_t{32} * grown, 1);
  for (uint32_t lane = 0; lane < 32 && warp.local_size > 0; ++lane) {
    std::copy_n(&warp.local[size_t{lane} * warp.local_size], warp.local_size,
                &local[size_t{lane} * grown]);
    std::copy_n(&warp.local_undefined[size_t{lane} * warp.local_size], warp.local_size,
                &undefined[size_t{lane} * grown]);
  }
  warp.local.swap(local);
  warp.local_undefined.swap(undefined);
  warp.local_size = grown;
}

}  // namespace warplings::sim
