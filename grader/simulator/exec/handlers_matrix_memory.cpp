// Fragments to and from memory: wmma.load, wmma.store, ldmatrix, stmatrix.
//
// Each is a row of ordinary requests, checked and counted as such: wmma moves one register of A or
// B (a pair of C) per lane and request where the elements are neighbours in memory, else one
// element; ldmatrix and stmatrix move the rows of all their blocks in one request, 16 bytes per
// lane.
#include <algorithm>
#include <array>
#include <cstring>

#include "decode/handlers.h"
#include "decode/matrix.h"
#include "exec/access.h"
#include "exec/reports.h"

namespace warplings::sim {
namespace {

using namespace baseline;  // NOLINT: lanes.h lives in the namespace of its build

constexpr int kMostBytes = 32;  // of a fragment that one lane holds

// What the lanes hold of a fragment, in the order of its elements, and which bytes are undefined.
struct Held {
  std::array<std::array<uint8_t, kMostBytes>, 32> bytes{};
  std::array<std::array<uint8_t, kMostBytes>, 32> undefined{};
};

void check_address(Warp& w, const Instr& in, uint32_t lanes) {
  if (!w.any_undefined || !w.checks) return;
  for (const Place place : {in.ops[3], in.ops[4]}) {
    if (place == kNoPlace || !is_register(place)) continue;
    const uint32_t found = w.undefined_lanes(place) & lanes;
    if (found != 0) report_undefined(w, place, found, "is used as an address");
  }
}

void begin(Warp& w, const Instr& in, uint32_t lanes) {
  if (w.checks && lanes != 0xffffffffu) report_partial_warp(w, lanes);
  check_address(w, in, lanes);
}

// One request; a generic address may lie in either space.
void move(Warp& w, const Instr& in, Request request, const Buffered& lanes) {
  request.values = request.write ? lanes.value : nullptr;
  request.values_stride = static_cast<uint32_t>(lanes.stride);
  global_or_shared(in, request, [&](const Request& part, bool shared) {
    if (!shared) return access(InGlobal{w, in, part}, lanes);
    access(InShared{{w, in, part}, *w.block}, lanes);
  });
}

// Registers of one lane from the bytes that it holds, and back. Registers beyond those that the
// elements fill repeat the first ones.
void write_registers(Warp& w, const Fragment& f, uint32_t lanes, const Held& held) {
  const size_t width = static_cast<size_t>(f.register_bytes());
  const size_t filled = static_cast<size_t>(f.filled_registers());
  for (size_t r = 0; r < f.registers.size(); ++r) {
    const Place place = f.registers[r];
    if (place == kNoPlace) continue;
    const size_t from = r % filled * width;
    each_lane(lanes, [&](int lane) {
      const size_t l = static_cast<size_t>(lane);
      std::memcpy(w.out<uint8_t>(place) + l * width, &held.bytes[l][from], width);
      uint32_t undefined = 0;
      for (size_t k = 0; k < width; ++k) {
        undefined |= static_cast<uint32_t>(held.undefined[l][from + k]) << k;
      }
      if (undefined == 0 && !w.any_undefined) return;
      w.any_undefined = true;
      w.undefined_bytes(place)[lane] = static_cast<uint8_t>(undefined);
      uint32_t& flags = w.undefined_lanes(place);
      flags = undefined != 0 ? flags | 1u << lane : flags & ~(1u << lane);
    });
  }
}

void read_registers(Warp& w, const Fragment& f, uint32_t lanes, Held& held) {
  const size_t width = static_cast<size_t>(f.register_bytes());
  for (size_t r = 0; r < static_cast<size_t>(f.filled_registers()); ++r) {
    const Place place = f.registers[r];
    const bool track = w.any_undefined && is_register(place);
    each_lane(lanes, [&](int lane) {
      const size_t l = static_cast<size_t>(lane);
      std::memcpy(&held.bytes[l][r * width], w.in<uint8_t>(place) + l * width, width);
      if (!track || !((w.undefined_lanes(place) >> lane) & 1)) return;
      for (size_t k = 0; k < width; ++k) {
        held.undefined[l][r * width + k] = (w.undefined_bytes(place)[lane] >> k) & 1;
      }
    });
  }
}

// Elements of a lane that are neighbours in memory: they move together.
int run_length(const MatrixOp& op) {
  const Fragment& f = op.a;
  if (op.column_major != (f.part == MatrixPart::kB)) return 1;
  return f.part == MatrixPart::kC ? 2 : f.per_register;
}

void move_fragment(Warp& w, const Instr& in, uint32_t lanes, bool write, Held& held) {
  const MatrixOp& op = w.module->matrices[in.extra];
  const Fragment& f = op.a;
  const Request base = make_request(w, in, lanes, write);
  std::array<uint32_t, 32> stride;
  stride.fill(static_cast<uint32_t>(op.column_major ? f.rows : f.columns));
  if (in.ops[3] != kNoPlace) std::copy_n(w.in<uint32_t>(in.ops[3]), 32, stride.begin());
  const size_t bits = static_cast<size_t>(bits_of(f.type));
  const int run = run_length(op);
  for (int e = 0; e < f.elements; e += run) {
    Request request = base;
    request.bytes = static_cast<uint32_t>(static_cast<size_t>(run) * bits / 8);
    for (size_t lane = 0; lane < 32; ++lane) {
      const uint64_t at = f.at[static_cast<size_t>(e) * 32 + lane];
      const uint64_t row = at / static_cast<uint64_t>(f.columns);
      const uint64_t column = at % static_cast<uint64_t>(f.columns);
      const uint64_t index =
          op.column_major ? column * stride[lane] + row : row * stride[lane] + column;
      request.address[lane] += index * bits / 8;
    }
    const size_t first = static_cast<size_t>(e) * bits / 8;
    move(w, in, request, {&held.bytes[0][first], &held.undefined[0][first], kMostBytes});
  }
}

void op_wmma_load(Warp& w, const Instr& in, uint32_t lanes) {
  begin(w, in, lanes);
  Held held;
  move_fragment(w, in, lanes, false, held);
  write_registers(w, w.module->matrices[in.extra].a, lanes, held);
}

void op_wmma_store(Warp& w, const Instr& in, uint32_t lanes) {
  begin(w, in, lanes);
  Held held;
  read_registers(w, w.module->matrices[in.extra].a, lanes, held);
  move_fragment(w, in, lanes, true, held);
}

// ---- blocks of 8 x 8

constexpr size_t kRow = 16;  // bytes

// Rows of all blocks: row r of block b is that of lane 8 b + r.
struct Rows {
  std::array<uint8_t, 32 * kRow> bytes{};
  std::array<uint8_t, 32 * kRow> undefined{};
  Buffered lanes() { return {bytes.data(), undefined.data(), kRow}; }
};

// Where in its block the two elements of a lane stand, in bytes.
size_t element_at(bool transposed, int lane, int which) {
  const size_t across = static_cast<size_t>(lane % 4 * 2 + which),
               down = static_cast<size_t>(lane / 4);
  return transposed ? across * kRow + down * 2 : down * kRow + across * 2;
}

Request rows_request(Warp& w, const Instr& in, uint32_t lanes, int blocks, bool write) {
  Request request = make_request(w, in, lanes, write);
  if (blocks < 4) request.mask &= (1u << (8 * blocks)) - 1;
  return request;
}

void op_ldmatrix(Warp& w, const Instr& in, uint32_t m) {
  begin(w, in, m);
  const MatrixOp& op = w.module->matrices[in.extra];
  Rows rows;
  const Request request = rows_request(w, in, m, op.blocks, false);
  if (request.mask != 0) move(w, in, request, rows.lanes());
  for (int block = 0; block < op.blocks; ++block) {
    const Place place = op.a.registers[static_cast<size_t>(block)];
    if (place == kNoPlace) continue;
    each_lane(m, [&](int lane) {
      uint32_t value = 0, undefined = 0;
      for (int which = 0; which < 2; ++which) {
        const size_t at =
            static_cast<size_t>(block) * 8 * kRow + element_at(op.transposed, lane, which);
        uint16_t element;
        std::memcpy(&element, &rows.bytes[at], 2);
        value |= static_cast<uint32_t>(element) << (16 * which);
        undefined |= (rows.undefined[at] | rows.undefined[at + 1] * 2u) << (2 * which);
      }
      w.out<uint32_t>(place)[lane] = value;
      if (undefined == 0 && !w.any_undefined) return;
      w.any_undefined = true;
      w.undefined_bytes(place)[lane] = static_cast<uint8_t>(undefined);
      uint32_t& flags = w.undefined_lanes(place);
      flags = undefined != 0 ? flags | 1u << lane : flags & ~(1u << lane);
    });
  }
}

void op_stmatrix(Warp& w, const Instr& in, uint32_t m) {
  begin(w, in, m);
  const MatrixOp& op = w.module->matrices[in.extra];
  Rows rows;
  for (int block = 0; block < op.blocks; ++block) {
    const Place place = op.a.registers[static_cast<size_t>(block)];
    const bool track = w.any_undefined && is_register(place);
    each_lane(m, [&](int lane) {
      const bool some = track && ((w.undefined_lanes(place) >> lane) & 1);
      for (int which = 0; which < 2; ++which) {
        const size_t at =
            static_cast<size_t>(block) * 8 * kRow + element_at(op.transposed, lane, which);
        const uint16_t element = static_cast<uint16_t>(w.in<uint32_t>(place)[lane] >> (16 * which));
        std::memcpy(&rows.bytes[at], &element, 2);
        if (!some) continue;
        const uint8_t bytes = w.undefined_bytes(place)[lane];
        rows.undefined[at] = (bytes >> (2 * which)) & 1;
        rows.undefined[at + 1] = (bytes >> (2 * which + 1)) & 1;
      }
    });
  }
  const Request request = rows_request(w, in, m, op.blocks, true);
  if (request.mask != 0) move(w, in, request, rows.lanes());
}

}  // namespace

Handler handler_wmma_load() { return op_wmma_load; }
Handler handler_wmma_store() { return op_wmma_store; }
Handler handler_ldmatrix() { return op_ldmatrix; }
Handler handler_stmatrix() { return op_stmatrix; }

}  // namespace warplings::sim
