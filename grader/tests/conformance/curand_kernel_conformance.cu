// curand_kernel.h: the numbers of XORWOW, Philox and MRG32k3a for seeds, subsequences and offsets,
// in every distribution that the course uses. Bits are compared, except where instructions of
// single precision are approximate and differ between a GPU and the simulator: those values are
// rounded. With the argument "bits", which is for two headers on one machine, all are compared bit
// by bit.
#include <curand_kernel.h>

#include <cstdio>
#include <cstring>
#include <vector>

#include "conformance.h"

namespace {

constexpr int kThreads = 64;
constexpr int kDraws = 12;  // values of each thread and distribution

// 32-bit words of one value.
__device__ void put(unsigned* out, int* at, unsigned word) { out[(*at)++] = word; }
__device__ void put(unsigned* out, int* at, float value) { put(out, at, __float_as_uint(value)); }
__device__ void put(unsigned* out, int* at, double value) {
  put(out, at, static_cast<unsigned>(__double2loint(value)));
  put(out, at, static_cast<unsigned>(__double2hiint(value)));
}

enum Distribution {
  kBits,
  kUniform,
  kUniformDouble,
  kNormal,
  kNormal2,
  kNormalDouble,
  kLogNormal,
  kPoissonSmall,
  kPoissonHuge,
  kMixed,
  kDistributions
};
const char* const kNames[] = {"bits",         "uniform",       "uniform double", "normal",
                              "normal2",      "normal double", "log normal",     "poisson 3.5",
                              "poisson 5000", "mixed"};

template <class State>
__device__ void draw(State* state, Distribution distribution, unsigned* out) {
  int at = 0;
  for (int i = 0; i < kDraws; ++i) {
    switch (distribution) {
      case kBits:
        put(out, &at, curand(state));
        break;
      case kUniform:
        put(out, &at, curand_uniform(state));
        break;
      case kUniformDouble:
        put(out, &at, curand_uniform_double(state));
        break;
      case kNormal:
        put(out, &at, curand_normal(state));
        break;
      case kNormal2: {
        const float2 pair = curand_normal2(state);
        put(out, &at, pair.x);
        put(out, &at, pair.y);
        break;
      }
      case kNormalDouble:
        put(out, &at, curand_normal_double(state));
        break;
      case kLogNormal:
        put(out, &at, curand_log_normal(state, 0.5F, 0.75F));
        break;
      case kPoissonSmall:
        put(out, &at, curand_poisson(state, 3.5));
        break;
      case kPoissonHuge:
        put(out, &at, curand_poisson(state, 5000.0));
        break;
      case kMixed:
        // The second value of a pair waits in the state and takes no bits.
        curand_normal(state);
        put(out, &at, curand(state));
        break;
      default:
        break;
    }
  }
}

struct Start {
  unsigned long long seed, subsequence, offset;
};

template <class State>
__global__ void draw_all(Start start, Distribution distribution, unsigned* out) {
  State state;
  curand_init(start.seed, start.subsequence + threadIdx.x, start.offset, &state);
  draw(&state, distribution, out + threadIdx.x * 2 * kDraws);
}

// Four at a time, which only Philox has.
__global__ void draw_fours(Start start, unsigned* out) {
  curandStatePhilox4_32_10_t state;
  curand_init(start.seed, start.subsequence + threadIdx.x, start.offset, &state);
  int at = 0;
  out += threadIdx.x * 2 * kDraws;
  const uint4 bits = curand4(&state);
  const float4 uniform = curand_uniform4(&state), normal = curand_normal4(&state);
  put(out, &at, bits.x * 0x1p-32F), put(out, &at, bits.y * 0x1p-32F);
  put(out, &at, bits.z * 0x1p-32F), put(out, &at, bits.w * 0x1p-32F);
  put(out, &at, uniform.x), put(out, &at, uniform.y), put(out, &at, uniform.z);
  put(out, &at, uniform.w), put(out, &at, normal.x), put(out, &at, normal.y);
  put(out, &at, normal.z), put(out, &at, normal.w), put(out, &at, curand_uniform(&state));
}

__global__ void draw_doubles(Start start, unsigned* out) {
  curandStatePhilox4_32_10_t state;
  curand_init(start.seed, start.subsequence + threadIdx.x, start.offset, &state);
  int at = 0;
  out += threadIdx.x * 2 * kDraws;
  const double2 uniform = curand_uniform2_double(&state), normal = curand_normal2_double(&state);
  put(out, &at, uniform.x), put(out, &at, uniform.y);
  put(out, &at, normal.x), put(out, &at, normal.y);
  put(out, &at, curand(&state));
}

template <class State>
__global__ void skip(Start start, unsigned long long count, unsigned* out) {
  State state;
  curand_init(start.seed, 0, 0, &state);
  int at = 0;
  put(out, &at, curand(&state));
  skipahead(count, &state);
  put(out, &at, curand(&state));
  skipahead_sequence(count, &state);
  put(out, &at, curand(&state));
}

bool all_bits = false;

// A line of the first words and a hash of all.
void print(const char* name, const conformance::Device<unsigned>& device) {
  conformance::require(cudaDeviceSynchronize());
  const std::vector<unsigned> words = device.host();
  unsigned long long hash = 14695981039346656037ULL;
  for (const unsigned word : words) hash = (hash ^ word) * 1099511628211ULL;
  std::printf("%s: %08x %08x %08x ... %016llx\n", name, words[0], words[1], words[2], hash);
}

// The same of words that are floats, rounded.
void print_floats(const char* name, const conformance::Device<unsigned>& device) {
  if (all_bits) return print(name, device);
  conformance::require(cudaDeviceSynchronize());
  const std::vector<unsigned> words = device.host();
  std::vector<float> values(words.size());
  std::memcpy(values.data(), words.data(), words.size() * sizeof(float));
  double sum = 0;
  for (const float value : values) sum += value;
  std::printf("%s: %.4f %.4f %.4f ... sum %.0f\n", name, values[0], values[1], values[2], sum);
}

void print(int distribution, const conformance::Device<unsigned>& out);

// Values that MRG32k3a makes otherwise than the other two, with functions of double precision that
// need not round alike.
bool is_left_out(int distribution) {
  return distribution == kNormalDouble || distribution == kPoissonSmall ||
         distribution == kPoissonHuge;
}

template <class State>
void test(const char* generator, bool everything = true) {
  for (const Start start :
       {Start{0, 0, 0}, Start{1234, 0, 0}, Start{0x123456789abcdefULL, 5, 7},
        Start{42, 1ULL << 33, 1ULL << 40}, Start{~0ULL, 1000003, 999999999999ULL}}) {
    std::printf("%s seed %llu subsequence %llu offset %llu\n", generator, start.seed,
                start.subsequence, start.offset);
    for (int distribution = 0; distribution < kDistributions; ++distribution) {
      if (!everything && is_left_out(distribution)) continue;
      conformance::Device<unsigned> out(kThreads * 2 * kDraws);
      draw_all<State><<<1, kThreads>>>(start, static_cast<Distribution>(distribution), out.get());
      print(distribution, out);
    }
    for (const unsigned long long count : {1ULL, 2ULL, 3ULL, 4ULL, 5ULL, 1000ULL, 1ULL << 50}) {
      conformance::Device<unsigned> out(3);
      skip<State><<<1, 1>>>(start, count, out.get());
      print("skip", out);
    }
  }
  std::printf("%s: %zu bytes of state\n", generator, sizeof(State));
}

void print(int distribution, const conformance::Device<unsigned>& out) {
  switch (distribution) {
    case kNormal:
    case kNormal2:
    case kLogNormal:
      return print_floats(kNames[distribution], out);
    default:
      return print(kNames[distribution], out);
  }
}

}  // namespace

int main(int argc, char** argv) {
  all_bits = argc > 1 && std::strcmp(argv[1], "bits") == 0;
  test<curandStateXORWOW_t>("XORWOW");
  test<curandStatePhilox4_32_10_t>("Philox");
  for (const Start start : {Start{0, 0, 0}, Start{99, 3, 2}, Start{7, 1ULL << 40, 1000001}}) {
    conformance::Device<unsigned> out(kThreads * 2 * kDraws);
    draw_fours<<<1, kThreads>>>(start, out.get());
    print_floats("four at a time", out);
    conformance::Device<unsigned> doubles(kThreads * 2 * kDraws);
    draw_doubles<<<1, kThreads>>>(start, doubles.get());
    print("two doubles at a time", doubles);
  }
  test<curandStateMRG32k3a_t>("MRG32k3a", false);
}
