// Tests of 10/04 ring all-reduce.
#include "04_ring_all_reduce.h"

#include <cmath>

#include "02_all_reduce_support.h"
#include "04_ring_all_reduce_support.h"
#include "kit/kit.h"
#include "kit/speed/speed.h"

namespace {

std::vector<SizeCase> cases() { return on_devices({1, 5, 17, 96, 1000, 1023}); }

// Small integers: sums are exact in any order.
kit::Run check(const SizeCase& c) {
  const Ranks ranks(c.devices);
  const Streams streams(c.devices);
  const auto x = random_per_device(c.devices, c.n);
  const auto d_x = PerDevice<float>::inout(x, "d_x");
  const auto d_space = PerDevice<float>::output(c.devices, longest_part(c.n, c.devices), "d_space");
  const kit::Run run = run_call("ring_all_reduce", [&] {
    return ring_all_reduce(d_x.get(), d_space.get(), c.n, ranks.data(), streams.data(), c.devices);
  });
  const std::vector<double> sum = sum_over_devices(x);
  for (int d = 0; d < c.devices; ++d) kit::expect_equal(d_x[d], {sum.begin(), sum.end()});
  return run;
}

void check_parts(size_t n, int devices) {
  size_t covered = 0;
  for (int k = 0; k < devices; ++k) {
    const Part part = part_of(n, devices, k);
    if (part.length > 0 && part.begin != covered) {
      kit::fail("Part " + std::to_string(k) + " begins at " + std::to_string(part.begin) +
                ", the parts before it end at " + std::to_string(covered) + ".");
    }
    if (part.length > longest_part(n, devices)) {
      kit::fail("Part " + std::to_string(k) + " has " + std::to_string(part.length) +
                " elements, more than longest_part.");
    }
    if (part.begin % 4 != 0 && part.length > 0) {
      kit::fail("Part " + std::to_string(k) + " begins at " + std::to_string(part.begin) +
                ": the addition needs a multiple of 4.");
    }
    covered += part.length;
  }
  if (covered != n) {
    kit::fail("All parts together have " + std::to_string(covered) + " elements, the array has " +
              std::to_string(n) + ".");
  }
}

}  // namespace

TEST(RingAllReduce, PartsCoverTheArrayOnce) {
  RecordProperty("todo", 1);
  kit::for_each("n", cases(), [](const SizeCase& c) { check_parts(c.n, c.devices); });
}

TEST(RingAllReduce, PartsOfMoreFloatsThanThirtyTwoBitsCount) {
  RecordProperty("todo", 1);
  kit::for_each("devices", std::vector<int>{1, 2, 3, 7, 8, 16}, [](int devices) {
    for (const size_t n : {size_t{0}, (size_t{1} << 31) + 5, (size_t{1} << 33) + 3}) {
      check_parts(n, devices);
    }
  });
}

TEST(RingAllReduce, AddsUpOnTwoDevices) {
  RecordProperty("todo", 3);
  kit::for_each("n", std::vector<SizeCase>{{2, 1}, {2, 8}, {2, 1000}}, check);
}

TEST(RingAllReduce, EveryPartGoesRoundTwice) {
  RecordProperty("todo", 2);
  kit::for_each("n", cases(), check);
}

TEST(RingAllReduce, TheSecondRoundReplaces) {
  RecordProperty("todo", 3);
  const int devices = device_counts().back();
  check({devices, 64 * devices});
}

TEST(RingAllReduce, TakesAsManyStepsAsItMust) {
  RecordProperty("todo", 3);
  kit::for_each("devices", device_counts(), [](int devices) {
    const int n = 240;
    check({devices, n});
    if (kit::api_calls("ncclAllReduce") + kit::api_calls("ncclReduceScatter") > 0) {
      kit::fail("The ring is built from ncclSend and ncclRecv here.");
    }
    for (int d = 0; d < devices; ++d) {
      const LinkUse use = link_use(d);
      kit::budget("steps over the number of ranks less one", kit::ratio(use.calls, devices - 1),
                  kit::at_most(2),
                  "n - 1 steps make every part a sum, n - 1 more bring it to all: send and receive "
                  "of a step belong into one group");
      kit::budget("bytes over a link, per byte of x", kit::ratio(use.bytes, n * sizeof(float)),
                  kit::at_most(2.0 * (devices - 1) / devices),
                  "In each of 2 (n - 1) steps a rank sends one part, 1 / n of the array");
    }
  });
}

TEST(RingAllReduce, IsFast) {
  RecordProperty("todo", 3);
  const int devices = kit::simulated() ? 4 : kit::device_count();
  const size_t n = kit::work_scale(1 << 21, 1 << 26);  // 256 MiB on a GPU
  const Ranks ranks(devices);
  const Streams streams(devices);
  kit::Speed speed;
  SpeedArrays x(devices, "d_x",
                [&](int, const char* called) { return speed.inout<float>(n, called); });
  // Device 0 of the star needs room for a whole array.
  SpeedArrays space(devices, "d_space", [&](int d, const char* called) {
    return speed.output<float>(d == 0 ? n : longest_part(n, devices), called);
  });
  speed.whole_call();
  speed.launch([&] {
    ring_all_reduce(x.pointers().data(), space.pointers().data(), n, ranks.data(), streams.data(),
                    devices);
  });
  for (int d = 0; d < devices; ++d) {
    speed.expect(
        x[d],
        [&](size_t i) {
          kit::Expected sum(0.0);
          for (const auto& array : x) {
            sum.value += array.before(i);
            sum.scale += std::fabs(array.before(i));
          }
          return sum;
        },
        kit::Tolerance::units(devices));
  }
  speed.against(kit::stage("everything through device 0",
                           [&] {
                             star_all_reduce(x.pointers().data(), space[0].get(), n, ranks.data(),
                                             streams.data(), devices);
                           }),
                kit::Bars(1.25));
  speed.against(kit::library("NCCL all-reduce", kit::nccl(),
                             [&] {
                               const std::vector<float*> all = x.pointers();
                               kit::nccl_all_reduce(all.data(), all.data(), n, devices);
                             }),
                kit::Bars(0.25, 0.55, 0.70));
  speed.grade();
}
