#include <cuda_runtime_api.h>

#include <cstdlib>

#include "failure_of.h"
#include "kernels.h"
#include "kit/kit.h"
#include "kit/speed/speed.h"

using kit_tests::failure_of;

namespace {

// Read when the simulator is first asked for its devices.
[[maybe_unused]] const int kTwoDevices = setenv("GRADE_SIM_DEVICES", "2", 1);

int device_of(const void* pointer) {
  cudaPointerAttributes attributes{};
  cudaPointerGetAttributes(&attributes, pointer);
  return attributes.device;
}

}  // namespace

TEST(KitDevices, ABufferLiesOnTheDeviceThatWasCurrent) {
  ASSERT_EQ(kit::device_count(), 2);
  const auto here = kit::DeviceBuffer<float>::output(8, "here");
  const kit::OnDevice scope(1);
  const auto there = kit::DeviceBuffer<float>::output(8, "there");
  EXPECT_EQ(device_of(here.get()), 0);
  EXPECT_EQ(device_of(there.get()), 1);
}

TEST(KitDevices, AScopeGivesTheDeviceBack) {
  {
    const kit::OnDevice scope(1);
    EXPECT_EQ(kit::current_device(), 1);
    cudaSetDevice(0);  // somebody forgets it
  }
  EXPECT_EQ(kit::current_device(), 0);
}

TEST(KitDevices, ARunWaitsForAllDevicesAndGivesTheFirstBack) {
  const kit::OnDevice scope(1);
  const auto there = kit::DeviceBuffer<unsigned char>::output(1 << 16, "there");
  const kit::OnDevice back(0);
  kit::Run run;
  const std::string left = failure_of([&] {
    run = kit::run([&] {
      cudaSetDevice(1);
      cudaMemsetAsync(there.get(), 7, 1 << 16);  // in the default stream of device 1
    });
  });
  EXPECT_EQ(left.rfind("Left behind: device 1 is the current one, and it was device 0", 0), 0u)
      << left;
  EXPECT_TRUE(run.ok());
  EXPECT_EQ(kit::current_device(), 0);
  EXPECT_TRUE(kit::expect_equal(there, std::vector<unsigned char>(1 << 16, 7)));
}

TEST(KitDevices, ACallThatFailsGivesTheFirstBackToo) {
  const auto d_x = kit::DeviceBuffer<float>::input(std::vector<float>(100, 1.0f), "x");
  const auto d_y = kit::DeviceBuffer<float>::output(100, "y");
  const std::string left = failure_of([&] {
    kit::run([&] { return twice_by_copy(d_x.get(), d_y.get(), 100, kLeavesADeviceOnError); });
  });
  EXPECT_NE(left.find("cudaMemcpy at kernels.cu:"), std::string::npos) << left;
  EXPECT_NE(left.find("Left behind: device 1 is the current one"), std::string::npos) << left;
}

TEST(KitDevices, ArraysOfASpeedTestLieWhereTheyWereMade) {
  kit::Speed speed;
  const kit::OnDevice scope(1);
  const auto x = speed.input<float>(64, "x");
  const auto y = speed.output<float>(64, "y");
  const kit::OnDevice back(0);
  int device = -1;
  speed.whole_call();
  speed.launch([&] {
    device = device_of(y.get());
    cudaSetDevice(1);
    cudaMemcpyAsync(y.get(), x.get(), 64 * sizeof(float), cudaMemcpyDeviceToDevice);
  });
  speed.expect(
      y, [&](size_t i) { return kit::Expected(x.at(i)); }, kit::Tolerance::absolute(0));
  const std::string left = failure_of([&] { EXPECT_TRUE(speed.grade()); });
  EXPECT_NE(left.find("Left behind: device 1 is the current one"), std::string::npos) << left;
  EXPECT_EQ(device, 1);
}
