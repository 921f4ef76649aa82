// Tests of 10/02 all-reduce.
#include "02_all_reduce.h"

#include <algorithm>
#include <cmath>

#include "02_all_reduce_support.h"
#include "kit/kit.h"

namespace {

std::vector<SizeCase> cases() { return on_devices({1, 33, 1000}); }

std::vector<float> as_floats(const std::vector<double>& values) {
  return {values.begin(), values.end()};
}

// The values are small integers: sums are exact in any order.
kit::Run check_sum(const SizeCase& c) {
  const Ranks ranks(c.devices);
  const Streams streams(c.devices);
  const auto x = random_per_device(c.devices, c.n);
  const auto d_x = PerDevice<float>::inout(x, "d_x");
  const kit::Run run = run_call("all_reduce_sum", [&] {
    return all_reduce_sum(d_x.get(), c.n, ranks.data(), streams.data(), c.devices);
  });
  for (int d = 0; d < c.devices; ++d) kit::expect_equal(d_x[d], as_floats(sum_over_devices(x)));
  return run;
}

// Reference: sum of squares and largest absolute value of all values of all devices, in double.
std::vector<double> facts_on_cpu(const std::vector<std::vector<float>>& hosts) {
  double squares = 0, largest = 0;
  for (const std::vector<float>& host : hosts) {
    for (const float value : host) {
      squares += static_cast<double>(value) * value;
      largest = std::max(largest, std::fabs(static_cast<double>(value)));
    }
  }
  return {squares, largest};
}

}  // namespace

TEST(AllReduce, EveryDeviceIsARank) {
  RecordProperty("todo", 1);
  kit::for_each("devices", device_counts(), [](int devices) {
    std::vector<ncclComm_t> comms(devices, nullptr);
    const ncclResult_t made = make_ranks(comms.data(), devices);
    expect_success("make_ranks", made);
    if (made != ncclSuccess) return;
    for (int d = 0; d < devices; ++d) {
      int rank = -1, device = -1, count = -1;
      ncclCommUserRank(comms[d], &rank);
      ncclCommCuDevice(comms[d], &device);
      ncclCommCount(comms[d], &count);
      kit::expect_equal("rank, device and number of ranks of comms[" + std::to_string(d) + "]",
                        std::vector<int>{rank, device, count}, {d, d, devices});
      ncclCommDestroy(comms[d]);
    }
  });
}

// The kit lets the first call of the function fail, then the second, and so on.
TEST(AllReduce, SaysThatARankCouldNotBeMade) {
  RecordProperty("todo", 1);
  const int devices = device_counts().back();
  kit::run([&] {
    std::vector<ncclComm_t> comms(devices, nullptr);
    const ncclResult_t made = make_ranks(comms.data(), devices);
    for (ncclComm_t comm : comms) {
      if (comm != nullptr) ncclCommDestroy(comm);
    }
    return made;
  });
}

TEST(AllReduce, AddsUpOverAllDevices) {
  RecordProperty("todo", 2);
  kit::for_each("n", cases(), check_sum);
}

TEST(AllReduce, BeginsBehindTheWorkOfEveryStream) {
  RecordProperty("todo", 2);
  const int devices = device_counts().back();
  const Ranks ranks(devices);
  const Streams streams(devices);
  auto x = random_per_device(devices, 100);
  const auto d_x = PerDevice<float>::inout(x, "d_x");
  run_call("all_reduce_sum", [&] {
    const kit::OnDevice last(devices - 1);
    cudaMemsetAsync(d_x.get()[devices - 1], 0, 100 * sizeof(float), streams[devices - 1]);
    return all_reduce_sum(d_x.get(), 100, ranks.data(), streams.data(), devices);
  });
  std::fill(x[devices - 1].begin(), x[devices - 1].end(), 0.0f);
  for (int d = 0; d < devices; ++d) kit::expect_equal(d_x[d], as_floats(sum_over_devices(x)));
}

TEST(AllReduce, AnErrorEndsTheGroup) {
  RecordProperty("todo", 2);
  const int devices = 2;
  const Ranks ranks(devices);
  const Streams streams(devices);
  const auto d_x = PerDevice<float>::inout(random_per_device(devices, 8), "d_x");
  const ncclComm_t broken[] = {ranks[0], nullptr};
  const ncclResult_t result = all_reduce_sum(d_x.get(), 8, broken, streams.data(), devices);
  if (result != ncclInvalidArgument) {
    kit::fail("comms[1] is no communicator. ncclAllReduce says so (" +
              std::to_string(ncclInvalidArgument) + "), but all_reduce_sum returned " +
              std::to_string(result) + ".");
  }
  // Whatever belongs to a group that was left open would wait for its end.
  check_sum({devices, 8});
}

TEST(AllReduce, CombinesFactsOfAllDevices) {
  RecordProperty("todo", 3);
  kit::for_each("n", cases(), [](const SizeCase& c) {
    const Ranks ranks(c.devices);
    const Streams streams(c.devices);
    const auto x = random_per_device(c.devices, c.n);
    const auto d_x = PerDevice<float>::input(x, "d_x");
    const auto d_facts = PerDevice<float>::output(c.devices, 2, "d_facts");
    run_call("facts_of_all", [&] {
      return facts_of_all(d_x.get(), d_facts.get(), c.n, ranks.data(), streams.data(), c.devices);
    });
    for (int d = 0; d < c.devices; ++d) {
      kit::expect_equal(d_facts[d], as_floats(facts_on_cpu(x)));
    }
  });
}

TEST(AllReduce, EveryLinkCarriesTheSame) {
  RecordProperty("todo", 2);
  kit::for_each("devices", device_counts(), [](int devices) {
    const int n = 1200;
    check_sum({devices, n});
    for (int d = 0; d < devices; ++d) {
      kit::budget("bytes over a link, per byte of x",
                  kit::ratio(link_use(d).bytes, n * sizeof(float)),
                  kit::at_most(2.0 * (devices - 1) / devices),
                  "In a ring each link carries 2 (n - 1) / n times the array; a reduce and a "
                  "broadcast carry it twice, and n calls n times as much");
    }
  });
}

TEST(AllReduce, AddsMoreValuesThanAnIntCounts) {
  RecordProperty("todo", 2);
  kit::at_largest("2^32 + 105 values on each of 2 devices", [] {
    const size_t n = (size_t{1} << 32) + 105;
    const Ranks ranks(2);
    const Streams streams(2);
    const LargePerDevice d_x(2, n, "d_x");
    ncclResult_t result = ncclSuccess;
    // Once: what a call that fails has left in place would be added up again.
    kit::run([&] { result = all_reduce_sum(d_x.get(), n, ranks.data(), streams.data(), 2); });
    expect_success("all_reduce_sum", result);
    for (int d = 0; d < 2; ++d) {
      kit::expect_at_ends(d_x[d], [&](size_t i) { return 2 * d_x[d].at(i); });
    }
  });
}
