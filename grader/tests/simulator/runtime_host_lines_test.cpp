// Lines of host code: of calls into the runtime, of launches, and of accesses that fault.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <vector>

#include "runtime/host_lines.h"
#include "runtime_fixture.h"
#include "warplings/sim.h"

namespace warplings::sim {
namespace {

[[gnu::noinline]] Position where_called() {
  // The address that this function returns to, as an exported function sees it.
  return host_call_position(__builtin_return_address(0));
}

class HostLine : public RuntimeTest {};

TEST_F(HostLine, IsThatOfTheCall) {
  const Position position = where_called();
  EXPECT_EQ(position.line, __LINE__ - 1);
  EXPECT_EQ(position.short_name(), "runtime_host_lines_test.cpp:" + std::to_string(__LINE__ - 2));
}

TEST_F(HostLine, OfALaunchIsThatOfTheAngleBrackets) {
  launch_blocks(0, 1);  // refused: the note names the line
  cudaGetLastError();
  EXPECT_EQ(last_finding().where.short_name().substr(0, 18), "runtime_kernels.cu");
  EXPECT_GT(last_finding().where.line, launch_line());
}

TEST_F(HostLine, IsFastEnoughToAskEveryTime) {
  where_called();
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 10000; ++i) where_called();
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
  EXPECT_LT(time.count(), 0.2);
}

TEST_F(HostLine, OfUnknownCodeIsUnknown) {
  EXPECT_FALSE(host_call_position(reinterpret_cast<const void*>(16)).known());
  EXPECT_FALSE(host_call_position(nullptr).known());
}

using HostAccessDeathTest = HostLine;

TEST_F(HostAccessDeathTest, ReadingDeviceMemoryOnTheHostEndsTheProcessWithItsLine) {
  volatile int* a = device<int>(8);
  wsim_name_allocation(const_cast<int*>(a), "weights");
  const std::string line = std::to_string(__LINE__ + 1);
  EXPECT_EXIT({ (void)a[2]; }, ::testing::ExitedWithCode(99),
              "runtime_host_lines_test.cpp:" + line + " reads byte 8 of `weights`");
}

TEST_F(HostAccessDeathTest, AnAccessInsideTheStandardLibraryHasTheLineOfTheCall) {
  int* a = device<int>(8);
  const std::vector<int> values(8, 1);
// Sanitizers have a std::memmove of their own, in a file with line tables.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  const std::string line = std::to_string(__LINE__ + 1);
  EXPECT_EXIT({ std::copy(values.begin(), values.end(), a); }, ::testing::ExitedWithCode(99),
              "runtime_host_lines_test.cpp:" + line + " writes byte");
#endif
  const std::string next = std::to_string(__LINE__ + 1);
  EXPECT_EXIT({ std::transform(values.begin(), values.end(), a, std::negate<>()); },
              ::testing::ExitedWithCode(99),
              "runtime_host_lines_test.cpp:" + next + " writes byte");
}

TEST_F(HostAccessDeathTest, TheHookRunsInsteadOfTheMessage) {
  volatile int* a = device<int>(8);
  EXPECT_EXIT(
      {
        wsim_set_fatal_hook([] {
          wsim_finding finding;
          wsim_finding_count();
          wsim_get_finding(0, &finding);
          std::fprintf(stderr, "hook saw %s\n", finding.kind);
        });
        a[0] = 1;
      },
      ::testing::ExitedWithCode(99), "hook saw host-write-of-device-memory");
}

TEST_F(HostAccessDeathTest, OtherFaultsAreLeftAlone) {
  device<int>(8);
  volatile uintptr_t low = 8;
  EXPECT_EXIT({ *reinterpret_cast<volatile int*>(low) = 1; }, ::testing::KilledBySignal(SIGSEGV),
              "");
}

TEST_F(HostLine, ManagedAndPinnedMemoryIsTheHostsToo) {
  void* managed = nullptr;
  ASSERT_EQ(cudaMallocManaged(&managed, 64, cudaMemAttachGlobal), cudaSuccess);
  std::memset(managed, 1, 64);
  int* p = pinned<int>(4);
  p[3] = 5;
  launch_increment(p + 3);
  cudaDeviceSynchronize();
  EXPECT_EQ(p[3], 6);
  EXPECT_EQ(findings(), Kinds{});
}

}  // namespace
}  // namespace warplings::sim
