#include "curand/sequence.h"

#include <cuda_runtime_api.h>

#include <utility>

#include "warplings_xorwow_jumps.h"

namespace warplings::libraries {
namespace {

using Words = std::array<uint32_t, 5>;

void step(Words& v) {
  const uint32_t t = v[0] ^ (v[0] >> 2);
  v = {v[1], v[2], v[3], v[4], (v[4] ^ (v[4] << 4)) ^ (t ^ (t << 1))};
}

// As many steps as the polynomial says: the sum of the states whose bits are set in it.
Words jumped(Words v, const unsigned* polynomial) {
  Words sum{};
  for (int bit = 0; bit < 160; ++bit) {
    if ((polynomial[bit / 32] >> (bit % 32) & 1) != 0) {
      for (size_t i = 0; i < sum.size(); ++i) sum[i] ^= v[i];
    }
    step(v);
  }
  return sum;
}

// ---- MRG32k3a

constexpr uint64_t kModulusA = 4294967087U, kModulusB = 4294944443U;
using Matrix = std::array<std::array<uint64_t, 3>, 3>;

// One step of each recurrence.
constexpr Matrix kStepA = {{{0, 1, 0}, {0, 0, 1}, {kModulusA - 810728, 1403580, 0}}};
constexpr Matrix kStepB = {{{0, 1, 0}, {0, 0, 1}, {kModulusB - 1370589, 0, 527612}}};

Matrix times(const Matrix& x, const Matrix& y, uint64_t modulus) {
  Matrix out{};
  for (size_t i = 0; i < 3; ++i) {
    for (size_t j = 0; j < 3; ++j) {
      uint64_t sum = 0;
      for (size_t k = 0; k < 3; ++k) sum = (sum + x[i][k] * y[k][j] % modulus) % modulus;
      out[i][j] = sum;
    }
  }
  return out;
}

Mrg32k3a::Terms times(const Matrix& x, const Mrg32k3a::Terms& terms, uint64_t modulus) {
  Mrg32k3a::Terms out{};
  for (size_t i = 0; i < 3; ++i) {
    for (size_t k = 0; k < 3; ++k) out[i] = (out[i] + x[i][k] * terms[k] % modulus) % modulus;
  }
  return out;
}

// `terms` after `steps` steps.
Mrg32k3a::Terms jumped(Mrg32k3a::Terms terms, Matrix step, uint64_t steps, uint64_t modulus) {
  for (; steps != 0; steps >>= 1, step = times(step, step, modulus)) {
    if ((steps & 1) != 0) terms = times(step, terms, modulus);
  }
  return terms;
}

// ---- Sobol

// A primitive polynomial: its degree, its inner coefficients as bits, and the first odd numbers.
struct SobolRow {
  int degree;
  unsigned inner;
  std::array<uint32_t, 7> first;
};
constexpr SobolRow kSobolRows[kSobolDimensions - 1] = {
    {1, 0, {1}},
    {2, 1, {1, 3}},
    {3, 1, {1, 3, 1}},
    {3, 2, {1, 1, 1}},
    {4, 1, {1, 1, 3, 3}},
    {4, 4, {1, 3, 5, 13}},
    {5, 2, {1, 1, 5, 5, 17}},
    {5, 4, {1, 1, 5, 5, 5}},
    {5, 7, {1, 1, 7, 11, 19}},
    {5, 11, {1, 1, 5, 1, 1}},
    {5, 13, {1, 1, 1, 3, 11}},
    {5, 14, {1, 3, 5, 5, 31}},
    {6, 1, {1, 3, 3, 9, 7, 49}},
    {6, 13, {1, 1, 1, 15, 21, 21}},
    {6, 16, {1, 3, 1, 13, 27, 49}},
    {6, 19, {1, 1, 1, 15, 7, 5}},
    {6, 22, {1, 3, 1, 15, 13, 25}},
    {6, 25, {1, 1, 5, 5, 19, 61}},
    {7, 1, {1, 3, 7, 11, 23, 15, 103}},
    {7, 4, {1, 3, 7, 13, 13, 15, 69}},
};

using Directions = std::array<uint32_t, 32>;  // the highest bit first

Directions directions_of(unsigned dimension) {
  Directions v{};
  if (dimension == 0) {
    for (unsigned i = 0; i < 32; ++i) v[i] = 1U << (31 - i);
    return v;
  }
  const SobolRow& row = kSobolRows[dimension - 1];
  const auto degree = static_cast<unsigned>(row.degree);
  for (unsigned i = 0; i < 32; ++i) {
    if (i < degree) {
      v[i] = row.first[i] << (31 - i);
      continue;
    }
    v[i] = v[i - degree] ^ (v[i - degree] >> degree);
    for (unsigned k = 1; k < degree; ++k) {
      if ((row.inner >> (degree - 1 - k) & 1) != 0) v[i] ^= v[i - k];
    }
  }
  return v;
}

}  // namespace

Mrg32k3a::Mrg32k3a(uint64_t seed) {
  constexpr uint64_t kStart = 12345;
  Lane first;
  first.start_a.fill(kStart);
  first.start_b.fill(kStart);
  if (seed != 0) {
    const uint64_t low = static_cast<uint32_t>(seed) ^ 0x55555555U;
    const uint64_t high = static_cast<uint32_t>(seed >> 32) ^ 0xaaaaaaaaU;
    for (size_t i = 0; i < 3; ++i) {
      first.start_a[i] = (i == 1 ? high : low) * kStart % kModulusA;
      first.start_b[i] = (i == 1 ? low : high) * kStart % kModulusB;
    }
  }
  first.a = first.start_a;
  first.b = first.start_b;
  lanes_.push_back(first);
}

uint64_t Mrg32k3a::value(uint64_t lane, uint64_t at) {
  static const auto next_lane = [] {
    Matrix a = kStepA, b = kStepB;
    for (int i = 0; i < 76; ++i) {
      a = times(a, a, kModulusA);
      b = times(b, b, kModulusB);
    }
    return std::pair(a, b);
  }();
  while (lanes_.size() <= lane) {
    Lane next;
    next.a = next.start_a = times(next_lane.first, lanes_.back().start_a, kModulusA);
    next.b = next.start_b = times(next_lane.second, lanes_.back().start_b, kModulusB);
    lanes_.push_back(next);
  }
  Lane& l = lanes_[lane];
  if (at != l.next) {
    l.a = jumped(l.start_a, kStepA, at, kModulusA);
    l.b = jumped(l.start_b, kStepB, at, kModulusB);
  }
  l.next = at + 1;
  l.a = times(kStepA, l.a, kModulusA);
  l.b = times(kStepB, l.b, kModulusB);
  return l.a[2] > l.b[2] ? l.a[2] - l.b[2] : l.a[2] + kModulusA - l.b[2];
}

uint32_t sobol_word(unsigned dimension, uint64_t index) {
  static const auto all = [] {
    std::array<Directions, kSobolDimensions> out{};
    for (unsigned i = 0; i < kSobolDimensions; ++i) out[i] = directions_of(i);
    return out;
  }();
  const uint64_t code = index ^ (index >> 1);
  uint32_t word = 0;
  for (size_t bit = 0; bit < 32; ++bit) {
    if ((code >> bit & 1) != 0) word ^= all[dimension][bit];
  }
  return word;
}

Xorwow::Xorwow(uint64_t seed) {
  const uint32_t low = static_cast<uint32_t>(seed) ^ 0xaad26b49U;
  const uint32_t high = static_cast<uint32_t>(seed >> 32) ^ 0xf7dcefddU;
  const uint32_t t0 = 1099087573U * low, t1 = 2591861531U * high;
  d_ = 6615241U + t1 + t0;
  Lane first;
  first.start = {123456789U + t0, 362436069U ^ t0, 521288629U + t1, 88675123U ^ t1, 5783321U + t0};
  first.v = first.start;
  lanes_.push_back(first);
}

void Xorwow::rewind(Lane& lane, uint64_t at) {
  lane.v = lane.start;
  lane.next = at;
  for (int digit = 0; at != 0; ++digit, at >>= 4) {
    if ((at & 15) != 0)
      lane.v = jumped(lane.v, warplings_curand::kValueJumps[digit][(at & 15) - 1]);
  }
}

uint32_t Xorwow::word(uint64_t lane, uint64_t at) {
  while (lanes_.size() <= lane) {
    Lane next;
    next.start = jumped(lanes_.back().start, warplings_curand::kSequenceJumps[0][0]);
    next.v = next.start;
    lanes_.push_back(next);
  }
  Lane& l = lanes_[lane];
  if (at != l.next) rewind(l, at);
  step(l.v);
  ++l.next;
  return l.v[4] + d_ + 362437U * static_cast<uint32_t>(at + 1);
}

uint32_t philox_word(uint64_t seed, uint64_t lane, uint64_t at) {
  const uint64_t count = at / 4;
  std::array<uint32_t, 4> c = {static_cast<uint32_t>(count), static_cast<uint32_t>(count >> 32),
                               static_cast<uint32_t>(lane), static_cast<uint32_t>(lane >> 32)};
  uint32_t key0 = static_cast<uint32_t>(seed), key1 = static_cast<uint32_t>(seed >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t{0xD2511F53U} * c[0], b = uint64_t{0xCD9E8D57U} * c[2];
    c = {static_cast<uint32_t>(b >> 32) ^ c[1] ^ key0, static_cast<uint32_t>(b),
         static_cast<uint32_t>(a >> 32) ^ c[3] ^ key1, static_cast<uint32_t>(a)};
    key0 += 0x9E3779B9U;
    key1 += 0xBB67AE85U;
  }
  return c[at % 4];
}

}  // namespace warplings::libraries
