// cuRAND's device interface for the simulator: XORWOW, Philox4x32-10 and MRG32k3a, with the numbers
// of the vendor's library bit by bit. Algorithms: G. Marsaglia, Xorshift RNGs (2003); J. Salmon et
// al., Parallel random numbers: as easy as 1, 2, 3 (2011); P. L'Ecuyer, Good parameters and
// implementations for combined multiple recursive random number generators (1999); names and
// conventions:
// https://docs.nvidia.com/cuda/curand/
//
// Uniform numbers lie in (0, 1]. Poisson numbers have the right distribution, and the vendor's bits
// where lambda is below 64 or above 4000.
#ifndef WARPLINGS_CURAND_KERNEL_H_
#define WARPLINGS_CURAND_KERNEL_H_

#include <curand.h>

#include "warplings_xorwow_jumps.h"

struct curandStateXORWOW {
  unsigned d, v[5];
  int boxmuller_flag, boxmuller_flag_double;  // a normal value of the last pair is left
  float boxmuller_extra;
  double boxmuller_extra_double;
};
typedef struct curandStateXORWOW curandStateXORWOW_t;
typedef struct curandStateXORWOW curandState_t;
typedef struct curandStateXORWOW curandState;

struct curandStatePhilox4_32_10 {
  uint4 ctr;           // counts groups of four values; the upper half is the subsequence
  uint4 output;        // the group that is being handed out
  uint2 key;           // the seed
  unsigned int STATE;  // how many of the group have been handed out
  int boxmuller_flag, boxmuller_flag_double;
  float boxmuller_extra;
  double boxmuller_extra_double;
};
typedef struct curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;

struct curandStateMRG32k3a {
  unsigned int s1[3], s2[3];  // the last three terms of each recurrence, the newest last
  int boxmuller_flag, boxmuller_flag_double;
  float boxmuller_extra;
  double boxmuller_extra_double;
};
typedef struct curandStateMRG32k3a curandStateMRG32k3a_t;

namespace warplings_curand {

// ---- XORWOW: a xorshift generator of 160 bits, plus a counter d

static __device__ __forceinline__ void step(unsigned* v) {
  const unsigned t = v[0] ^ (v[0] >> 2);
  v[0] = v[1];
  v[1] = v[2];
  v[2] = v[3];
  v[3] = v[4];
  v[4] = (v[4] ^ (v[4] << 4)) ^ (t ^ (t << 1));
}

// The linear part after as many steps as the polynomial says: the sum of the states whose bits are
// set in it.
static __device__ void jump(unsigned* v, const unsigned* polynomial) {
  unsigned sum[5] = {0, 0, 0, 0, 0};
  for (int word = 0; word < 5; ++word) {
    const unsigned bits = polynomial[word];
    for (int bit = 0; bit < 32; ++bit) {
      const unsigned mask = 0u - (bits >> bit & 1u);
      for (int i = 0; i < 5; ++i) sum[i] ^= v[i] & mask;
      step(v);
    }
  }
  for (int i = 0; i < 5; ++i) v[i] = sum[i];
}

static __device__ void jump_by(unsigned* v, unsigned long long count,
                               const unsigned (*jumps)[15][5]) {
  for (int digit = 0; count != 0; ++digit, count >>= 4) {
    const unsigned value = static_cast<unsigned>(count & 15);
    if (value != 0) jump(v, jumps[digit][value - 1]);
  }
}

// ---- Philox

static __device__ __forceinline__ uint4 philox(uint4 c, uint2 key) {
  for (int round = 0; round < 10; ++round) {
    const unsigned low0 = 0xD2511F53u * c.x, high0 = __umulhi(0xD2511F53u, c.x);
    const unsigned low1 = 0xCD9E8D57u * c.z, high1 = __umulhi(0xCD9E8D57u, c.z);
    c = make_uint4(high1 ^ c.y ^ key.x, low1, high0 ^ c.w ^ key.y, low0);
    key.x += 0x9E3779B9u;
    key.y += 0xBB67AE85u;
  }
  return c;
}

// Adds to the 128 bits of the counter, from its lower or its upper half on.
static __device__ __forceinline__ void add(uint4* c, unsigned long long n) {
  const unsigned long long low = (static_cast<unsigned long long>(c->y) << 32 | c->x) + n;
  c->x = static_cast<unsigned>(low);
  c->y = static_cast<unsigned>(low >> 32);
  if (low >= n) return;
  if (++c->z == 0) ++c->w;
}
static __device__ __forceinline__ void add_upper(uint4* c, unsigned long long n) {
  const unsigned long long high = (static_cast<unsigned long long>(c->w) << 32 | c->z) + n;
  c->z = static_cast<unsigned>(high);
  c->w = static_cast<unsigned>(high >> 32);
}

static __device__ __forceinline__ unsigned part(const uint4& four, unsigned index) {
  return index == 0 ? four.x : index == 1 ? four.y : index == 2 ? four.z : four.w;
}

// ---- distributions of 32-bit words

constexpr float kUnit = 2.3283064e-10f;  // 2^-32
constexpr float kTurn = 2.3283064e-10f * 6.2831855f;
constexpr double kUnitDouble = 2.3283064365386963e-10;  // 2^-32
constexpr double kUnit53 = 1.1102230246251565e-16;      // 2^-53

static __device__ __forceinline__ float uniform(unsigned x) { return x * kUnit + (kUnit / 2.0f); }

static __device__ __forceinline__ unsigned long long word53(unsigned x, unsigned y) {
  return static_cast<unsigned long long>(x) ^ (static_cast<unsigned long long>(y) << 21);
}
static __device__ __forceinline__ double uniform_double(unsigned x, unsigned y) {
  return word53(x, y) * kUnit53 + (kUnit53 / 2.0);
}

static __device__ __forceinline__ double uniform_double(unsigned x) {
  return x * kUnitDouble + kUnitDouble;
}

// Two normal values from two words.
static __device__ __forceinline__ float2 box_muller(unsigned x, unsigned y) {
  const float radius = sqrtf(-2.0f * logf(x * kUnit + (kUnit / 2)));
  float2 result;
  __sincosf(y * kTurn + (kTurn / 2), &result.x, &result.y);
  result.x *= radius;
  result.y *= radius;
  return result;
}
static __device__ __forceinline__ double2 box_muller_double(unsigned x0, unsigned x1, unsigned y0,
                                                            unsigned y1) {
  const double radius = sqrt(-2.0 * log(word53(x0, x1) * kUnit53 + (kUnit53 / 2.0)));
  double2 result;
  sincospi(word53(y0, y1) * (kUnit53 * 2.0) + kUnit53, &result.x, &result.y);
  result.x *= radius;
  result.y *= radius;
  return result;
}

}  // namespace warplings_curand

// ---- XORWOW: seeds, skips, bits

static __device__ __forceinline__ unsigned int curand(curandStateXORWOW_t* state) {
  warplings_curand::step(state->v);
  state->d += 362437;
  return state->v[4] + state->d;
}

static __device__ __forceinline__ void skipahead(unsigned long long n, curandStateXORWOW_t* state) {
  warplings_curand::jump_by(state->v, n, warplings_curand::kValueJumps);
  state->d += 362437 * static_cast<unsigned>(n);
}

// n subsequences of 2^67 values; d returns to itself after each.
static __device__ __forceinline__ void skipahead_sequence(unsigned long long n,
                                                          curandStateXORWOW_t* state) {
  warplings_curand::jump_by(state->v, n, warplings_curand::kSequenceJumps);
}

static __device__ __forceinline__ void curand_init(unsigned long long seed,
                                                   unsigned long long subsequence,
                                                   unsigned long long offset,
                                                   curandStateXORWOW_t* state) {
  const unsigned low = static_cast<unsigned>(seed) ^ 0xaad26b49u;
  const unsigned high = static_cast<unsigned>(seed >> 32) ^ 0xf7dcefddu;
  const unsigned t0 = 1099087573u * low, t1 = 2591861531u * high;
  state->d = 6615241u + t1 + t0;
  state->v[0] = 123456789u + t0;
  state->v[1] = 362436069u ^ t0;
  state->v[2] = 521288629u + t1;
  state->v[3] = 88675123u ^ t1;
  state->v[4] = 5783321u + t0;
  skipahead_sequence(subsequence, state);
  skipahead(offset, state);
  state->boxmuller_flag = state->boxmuller_flag_double = 0;
  state->boxmuller_extra = 0.0f;
  state->boxmuller_extra_double = 0.0;
}

// ---- Philox: seeds, skips, bits

static __device__ __forceinline__ void skipahead(unsigned long long n,
                                                 curandStatePhilox4_32_10_t* state) {
  state->STATE += static_cast<unsigned>(n & 3);
  n /= 4;
  if (state->STATE > 3) {
    state->STATE -= 4;
    ++n;
  }
  warplings_curand::add(&state->ctr, n);
  state->output = warplings_curand::philox(state->ctr, state->key);
}

static __device__ __forceinline__ void skipahead_sequence(unsigned long long n,
                                                          curandStatePhilox4_32_10_t* state) {
  warplings_curand::add_upper(&state->ctr, n);
  state->output = warplings_curand::philox(state->ctr, state->key);
}

static __device__ __forceinline__ void curand_init(unsigned long long seed,
                                                   unsigned long long subsequence,
                                                   unsigned long long offset,
                                                   curandStatePhilox4_32_10_t* state) {
  state->ctr = make_uint4(0, 0, 0, 0);
  state->key = make_uint2(static_cast<unsigned>(seed), static_cast<unsigned>(seed >> 32));
  state->STATE = 0;
  state->boxmuller_flag = state->boxmuller_flag_double = 0;
  state->boxmuller_extra = 0.0f;
  state->boxmuller_extra_double = 0.0;
  skipahead_sequence(subsequence, state);
  skipahead(offset, state);
}

static __device__ __forceinline__ unsigned int curand(curandStatePhilox4_32_10_t* state) {
  const unsigned value = warplings_curand::part(state->output, state->STATE++);
  if (state->STATE == 4) {
    warplings_curand::add(&state->ctr, 1);
    state->output = warplings_curand::philox(state->ctr, state->key);
    state->STATE = 0;
  }
  return value;
}

// The next four values, wherever in a group they begin.
static __device__ __forceinline__ uint4 curand4(curandStatePhilox4_32_10_t* state) {
  const uint4 now = state->output;
  warplings_curand::add(&state->ctr, 1);
  state->output = warplings_curand::philox(state->ctr, state->key);
  const uint4 next = state->output;
  switch (state->STATE) {
    case 0:
      return now;
    case 1:
      return make_uint4(now.y, now.z, now.w, next.x);
    case 2:
      return make_uint4(now.z, now.w, next.x, next.y);
    default:
      return make_uint4(now.w, next.x, next.y, next.z);
  }
}

// ---- MRG32k3a

namespace warplings_curand {

// The moduli are 2^32 less these numbers, so the upper half of a product folds onto the lower.
constexpr unsigned kMrgBelow1 = 209, kMrgBelow2 = 22853;
constexpr unsigned kMrgModulus1 = 0u - kMrgBelow1, kMrgModulus2 = 0u - kMrgBelow2;
constexpr double kMrgUnit = 2.3283065498378288e-10;  // 1 / 4294967087

// Less than 2^47, with the same remainder.
static __device__ __forceinline__ unsigned long long folded(unsigned long long x, unsigned below) {
  return (x >> 32) * below + static_cast<unsigned>(x);
}

static __device__ __forceinline__ unsigned remainder(unsigned long long x, unsigned below) {
  x = folded(folded(x, below), below);
  const unsigned modulus = 0u - below;
  return static_cast<unsigned>(x >= modulus ? x - modulus : x);
}

// x0 y0 + x1 y1 + x2 y2.
static __device__ __forceinline__ unsigned dot(const unsigned* x, unsigned y0, unsigned y1,
                                               unsigned y2, unsigned below) {
  return remainder(folded(static_cast<unsigned long long>(x[0]) * y0, below) +
                       folded(static_cast<unsigned long long>(x[1]) * y1, below) +
                       folded(static_cast<unsigned long long>(x[2]) * y2, below),
                   below);
}

struct Matrix3 {
  unsigned v[3][3];
};

static __device__ __forceinline__ Matrix3 squared(const Matrix3& x, unsigned below) {
  Matrix3 out;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) out.v[i][j] = dot(x.v[i], x.v[0][j], x.v[1][j], x.v[2][j], below);
  }
  return out;
}

// `terms` after n times 2^doublings steps of the recurrence.
static __device__ __forceinline__ void jump(unsigned* terms, Matrix3 step, unsigned long long n,
                                            int doublings, unsigned below) {
  if (n == 0) return;
#pragma unroll 1
  for (int i = 0; i < doublings; ++i) step = squared(step, below);
#pragma unroll 1
  for (; n != 0; n >>= 1) {
    if ((n & 1) != 0) {
      const unsigned a = terms[0], b = terms[1], c = terms[2];
      for (int i = 0; i < 3; ++i) terms[i] = dot(step.v[i], a, b, c, below);
    }
    step = squared(step, below);
  }
}

static __device__ __forceinline__ void jump(curandStateMRG32k3a_t* state, unsigned long long n,
                                            int doublings) {
  const Matrix3 step1 = {{{0, 1, 0}, {0, 0, 1}, {kMrgModulus1 - 810728, 1403580, 0}}};
  const Matrix3 step2 = {{{0, 1, 0}, {0, 0, 1}, {kMrgModulus2 - 1370589, 0, 527612}}};
  jump(state->s1, step1, n, doublings, kMrgBelow1);
  jump(state->s2, step2, n, doublings, kMrgBelow2);
}

}  // namespace warplings_curand

// 1 to 4294967087.
static __device__ __forceinline__ double curand_MRG32k3a(curandStateMRG32k3a_t* state) {
  using namespace warplings_curand;
  unsigned *a = state->s1, *b = state->s2;
  const unsigned of_1[] = {kMrgModulus1 - 810728, 1403580, 0};
  const unsigned of_2[] = {kMrgModulus2 - 1370589, 0, 527612};
  const unsigned p1 = dot(of_1, a[0], a[1], a[2], kMrgBelow1);
  const unsigned p2 = dot(of_2, b[0], b[1], b[2], kMrgBelow2);
  a[0] = a[1], a[1] = a[2], a[2] = p1;
  b[0] = b[1], b[1] = b[2], b[2] = p2;
  return p1 > p2 ? p1 - p2 : p1 - p2 + kMrgModulus1;
}

static __device__ __forceinline__ unsigned int curand(curandStateMRG32k3a_t* state) {
  return static_cast<unsigned>(curand_MRG32k3a(state) * 1.000000048662);  // 2^32 / 4294967087
}

static __device__ __forceinline__ void skipahead(unsigned long long n,
                                                 curandStateMRG32k3a_t* state) {
  warplings_curand::jump(state, n, 0);
}

// n times 2^76 values.
static __device__ __forceinline__ void skipahead_subsequence(unsigned long long n,
                                                             curandStateMRG32k3a_t* state) {
  warplings_curand::jump(state, n, 76);
}

// n times 2^127 values.
static __device__ __forceinline__ void skipahead_sequence(unsigned long long n,
                                                          curandStateMRG32k3a_t* state) {
  warplings_curand::jump(state, n, 127);
}

static __device__ __forceinline__ void curand_init(unsigned long long seed,
                                                   unsigned long long subsequence,
                                                   unsigned long long offset,
                                                   curandStateMRG32k3a_t* state) {
  constexpr unsigned long long kStart = 12345;
  const unsigned low = static_cast<unsigned>(seed) ^ 0x55555555u;
  const unsigned high = static_cast<unsigned>(seed >> 32) ^ 0xaaaaaaaau;
  for (int i = 0; i < 3; ++i) {
    const unsigned long long of_s1 = seed == 0 ? 1 : i == 1 ? high : low;
    const unsigned long long of_s2 = seed == 0 ? 1 : i == 1 ? low : high;
    state->s1[i] = warplings_curand::remainder(of_s1 * kStart, warplings_curand::kMrgBelow1);
    state->s2[i] = warplings_curand::remainder(of_s2 * kStart, warplings_curand::kMrgBelow2);
  }
  skipahead_subsequence(subsequence, state);
  skipahead(offset, state);
  state->boxmuller_flag = state->boxmuller_flag_double = 0;
  state->boxmuller_extra = 0;
  state->boxmuller_extra_double = 0;
}

static __device__ __forceinline__ float curand_uniform(curandStateMRG32k3a_t* state) {
  return static_cast<float>(curand_MRG32k3a(state) * warplings_curand::kMrgUnit);
}

static __device__ __forceinline__ double curand_uniform_double(curandStateMRG32k3a_t* state) {
  return curand_MRG32k3a(state) * warplings_curand::kMrgUnit;
}

static __device__ __forceinline__ float2 curand_normal2(curandStateMRG32k3a_t* state) {
  const float u = curand_uniform(state), v = curand_uniform(state) * 6.2831855f;
  const float radius = sqrtf(-2.0f * logf(u));
  float2 pair;
  __sincosf(v, &pair.x, &pair.y);
  pair.x *= radius;
  pair.y *= radius;
  return pair;
}

static __device__ __forceinline__ double2 curand_normal2_double(curandStateMRG32k3a_t* state) {
  const double u = curand_uniform_double(state), v = curand_uniform_double(state) * 2.0;
  const double radius = sqrt(-2.0 * log(u));
  double2 pair;
  sincospi(v, &pair.x, &pair.y);
  pair.x *= radius;
  pair.y *= radius;
  return pair;
}

// ---- distributions of any generator

template <class State>
static __device__ __forceinline__ float curand_uniform(State* state) {
  return warplings_curand::uniform(curand(state));
}

static __device__ __forceinline__ double curand_uniform_double(curandStateXORWOW_t* state) {
  const unsigned x = curand(state), y = curand(state);
  return warplings_curand::uniform_double(x, y);
}

// One word: 32 random bits, not 53.
static __device__ __forceinline__ double curand_uniform_double(curandStatePhilox4_32_10_t* state) {
  return warplings_curand::uniform_double(curand(state));
}

template <class State>
static __device__ __forceinline__ float2 curand_normal2(State* state) {
  const unsigned x = curand(state), y = curand(state);
  return warplings_curand::box_muller(x, y);
}

template <class State>
static __device__ __forceinline__ double2 curand_normal2_double(State* state) {
  const unsigned x0 = curand(state), x1 = curand(state), y0 = curand(state), y1 = curand(state);
  return warplings_curand::box_muller_double(x0, x1, y0, y1);
}

// Every second call returns the value that its predecessor left.
template <class State>
static __device__ __forceinline__ float curand_normal(State* state) {
  if (state->boxmuller_flag != 0) {
    state->boxmuller_flag = 0;
    return state->boxmuller_extra;
  }
  const float2 pair = curand_normal2(state);
  state->boxmuller_flag = 1;
  state->boxmuller_extra = pair.y;
  return pair.x;
}

template <class State>
static __device__ __forceinline__ double curand_normal_double(State* state) {
  if (state->boxmuller_flag_double != 0) {
    state->boxmuller_flag_double = 0;
    return state->boxmuller_extra_double;
  }
  const double2 pair = curand_normal2_double(state);
  state->boxmuller_flag_double = 1;
  state->boxmuller_extra_double = pair.y;
  return pair.x;
}

template <class State>
static __device__ __forceinline__ float curand_log_normal(State* state, float mean, float stddev) {
  return expf(mean + (stddev * curand_normal(state)));
}

template <class State>
static __device__ __forceinline__ float2 curand_log_normal2(State* state, float mean,
                                                            float stddev) {
  const float2 pair = curand_normal2(state);
  return make_float2(expf(mean + (stddev * pair.x)), expf(mean + (stddev * pair.y)));
}

template <class State>
static __device__ __forceinline__ double curand_log_normal_double(State* state, double mean,
                                                                  double stddev) {
  return exp(mean + (stddev * curand_normal_double(state)));
}

static __device__ __forceinline__ float4 curand_uniform4(curandStatePhilox4_32_10_t* state) {
  const uint4 x = curand4(state);
  return make_float4(warplings_curand::uniform(x.x), warplings_curand::uniform(x.y),
                     warplings_curand::uniform(x.z), warplings_curand::uniform(x.w));
}

// Two words each.
static __device__ __forceinline__ double2
curand_uniform2_double(curandStatePhilox4_32_10_t* state) {
  const uint4 x = curand4(state);
  return make_double2(warplings_curand::uniform_double(x.x, x.y),
                      warplings_curand::uniform_double(x.z, x.w));
}

static __device__ __forceinline__ float4 curand_normal4(curandStatePhilox4_32_10_t* state) {
  const uint4 x = curand4(state);
  const float2 first = warplings_curand::box_muller(x.x, x.y);
  const float2 second = warplings_curand::box_muller(x.z, x.w);
  return make_float4(first.x, first.y, second.x, second.y);
}

static __device__ __forceinline__ float4 curand_log_normal4(curandStatePhilox4_32_10_t* state,
                                                            float mean, float stddev) {
  const float4 x = curand_normal4(state);
  return make_float4(expf(mean + (stddev * x.x)), expf(mean + (stddev * x.y)),
                     expf(mean + (stddev * x.z)), expf(mean + (stddev * x.w)));
}

// Knuth's method: how many uniform values can be multiplied before the product is below
// exp(-lambda). Above its range the number is a sum of such numbers.
template <class State>
static __device__ unsigned int curand_poisson(State* state, double lambda) {
  if (lambda > 4000) {
    return static_cast<unsigned>(sqrt(lambda) * curand_normal_double(state) + lambda + 0.5);
  }
  unsigned count = 0;
  while (lambda > 0) {
    const double part = lambda < 64 ? lambda : 32;
    lambda -= part;
    float product = expf(static_cast<float>(part));
    do {
      ++count;
      product *= curand_uniform(state);
    } while (product > 1.0f);
    --count;
  }
  return count;
}

#endif  // WARPLINGS_CURAND_KERNEL_H_
