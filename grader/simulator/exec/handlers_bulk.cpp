// cp.async.bulk and its relatives, st.async, fence.proxy.async; mapa and barrier.cluster.arrive.
// A copy is checked and counted where it is issued; when its bytes move says exec/bulk_copy.h.
#include <algorithm>
#include <bit>
#include <cstring>

#include "decode/handlers.h"
#include "exec/cluster.h"
#include "exec/fault.h"
#include "exec/interpreter.h"
#include "exec/lanes.h"
#include "exec/memory_access.h"
#include "exec/observer.h"
#include "exec/reports.h"
#include "exec/tensor_box.h"
#include "memory/device_memory.h"
#include "memory/tensor_map.h"

namespace warplings::sim {
namespace {

using namespace baseline;  // NOLINT: lanes.h lives in the namespace of its build

[[noreturn]] void refuse(Warp& w, int lane, const std::string& problem,
                         LaunchStatus status = LaunchStatus::kTrap) {
  report_bulk_operand(w, lane, problem);
  throw LaunchFault{status};
}

// One copy of one lane.
class Issue {
 public:
  // `first`: of the lanes that execute it.
  Issue(Warp& w, const Instr& in, const BulkForm& form, int lane, int first)
      : w_(w), in_(in), form_(form), lane_(lane), first_(first) {}

  void run() {
    switch (form_.way) {
      case BulkForm::Way::kPrefetch:
        return prefetch();
      case BulkForm::Way::kGlobalToShared:
        return load();
      case BulkForm::Way::kSharedToGlobal:
        return store();
      case BulkForm::Way::kSharedToCluster:
        return across();
      case BulkForm::Way::kRegisters:
        return registers();
    }
  }

 private:
  uint64_t address_of(const BulkAddress& address) const { return address_of(address, lane_); }
  uint64_t address_of(const BulkAddress& address, int lane) const {
    if (address.base == kNoPlace) return static_cast<uint64_t>(address.offset);
    if (!address.is_32bit) {
      return w_.in<uint64_t>(address.base)[lane] + static_cast<uint64_t>(address.offset);
    }
    return static_cast<uint32_t>(w_.in<uint32_t>(address.base)[lane] +
                                 static_cast<uint32_t>(address.offset));
  }
  int32_t value_of(Place place) const { return w_.in<int32_t>(place)[lane_]; }

  uint32_t size() const {
    const uint32_t bytes = static_cast<uint32_t>(value_of(form_.size));
    if (bytes % 16 != 0) {
      refuse(
          w_, lane_,
          "it copies " + std::to_string(bytes) + " bytes, and the size must be a multiple of 16.");
    }
    return bytes;
  }

  void require_alignment(uint64_t address, uint64_t unit, const char* what) const {
    if (address % unit == 0) return;
    refuse(w_, lane_, std::string(what) + " is not aligned to " + std::to_string(unit) + " bytes.",
           LaunchStatus::kMisaligned);
  }

  // ---- global memory

  // The largest accesses that cover the bytes, of 16 bytes where they are aligned.
  template <class Use>
  void each_request(uint64_t address, uint32_t bytes, bool write, Use use) const {
    while (bytes > 0) {
      uint32_t n = 16;
      while (address % n != 0 || n > bytes) n /= 2;
      Request request;
      request.mask = 1u << lane_;
      request.bytes = n;
      request.write = write;
      request.address[lane_] = request.low = address;
      request.high = address + n;
      use(request);
      address += n;
      bytes -= n;
    }
  }

  // Whether the first lane has started this very copy: all lanes of a warp do in some programs.
  bool repeats_the_first() const {
    if (lane_ == first_ || form_.op != BulkOp::kCopy) return false;
    const auto alike = [&](Place place) {
      return place == kNoPlace || value_of(place) == w_.in<int32_t>(place)[first_];
    };
    for (const BulkAddress* address : {&form_.shared, &form_.global}) {
      if (address_of(*address) != address_of(*address, first_)) return false;
    }
    return std::all_of(form_.coordinates.begin(), form_.coordinates.end(), alike) &&
           std::all_of(form_.offsets.begin(), form_.offsets.end(), alike) && alike(form_.size);
  }

  void access_global(const std::vector<BulkPiece>& pieces, bool write) {
    const bool repeats = write && repeats_the_first();
    for (const BulkPiece& piece : pieces) {
      if (piece.global == 0 || piece.bytes == 0) continue;
      each_request(piece.global, piece.bytes, write, [&](Request& request) {
        if (check_global(w_, in_, request) == 0) {
          throw LaunchFault{LaunchStatus::kIllegalAddress};
        }
        request.repeats = repeats;
        if (write) {
          request.values = w_.block->shared.data() + piece.shared + (request.low - piece.global);
        }
        race_global(w_, as_access(), request);
      });
    }
  }

  // Sectors as an H100 counts them (grader/tests/counters/hopper_cases.cu): shared memory is filled
  // and emptied 128 bytes at a time, and each such part takes the sectors that it touches. What
  // lies outside of a tensor and is loaded takes as many as its place in shared memory has.
  void count(const std::vector<BulkPiece>& pieces, bool write) const {
    constexpr uint32_t kPart = 128, kSector = 32;  // bytes
    if (w_.counters == nullptr) return;
    PcCounters& c = w_.counters[w_.pc];
    c.traffic = write ? Traffic::kGlobalStore : Traffic::kGlobalLoad;
    ++c.requests;
    for (const BulkPiece& piece : pieces) {
      if (write && piece.global == 0) continue;
      uint32_t done = 0;
      while (done < piece.bytes) {
        const uint32_t at = piece.shared + done;
        const uint32_t part = std::min(kPart - at % kPart, piece.bytes - done);
        const uint64_t first = piece.global == 0 ? at : piece.global + done;
        c.transactions += (first + part - 1) / kSector - first / kSector + 1;
        done += part;
      }
      if (piece.global == 0) continue;
      c.bytes += piece.bytes;
      c.unique_bytes += piece.bytes;
      if (w_.watch_requests != nullptr) show_traffic(piece, c.traffic);
    }
  }

  // To who models memory, as requests of whole warps.
  void show_traffic(const BulkPiece& piece, Traffic traffic) const {
    for (uint32_t done = 0; done < piece.bytes; done += 512) {
      const uint32_t part = std::min(512u, piece.bytes - done), lanes = (part + 15) / 16;
      Request request;
      request.mask = lanes == 32 ? ~0u : (1u << lanes) - 1;
      request.bytes = 16;
      request.write = traffic == Traffic::kGlobalStore;
      for (uint32_t i = 0; i < 32; ++i) request.address[i] = piece.global + done + i * 16;
      request.low = request.address[0];
      request.high = request.low + uint64_t{lanes} * 16;
      request.contiguous = lanes == 32;
      const uint64_t sectors = ((request.high - 1) >> 5) - (request.low >> 5) + 1;
      w_.watch_requests->request(w_, request, traffic, static_cast<uint32_t>(sectors));
    }
  }

  // As racecheck sees it: a plain access of words, a reduction an atomic one.
  const Instr& as_access() {
    access_.strong = form_.op != BulkOp::kCopy;
    access_.size = 4;
    access_.vector = 4;
    access_.scope = Scope::kDevice;
    return access_;
  }

  void append_source(const BulkPiece& piece, BulkArrival& arrival, const uint8_t* fill,
                     uint32_t fill_bytes) const {
    const size_t at = arrival.data.size();
    arrival.data.resize(at + piece.bytes);
    uint8_t* to = arrival.data.data() + at;
    if (piece.global == 0) {
      for (uint32_t k = 0; k < piece.bytes; ++k) to[k] = fill[k % fill_bytes];
    } else {
      std::memcpy(to, DeviceMemory::instance().view(piece.global), piece.bytes);
    }
    if (!w_.checks) return;
    arrival.undefined.resize(at + piece.bytes, 0);
    for (uint32_t k = 0; piece.global != 0 && k < piece.bytes; k += 16) {
      const uint32_t n = std::min(16u, piece.bytes - k);
      const uint32_t bits = DeviceMemory::instance().undefined_bytes(piece.global + k, n);
      for (uint32_t b = 0; b < n; ++b) arrival.undefined[at + k + b] = bits >> b & 1;
    }
  }

  // ---- tensors

  TensorMap read_map() const {
    const uint64_t address = address_of(form_.global);
    const uint8_t* bytes = nullptr;
    switch (space_of(address)) {
      case Space::kParamEntry:
        if (address - kParamWindow + TensorMap::kBytes <= w_.param_bytes) {
          bytes = w_.params + (address - kParamWindow);
        }
        break;
      case Space::kGlobal:
        if (DeviceMemory::instance().accessible(address, TensorMap::kBytes)) {
          bytes = DeviceMemory::instance().view(address);
          if (w_.checks) map_used(w_, lane_, address);
        }
        break;
      default:
        break;
    }
    if (bytes == nullptr) {
      refuse(w_, lane_,
             "its tensor map does not lie in a __grid_constant__ parameter, constant or global "
             "memory.",
             LaunchStatus::kIllegalAddress);
    }
    require_alignment(address, 64, "the tensor map");
    TensorMap map;
    std::memcpy(&map, bytes, sizeof map);
    if (!map.is_whole()) {
      refuse(
          w_, lane_,
          "the 128 bytes of its tensor map are not what cuTensorMapEncodeTiled has written. Pass "
          "it as const __grid_constant__ CUtensorMap.");
    }
    if (map.im2col != form_.im2col) {
      refuse(w_, lane_,
             map.im2col
                 ? "its tensor map is of cuTensorMapEncodeIm2col, and the instruction has no "
                   ".im2col."
                 : "the instruction has .im2col, and its tensor map is of "
                   "cuTensorMapEncodeTiled.");
    }
    if (map.dimensions != form_.dimensions) {
      refuse(w_, lane_,
             "the instruction is for " + std::to_string(form_.dimensions) +
                 " dimensions, and the tensor of its map has " + std::to_string(map.dimensions) +
                 ".");
    }
    return map;
  }

  // Not in the PTX ISA, but an H100 stops at others: grader/tests/gpu/tensor_starts.cu asked it
  // with 422 forms (assets/benchmarks/tensor_starts_h100.txt), tensor_layouts.cu with those of
  // im2col.
  void require_start(const TensorMap& map) const {
    constexpr int kStart = 16;  // bytes
    const int64_t x = value_of(form_.coordinates[0]);
    const int64_t bytes = x * static_cast<int64_t>(map.stride[0]);
    if (bytes % kStart != 0) {
      refuse(w_, lane_,
             "its first coordinate is " + std::to_string(x) + ", which is " +
                 std::to_string(bytes) +
                 " bytes and no multiple of 16: a card stops here with an illegal instruction. The "
                 "other coordinates may be any.");
    }
    if (map.im2col) require_start_in_box(map);
    if (form_.way != BulkForm::Way::kSharedToGlobal) return;
    for (size_t d = 0; d < map.dimensions; ++d) {
      const int64_t start = value_of(form_.coordinates[d]);
      if (start >= 0) continue;
      refuse(
          w_, lane_,
          "coordinate " + std::to_string(d) + " is " + std::to_string(start) +
              ": a card stops here with an illegal instruction. What is stored may hang over the "
              "end of a tensor, but not begin in front of it; only loads may.");
    }
  }

  // The walk from pixel to pixel begins in its bounding box; that of a store leaves no tensor.
  void require_start_in_box(const TensorMap& map) const {
    const bool stores = form_.way == BulkForm::Way::kSharedToGlobal;
    for (size_t i = 0; i < map.spatial(); ++i) {
      const size_t d = map.first_spatial() + i;
      const int64_t x = value_of(form_.coordinates[d]);
      if (x < map.lower[i] || x > map.last_pixel(d)) {
        refuse(w_, lane_,
               "coordinate " + std::to_string(d) + " is " + std::to_string(x) +
                   ", outside of the bounding box of pixels (" + std::to_string(map.lower[i]) +
                   " to " + std::to_string(map.last_pixel(d)) +
                   "): a card stops here with an illegal instruction.");
      }
      if (stores && (map.lower[i] < 0 || map.upper[i] > 0)) {
        refuse(w_, lane_,
               "its bounding box of pixels is larger than the tensor in dimension " +
                   std::to_string(d) +
                   ": a card stops here with an illegal instruction. Only loads may go beyond the "
                   "edges, which brings zeros.");
      }
    }
  }

  // What the copy takes, with offsets from the start of the box, and where the swizzle puts it.
  std::vector<BulkPiece> box_of(const TensorMap& map) const {
    require_start(map);
    TensorPlace place;
    for (size_t d = 0; d < map.dimensions; ++d) place.at[d] = value_of(form_.coordinates[d]);
    for (size_t d = 0; d < place.offset.size(); ++d) {
      if (form_.offsets[d] == kNoPlace) continue;
      place.offset[d] = static_cast<uint16_t>(value_of(form_.offsets[d]));
    }
    return tensor_box(map, place);
  }

  // ---- shared memory

  void check_range(const Block& home, uint32_t offset, uint64_t bytes, bool write) {
    if (bytes == 0) return;
    Request request;
    request.mask = 1u << lane_;
    request.bytes = 1;
    request.write = write;
    for (const uint64_t at : {uint64_t{offset}, offset + bytes - 1}) {
      request.address[lane_] = request.low = at;
      request.high = at + 1;
      check_shared(w_, in_, request, home);
    }
  }

  // The mbarrier of a copy lies in the block that its bytes go to.
  MBarrier& barrier_in(Block& home, uint32_t* offset) {
    const uint64_t address = address_of(form_.barrier);
    require_alignment(address, 8, "its mbarrier");
    *offset = static_cast<uint32_t>(address & (kOwnShared - 1));
    check_range(home, *offset, 8, true);
    MBarrier* barrier = home.mbarriers.find(*offset);
    if (barrier == nullptr) {
      report_mbarrier(w_, lane_, MBarrierProblem::kNotInitialised);
      throw LaunchFault{LaunchStatus::kTrap};
    }
    return *barrier;
  }

  void send(Block& home, BulkArrival arrival) {
    for (const BulkPiece& piece : arrival.pieces) {
      check_range(home, piece.shared, piece.bytes, true);
    }
    uint32_t offset = 0;
    MBarrier& barrier = barrier_in(home, &offset);
    arrival.issuer = {static_cast<uint32_t>(w_.block->linear),
                      static_cast<uint32_t>(w_.index * 32 + lane_), w_.pc};
    if (w_.checks) race_bulk_arrival(w_, lane_, home, barrier.number, arrival);
    tell(w_, {.kind = PipelineEvent::Kind::kBrings,
              .lanes = 1u << lane_,
              .home = &home,
              .offset = offset,
              .number = barrier.phase,
              .shared = arrival.pieces.empty() ? 0 : arrival.pieces[0].shared,
              .bytes = arrival.bytes});
    barrier.incoming.push_back(std::move(arrival));
    note_change(w_);
    if (barrier.has_all_arrivals() && barrier.incoming_bytes() > barrier.transactions) {
      report_excess_bytes(w_, lane_, barrier);
      throw LaunchFault{LaunchStatus::kTrap};
    }
  }

  // Outside of the tensor are zeros, or the NaN of the type with all bits of the mantissa set.
  void load() {
    const uint64_t to = address_of(form_.shared);
    BulkArrival arrival;
    std::vector<BulkPiece> pieces;
    uint8_t fill[8] = {};
    uint32_t fill_bytes = 1;
    if (form_.dimensions > 0) {
      const TensorMap map = read_map();
      require_alignment(to, 128, "the destination in shared memory");
      pieces = box_of(map);
      arrival.bytes = map.bytes();
      arrival.pieces = place_box(map, static_cast<uint32_t>(to & (kOwnShared - 1)), pieces);
      fill_bytes = map.element_bytes;
      if (map.fills_nan != 0) {
        std::fill_n(fill, fill_bytes, uint8_t{0xff});
        fill[fill_bytes - 1] = 0x7f;
      }
    } else {
      const uint64_t from = address_of(form_.global);
      require_alignment(to, 16, "the destination in shared memory");
      require_alignment(from, 16, "the source in global memory");
      arrival.bytes = size();
      pieces = {{from, static_cast<uint32_t>(to & (kOwnShared - 1)), arrival.bytes}};
      arrival.pieces = pieces;
    }
    access_global(pieces, false);
    count(pieces, false);
    for (const BulkPiece& piece : pieces) append_source(piece, arrival, fill, fill_bytes);
    if (!form_.multicast) return send(home_of(w_, lane_, to), std::move(arrival));
    const uint32_t blocks = static_cast<uint32_t>(value_of(form_.blocks)) & 0xffff;
    if (blocks == 0) refuse(w_, lane_, "its mask of blocks names nobody.");
    for (uint32_t rank = 0; rank < 16; ++rank) {
      if ((blocks >> rank & 1) == 0) continue;
      send(home_of(w_, lane_, shared_address_in(*w_.block, rank, 0)), arrival);
    }
  }

  void store() {
    const uint64_t from = address_of(form_.shared);
    BulkDeparture copy;
    copy.op = form_.op;
    copy.type = form_.type;
    copy.pc = w_.pc;
    if (form_.dimensions > 0) {
      const TensorMap map = read_map();
      require_alignment(from, 128, "the source in shared memory");
      const std::vector<BulkPiece> box = box_of(map);
      copy.pieces = place_box(map, static_cast<uint32_t>(from), box);
      count(box, true);
      if (form_.op != BulkOp::kCopy) copy.type = type_of(map);
    } else {
      const uint64_t to = address_of(form_.global);
      require_alignment(from, 16, "the source in shared memory");
      require_alignment(to, 16, "the destination in global memory");
      copy.pieces = {{to, static_cast<uint32_t>(from), size()}};
      count(copy.pieces, true);
    }
    for (const BulkPiece& piece : copy.pieces) {
      check_range(*w_.block, piece.shared, piece.bytes, false);
    }
    access_global(copy.pieces, true);
    if (w_.checks) race_bulk_departure(w_, lane_, copy.pieces.data(), copy.pieces.size());
    uint32_t bytes = 0;
    for (const BulkPiece& piece : copy.pieces) bytes += piece.bytes;
    tell(w_, {.kind = PipelineEvent::Kind::kTakes,
              .lanes = 1u << lane_,
              .shared = copy.pieces.empty() ? 0 : copy.pieces[0].shared,
              .bytes = bytes});
    w_.bulk_groups.issue(lane_, std::move(copy));
  }

  // The order of CUtensorMapDataType.
  BulkType type_of(const TensorMap& map) const {
    constexpr BulkType kTypes[] = {BulkType::kU32, BulkType::kU32,  BulkType::kU32, BulkType::kS32,
                                   BulkType::kU64, BulkType::kS64,  BulkType::kF16, BulkType::kF32,
                                   BulkType::kF64, BulkType::kBF16, BulkType::kF32};
    const bool bits =
        form_.op == BulkOp::kAnd || form_.op == BulkOp::kOr || form_.op == BulkOp::kXor;
    if (map.type < 2 && !bits) {
      refuse(w_, lane_, "a reduction of 8-bit and 16-bit integers is not supported.");
    }
    if (map.type > 10) refuse(w_, lane_, "a reduction of this type is not supported.");
    return bits ? (map.element_bytes == 8 ? BulkType::kU64 : BulkType::kU32) : kTypes[map.type];
  }

  void across() {
    const uint64_t to = address_of(form_.shared), from = address_of(form_.source);
    require_alignment(to, 16, "the destination in shared memory");
    require_alignment(from, 16, "the source in shared memory");
    BulkArrival arrival;
    arrival.bytes = size();
    arrival.op = form_.op;
    arrival.type = form_.type;
    arrival.pieces = {{0, static_cast<uint32_t>(to & (kOwnShared - 1)), arrival.bytes}};
    check_range(*w_.block, static_cast<uint32_t>(from), arrival.bytes, false);
    const BulkPiece source{0, static_cast<uint32_t>(from), arrival.bytes};
    if (w_.checks) race_proxy_read(w_, lane_, &source, 1);
    const Block& own = *w_.block;
    arrival.data.assign(own.shared.data() + from, own.shared.data() + from + arrival.bytes);
    if (!own.shared_undefined.empty()) {
      const uint8_t* shadow = own.shared_undefined.data() + from;
      arrival.undefined.assign(shadow, shadow + arrival.bytes);
    }
    send(home_of(w_, lane_, to), std::move(arrival));
  }

  void registers() {
    const uint64_t to = address_of(form_.shared);
    BulkArrival arrival;
    arrival.bytes = uint32_t{form_.bytes} * form_.count;
    require_alignment(to, arrival.bytes, "the destination in shared memory");
    arrival.op = form_.op;
    arrival.type = form_.type;
    arrival.pieces = {{0, static_cast<uint32_t>(to & (kOwnShared - 1)), arrival.bytes}};
    for (size_t i = 0; i < form_.count; ++i) {
      const uint64_t value = form_.bytes == 8 ? w_.in<uint64_t>(form_.values[i])[lane_]
                                              : w_.in<uint32_t>(form_.values[i])[lane_];
      const auto* bytes = reinterpret_cast<const uint8_t*>(&value);
      arrival.data.insert(arrival.data.end(), bytes, bytes + form_.bytes);
    }
    send(home_of(w_, lane_, to), std::move(arrival));
  }

  // Into L2: nothing changes, but the addresses must be there.
  void prefetch() {
    if (form_.dimensions > 0) {
      read_map();
      return;
    }
    const uint64_t from = address_of(form_.global);
    require_alignment(from, 16, "the source in global memory");
    each_request(from, size(), false, [&](const Request& r) { check_global(w_, in_, r); });
  }

  Warp& w_;
  const Instr& in_;
  const BulkForm& form_;
  const int lane_, first_;
  Instr access_;
};

void check_operands(Warp& w, const BulkForm& form, uint32_t mask) {
  if (!w.any_undefined) return;
  const auto check = [&](Place place, const char* what) {
    if (place == kNoPlace || !is_register(place)) return;
    const uint32_t lanes = w.undefined_lanes(place) & mask;
    if (lanes == 0) return;
    report_undefined(w, place, lanes, what);
    w.undefined_lanes(place) &= ~lanes;
  };
  for (const BulkAddress* address : {&form.shared, &form.source, &form.global, &form.barrier}) {
    check(address->base, "is used as an address");
  }
  for (const Place place : form.coordinates) check(place, "is a coordinate of a copy");
  for (const Place place : form.offsets) check(place, "is an offset of a copy");
  for (const Place place : form.values) check(place, "is written to another block");
  check(form.size, "decides how much is copied");
  check(form.blocks, "decides which blocks a copy goes to");
}

void op_bulk(Warp& w, const Instr& in, uint32_t m) {
  const BulkForm& form = w.module->bulks[in.extra];
  check_operands(w, form, m);
  const int first = std::countr_zero(m);
  each_lane(m, [&](int lane) { Issue(w, in, form, lane, first).run(); });
}

void op_bulk_commit(Warp& w, const Instr&, uint32_t m) { w.bulk_groups.commit(m); }

template <bool kRead>
void op_bulk_wait(Warp& w, const Instr& in, uint32_t m) {
  w.bulk_groups.wait(w, m, static_cast<uint32_t>(in.imm), kRead);
}

void op_proxy_fence(Warp& w, const Instr&, uint32_t m) {
  if (w.checks) proxy_fence_passed(w, m);
}

void op_cluster_arrive(Warp& w, const Instr& in, uint32_t m) {
  arrive_at_cluster(w, m, in.imm != 0);
}

void op_mapa(Warp& w, const Instr& in, uint32_t m) {
  const uint32_t* ranks = w.in<uint32_t>(in.ops[2]);
  const uint64_t window = in.imm != 0 ? kSharedWindow : 0;
  each_lane(m, [&](int lane) {
    const uint64_t address =
        in.source_size == 8 ? w.in<uint64_t>(in.ops[1])[lane] : w.in<uint32_t>(in.ops[1])[lane];
    const uint32_t offset = static_cast<uint32_t>(address - window) & (kOwnShared - 1);
    const uint64_t mapped = window + shared_address_in(*w.block, ranks[lane] & 0x7f, offset);
    if (in.source_size == 8) {
      w.out<uint64_t>(in.ops[0])[lane] = mapped;
    } else {
      w.out<uint32_t>(in.ops[0])[lane] = static_cast<uint32_t>(mapped);
    }
  });
}

void op_getctarank(Warp& w, const Instr& in, uint32_t m) {
  const uint64_t window = in.imm != 0 ? kSharedWindow : 0;
  each_lane(m, [&](int lane) {
    const uint64_t address =
        in.source_size == 8 ? w.in<uint64_t>(in.ops[1])[lane] : w.in<uint32_t>(in.ops[1])[lane];
    w.out<uint32_t>(in.ops[0])[lane] = rank_of(*w.block, address - window);
  });
}

}  // namespace

Handler handler_bulk() { return op_bulk; }
Handler handler_bulk_commit() { return op_bulk_commit; }
Handler handler_bulk_wait(bool read) { return read ? op_bulk_wait<true> : op_bulk_wait<false>; }
Handler handler_proxy_fence() { return op_proxy_fence; }
Handler handler_cluster_arrive() { return op_cluster_arrive; }
Handler handler_mapa() { return op_mapa; }
Handler handler_getctarank() { return op_getctarank; }

}  // namespace warplings::sim
