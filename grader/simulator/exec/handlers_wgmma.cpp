// wgmma: products of four warps, with matrices that lie in shared memory.
//
// The values are those of mma.sync (exec/handlers_matrix.cpp): exact products, summed in double in
// order of k and rounded once.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <utility>
#include <vector>

#include "decode/handlers.h"
#include "decode/wgmma.h"
#include "exec/events.h"
#include "exec/fault.h"
#include "exec/fragments.h"
#include "exec/interpreter.h"
#include "exec/observer.h"
#include "exec/reports.h"
#include "exec/wgmma.h"

namespace warplings::sim {
namespace {

using namespace baseline;  // NOLINT: lanes.h lives in the namespace of its build

using Warps = std::array<Warp*, kWarpgroup>;
constexpr uint32_t kAll = 0xffffffffu;

// ---- registers

uint32_t slot_in(const Warp& w, Place place) { return w.undefined_base + slot_of(place); }

void check_dirty(Warp& w, const WgmmaState::Mark& mark) {
  if (mark.written == w.wgmma.fences) report_missing_wgmma_fence(w);
}

uint16_t shape_of(const WgmmaOp& op) {
  return static_cast<uint16_t>(op.n << 1 | (op.d.type == MatrixType::kF16));
}

void check_fragments(Warp& w, const WgmmaOp& op, bool adds) {
  WgmmaState& state = w.wgmma;
  if (!state.fenced) report_missing_wgmma_fence(w);
  for (const Place place : op.a.registers) {
    if (!is_register(place)) continue;
    const WgmmaState::Mark& mark = state.mark(slot_in(w, place));
    if (state.in_flight(mark) && mark.is_sum) report_register_in_flight(w, mark.pc, true);
    check_dirty(w, mark);
  }
  for (const Place place : op.d.registers) {
    if (!is_register(place)) continue;
    const WgmmaState::Mark& mark = state.mark(slot_in(w, place));
    const bool other_shape = state.in_flight(mark) && mark.shape != shape_of(op);
    if (other_shape) report_missing_wgmma_fence(w);
    if (adds) check_dirty(w, mark);
  }
}

void mark_fragments(Warp& w, const WgmmaOp& op) {
  WgmmaState& state = w.wgmma;
  for (const Place place : op.a.registers) {
    if (!is_register(place)) continue;
    WgmmaState::Mark& mark = state.mark(slot_in(w, place));
    mark = {state.issued, w.pc, mark.written, shape_of(op), false};
  }
  for (const Place place : op.d.registers) {
    if (is_register(place)) {
      state.mark(slot_in(w, place)) = {state.issued, w.pc, 0, shape_of(op), true};
    }
  }
}

void check_defined(Warp& w, const WgmmaOp& op, bool adds) {
  const auto check = [&](const Fragment& f) {
    const uint32_t found = undefined_lanes(w, f, kAll);
    if (found != 0) report_undefined(w, found, "is an element of a matrix that is multiplied");
    for (const Place place : f.registers) {
      if (is_register(place)) w.undefined_lanes(place) = 0;
    }
  };
  if (!op.reads_a()) check(op.a);
  check_metadata(w, op.sparse, op.a_type, kAll);
  if (adds) check(op.d);
  for (const Place place : op.d.registers) {
    if (place != kNoPlace) w.undefined_lanes(place) = 0;
  }
}

// ---- operands of the whole warpgroup

// The value that all 128 threads must give.
template <class T>
T common(const Warps& warps, Place place) {
  const T first = warps[0]->in<T>(place)[0];
  for (Warp* w : warps) {
    const T* lanes = w->in<T>(place);
    if (std::any_of(lanes, lanes + 32, [&](T value) { return value != first; })) {
      report_descriptor(*w, DescriptorProblem::kDiffers, 0);
      throw LaunchFault{LaunchStatus::kTrap};
    }
  }
  return first;
}

// A predicate is one word of 32 lanes.
bool common_predicate(const Warps& warps, Place place) {
  const uint32_t first = (warps[0]->predicate(place) & 1) != 0 ? kAll : 0;
  for (Warp* w : warps) {
    if (w->predicate(place) == first) continue;
    report_descriptor(*w, DescriptorProblem::kDiffers, 0);
    throw LaunchFault{LaunchStatus::kTrap};
  }
  return first != 0;
}

void check_operands_defined(const Warps& warps, const Instr& in) {
  for (Warp* w : warps) {
    if (!w->any_undefined || !w->checks) continue;
    for (const int k : {1, 2, 3}) {
      if (in.ops[k] == kNoPlace || !is_register(in.ops[k])) continue;
      const uint32_t found = w->undefined_lanes(in.ops[k]);
      if (found != 0) report_undefined(*w, in.ops[k], found, "says what wgmma multiplies");
    }
  }
}

// Units of a matrix of `mn` rows (of A) or columns (of B), in an order of no meaning.
void list_units(Warp& w, const SharedMatrix& matrix, int mn, int k, std::vector<uint32_t>* units) {
  const int along_mn = matrix.mn_major ? matrix.per_unit : 1;
  const int along_k = matrix.mn_major ? 1 : matrix.per_unit;
  const size_t bytes = w.block->shared.size();
  for (int i = 0; i < mn; i += along_mn) {
    for (int j = 0; j < k; j += along_k) {
      const uint32_t unit = matrix.unit_of(i, j);
      if (unit + kUnit > bytes) {
        report_descriptor(w, DescriptorProblem::kOutside, unit);
        throw LaunchFault{LaunchStatus::kIllegalAddress};
      }
      units->push_back(unit);
    }
  }
}

SharedMatrix shared_matrix(const Warps& warps, Place place, bool mn_major, MatrixType type) {
  const SharedMatrix matrix(common<uint64_t>(warps, place), mn_major, type);
  if (matrix.base_offset != 0) {
    report_unsupported(*warps[0],
                       "a descriptor with a base offset: let the swizzled pattern begin "
                       "at a multiple of its size");
    throw LaunchFault{LaunchStatus::kUnsupported};
  }
  return matrix;
}

// 64 bytes of k: what a pattern of 32 has beside a row, nobody here has found out.
void require_whole_row(const Warps& warps, const WgmmaOp& op, const SharedMatrix& b) {
  if (op.sparse.chunk == 0 || b.mn_major || b.swizzle != 1) return;
  report_unsupported(*warps[0],
                     "a sparse product whose B is k-major with a swizzle of 32 bytes: a row of it "
                     "has 64 bytes of k");
  throw LaunchFault{LaunchStatus::kUnsupported};
}

// decode(bits) of element (mn, k), for all of them: values[mn * mn_step + k * k_step].
template <class T, class Decode>
void read_shared(const Block& block, const SharedMatrix& matrix, int mn, int k, T* values,
                 int mn_step, int k_step, Decode decode) {
  const int bits = static_cast<int>(kUnit) * 8 / matrix.per_unit;
  const uint32_t mask = bits == 32 ? kAll : (1u << bits) - 1;
  const int along_mn = matrix.mn_major ? matrix.per_unit : 1;
  const int along_k = matrix.mn_major ? 1 : matrix.per_unit;
  const int step = matrix.mn_major ? mn_step : k_step;
  for (int i = 0; i < mn; i += along_mn) {
    for (int j = 0; j < k; j += along_k) {
      std::array<uint32_t, kUnit / 4> words;
      std::memcpy(words.data(), block.shared.data() + matrix.unit_of(i, j), kUnit);
      T* to = values + i * mn_step + j * k_step;
      for (int e = 0; e < matrix.per_unit; ++e) {
        const int bit = e * bits;
        to[e * step] =
            static_cast<T>(decode(words[static_cast<size_t>(bit / 32)] >> bit % 32 & mask));
      }
    }
  }
}

// ---- one product

struct Product {
  const WgmmaOp& op;
  const Warps& warps;
  bool adds = false;
  SharedMatrix a, b;
};

// 16 rows of `sums` += a times b; row by row, so that a compiler vectorises along n.
template <class T, class Sum>
void multiply_rows(const T* a, const T* b, Sum* sums, int n, int k, bool bits) {
  for (int i = 0; i < 16; ++i) {
    Sum* row = sums + i * n;
    for (int depth = 0; depth < k; ++depth) {
      const Sum x = static_cast<Sum>(a[i * k + depth]);
      const T* y = b + depth * n;
      if (bits && x == 0) continue;
      for (int j = 0; j < n; ++j) row[j] += x * static_cast<Sum>(y[j]);
    }
  }
}

// 16 rows of A with its zeros; where A is not sparse, it is what was stored.
template <class T>
const T* whole_rows(const Warp& w, const WgmmaOp& op, const T* stored, std::vector<T>* full) {
  if (op.sparse.chunk == 0) return stored;
  full->resize(static_cast<size_t>(16 * op.k));
  unpack_sparse(w, op.sparse, op.a_type, stored, op.stored_k(), full->data());
  return full->data();
}

void multiply_floats(const Product& p) {
  const int n = p.op.n, k = p.op.k, stored = p.op.stored_k();
  std::vector<double> a(static_cast<size_t>(kWarpgroupRows * stored)),
      b(static_cast<size_t>(k * n)), sums(static_cast<size_t>(16 * n)), full;
  const Block& block = *p.warps[0]->block;
  const auto scaled = [](auto decode, bool negate) {
    return [=](uint32_t x) { return negate ? -decode(x) : decode(x); };
  };
  with_decoder(p.op.b_type, [&](auto decode) {
    read_shared(block, p.b, n, k, b.data(), 1, n, scaled(decode, p.op.negate_b));
  });
  with_decoder(p.op.a_type, [&](auto decode) {
    const auto value = scaled(decode, p.op.negate_a);
    if (p.op.reads_a()) read_shared(block, p.a, kWarpgroupRows, stored, a.data(), stored, 1, value);
  });
  for (size_t i = 0; i < p.warps.size(); ++i) {
    Warp& w = *p.warps[i];
    double* rows = a.data() + i * 16 * static_cast<size_t>(stored);
    if (!p.op.reads_a()) {
      gather_floats(w, p.op.a, rows);
      if (p.op.negate_a) std::transform(rows, rows + 16 * stored, rows, std::negate<>());
    }
    std::fill(sums.begin(), sums.end(), 0.0);
    if (p.adds) gather_floats(w, p.op.d, sums.data());
    multiply_rows(whole_rows(w, p.op, rows, &full), b.data(), sums.data(), n, k, false);
    scatter_floats(w, p.op.d, sums.data(), kAll);
  }
}

void multiply_integers(const Product& p) {
  const int n = p.op.n, k = p.op.k, stored = p.op.stored_k();
  std::vector<int32_t> a(static_cast<size_t>(kWarpgroupRows * stored)),
      b(static_cast<size_t>(k * n)), before(static_cast<size_t>(16 * n)), full;
  std::vector<int64_t> sums(before.size());
  const Block& block = *p.warps[0]->block;
  const auto decode = [](MatrixType type) {
    return [is_signed = type == MatrixType::kS8](uint32_t x) {
      return is_signed ? static_cast<int32_t>(static_cast<int8_t>(x)) : static_cast<int32_t>(x);
    };
  };
  read_shared(block, p.b, n, k, b.data(), 1, n, decode(p.op.b_type));
  if (p.op.reads_a()) {
    read_shared(block, p.a, kWarpgroupRows, stored, a.data(), stored, 1, decode(p.op.a_type));
  }
  for (size_t i = 0; i < p.warps.size(); ++i) {
    Warp& w = *p.warps[i];
    int32_t* rows = a.data() + i * 16 * static_cast<size_t>(stored);
    if (!p.op.reads_a()) gather_integers(w, p.op.a, rows);
    std::fill(sums.begin(), sums.end(), 0);
    if (p.adds) {
      gather_integers(w, p.op.d, before.data());
      std::copy(before.begin(), before.end(), sums.begin());
    }
    // The product of two bits is their and.
    multiply_rows(whole_rows(w, p.op, rows, &full), b.data(), sums.data(), n, k,
                  p.op.a_type == MatrixType::kB1);
    scatter(w, p.op.d, sums.data(), kAll, [&](int64_t sum) {
      if (p.op.saturate) sum = std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX);
      return static_cast<uint32_t>(sum);
    });
  }
}

void check_shared_operands(const Product& p) {
  Warp& first = *p.warps[0];
  std::vector<uint32_t> units;
  list_units(first, p.b, p.op.n, p.op.k, &units);
  if (p.op.reads_a()) list_units(first, p.a, kWarpgroupRows, p.op.stored_k(), &units);
  if (!first.checks) return;
  const std::vector<uint8_t>& shadow = first.block->shared_undefined;
  for (const uint32_t unit : units) {
    const auto begin = shadow.begin() + unit;
    if (std::any_of(begin, begin + kUnit, [](uint8_t byte) { return byte != 0; })) {
      report_undefined(first, 1,
                       "is an element of a matrix in shared memory that wgmma multiplies");
      break;
    }
  }
  wgmma_begins(first, first.wgmma.issued, units.data(), units.size());
}

// From shared memory.
uint32_t bytes_read(const WgmmaOp& op) {
  const int elements = op.n * op.k + (op.reads_a() ? kWarpgroupRows * op.stored_k() : 0);
  return static_cast<uint32_t>(elements * bits_of(op.b_type) / 8);
}

void run_product(const Warps& warps, const Instr& in) {
  const WgmmaOp& op = warps[0]->module->wgmmas[in.extra];
  check_operands_defined(warps, in);
  const SharedMatrix b = shared_matrix(warps, in.ops[2], op.mn_major_b, op.b_type);
  require_whole_row(warps, op, b);
  const SharedMatrix a =
      op.reads_a() ? shared_matrix(warps, in.ops[1], op.mn_major_a, op.a_type) : b;
  const Product product{op, warps, common_predicate(warps, in.ops[3]), a, b};
  for (Warp* w : warps) {
    ++w->wgmma.issued;
    if (!w->wgmma.watches) continue;
    check_fragments(*w, op, product.adds);
    if (w->any_undefined) check_defined(*w, op, product.adds);
    mark_fragments(*w, op);
  }
  const WgmmaState& state = warps[0]->wgmma;
  tell(*warps[0], {.kind = PipelineEvent::Kind::kMultiplies,
                   .lanes = kAll,
                   .number = state.issued,
                   .group = state.groups.empty() ? state.complete : state.groups.back(),
                   .bytes = bytes_read(op)});
  check_shared_operands(product);
  if (op.d.type == MatrixType::kS32) {
    multiply_integers(product);
  } else {
    multiply_floats(product);
  }
}

// ---- wgmma.fence, .commit_group, .wait_group

void whole_warp(Warp& w, uint32_t lanes) {
  if (w.checks && lanes != kAll) report_partial_warp(w, lanes);
}

void op_fence(Warp& w, const Instr&, uint32_t lanes) {
  whole_warp(w, lanes);
  w.wgmma.fenced = true;
  ++w.wgmma.fences;
}

void op_commit(Warp& w, const Instr&, uint32_t lanes) {
  whole_warp(w, lanes);
  w.wgmma.groups.push_back(w.wgmma.issued);
}

void op_wait(Warp& w, const Instr& in, uint32_t lanes) {
  whole_warp(w, lanes);
  WgmmaState& state = w.wgmma;
  const size_t kept = std::min(state.groups.size(), static_cast<size_t>(in.imm));
  const size_t done = state.groups.size() - kept;
  if (done == 0) return;
  state.complete = state.groups[done - 1];
  state.groups.erase(state.groups.begin(), state.groups.begin() + static_cast<long>(done));
  if (w.checks) wgmma_awaited(w, state.complete);
  tell(w, {.kind = PipelineEvent::Kind::kHasMultiplied, .lanes = lanes, .number = state.complete});
}

}  // namespace

void run_wgmma(const std::array<Warp*, kWarpgroup>& warps, const Instr& in) {
  run_product(warps, in);
}

Handler handler_wgmma_fence() { return op_fence; }
Handler handler_wgmma_commit() { return op_commit; }
Handler handler_wgmma_wait() { return op_wait; }

}  // namespace warplings::sim
