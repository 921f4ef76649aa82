// Launches repeated without a change in between are not executed again, and nobody can tell.
#include "memory/device_memory.h"
#include "runtime_fixture.h"
#include "warplings/sim.h"

namespace warplings::sim {
namespace {

class RepeatedLaunch : public RuntimeTest {
 protected:
  static int value_of(const int* device_value) {
    int host = 0;
    EXPECT_EQ(cudaMemcpy(&host, device_value, sizeof(int), cudaMemcpyDeviceToHost), cudaSuccess);
    return host;
  }
  static wsim_counters counters() {
    wsim_counters result;
    wsim_read_counters(&result);
    return result;
  }
};

TEST_F(RepeatedLaunch, CountsEveryLaunch) {
  int* from = device<int>(1);
  int* to = device<int>(1);
  cudaMemset(from, 0, 4);
  cudaDeviceSynchronize();
  wsim_reset_counters();
  launch_copy(to, from);
  cudaDeviceSynchronize();
  const wsim_counters one = counters();
  EXPECT_GT(one.warp_instructions, 0u);
  for (int i = 0; i < 9; ++i) launch_copy(to, from);
  cudaDeviceSynchronize();
  EXPECT_EQ(counters().launches, 10u);
  EXPECT_EQ(counters().warp_instructions, 10 * one.warp_instructions);
  EXPECT_EQ(counters().global_load_sectors, 10 * one.global_load_sectors);
}

TEST_F(RepeatedLaunch, ThatUpdatesInPlaceRunsEveryTime) {
  int* value = device<int>(1);
  cudaMemset(value, 0, 4);
  for (int i = 0; i < 10; ++i) launch_increment(value);
  EXPECT_EQ(value_of(value), 10);
}

TEST_F(RepeatedLaunch, RunsAgainAfterItsInputChanged) {
  int* from = device<int>(1);
  int* to = device<int>(1);
  cudaMemset(from, 0, 4);
  for (int i = 0; i < 5; ++i) launch_copy(to, from);
  EXPECT_EQ(value_of(to), 0);
  cudaMemset(from, 1, 4);
  launch_copy(to, from);
  EXPECT_EQ(value_of(to), 0x01010101);
  launch_store(from, 7);  // by another kernel
  launch_copy(to, from);
  EXPECT_EQ(value_of(to), 7);
}

TEST_F(RepeatedLaunch, SeesWhatTheHostWroteToPinnedMemory) {
  int* from = pinned<int>(1);
  int* to = device<int>(1);
  *from = 1;
  for (int i = 0; i < 5; ++i) launch_copy(to, from);
  cudaDeviceSynchronize();
  *from = 2;
  launch_copy(to, from);
  EXPECT_EQ(value_of(to), 2);
}

TEST_F(RepeatedLaunch, WritesAgainWhatATestDeclaredUnwritten) {
  int* from = device<int>(1);
  int* to = device<int>(1);
  cudaMemset(from, 0, 4);
  for (int i = 0; i < 5; ++i) launch_copy(to, from);
  cudaDeviceSynchronize();
  wsim_mark_unwritten(to, 4);
  launch_copy(to, from);
  EXPECT_EQ(value_of(to), 0);
  EXPECT_EQ(findings(), Kinds{});
}

// What the repetition of a launch and its second look rest on.
TEST_F(RepeatedLaunch, IsToldOfEveryWayToChangeMemory) {
  const auto moves = [](auto change) {
    cudaDeviceSynchronize();
    const uint64_t before = DeviceMemory::instance().version();
    change();
    cudaDeviceSynchronize();
    return DeviceMemory::instance().version() != before;
  };
  int host[4] = {};
  int *a = device<int>(4), *b = device<int>(4), *both = pinned<int>(4);
  EXPECT_TRUE(moves([&] { cudaMemcpy(a, host, 16, cudaMemcpyHostToDevice); }));
  EXPECT_TRUE(moves([&] { cudaMemcpy(b, a, 16, cudaMemcpyDeviceToDevice); }));
  EXPECT_TRUE(moves([&] { cudaMemcpy(both, a, 16, cudaMemcpyDeviceToHost); })) << "pinned";
  EXPECT_TRUE(moves([&] { cudaMemcpyAsync(b, both, 16, cudaMemcpyHostToDevice); }));
  EXPECT_TRUE(moves([&] { cudaMemcpy2D(b, 8, a, 8, 4, 2, cudaMemcpyDeviceToDevice); }));
  EXPECT_TRUE(moves([&] { cudaMemset(b, 0, 16); }));
  EXPECT_TRUE(moves([&] { cudaMemset2D(b, 8, 0, 4, 2); }));
  EXPECT_TRUE(moves([&] { wsim_mark_unwritten(b, 4); }));
  EXPECT_TRUE(moves([&] { wsim_mark_written(b, 4); }));
  EXPECT_TRUE(moves([&] { wsim_mark_red_zone(b, 4); }));
  EXPECT_TRUE(moves([&] { wsim_clear_red_zone(b, 4); }));
  void* more = nullptr;
  EXPECT_TRUE(moves([&] { cudaMalloc(&more, 64); }));
  EXPECT_TRUE(moves([&] { cudaFree(more); }));
  EXPECT_TRUE(moves([&] { cudaMallocAsync(&more, 64, nullptr); }));
  EXPECT_TRUE(moves([&] { cudaFreeAsync(more, nullptr); }));
  EXPECT_TRUE(moves([] { cudaDeviceReset(); }));
}

TEST_F(RepeatedLaunch, IsNotDisturbedByReading) {
  int host[4] = {};
  int* a = device<int>(4);
  cudaMemset(a, 0, 16);
  cudaDeviceSynchronize();
  const uint64_t before = DeviceMemory::instance().version();
  cudaMemcpy(host, a, 16, cudaMemcpyDeviceToHost);
  cudaDeviceSynchronize();
  EXPECT_EQ(DeviceMemory::instance().version(), before);
}

}  // namespace
}  // namespace warplings::sim
