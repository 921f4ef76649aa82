// The one way of a memory access, whatever instruction makes it and wherever it goes:
//
//   checked, counted, shown to racecheck, moved, ordered with other threads, followed by initcheck
//
// A place (In...) is a request on its way to one kind of memory: it knows where the bytes of a lane
// lie and what is known of them. A transfer is what the instruction does with these bytes. Places
// and transfers know nothing of each other, so a new instruction is a transfer, a new kind of
// memory a place, and no step of the way can be forgotten.
#ifndef WARPLINGS_SIMULATOR_EXEC_ACCESS_H_
#define WARPLINGS_SIMULATOR_EXEC_ACCESS_H_

#include <algorithm>
#include <cstring>

#include "exec/cluster.h"
#include "exec/interpreter.h"
#include "exec/lanes.h"
#include "exec/request.h"
#include "memory/device_memory.h"

namespace warplings::sim::WARPLINGS_ISA {

// Nonzero if one of n bytes is, n a power of two up to 16.
inline bool any_set(const uint8_t* bytes, uint32_t n) {
  uint64_t word[2] = {0, 0};
  if (n == 4) {
    std::memcpy(word, bytes, 4);
  } else {
    std::memcpy(word, bytes, n);
  }
  return (word[0] | word[1]) != 0;
}

// A shadow with a byte for each byte of memory: 0 written, else the origin (Warp::origin) plus 1.
// Bit k of the result: byte k is undefined; `code` becomes the largest that is found.
inline uint32_t read_shadow(const uint8_t* shadow, uint32_t n, uint8_t* code) {
  uint32_t bits = 0;
  for (uint32_t k = 0; k < n; ++k) {
    bits |= static_cast<uint32_t>(shadow[k] != 0) << k;
    *code = std::max(*code, shadow[k]);
  }
  return bits;
}
inline void write_shadow(uint8_t* shadow, uint32_t n, uint32_t bits, uint8_t code) {
  if (bits == 0) {
    std::memset(shadow, 0, n);
    return;
  }
  for (uint32_t k = 0; k < n; ++k) shadow[k] = ((bits >> k) & 1) != 0 ? code : 0;
}

// ---- places -----------------------------------------------------------------------------------

struct InGlobal {
  Warp& w;
  const Instr& in;
  const Request& r;
  DeviceMemory& memory = DeviceMemory::instance();

  uint32_t check() const { return check_global(w, in, r); }
  void count() const {
    if (r.atomic) return count_atomic(w, in, r, Traffic::kGlobalAtomic);
    count_global(w, r, r.write ? Traffic::kGlobalStore : Traffic::kGlobalLoad);
  }
  void tell() const {
    if (r.write && !r.atomic) note_change(w);
    race_global(w, in, r);
  }
  Block* home() const { return nullptr; }
  void order() const {
    if (in.strong) order_strong(w, in, r, home());
  }
  uint8_t* at(int lane) const { return memory.view(r.address[lane]); }

  // Whether undefined bytes may be among those of the request.
  bool any_undefined() const {
    const uint64_t* undefined = memory.undefined_bits();
    const uint64_t first = DeviceMemory::offset_of(r.low),
                   last = DeviceMemory::offset_of(r.high - 1);
    bool any = last - first > 16 * 1024;
    for (uint64_t word = first >> 6; !any && word <= last >> 6; ++word) any = undefined[word] != 0;
    return any;
  }
  uint32_t undefined(int lane, uint8_t*) const {
    return memory.undefined_bytes(r.address[lane], r.bytes);
  }
  void mark(int lane, uint32_t bits, uint8_t) const {
    memory.set_undefined_bytes(r.address[lane], r.bytes, bits);
  }
  void mark_written(uint32_t lanes) const {
    const uint64_t first = DeviceMemory::offset_of(r.low), count = r.high - r.low;
    // Whole words of the shadow where the request covers them.
    if (r.contiguous && lanes == r.mask && (first & 63) == 0 && (count & 63) == 0) {
      std::fill_n(memory.undefined_bits() + (first >> 6), count >> 6, uint64_t{0});
      return;
    }
    each_lane(lanes, [&](int lane) { memory.set_undefined_bytes(r.address[lane], r.bytes, 0); });
  }
  // Results of arithmetic with undefined values may not come here.
  static constexpr const char* kLeaves = "is written to global memory";
};

// Constants are read without traffic, and nobody writes them.
struct InConstant : InGlobal {
  void count() const {}
  void tell() const {}
};

// A shadow of bytes; Derived knows where that of a lane begins.
template <class Derived>
struct ByteShadow {
  Warp& w;
  const Instr& in;
  const Request& r;

  bool any_undefined() const {
    bool any = false;
    each_lane(r.mask, [&](int lane) { any |= any_set(derived().shadow(lane), r.bytes); });
    return any;
  }
  uint32_t undefined(int lane, uint8_t* code) const {
    return read_shadow(derived().shadow(lane), r.bytes, code);
  }
  void mark(int lane, uint32_t bits, uint8_t code) const {
    write_shadow(derived().shadow(lane), r.bytes, bits, code);
  }
  void mark_written(uint32_t lanes) const {
    each_lane(lanes, [&](int lane) { std::memset(derived().shadow(lane), 0, r.bytes); });
  }
  static constexpr const char* kLeaves = nullptr;

 private:
  const Derived& derived() const { return static_cast<const Derived&>(*this); }
};

// Addresses are offsets in the shared memory of a block, mostly the own one.
struct InShared : ByteShadow<InShared> {
  Block& block;
  uint8_t* bytes = block.shared.data();

  uint32_t check() const {
    check_shared(w, in, r, block);
    return r.mask;
  }
  void count() const {
    if (r.atomic) return count_atomic(w, in, r, Traffic::kSharedAtomic);
    count_shared(w, r, r.write ? Traffic::kSharedStore : Traffic::kSharedLoad);
  }
  void tell() const {
    if (r.write && !r.atomic) note_change(w);
    race_shared(w, in, r, block);
  }
  Block* home() const { return &block; }
  void order() const {
    if (in.strong) order_strong(w, in, r, home());
  }
  uint8_t* at(int lane) const { return bytes + r.address[lane]; }
  uint8_t* shadow(int lane) const { return block.shared_undefined.data() + r.address[lane]; }
};

// Nobody but the thread itself sees its local memory.
struct InLocal : ByteShadow<InLocal> {
  uint32_t check() const {
    check_local(w, r);
    return r.mask;
  }
  void count() const { count_local(w, r, r.write ? Traffic::kLocalStore : Traffic::kLocalLoad); }
  void tell() const {}
  void order() const {}
  uint8_t* at(int lane) const { return w.local.data() + offset(lane); }
  uint8_t* shadow(int lane) const { return w.local_undefined.data() + offset(lane); }

 private:
  size_t offset(int lane) const {
    return static_cast<size_t>(lane) * w.local_size + r.address[lane];
  }
};

// Kernel parameters: one buffer for all threads, always written.
struct InParameters {
  Warp& w;
  const Instr& in;
  const Request& r;

  uint32_t check() const {
    check_parameters(w, r);
    return r.mask;
  }
  void count() const {}
  void tell() const {}
  void order() const {}
  const uint8_t* at(int lane) const { return w.params + r.address[lane]; }
  bool any_undefined() const { return false; }
  uint32_t undefined(int, uint8_t*) const { return 0; }
};

// ---- the way ----------------------------------------------------------------------------------

// A transfer has move(place, lanes), which moves the bytes, and follow(place, lanes), for
// initcheck; atomics also say in order(place) what they mean for the order of threads.
template <class Where, class Transfer>
void access(const Where& place, Transfer&& transfer) {
  const uint32_t allowed = place.check();
  // What lies in a red zone is read and not written.
  const uint32_t lanes = place.r.write ? allowed : place.r.mask;
  place.count();
  place.tell();
  transfer.move(place, lanes);
  if (!place.w.checks) return;
  if constexpr (requires { transfer.order(place); }) {
    transfer.order(place);
  } else {
    place.order();
  }
  transfer.follow(place, lanes);
}

// Through generic addresses that mean global or shared memory, or to one of them:
// use(part, is_shared), where addresses of shared memory are offsets.
template <class Use>
void global_or_shared(const Instr& in, const Request& all, Use use) {
  uint32_t shared = in.space == Space::kShared ? all.mask : 0;
  if (in.space == Space::kGeneric) shared = lanes_in(all, all.mask, Space::kShared);
  const uint64_t window = in.space == Space::kGeneric ? kSharedWindow : 0;
  if (shared != 0) use(part_of(all, shared, window), true);
  if ((all.mask & ~shared) != 0) use(part_of(all, all.mask & ~shared, 0), false);
}

// For what changes memory, and so writes it: the lanes in whose bytes something had been undefined;
// bit k of bytes[lane]: byte k.
template <class Where>
uint32_t take_undefined(const Where& place, uint32_t lanes, uint8_t (&bytes)[32]) {
  if (!place.any_undefined()) return 0;
  uint32_t found = 0;
  each_lane(lanes, [&](int lane) {
    uint8_t code = 1;
    bytes[lane] = static_cast<uint8_t>(place.undefined(lane, &code));
    if (bytes[lane] == 0) return;
    found |= 1u << lane;
    place.mark(lane, 0, 0);
  });
  return found;
}

// Bytes that an instruction keeps beside memory: those of a lane at `value`, `stride` bytes apart,
// and one byte each at `undefined`: its shadow.
struct Buffered {
  uint8_t* value;
  uint8_t* shadow;
  size_t stride;
  uint8_t* of(uint8_t* base, int lane) const { return base + static_cast<size_t>(lane) * stride; }

  template <class Where>
  void move(const Where& place, uint32_t lanes) const {
    const uint32_t bytes = place.r.bytes;
    each_lane(lanes, [&](int lane) {
      if (place.r.write) {
        std::memcpy(place.at(lane), of(value, lane), bytes);
      } else {
        std::memcpy(of(value, lane), place.at(lane), bytes);
      }
    });
  }
  template <class Where>
  void follow(const Where& place, uint32_t lanes) const {
    const uint32_t bytes = place.r.bytes;
    each_lane(lanes, [&](int lane) {
      uint8_t code = 1;
      if (place.r.write) {
        const uint32_t bits = read_shadow(of(shadow, lane), bytes, &code);
        place.mark(lane, bits, code);
      } else {
        const uint32_t bits = place.undefined(lane, &code);
        write_shadow(of(shadow, lane), bytes, bits, 1);
      }
    });
  }
};

}  // namespace warplings::sim::WARPLINGS_ISA

#endif  // WARPLINGS_SIMULATOR_EXEC_ACCESS_H_
