// cuRAND's host functions.
#include <curand.h>

#include <cmath>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "common/call.h"
#include "curand/sequence.h"

using namespace warplings::libraries;

struct curandGenerator_st {
  bool philox = false;
  bool on_host = false;
  int device = 0;
  cudaStream_t stream = nullptr;
  uint64_t seed = 0;
  uint64_t offset = 0;  // the value, or with XORWOW the lane, that the next call begins with
  std::vector<uint64_t> drawn;       // XORWOW: words that each lane has given so far
  std::shared_ptr<Xorwow> sequence;  // of the seed; made when it is needed
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

// The words of one call. An item is what one value, or a pair of normal values, is made of.
// As measured on an H200:
//   XORWOW: the lanes draw an item each, in turn, and go on where they stand; an offset counts
//   words Philox: four values of each of 65,536 lanes in turn; an offset counts values, and a
//   normal value
//           is the first or the second of a pair as its number is even or odd
struct Items {
  bool philox;
  uint64_t seed, first;
  size_t per_item;  // values
  int width;        // words of an item
  std::shared_ptr<Xorwow> xorwow;
  std::vector<uint64_t> drawn;

  uint32_t word(uint64_t item, int index) const {
    const auto i = static_cast<uint64_t>(index), w = static_cast<uint64_t>(width);
    if (!philox) {
      const uint64_t lane = (first + item) % Xorwow::kLanes;
      return xorwow->word(lane, drawn[lane] + item / Xorwow::kLanes * w + i);
    }
    constexpr uint64_t kLanes = 65536;
    const uint64_t value = (first / per_item + item) * per_item, per_value = w / per_item;
    const uint64_t four = value / 4, at = (four / kLanes * 4 + value % 4) * per_value + i;
    return philox_word(seed, four % kLanes, at);
  }
};

// Where the lanes of XORWOW stand after so many items of `width` words, dealt from lane `first` on.
void move_on(std::vector<uint64_t>* drawn, uint64_t first, uint64_t items, uint64_t width) {
  for (uint64_t i = 0; i < Xorwow::kLanes; ++i) {
    const uint64_t turns = items / Xorwow::kLanes + (i < items % Xorwow::kLanes ? 1 : 0);
    (*drawn)[(first + i) % Xorwow::kLanes] += turns * width;
  }
}

constexpr double kUnit = 0x1p-32, kUnit53 = 0x1p-53, kTurn = 6.283185307179586;

float uniform(uint32_t x) { return static_cast<float>(x) * 0x1p-32F + 0x1p-33F; }
double uniform_double(uint32_t x, uint32_t y) {
  return static_cast<double>(uint64_t{x} ^ uint64_t{y} << 21) * kUnit53 + kUnit53 / 2;
}

// Two normal values, from two words or from four.
struct Pair {
  double first, second;
};
Pair box_muller(double radius_of, double turn) {
  const double radius = std::sqrt(-2 * std::log(radius_of));
  return {std::sin(turn) * radius, std::cos(turn) * radius};
}
Pair normal_pair(const Items& items, uint64_t item) {
  return box_muller(items.word(item, 0) * kUnit + kUnit / 2,
                    (items.word(item, 1) * kUnit + kUnit / 2) * kTurn);
}
Pair normal_pair_double(const Items& items, uint64_t item) {
  return box_muller(uniform_double(items.word(item, 0), items.word(item, 1)),
                    uniform_double(items.word(item, 2), items.word(item, 3)) * kTurn);
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

template <class T>
curandStatus_t generate(const Call& call, curandGenerator_t generator, T* output, size_t n,
                        size_t per_item, int width, Make<T> make) {
  if (!is_live(generator)) return CURAND_STATUS_NOT_INITIALIZED;
  if (n == 0) return CURAND_STATUS_SUCCESS;
  if (!generator->philox && n % per_item != 0) return CURAND_STATUS_LENGTH_NOT_MULTIPLE;
  if (generator->sequence == nullptr)
    generator->sequence = std::make_shared<Xorwow>(generator->seed);
  if (generator->drawn.empty()) generator->drawn.resize(Xorwow::kLanes);
  const Items items = {generator->philox,   generator->seed, generator->offset, per_item, width,
                       generator->sequence, generator->drawn};
  const size_t skipped = generator->philox ? generator->offset % per_item : 0;
  if (!generator->philox) {
    move_on(&generator->drawn, generator->offset, n / per_item, static_cast<uint64_t>(width));
  }
  generator->offset += generator->philox ? n : n / per_item;
  const auto work = [=](T* to) {
    T values[2];
    for (size_t i = 0; i < n + skipped; i += per_item) {
      make(items, i / per_item, values);
      for (size_t j = 0; j < per_item; ++j) {
        if (i + j >= skipped && i + j < n + skipped) to[i + j - skipped] = values[j];
      }
    }
  };
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

template <class T>
curandStatus_t generate_normal(const Call& call, curandGenerator_t generator, T* output, size_t n,
                               T mean, T stddev, bool logarithmic) {
  const bool wide = sizeof(T) == sizeof(double);
  return generate<T>(call, generator, output, n, 2, wide ? 4 : 2,
                     [=](const Items& items, uint64_t item, T* values) {
                       const Pair pair =
                           wide ? normal_pair_double(items, item) : normal_pair(items, item);
                       values[0] = mean + stddev * static_cast<T>(pair.first);
                       values[1] = mean + stddev * static_cast<T>(pair.second);
                       if (!logarithmic) return;
                       values[0] = std::exp(values[0]);
                       values[1] = std::exp(values[1]);
                     });
}

curandStatus_t create(const Call& call, curandGenerator_t* generator, curandRngType_t type,
                      bool on_host) {
  if (generator == nullptr) return CURAND_STATUS_INITIALIZATION_FAILED;
  switch (type) {
    case CURAND_RNG_PSEUDO_DEFAULT:
    case CURAND_RNG_PSEUDO_XORWOW:
    case CURAND_RNG_PSEUDO_PHILOX4_32_10:
      break;
    case CURAND_RNG_PSEUDO_MRG32K3A:
    case CURAND_RNG_PSEUDO_MTGP32:
    case CURAND_RNG_PSEUDO_MT19937:
    case CURAND_RNG_QUASI_DEFAULT:
    case CURAND_RNG_QUASI_SOBOL32:
    case CURAND_RNG_QUASI_SCRAMBLED_SOBOL32:
    case CURAND_RNG_QUASI_SOBOL64:
    case CURAND_RNG_QUASI_SCRAMBLED_SOBOL64:
      call.not_simulated("a generator other than XORWOW and Philox");
      return CURAND_STATUS_TYPE_ERROR;
    default:
      return CURAND_STATUS_TYPE_ERROR;
  }
  auto made = std::make_unique<curandGenerator_st>();
  made->philox = type == CURAND_RNG_PSEUDO_PHILOX4_32_10;
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
  WARPLINGS_LIBRARY_CALL(curandCreateGenerator);
  return create(call, generator, rng_type, false);
}

curandStatus_t curandCreateGeneratorHost(curandGenerator_t* generator, curandRngType_t rng_type) {
  WARPLINGS_LIBRARY_CALL(curandCreateGeneratorHost);
  return create(call, generator, rng_type, true);
}

curandStatus_t curandDestroyGenerator(curandGenerator_t generator) {
  const std::lock_guard lock(generators_mutex());
  if (generators().erase(generator) == 0) return CURAND_STATUS_NOT_INITIALIZED;
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
  if (!is_live(generator)) return CURAND_STATUS_NOT_INITIALIZED;
  generator->stream = stream;
  return CURAND_STATUS_SUCCESS;
}

// A new seed starts at the beginning of its sequence.
curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t generator,
                                                  unsigned long long seed) {
  if (!is_live(generator)) return CURAND_STATUS_NOT_INITIALIZED;
  generator->seed = seed;
  generator->offset = 0;
  generator->drawn.clear();
  generator->sequence = nullptr;
  return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandSetGeneratorOffset(curandGenerator_t generator, unsigned long long offset) {
  if (!is_live(generator)) return CURAND_STATUS_NOT_INITIALIZED;
  generator->offset = offset;
  generator->drawn.assign(Xorwow::kLanes, 0);
  if (!generator->philox) move_on(&generator->drawn, 0, offset, 1);
  return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandSetGeneratorOrdering(curandGenerator_t generator, curandOrdering_t order) {
  WARPLINGS_LIBRARY_CALL(curandSetGeneratorOrdering);
  if (!is_live(generator)) return CURAND_STATUS_NOT_INITIALIZED;
  switch (order) {
    case CURAND_ORDERING_PSEUDO_BEST:  // of these generators, all three are one order
    case CURAND_ORDERING_PSEUDO_DEFAULT:
    case CURAND_ORDERING_PSEUDO_LEGACY:
      return CURAND_STATUS_SUCCESS;
    case CURAND_ORDERING_PSEUDO_SEEDED:
    case CURAND_ORDERING_PSEUDO_DYNAMIC:
      call.not_simulated("an ordering other than default, best and legacy");
      return CURAND_STATUS_OUT_OF_RANGE;
    case CURAND_ORDERING_QUASI_DEFAULT:
      break;
  }
  return CURAND_STATUS_OUT_OF_RANGE;
}

curandStatus_t curandSetQuasiRandomGeneratorDimensions(curandGenerator_t generator, unsigned int) {
  return is_live(generator) ? CURAND_STATUS_TYPE_ERROR : CURAND_STATUS_NOT_INITIALIZED;
}

curandStatus_t curandGenerateSeeds(curandGenerator_t generator) {
  return is_live(generator) ? CURAND_STATUS_SUCCESS : CURAND_STATUS_NOT_INITIALIZED;
}

curandStatus_t curandGenerate(curandGenerator_t generator, unsigned int* outputPtr, size_t num) {
  WARPLINGS_LIBRARY_CALL(curandGenerate);
  return generate<unsigned>(
      call, generator, outputPtr, num, 1, 1,
      [](const Items& items, uint64_t item, unsigned* to) { *to = items.word(item, 0); });
}

// Only quasi-random generators of 64 bits have it.
curandStatus_t curandGenerateLongLong(curandGenerator_t generator, unsigned long long*, size_t) {
  return is_live(generator) ? CURAND_STATUS_TYPE_ERROR : CURAND_STATUS_NOT_INITIALIZED;
}

curandStatus_t curandGenerateUniform(curandGenerator_t generator, float* outputPtr, size_t num) {
  WARPLINGS_LIBRARY_CALL(curandGenerateUniform);
  return generate<float>(
      call, generator, outputPtr, num, 1, 1,
      [](const Items& items, uint64_t item, float* to) { *to = uniform(items.word(item, 0)); });
}

curandStatus_t curandGenerateUniformDouble(curandGenerator_t generator, double* outputPtr,
                                           size_t num) {
  WARPLINGS_LIBRARY_CALL(curandGenerateUniformDouble);
  return generate<double>(call, generator, outputPtr, num, 1, 2,
                          [](const Items& items, uint64_t item, double* to) {
                            *to = uniform_double(items.word(item, 0), items.word(item, 1));
                          });
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
  return generate<unsigned>(
      call, generator, outputPtr, n, 1, 2, [=](const Items& items, uint64_t item, unsigned* to) {
        if (lambda <= kLargest) {
          *to = poisson(uniform_double(items.word(item, 0), items.word(item, 1)), lambda);
        } else {
          const double normal = normal_pair(items, item).first;
          *to = static_cast<unsigned>(std::fmax(0, lambda + std::sqrt(lambda) * normal + 0.5));
        }
      });
}

}  // extern "C"
