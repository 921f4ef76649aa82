// Tests of 09/13 cuRAND in kernels.
#include "13_curand_device.h"

#include <curand.h>

#include <array>
#include <cmath>
#include <cstdint>

#include "kit/kit.h"
#include "kit/largest.h"

namespace {

constexpr unsigned long long kSeed = 20261122;

// Reference: one group of four words of Philox4x32-10 (Salmon et al., 2011). The counter is the
// number of the group and that of the sequence, the key is the seed.
std::array<uint32_t, 4> philox(uint64_t seed, uint64_t sequence, uint64_t group) {
  std::array<uint32_t, 4> c = {static_cast<uint32_t>(group), static_cast<uint32_t>(group >> 32),
                               static_cast<uint32_t>(sequence),
                               static_cast<uint32_t>(sequence >> 32)};
  uint32_t low = static_cast<uint32_t>(seed), high = static_cast<uint32_t>(seed >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t{0xD2511F53} * c[0], b = uint64_t{0xCD9E8D57} * c[2];
    c = {static_cast<uint32_t>(b >> 32) ^ c[1] ^ low, static_cast<uint32_t>(b),
         static_cast<uint32_t>(a >> 32) ^ c[3] ^ high, static_cast<uint32_t>(a)};
    low += 0x9E3779B9;
    high += 0xBB67AE85;
  }
  return c;
}

// In (0, 1], rounded to a float as cuRAND does it.
float uniform(uint32_t word) { return static_cast<float>(word) * 0x1p-32f + 0x1p-33f; }

std::vector<double> dropout_on_cpu(const std::vector<float>& x, float rate, uint64_t seed,
                                   uint64_t offset) {
  std::vector<double> y;
  for (size_t i = 0; i < x.size(); ++i) {
    const bool stays = uniform(philox(seed, i / 4, offset / 4)[i % 4]) > rate;
    y.push_back(stays ? x[i] / (1.0 - rate) : 0.0);
  }
  return y;
}

// Box and Muller: two uniform numbers give two normal ones, a sine and a cosine.
double weight_on_cpu(size_t i, int fan_in, uint64_t seed) {
  const std::array<uint32_t, 4> words = philox(seed, i / 4, 0);
  const uint32_t of_radius = words[i % 4 / 2 * 2], of_turn = words[i % 4 / 2 * 2 + 1];
  const double radius = std::sqrt(-2 * std::log((of_radius + 0.5) * 0x1p-32));
  const double turn = (of_turn + 0.5) * 0x1p-32 * 2 * 3.14159265358979;
  return std::sqrt(2.0 / fan_in) * radius * (i % 2 == 0 ? std::sin(turn) : std::cos(turn));
}
std::vector<double> weights_on_cpu(int fan_out, int fan_in, uint64_t seed) {
  std::vector<double> w;
  for (int i = 0; i < fan_out * fan_in; ++i) w.push_back(weight_on_cpu(i, fan_in, seed));
  return w;
}

// The first numbers of the sequences 0 to 4095, round by round: the host's generator deals them so.
std::vector<float> dealt_on_host(unsigned long long seed, int rounds) {
  std::vector<float> values(4096 * static_cast<size_t>(rounds));
  curandGenerator_t generator = nullptr;
  curandCreateGeneratorHost(&generator, CURAND_RNG_PSEUDO_XORWOW);
  curandSetGeneratorOrdering(generator, CURAND_ORDERING_PSEUDO_LEGACY);
  curandSetPseudoRandomGeneratorSeed(generator, seed);
  if (curandGenerateUniform(generator, values.data(), values.size()) != CURAND_STATUS_SUCCESS) {
    kit::fail("The reference on the host could not be made.");
  }
  curandDestroyGenerator(generator);
  return values;
}

// What `calls` calls of launch_draw give, one behind the other.
std::vector<float> drawn(int threads, int rounds, int calls, unsigned long long seed) {
  const auto d_states = kit::DeviceBuffer<char>::output(state_bytes(threads), "states");
  const size_t each = static_cast<size_t>(threads) * rounds;
  const auto d_x = kit::DeviceBuffer<float>::output(calls * each, "x");
  kit::run([&] {
    launch_init(d_states.get(), threads, seed);
    for (int call = 0; call < calls; ++call) {
      launch_draw(d_states.get(), threads, d_x.get() + call * each, rounds);
    }
  });
  return d_x.download();
}

std::vector<float> expected_draws(int threads, int rounds, unsigned long long seed) {
  const std::vector<float> all = dealt_on_host(seed, rounds);
  std::vector<float> expected;
  for (int round = 0; round < rounds; ++round) {
    expected.insert(expected.end(), all.begin() + 4096 * round,
                    all.begin() + 4096 * round + threads);
  }
  return expected;
}

std::vector<float> dropped(const std::vector<float>& x, float rate, unsigned long long seed,
                           unsigned long long offset) {
  const int n = static_cast<int>(x.size());
  const auto d_x = kit::DeviceBuffer<float>::input(x, "x", kit::Placement::kAtEnd);
  const auto d_y = kit::DeviceBuffer<float>::output(n, "y", kit::Placement::kAtEnd);
  kit::run([&] { launch_dropout(d_x.get(), d_y.get(), n, rate, seed, offset); });
  kit::expect_near(d_y, dropout_on_cpu(x, rate, seed, offset), kit::Tolerance::units(4));
  return d_y.download();
}

struct Layer {
  int fan_out, fan_in;
};
std::ostream& operator<<(std::ostream& out, const Layer& l) {
  return out << l.fan_out << " x " << l.fan_in;
}

}  // namespace

TEST(CurandDevice, EveryThreadHasItsOwnSequence) {
  RecordProperty("todo", 1);
  kit::for_each("threads", std::vector<int>{1, 33, 130}, [](int threads) {
    const std::vector<float> got = drawn(threads, 1, 1, kSeed);
    if (threads > 1 && got[0] == got[1]) {
      kit::fail("Threads 0 and 1 draw the same number, " + std::to_string(got[0]) +
                ": they have the same seed and the same sequence.");
    }
    kit::expect_equal("x", got, expected_draws(threads, 1, kSeed));
  });
}

TEST(CurandDevice, TheNextCallGoesOn) {
  RecordProperty("todo", 2);
  const int threads = 40;
  const std::vector<float> got = drawn(threads, 2, 3, kSeed << 20);
  if (got[0] == got[2 * threads]) {
    kit::fail("The second call begins with the number of the first, " + std::to_string(got[0]) +
              ": the generator has moved on in a register, and not in memory.");
  }
  kit::expect_equal("x, of three calls", got, expected_draws(threads, 6, kSeed << 20));
}

TEST(CurandDevice, NumbersOfAnElementFollowFromItsIndex) {
  RecordProperty("todo", 3);
  kit::for_each("n", std::vector<int>{1, 3, 4, 5, 1000, 1025, 0},
                [](int n) { dropped(kit::random_floats(n), 0.3f, kSeed, 0); });
  kit::for_each("rate", std::vector<float>{0.0f, 0.5f, 0.9f},
                [](float rate) { dropped(kit::random_floats(100), rate, kSeed, 8); });
}

TEST(CurandDevice, WhatIsDroppedIsZero) {
  RecordProperty("todo", 3);
  std::vector<float> x;
  for (int i = 0; i < 64; ++i) x.push_back(i % 2 == 0 ? INFINITY : -INFINITY);
  dropped(x, 0.5f, kSeed, 0);
}

TEST(CurandDevice, ANumberThatIsTheRateIsNotAboveIt) {
  RecordProperty("todo", 3);
  const float rate = uniform(philox(kSeed, 2, 0)[1]);  // number 9
  dropped(kit::random_floats(100), rate, kSeed, 0);
}

TEST(CurandDevice, OffsetsAndSeedsHave64Bits) {
  RecordProperty("todo", 3);
  dropped(kit::random_floats(100), 0.5f, kSeed, (1ull << 34) + 8);
}

TEST(CurandDevice, BackpropagationDropsTheSame) {
  RecordProperty("todo", 3);
  const std::vector<float> x(500, 1.0f);
  const unsigned long long seed = kSeed << 33;  // both halves of it count
  const std::vector<float> first = dropped(x, 0.5f, seed, 12);
  kit::expect_equal("the same seed and offset", dropped(x, 0.5f, seed, 12), first);
  if (dropped(x, 0.5f, seed, 16) == first) {
    kit::fail("Another offset dropped the same elements: every step of a training needs its own.");
  }
}

TEST(CurandDevice, WeightsOfEveryLayer) {
  RecordProperty("todo", 4);
  const auto check_seed = [](const Layer& layer, uint64_t seed) {
    const size_t count = static_cast<size_t>(layer.fan_out) * layer.fan_in;
    const auto d_w = kit::DeviceBuffer<float>::output(count, "w", kit::Placement::kAtEnd);
    kit::run([&] { launch_weights(d_w.get(), layer.fan_out, layer.fan_in, seed); });
    const double scale = layer.fan_in > 0 ? std::sqrt(2.0 / layer.fan_in) : 0;
    kit::expect_near(d_w, weights_on_cpu(layer.fan_out, layer.fan_in, seed),
                     kit::Tolerance::absolute(2e-5 * scale));
  };
  kit::for_each("w", std::vector<Layer>{{10, 128}, {1, 1}, {33, 31}, {3, 5}, {0, 5}, {5, 0}},
                [&](const Layer& layer) { check_seed(layer, kSeed); });
  check_seed({10, 10}, kSeed << 33);  // both halves of it count
}

TEST(CurandDevice, DropsAsManyAsAnIntCounts) {
  RecordProperty("todo", 3);
  kit::at_largest((1 << 30) + 77, [](int n) {
    const auto d_x = kit::large_integers(n, "x");
    const auto d_y = kit::LargeArray<float>::output(n, "y");
    kit::run([&] { launch_dropout(d_x.get(), d_y.get(), n, 0.5f, kSeed, 0); });
    kit::expect_at_ends(d_y, [&](size_t i) {
      return uniform(philox(kSeed, i / 4, 0)[i % 4]) > 0.5f ? 2 * d_x.at(i) : 0.0f;
    });
  });
}

TEST(CurandDevice, WeightsOfAVeryLargeLayer) {
  RecordProperty("todo", 4);
  const int fan_out = 32'769, fan_in = 32'771;
  kit::at_largest("w of 32,769 x 32,771", [&] {
    const auto d_w = kit::LargeArray<float>::output(static_cast<size_t>(fan_out) * fan_in, "w");
    kit::run([&] { launch_weights(d_w.get(), fan_out, fan_in, kSeed); });
    kit::expect_at_ends(
        d_w, [&](size_t i) { return weight_on_cpu(i, fan_in, kSeed); },
        kit::Tolerance::absolute(2e-5 * std::sqrt(2.0 / fan_in)));
  });
}

TEST(CurandDevice, DrawsFourNumbersAtOnce) {
  RecordProperty("todo", 3);
  const auto d_x = kit::DeviceBuffer<float>::input(kit::random_floats(4096), "x");
  const auto d_y = kit::DeviceBuffer<float>::output(4096, "y");
  const kit::Run run =
      kit::run([&] { launch_dropout(d_x.get(), d_y.get(), 4096, 0.5f, kSeed, 0); });
  kit::budget("warp instructions per element",
              kit::ratio(static_cast<double>(run.counters().warp_instructions), 4096),
              kit::at_most(3),
              "Ten rounds of Philox give four words: a generator for each element does the rounds "
              "four times as often",
              &kit::Counters::warp_instructions);
}
