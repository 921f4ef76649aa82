// Tests of 03/11 memory probe.
#include "11_memory_probe.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>

#include "kit/kit.h"

namespace {

constexpr int kBlocks = 6;

// Reference: what all threads together read in `passes` passes over x. Small integers: exact.
double sum_on_cpu(const std::vector<float>& x, int passes) {
  double sum = 0;
  for (const float value : x) sum += value;
  return sum * passes;
}

// Reference: the x that thread t reads from the tile, which holds 0, 1, 2, ...
double tile_sum_on_cpu(int t, int rounds) {
  double sum = 0;
  for (int r = 0; r < rounds; ++r) sum += (t + 32 * r) % kTile;
  return sum;
}

const float4* as_float4(const kit::DeviceBuffer<float>& buffer) {
  return reinterpret_cast<const float4*>(buffer.get());
}

int current_device() {
  int device = 0;
  cudaGetDevice(&device);
  return device;
}

int l2_bytes(int device = current_device()) {
  int bytes = 0;
  cudaDeviceGetAttribute(&bytes, cudaDevAttrL2CacheSize, device);
  return bytes;
}

// The caches of the large card would take long to fill in the simulator; the other two do.
bool caches_are_small() { return l2_bytes() <= 8 << 20; }

struct Reading {
  size_t n;  // float4 elements
  int passes;
};
std::ostream& operator<<(std::ostream& out, const Reading& reading) {
  return out << reading.n << " (" << reading.passes << " passes)";
}

kit::Run check_read(const Reading& reading) {
  const std::vector<float> x = kit::random_integer_floats(4 * reading.n);
  const auto d_x = kit::DeviceBuffer<float>::input(x, "x", kit::Placement::kAtEnd);
  const auto d_sums = kit::DeviceBuffer<float>::output(kBlocks * kThreads, "sums");
  const kit::Run run = kit::run(
      [&] { launch_read(as_float4(d_x), reading.n, reading.passes, kBlocks, d_sums.get()); });
  double got = 0;
  for (const float sum : d_sums.download()) got += sum;
  const double expected = sum_on_cpu(x, reading.passes);
  if (!(got == expected)) {
    kit::fail("All sums together are " + std::to_string(got) + ", expected " +
              std::to_string(expected) + ": every component of every element once per pass.");
  }
  return run;
}

void expect_share(const std::string& what, double got, double wanted, double low, double high,
                  const char* meaning) {
  if (got >= low * wanted && got <= high * wanted) return;
  char text[300];
  std::snprintf(text, sizeof text,
                "%s: %.3f of the bytes that were read, expected %.2f to %.2f. %s", what.c_str(),
                got / wanted, low, high, meaning);
  kit::fail(text);
}

// Fills a working set and walks over it under the eyes of the modelled caches.
kit::CacheTraffic traffic_of(size_t bytes, int passes, int blocks) {
  const size_t n = bytes / sizeof(float4) / blocks * blocks;
  float4* d_x = nullptr;
  cudaMalloc(&d_x, n * sizeof(float4));
  cudaMemset(d_x, 0, n * sizeof(float4));
  const auto d_sums = kit::DeviceBuffer<float>::output(size_t(blocks) * kThreads, "sums");
  const kit::CacheTraffic traffic =
      kit::cache_traffic([&] { launch_read(d_x, n, passes, blocks, d_sums.get()); });
  cudaFree(d_x);
  return traffic;
}

const char* const kNames[kLevels] = {"registers", "shared memory", "L2", "global memory",
                                     "the host link"};

std::string picture_path(const std::string& card) {
  std::string name = "memory_ladder_" + card + ".svg";
  std::replace(name.begin(), name.end(), ' ', '_');
  return testing::TempDir() + name;
}

std::string card_name() {
  if (kit::simulated()) return wsim_model_name();
  cudaDeviceProp properties;
  cudaGetDeviceProperties(&properties, current_device());
  return properties.name;
}

void check_ladder() {
  if (kit::simulated() && !caches_are_small()) return;
  wsim_model_start(1);
  Ladder ladder = {};
  kit::run([&] { ladder = measure_ladder(kit::work_scale(1, 64)); });
  wsim_model_stop();
  for (int level = 0; level + 1 < kLevels; ++level) {
    const double upper = ladder.gb_per_second[level], lower = ladder.gb_per_second[level + 1];
    if (!(upper > lower && lower > 0)) {
      kit::fail(std::string(kNames[level]) + " delivers " + std::to_string(upper) + " GB/s, " +
                kNames[level + 1] + " " + std::to_string(lower) +
                ". Each level is faster than the next; a probe that shows otherwise reads from "
                "another level than it says, or less than it counts.");
      return;
    }
  }
  const std::string card = card_name(), path = picture_path(card);
  const std::string title = kit::simulated() ? "modelled (" + card + ")" : card;
  EXPECT_TRUE(draw_ladder(ladder, title.c_str(), path.c_str())) << path;
  std::ifstream file(path);
  const std::string svg{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(svg.compare(0, 4, "<svg"), 0);
  EXPECT_NE(svg.find("</svg>"), std::string::npos);
  std::printf("%s: shared memory %.0f GB/s, global %.0f GB/s, %.1f times; drawn in %s\n",
              title.c_str(), ladder.gb_per_second[kShared], ladder.gb_per_second[kGlobal],
              ladder.gb_per_second[kShared] / ladder.gb_per_second[kGlobal], path.c_str());
}

}  // namespace

TEST(MemoryProbe, ReadsEverythingInEveryPass) {
  RecordProperty("todo", 1);
  kit::for_each("n", std::vector<Reading>{{6144, 2}, {6, 1}, {600, 3}, {3066, 8}, {12000, 1}},
                [](const Reading& reading) { check_read(reading); });
}

TEST(MemoryProbe, ReadsWholeSectors) {
  RecordProperty("todo", 1);
  const kit::Run run = check_read({12288, 2});
  kit::budget("sectors per load request",
              kit::ratio(static_cast<double>(run.counters().global_load_sectors),
                         static_cast<double>(run.counters().global_load_requests)),
              kit::at_least(16), "32 threads read 16 bytes each, side by side",
              &kit::Counters::global_load_requests);
}

TEST(MemoryProbe, NoPassFindsItsDataInL1) {
  RecordProperty("todo", 1);
  if (!kit::simulated()) return;
  kit::for_each_card([] {
    struct Walk {
      int bytes, passes, blocks;
    };
    // With two blocks a chunk fits L1, and there is one other chunk to go to.
    for (const Walk& walk : {Walk{1 << 20, 3, 64}, Walk{1 << 16, 2, 2}, Walk{3 << 14, 2, 3}}) {
      const kit::CacheTraffic traffic = traffic_of(walk.bytes, walk.passes, walk.blocks);
      const double read = static_cast<double>(walk.passes) * walk.bytes;
      const std::string of = " (" + std::to_string(walk.blocks) + " blocks)";
      expect_share("Bytes asked of L1" + of, traffic.l1, read, 0.99, 1.01,
                   "Each pass reads the whole working set.");
      expect_share("Bytes that L2 served" + of, traffic.l2, read, 0.98, 1.10,
                   "Less: a multiprocessor met elements that its L1 still held.");
    }
  });
}

TEST(MemoryProbe, ReadsSharedMemoryWithoutConflicts) {
  RecordProperty("todo", 2);
  kit::for_each("rounds", std::vector<int>{64, 1, 33, 200}, [](int rounds) {
    const auto d_sums = kit::DeviceBuffer<float>::output(kBlocks * kThreads, "sums");
    const kit::Run run = kit::run([&] { launch_shared(rounds, kBlocks, d_sums.get()); });
    std::vector<float> expected;
    for (int i = 0; i < kBlocks * kThreads; ++i) {
      expected.push_back(static_cast<float>(tile_sum_on_cpu(i % kThreads, rounds)));
    }
    kit::expect_equal(d_sums, expected);
    const kit::Counters& counters = run.counters();
    kit::budget("bytes per read and thread",
                kit::ratio(static_cast<double>(counters.shared_load_bytes),
                           static_cast<double>(rounds) * kBlocks * kThreads),
                kit::at_least(16), "A float4 has 16 bytes, and what nobody uses is not loaded",
                &kit::Counters::shared_load_bytes);
    kit::budget("shared bank conflicts", static_cast<double>(counters.shared_bank_conflicts),
                kit::at_most(0), "Neighbouring threads read neighbouring elements",
                &kit::Counters::shared_bank_conflicts);
  });
}

TEST(MemoryProbe, WorkingSetsFitTheirLevelOnEveryCard) {
  RecordProperty("todo", 3);
  kit::for_each_card([] {
    const kit::UnlikeDevice smaller(1);  // device 0 is current
    for (int device = 0; device < kit::device_count(); ++device) {
      const double l2 = l2_bytes(device);
      const double in_l2 = static_cast<double>(l2_working_set(device));
      const double beyond = static_cast<double>(global_working_set(device));
      if (!(in_l2 >= l2 / 16 && in_l2 <= l2 / 2)) {
        kit::fail("The working set for L2 has " + std::to_string(in_l2 / l2) +
                  " times the size of L2: at most half of it, and not so little (a sixteenth) that "
                  "the L1 caches of the multiprocessors share it out.");
      }
      if (!(beyond >= 4 * l2)) {
        kit::fail("The working set for global memory has " + std::to_string(beyond / l2) +
                  " times the size of L2. At least 4, or L2 serves a part of every pass.");
      }
    }
  });
}

TEST(MemoryProbe, EachWorkingSetIsServedByOneLevel) {
  RecordProperty("todo", 3);
  if (!kit::simulated()) return;
  kit::for_each_card([] {
    if (!caches_are_small()) return;
    const int passes = 4;
    const size_t in_l2 = l2_working_set(current_device());
    const size_t beyond = global_working_set(current_device());
    const kit::CacheTraffic l2 = traffic_of(in_l2, passes, 64);
    const double read = static_cast<double>(in_l2) * passes;
    expect_share("L2 probe, bytes that L2 served", l2.l2, read, 0.98, 1.10, "L1 must not help.");
    expect_share("L2 probe, bytes from global memory", l2.dram, read, 0.24, 0.32,
                 "Only the first of the four passes may need them.");
    const kit::CacheTraffic global = traffic_of(beyond, 1, 64);
    expect_share("Global probe, bytes from global memory", global.dram, static_cast<double>(beyond),
                 0.99, 1.05, "No cache may help.");
  });
}

TEST(MemoryProbe, TheLadderDescends) {
  RecordProperty("todo", 3);
  if (kit::simulated()) {
    kit::for_each_card(check_ladder);
  } else {
    check_ladder();
  }
}
