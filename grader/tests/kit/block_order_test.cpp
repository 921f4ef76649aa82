#include <warplings/sim.h>

#include "failure_of.h"
#include "kernels.h"
#include "kit/kit.h"
#include "kit/same_bits.h"

using kit_tests::failure_of;

namespace {

// The block that took each of `count` tickets.
std::vector<int> blocks_by_ticket(int count) {
  const auto d_next = kit::DeviceBuffer<int>::inout({0}, "next");
  const auto d_block = kit::DeviceBuffer<int>::output(count, "block");
  kit::run([&] { launch_tickets(d_next.get(), d_block.get(), count); });
  return d_block.download();
}

}  // namespace

TEST(KitBlockOrder, BlocksBeginInTheOrderThatWasAskedFor) {
  std::vector<std::vector<int>> seen;
  kit::for_each_block_order([&] { seen.push_back(blocks_by_ticket(4)); });
  ASSERT_EQ(seen.size(), 5u);  // the first once more, where another device is current
  EXPECT_EQ(seen[0], (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(seen[1], seen[0]);
  EXPECT_EQ(seen[2], (std::vector<int>{3, 2, 1, 0}));
  EXPECT_EQ(seen[4], seen[2]);
}

// The last warp, and the last lane of an atomic, where the last block is the first.
TEST(KitBlockOrder, WarpsAndLanesOfABlockTurnRoundWithTheBlocks) {
  constexpr int kThreads = 100;
  const auto threads_by_ticket = [] {
    const auto d_next = kit::DeviceBuffer<int>::inout({0}, "next");
    const auto d_thread = kit::DeviceBuffer<int>::output(kThreads, "thread");
    kit::run([&] { launch_thread_tickets(d_next.get(), d_thread.get(), kThreads); });
    return d_thread.download();
  };
  std::vector<int> rising, falling;
  for (int i = 0; i < kThreads; ++i) rising.push_back(i);
  falling.assign(rising.rbegin(), rising.rend());
  EXPECT_EQ(threads_by_ticket(), rising);
  kit::in_block_order(kit::BlockOrder::kReversed, [&] { EXPECT_EQ(threads_by_ticket(), falling); });
  EXPECT_EQ(threads_by_ticket(), rising);
}

TEST(KitBlockOrder, TheUsualOneIsBackAfterwards) {
  const std::vector<int> before = blocks_by_ticket(4);
  kit::in_block_order(kit::BlockOrder::kReversed, [] {});
  EXPECT_EQ(blocks_by_ticket(4), before);
  EXPECT_NE(wsim_select_order("sideways"), 0);
  EXPECT_EQ(blocks_by_ticket(4), before);
}

TEST(KitBlockOrder, AFailureNamesItsOrder) {
  const std::string message = failure_of([] {
    kit::for_each_block_order([] {
      if (blocks_by_ticket(2)[0] != 0) kit::fail("Block 0 was late.");
    });
  });
  EXPECT_NE(message.find("blocks = reversed: Block 0 was late."), std::string::npos) << message;
}

TEST(KitBlockOrder, BitsThatHangOnTheOrderAreToldApart) {
  const std::vector<float> parts = {1, 0x1p-24f, 0x1p-24f, 0x1p-24f};
  const auto sum = [&] {
    float all = 0;
    for (const int part : blocks_by_ticket(4)) all += parts[part];
    return std::vector<float>{3, all};
  };
  const std::string message = failure_of([&] { kit::expect_same_bits("sums", sum); });
  EXPECT_NE(message.find("blocks = reversed: sums[1] is 1.00000024, and another run with the same "
                         "input gave 1"),
            std::string::npos)
      << message;
  kit::expect_same_bits("sums", [&] { return std::vector<float>{sum()[0]}; });
}
