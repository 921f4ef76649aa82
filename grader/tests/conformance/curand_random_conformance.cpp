// cuRAND from the host, 40 random generators: kinds, seeds, offsets, orders, lengths and
// distributions drawn from a seed. Bits and uniform values are compared bit by bit, through a hash;
// normal values, which go through functions of limited precision, by what they sum up to.
#include <curand.h>

#include <cinttypes>
#include <cstring>

#include "random_cases.h"

using conformance::Device;
using conformance::Draw;
using conformance::status;
using conformance::text;

namespace {

template <class T>
void print_hash(const Device<T>& values) {
  uint64_t hash = 14695981039346656037ULL;
  for (const T& value : values.host()) {
    uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof(T));
    hash = (hash ^ bits) * 1099511628211ULL;
  }
  std::printf("  %016" PRIx64 "\n", hash);
}

template <class T>
void print_sums(const Device<T>& values) {
  const std::vector<T> all = values.host();
  double sum = 0, squares = 0;
  for (const T& value : all) {
    sum += value;
    squares += static_cast<double>(value) * value;
  }
  const double n = static_cast<double>(all.size());
  std::printf("  first %.3f, last %.3f, mean %.3f, of squares %.3f\n",
              static_cast<double>(all.front()), static_cast<double>(all.back()), sum / n,
              squares / n);
}

void draw_from(Draw& draw, curandGenerator_t generator, int wrong) {
  const int kind = draw.from(0, 4), n = draw.from(1, 3000), even = n + n % 2;
  const float mean = draw.of({0.0F, 1.5F}), deviation = draw.of({1.0F, 0.25F});
  curandGenerator_t with = wrong == 4 ? nullptr : generator;
  if (kind == 0) {
    Device<unsigned> out(n);
    status(text("  %d bits", n).c_str(), curandGenerate(with, out.get(), n));
    print_hash(out);
  } else if (kind == 1) {
    Device<float> out(n);
    status(text("  %d uniform", n).c_str(), curandGenerateUniform(with, out.get(), n));
    print_hash(out);
  } else if (kind == 2) {
    Device<double> out(n);
    status(text("  %d uniform in double", n).c_str(),
           curandGenerateUniformDouble(with, out.get(), n));
    print_hash(out);
  } else {
    const int count = wrong == 5 ? even - 1 : even;
    Device<float> out(even);
    status(
        text("  %d %s, %g %g", count, kind == 3 ? "normal" : "log-normal", mean, deviation).c_str(),
        kind == 3 ? curandGenerateNormal(with, out.get(), count, mean, deviation)
                  : curandGenerateLogNormal(with, out.get(), count, mean, deviation));
    print_sums(out);
  }
}

void generator_case(Draw& draw) {
  const auto type = draw.of(
      {CURAND_RNG_PSEUDO_XORWOW, CURAND_RNG_PSEUDO_PHILOX4_32_10, CURAND_RNG_PSEUDO_DEFAULT});
  const auto order = draw.of({CURAND_ORDERING_PSEUDO_DEFAULT, CURAND_ORDERING_PSEUDO_LEGACY});
  const unsigned long long seed = static_cast<unsigned long long>(draw.from(0, 1 << 30))
                                  << draw.of({0, 20, 33});
  const unsigned long long offset = draw.of({0, 1, 4095, 4096, 123456, 5});
  const int wrong = draw.wrong(5);
  curandGenerator_t generator = nullptr;
  const curandStatus_t made = curandCreateGenerator(
      &generator, wrong == 1 ? static_cast<curandRngType_t>(draw.of({9, 555})) : type);
  status(text("type %d, order %d, seed %llu, offset %llu, wrong %d", static_cast<int>(type),
              static_cast<int>(order), seed, offset, wrong)
             .c_str(),
         made);
  if (made != CURAND_STATUS_SUCCESS) return;
  status("  order",
         curandSetGeneratorOrdering(generator, wrong == 2 ? CURAND_ORDERING_QUASI_DEFAULT : order));
  status("  seed", curandSetPseudoRandomGeneratorSeed(generator, seed));
  status("  offset", curandSetGeneratorOffset(wrong == 3 ? nullptr : generator, offset));
  draw_from(draw, generator, wrong);
  draw_from(draw, generator, wrong);
  status("  destroy", curandDestroyGenerator(generator));
}

}  // namespace

int main(int argc, char** argv) {
  Draw draw(conformance::seed_of(argc, argv));
  for (int i = 0; i < 40; ++i) generator_case(draw);
}
