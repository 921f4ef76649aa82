// Counters of kernels whose requests can be counted on paper.
#include <gtest/gtest.h>

#include "counter_cases.h"
#include "warplings/sim.h"

namespace {

wsim_counters counters_of(const char* name, int n = 0) {
  wsim_reset_counters();
  EXPECT_TRUE(run_counter_case(name, n)) << name;
  wsim_counters counters{};
  wsim_read_counters(&counters);
  return counters;
}

double sectors_per_load(const char* name) {
  const wsim_counters c = counters_of(name);
  return static_cast<double>(c.global_load_sectors) / static_cast<double>(c.global_load_requests);
}

TEST(Counters, SectorsPerRequestOfEveryKindOfLoad) {
  EXPECT_EQ(sectors_per_load("copy"), 4);
  EXPECT_EQ(sectors_per_load("copy_stride_2"), 8);
  EXPECT_EQ(sectors_per_load("copy_stride_32"), 32);
  EXPECT_EQ(sectors_per_load("copy_float2"), 8);
  EXPECT_EQ(sectors_per_load("copy_float4"), 16);
  EXPECT_EQ(sectors_per_load("copy_bytes"), 1);
  EXPECT_EQ(sectors_per_load("load_broadcast"), 1);
  EXPECT_EQ(sectors_per_load("load_broadcast_float4"), 8);
  EXPECT_EQ(sectors_per_load("structures"), 12);
  EXPECT_NEAR(sectors_per_load("copy_misaligned"), 5, 0.01);
}

// 8 blocks of 8 warps read 16 times.
void expect_wavefronts(const char* name, unsigned per_request, unsigned conflicts) {
  const wsim_counters c = counters_of(name);
  const uint64_t requests = 8 * 8 * 16;
  EXPECT_EQ(c.shared_load_requests, requests) << name;
  EXPECT_EQ(c.shared_load_wavefronts, requests * per_request) << name;
  // Filling the tile has none.
  EXPECT_EQ(c.shared_bank_conflicts, requests * conflicts) << name;
}

TEST(Counters, WavefrontsOfFourByteLoads) {
  expect_wavefronts("read4_unit", 1, 0);
  expect_wavefronts("read4_stride_2", 2, 1);
  expect_wavefronts("read4_stride_32", 32, 31);
  expect_wavefronts("read4_broadcast", 1, 0);
}

TEST(Counters, EightByteLoadsGoByHalfWarpsUnlessNeighboursShare) {
  expect_wavefronts("read8_unit", 2, 0);
  expect_wavefronts("read8_stride_2", 4, 2);
  expect_wavefronts("read8_pairs", 1, 0);
  expect_wavefronts("read8_folded_16", 2, 0);  // no neighbour at distance 1 or 2 shares
  expect_wavefronts("read8_broadcast", 1, 0);
}

TEST(Counters, SixteenByteLoadsGoByQuartersUnlessNeighboursShare) {
  expect_wavefronts("read16_unit", 4, 0);
  expect_wavefronts("read16_stride_2", 8, 4);
  expect_wavefronts("read16_pairs", 2, 0);
  expect_wavefronts("read16_folded_8", 4, 0);
  expect_wavefronts("read16_broadcast", 2, 0);
}

TEST(Counters, IntegerAtomicsOnAUniformAddressAreOnePerWarp) {
  constexpr uint64_t kThreads = 1 << 16, kWarps = kThreads / 32;
  EXPECT_EQ(counters_of("atomic_uniform").atomics_global, kWarps);
  EXPECT_EQ(counters_of("atomic_uniform").atomic_serialised, 0u);
  EXPECT_EQ(counters_of("atomic_uniform_values").atomics_global, kWarps);
  EXPECT_EQ(counters_of("atomic_uniform_result").atomics_global, 4096u / 32);
  EXPECT_EQ(counters_of("atomic_shared_uniform").atomics_shared, kWarps);
  EXPECT_EQ(counters_of("atomic_shared_uniform").atomic_shared_requests, kWarps);
  EXPECT_EQ(counters_of("atomic_uniform").atomic_shared_requests, 0u);
  // Not these: floating point, and addresses that differ.
  EXPECT_EQ(counters_of("atomic_uniform_float").atomics_global, kThreads);
  EXPECT_EQ(counters_of("atomic_uniform_float").atomic_serialised, kWarps * 31);
  EXPECT_EQ(counters_of("atomic_bins").atomics_global, kThreads);
}

TEST(Counters, ScalarLoadsOfNeighboursAreJoined) {
  // 16 steps of k in tile_a[ty][k]: four loads of 16 bytes; tile_b[k][tx] stays 16 of 4.
  const wsim_counters c = counters_of("matmul_tiled_16");
  const uint64_t tiles = 128 / 16, warps = 128 * 128 / 32;
  EXPECT_EQ(c.shared_load_requests, warps * tiles * (4 + 16));
}

TEST(Counters, LocalMemoryIsInterleavedByLane) {
  const wsim_counters c = counters_of("local_array");
  ASSERT_GT(c.local_store_requests, 0u);
  // All lanes store the same element: one line. They read different ones.
  EXPECT_EQ(c.local_store_sectors % c.local_store_requests, 0u);
  EXPECT_GT(c.local_load_sectors, 8 * c.local_load_requests);
}

TEST(Counters, PaddingTakesTheConflictsOfATransposeAway) {
  EXPECT_EQ(counters_of("transpose_tile").shared_bank_conflicts, 256u * 256 / 32 * 31);
  EXPECT_EQ(counters_of("transpose_padded").shared_bank_conflicts, 0u);
}

TEST(Counters, ExchangesOfWarps) {
  constexpr uint64_t kWarps = (1 << 16) / 4 / 32, kSteps = 5;
  EXPECT_EQ(counters_of("reduce_shuffle").warp_exchanges, kWarps * kSteps);
  EXPECT_EQ(counters_of("reduce_shared").warp_exchanges, 0u);
  EXPECT_EQ(counters_of("tensor_products").warp_exchanges, 0u);
}

TEST(Counters, OperationsOfTensorCores) {
  constexpr uint64_t kWarps = (1 << 16) / 32;
  EXPECT_EQ(counters_of("tensor_products").tensor_operations, kWarps * 2 * 16 * 16 * 16);
  EXPECT_EQ(counters_of("matmul_registers").tensor_operations, 0u);
}

}  // namespace
