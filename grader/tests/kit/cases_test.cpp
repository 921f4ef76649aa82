#include "failure_of.h"
#include "kernels.h"
#include "kit/kit.h"

using kit_tests::failure_of;

namespace {
using kit_tests::contains;
}  // namespace

TEST(KitCases, DescribesTheFirstFailureAndCountsTheOthers) {
  int bodies = 0;
  const std::string message = failure_of([&] {
    kit::for_each("n", std::vector<int>{1, 2, 3, 4, 5}, [&](int n) {
      ++bodies;
      if (n % 2 == 1) kit::fail("odd, " + std::to_string(n) + " times.");
    });
  });
  EXPECT_EQ(bodies, 5);
  EXPECT_EQ(message,
            "n = 1: odd, 1 times.\nand 2 more cases fail: n = 3, 5\n2 cases pass: n = 2, 4");
}

TEST(KitCases, AreSilentWhenAllPass) {
  EXPECT_EQ(failure_of([] { kit::for_each("n", std::vector<int>{1, 2}, [](int) {}); }), "");
}

TEST(KitCases, KeepOnlyTheFirstFailureOfACase) {
  const std::string message = failure_of([] {
    kit::for_each("n", std::vector<int>{1}, [](int) {
      kit::fail("first.");
      kit::fail("second.");
      kit::expect_equal("x", std::vector<int>{1}, std::vector<int>{2});
    });
  });
  EXPECT_EQ(message, "n = 1: first.");
}

// Each block takes the next ticket: with the first block first, ticket and block are one number.
TEST(KitCases, AreAskedInAnotherOrderOfBlocks) {
  const auto expect_tickets = [](const std::vector<int>& counts) {
    return failure_of([&] {
      kit::for_each("blocks", counts, [](int count) {
        const auto next = kit::DeviceBuffer<int>::inout({0}, "next");
        const auto block = kit::DeviceBuffer<int>::output(count, "block");
        kit::run([&] { launch_tickets(next.get(), block.get(), count); });
        std::vector<int> expected;
        for (int i = 0; i < count; ++i) expected.push_back(i);
        kit::expect_equal(block, expected);
      });
    });
  };
  const std::string message = expect_tickets({1, 40, 50});
  EXPECT_TRUE(contains(message, "40, where the last block comes first: ")) << message;
  EXPECT_TRUE(contains(message, "CUDA promises no order")) << message;
  EXPECT_FALSE(contains(message, "50, where")) << message;
  EXPECT_EQ(expect_tickets({1}), "");
}

TEST(KitCases, SayThatAnotherOrderIsTheOnlyDifference) {
  const std::string message = failure_of([] {
    kit::for_each("blocks", std::vector<int>{40}, [](int count) {
      const auto next = kit::DeviceBuffer<int>::inout({0}, "next");
      const auto block = kit::DeviceBuffer<int>::output(count, "block");
      kit::run([&] { launch_tickets(next.get(), block.get(), count); });
      std::vector<int> expected;
      for (int i = 0; i < count; ++i) expected.push_back(i);
      kit::expect_equal(block, expected);
    });
  });
  const size_t condition = message.find("With the first block first this case passes");
  EXPECT_NE(condition, std::string::npos) << message;
  EXPECT_LT(condition, message.find("block[0]")) << message;
}

// It fails whenever it is run the second time: no order or device is the reason.
TEST(KitCases, BlameNoConditionForWhatFailsWithoutItToo) {
  int runs = 0;
  const std::string message = failure_of([&] {
    kit::for_each("blocks", std::vector<int>{2}, [&](int count) {
      const auto next = kit::DeviceBuffer<int>::inout({0}, "next");
      const auto block = kit::DeviceBuffer<int>::output(count, "block");
      kit::run([&] { launch_tickets(next.get(), block.get(), count); });
      if (++runs > 1) kit::fail("The second time.");
    });
  });
  EXPECT_TRUE(contains(message, "2, run once more: The second time.")) << message;
  EXPECT_FALSE(contains(message, "last block comes first")) << message;
}

// Two elements could be wrong in any way, a hundred cannot.
TEST(KitCases, TellTheCaseWhoseValuesSayWhatIsWrong) {
  const std::string message = failure_of([] {
    kit::for_each("n", std::vector<int>{2, 100, 200}, [](int n) {
      std::vector<float> got, expected;
      for (int i = 1; i <= n; ++i) {
        expected.push_back(static_cast<float>(i * i));
        got.push_back(static_cast<float>(-i * i));
      }
      kit::expect_equal("y", got, expected);
    });
  });
  EXPECT_TRUE(contains(message, "n = 100: ")) << message;
  EXPECT_TRUE(contains(message, "they have the wrong sign")) << message;
  EXPECT_TRUE(contains(message, "and 2 more cases fail: n = 2, 200")) << message;
}

TEST(KitCases, CatchAssertionsOfGoogleTest) {
  const std::string message = failure_of([] {
    kit::for_each("n", std::vector<int>{6, 7}, [](int n) { ASSERT_EQ(n, 6); });
  });
  EXPECT_TRUE(contains(message, "n = 7: ")) << message;
  EXPECT_TRUE(contains(message, "all others pass: n = 6")) << message;
}

TEST(KitCases, CatchExceptions) {
  const std::string message = failure_of([] {
    kit::for_each("n", std::vector<int>{1, 2}, [](int n) {
      if (n == 1) throw std::runtime_error("no such size");
    });
  });
  EXPECT_TRUE(contains(message, "n = 1: An exception ended the case: no such size")) << message;
}

TEST(KitCases, NameNestedCasesFromTheOutside) {
  const std::string message = failure_of([] {
    kit::for_each("rows", std::vector<int>{3}, [](int) {
      kit::for_each("cols", std::vector<int>{5}, [](int) { kit::fail("no."); });
    });
  });
  EXPECT_EQ(message, "rows = 3, cols = 5: no.");
}

TEST(KitCases, SeeAFailureThatAGoogleTestAssertionHidesInACase) {
  EXPECT_NE(
      failure_of([] { kit::for_each("n", std::vector<int>{1}, [](int) { EXPECT_TRUE(false); }); }),
      "");
}

TEST(KitCases, SeeThatOnlyPartialBlocksFail) {
  const auto check = [](int n) {
    const auto x =
        kit::DeviceBuffer<float>::input(std::vector<float>(static_cast<size_t>(n), 1.0f), "x");
    const auto y = kit::DeviceBuffer<float>::output(n, "y");
    kit::run([&] { launch_twice(x.get(), y.get(), n / 64 * 64); });
    kit::expect_equal(y, std::vector<float>(static_cast<size_t>(n), 2.0f));
  };
  std::string message = failure_of([&] {
    kit::for_each("n", std::vector<int>{64, 65, 128, 130}, check);
  });
  EXPECT_TRUE(contains(message, "n = 130 (all with a last, partial block)")) << message;
  message = failure_of([&] { kit::for_each("n", std::vector<int>{65, 130}, check); });
  EXPECT_FALSE(contains(message, "partial")) << "without a passing size nothing is known";
}
