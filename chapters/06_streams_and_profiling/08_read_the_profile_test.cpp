// Tests of 06/08 read the profile. The counters decide; the tables that they make are printed.
#include "08_read_the_profile.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "kit/kit.h"

namespace {

// The three measures of a kernel, each with what it is at best.
struct Measures {
  double sectors = 0, wavefronts = 0, lanes = 0;

  explicit Measures(const kit::Counters& c)
      : sectors(kit::ratio(c.global_load_sectors, c.global_load_requests)),
        wavefronts(kit::ratio(c.shared_load_wavefronts + c.shared_store_wavefronts,
                              c.shared_load_requests + c.shared_store_requests)),
        lanes(kit::ratio(c.thread_instructions, c.warp_instructions)) {}

  double value(Counter counter) const {
    switch (counter) {
      case Counter::kSectorsPerRequest:
        return sectors;
      case Counter::kWavefrontsPerRequest:
        return wavefronts;
      case Counter::kActiveLanes:
        return lanes;
      default:
        return 0;
    }
  }

  std::string text() const {
    char text[200];
    std::snprintf(
        text, sizeof text,
        " Counted: %.1f sectors per request (best 4), %.1f wavefronts per request (best 1; "
        "0: no shared memory), %.1f active lanes (best 32).",
        sectors, wavefronts, lanes);
    return text;
  }

  // How many times worse than at best; the worst of them holds the kernel back.
  double excess(Counter counter) const {
    switch (counter) {
      case Counter::kSectorsPerRequest:
        return sectors / 4;
      case Counter::kWavefrontsPerRequest:
        return wavefronts;
      case Counter::kActiveLanes:
        return 32 / lanes;
      default:
        return 0;
    }
  }

  Counter worst() const {
    Counter worst = Counter::kSectorsPerRequest;
    for (const Counter counter : {Counter::kWavefrontsPerRequest, Counter::kActiveLanes}) {
      if (excess(counter) > excess(worst)) worst = counter;
    }
    return worst;
  }
};

const char* name_of(Counter counter) {
  switch (counter) {
    case Counter::kSectorsPerRequest:
      return "sectors per request";
    case Counter::kWavefrontsPerRequest:
      return "wavefronts per request";
    case Counter::kActiveLanes:
      return "active lanes";
    default:
      return "no counter";
  }
}

Limiter limiter_shown_by(Counter counter) {
  switch (counter) {
    case Counter::kSectorsPerRequest:
      return Limiter::kGlobalMemory;
    case Counter::kWavefrontsPerRequest:
      return Limiter::kSharedMemory;
    default:
      return Limiter::kDivergence;
  }
}

kit::Counters profile(char kernel) {
  constexpr int kNumbers = 1024;
  const auto d_m = kit::DeviceBuffer<float>::input(kit::random_floats(kSide * kSide), "m");
  const auto d_sums = kit::DeviceBuffer<float>::output(kSide, "sums");
  const auto d_out = kit::DeviceBuffer<float>::output(kSide * kSide, "out");
  const auto d_steps = kit::DeviceBuffer<int>::output(kNumbers, "steps");
  const kit::Run run = kit::run(std::string("kernel_") + kernel, [&] {
    if (kernel == 'a') launch_kernel_a(d_m.get(), d_sums.get());
    if (kernel == 'b') launch_kernel_b(d_m.get(), d_out.get());
    if (kernel == 'c') launch_kernel_c(d_steps.get(), kNumbers);
  });
  return run.counters();
}

void check_answer(char kernel) {
  const Answer answer = answer_for(kernel);
  const std::string name = std::string("kernel_") + kernel;
  const Measures measures(profile(kernel));
  if (answer.limiter == Limiter::kUnknown || answer.counter == Counter::kUnknown) {
    kit::fail(name + " has no answer yet." + (kit::simulated() ? measures.text() : ""));
    return;
  }
  if (!kit::simulated()) return;  // a GPU has no counters here
  if (answer.counter != measures.worst()) {
    char text[256];
    std::snprintf(
        text, sizeof text,
        "You say that %s shows what holds %s back: it is %.1f there, %.1f times worse than "
        "at best. Another of its counters is %.1f times worse than at best.",
        name_of(answer.counter), name.c_str(), measures.value(answer.counter),
        measures.excess(answer.counter), measures.excess(measures.worst()));
    kit::fail(text);
    return;
  }
  if (answer.limiter != limiter_shown_by(answer.counter)) {
    kit::fail(std::string("For ") + name + " you named the counter that shows it, " +
              name_of(answer.counter) + ", but another limiter than the one it counts.");
    return;
  }
  const double counted = measures.value(answer.counter);
  if (!(std::fabs(answer.value - counted) <= 0.05 * counted)) {
    kit::fail(std::string("You say ") + std::to_string(answer.value) + " " +
              name_of(answer.counter) + " for " + name + "; the simulator counted " +
              std::to_string(counted) + ".");
  }
}

// Blocks of 128 threads that a multiprocessor of compute capability 8.6 holds.
int blocks_by_registers(int registers) {
  const int per_warp = (registers * 32 + 255) / 256 * 256;
  return 65536 / (per_warp * 4);
}
int blocks_by_shared(double kilobytes) { return static_cast<int>(kilobytes / (12.8 + 1.0)); }

}  // namespace

// The exercise rests on this: in each kernel one number, and another one, is far from its best.
TEST(ReadTheProfile, TheCountersOfTheThreeKernels) {
  RecordProperty("todo", 1);
  if (!kit::simulated()) return;
  EXPECT_EQ(Measures(profile('a')).worst(), Counter::kSectorsPerRequest);
  EXPECT_EQ(Measures(profile('b')).worst(), Counter::kWavefrontsPerRequest);
  EXPECT_EQ(Measures(profile('c')).worst(), Counter::kActiveLanes);
}

TEST(ReadTheProfile, WhatHoldsEachKernelBack) {
  RecordProperty("todo", 1);
  kit::for_each("kernel", std::vector<char>{'a', 'b', 'c'}, check_answer);
}

TEST(ReadTheProfile, WhichLimitOfTheSgemmIsTheHardOne) {
  RecordProperty("todo", 2);
  const Limiter answer = sgemm_occupancy().limiter_with_100_kb;
  const Limiter expected = blocks_by_registers(122) < blocks_by_shared(100)
                               ? Limiter::kRegisters
                               : Limiter::kSharedMemory;
  if (answer != expected) {
    kit::fail("With 100 KB of shared memory, " + std::to_string(blocks_by_shared(100)) +
              " blocks of 13.8 KB fit. How many fit into 65,536 registers, with 122 per thread "
              "rounded up per warp? The smaller number decides.");
  }
}

TEST(ReadTheProfile, HowManyBlocksFitWithFewerRegisters) {
  RecordProperty("todo", 2);
  const int expected = std::min(blocks_by_registers(96), blocks_by_shared(100));
  const int answer = sgemm_occupancy().blocks_with_96_registers;
  if (answer != expected) {
    kit::fail(
        "You say " + std::to_string(answer) +
        " blocks. A warp with 96 registers per thread takes 96 * 32 = 3072 of the 65,536, and "
        "a block has 4 warps.");
  }
}
