// Tests of 04/13 group by.
#include "13_group_by.h"

#include <cmath>
#include <future>
#include <iterator>
#include <map>
#include <thread>

#include "kit/kit.h"
#include "kit/speed/speed.h"

namespace {

constexpr double kUnits = 4294967296.0;  // 2^32 units are 1

struct Group {
  int count = 0;
  float largest = -2;
  long long total = 0;
  void add(float value) {
    ++count;
    largest = std::max(largest, value);
    total += std::llrint(value * kUnits);  // ties to even, as on the device
  }
};

// n rows, and how many different keys there are to choose from.
struct Rows {
  std::vector<int> key;
  std::vector<float> value;
};

struct Result {
  kit::Run run;
  std::vector<int> key;
  std::vector<long long> total;
};

// Runs and compares; the arrays have room for `room` groups.
Result check(const Rows& rows, int room = kMostGroups) {
  const int n = static_cast<int>(rows.key.size());
  std::map<int, Group> expected;
  for (int i = 0; i < n; ++i) expected[rows.key[i]].add(rows.value[i]);
  const int number = static_cast<int>(expected.size());
  const auto d_key = kit::DeviceBuffer<int>::input(rows.key, "key");
  const auto d_value = kit::DeviceBuffer<float>::input(rows.value, "value");
  const auto d_group_key = kit::DeviceBuffer<int>::output(room, "groups.key");
  const auto d_count = kit::DeviceBuffer<int>::output(room, "groups.count");
  const auto d_largest = kit::DeviceBuffer<float>::output(room, "groups.largest");
  const auto d_total = kit::DeviceBuffer<long long>::output(room, "groups.total");
  const auto d_number = kit::DeviceBuffer<int>::output(1, "number");
  const auto d_work = kit::DeviceBuffer<char>::output(kWorkBytes, "work");
  const Groups groups = {d_group_key.get(), d_count.get(), d_largest.get(), d_total.get()};
  Result result;
  result.run = kit::run([&] {
    launch_group_by(d_key.get(), d_value.get(), n, groups, d_number.get(), d_work.get());
  });
  if (!kit::expect_equal(d_number, std::vector<int>{number})) return result;
  std::vector<uint8_t> written;
  result.key = d_group_key.download(&written);
  for (int g = number; g < room && kit::simulated(); ++g) {
    if (written[g] == 0) continue;
    kit::fail("groups.key[" + std::to_string(g) + "] was written; there are " +
              std::to_string(number) + " groups.");
    return result;
  }
  std::vector<int> keys, counts;
  std::vector<float> largest;
  std::vector<long long> totals;
  for (const auto& [key, group] : expected) {
    keys.push_back(key);
    counts.push_back(group.count);
    largest.push_back(group.largest);
    totals.push_back(group.total);
  }
  result.key.resize(number);
  result.total = d_total.download();
  result.total.resize(number);
  std::vector<int> count = d_count.download();
  count.resize(number);
  std::vector<float> got_largest = d_largest.download();
  got_largest.resize(number);
  kit::expect_equal("groups.key", result.key, keys);
  kit::expect_equal("groups.count", count, counts);
  kit::expect_equal("groups.largest", got_largest, largest);
  for (int g = 0; g < number && result.run.ok(); ++g) {
    if (result.total[g] == totals[g]) continue;
    kit::fail("groups.total[" + std::to_string(g) + "], of key " + std::to_string(keys[g]) +
              ", is " + std::to_string(result.total[g]) + " units of 2^-32, expected exactly " +
              std::to_string(totals[g]) + ".");
    break;
  }
  return result;
}

// n rows with keys of [0, keys), each times `step`.
Rows random_rows(int n, int keys, int step = 1) {
  Rows rows = {kit::random_ints(n, 0, keys - 1), kit::random_floats(n)};
  for (int& key : rows.key) key *= step;
  return rows;
}

}  // namespace

TEST(GroupBy, GroupsAFewKeys) {
  RecordProperty("todo", 1);
  kit::for_each("n", std::vector<int>{4096, 1000, 64}, [](int n) { check(random_rows(n, 5)); });
}

TEST(GroupBy, CoversAwkwardSizes) {
  RecordProperty("todo", 1);
  kit::for_each("n", kit::awkward_sizes(), [](int n) { check(random_rows(n, 20)); });
}

TEST(GroupBy, AllRowsHaveOneKey) {
  RecordProperty("todo", 1);
  kit::for_each("n", std::vector<int>{5000, 70'001}, [](int n) { check(random_rows(n, 1)); });
}

TEST(GroupBy, CountsMoreThanAMillionRowsOfAKey) {
  RecordProperty("todo", 1);
  // More than twenty bits count, however the rows are shared out; and a key of one row, the last.
  Rows rows = random_rows((1 << 20) + 1237, 1);
  rows.key.back() = 1;
  check(rows);
}

TEST(GroupBy, GroupsAsManyKeysAsThereMayBe) {
  RecordProperty("todo", 1);
  // Every key occurs; more of them than a block has room for.
  Rows rows = random_rows(6000, kMostGroups);
  for (int i = 0; i < kMostGroups; ++i) rows.key[i] = kMostGroups - 1 - i;
  check(rows);
}

TEST(GroupBy, KeysMayBeFarApart) {
  RecordProperty("todo", 1);
  kit::for_each("step", std::vector<int>{1 << 20, 8192, 1025, 715827882},
                [](int step) { check(random_rows(3000, step > 1 << 21 ? 3 : 1500, step)); });
  check({{2147483647, 0, 2147483647, 1}, {0.5f, -1.0f, 0.25f, 1.0f}});
}

// A word of equal bytes is what a memset leaves; a key it may be as well.
TEST(GroupBy, NoKeyIsReserved) {
  RecordProperty("todo", 1);
  constexpr int kBytes = 128;  // 0x00000000 to 0x7f7f7f7f
  Rows rows = random_rows(4000, kBytes, 0x01010101);
  const int others[] = {2147483647, 2147483646, 0x7f800000, 0x7fc00000, 0x40000000};
  for (size_t i = 0; i < std::size(others); ++i) rows.key[i] = rows.key[3000 + i] = others[i];
  check(rows);
  check({{0x7f7f7f7f}, {0.5f}});
  check({{2147483647}, {0.5f}});
  check({{0}, {-1.0f}});
}

TEST(GroupBy, TheLargestMayBeNegative) {
  RecordProperty("todo", 1);
  check({kit::random_ints(2000, 0, 40), kit::random_floats(2000, -1.0f, -0.5f)});
}

TEST(GroupBy, AddsWithoutAnyError) {
  RecordProperty("todo", 1);
  // Values of 2^-32 beside 1: a float sum keeps none of them.
  Rows rows = random_rows(6000, 3);
  for (size_t i = 0; i < rows.value.size(); i += 2) rows.value[i] = std::ldexp(1.0f, -32);
  for (size_t i = 1; i < rows.value.size(); i += 6) rows.value[i] = -1.0f;
  check(rows);
}

TEST(GroupBy, ATieGoesToTheEvenUnit) {
  RecordProperty("todo", 1);
  // Halves of units: 0.5 and 2.5 of them go down, 1.5 and 3.5 up; quarters are no ties.
  Rows rows;
  for (int i = 0; i < 3000; ++i) {
    rows.key.push_back(i % 40);
    rows.value.push_back(std::ldexp(static_cast<float>(i % 40 - 20), i % 3 == 0 ? -34 : -33));
  }
  check(rows);
}

TEST(GroupBy, NoRowsHaveNoGroups) {
  RecordProperty("todo", 1);
  check({});
  check(random_rows(100, 7), 7);  // the same launcher must work when there is something to group
}

TEST(GroupBy, LosesNothingWhenBlocksTakeTurns) {
  RecordProperty("todo", 1);
  kit::for_each_block_order([] { check(random_rows(30000, 300, 77)); });
}

TEST(GroupBy, KeepsToItsBudgets) {
  RecordProperty("todo", 1);
  const int n = 1 << 17;
  const kit::Run run = check(random_rows(n, 64, 1234567)).run;
  kit::budget("bytes loaded per row",
              kit::ratio(static_cast<double>(run.counters().global_load_bytes), n),
              kit::at_most(9.5),
              "A row has 8 bytes, and one look at it is enough; a group has to look at the other "
              "groups, not at a whole table",
              &kit::Counters::global_load_bytes);
  kit::budget("global atomics per row",
              kit::ratio(static_cast<double>(run.counters().atomics_global), n), kit::at_most(0.25),
              "64 keys and 131072 rows: most rows can be added up nearer to their thread",
              &kit::Counters::atomics_global);
}

TEST(GroupBy, IsFast) {
  RecordProperty("todo", 1);
  constexpr int kKeys = 1000;
  const int n = kit::work_scale(1 << 16, 1 << 26);
  kit::Speed speed;
  const auto key = speed.input<int>(n, "key", kit::Values::integers(0, kKeys - 1));
  const auto value = speed.input<float>(n, "value");
  const auto group_key = speed.output<int>(kKeys, "groups.key");
  const auto count = speed.output<int>(kKeys, "groups.count");
  const auto largest = speed.output<float>(kKeys, "groups.largest");
  const auto total = speed.output<unsigned>(2 * kKeys, "groups.total");  // low and high words
  const auto number = speed.output<int>(1, "number");
  const auto work = speed.output<uint8_t>(kWorkBytes, "work");
  speed.bytes(8.0 * n).slice(33);
  speed.launch([&] {
    launch_group_by(
        key.get(), value.get(), n,
        {group_key.get(), count.get(), largest.get(), reinterpret_cast<long long*>(total.get())},
        number.get(), work.get());
  });
  std::vector<Group> expected;
  speed.expect(
      count,
      [&](size_t g) {
        if (g == 0) {  // a check begins at group 0
          expected.assign(kKeys, {});
          for (int i = 0; i < n; ++i) expected[key.at(i)].add(value.at(i));
        }
        return kit::Expected(expected[g].count);
      },
      kit::Tolerance::absolute(0));
  speed.expect(
      largest, [&](size_t g) { return kit::Expected(expected[g].largest); },
      kit::Tolerance::absolute(0));
  speed.expect(
      total,
      [&](size_t i) {
        const auto bits = static_cast<unsigned long long>(expected[i / 2].total);
        return kit::Expected(static_cast<unsigned>(bits >> (32 * (i % 2))));
      },
      kit::Tolerance::absolute(0));
  speed.expect(
      group_key, [&](size_t g) { return kit::Expected(static_cast<double>(g)); },
      kit::Tolerance::absolute(0));
  speed.expect(
      number, [&](size_t) { return kit::Expected(kKeys); }, kit::Tolerance::absolute(0));
  // The model is too kind to atomics in global memory (04/03): the simulator judges by the budgets
  // above. On an H200 (2026-11-23) the solution reads at 0.29 of the rate, a table in shared memory
  // that is emptied when it is half full at 0.052, a cache with one place for each key at 0.031,
  // and three atomics in global memory for each row at 0.026.
  speed.against(kit::read_rate().on_gpu_only(), kit::Bars(0.03, 0.15, 0.25));
  speed.grade();
}
