// Which bytes count as written, and what the runtime says about copying those that are not.
#include <array>
#include <vector>

#include "runtime_fixture.h"
#include "warplings/sim.h"

namespace warplings::sim {
namespace {

class Definedness : public RuntimeTest {
 protected:
  static std::vector<uint8_t> written(const void* pointer, size_t size) {
    std::vector<uint8_t> flags(size);
    wsim_query_written(pointer, size, flags.data());
    return flags;
  }
  static size_t count_written(const void* pointer, size_t size) {
    size_t count = 0;
    for (const uint8_t flag : written(pointer, size)) count += flag;
    return count;
  }
};

TEST_F(Definedness, StartsUnwrittenAndIsSetByCopiesAndFills) {
  char* a = device<char>(100);
  std::array<char, 100> host{};
  EXPECT_EQ(count_written(a, 100), 0u);
  cudaMemcpy(a + 10, host.data(), 33, cudaMemcpyHostToDevice);
  EXPECT_EQ(count_written(a, 100), 33u);
  EXPECT_EQ(written(a + 9, 2), (std::vector<uint8_t>{0, 1}));
  cudaMemset(a + 50, 0, 20);
  cudaDeviceSynchronize();
  EXPECT_EQ(count_written(a, 100), 53u);
}

TEST_F(Definedness, TravelsWithCopiesOnTheDevice) {
  char* a = device<char>(64);
  char* b = device<char>(64);
  cudaMemset(b, 0, 64);
  cudaMemset(a + 5, 0, 7);
  cudaMemcpy(b, a, 64, cudaMemcpyDeviceToDevice);
  cudaDeviceSynchronize();
  EXPECT_EQ(count_written(b, 64), 7u);
}

TEST_F(Definedness, CopyingUnwrittenBytesToTheHostIsAFinding) {
  char* a = device<char>(100);
  wsim_name_allocation(a, "result");
  std::array<char, 100> host{};
  cudaMemset(a, 0, 90);
  EXPECT_EQ(cudaMemcpy(host.data(), a, 90, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(findings(), Kinds{});
  const int line = __LINE__ + 1;
  EXPECT_EQ(cudaMemcpy(host.data(), a, 100, cudaMemcpyDeviceToHost), cudaSuccess);
  ASSERT_EQ(findings(), Kinds{"initcheck/unwritten-copy"});
  EXPECT_EQ(last_finding().where.line, line);
  EXPECT_NE(last_finding().message.find("copies 10 of 100 bytes"), std::string::npos)
      << last_finding().message;
  EXPECT_NE(last_finding().message.find("byte 90 of `result`"), std::string::npos)
      << last_finding().message;
}

TEST_F(Definedness, MessagesCountFromTheEndOfTheRedZone) {
  char* a = device<char>(12288);
  wsim_name_allocation(a, "result");
  wsim_mark_red_zone(a, 4096);
  wsim_mark_red_zone(a + 8192, 4096);
  std::array<char, 100> host{};
  cudaMemcpy(host.data(), a + 8190, 100, cudaMemcpyDeviceToHost);
  ASSERT_EQ(findings(), Kinds{"memcheck/out-of-bounds-copy"});
  const std::string message = last_finding().message;
  EXPECT_NE(message.find("from byte 4094 on of `result` (4096 bytes): 98 bytes too many"),
            std::string::npos)
      << message;
  cudaMemcpy(host.data(), a + 4090, 100, cudaMemcpyDeviceToHost);
  EXPECT_NE(last_finding().message.find("6 bytes before the start of `result` (4096 bytes)"),
            std::string::npos)
      << last_finding().message;
}

TEST_F(Definedness, KernelsWriteWhatTheyStore) {
  int* a = device<int>(4);
  launch_store(a + 1, 3);
  cudaDeviceSynchronize();
  EXPECT_EQ(count_written(a, 16), 4u);
  EXPECT_EQ(written(a + 1, 4), (std::vector<uint8_t>{1, 1, 1, 1}));
}

TEST_F(Definedness, PoisonedOutputsCountAsUnwritten) {
  int* a = device<int>(4);
  cudaMemset(a, 0xff, 16);
  cudaDeviceSynchronize();
  wsim_mark_unwritten(a, 16);
  EXPECT_EQ(count_written(a, 16), 0u);
  wsim_mark_written(a, 8);
  EXPECT_EQ(count_written(a, 16), 8u);
}

TEST_F(Definedness, PitchedCopiesLookAtTheirRowsOnly) {
  void* pointer = nullptr;
  size_t pitch = 0;
  ASSERT_EQ(cudaMallocPitch(&pointer, &pitch, 10, 4), cudaSuccess);
  EXPECT_EQ(pitch, 512u);
  std::array<char, 40> host{};
  EXPECT_EQ(cudaMemcpy2D(pointer, pitch, host.data(), 10, 10, 4, cudaMemcpyHostToDevice),
            cudaSuccess);
  EXPECT_EQ(count_written(pointer, 4 * pitch), 40u);
  EXPECT_EQ(cudaMemcpy2D(host.data(), 10, pointer, pitch, 10, 4, cudaMemcpyDeviceToHost),
            cudaSuccess);
  EXPECT_EQ(findings(), Kinds{});
  EXPECT_EQ(cudaMemcpy2D(pointer, pitch, host.data(), 5, 10, 2, cudaMemcpyHostToDevice),
            cudaErrorInvalidPitchValue);
}

TEST_F(Definedness, RedZonesAreOutOfBoundsForCopiesToo) {
  char* a = device<char>(8192);
  wsim_mark_red_zone(a, 4096);
  std::array<char, 64> host{};
  EXPECT_EQ(cudaMemcpy(a + 4096, host.data(), 64, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(a + 4090, host.data(), 64, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(findings(), Kinds{"memcheck/out-of-bounds-copy"});
}

}  // namespace
}  // namespace warplings::sim
