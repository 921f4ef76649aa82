// Tests of 05/04 ballot and vote.
#include "04_ballot_vote.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "kit/kit.h"
#include "kit/largest.h"
#include "kit/special_values.h"

namespace {

// References: groups of 32, the last one may be shorter.
struct Groups {
  std::vector<unsigned> masks;
  std::vector<int> counts, verdicts;
};
Groups judge_on_cpu(const std::vector<float>& x, float threshold) {
  Groups groups;
  for (size_t begin = 0; begin < x.size(); begin += 32) {
    const int length = static_cast<int>(std::min<size_t>(32, x.size() - begin));
    unsigned mask = 0;
    int count = 0;
    for (int lane = 0; lane < length; ++lane) {
      if (x[begin + lane] > threshold) {
        mask |= 1u << lane;
        ++count;
      }
    }
    groups.masks.push_back(mask);
    groups.counts.push_back(count);
    groups.verdicts.push_back(count == length ? kAll : count > 0 ? kSome : kNone);
  }
  return groups;
}
std::vector<float> partition_on_cpu(std::vector<float> x, float threshold) {
  for (size_t begin = 0; begin < x.size(); begin += 32) {
    const size_t end = std::min(begin + 32, x.size());
    std::stable_partition(x.begin() + begin, x.begin() + end,
                          [&](float value) { return value > threshold; });
  }
  return x;
}

// Which part of the elements is chosen, on average.
struct Share {
  const char* name;
  float threshold;
};
std::ostream& operator<<(std::ostream& out, const Share& share) { return out << share.name; }
std::vector<Share> shares() {
  return {{"half", 0.0f}, {"few", 0.9f}, {"most", -0.95f}, {"all", -2.0f}, {"none", 2.0f}};
}

enum class Look { kMasks, kVerdicts };

kit::Run check_groups(const std::vector<float>& x, float threshold, Look look) {
  const int n = static_cast<int>(x.size());
  const Groups expected = judge_on_cpu(x, threshold);
  const size_t groups = expected.masks.size();
  const auto d_x = kit::DeviceBuffer<float>::input(x, "x", kit::Placement::kAtEnd);
  const auto d_masks = kit::DeviceBuffer<unsigned>::output(groups, "masks");
  const auto d_counts = kit::DeviceBuffer<int>::output(groups, "counts");
  const auto d_verdicts = kit::DeviceBuffer<int>::output(groups, "verdicts");
  const kit::Run run = kit::run([&] {
    launch_judge_groups(d_x.get(), threshold, d_masks.get(), d_counts.get(), d_verdicts.get(), n);
  });
  if (look == Look::kMasks) {
    kit::expect_equal(d_masks, expected.masks);
    kit::expect_equal(d_counts, expected.counts);
  } else {
    kit::expect_equal(d_verdicts, expected.verdicts);
  }
  return run;
}

kit::Run check_partition(const std::vector<float>& x, float threshold) {
  const int n = static_cast<int>(x.size());
  const auto d_x = kit::DeviceBuffer<float>::input(x, "x", kit::Placement::kAtEnd);
  const auto d_out = kit::DeviceBuffer<float>::output(n, "out", kit::Placement::kAtEnd);
  const kit::Run run =
      kit::run([&] { launch_partition_groups(d_x.get(), threshold, d_out.get(), n); });
  kit::expect_equal(d_out, partition_on_cpu(x, threshold));
  return run;
}

kit::Run check_groups(int n, float threshold, Look look) {
  return check_groups(kit::random_floats(n), threshold, look);
}
kit::Run check_partition(int n, float threshold) {
  return check_partition(kit::random_floats(n), threshold);
}

void budget_one_question(const kit::Counters& c) {
  kit::budget("atomics", static_cast<double>(c.atomics_global + c.atomics_shared), kit::at_most(0),
              "A ballot tells every lane at once what all lanes said",
              &kit::Counters::atomics_global);
  kit::budget("shared-memory requests",
              static_cast<double>(c.shared_load_requests + c.shared_store_requests),
              kit::at_most(0), "A mask of 32 bits fits into one register of every lane",
              &kit::Counters::shared_load_requests);
  kit::budget("instructions of a warp", kit::ratio(c.warp_instructions, c.threads / 32.0),
              kit::at_most(80), "One instruction asks all 32 lanes: nobody asks them in turn",
              &kit::Counters::warp_instructions);
}

}  // namespace

TEST(BallotVote, CollectsABitFromEveryLane) {
  RecordProperty("todo", 1);
  kit::for_each("chosen", shares(), [](const Share& share) {
    kit::for_each("n", std::vector<int>{1024, 33, 31, 1, 1000},
                  [&](int n) { check_groups(n, share.threshold, Look::kMasks); });
  });
}

TEST(BallotVote, JudgesWholeGroups) {
  RecordProperty("todo", 2);
  kit::for_each("chosen", shares(), [](const Share& share) {
    kit::for_each("n", std::vector<int>{1024, 32},
                  [&](int n) { check_groups(n, share.threshold, Look::kVerdicts); });
  });
}

TEST(BallotVote, OnlyElementsThatExistHaveASay) {
  RecordProperty("todo", 2);
  kit::for_each("chosen", shares(), [](const Share& share) {
    kit::for_each("n", kit::awkward_sizes(),
                  [&](int n) { check_groups(n, share.threshold, Look::kVerdicts); });
  });
}

TEST(BallotVote, PutsTheChosenFirst) {
  RecordProperty("todo", 3);
  kit::for_each("chosen", shares(), [](const Share& share) {
    kit::for_each("n", kit::awkward_sizes(), [&](int n) { check_partition(n, share.threshold); });
  });
}

TEST(BallotVote, ChosenIsWhatIsGreater) {
  RecordProperty("todo", 1);
  // The threshold itself, its neighbours, infinities and zeros; NaN is greater than nothing.
  for (const float threshold : {0.0f, 0.25f}) {
    const std::vector<float> x = kit::special_floats_and_nans(1000, threshold);
    check_groups(x, threshold, Look::kMasks);
    check_groups(x, threshold, Look::kVerdicts);
    check_partition(kit::special_floats(1000, threshold), threshold);
  }
}

// Whatever is not chosen follows, a NaN as well. It equals nothing, so the bits are compared.
TEST(BallotVote, ANaNStandsAmongTheOthers) {
  RecordProperty("todo", 3);
  const auto bits_of = [](const std::vector<float>& values) {
    std::vector<uint32_t> bits(values.size());
    std::memcpy(bits.data(), values.data(), values.size() * sizeof(float));
    return bits;
  };
  const std::vector<float> x = kit::special_floats_and_nans(100);
  const auto d_x = kit::DeviceBuffer<float>::input(x, "x");
  const auto d_out = kit::DeviceBuffer<float>::output(x.size(), "out");
  kit::run([&] { launch_partition_groups(d_x.get(), 0.0f, d_out.get(), 100); });
  kit::expect_equal("the bits of out", bits_of(d_out.download()),
                    bits_of(partition_on_cpu(x, 0.0f)));
}

TEST(BallotVote, AcceptsNoElements) {
  RecordProperty("todo", 1);
  check_groups(0, 0.0f, Look::kMasks);
  check_partition(0, 0.0f);
  check_groups(1, 0.0f, Look::kMasks);  // the same launchers must work when there is an element
  check_partition(1, 0.0f);
}

TEST(BallotVote, AsksEachWarpOnce) {
  RecordProperty("todo", 1);
  budget_one_question(check_groups(4096, 0.0f, Look::kMasks).counters());
}

TEST(BallotVote, FindsThePlaceWithoutALoop) {
  RecordProperty("todo", 3);
  budget_one_question(check_partition(4096, 0.0f).counters());
}

TEST(BallotVote, JudgesTheLargestArrays) {
  RecordProperty("todo", 1);
  kit::at_largest("n = 2^30 - 5", [] {
    const size_t n = (1 << 30) - 5, groups = (n + 31) / 32;
    const auto x = kit::large_floats(n, "x");
    const auto masks = kit::LargeArray<unsigned>::output(groups, "masks");
    const auto counts = kit::LargeArray<int>::output(groups, "counts");
    const auto verdicts = kit::LargeArray<int>::output(groups, "verdicts");
    kit::run([&] {
      launch_judge_groups(x.get(), 0.25f, masks.get(), counts.get(), verdicts.get(),
                          static_cast<int>(n));
    });
    const auto mask_of = [&](size_t group) {
      unsigned mask = 0;
      for (size_t i = 32 * group; i < std::min(n, 32 * group + 32); ++i) {
        if (x.at(i) > 0.25f) mask |= 1u << i % 32;
      }
      return mask;
    };
    const auto count_of = [&](size_t group) { return __builtin_popcount(mask_of(group)); };
    kit::expect_at_ends(masks, mask_of);
    kit::expect_at_ends(counts, count_of);
    kit::expect_at_ends(verdicts, [&](size_t group) {
      const int count = count_of(group),
                all = static_cast<int>(std::min<size_t>(32, n - 32 * group));
      return static_cast<int>(count == all ? kAll : count == 0 ? kNone : kSome);
    });
  });
}
