// What the modelled cost must be able to tell apart. Factors are far from what the model says, so
// that a better model needs no new test; the order is what hardware does.
#include <gtest/gtest.h>

#include <cstdio>

#include "counter_cases.h"
#include "profile/cost.h"
#include "ring_cases.h"
#include "warplings/sim.h"

namespace {

double modelled(const char* name, int n = 0, double slice = 1) {
  wsim_model_start(slice);
  const uint64_t mark = wsim_model_mark();
  EXPECT_TRUE(run_counter_case(name, n)) << name;
  const double seconds = wsim_modelled_seconds(mark);
  wsim_model_stop();
  EXPECT_GT(seconds, 0) << name;
  std::printf("  %-24s %10.2f us on 1/%g of the card\n", name, 1e6 * seconds, slice);
  return seconds;
}

constexpr double kSmall = 66;  // two multiprocessors of an H200

TEST(Model, CoalescedBeatsStrided) {
  const double copy = modelled("copy", 1 << 19, 33);
  EXPECT_GT(modelled("copy_stride_2", 1 << 19, 33), 1.1 * copy);
  EXPECT_GT(modelled("copy_stride_32", 1 << 19, 33), 2 * copy);
}

TEST(Model, EachStageOfTheProductIsFaster) {
  const double uncoalesced = modelled("matmul_uncoalesced", 256, kSmall);
  const double naive = modelled("matmul_naive", 256, kSmall);
  const double tiled = modelled("matmul_tiled_32", 256, kSmall);
  const double registers = modelled("matmul_registers", 256, kSmall);
  EXPECT_GT(uncoalesced, 1.5 * naive);
  EXPECT_GT(naive, 1.1 * tiled);
  EXPECT_GT(tiled, 2 * registers);
}

TEST(Model, DoubleBufferingShows) {
  EXPECT_GT(modelled("matmul_large", 256, 33), 1.03 * modelled("matmul_double_buffered", 256, 33));
}

TEST(Model, PaddingBeatsBankConflicts) {
  EXPECT_GT(modelled("transpose_tile", 512, 33), 1.2 * modelled("transpose_padded", 512, 33));
}

TEST(Model, IndependentChainsHideLatency) {
  EXPECT_GT(modelled("chains_1"), 2.5 * modelled("chains_4"));
}

TEST(Model, MoreResidentBlocksHideLatency) {
  EXPECT_GT(modelled("chase_few_blocks", 0, kSmall), 2 * modelled("chase_many_blocks", 0, kSmall));
}

// A consumer waits for its copy, and the producer for its stage; what is under way beside each
// other is waited for once.
TEST(Model, AStageMoreOfARingHidesTheLatencyOfACopy) {
  constexpr int kSteps = 256;
  constexpr double kDram = 660 / 1.98e9, kPort = 4096 / 64 / 1.98e9;  // seconds, of one copy
  const auto seconds = [](int stages) {
    wsim_model_start(1);
    const uint64_t mark = wsim_model_mark();
    EXPECT_TRUE(run_ring(stages, kSteps));
    const double modelled = wsim_modelled_seconds(mark);
    wsim_model_stop();
    std::printf("  ring of %d stages         %10.2f us\n", stages, 1e6 * modelled);
    return modelled;
  };
  const double one = seconds(1), two = seconds(2), eight = seconds(8);
  EXPECT_GT(one, kSteps * kDram * 0.8);
  EXPECT_LT(two, 0.65 * one);
  EXPECT_LT(eight, 0.3 * one);
  EXPECT_GT(eight, kSteps * kPort);
}

// A branch around a load is a predicate in machine code, and does not keep loads apart.
TEST(Model, GuardedLoadsAreUnderWayTogether) {
  EXPECT_LT(modelled("loads_guarded", 0, kSmall), 1.5 * modelled("loads_plain", 0, kSmall));
}

// Volatile loads keep their order and are under way together all the same. A loop of them may be
// one that waits for another block, so blocks take turns, and none of them is longer for that.
TEST(Model, VolatileLoadsAreUnderWayTogether) {
  EXPECT_LT(modelled("loads_volatile", 0, kSmall), 1.5 * modelled("loads_plain", 0, kSmall));
}

// L1 looks up four lines at a time, and reads a word of each bank.
TEST(Model, LinesInBanksOfTheirOwnTakeFewPasses) {
  EXPECT_GT(modelled("lines_in_one_bank", 0, kSmall),
            2 * modelled("lines_in_all_banks", 0, kSmall));
}

TEST(Model, WideCopyIsNearTheLimitOfDram) {
  constexpr int kWords = 1 << 21;
  constexpr double kSlice = 16.5;
  const double bytes = 2.0 * sizeof(float) * kWords;
  const double limit = warplings::sim::gpu_model().dram_bytes_per_second / kSlice;
  const double share = bytes / modelled("copy_float4", kWords, kSlice) / limit;
  EXPECT_GT(share, 0.85);
  EXPECT_LE(share, 1.001);
}

TEST(Model, SameLaunchSameCost) {
  EXPECT_EQ(modelled("matmul_tiled_16"), modelled("matmul_tiled_16"));
}

TEST(Model, AtomicsOnOneAddressTakeTurns) {
  EXPECT_GT(modelled("atomic_uniform_float"), 2 * modelled("atomic_apart"));
}

}  // namespace
