// The watched surroundings of device buffers. The stores come from the host side of the runtime,
// which is allowed to write there: what is tested is the pattern, not the simulator's own check.
#include "failure_of.h"
#include "kernels.h"
#include "kit/kit.h"

using kit_tests::failure_of;

namespace {
using kit_tests::contains;

// Overwrites the float at p[offset] behind the back of every check.
void poke(const float* p, long offset, float value) {
  float* const target = const_cast<float*>(p) + offset;
  wsim_clear_red_zone(target, sizeof value);
  cudaMemcpy(target, &value, sizeof value, cudaMemcpyHostToDevice);
}

}  // namespace

TEST(KitBuffers, KeepTheirValues) {
  const std::vector<float> x = kit::random_floats(100);
  EXPECT_EQ(kit::DeviceBuffer<float>::input(x, "x").download(), x);
  EXPECT_EQ(kit::DeviceBuffer<float>::inout(x, "x").download(), x);
  const auto copy = kit::DeviceBuffer<float>::input(x, "x", kit::Placement::kAtEnd);
  EXPECT_EQ(copy.download(), x);
  EXPECT_EQ(copy.size(), 100u);
}

TEST(KitBuffers, AreAlignedLikeAnAllocation) {
  for (const kit::Placement placement : {kit::Placement::kMiddle, kit::Placement::kAtEnd}) {
    const auto buffer = kit::DeviceBuffer<char>::output(7, "x", placement);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer.get()) % 256, 0u);
  }
}

TEST(KitBuffers, PoisonOutputs) {
  std::vector<uint8_t> written;
  const std::vector<float> values = kit::DeviceBuffer<float>::output(3, "x").download(&written);
  for (const float value : values) EXPECT_NE(value, value) << "0xFF bytes are a NaN";
  EXPECT_EQ(written, (std::vector<uint8_t>{0, 0, 0}));
}

TEST(KitBuffers, KnowWhatWasWritten) {
  const auto y = kit::DeviceBuffer<float>::output(4, "y");
  launch_store(y.get(), 2, 1.5f);
  std::vector<uint8_t> written;
  EXPECT_EQ(y.download(&written)[2], 1.5f);
  EXPECT_EQ(written, (std::vector<uint8_t>{0, 0, 1, 0}));
  y.download(&written);
  EXPECT_EQ(written, (std::vector<uint8_t>{0, 0, 1, 0})) << "looking must not count as writing";
}

TEST(KitBuffers, SayThatNothingIsWrittenWhereTheDeviceHasFailed) {
  const auto y = kit::DeviceBuffer<float>::output(4, "y");
  const std::string message = failure_of([&] { kit::run([] { launch_store(nullptr, 0, 1.0f); }); });
  EXPECT_FALSE(message.empty());
  std::vector<uint8_t> written;  // a test looks at each element, also of a run that has failed
  EXPECT_EQ(y.download(&written), std::vector<float>(4));
  EXPECT_EQ(written, (std::vector<uint8_t>{0, 0, 0, 0}));
}

TEST(KitBuffers, NoticeEveryTouchedRedZoneByte) {
  for (const long offset : {-1024L, -5L, -1L, 10L, 11L, 10L + 1023L}) {
    const auto y = kit::DeviceBuffer<float>::inout(std::vector<float>(10, 1.0f), "y");
    const std::string message = failure_of([&] { kit::run([&] { poke(y.get(), offset, 0.0f); }); });
    EXPECT_TRUE(contains(message, "y[" + std::to_string(offset) + "] was written")) << message;
  }
}

TEST(KitBuffers, NoticeChangedInputs) {
  const auto d_x = kit::DeviceBuffer<float>::input(kit::random_floats(10), "x");
  const std::string message = failure_of([&] { kit::run([&] { launch_store(d_x.get(), 7, 9); }); });
  EXPECT_TRUE(contains(message, "x[7] was changed")) << message;
}

TEST(KitBuffers, MayChangeWhenTheyAreInOut) {
  const auto d_y = kit::DeviceBuffer<float>::inout(kit::random_floats(10), "y");
  EXPECT_TRUE(kit::run([&] { launch_store(d_y.get(), 7, 9); }).ok());
}

TEST(KitBuffers, FreeTheirMemory) {
  size_t before = 0, after = 0;
  const size_t count = wsim_live_allocations(&before);
  {
    const auto a = kit::DeviceBuffer<int>::output(1000, "a");
    const auto b = a;
    EXPECT_EQ(wsim_live_allocations(&after), count + 1);
    EXPECT_GE(after, before + 4000 + 2 * 4096);
  }
  EXPECT_EQ(wsim_live_allocations(&after), count);
  EXPECT_EQ(after, before);
}

TEST(KitBuffers, HoldNothingAtAll) {
  const auto empty = kit::DeviceBuffer<float>::output(0, "empty");
  EXPECT_NE(empty.get(), nullptr);
  EXPECT_TRUE(empty.download().empty());
  EXPECT_TRUE(kit::run([] {}).ok());
}
