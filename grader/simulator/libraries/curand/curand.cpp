// cuRAND's host functions.
#include <curand.h>

#include <cmath>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/call.h"
#include "common/held.h"
#include "curand/sequence.h"

using namespace warplings::libraries;

namespace {
enum class Family { kXorwow, kPhilox, kMrg, kSobol };
}

struct curandGenerator_st {
  Family family = Family::kXorwow;
  bool on_host = false;
  int device = 0;
  cudaStream_t stream = nullptr;
  uint64_t seed = 0;
  uint64_t offset = 0;          // the value, or with lanes the lane, that the next call begins with
  std::vector<uint64_t> drawn;  // words that each lane has given so far
  std::shared_ptr<Xorwow> xorwow;  // of the seed; made when they are needed
  std::shared_ptr<Mrg32k3a> mrg;
  bool legacy = false;      // the ordering of that name
  unsigned dimensions = 1;  // of Sobol's sequence
  Held held{"cuRAND generator"};
};

namespace {

std::mutex& generators_mutex() {
  static auto* const mutex = new std::mutex();
  return *mutex;
}

std::set<curandGenerator_t>& generators() {
  static auto* const set = new std::set<curandGenerator_t>();
  return *set;
}

bool is_live(curandGenerator_t generator) {
  const std::lock_guard lock(generators_mutex());
  return generators().contains(generator);
}

constexpr double kUnit = 0x1p-32, kUnit53 = 0x1p-53, kTurn = 6.283185307179586;

// The words of one call. An item is what one value, or a pair of normal values, is made of.
// As measured on an H200:
//   XORWOW:   the lanes, 4096, draw an item each, in turn, and go on where they stand; an offset
//             counts words
//   MRG32k3a: the same with 81,920 lanes, in the legacy ordering 4096
//   Philox:   four values of each of 65,536 lanes in turn; an offset counts values, and a normal
//             value is the first or the second of a pair as its number is even or odd
struct Items {
  Family family;
  uint64_t seed, first, lanes;
  size_t per_item;  // values
  int width;        // words of an item
  std::shared_ptr<Xorwow> xorwow;
  std::shared_ptr<Mrg32k3a> mrg;
  std::vector<uint64_t> before;  // words that each lane has given

  // Word `index` of an item; of MRG32k3a its value, 1 to 4294967087.
  uint64_t drawn(uint64_t item, int index) const {
    const auto i = static_cast<uint64_t>(index), w = static_cast<uint64_t>(width);
    if (family != Family::kPhilox) {
      const uint64_t lane = (first + item) % lanes, word = before[lane] + item / lanes * w + i;
      return family == Family::kMrg ? mrg->value(lane, word) : xorwow->word(lane, word);
    }
    constexpr uint64_t kLanes = 65536;
    const uint64_t value = (first / per_item + item) * per_item, per_value = w / per_item;
    const uint64_t four = value / 4, at = (four / kLanes * 4 + value % 4) * per_value + i;
    return philox_word(seed, four % kLanes, at);
  }
  uint32_t bits(uint64_t item) const {
    constexpr double kToAllWords = 1.000000048662;  // 2^32 / 4294967087
    const uint64_t x = drawn(item, 0);
    return static_cast<uint32_t>(family == Family::kMrg ? static_cast<double>(x) * kToAllWords : x);
  }
  // In (0, 1]; in single precision as the vendor's library rounds it.
  float uniform(uint64_t item) const {
    const uint64_t x = drawn(item, 0);
    if (family == Family::kMrg) return static_cast<float>(static_cast<double>(x) * kMrgUnit);
    return static_cast<float>(x) * 0x1p-32F + 0x1p-33F;
  }
  // The same without that rounding.
  double share(uint64_t item, int index) const {
    const auto x = static_cast<double>(drawn(item, index));
    return family == Family::kMrg ? x * kMrgUnit : x * kUnit + kUnit / 2;
  }
  // With 53 bits, from two words; MRG32k3a takes one.
  double wide_share(uint64_t item, int index) const {
    if (family == Family::kMrg) return share(item, index);
    const uint64_t x = drawn(item, 2 * index), y = drawn(item, 2 * index + 1);
    return static_cast<double>(x ^ y << 21) * kUnit53 + kUnit53 / 2;
  }

  static constexpr double kMrgUnit = 2.3283065498378288e-10;  // 1 / 4294967087
};

// Where the lanes stand after so many items of `width` words, dealt from lane `first` on.
void move_on(std::vector<uint64_t>* drawn, uint64_t first, uint64_t items, uint64_t width) {
  const uint64_t lanes = drawn->size();
  for (uint64_t i = 0; i < lanes; ++i) {
    const uint64_t turns = items / lanes + (i < items % lanes ? 1 : 0);
    (*drawn)[(first + i) % lanes] += turns * width;
  }
}

uint64_t lanes_of(const curandGenerator_st& generator) {
  return generator.family == Family::kMrg && !generator.legacy ? 81920 : Xorwow::kLanes;
}

// The generator stands at word `offset` of its sequence, none of which has been drawn.
void go_to(curandGenerator_t generator, uint64_t offset) {
  generator->offset = offset;
  generator->drawn.assign(lanes_of(*generator), 0);
  move_on(&generator->drawn, 0, offset, 1);
}

// Which numbers come next is open where the number of lanes changes: those at the offset.
curandStatus_t set_legacy(curandGenerator_t generator, bool legacy) {
  if (generator->family == Family::kMrg && generator->legacy != legacy) generator->drawn.clear();
  generator->legacy = legacy;
  return CURAND_STATUS_SUCCESS;
}

// Two normal values, from two words or from four.
struct Pair {
  double first, second;
};
Pair box_muller(double radius_of, double turn) {
  const double radius = std::sqrt(-2 * std::log(radius_of));
  return {std::sin(turn) * radius, std::cos(turn) * radius};
}
Pair normal_pair(const Items& items, uint64_t item, bool wide) {
  return wide ? box_muller(items.wide_share(item, 0), items.wide_share(item, 1) * kTurn)
              : box_muller(items.share(item, 0), items.share(item, 1) * kTurn);
}

// The value below which a normal one lies with this probability, by Newton's method.
double normal_quantile(double probability) {
  if (probability >= 0.5) return probability == 0.5 ? 0 : -normal_quantile(1 - probability);
  double x = -std::sqrt(-2 * std::log(probability));  // too far out, so that steps go one way
  for (int i = 0; i < 50; ++i) {
    const double below = 0.5 * std::erfc(-x / std::sqrt(2.0));
    const double density = std::exp(-x * x / 2) / std::sqrt(kTurn);
    const double step = (below - probability) / density;
    x -= step;
    if (std::fabs(step) < 1e-15 * std::fabs(x)) break;
  }
  return x;
}

// The number whose share of the distribution holds the uniform value.
unsigned poisson(double uniform_value, double lambda) {
  double probability = std::exp(-lambda), sum = probability;
  unsigned k = 0;
  while (sum < uniform_value && probability > 0) {
    ++k;
    probability *= lambda / k;
    sum += probability;
  }
  return k;
}

curandStatus_t result_of(cudaError_t error) {
  return error == cudaSuccess ? CURAND_STATUS_SUCCESS : CURAND_STATUS_LAUNCH_FAILURE;
}

// n values of which `per_item` are made of one item of `width` words. `make` fills them from an
// item.
template <class T>
using Make = std::function<void(const Items&, uint64_t item, T* values)>;

// Fills n values now (a generator on the host) or as work of the generator's stream.
template <class T>
curandStatus_t fill(const Call& call, curandGenerator_t generator, T* output, size_t n,
                    const std::function<void(T* to)>& work) {
  if (generator->on_host) {
    work(output);
    return CURAND_STATUS_SUCCESS;
  }
  Operands operands;
  operands.add("output", output, sizeof(T), {{static_cast<int64_t>(n), sizeof(T)}}, Access::kWrite);
  Placement placement;
  placement.device = generator->device;
  placement.stream = generator->stream;
  placement.operations = 30.0 * static_cast<double>(n);
  return result_of(call.enqueue(placement, operands, [=] { work(view(output)); }));
}

// All points of the first dimension, then those of the second; a call goes on behind its last
// point.
template <class T>
curandStatus_t generate_points(const Call& call, curandGenerator_t generator, T* output, size_t n,
                               const std::function<T(uint32_t)>& make) {
  const unsigned dimensions = generator->dimensions;
  if (n % dimensions != 0) return CURAND_STATUS_LENGTH_NOT_MULTIPLE;
  const size_t points = n / dimensions;
  const uint64_t first = generator->offset;
  generator->offset += points;
  return fill<T>(call, generator, output, n, [=](T* to) {
    for (unsigned d = 0; d < dimensions; ++d) {
      for (size_t i = 0; i < points; ++i) to[d * points + i] = make(sobol_word(d, first + i));
    }
  });
}

template <class T>
curandStatus_t generate(const Call& call, curandGenerator_t generator, T* output, size_t n,
                        size_t per_item, int width, Make<T> make,
                        const std::function<T(uint32_t)>& of_point) {
  if (!is_live(generator)) return CURAND_STATUS_NOT_INITIALIZED;
  if (n == 0) return CURAND_STATUS_SUCCESS;
  if (generator->family == Family::kSobol) {
    return generate_points(call, generator, output, n, of_point);
  }
  const bool philox = generator->family == Family::kPhilox;
  if (!philox && n % per_item != 0) return CURAND_STATUS_LENGTH_NOT_MULTIPLE;
  if (generator->family == Family::kMrg && generator->mrg == nullptr) {
    generator->mrg = std::make_shared<Mrg32k3a>(generator->seed);
  }
  if (generator->family == Family::kXorwow && generator->xorwow == nullptr) {
    generator->xorwow = std::make_shared<Xorwow>(generator->seed);
  }
  if (generator->drawn.empty()) go_to(generator, generator->offset);
  const Items items = {generator->family,    generator->seed, generator->offset,
                       lanes_of(*generator), per_item,        width,
                       generator->xorwow,    generator->mrg,  generator->drawn};
  const size_t skipped = philox ? generator->offset % per_item : 0;
  if (!philox) {
    move_on(&generator->drawn, generator->offset, n / per_item, static_cast<uint64_t>(width));
  }
  generator->offset += philox ? n : n / per_item;
  return fill<T>(call, generator, output, n, [=](T* to) {
    T values[2];
    for (size_t i = 0; i < n + skipped; i += per_item) {
      make(items, i / per_item, values);
      for (size_t j = 0; j < per_item; ++j) {
        if (i + j >= skipped && i + j < n + skipped) to[i + j - skipped] = values[j];
      }
    }
  });
}

// Words of an item of so many values with 53 bits.
int wide_words(curandGenerator_t generator, int values) {
  return is_live(generator) && generator->family == Family::kMrg ? values : 2 * values;
}

template <class T>
curandStatus_t generate_normal(const Call& call, curandGenerator_t generator, T* output, size_t n,
                               T mean, T stddev, bool logarithmic) {
  const bool wide = sizeof(T) == sizeof(double);
  const auto finish = [=](double normal) {
    const T value = mean + stddev * static_cast<T>(normal);
    return logarithmic ? std::exp(value) : value;
  };
  return generate<T>(
      call, generator, output, n, 2, wide ? wide_words(generator, 2) : 2,
      [=](const Items& items, uint64_t item, T* values) {
        const Pair pair = normal_pair(items, item, wide);
        values[0] = finish(pair.first);
        values[1] = finish(pair.second);
      },
      [=](uint32_t x) { return finish(normal_quantile(x * kUnit + (wide ? kUnit : kUnit / 2))); });
}

curandStatus_t create(const Call& call, curandGenerator_t* generator, curandRngType_t type,
                      bool on_host) {
  if (generator == nullptr) return CURAND_STATUS_INITIALIZATION_FAILED;
  Family family = Family::kXorwow;
  switch (type) {
    case CURAND_RNG_PSEUDO_DEFAULT:
    case CURAND_RNG_PSEUDO_XORWOW:
      break;
    case CURAND_RNG_PSEUDO_PHILOX4_32_10:
      family = Family::kPhilox;
      break;
    case CURAND_RNG_PSEUDO_MRG32K3A:
      family = Family::kMrg;
      break;
    case CURAND_RNG_QUASI_DEFAULT:
    case CURAND_RNG_QUASI_SOBOL32:
      family = Family::kSobol;
      break;
    case CURAND_RNG_PSEUDO_MTGP32:
    case CURAND_RNG_PSEUDO_MT19937:
    case CURAND_RNG_QUASI_SCRAMBLED_SOBOL32:
    case CURAND_RNG_QUASI_SOBOL64:
    case CURAND_RNG_QUASI_SCRAMBLED_SOBOL64:
      call.not_simulated("a generator other than XORWOW, Philox, MRG32k3a and Sobol32");
      return CURAND_STATUS_TYPE_ERROR;
    default:
      return CURAND_STATUS_TYPE_ERROR;
  }
  auto made = std::make_unique<curandGenerator_st>();
  made->family = family;
  made->on_host = on_host;
  made->device = current_device();
  *generator = made.release();
  const std::lock_guard lock(generators_mutex());
  generators().insert(*generator);
  return CURAND_STATUS_SUCCESS;
}

}  // namespace

extern "C" {

curandStatus_t curandCreateGenerator(curandGenerator_t* generator, curandRngType_t rng_type) {
  WARPLINGS_MAY_FAIL(curandCreateGenerator, CURAND_STATUS_ALLOCATION_FAILED);
  WARPLINGS_LIBRARY_CALL(curandCreateGenerator);
  return create(call, generator, rng_type, false);
}

curandStatus_t curandCreateGeneratorHost(curandGenerator_t* generator, curandRngType_t rng_type) {
  WARPLINGS_MAY_FAIL(curandCreateGeneratorHost, CURAND_STATUS_ALLOCATION_FAILED);
  WARPLINGS_LIBRARY_CALL(curandCreateGeneratorHost);
  return create(call, generator, rng_type, true);
}

curandStatus_t curandDestroyGenerator(curandGenerator_t generator) {
  const std::lock_guard lock(generators_mutex());
  if (generators().erase(generator) == 0) return CURAND_STATUS_NOT_INITIALIZED;
  wsim_library_gone(generator);
  delete generator;
  return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandGetVersion(int* version) {
  if (version == nullptr) return CURAND_STATUS_OUT_OF_RANGE;
  *version = CURAND_VERSION;
  return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandGetProperty(libraryPropertyType type, int* value) {
  if (value == nullptr || type < MAJOR_VERSION || type > PATCH_LEVEL) {
    return CURAND_STATUS_OUT_OF_RANGE;
  }
  constexpr int kVersion[] = {CURAND_VER_MAJOR, CURAND_VER_MINOR, CURAND_VER_PATCH};
  *value = kVersion[type];
  return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandSetStream(curandGenerator_t generator, cudaStream_t stream) {
  WARPLINGS_MAY_FAIL(curandSetStream, CURAND_STATUS_INTERNAL_ERROR);
  if (!is_live(generator)) return CURAND_STATUS_NOT_INITIALIZED;
  generator->stream = stream;
  wsim_library_mode("stream of a cuRAND generator", generator, reinterpret_cast<int64_t>(stream));
  return CURAND_STATUS_SUCCESS;
}

// A new seed starts at the beginning of its sequence.
curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t generator,
                                                  unsigned long long seed) {
  WARPLINGS_MAY_FAIL(curandSetPseudoRandomGeneratorSeed, CURAND_STATUS_INTERNAL_ERROR);
  if (!is_live(generator)) return CURAND_STATUS_NOT_INITIALIZED;
  if (generator->family == Family::kSobol) return CURAND_STATUS_TYPE_ERROR;
  generator->seed = seed;
  generator->offset = 0;
  generator->drawn.clear();
  generator->xorwow = nullptr;
  generator->mrg = nullptr;
  return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandSetGeneratorOffset(curandGenerator_t generator, unsigned long long offset) {
  WARPLINGS_MAY_FAIL(curandSetGeneratorOffset, CURAND_STATUS_INTERNAL_ERROR);
  if (!is_live(generator)) return CURAND_STATUS_NOT_INITIALIZED;
  go_to(generator, offset);
  return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandSetGeneratorOrdering(curandGenerator_t generator, curandOrdering_t order) {
  WARPLINGS_MAY_FAIL(curandSetGeneratorOrdering, CURAND_STATUS_INTERNAL_ERROR);
  WARPLINGS_LIBRARY_CALL(curandSetGeneratorOrdering);
  if (!is_live(generator)) return CURAND_STATUS_NOT_INITIALIZED;
  if (generator->family == Family::kSobol) {
    return order == CURAND_ORDERING_QUASI_DEFAULT ? CURAND_STATUS_SUCCESS
                                                  : CURAND_STATUS_OUT_OF_RANGE;
  }
  switch (order) {
    case CURAND_ORDERING_PSEUDO_BEST:  // the last differs from the others for MRG32k3a alone
    case CURAND_ORDERING_PSEUDO_DEFAULT:
    case CURAND_ORDERING_PSEUDO_LEGACY:
      return set_legacy(generator, order == CURAND_ORDERING_PSEUDO_LEGACY);
    case CURAND_ORDERING_PSEUDO_SEEDED:
    case CURAND_ORDERING_PSEUDO_DYNAMIC:
      call.not_simulated("an ordering other than default, best and legacy");
      return CURAND_STATUS_OUT_OF_RANGE;
    case CURAND_ORDERING_QUASI_DEFAULT:
      break;
  }
  return CURAND_STATUS_OUT_OF_RANGE;
}

curandStatus_t curandSetQuasiRandomGeneratorDimensions(curandGenerator_t generator,
                                                       unsigned int num_dimensions) {
  WARPLINGS_MAY_FAIL(curandSetQuasiRandomGeneratorDimensions, CURAND_STATUS_INTERNAL_ERROR);
  WARPLINGS_LIBRARY_CALL(curandSetQuasiRandomGeneratorDimensions);
  constexpr unsigned kMost = 20000;
  if (!is_live(generator)) return CURAND_STATUS_NOT_INITIALIZED;
  if (generator->family != Family::kSobol) return CURAND_STATUS_TYPE_ERROR;
  if (num_dimensions > kSobolDimensions && num_dimensions <= kMost) {
    call.not_simulated("a sequence of Sobol with more than " + std::to_string(kSobolDimensions) +
                       " dimensions");
    return CURAND_STATUS_OUT_OF_RANGE;
  }
  if (num_dimensions == 0 || num_dimensions > kMost) return CURAND_STATUS_OUT_OF_RANGE;
  generator->dimensions = num_dimensions;
  return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandGenerateSeeds(curandGenerator_t generator) {
  return is_live(generator) ? CURAND_STATUS_SUCCESS : CURAND_STATUS_NOT_INITIALIZED;
}

curandStatus_t curandGenerate(curandGenerator_t generator, unsigned int* outputPtr, size_t num) {
  WARPLINGS_LIBRARY_CALL(curandGenerate);
  return generate<unsigned>(
      call, generator, outputPtr, num, 1, 1,
      [](const Items& items, uint64_t item, unsigned* to) { *to = items.bits(item); },
      [](uint32_t x) { return x; });
}

// Only quasi-random generators of 64 bits have it.
curandStatus_t curandGenerateLongLong(curandGenerator_t generator, unsigned long long*, size_t) {
  return is_live(generator) ? CURAND_STATUS_TYPE_ERROR : CURAND_STATUS_NOT_INITIALIZED;
}

curandStatus_t curandGenerateUniform(curandGenerator_t generator, float* outputPtr, size_t num) {
  WARPLINGS_LIBRARY_CALL(curandGenerateUniform);
  return generate<float>(
      call, generator, outputPtr, num, 1, 1,
      [](const Items& items, uint64_t item, float* to) { *to = items.uniform(item); },
      [](uint32_t x) { return static_cast<float>(x) * 0x1p-32F + 0x1p-33F; });
}

curandStatus_t curandGenerateUniformDouble(curandGenerator_t generator, double* outputPtr,
                                           size_t num) {
  WARPLINGS_LIBRARY_CALL(curandGenerateUniformDouble);
  return generate<double>(
      call, generator, outputPtr, num, 1, wide_words(generator, 1),
      [](const Items& items, uint64_t item, double* to) { *to = items.wide_share(item, 0); },
      [](uint32_t x) { return x * kUnit + kUnit; });
}

curandStatus_t curandGenerateNormal(curandGenerator_t generator, float* outputPtr, size_t n,
                                    float mean, float stddev) {
  WARPLINGS_LIBRARY_CALL(curandGenerateNormal);
  return generate_normal(call, generator, outputPtr, n, mean, stddev, false);
}

curandStatus_t curandGenerateNormalDouble(curandGenerator_t generator, double* outputPtr, size_t n,
                                          double mean, double stddev) {
  WARPLINGS_LIBRARY_CALL(curandGenerateNormalDouble);
  return generate_normal(call, generator, outputPtr, n, mean, stddev, false);
}

curandStatus_t curandGenerateLogNormal(curandGenerator_t generator, float* outputPtr, size_t n,
                                       float mean, float stddev) {
  WARPLINGS_LIBRARY_CALL(curandGenerateLogNormal);
  return generate_normal(call, generator, outputPtr, n, mean, stddev, true);
}

curandStatus_t curandGenerateLogNormalDouble(curandGenerator_t generator, double* outputPtr,
                                             size_t n, double mean, double stddev) {
  WARPLINGS_LIBRARY_CALL(curandGenerateLogNormalDouble);
  return generate_normal(call, generator, outputPtr, n, mean, stddev, true);
}

curandStatus_t curandGeneratePoisson(curandGenerator_t generator, unsigned int* outputPtr, size_t n,
                                     double lambda) {
  WARPLINGS_LIBRARY_CALL(curandGeneratePoisson);
  constexpr double kLargest = 500;  // exp(-lambda) must not vanish
  if (!(lambda > 0)) return CURAND_STATUS_OUT_OF_RANGE;
  const auto number = [=](double share, double normal) {
    if (lambda <= kLargest) return poisson(share, lambda);
    return static_cast<unsigned>(std::fmax(0, lambda + std::sqrt(lambda) * normal + 0.5));
  };
  return generate<unsigned>(
      call, generator, outputPtr, n, 1, 2,
      [=](const Items& items, uint64_t item, unsigned* to) {
        *to = number(lambda <= kLargest ? items.wide_share(item, 0) : 0,
                     lambda <= kLargest ? 0 : normal_pair(items, item, false).first);
      },
      [=](uint32_t x) {
        const double share = x * kUnit + kUnit / 2;
        return number(share, normal_quantile(share));
      });
}

}  // extern "C"
