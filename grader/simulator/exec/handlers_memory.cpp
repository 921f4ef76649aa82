// ld, st, and the addresses they use.
#include <cstring>

#include "decode/handlers.h"
#include "exec/access.h"
#include "exec/observer.h"
#include "exec/reports.h"
#include "exec/shared_banks.h"

namespace warplings::sim::WARPLINGS_ISA {
namespace {

uint64_t extend(uint64_t value, int size, bool sign) {
  if (size == 8) return value;
  const int shift = 64 - 8 * size;
  return sign ? static_cast<uint64_t>(static_cast<int64_t>(value << shift) >> shift)
              : (value << shift) >> shift;
}

void write_lane(Warp& w, const Instr& in, int part, int lane, uint64_t value) {
  if (in.ops[part] == kNoPlace) return;
  if (in.register_size == 8) {
    w.out<uint64_t>(in.ops[part])[lane] = value;
  } else {
    w.out<uint32_t>(in.ops[part])[lane] = static_cast<uint32_t>(value);
  }
}

uint64_t read_lane(const Warp& w, const Instr& in, int part, int lane) {
  return in.register_size == 8 ? w.in<uint64_t>(in.ops[part])[lane]
                               : w.in<uint32_t>(in.ops[part])[lane];
}

// Moves the bytes of the lanes from memory; `at(lane)` is where a lane's bytes begin.
template <class At>
void load_bytes(Warp& w, const Instr& in, uint32_t mask, At at) {
  if (in.vector == 1 && in.size == 4 && in.register_size == 4 && in.ops[0] != kNoPlace) {
    uint32_t* d = w.out<uint32_t>(in.ops[0]);
    each_lane(mask, [&](int lane) { std::memcpy(d + lane, at(lane), 4); });
    return;
  }
  each_lane(mask, [&](int lane) {
    const uint8_t* from = at(lane);
    for (int part = 0; part < in.vector; ++part) {
      uint64_t value = 0;
      std::memcpy(&value, from + part * in.size, in.size);
      write_lane(w, in, part, lane, extend(value, in.size, in.sign_extend));
    }
  });
}
template <class At>
void store_bytes(Warp& w, const Instr& in, uint32_t mask, At at) {
  if (in.vector == 1 && in.size == 4 && in.register_size == 4) {
    const uint32_t* s = w.in<uint32_t>(in.ops[0]);
    each_lane(mask, [&](int lane) { std::memcpy(at(lane), s + lane, 4); });
    return;
  }
  each_lane(mask, [&](int lane) {
    uint8_t* to = at(lane);
    for (int part = 0; part < in.vector; ++part) {
      const uint64_t value = read_lane(w, in, part, lane);
      std::memcpy(to + part * in.size, &value, in.size);
    }
  });
}

// ---- definedness

// A register as undefined as the bytes it was loaded from. mask_of(lane): bit i = byte i of the
// request is undefined.
template <class MaskOf>
void set_undefined(Warp& w, const Instr& in, uint32_t mask, uint8_t origin, MaskOf mask_of) {
  w.any_undefined = true;
  for (int part = 0; part < in.vector; ++part) {
    if (in.ops[part] == kNoPlace) continue;
    uint32_t& lanes = w.undefined_lanes(in.ops[part]);
    uint8_t* detail = w.undefined_bytes(in.ops[part]);
    w.origin(in.ops[part]) = origin;
    each_lane(mask, [&](int lane) {
      uint32_t bytes = (mask_of(lane) >> (part * in.size)) & ((1u << in.size) - 1);
      // The sign bit decides the extended bytes.
      if (in.sign_extend && (bytes >> (in.size - 1))) bytes |= 0xffu & (0xffu << in.size);
      detail[lane] = static_cast<uint8_t>(bytes);
      lanes = bytes != 0 ? lanes | (1u << lane) : lanes & ~(1u << lane);
    });
  }
}
void clear_undefined(Warp& w, const Instr& in, uint32_t mask) {
  if (!w.any_undefined) return;
  for (int part = 0; part < in.vector; ++part) {
    if (in.ops[part] != kNoPlace) w.undefined_lanes(in.ops[part]) &= ~mask;
  }
}
// Undefined bytes of the value that a lane stores.
uint32_t undefined_of_sources(Warp& w, const Instr& in, int lane) {
  uint32_t bytes = 0;
  for (int part = 0; part < in.vector; ++part) {
    const Place p = in.ops[part];
    if (!is_register(p) || !((w.undefined_lanes(p) >> lane) & 1)) continue;
    bytes |= (w.undefined_bytes(p)[lane] & ((1u << in.size) - 1)) << (part * in.size);
  }
  return bytes;
}
// The byte of a shadow that stands for the undefined bytes of what is stored, and back.
uint8_t code_of_sources(Warp& w, const Instr& in, int lane) {
  uint8_t origin = 0;
  for (int part = 0; part < in.vector; ++part) {
    const Place p = in.ops[part];
    if (is_register(p) && ((w.undefined_lanes(p) >> lane) & 1)) origin = w.origin(p);
  }
  return static_cast<uint8_t>(origin + 1);
}
// Results of arithmetic with undefined values leave the warp.
void check_results(Warp& w, const Instr& in, uint32_t mask, const char* what) {
  if (!w.any_undefined || !w.checks) return;
  for (int part = 0; part < in.vector; ++part) {
    const Place p = in.ops[part];
    if (p == kNoPlace || !is_register(p) || w.origin(p) == 0) continue;
    const uint32_t lanes = w.undefined_lanes(p) & mask;
    if (lanes == 0) continue;
    report_undefined(w, p, lanes, what);
    w.undefined_lanes(p) &= ~lanes;  // once is enough
  }
}
void check_address(Warp& w, const Instr& in, uint32_t mask) {
  if (!w.any_undefined || !is_register(in.ops[4]) || in.ops[4] == kNoPlace) return;
  const uint32_t lanes = w.undefined_lanes(in.ops[4]) & mask;
  if (lanes != 0) report_undefined(w, in.ops[4], lanes, "is used as an address");
}

// ---- transfers between registers and memory

// Each works on a copy of the place, so that the compiler knows that no byte it moves changes it.
struct ToRegisters {
  template <class Where>
  void move(const Where& place, uint32_t lanes) {
    load_bytes(place.w, place.in, lanes, [place](int lane) { return place.at(lane); });
  }
  template <class Where>
  void follow(const Where& place, uint32_t lanes) {
    uint32_t found = 0;
    uint8_t code = 1;
    std::array<uint32_t, 32> bytes{};
    if (place.any_undefined()) {
      each_lane(lanes,
                [&, place](int lane) { found |= bytes[lane] = place.undefined(lane, &code); });
    }
    if (found == 0) return clear_undefined(place.w, place.in, lanes);
    set_undefined(place.w, place.in, lanes, static_cast<uint8_t>(code - 1),
                  [&](int lane) { return bytes[lane]; });
  }
};

struct FromRegisters {
  template <class Where>
  void move(const Where& place, uint32_t lanes) {
    store_bytes(place.w, place.in, lanes, [place](int lane) { return place.at(lane); });
  }
  template <class Where>
  void follow(const Where& place, uint32_t lanes) {
    Warp& w = place.w;
    if (!w.any_undefined) return place.mark_written(lanes);
    if (place.kLeaves != nullptr) check_results(w, place.in, lanes, place.kLeaves);
    each_lane(lanes, [&](int lane) {
      const uint32_t bytes = undefined_of_sources(w, place.in, lane);
      place.mark(lane, bytes, bytes != 0 ? code_of_sources(w, place.in, lane) : 0);
    });
  }
};

template <class Transfer>
void access_shared(Warp& w, const Instr& in, const Request& request) {
  each_home(w, request, [&](Block& home, const Request& part) {
    access(InShared{{w, in, part}, home}, Transfer{});
  });
}

// ---- handlers

// Through generic addresses, to whatever space each lane means.
template <class Transfer>
void op_generic(Warp& w, const Instr& in, uint32_t mask) {
  check_address(w, in, mask);
  if (in.strong) w.spun = true;
  const Request all = make_request(w, in, mask, std::is_same_v<Transfer, FromRegisters>);
  while (mask != 0) {
    const Space space = space_of(all.address[std::countr_zero(mask)]);
    const uint32_t same = lanes_in(all, mask, space);
    mask &= ~same;
    if (space == Space::kShared) {
      access_shared<Transfer>(w, in, part_of(all, same, kSharedWindow));
    } else if (space == Space::kLocal) {
      access(InLocal{{w, in, part_of(all, same, kLocalWindow)}}, Transfer{});
    } else if (space != Space::kParamEntry) {
      access(InGlobal{w, in, part_of(all, same, 0)}, Transfer{});
    } else if constexpr (std::is_same_v<Transfer, ToRegisters>) {
      access(InParameters{w, in, part_of(all, same, kParamWindow)}, ToRegisters{});
    } else {
      check_parameters(w, part_of(all, same, kParamWindow));
    }
  }
}

void op_ld_global(Warp& w, const Instr& in, uint32_t m) {
  check_address(w, in, m);
  if (in.strong) w.spun = true;
  access(InGlobal{w, in, make_request(w, in, m, false)}, ToRegisters{});
}
// What the lane `first` has loaded, for all lanes.
void spread(Warp& w, const Instr& in, uint32_t m, int first) {
  for (int part = 0; part < in.vector; ++part) {
    if (in.ops[part] == kNoPlace) continue;
    if (in.register_size == 8) {
      uint64_t* d = w.out<uint64_t>(in.ops[part]);
      for_lanes(d, m, [value = d[first]](int) { return value; });
    } else {
      uint32_t* d = w.out<uint32_t>(in.ops[part]);
      for_lanes(d, m, [value = d[first]](int) { return value; });
    }
  }
  clear_undefined(w, in, m);
}

// One address, as nearly always: the first lane loads for all of them.
void op_ld_const(Warp& w, const Instr& in, uint32_t m) {
  check_address(w, in, m);
  Request request = make_request(w, in, m, false);
  const bool uniform = request.high - request.low == request.bytes;
  if (uniform) request.mask = m & (0 - m);
  access(InConstant{{w, in, request}}, ToRegisters{});
  if (uniform) spread(w, in, m, std::countr_zero(m));
}
// Gathers. Compilers turn these loops into vector code that takes lanes out one by one, which is
// slower than plain loads.
#if defined(__GNUC__) && !defined(__clang__)
#define WARPLINGS_SCALAR __attribute__((noinline, optimize("no-tree-vectorize")))
#else
#define WARPLINGS_SCALAR
#endif
WARPLINGS_SCALAR uint32_t gather_or(const uint32_t* from, const uint32_t* addresses,
                                    uint32_t flip) {
  uint32_t bits = 0;
  for (int i = 0; i < 32; ++i) bits |= from[addresses[i] >> 2] ^ flip;
  return bits;
}

WARPLINGS_SCALAR void gather(uint32_t* to, const uint32_t* from, const uint32_t* addresses) {
  for (int i = 0; i < 32; ++i) to[i] = from[addresses[i] >> 2];
}

// All lanes of each group that is served together lie within one aligned row of the 32 banks, so
// one pass per group is enough.
template <int kLanes>
bool within_rows(const uint32_t* address) {
  uint32_t different = 0;
  for (int i = 0; i < 32; ++i) different |= address[i] ^ address[i / kLanes * kLanes];
  return (different & ~127u) == 0;
}

bool is_plain_words(const Warp& w, const Instr& in) {
  if (w.watch_requests != nullptr) return false;
  if (in.size != 4 || in.register_size != 4 || !in.address_is_32bit || in.strong) return false;
  if (in.ops[4] == kNoPlace || w.any_undefined) return false;
  for (int part = 0; part < in.vector; ++part) {
    if (in.ops[part] == kNoPlace) return false;
  }
  return true;
}

// Passes of a request that within_rows() holds for.
SharedPasses passes_within_rows(const uint32_t* address, uint32_t m, uint32_t words) {
  if (m != 0xffffffffu) return shared_passes(address, m, 4 * words);
  SharedPasses out;
  const int lanes = words == 2 ? 32 : 16;  // that may be served together
  for (int first = 0; first < 32; first += lanes) {
    uint32_t by_one = 0, by_two = 0, rows = 0;
    for (int i = first; i < first + lanes; ++i) {
      by_one |= address[i] ^ address[i ^ 1];
      by_two |= address[i] ^ address[i ^ 2];
      rows |= address[i] ^ address[first];
    }
    if (by_one != 0 && by_two != 0) {
      out.passes += 2, out.least += 2;
    } else if ((rows & ~127u) == 0) {
      out.passes += 1, out.least += 1;
    } else {
      return shared_passes(address, m, 4 * words);
    }
  }
  return out;
}

// The common load of a tile: aligned 4-byte words, one, two or four per lane, every one written
// before, without bank conflicts. False: something is unusual, and the general path looks at it.
bool load_shared_words(Warp& w, const Instr& in, uint32_t m) {
  if (!is_plain_words(w, in)) return false;
  const uint32_t words = in.vector, bytes = 4 * words;
  const uint32_t* base = w.in<uint32_t>(in.ops[4]);
  const uint32_t offset = static_cast<uint32_t>(in.imm);
  const uint32_t first = base[std::countr_zero(m)] + offset;
  uint32_t address[32];
  uint32_t low = first, high = first, bits = first;
  for (int i = 0; i < 32; ++i) {
    address[i] = ((m >> i) & 1) ? base[i] + offset : first;
    low = std::min(low, address[i]);
    high = std::max(high, address[i]);
    bits |= address[i];
  }
  const size_t size = w.block->shared.size();
  if ((bits & (bytes - 1)) != 0 || size < bytes || high > size - bytes) return false;
  const bool one_pass = words == 1   ? high - low < 128
                        : words == 2 ? within_rows<16>(address)
                                     : within_rows<8>(address);
  if (!one_pass) return false;
  const uint32_t* shared = reinterpret_cast<const uint32_t*>(w.block->shared.data());
  if (w.checks) {
    const uint32_t* shadow = reinterpret_cast<const uint32_t*>(w.block->shared_undefined.data());
    const QuietWords quiet = w.block->quiet;
    uint32_t undefined = 0, news = 0;
    for (uint32_t k = 0; k < words; ++k) {
      undefined |= gather_or(shadow + k, address, 0);
      news |= gather_or(quiet.since + k, address, quiet.now);
    }
    if (undefined != 0) return false;
    if (news != 0) race_shared(w, in, make_request(w, in, m, false));
  }
  uint32_t values[32];
  for (uint32_t k = 0; k < words; ++k) {
    gather(values, shared + k, address);
    for_lanes(w.out<uint32_t>(in.ops[k]), m, [&](int i) { return values[i]; });
  }
  if (w.counters != nullptr) {
    PcCounters& c = w.counters[w.pc];
    c.traffic = Traffic::kSharedLoad;
    ++c.requests;
    if (words == 4) ++c.requests_16;
    const SharedPasses count =
        words == 1 ? SharedPasses{1, 1} : passes_within_rows(address, m, words);
    c.transactions += count.passes;
    c.excess += count.passes - count.least;
    c.bytes += uint64_t{bytes} * static_cast<uint32_t>(std::popcount(m));
  }
  return true;
}

void op_ld_shared(Warp& w, const Instr& in, uint32_t m) {
  if (load_shared_words(w, in, m)) return;
  check_address(w, in, m);
  if (in.strong) w.spun = true;
  access_shared<ToRegisters>(w, in, make_request(w, in, m, false));
}
Request local_request(Warp& w, const Instr& in, uint32_t m, bool write) {
  check_address(w, in, m);
  Request request = make_request(w, in, m, write);
  if (in.extra == 1) {  // a variable of this frame, by name
    for (uint64_t& address : request.address) address += w.frames[w.current_frame].local;
  }
  return request;
}
void op_ld_local(Warp& w, const Instr& in, uint32_t m) {
  access(InLocal{{w, in, local_request(w, in, m, false)}}, ToRegisters{});
}
void op_st_global(Warp& w, const Instr& in, uint32_t m) {
  check_address(w, in, m);
  access(InGlobal{w, in, make_request(w, in, m, true)}, FromRegisters{});
}
void op_st_shared(Warp& w, const Instr& in, uint32_t m) {
  check_address(w, in, m);
  access_shared<FromRegisters>(w, in, make_request(w, in, m, true));
}
void op_st_local(Warp& w, const Instr& in, uint32_t m) {
  access(InLocal{{w, in, local_request(w, in, m, true)}}, FromRegisters{});
}

void op_ld_param(Warp& w, const Instr& in, uint32_t m) {
  if (in.ops[4] != kNoPlace) {
    access(InParameters{w, in, make_request(w, in, m, false)}, ToRegisters{});
    return;
  }
  // One address: the first lane loads for all of them.
  const int first = std::countr_zero(m);
  Request one;
  one.mask = 1u << first;
  one.bytes = static_cast<uint32_t>(in.size) * in.vector;
  one.low = one.address[first] = static_cast<uint64_t>(in.imm);
  one.high = one.low + one.bytes;
  access(InParameters{w, in, one}, ToRegisters{});
  spread(w, in, m, first);
}
// Parameters of a call: in the frame, lane-major. extra: the variable, target: its size.
void op_ld_frame(Warp& w, const Instr& in, uint32_t m) {
  const uint8_t* base = w.in<uint8_t>(place(kAreaRegisters, in.extra)) + in.imm;
  load_bytes(w, in, m, [&](int lane) { return base + lane * in.target; });
  clear_undefined(w, in, m);
}
void op_st_frame(Warp& w, const Instr& in, uint32_t m) {
  check_results(w, in, m, "is passed to a function or returned by one");
  uint8_t* base = w.out<uint8_t>(place(kAreaRegisters, in.extra)) + in.imm;
  store_bytes(w, in, m, [&](int lane) { return base + lane * in.target; });
}

void op_local_address(Warp& w, const Instr& in, uint32_t m) {
  const uint64_t address = w.frames[w.current_frame].local + static_cast<uint64_t>(in.imm);
  if (in.register_size == 8) {
    for_lanes(w.out<uint64_t>(in.ops[0]), m, [=](int) { return address; });
  } else {
    for_lanes(w.out<uint32_t>(in.ops[0]), m, [=](int) { return static_cast<uint32_t>(address); });
  }
}

// Constant variables lie among the others in memory, but they are no part of .global. Parameters
// are part of both, as on an H200.
// imm 1: the block's own part of the shared memory of its cluster.
template <Space kSpace>
void op_isspacep(Warp& w, const Instr& in, uint32_t m) {
  const uint64_t* a = w.in<uint64_t>(in.ops[1]);
  write_predicate(w, in.ops[0], m, lane_mask([=, &w, &in](int i) {
                    const Space space = space_of(a[i]);
                    const bool constant = space == Space::kGlobal && w.module->is_constant(a[i]);
                    const bool parameter = kSpace == Space::kGlobal && space == Space::kParamEntry;
                    if (in.imm == 1 && a[i] - kSharedWindow >= kOwnShared) return false;
                    return parameter || (constant ? Space::kConst : space) == kSpace;
                  }));
}

}  // namespace

Handler handler_load(Space space) {
  switch (space) {
    case Space::kGlobal:
      return op_ld_global;
    case Space::kShared:
      return op_ld_shared;
    case Space::kLocal:
      return op_ld_local;
    case Space::kConst:
      return op_ld_const;
    case Space::kParamEntry:
      return op_ld_param;
    case Space::kParamLocal:
      return op_ld_frame;
    case Space::kGeneric:
      return op_generic<ToRegisters>;
  }
  return nullptr;
}

Handler handler_store(Space space) {
  switch (space) {
    case Space::kGlobal:
      return op_st_global;
    case Space::kShared:
      return op_st_shared;
    case Space::kLocal:
      return op_st_local;
    case Space::kParamLocal:
      return op_st_frame;
    case Space::kGeneric:
      return op_generic<FromRegisters>;
    default:
      return nullptr;
  }
}

Handler handler_local_address() { return op_local_address; }

Handler handler_isspacep(Space space) {
  switch (space) {
    case Space::kGlobal:
      return op_isspacep<Space::kGlobal>;
    case Space::kShared:
      return op_isspacep<Space::kShared>;
    case Space::kLocal:
      return op_isspacep<Space::kLocal>;
    case Space::kConst:
      return op_isspacep<Space::kConst>;
    case Space::kParamEntry:
    case Space::kParamLocal:
      return op_isspacep<Space::kParamEntry>;
    default:
      return nullptr;
  }
}

}  // namespace warplings::sim::WARPLINGS_ISA
