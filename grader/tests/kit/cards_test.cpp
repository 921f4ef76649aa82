#include <warplings/sim.h>

#include "failure_of.h"
#include "kernels.h"
#include "kit/kit.h"

using kit_tests::failure_of;

namespace {

int attribute(cudaDeviceAttr which) {
  int value = 0;
  cudaDeviceGetAttribute(&value, which, 0);
  return value;
}

}  // namespace

TEST(KitCards, EachHasItsOwnLimits) {
  std::vector<int> shared, multiprocessors;
  kit::for_each_card([&] {
    shared.push_back(attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin));
    multiprocessors.push_back(attribute(cudaDevAttrMultiProcessorCount));
  });
  EXPECT_EQ(shared, (std::vector<int>{232448, 101376, 65536}));
  EXPECT_EQ(multiprocessors, (std::vector<int>{132, 46, 40}));
}

TEST(KitCards, TheUsualOneIsBackAfterwards) {
  const std::string before = wsim_model_name();
  kit::for_each_card([] {});
  EXPECT_EQ(wsim_model_name(), before);
  EXPECT_NE(wsim_select_model("gtx9000"), 0);
  EXPECT_EQ(wsim_model_name(), before);
}

TEST(KitCards, APartOfACardHasFewerMultiprocessors) {
  ASSERT_EQ(wsim_select_model("t4/20"), 0);
  EXPECT_EQ(attribute(cudaDevAttrMultiProcessorCount), 2);
  EXPECT_EQ(attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin), 65536);
  ASSERT_EQ(wsim_select_model("t4/1000"), 0);
  EXPECT_EQ(attribute(cudaDevAttrMultiProcessorCount), 1);
  EXPECT_NE(wsim_select_model("t4/0"), 0);
  EXPECT_NE(wsim_select_model("t4/some"), 0);
  wsim_select_model("");
  EXPECT_EQ(attribute(cudaDevAttrMultiProcessorCount), 132);
}

TEST(KitCards, AFailureNamesItsCard) {
  const std::string message = failure_of([] {
    kit::for_each_card([] {
      if (attribute(cudaDevAttrMultiProcessorCount) < 100) kit::fail("Too few.");
    });
  });
  EXPECT_NE(message.find("card = RTX 3070: Too few."), std::string::npos) << message;
  EXPECT_NE(message.find("1 more case fails: card = T4"), std::string::npos) << message;
}

TEST(KitCards, TrafficOfAPassOverMemory) {
  const int n = 1 << 14;
  const auto d_x = kit::DeviceBuffer<float>::input(kit::random_floats(n), "x");
  const auto d_y = kit::DeviceBuffer<float>::output(n, "y");
  const kit::CacheTraffic traffic =
      kit::cache_traffic([&] { launch_twice(d_x.get(), d_y.get(), n); });
  EXPECT_EQ(traffic.l1, 4.0 * n);    // read
  EXPECT_EQ(traffic.l2, 8.0 * n);    // read and written
  EXPECT_EQ(traffic.dram, 8.0 * n);  // the same: nothing is used twice
}
