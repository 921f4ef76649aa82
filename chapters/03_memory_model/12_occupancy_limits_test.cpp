// Tests of 03/12 occupancy limits.
#include "12_occupancy_limits.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "kit/kit.h"
#include "kit/largest.h"

namespace {

// Reference: admits block after block until something is used up. No formula is divided here.
BlockLimits admit_blocks(const Card& card, const BlockNeeds& needs) {
  const int warps = (needs.threads + 31) / 32;
  const int per_warp =
      (needs.registers * 32 + card.register_unit - 1) / card.register_unit * card.register_unit;
  int share = 0;
  while (share < needs.shared_bytes + card.shared_reserved) share += card.shared_unit;
  int warp_room = 0;  // warps whose registers fit, a quarter of the registers at a time
  for (int left = card.registers / card.quarters; left >= per_warp; left -= per_warp)
    warp_room += card.quarters;
  BlockLimits limits = {card.blocks, 0, 0, 0, 0};
  for (int left = card.threads; left >= warps * 32; left -= warps * 32) ++limits.by_threads;
  for (int left = warp_room; left >= warps; left -= warps) ++limits.by_registers;
  if (share == 0) limits.by_shared = card.blocks;
  for (int left = card.shared_bytes; share > 0 && left >= share; left -= share) ++limits.by_shared;
  limits.blocks =
      std::min({limits.by_slots, limits.by_threads, limits.by_registers, limits.by_shared});
  return limits;
}

// Reference: x is kWeeks x n.
std::vector<double> variance_on_cpu(const std::vector<float>& x, int n) {
  std::vector<double> result(n);
  for (int i = 0; i < n; ++i) {
    double mean = 0;
    for (int k = 0; k < kWeeks; ++k) mean += static_cast<double>(x[k * n + i]) / kWeeks;
    for (int k = 0; k < kWeeks; ++k) {
      const double difference = x[k * n + i] - mean;
      result[i] += difference * difference / kWeeks;
    }
  }
  return result;
}

int device_in_use() {
  int device = 0;
  cudaGetDevice(&device);
  return device;
}

std::string text(const BlockNeeds& needs) {
  return std::to_string(needs.threads) + " threads per block, " + std::to_string(needs.registers) +
         " registers per thread, " + std::to_string(needs.shared_bytes) +
         " bytes of shared memory per block";
}

bool expect_limit(const char* what, int got, int expected, const BlockNeeds& needs) {
  if (got == expected) return true;
  return kit::fail(std::string(what) + " is " + std::to_string(got) + ", not " +
                   std::to_string(expected) + ", for " + text(needs) + ".");
}

// Compute capability 8.6 as a profile showed it: the driver had set 64 KiB of shared memory aside.
constexpr Card kProfiled = {46, 16, 1536, 65536, 4, 256, 65536, 1024, 128};
constexpr BlockNeeds kKernel = {128, 122, 12800};  // 12.8 KB of its own, 1.0 KB reserved
// No card that is sold: every number is another one.
constexpr Card kInvented = {15, 12, 2560, 49152, 2, 128, 40960, 512, 64};

void compare_threads_and_registers(const Card& card, const BlockNeeds& needs) {
  const BlockLimits got = block_limits(card, needs), expected = admit_blocks(card, needs);
  expect_limit("The limit by threads", got.by_threads, expected.by_threads, needs) &&
      expect_limit("The limit by registers", got.by_registers, expected.by_registers, needs);
}

// Blocks that the runtime would admit, beside what block_limits says.
void compare_with_the_runtime(const void* kernel, int threads, int dynamic_shared) {
  cudaFuncAttributes attributes = {};
  cudaFuncGetAttributes(&attributes, kernel);
  if (threads > attributes.maxThreadsPerBlock) return;  // the launch would be refused
  const BlockNeeds needs = {threads, attributes.numRegs,
                            static_cast<int>(attributes.sharedSizeBytes) + dynamic_shared};
  int expected = -1;
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&expected, kernel, threads, dynamic_shared);
  const BlockLimits got = block_limits(card_of_device(device_in_use()), needs);
  if (got.blocks == expected) return;
  kit::fail("block_limits says " + std::to_string(got.blocks) + " blocks (slots " +
            std::to_string(got.by_slots) + ", threads " + std::to_string(got.by_threads) +
            ", registers " + std::to_string(got.by_registers) + ", shared memory " +
            std::to_string(got.by_shared) +
            "), cudaOccupancyMaxActiveBlocksPerMultiprocessor says " + std::to_string(expected) +
            ", for " + text(needs) + ".");
}

}  // namespace

TEST(OccupancyLimits, CountsThreadsAndRegisters) {
  RecordProperty("todo", 1);
  kit::for_each(
      "threads", std::vector<int>{128, 32, 33, 250, 256, 384, 768, 1000, 1024}, [](int threads) {
        Card in_halves = kProfiled;
        in_halves.quarters = 2;
        for (const int registers : {122, 16, 32, 40, 50, 64, 71, 72, 100, 168, 200, 255}) {
          compare_threads_and_registers(kProfiled, {threads, registers, 0});
          compare_threads_and_registers(in_halves, {threads, registers, 0});
          compare_threads_and_registers(kInvented, {threads, registers, 0});
        }
      });
}

TEST(OccupancyLimits, CountsSharedMemory) {
  RecordProperty("todo", 2);
  const Card without_reserve = {40, 16, 1024, 65536, 4, 256, 65536, 0, 256};
  // What is reserved need not be a multiple of what is rounded up to.
  const Card odd_reserve = {40, 16, 1024, 65536, 4, 256, 65536, 200, 256};
  for (const Card& card : {kProfiled, without_reserve, odd_reserve, kInvented}) {
    kit::for_each(
        "shared bytes",
        std::vector<int>{12800, 1, 100, 128, 129, 1024, 15360, 15361, 64512, 65536, 65537, 0},
        [&](int shared) {
          const BlockNeeds needs = {128, 32, shared};
          const BlockLimits got = block_limits(card, needs);
          const BlockLimits expected = admit_blocks(card, needs);
          expect_limit("The limit by shared memory", got.by_shared, expected.by_shared, needs);
        });
  }
}

// 16 / 4 / 4 / 12 blocks, 33.3 % of the warps, 1,536 blocks in 8.35 waves.
TEST(OccupancyLimits, GivesTheNumbersOfAPrintedProfile) {
  RecordProperty("todo", 2);
  const BlockLimits got = block_limits(kProfiled, kKernel);
  expect_limit("The limit by block slots", got.by_slots, 16, kKernel) &&
      expect_limit("The limit by registers", got.by_registers, 4, kKernel) &&
      expect_limit("The limit by shared memory", got.by_shared, 4, kKernel) &&
      expect_limit("The limit by threads", got.by_threads, 12, kKernel) &&
      expect_limit("The number of blocks", got.blocks, 4, kKernel);
  EXPECT_NEAR(occupancy(kProfiled, kKernel, got), 0.333, 0.0005);
  EXPECT_NEAR(waves(kProfiled, got, 1536), 8.35, 0.005);
}

// A warp takes its slot whole, however few of its lanes are threads of the block.
TEST(OccupancyLimits, CountsWarpsThatAreNotFull) {
  RecordProperty("todo", 2);
  kit::for_each("threads", std::vector<int>{33, 100, 1, 250, 1000}, [](int threads) {
    const BlockNeeds needs = {threads, 32, 1024};
    for (const Card& card : {kProfiled, kInvented}) {
      const BlockLimits limits = admit_blocks(card, needs);
      const int warps = limits.blocks * ((threads + 31) / 32), slots = card.threads / 32;
      const double got = occupancy(card, needs, limits);
      if (std::abs(got - static_cast<double>(warps) / slots) < 1e-6) continue;
      kit::fail("occupancy says " + std::to_string(got) + " where " + std::to_string(warps) +
                " of " + std::to_string(slots) + " warp slots are taken, for " + text(needs) + ".");
      return;
    }
  });
}

TEST(OccupancyLimits, CountsTheWavesOfAnyLaunch) {
  RecordProperty("todo", 2);
  const int most = std::numeric_limits<int>::max();
  for (const Card& card : {kProfiled, kInvented}) {
    const BlockLimits fits = admit_blocks(card, kKernel);
    for (const int blocks : {most, most - 1, 1, 0}) {
      const double expected = static_cast<double>(blocks) / (fits.blocks * card.multiprocessors);
      const double got = waves(card, fits, blocks);
      if (std::abs(got - expected) <= 1e-6 * expected) continue;
      kit::fail("waves says " + std::to_string(got) + ", not " + std::to_string(expected) +
                ", for " + std::to_string(blocks) + " blocks, of which " +
                std::to_string(fits.blocks) + " fit on each of " +
                std::to_string(card.multiprocessors) + " multiprocessors.");
    }
  }
  const BlockNeeds too_much = {128, 32, 1 << 20};  // bytes of shared memory
  const BlockLimits none = admit_blocks(kProfiled, too_much);
  const double taken = occupancy(kProfiled, too_much, none), filled = waves(kProfiled, none, 10);
  if (taken == 0 && filled == 0) return;
  kit::fail("No block fits, and occupancy says " + std::to_string(taken) + ", waves " +
            std::to_string(filled) + ". Both are 0 then.");
}

TEST(OccupancyLimits, AgreesWithTheRuntimeOnEveryCard) {
  RecordProperty("todo", 2);
  kit::for_each_card([] {
    for (const void* kernel : {light_kernel(), staged_kernel(), variance_kernel()}) {
      for (const int threads : {32, 33, 64, 96, 128, 250, 256, 384, 512, 768, 1024}) {
        for (const int dynamic_shared : {0, 1, 1024, 3000, 12801, 20000, 36000}) {
          compare_with_the_runtime(kernel, threads, dynamic_shared);
        }
      }
    }
  });
}

// "An SM runs one block at a time" and "a thread is a core" are both refuted by the runtime itself.
TEST(OccupancyLimits, ManyBlocksAndMoreThreadsThanCoresShareAMultiprocessor) {
  RecordProperty("todo", 2);
  kit::for_each_card([] {
    constexpr int kMostCores = 128;  // fp32 lanes per multiprocessor, compute capability 7.5 to 12
    const BlockNeeds needs = {128, 16, 0};
    const Card card = card_of_device(device_in_use());
    const int blocks = block_limits(card, needs).blocks;
    const int threads = blocks * needs.threads;
    if (blocks <= 1 || threads <= kMostCores || threads > card.threads) {
      kit::fail("block_limits says that " + std::to_string(blocks) + " blocks of " +
                std::to_string(needs.threads) + " threads run on a multiprocessor. It has " +
                std::to_string(card.threads) + " slots for threads, and at most " +
                std::to_string(kMostCores) + " fp32 lanes, which the threads take turns to use.");
    }
  });
}

TEST(OccupancyLimits, VarianceIsRight) {
  RecordProperty("todo", 3);
  cudaFuncAttributes attributes = {};
  cudaFuncGetAttributes(&attributes, variance_kernel());
  for (const int n : {1000, 1, 256, 257}) {
    // The last are far from 0 beside their spread: a mean square less a squared mean loses them.
    const float middle = n == 257 ? 100.0f : 0.0f;
    const std::vector<float> x = kit::random_floats(size_t{kWeeks} * n, middle - 1, middle + 1);
    const auto d_x = kit::DeviceBuffer<float>::input(x, "x");
    const auto d_y = kit::DeviceBuffer<float>::output(n, "y");
    kit::run("n = " + std::to_string(n), [&] { launch_variance(d_x.get(), d_y.get(), n); });
    kit::expect_near(d_y, variance_on_cpu(x, n), kit::Tolerance::units(2 * kWeeks));
  }
  if (attributes.maxThreadsPerBlock > 256) {
    kit::fail("The runtime admits blocks of up to " +
              std::to_string(attributes.maxThreadsPerBlock) +
              " threads for this kernel: nothing tells the compiler that 256 is the most.");
  }
}

TEST(OccupancyLimits, LaunchBoundsMakeRoomForFourBlocks) {
  RecordProperty("todo", 3);
  kit::for_each_card([] {
    cudaFuncAttributes attributes = {};
    cudaFuncGetAttributes(&attributes, variance_kernel());
    const int threads = std::min(256, attributes.maxThreadsPerBlock);
    int blocks = 0;
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, variance_kernel(), threads, 0);
    if (blocks * threads < 1024) {
      kit::fail(std::to_string(blocks) + " blocks of " + std::to_string(threads) +
                " threads fit on a multiprocessor, with " + std::to_string(attributes.numRegs) +
                " registers per thread. For 1024 threads the compiler may use 64 at most, and has "
                "to be told.");
    }
  });
}

TEST(OccupancyLimits, TakesLongWeeks) {
  RecordProperty("todo", 1);
  // More than 2^32 values.
  kit::at_largest("52 x 85,000,001", [] {
    const int n = 85'000'001;
    const auto x = kit::large_integers(size_t{kWeeks} * n, "x");
    const auto y = kit::LargeArray<float>::output(n, "y");
    kit::run([&] { launch_variance(x.get(), y.get(), n); });
    kit::expect_at_ends(
        y,
        [&](size_t i) {
          double mean = 0, squares = 0;
          for (int k = 0; k < kWeeks; ++k) mean += x.at(size_t{1} * k * n + i) / kWeeks;
          for (int k = 0; k < kWeeks; ++k) {
            const double distance = x.at(size_t{1} * k * n + i) - mean;
            squares += distance * distance;
          }
          return squares / kWeeks;
        },
        kit::Tolerance::relative(1e-4));
  });
}
