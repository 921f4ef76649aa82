// Tests of 07/22 nearest rows.
#include "22_nearest_rows.h"

#include <limits>

#include "kit/kit.h"
#include "kit/largest.h"
#include "kit/speed/speed.h"

namespace {

struct Sizes {
  int m, n, k;
};
std::ostream& operator<<(std::ostream& out, const Sizes& s) {
  return out << s.m << " rows of x, " << s.n << " of y, k = " << s.k;
}

constexpr double kUnits = 16.0 / (1 << 24);  // the accuracy of the header

double square(const std::vector<float>& x, const std::vector<float>& y, int i, int j, int k,
              double* scale) {
  double sum = 0;
  *scale = 0;
  for (int l = 0; l < k; ++l) {
    const double a = x[static_cast<size_t>(i) * k + l], b = y[static_cast<size_t>(j) * k + l];
    sum += (a - b) * (a - b);
    *scale += a * a + b * b;
  }
  return sum;
}

struct Nearest {
  std::vector<int> places;
  std::vector<double> squares, scales;
};
Nearest nearest_on_cpu(const std::vector<float>& x, const std::vector<float>& y, const Sizes& s) {
  Nearest result;
  for (int i = 0; i < s.m; ++i) {
    double least = std::numeric_limits<double>::infinity(), of_least = 0;
    int place = 0;
    for (int j = 0; j < s.n; ++j) {
      double scale = 0;
      const double one = square(x, y, i, j, s.k, &scale);
      if (one >= least) continue;
      least = one;
      of_least = scale;
      place = j;
    }
    result.places.push_back(place);
    result.squares.push_back(least);
    result.scales.push_back(of_least);
  }
  return result;
}

// Values that are no integers: a row that is as near as the accuracy can tell is right.
void expect_places(const kit::DeviceBuffer<int>& d_nearest, const std::vector<float>& x,
                   const std::vector<float>& y, const Sizes& s, const Nearest& expected) {
  std::vector<uint8_t> written;
  std::vector<int> places = d_nearest.download(&written);
  for (int i = 0; i < s.m; ++i) {
    if (places[i] < 0 || places[i] >= s.n || (kit::simulated() && written[i] == 0)) continue;
    double scale = 0;
    const double found = square(x, y, i, places[i], s.k, &scale);
    if (found <= expected.squares[i] + kUnits * (scale + expected.scales[i])) {
      places[i] = expected.places[i];
    }
  }
  kit::expect_equal("nearest", places, expected.places);
}

kit::Run check(const std::vector<float>& x, const std::vector<float>& y, const Sizes& s,
               bool exact) {
  const auto placement = exact ? kit::Placement::kAtEnd : kit::Placement::kMiddle;
  const auto d_x = kit::DeviceBuffer<float>::input(x, "x", placement);
  const auto d_y = kit::DeviceBuffer<float>::input(y, "y", placement);
  const auto d_nearest = kit::DeviceBuffer<int>::output(s.m, "nearest", placement);
  const auto d_distance = kit::DeviceBuffer<float>::output(s.m, "distance", placement);
  const kit::Run run = kit::run([&] {
    launch_nearest_rows(d_x.get(), d_y.get(), d_nearest.get(), d_distance.get(), s.m, s.n, s.k);
  });
  const Nearest expected = nearest_on_cpu(x, y, s);
  if (exact) {
    kit::expect_equal(d_nearest, expected.places);
    kit::expect_near(d_distance, expected.squares, kit::Tolerance::absolute(0));
  } else {
    expect_places(d_nearest, x, y, s, expected);
    kit::expect_near(d_distance, expected.squares, kit::Tolerance::units(48, expected.scales));
  }
  return run;
}

size_t count(int rows, int k) { return static_cast<size_t>(rows) * k; }

// Small integers: squares are exact in every order, many are equal, and the first of them counts.
kit::Run check_exact(const Sizes& s) {
  return check(kit::random_integer_floats(count(s.m, s.k), -3, 3),
               kit::random_integer_floats(count(s.n, s.k), -3, 3), s, true);
}

kit::Run check_random(const Sizes& s) {
  return check(kit::random_floats(count(s.m, s.k)), kit::random_floats(count(s.n, s.k)), s, false);
}

}  // namespace

TEST(NearestRows, FindsTheNearestOfAFew) {
  RecordProperty("todo", 1);
  check({0, 0, 5, 5}, {4, 4, 1, 0, -1, 0}, {2, 3, 2}, true);
  kit::for_each("sizes", std::vector<Sizes>{{4, 4, 4}, {1, 1, 1}, {16, 8, 3}, {32, 32, 32}},
                check_exact);
}

TEST(NearestRows, CoversSizesThatFitNoTile) {
  RecordProperty("todo", 1);
  kit::for_each(
      "sizes",
      std::vector<Sizes>{{65, 33, 17}, {33, 129, 5}, {127, 3, 31}, {7, 200, 65}, {130, 70, 1}},
      check_exact);
}

TEST(NearestRows, OfEqualOnesTheFirst) {
  RecordProperty("todo", 1);
  const std::vector<float> x = kit::random_integer_floats(count(40, 3), -1, 1);
  check(x, std::vector<float>(count(150, 3), 1.0f), {40, 150, 3}, true);
  // Every row of y is there five times, far apart.
  const std::vector<float> once = kit::random_integer_floats(count(37, 3), -2, 2);
  std::vector<float> y;
  for (int copy = 0; copy < 5; ++copy) y.insert(y.end(), once.begin(), once.end());
  check(x, y, {40, 185, 3}, true);
}

TEST(NearestRows, CoversEveryExtent) {
  RecordProperty("todo", 1);
  // The nearest row stands where sixteen bits count no further.
  std::vector<float> y(65'601, 5.0f);
  y[65'600] = 1.0f;
  check({0.0f, 2.0f, 4.0f}, y, {3, 65'601, 1}, true);
  kit::for_each("sizes", std::vector<Sizes>{{66000, 1, 1}, {1, 9000, 1}, {2, 3, 2051}},
                check_exact);
}

// Small integers, which repeat. Rows of y are few, so a few blocks cost little.
void check_large(const Sizes& s) {
  const auto x = kit::large_integers(count(s.m, s.k), "x");
  const auto y = kit::large_integers(count(s.n, s.k), "y");
  const auto nearest = kit::LargeArray<int>::output(s.m, "nearest");
  const auto distance = kit::LargeArray<float>::output(s.m, "distance");
  kit::run(
      [&] { launch_nearest_rows(x.get(), y.get(), nearest.get(), distance.get(), s.m, s.n, s.k); });
  const auto square_of = [&](size_t i, int j) {
    float sum = 0;
    for (int l = 0; l < s.k; ++l) {
      const float difference = x.at(i * s.k + l) - y.at(count(j, s.k) + l);
      sum += difference * difference;
    }
    return sum;
  };
  const auto place_of = [&](size_t i) {
    int place = 0;
    for (int j = 1; j < s.n; ++j) place = square_of(i, j) < square_of(i, place) ? j : place;
    return place;
  };
  kit::expect_at_ends(nearest, place_of);
  kit::expect_at_ends(distance, [&](size_t i) { return square_of(i, place_of(i)); });
}

TEST(NearestRows, TakesTheMostRows) {
  RecordProperty("todo", 1);
  kit::at_largest(1 << 30, [](int m) { check_large({m, 1, 1}); });
  kit::at_largest("m = 2^26, n = 3, k = 31", [] { check_large({1 << 26, 3, 31}); });
}

TEST(NearestRows, KeepsFullPrecision) {
  RecordProperty("todo", 1);
  kit::for_each("sizes", std::vector<Sizes>{{50, 90, 40}, {20, 30, 300}}, check_random);
  // All rows of y lie close together, so that a few bits decide which one is nearest.
  const Sizes s{60, 90, 41};
  const std::vector<float> center = kit::random_floats(s.k);
  std::vector<float> y = kit::random_floats(count(s.n, s.k), -0.002f, 0.002f);
  for (size_t i = 0; i < y.size(); ++i) y[i] += center[i % s.k];
  check(kit::random_floats(count(s.m, s.k)), y, s, false);
}

TEST(NearestRows, AllMayLieFarFromZero) {
  RecordProperty("todo", 1);
  const Sizes s{40, 50, 12};
  std::vector<float> x = kit::random_floats(count(s.m, s.k)),
                     y = kit::random_floats(count(s.n, s.k));
  for (float& v : x) v += 100.0f;
  for (float& v : y) v += 100.0f;
  check(x, y, s, false);
  // The nearest may have the largest numbers of all, and every square may be large.
  for (float& v : y) v *= 1e15f;
  for (float& v : x) v *= 1e15f;
  check(x, y, s, false);
  // Every square is more than 10^38.
  check({-9e18f, -8.9e18f}, {9e18f, 8.2e18f, 8e18f, 8.5e18f}, {2, 4, 1}, false);
}

TEST(NearestRows, AcceptsNoRows) {
  RecordProperty("todo", 1);
  check({}, {1, 2}, {0, 1, 2}, true);
  check({3}, {4}, {1, 1, 1}, true);  // the same launcher must work when there is a row
}

TEST(NearestRows, KeepsTheTableOutOfMemory) {
  RecordProperty("todo", 1);
  const Sizes s{128, 1024, 32};
  const kit::Run run = check_exact(s);
  const kit::Counters& c = run.counters();
  const double differences = static_cast<double>(s.m) * s.n * s.k;
  kit::budget("bytes stored per row of x",
              kit::ratio(static_cast<double>(c.global_store_bytes), s.m), kit::at_most(32),
              "A place and a square; what is known of a row of x stays in the block",
              &kit::Counters::global_store_bytes);
  kit::budget("words loaded from global memory per difference",
              kit::ratio(c.global_load_bytes / 4.0, differences), kit::at_most(1 / 20.0),
              "A block holds some rows of x and some of y, and compares each with each",
              &kit::Counters::global_load_bytes);
  kit::budget("words loaded from shared memory per difference",
              kit::ratio(c.shared_load_bytes / 4.0, differences), kit::at_most(0.6),
              "Eight words in registers serve sixteen differences",
              &kit::Counters::shared_load_bytes);
}

TEST(NearestRows, IsFast) {
  RecordProperty("todo", 1);
  const int m = kit::work_scale(512, 1 << 16), n = kit::work_scale(256, 1024), k = 64;
  kit::Speed speed;
  const auto x = speed.input<float>(count(m, k), "x", kit::Values::integers(-3, 3));
  const auto y = speed.input<float>(count(n, k), "y", kit::Values::integers(-3, 3));
  const auto nearest = speed.output<int>(m, "nearest");
  const auto distance = speed.output<float>(m, "distance");
  speed.bytes(4.0 * (count(m, k) + count(n, k)) + 8.0 * m).flops(2.0 * m * n * k).slice(66);
  speed.launch(
      [&] { launch_nearest_rows(x.get(), y.get(), nearest.get(), distance.get(), m, n, k); });
  const auto find = [&](size_t i, int* place) {
    double least = std::numeric_limits<double>::infinity();
    for (int j = 0; j < n; ++j) {
      double sum = 0;
      for (int l = 0; l < k; ++l) {
        const double difference = static_cast<double>(x.at(i * k + l)) - y.at(count(j, k) + l);
        sum += difference * difference;
      }
      if (sum < least) {
        least = sum;
        *place = j;
      }
    }
    return least;
  };
  speed.expect(
      nearest,
      [&](size_t i) {
        int place = 0;
        find(i, &place);
        return kit::Expected(place);
      },
      kit::Tolerance::absolute(0));
  speed.expect(
      distance,
      [&](size_t i) {
        int place = 0;
        return kit::Expected(find(i, &place));
      },
      kit::Tolerance::absolute(0));
  speed.against(kit::stage("a thread for each row",
                           [&] {
                             launch_nearest_by_thread(x.get(), y.get(), nearest.get(),
                                                      distance.get(), m, n, k);
                           }),
                kit::Bars(10).modelled(3, 1.5));
  speed.grade();
}
