#include "curand/sequence.h"

#include <cuda_runtime_api.h>

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

}  // namespace

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
