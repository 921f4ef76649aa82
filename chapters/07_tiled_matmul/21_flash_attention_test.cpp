// Tests of 07/21 flash attention.
#include "21_flash_attention.h"

#include <algorithm>
#include <cmath>

#include "kit/kit.h"
#include "kit/largest.h"
#include "kit/speed/speed.h"

namespace {

struct Sizes {
  int heads, queries, keys;
};
std::ostream& operator<<(std::ostream& out, const Sizes& s) {
  return out << s.heads << " heads, " << s.queries << " queries, " << s.keys << " keys";
}

struct Inputs {
  std::vector<float> q, k, v;  // heads x queries x 64, heads x keys x 64 twice
};

size_t rows_of(int heads, int rows) { return static_cast<size_t>(heads) * rows * kDim; }

Inputs random_inputs(const Sizes& s, float size_of_q = 1) {
  return {kit::random_floats(rows_of(s.heads, s.queries), -size_of_q, size_of_q),
          kit::random_floats(rows_of(s.heads, s.keys)),
          kit::random_floats(rows_of(s.heads, s.keys))};
}

// Reference for one query of one head, in double. `scale` is what the rounding errors of a column
// are proportional to: an error of a score is one of its weight, and a score has errors in
// proportion to |q| |k|.
struct OneQuery {
  double out[kDim] = {}, scale[kDim] = {};
};
template <class Q, class K, class V>  // q(i), k(key, i), v(key, i)
OneQuery attend_on_cpu(int keys, const Q& q, const K& k, const V& v) {
  std::vector<double> score(keys, 0.0);
  double sizes = 0, total = 0;  // greatest |q| |k|, sum of the weights
  for (int key = 0; key < keys; ++key) {
    double size = 0;
    for (int i = 0; i < kDim; ++i) {
      const double term = static_cast<double>(q(i)) * k(key, i) / 8;
      score[key] += term;
      size += std::fabs(term);
    }
    sizes = std::max(sizes, size);
  }
  const double greatest = *std::max_element(score.begin(), score.end());
  for (double& value : score) total += value = std::exp(value - greatest);
  OneQuery result;
  for (int key = 0; key < keys; ++key) {
    for (int i = 0; i < kDim; ++i) {
      const double term = score[key] / total * v(key, i);
      result.out[i] += term;
      result.scale[i] += (1 + sizes) * std::fabs(term);
    }
  }
  return result;
}

kit::Run check(const Sizes& s, const Inputs& in) {
  const auto d_q = kit::DeviceBuffer<float>::input(in.q, "q", kit::Placement::kAtEnd);
  const auto d_k = kit::DeviceBuffer<float>::input(in.k, "k", kit::Placement::kAtEnd);
  const auto d_v = kit::DeviceBuffer<float>::input(in.v, "v", kit::Placement::kAtEnd);
  const auto d_out = kit::DeviceBuffer<float>::output(in.q.size(), "out", kit::Placement::kAtEnd);
  const kit::Run run = kit::run([&] {
    launch_flash_attention(d_q.get(), d_k.get(), d_v.get(), d_out.get(), s.heads, s.queries,
                           s.keys);
  });
  std::vector<double> expected, scale;
  for (int row = 0; row < s.heads * s.queries; ++row) {
    const float* q = &in.q[static_cast<size_t>(row) * kDim];
    const size_t head = rows_of(row / s.queries, s.keys);
    const OneQuery one = attend_on_cpu(
        s.keys, [&](int i) { return q[i]; },
        [&](int key, int i) { return in.k[head + key * kDim + i]; },
        [&](int key, int i) { return in.v[head + key * kDim + i]; });
    expected.insert(expected.end(), one.out, one.out + kDim);
    scale.insert(scale.end(), one.scale, one.scale + kDim);
  }
  kit::expect_near(d_out, expected, kit::Tolerance::units(16, scale),
                   kit::Shape(s.heads, s.queries, kDim));
  return run;
}

void check_sizes(const Sizes& s) { check(s, random_inputs(s)); }

// Keys in the direction of all queries, so that the scores rise by about 8 `slope` from key to key
// (or fall).
Inputs sorted_scores(const Sizes& s, float slope) {
  Inputs in = random_inputs(s, 0.1f);
  for (float& value : in.q) value += 1;
  for (size_t i = 0; i < in.k.size(); ++i) {
    const int key = static_cast<int>(i / kDim % s.keys);
    in.k[i] = 0.1f * in.k[i] + slope * (slope > 0 ? key : key - s.keys);
  }
  return in;
}

}  // namespace

TEST(FlashAttention, AddsUpTheWeightsOfAllLanes) {
  RecordProperty("todo", 3);
  // All scores are 0, so all weights are equal: the mean of the values.
  const Sizes s = {1, 32, 64};
  Inputs in = random_inputs(s);
  std::fill(in.q.begin(), in.q.end(), 0.0f);
  check(s, in);
}

TEST(FlashAttention, WeighsTheKeysOfAStep) {
  RecordProperty("todo", 2);
  kit::for_each("sizes", std::vector<Sizes>{{1, 32, 64}, {1, 64, 64}, {2, 128, 64}}, check_sizes);
}

TEST(FlashAttention, KeysThatDoNotExistHaveNoWeight) {
  RecordProperty("todo", 4);
  kit::for_each("sizes", std::vector<Sizes>{{1, 32, 1}, {1, 32, 63}, {1, 32, 65}, {1, 32, 100}},
                check_sizes);
}

TEST(FlashAttention, KeysThatDoNotExistHaveNoWeightHoweverLowTheScoresAre) {
  RecordProperty("todo", 4);
  // Every score is -320,000, then -3.2e35: all weights are equal; every value is 1, and so is their
  // mean.
  kit::for_each("q", std::vector<float>{200.0f, 2e17f}, [](float size) {
    const Sizes s = {1, 32, 65};
    Inputs in = random_inputs(s);
    std::fill(in.q.begin(), in.q.end(), size);
    std::fill(in.k.begin(), in.k.end(), -size);
    std::fill(in.v.begin(), in.v.end(), 1.0f);
    check(s, in);
  });
}

TEST(FlashAttention, GoesOnFromStepToStep) {
  RecordProperty("todo", 2);
  kit::for_each("sizes", std::vector<Sizes>{{1, 32, 128}, {2, 33, 192}}, check_sizes);
}

TEST(FlashAttention, ScalesWhatItHasWhenAGreaterScoreComes) {
  RecordProperty("todo", 2);
  // With the steep ones, exp(first - last) is beyond what a float can hold.
  kit::for_each("slope", std::vector<float>{0.005f, -0.005f, 0.1f, -0.1f}, [](float slope) {
    const Sizes s = {1, 32, 192};
    check(s, sorted_scores(s, slope));
  });
}

TEST(FlashAttention, StandsLargeScores) {
  RecordProperty("todo", 1);
  // exp of a score of 100 is infinite in float; only differences from the greatest count.
  kit::for_each("size of q", std::vector<float>{30.0f, 300.0f}, [](float size) {
    const Sizes s = {1, 40, 130};
    check(s, random_inputs(s, size));
  });
}

TEST(FlashAttention, TakesAnyNumberOfQueriesAndHeads) {
  RecordProperty("todo", 4);
  kit::for_each("sizes",
                std::vector<Sizes>{{1, 1, 1}, {3, 31, 33}, {2, 130, 20}, {1, 129, 70}, {5, 1, 127}},
                check_sizes);
}

TEST(FlashAttention, CoversEveryExtent) {
  RecordProperty("todo", 4);
  kit::for_each("sizes", std::vector<Sizes>{{67, 1, 1}, {1, 301, 1}, {1, 1, 517}}, check_sizes);
}

TEST(FlashAttention, TakesTheMostHeadsAndQueries) {
  RecordProperty("todo", 2);
  const auto check_large = [](const Sizes& s) {
    const auto q = kit::large_floats(rows_of(s.heads, s.queries), "q");
    const auto k = kit::large_floats(rows_of(s.heads, s.keys), "k");
    const auto v = kit::large_floats(rows_of(s.heads, s.keys), "v");
    const auto out = kit::LargeArray<float>::output(rows_of(s.heads, s.queries), "out");
    kit::run([&] {
      launch_flash_attention(q.get(), k.get(), v.get(), out.get(), s.heads, s.queries, s.keys);
    });
    size_t known = ~size_t{0};  // the query whose result is known
    OneQuery one;
    const auto expected = [&](size_t e) {
      const size_t row = e / kDim, head = rows_of(static_cast<int>(row / s.queries), s.keys);
      if (row != known) {
        one = attend_on_cpu(
            s.keys, [&](int i) { return q.at(row * kDim + i); },
            [&](int key, int i) { return k.at(head + key * kDim + i); },
            [&](int key, int i) { return v.at(head + key * kDim + i); });
        known = row;
      }
      return one.out[e % kDim];
    };
    // As elsewhere: no value is above 1, and no |q| |k| / 8 above 8.
    kit::expect_at_ends(out, expected, kit::Tolerance::absolute(16 * 9 * 0x1p-24));
  };
  // 2^20 queries are 65,536 blocks of 16, one more than a grid may have in y; then more than 2^31
  // floats of queries, and of keys.
  kit::at_largest("2^20 queries", [&] { check_large({1, 1 << 20, 1}); });
  kit::at_largest("65,535 heads, 520 queries", [&] { check_large({65'535, 520, 1}); });
  kit::at_largest("65,535 heads, 520 keys", [&] { check_large({65'535, 1, 520}); });
}

TEST(FlashAttention, AcceptsNoQueriesAndNoHeads) {
  RecordProperty("todo", 2);
  check_sizes({0, 5, 7});
  check_sizes({2, 0, 7});
  check_sizes({1, 3, 64});  // the same launcher must work when there is one
}

TEST(FlashAttention, FitsTheSharedMemoryOfEveryCard) {
  RecordProperty("todo", 2);
  kit::for_each_card([] { check_sizes({1, 100, 20}); });
}

TEST(FlashAttention, KeepsTheScoresOutOfGlobalMemory) {
  RecordProperty("todo", 2);
  const Sizes s = {1, 128, 512};
  const kit::Counters c = check(s, random_inputs(s)).counters();
  const double scores = static_cast<double>(s.heads) * s.queries * s.keys;
  const double bytes =
      static_cast<double>(c.global_load_bytes) + static_cast<double>(c.global_store_bytes);
  kit::budget("bytes of global memory per score", bytes / scores, kit::at_most(10),
              "A block of 64 queries loads 512 bytes of key and value for 64 scores; written and "
              "read twice, a score alone would take 16",
              &kit::Counters::global_load_bytes);
}

TEST(FlashAttention, IsFast) {
  RecordProperty("todo", 2);
  const Sizes s = kit::simulated() ? Sizes{4, 128, 256} : Sizes{32, 2048, 2048};
  kit::Speed speed;
  const auto q = speed.input<float>(rows_of(s.heads, s.queries), "q");
  const auto k = speed.input<float>(rows_of(s.heads, s.keys), "k");
  const auto v = speed.input<float>(rows_of(s.heads, s.keys), "v");
  const auto out = speed.output<float>(rows_of(s.heads, s.queries), "out");
  const double scores = static_cast<double>(s.heads) * s.queries * s.keys;
  const auto scratch = speed.output<float>(static_cast<size_t>(scores), "scores");
  speed.bytes(8.0 * rows_of(s.heads, s.queries) + 8.0 * rows_of(s.heads, s.keys));
  speed.flops(4.0 * scores * kDim).slice(132);
  speed.launch([&] {
    launch_flash_attention(q.get(), k.get(), v.get(), out.get(), s.heads, s.queries, s.keys);
  });
  size_t known = ~size_t{0};  // the query whose result is known: positions come in rising order
  OneQuery one;
  speed.expect(
      out,
      [&](size_t i) {
        const size_t row = i / kDim, head = rows_of(static_cast<int>(row / s.queries), s.keys);
        if (row != known || i == 0) {
          one = attend_on_cpu(
              s.keys, [&](int j) { return q.at(row * kDim + j); },
              [&](int key, int j) { return k.at(head + static_cast<size_t>(key) * kDim + j); },
              [&](int key, int j) { return v.at(head + static_cast<size_t>(key) * kDim + j); });
          known = row;
        }
        return kit::Expected(one.out[i % kDim], one.scale[i % kDim]);
      },
      kit::Tolerance::units(16));
  speed.against(kit::stage("three kernels",
                           [&] {
                             launch_attention_in_three_kernels(q.get(), k.get(), v.get(),
                                                               scratch.get(), out.get(), s.heads,
                                                               s.queries, s.keys);
                           }),
                kit::Bars(1.3, 2.2).gold_on_gpu_only());  // four lanes per query: 2.3, not 1.6
  speed.against(kit::fma_rate(), kit::Bars(0.25, 0.50, 0.66));
  speed.grade();
}
