// Products of matrices: mma.sync and wmma.mma.
//
// The fragments of a warp are put together to whole matrices, multiplied, and taken apart again.
// What is modelled: products are exact; they and the accumulator are summed in double, in order of
// k, and rounded once, to nearest, to the type of the result. Tensor cores align the products of a
// step and cut what falls off the end, so a sum that is not exact may differ in its last bits from
// hardware (and between generations of it); an exact sum is the same everywhere. f64 is a chain of
// fused multiply-adds in order of k, integers are exact.
#include <algorithm>
#include <array>
#include <cfenv>
#include <cmath>
#include <limits>
#include <vector>

#include "decode/handlers.h"
#include "decode/matrix.h"
#include "exec/fragments.h"
#include "exec/lanes.h"
#include "exec/reports.h"

namespace warplings::sim {
namespace {

using namespace baseline;  // NOLINT: lanes.h lives in the namespace of its build

// Elements of the largest matrices.
constexpr int kMostFloats = 16 * 64;  // A of the sparse m16n8k64
constexpr int kMostA = 16 * 256;      // m16n8k256
constexpr int kMostB = 256 * 8;
constexpr int kMostC = 16 * 16;

template <class T>
void fill_up(const Warp& w, const MatrixOp& op, T* a) {
  if (op.sparse.chunk == 0) return;
  const std::vector<T> packed(a, a + op.a.rows * op.a.columns);
  unpack_sparse(w, op.sparse, op.a.type, packed.data(), op.a.columns, a);
}

// sums[i][j] += a[i][k] * b[k][j]
template <class T, class Sum, class Accumulate>
void multiply(const MatrixOp& op, const T* a, const T* b, Sum* sums, Accumulate accumulate) {
  const int m = op.a.rows, n = op.b.columns, k_size = op.b.rows;
  for (int product = 0; product < op.products; ++product) {
    for (int i = 0; i < m; ++i) {
      for (int k = 0; k < k_size; ++k) {
        const T x = a[i * k_size + k];
        for (int j = 0; j < n; ++j) sums[i * n + j] = accumulate(x, b[k * n + j], sums[i * n + j]);
      }
    }
    a += m * k_size;
    b += k_size * n;
    sums += m * n;
  }
}

// ---- definedness

// An undefined element spoils a whole row of the product: as bad as in arithmetic.
void check_sources(Warp& w, const MatrixOp& op, uint32_t lanes) {
  for (const Fragment* f : {&op.a, &op.b, &op.c}) {
    const uint32_t found = undefined_lanes(w, *f, lanes);
    if (found == 0) continue;
    report_undefined(w, found, "is an element of a matrix that is multiplied");
    for (const Place place : f->registers) {
      if (is_register(place)) w.undefined_lanes(place) &= ~found;
    }
  }
  check_metadata(w, op.sparse, op.a.type, lanes);
  for (const Place place : op.d.registers) {
    if (place != kNoPlace) w.undefined_lanes(place) &= ~lanes;
  }
}

const MatrixOp& begin(Warp& w, const Instr& in, uint32_t lanes) {
  const MatrixOp& op = w.module->matrices[in.extra];
  if (w.checks && lanes != 0xffffffffu) report_partial_warp(w, lanes);
  if (w.any_undefined && w.checks) check_sources(w, op, lanes);
  return op;
}

// ---- handlers

void op_mma_float(Warp& w, const Instr& in, uint32_t lanes) {
  const MatrixOp& op = begin(w, in, lanes);
  std::array<double, kMostFloats> a, b;
  std::array<double, kMostC> sums;
  gather_floats(w, op.a, a.data());
  fill_up(w, op, a.data());
  gather_floats(w, op.b, b.data());
  gather_floats(w, op.c, sums.data());
  multiply(op, a.data(), b.data(), sums.data(),
           [](double x, double y, double sum) { return sum + x * y; });
  scatter_floats(w, op.d, sums.data(), lanes);
}

void op_mma_double(Warp& w, const Instr& in, uint32_t lanes) {
  const MatrixOp& op = begin(w, in, lanes);
  std::array<double, kMostFloats> a, b;
  std::array<double, kMostC> sums;
  gather_floats(w, op.a, a.data());
  gather_floats(w, op.b, b.data());
  gather_floats(w, op.c, sums.data());
  static constexpr int kModes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
  const int before = std::fegetround();
  std::fesetround(kModes[op.rounding]);
  multiply(op, a.data(), b.data(), sums.data(), [](double x, double y, double sum) {
    // volatile: the compiler does not know of the rounding mode
    const volatile double left = x, addend = sum;
    const volatile double result = std::fma(left, y, addend);
    return result;
  });
  std::fesetround(before);
  scatter_floats(w, op.d, sums.data(), lanes);
}

void op_mma_integer(Warp& w, const Instr& in, uint32_t lanes) {
  const MatrixOp& op = begin(w, in, lanes);
  std::array<int32_t, kMostA> a;
  std::array<int32_t, kMostB> b;
  std::array<int32_t, kMostC> accumulators;
  std::array<int64_t, kMostC> sums;
  gather_integers(w, op.a, a.data());
  fill_up(w, op, a.data());
  gather_integers(w, op.b, b.data());
  gather_integers(w, op.c, accumulators.data());
  std::copy(accumulators.begin(), accumulators.end(), sums.begin());
  if (op.bits == MatrixOp::Bits::kXor) {
    multiply(op, a.data(), b.data(), sums.data(),
             [](int32_t x, int32_t y, int64_t sum) { return sum + (x ^ y); });
  } else {  // of single bits, and is the product
    multiply(op, a.data(), b.data(), sums.data(),
             [](int32_t x, int32_t y, int64_t sum) { return sum + x * y; });
  }
  scatter(w, op.d, sums.data(), lanes, [&](int64_t sum) {
    if (op.saturate) sum = std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX);
    return static_cast<uint32_t>(sum);
  });
}

// movmatrix: lane l holds row l / 4, columns l % 4 * 2 and the next; the result is its transpose.
void op_movmatrix(Warp& w, const Instr& in, uint32_t lanes) {
  std::array<uint16_t, 64> block;
  std::array<uint8_t, 64> undefined{};
  const uint32_t* source = w.in<uint32_t>(in.ops[1]);
  const bool track = w.any_undefined && is_register(in.ops[1]);
  for (size_t lane = 0; lane < 32; ++lane) {
    const bool some = track && ((w.undefined_lanes(in.ops[1]) >> lane) & 1);
    const uint8_t bytes = some ? w.undefined_bytes(in.ops[1])[lane] : 0;
    for (size_t j = 0; j < 2; ++j) {
      block[2 * lane + j] = static_cast<uint16_t>(source[lane] >> (16 * j));
      undefined[2 * lane + j] = (bytes >> (2 * j)) & 3;
    }
  }
  if (in.ops[0] == kNoPlace) return;
  uint32_t* d = w.out<uint32_t>(in.ops[0]);
  each_lane(lanes, [&](int lane) {
    const size_t low = static_cast<size_t>(lane % 4 * 2 * 8 + lane / 4), high = low + 8;
    d[lane] = block[low] | static_cast<uint32_t>(block[high]) << 16;
    if (!w.any_undefined) return;
    const uint8_t bytes = static_cast<uint8_t>(undefined[low] | undefined[high] << 2);
    w.undefined_bytes(in.ops[0])[lane] = bytes;
    uint32_t& flags = w.undefined_lanes(in.ops[0]);
    flags = bytes != 0 ? flags | 1u << lane : flags & ~(1u << lane);
  });
}

}  // namespace

Handler handler_mma_float() { return op_mma_float; }
Handler handler_mma_double() { return op_mma_double; }
Handler handler_mma_integer() { return op_mma_integer; }
Handler handler_movmatrix() { return op_movmatrix; }

bool is_matrix_handler(Handler handler) {
  const std::array all = {handler_mma_float(), handler_mma_double(), handler_mma_integer(),
                          handler_wmma_load(), handler_wmma_store(), handler_ldmatrix(),
                          handler_stmatrix()};
  return std::find(all.begin(), all.end(), handler) != all.end();
}

}  // namespace warplings::sim
