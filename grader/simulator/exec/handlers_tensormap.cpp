// tensormap.replace, tensormap.cp_fenceproxy, and the fences of tensor maps. A map has the layout
// of memory/tensor_map.h, wherever it lies; who has said that it changed is asked by racecheck.
#include <cstring>

#include "decode/bulk.h"
#include "decode/handlers.h"
#include "exec/events.h"
#include "exec/fault.h"
#include "exec/lanes.h"
#include "exec/memory_access.h"
#include "exec/reports.h"
#include "exec/request.h"
#include "memory/device_memory.h"
#include "memory/tensor_map.h"

namespace warplings::sim {
namespace {

using namespace baseline;  // NOLINT: lanes.h lives in the namespace of its build

[[noreturn]] void refuse_map(Warp& w, int lane, const std::string& problem) {
  report_bulk_operand(w, lane, problem);
  throw LaunchFault{LaunchStatus::kTrap};
}

// The 128 bytes of a lane, after the checks of an access of 16 bytes eight times.
uint8_t* map_bytes(Warp& w, const Instr& in, int lane, uint64_t address, Space space) {
  Request request;
  request.mask = 1u << lane;
  request.bytes = 16;
  request.write = true;
  if (address % 64 != 0) refuse_map(w, lane, "the tensor map is not aligned to 64 bytes.");
  for (uint32_t at = 0; at < TensorMap::kBytes; at += 16) {
    request.address[lane] = request.low = address + at;
    request.high = request.low + 16;
    if (space == Space::kShared) {
      check_shared(w, in, request);
    } else {
      check_global(w, in, request);
    }
  }
  return space == Space::kShared ? w.block->shared.data() + address
                                 : DeviceMemory::instance().view(address);
}

// The elements of a type, in the order of the PTX ISA and of CUtensorMapDataType.
void set_type(Warp& w, int lane, uint64_t value, TensorMap& map) {
  constexpr uint8_t kDriver[] = {0, 1, 2, 3, 4, 5, 6, 7, 10, 8, 9, 11, 12};
  constexpr uint8_t kBytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 4, 8, 2, 4, 4};
  if (value >= sizeof kDriver) refuse_map(w, lane, "this type of elements is one of later cards.");
  map.type = kDriver[value];
  map.element_bytes = kBytes[value];
  map.stride[0] = map.element_bytes;
}

void set_field(Warp& w, int lane, MapField field, size_t dimension, uint64_t value,
               TensorMap& map) {
  const auto require = [&](bool holds, const char* rule) {
    if (!holds) refuse_map(w, lane, "the new value is " + std::to_string(value) + "; " + rule);
  };
  switch (field) {
    case MapField::kAddress:
      require(value % 16 == 0, "the address of a tensor is a multiple of 16.");
      map.address = value;
      return;
    case MapField::kRank:  // one less than the number of dimensions
      require(value < 5, "a tensor has 1 to 5 dimensions, and the value is one less.");
      map.dimensions = static_cast<uint8_t>(value + 1);
      return;
    case MapField::kBox:
      require(value >= 1 && value <= 256, "a box has 1 to 256 elements in each dimension.");
      map.box[dimension] = static_cast<uint16_t>(value);
      return;
    case MapField::kExtent:
      require(value >= 1, "an extent is at least 1.");
      map.extent[dimension] = static_cast<uint32_t>(value - 1);
      return;
    case MapField::kStride:
      require(value % 16 == 0 && value < uint64_t{1} << 40 && dimension < 4,
              "a stride is a multiple of 16 bytes, below 2^40, and there are four.");
      map.stride[dimension + 1] = value;
      return;
    case MapField::kStep:
      require(value >= 1 && value <= 8, "a traversal stride is 1 to 8.");
      if (dimension > 0) map.steps[dimension] = static_cast<uint8_t>(value);
      return;
    case MapField::kType:
      return set_type(w, lane, value, map);
    case MapField::kSwizzle:
      require(value <= 3, "a swizzle is 0 to 3.");
      map.swizzle = static_cast<TensorSwizzle>(value);
      return;
    case MapField::kFill:
      require(value <= 1, "the fill is 0 or 1.");
      map.fills_nan = static_cast<uint8_t>(value);
      return;
  }
}

// A generic address of shared memory is one of shared memory.
Space resolve(const Instr& in, uint64_t* address) {
  if (in.space != Space::kGeneric) return in.space;
  const Space space = space_of(*address);
  if (space == Space::kShared) *address -= kSharedWindow;
  return space;
}

void op_replace(Warp& w, const Instr& in, uint32_t m) {
  const Request request = make_request(w, in, m, true);
  each_lane(m, [&](int lane) {
    uint64_t address = request.address[lane];
    const Space space = resolve(in, &address);
    uint8_t* bytes = map_bytes(w, in, lane, address, space);
    TensorMap map;
    std::memcpy(static_cast<void*>(&map), bytes, sizeof map);
    if (!map.is_whole()) refuse_map(w, lane, "the 128 bytes at its address are no tensor map.");
    if (map.im2col) refuse_map(w, lane, "the map is of cuTensorMapEncodeIm2col, not tiled.");
    if (map.unit != 0) refuse_map(w, lane, "changes of an interleaved map are not supported.");
    const uint64_t value =
        in.source_size == 8 ? w.in<uint64_t>(in.ops[1])[lane] : w.in<uint32_t>(in.ops[1])[lane];
    set_field(w, lane, static_cast<MapField>(in.extra), in.target, value, map);
    map.check = map.sum();
    std::memcpy(bytes, &map, sizeof map);
    if (w.checks && space == Space::kGlobal) map_changed(w, address);
  });
}

// The lanes of a warp together move one map.
void op_copy(Warp& w, const Instr& in, uint32_t m) {
  const int lane = std::countr_zero(m);
  const uint64_t to = make_request(w, in, m, true).address[lane];
  const uint32_t base = in.ops[1] == kNoPlace ? 0 : w.in<uint32_t>(in.ops[1])[lane];
  const uint8_t* from = map_bytes(w, in, lane, base + in.extra, Space::kShared);
  uint8_t* target = map_bytes(w, in, lane, to, Space::kGlobal);
  std::memcpy(target, from, TensorMap::kBytes);
  DeviceMemory::instance().mark_defined(to, TensorMap::kBytes);
  if (!w.checks) return;
  map_changed(w, to);
  maps_released(w);
}

void op_release(Warp& w, const Instr&, uint32_t) {
  if (w.checks) maps_released(w);
}

void op_acquire(Warp& w, const Instr& in, uint32_t m) {
  if (!w.checks) return;
  const Request request = make_request(w, in, m, false);
  each_lane(m, [&](int lane) { map_acquired(w, request.address[lane]); });
}

}  // namespace

Handler handler_map_replace() { return op_replace; }
Handler handler_map_copy() { return op_copy; }
Handler handler_map_fence(bool acquires) { return acquires ? op_acquire : op_release; }

}  // namespace warplings::sim
