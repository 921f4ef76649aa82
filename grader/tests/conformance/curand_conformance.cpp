// cuRAND's host interface: seeds, offsets, orderings, all distributions, and bad arguments. Bits
// are compared where no approximate instruction is involved, rounded values elsewhere; Poisson
// numbers only by their mean and variance, since their bits depend on the method.
#include <curand.h>

#include <cinttypes>
#include <cstring>
#include <string>

#include "conformance.h"

using conformance::Device;
using conformance::status;

namespace {

curandGenerator_t generator = nullptr;

void start(curandRngType_t type, unsigned long long seed) {
  status("create", curandCreateGenerator(&generator, type));
  status("seed", curandSetPseudoRandomGeneratorSeed(generator, seed));
}

template <class T>
void print_bits(const char* name, const Device<T>& values) {
  uint64_t hash = 14695981039346656037ULL;
  const std::vector<T> all = values.host();
  for (const T& value : all) {
    uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof(T));
    hash = (hash ^ bits) * 1099511628211ULL;
  }
  std::printf("%s: %016" PRIx64 "\n", name, hash);
}

template <class T>
void print_values(const char* name, const Device<T>& values, size_t count) {
  const std::vector<T> all = values.host();
  double sum = 0, square = 0;
  for (size_t i = 0; i < count; ++i) {
    sum += all[i];
    square += static_cast<double>(all[i]) * all[i];
  }
  std::printf("%s: %.4f %.4f %.4f ... %.4f, sum %.0f, of squares %.0f\n", name,
              static_cast<double>(all[0]), static_cast<double>(all[1]), static_cast<double>(all[2]),
              static_cast<double>(all[count - 1]), sum, square);
}

void print_poisson(const char* name, double lambda) {
  const size_t n = 20000;
  Device<unsigned> out(n);
  status(name, curandGeneratePoisson(generator, out.get(), n, lambda));
  double sum = 0, square = 0;
  for (const unsigned value : out.host()) sum += value;
  const double mean = sum / n;
  for (const unsigned value : out.host()) square += (value - mean) * (value - mean);
  // Five standard deviations.
  conformance::right((std::string(name) + " mean").c_str(), std::fabs(mean - lambda),
                     5 * std::sqrt(lambda / n));
  conformance::right((std::string(name) + " variance").c_str(), std::fabs(square / n - lambda),
                     5 * lambda * std::sqrt(3.0 / n));
}

void sequences(curandRngType_t type, const char* name) {
  std::printf("%s\n", name);
  const size_t n = 10000;  // more than one round of XORWOW's 4096 lanes
  Device<unsigned> words(n), more(n);
  Device<float> floats(n);
  Device<double> doubles(n);
  start(type, 1234);
  status("bits", curandGenerate(generator, words.get(), n));
  print_bits("bits", words);
  status("more bits", curandGenerate(generator, more.get(), 777));
  print_bits("more bits", more);
  status("uniform", curandGenerateUniform(generator, floats.get(), n));
  print_bits("uniform", floats);
  status("offset", curandSetGeneratorOffset(generator, 1000003));
  status("bits from there", curandGenerate(generator, words.get(), n));
  print_bits("bits from there", words);
  status("seed", curandSetPseudoRandomGeneratorSeed(generator, 0xfedcba9876543210ULL));
  status("offset", curandSetGeneratorOffset(generator, 0));
  status("uniform doubles", curandGenerateUniformDouble(generator, doubles.get(), 4000));
  print_bits("uniform doubles", doubles);
  for (const curandOrdering_t order : {CURAND_ORDERING_PSEUDO_BEST, CURAND_ORDERING_PSEUDO_DEFAULT,
                                       CURAND_ORDERING_PSEUDO_LEGACY}) {
    curandSetPseudoRandomGeneratorSeed(generator, 5);
    curandSetGeneratorOffset(generator, 0);
    status("ordering", curandSetGeneratorOrdering(generator, order));
    status("bits in this order", curandGenerate(generator, words.get(), n));
    print_bits("bits in this order", words);
  }
  curandDestroyGenerator(generator);

  start(type, 99);
  status("normal", curandGenerateNormal(generator, floats.get(), n, 0, 1));
  print_values("normal", floats, n);
  curandDestroyGenerator(generator);
  start(type, 99);
  status("normal, mean 3, deviation 2", curandGenerateNormal(generator, floats.get(), 20, 3, 2));
  print_values("normal, mean 3, deviation 2", floats, 20);
  status("the next", curandGenerateNormal(generator, floats.get(), 20, 0, 1));
  print_values("the next", floats, 20);
  curandDestroyGenerator(generator);
  start(type, 99);
  status("normal doubles", curandGenerateNormalDouble(generator, doubles.get(), 4000, 0, 1));
  print_values("normal doubles", doubles, 4000);
  curandDestroyGenerator(generator);
  start(type, 99);
  status("log normal", curandGenerateLogNormal(generator, floats.get(), n, 0.5F, 0.25F));
  print_values("log normal", floats, n);
  print_poisson("poisson 4", 4);
  print_poisson("poisson 100", 100);
  print_poisson("poisson 5000", 5000);
  curandDestroyGenerator(generator);
}

// More than one round of MRG32k3a's 81,920 lanes, in every ordering.
void lanes() {
  const size_t n = 200000;
  Device<unsigned> words(n);
  for (const curandOrdering_t order : {CURAND_ORDERING_PSEUDO_BEST, CURAND_ORDERING_PSEUDO_DEFAULT,
                                       CURAND_ORDERING_PSEUDO_LEGACY}) {
    start(CURAND_RNG_PSEUDO_MRG32K3A, 20261122);
    status("ordering", curandSetGeneratorOrdering(generator, order));
    status("many bits", curandGenerate(generator, words.get(), n));
    print_bits("many bits", words);
    status("offset", curandSetGeneratorOffset(generator, 81920 * 3 + 17));
    status("many bits from there", curandGenerate(generator, words.get(), n));
    print_bits("many bits from there", words);
    curandDestroyGenerator(generator);
  }
}

void points(unsigned dimensions) {
  std::printf("Sobol, %u dimensions\n", dimensions);
  const size_t n = 1000 * size_t{dimensions};
  Device<unsigned> words(n);
  Device<float> floats(n);
  Device<double> doubles(n);
  status("create", curandCreateGenerator(&generator, CURAND_RNG_QUASI_SOBOL32));
  status("dimensions", curandSetQuasiRandomGeneratorDimensions(generator, dimensions));
  status("bits", curandGenerate(generator, words.get(), n));
  print_bits("bits", words);
  status("more bits", curandGenerate(generator, words.get(), n));
  print_bits("more bits", words);
  status("offset", curandSetGeneratorOffset(generator, 12345));
  status("bits from there", curandGenerate(generator, words.get(), n));
  print_bits("bits from there", words);
  status("uniform", curandGenerateUniform(generator, floats.get(), n));
  print_bits("uniform", floats);
  status("uniform doubles", curandGenerateUniformDouble(generator, doubles.get(), n));
  print_bits("uniform doubles", doubles);
  status("normal", curandGenerateNormal(generator, floats.get(), n, 3, 2));
  print_values("normal", floats, n);
  status("normal doubles", curandGenerateNormalDouble(generator, doubles.get(), n, 0, 1));
  print_values("normal doubles", doubles, n);
  if (dimensions > 1) {
    status("a number that is no multiple",
           curandGenerate(generator, words.get(), 10 * dimensions - 1));
  }
  status("no dimension", curandSetQuasiRandomGeneratorDimensions(generator, 0));
  status("too many dimensions", curandSetQuasiRandomGeneratorDimensions(generator, 20001));
  status("a seed", curandSetPseudoRandomGeneratorSeed(generator, 3));
  status("a pseudo-random ordering",
         curandSetGeneratorOrdering(generator, CURAND_ORDERING_PSEUDO_DEFAULT));
  status("its ordering", curandSetGeneratorOrdering(generator, CURAND_ORDERING_QUASI_DEFAULT));
  status("destroy", curandDestroyGenerator(generator));
}

void the_host() {
  std::vector<unsigned> words(5000);
  Device<unsigned> device(5000);
  status("host generator", curandCreateGeneratorHost(&generator, CURAND_RNG_PSEUDO_PHILOX4_32_10));
  curandSetPseudoRandomGeneratorSeed(generator, 17);
  status("on the host", curandGenerate(generator, words.data(), words.size()));
  curandDestroyGenerator(generator);
  start(CURAND_RNG_PSEUDO_PHILOX4_32_10, 17);
  curandGenerate(generator, device.get(), words.size());
  std::printf("the same on both: %d\n", device.host() == words);
  curandDestroyGenerator(generator);
}

void bad_arguments() {
  Device<float> x(64);
  status("type 5", curandCreateGenerator(&generator, static_cast<curandRngType_t>(5)));
  start(CURAND_RNG_PSEUDO_DEFAULT, 1);
  status("no values", curandGenerateUniform(generator, x.get(), 0));
  status("an odd number of normal values", curandGenerateNormal(generator, x.get(), 21, 0, 1));
  status("64-bit words of a generator of 32",
         curandGenerateLongLong(generator, reinterpret_cast<unsigned long long*>(x.get()), 4));
  status("ordering 77", curandSetGeneratorOrdering(generator, static_cast<curandOrdering_t>(77)));
  status("quasi-random ordering",
         curandSetGeneratorOrdering(generator, CURAND_ORDERING_QUASI_DEFAULT));
  status("dimensions", curandSetQuasiRandomGeneratorDimensions(generator, 3));
  status("destroy", curandDestroyGenerator(generator));
  status("no generator to destroy", curandDestroyGenerator(nullptr));
  status("no generator", curandGenerateUniform(nullptr, x.get(), 4));
  status("no generator for a seed", curandSetPseudoRandomGeneratorSeed(nullptr, 4));
}

}  // namespace

int main() {
  sequences(CURAND_RNG_PSEUDO_XORWOW, "XORWOW");
  sequences(CURAND_RNG_PSEUDO_PHILOX4_32_10, "Philox");
  sequences(CURAND_RNG_PSEUDO_MRG32K3A, "MRG32k3a");
  lanes();
  for (const unsigned dimensions : {1U, 3U, 21U}) points(dimensions);
  the_host();
  bad_arguments();
}
