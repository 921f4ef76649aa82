// Tests of 03/08 spilled array.
#include "08_spilled_array.h"

#include "kit/kit.h"
#include "kit/speed/speed.h"

namespace {

using Labels = std::vector<unsigned char>;

// Reference: votes is kVotes x n. The first of the labels with most votes wins.
template <class LabelAt>
unsigned char winner_on_cpu(const LabelAt& label_at) {
  int count[kLabels] = {};
  for (int v = 0; v < kVotes; ++v) ++count[label_at(v)];
  int best = 0;
  for (int k = 1; k < kLabels; ++k) {
    if (count[k] > count[best]) best = k;
  }
  return static_cast<unsigned char>(best);
}

Labels winners_on_cpu(const Labels& votes, int n) {
  Labels winners;
  for (int i = 0; i < n; ++i) {
    winners.push_back(winner_on_cpu([&](int v) { return votes[static_cast<size_t>(v) * n + i]; }));
  }
  return winners;
}

Labels random_votes(int n, int low = 0, int high = kLabels - 1) {
  Labels votes;
  for (const int vote : kit::random_ints(static_cast<size_t>(kVotes) * n, low, high)) {
    votes.push_back(static_cast<unsigned char>(vote));
  }
  return votes;
}

kit::Run check(const Labels& votes, int n, kit::Placement placement = kit::Placement::kMiddle) {
  const auto d_votes = kit::DeviceBuffer<unsigned char>::input(votes, "votes", placement);
  const auto d_winners = kit::DeviceBuffer<unsigned char>::output(n, "winners", placement);
  const kit::Run run = kit::run([&] { launch_majority(d_votes.get(), d_winners.get(), n); });
  kit::expect_equal(d_winners, winners_on_cpu(votes, n));
  return run;
}

}  // namespace

TEST(SpilledArray, CountsRandomVotes) {
  RecordProperty("todo", 1);
  kit::for_each("n", kit::awkward_sizes(), [](int n) { check(random_votes(n), n); });
}

TEST(SpilledArray, GivesTiesToTheSmallestLabel) {
  RecordProperty("todo", 1);
  const int n = 64;
  Labels votes;  // pixel i: as many votes for label i % 8 as for the one before it, modulo 8
  for (int v = 0; v < kVotes; ++v) {
    for (int i = 0; i < n; ++i) votes.push_back(static_cast<unsigned char>((i + v % 2) % kLabels));
  }
  check(votes, n);
}

TEST(SpilledArray, CountsUpToAllVotesForOneLabel) {
  RecordProperty("todo", 1);
  kit::for_each("label", std::vector<int>{0, 3, 7},
                [](int label) { check(random_votes(40, label, label), 40); });
}

TEST(SpilledArray, StaysInsideItsArraysAndAcceptsNoPixels) {
  RecordProperty("todo", 1);
  kit::for_each("n", std::vector<int>{33, 255, 1, 0},
                [](int n) { check(random_votes(n), n, kit::Placement::kAtEnd); });
}

TEST(SpilledArray, CountsInRegisters) {
  RecordProperty("todo", 1);
  const int n = 4096;
  const kit::Run run = check(random_votes(n), n);
  const kit::Counters& counters = run.counters();
  kit::budget("bytes of local memory", static_cast<double>(counters.local_bytes), kit::at_most(0),
              "An index that is known only at run time needs an address, and registers have none",
              &kit::Counters::local_bytes);
  kit::budget("bytes loaded per pixel",
              kit::ratio(static_cast<double>(counters.global_load_bytes), n), kit::at_most(kVotes),
              "Each vote is loaded once", &kit::Counters::global_load_bytes);
}

TEST(SpilledArray, IsFast) {
  RecordProperty("todo", 1);
  const int n = kit::work_scale(1 << 15, 1 << 24);
  kit::Speed speed;
  const auto votes = speed.input<unsigned char>(static_cast<size_t>(kVotes) * n, "votes",
                                                kit::Values::integers(0, kLabels - 1));
  const auto winners = speed.output<unsigned char>(n, "winners");
  speed.bytes((kVotes + 1.0) * n).slice(33);
  speed.launch([&] { launch_majority(votes.get(), winners.get(), n); });
  const auto expected = [&](size_t i) {
    return winner_on_cpu([&](int v) { return votes.at(static_cast<size_t>(v) * n + i); });
  };
  speed.expect(winners, expected, kit::Tolerance::absolute(0));
  // The model is three times too fast for local accesses whose lanes disagree about the line: an
  // H200 showed 7.2, the model 1.5. In the simulator the budget above decides.
  speed.against(kit::stage("counts in local memory",
                           [&] { launch_majority_spilled(votes.get(), winners.get(), n); })
                    .on_gpu_only(),
                kit::Bars(1.5, 2.0));
  speed.grade();
}
