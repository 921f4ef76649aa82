// Tests of 04/04 atomic max of floats.
#include "04_atomic_max_float.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "kit/kit.h"
#include "kit/special_values.h"

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

float max_on_cpu(float a, float b) {
  if (std::isnan(a) || std::isnan(b)) return kNaN;
  return a > b ? a : b;
}

struct Problem {
  std::vector<int> cell;     // of each value
  std::vector<float> value;  // as many
  std::vector<float> cells;  // before the launch
};

// Reference: the cells after all values.
std::vector<float> max_per_cell_on_cpu(const Problem& p) {
  std::vector<float> cells = p.cells;
  for (size_t i = 0; i < p.value.size(); ++i) {
    cells[p.cell[i]] = max_on_cpu(cells[p.cell[i]], p.value[i]);
  }
  return cells;
}

struct Result {
  kit::Run run;
  std::vector<float> cells, old;
};

Result launch(const Problem& p) {
  const int n = static_cast<int>(p.value.size());
  const auto d_cell = kit::DeviceBuffer<int>::input(p.cell, "cell");
  const auto d_value = kit::DeviceBuffer<float>::input(p.value, "value");
  const auto d_cells = kit::DeviceBuffer<float>::inout(p.cells, "cells");
  const auto d_old = kit::DeviceBuffer<float>::output(n, "old");
  Result result;
  result.run = kit::run(
      [&] { launch_max_per_cell(d_cell.get(), d_value.get(), d_cells.get(), d_old.get(), n); });
  result.cells = d_cells.download();
  result.old = d_old.download();
  return result;
}

// expect_equal lets no NaN pass, so cells that must hold one are compared here.
void check(const Problem& p) {
  const Result result = launch(p);
  if (!result.run.ok()) return;
  const std::vector<float> expected = max_per_cell_on_cpu(p);
  for (size_t c = 0; c < expected.size(); ++c) {
    const float got = result.cells[c];
    if (got == expected[c] || (std::isnan(got) && std::isnan(expected[c]))) continue;
    std::ostringstream text;
    text << "cells[" << c << "] is " << got << ", expected " << expected[c] << ". It was "
         << p.cells[c] << " before the launch.";
    kit::fail(text.str());
    return;
  }
}

// n values in [low, high] for `cells` cells that hold `start`.
Problem random_problem(int n, int cells, float low, float high, float start) {
  return {kit::random_ints(n, 0, cells - 1), kit::random_floats(n, low, high),
          std::vector<float>(cells, start)};
}

}  // namespace

TEST(AtomicMaxFloat, FindsTheLargestOfPositiveValues) {
  RecordProperty("todo", 2);
  kit::for_each("n", kit::awkward_sizes(),
                [](int n) { check(random_problem(n, 7, 0.0f, 100.0f, 0.0f)); });
}

TEST(AtomicMaxFloat, FindsTheLargestOfNegativeValues) {
  RecordProperty("todo", 2);
  kit::for_each("n", std::vector<int>{1000, 33, 1},
                [](int n) { check(random_problem(n, 5, -100.0f, -1.0f, -kInfinity)); });
}

TEST(AtomicMaxFloat, FindsTheLargestOfBothSigns) {
  RecordProperty("todo", 2);
  kit::for_each("n", std::vector<int>{1000, 129, 2},
                [](int n) { check(random_problem(n, 3, -1.0f, 1.0f, -kInfinity)); });
}

TEST(AtomicMaxFloat, KeepsWhatIsLarger) {
  RecordProperty("todo", 2);
  check(random_problem(500, 4, -1.0f, 1.0f, 2.0f));
  check(random_problem(500, 4, -1.0f, 1.0f, kInfinity));
}

TEST(AtomicMaxFloat, TakesEveryFloatThatIsANumber) {
  RecordProperty("todo", 2);
  // Infinities, both zeros, the largest and the smallest numbers.
  check(
      {kit::random_ints(600, 0, 40), kit::special_floats(600), std::vector<float>(41, -kInfinity)});
}

TEST(AtomicMaxFloat, ANaNStays) {
  RecordProperty("todo", 1);
  // A NaN first, in the middle and last; one that was there before; and NaN with its sign bit set.
  kit::for_each("position", std::vector<int>{0, 150, 299}, [](int position) {
    Problem p = random_problem(300, 1, -1.0f, 1.0f, -kInfinity);
    p.value[position] = kNaN;
    check(p);
  });
  check(random_problem(64, 2, -1.0f, 1.0f, kNaN));
  Problem p = random_problem(300, 1, -1.0f, 1.0f, -kInfinity);
  p.value[77] = -kNaN;
  check(p);
}

TEST(AtomicMaxFloat, NoCellButThoseOfTheNaNBecomesNaN) {
  RecordProperty("todo", 1);
  Problem p = random_problem(1000, 10, -1.0f, 1.0f, -kInfinity);
  p.value[123] = kNaN;
  p.value[901] = kNaN;
  check(p);
}

TEST(AtomicMaxFloat, ReturnsWhatTheCellHeld) {
  RecordProperty("todo", 2);
  // A cell for each value: the old value is known.
  const int n = 200;
  Problem p = random_problem(n, n, -1.0f, 1.0f, 0.0f);
  for (int i = 0; i < n; ++i) p.cell[i] = i;
  p.cells = kit::random_floats(n);
  const Result result = launch(p);
  if (!result.run.ok()) return;
  for (int i = 0; i < n; ++i) {
    if (result.old[i] == p.value[i] && p.value[i] != p.cells[i]) {
      kit::fail("old[" + std::to_string(i) + "] is " + std::to_string(p.value[i]) +
                ", the value that this thread has stored itself. The cell held " +
                std::to_string(p.cells[i]) + " before: that is what the exchange returned.");
      return;
    }
  }
  kit::expect_equal("old", result.old, p.cells);
}

TEST(AtomicMaxFloat, OldValuesOfOneCellFormAChain) {
  RecordProperty("todo", 2);
  // Distinct values, one cell: each value that was the largest for a while was returned exactly
  // once to the thread that replaced it. So the sum over replacements of (new - old) telescopes.
  Problem p = random_problem(400, 1, -1.0f, 1.0f, -2.0f);
  for (int i = 0; i < 400; ++i) p.value[i] = static_cast<float>((i * 173) % 400) / 256.0f - 1.0f;
  const Result result = launch(p);
  if (!result.run.ok()) return;
  double gained = 0;
  for (int i = 0; i < 400; ++i) {
    if (p.value[i] > result.old[i]) gained += static_cast<double>(p.value[i]) - result.old[i];
  }
  const double expected = static_cast<double>(result.cells[0]) - p.cells[0];
  if (gained != expected) {
    std::ostringstream text;
    text << "The cell rose from " << p.cells[0] << " to " << result.cells[0] << ", that is by "
         << expected << ", but by the values returned in old it rose by " << gained
         << ": some step returned what was not in the cell at that moment.";
    kit::fail(text.str());
  }
}

TEST(AtomicMaxFloat, DoesNotWriteWhereNothingChanges) {
  RecordProperty("todo", 2);
  const Result result = launch(random_problem(1000, 4, -1.0f, 1.0f, 5.0f));
  if (result.run.ok()) kit::expect_equal("cells", result.cells, std::vector<float>(4, 5.0f));
  kit::budget("atomics where no value is larger",
              static_cast<double>(result.run.counters().atomics_global), kit::at_most(0),
              "A value that is not larger than what was read changes nothing: cells only grow, so "
              "an old reading is enough to know that",
              &kit::Counters::atomics_global);
}

TEST(AtomicMaxFloat, NoValuesChangeNothing) {
  RecordProperty("todo", 2);
  const Problem none = {{}, {}, {1.5f, -2.0f, kInfinity}};
  const Result result = launch(none);
  if (result.run.ok()) kit::expect_equal("cells", result.cells, none.cells);
  check(random_problem(1, 3, -1.0f, 1.0f, 0.0f));  // the same launcher must work when there is one
}

// The same as in the cell, the other zero, and a NaN that meets one.
TEST(AtomicMaxFloat, DoesNotWriteWhatIsThere) {
  RecordProperty("todo", 2);
  struct Same {
    float cell, value;
  };
  const std::vector<Same> cases = {{5.0f, 5.0f},           {0.0f, -0.0f}, {-0.0f, 0.0f},
                                   {kInfinity, kInfinity}, {kNaN, kNaN},  {kNaN, 1.0f}};
  for (const Same& same : cases) {
    Problem p = random_problem(200, 4, -1.0f, 1.0f, same.cell);
    std::fill(p.value.begin(), p.value.end(), same.value);
    const Result result = launch(p);
    std::ostringstream name;
    name << "atomics where cells hold " << same.cell << " and values are " << same.value;
    kit::budget(name.str(), static_cast<double>(result.run.counters().atomics_global),
                kit::at_most(0), "The value does not replace what was read, so nothing changes",
                &kit::Counters::atomics_global);
  }
}
