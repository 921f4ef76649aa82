// Tests of 10/09 one-shot all-reduce.
#include "09_one_shot_all_reduce.h"

#include <algorithm>
#include <cmath>

#include "04_ring_all_reduce_support.h"
#include "kit/kit.h"
#include "kit/same_bits.h"
#include "kit/special_values.h"
#include "kit/speed/speed.h"
#include "support.h"

namespace {

std::vector<SizeCase> cases() { return on_devices({1, 3, 4, 130, 1023, 2048, 0}); }

// Two events of each device, and access of all devices to each other.
class Group {
 public:
  explicit Group(int devices)
      : streams_(devices), ready_(devices), done_(devices), devices_(devices) {
    require_peer_access(devices);
    for (int d = 0; d < devices; ++d) {
      const kit::OnDevice scope(d);
      cudaEventCreateWithFlags(&ready_[d], cudaEventDisableTiming);
      cudaEventCreateWithFlags(&done_[d], cudaEventDisableTiming);
      for (int peer = 0; peer < devices; ++peer) {
        if (peer != d) cudaDeviceEnablePeerAccess(peer, 0);
      }
    }
    cudaGetLastError();  // access is there from an earlier test
  }
  ~Group() {
    for (int d = 0; d < devices_; ++d) {
      cudaEventDestroy(ready_[d]);
      cudaEventDestroy(done_[d]);
    }
  }
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
  const cudaEvent_t* ready() const { return ready_.data(); }
  const cudaEvent_t* done() const { return done_.data(); }
  const Streams& streams() const { return streams_; }

 private:
  Streams streams_;
  std::vector<cudaEvent_t> ready_, done_;
  int devices_;
};

// Reference: the sum over devices in float, in the order of their numbers.
std::vector<float> sum_on_cpu(const std::vector<std::vector<float>>& hosts) {
  std::vector<float> sum = hosts[0];
  for (size_t d = 1; d < hosts.size(); ++d) {
    for (size_t i = 0; i < sum.size(); ++i) sum[i] += hosts[d][i];
  }
  return sum;
}

// In whatever order the devices are added, it is the same one everywhere.
void expect_sums(const PerDevice<float>& d_y, const std::vector<std::vector<float>>& x) {
  std::vector<double> sum(x[0].size(), 0), scale(x[0].size(), 0);
  for (const std::vector<float>& of_device : x) {
    for (size_t i = 0; i < sum.size(); ++i) {
      sum[i] += of_device[i];
      scale[i] += std::fabs(of_device[i]);
    }
  }
  const auto devices = static_cast<int>(x.size());
  kit::expect_near(d_y[0], sum, kit::Tolerance::units(devices, scale));
  const std::vector<float> first = d_y[0].download();
  for (int d = 1; d < devices; ++d) kit::expect_equal(d_y[d], first);
}

kit::Run check(const SizeCase& c) {
  const Group group(c.devices);
  std::vector<std::vector<float>> x;
  for (int d = 0; d < c.devices; ++d) x.push_back(kit::random_floats(c.n));
  const auto d_x = PerDevice<float>::input(x, "d_x");
  const auto d_y = PerDevice<float>::output(c.devices, c.n, "d_y");
  cudaError_t error = cudaSuccess;
  const kit::Run run = kit::run([&] {
    return error = one_shot_all_reduce(d_x.get(), d_y.get(), c.n, group.ready(),
                                       group.streams().data(), c.devices);
  });
  expect_success("one_shot_all_reduce", error);
  expect_sums(d_y, x);
  return run;
}

}  // namespace

TEST(OneShotAllReduce, EveryDeviceHasTheSameSum) {
  RecordProperty("todo", 1);
  // contract: the sum of d_x[0], d_x[1], ... on every device, the same bits on all
  // contract: n floats on device d, aligned to 16 bytes and apart from each other
  // contract: n from 0
  // contract: Does not wait; the current device stays what it was
  // contract: This function and the one below return the first error
  kit::for_each("n", cases(), [](const SizeCase& c) { check(c); });
}

TEST(OneShotAllReduce, AddsUpOverAsManyDevicesAsThereMayBe) {
  RecordProperty("todo", 1);
  // contract: devices 2 .. kMostDevices
  kit::for_each("n", std::vector<SizeCase>{{9, 130}, {kMostDevices, 7}}, [](const SizeCase& c) {
    if (c.devices <= kit::device_count()) check(c);
  });
}

// Special elements of one device: kit::kSpecialSums says what the sums make of them.
TEST(OneShotAllReduce, SpecialElementsAreInTheirSums) {
  RecordProperty("todo", 1);
  // contract: the sum of d_x[0], d_x[1], ... on every device, the same bits on all
  constexpr int kCount = 1023;
  const int devices = device_counts().back();
  kit::for_each_special_sum(kCount, [&](const std::vector<float>& special) {
    const Group group(devices);
    std::vector<std::vector<float>> x(devices, kit::random_floats(kCount));
    x[1] = special;
    x[0].back() = INFINITY;
    const auto d_x = PerDevice<float>::input(x, "d_x");
    const auto d_y = PerDevice<float>::output(devices, kCount, "d_y");
    kit::run([&] {
      return one_shot_all_reduce(d_x.get(), d_y.get(), kCount, group.ready(),
                                 group.streams().data(), devices);
    });
    std::vector<double> sum(kCount, 0), scale(kCount, 0);
    for (const std::vector<float>& of_device : x) {
      for (int i = 0; i < kCount; ++i) sum[i] += of_device[i], scale[i] += std::fabs(of_device[i]);
    }
    for (int d = 0; d < devices; ++d) {
      kit::expect_near_or_nan(d_y[d], sum, kit::Tolerance::units(devices, scale));
    }
  });
}

// Each device has an order of blocks of its own, and it is chance: what depends on it is not the
// same on all.
TEST(OneShotAllReduce, NoOrderOfBlocksChangesABit) {
  RecordProperty("todo", 1);
  // contract: the sum of d_x[0], d_x[1], ... on every device, the same bits on all
  const int devices = device_counts().back(), n = 3000;
  const Group group(devices);
  std::vector<std::vector<float>> x;
  for (int d = 0; d < devices; ++d) x.push_back(kit::random_floats(n));
  const auto d_x = PerDevice<float>::input(x, "d_x");
  kit::expect_same_bits("d_y[0]", [&] {
    const auto d_y = PerDevice<float>::output(devices, n, "d_y");
    kit::run([&] {
      one_shot_all_reduce(d_x.get(), d_y.get(), n, group.ready(), group.streams().data(), devices);
    });
    return d_y[0].download();
  });
}

TEST(OneShotAllReduce, ReadsWhatOtherStreamsWroteBefore) {
  RecordProperty("todo", 2);
  // contract: Kernels of device d read d_x of all devices, which have been given access
  // contract: ready[d] an event of device d, for this call alone
  // contract: streams[d] what it has been given before writes d_x[d]
  const int devices = device_counts().back(), n = 512;
  const Group group(devices);
  auto x = random_per_device(devices, n);
  const auto d_x = PerDevice<float>::inout(x, "d_x");
  const auto d_y = PerDevice<float>::output(devices, n, "d_y");
  kit::run([&] {
    for (int d = 0; d < devices; ++d) {
      const kit::OnDevice scope(d);
      cudaMemsetAsync(d_x.get()[d], 0, (d + 1) * sizeof(float), group.streams()[d]);
    }
    one_shot_all_reduce(d_x.get(), d_y.get(), n, group.ready(), group.streams().data(), devices);
  });
  expect_no_wait("one_shot_all_reduce");
  for (int d = 0; d < devices; ++d) std::fill(x[d].begin(), x[d].begin() + d + 1, 0.0f);
  for (int d = 0; d < devices; ++d) kit::expect_equal(d_y[d], sum_on_cpu(x));
}

TEST(OneShotAllReduce, InputsMayBeWrittenAgainBehindIt) {
  RecordProperty("todo", 3);
  // contract: d_x is not written again before wait_for_readers()
  // contract: begins when every device has read what it needed, and may write d_x again
  // contract: done[d]: an event of device d, for this call alone
  const int devices = device_counts().back(), n = 512;
  const Group group(devices);
  const auto x = random_per_device(devices, n);
  const auto d_x = PerDevice<float>::inout(x, "d_x");
  const auto d_y = PerDevice<float>::output(devices, n, "d_y");
  cudaError_t error = cudaSuccess;
  kit::run([&] {
    error = one_shot_all_reduce(d_x.get(), d_y.get(), n, group.ready(), group.streams().data(),
                                devices);
    if (error != cudaSuccess) return error;
    error = wait_for_readers(group.done(), group.streams().data(), devices);
    if (error != cudaSuccess) return error;
    for (int d = 0; d < devices; ++d) {
      const kit::OnDevice scope(d);
      cudaMemsetAsync(d_x.get()[d], 0, n * sizeof(float), group.streams()[d]);
    }
    return error;
  });
  expect_success("wait_for_readers, or what it waits for,", error);
  expect_no_wait("wait_for_readers");
  for (int d = 0; d < devices; ++d) kit::expect_equal(d_y[d], sum_on_cpu(x));
}

TEST(OneShotAllReduce, ReadsEveryInputOnceOnEveryDevice) {
  RecordProperty("todo", 1);
  kit::for_each("devices", device_counts(), [](int devices) {
    const int n = 2048;
    const kit::Run run = check({devices, n});
    const double bytes = 1.0 * devices * n * sizeof(float);
    kit::budget("inputs loaded by a device, of all there are",
                kit::ratio(static_cast<double>(run.counters().global_load_bytes), devices * bytes),
                kit::at_most(1),
                "A device reads n - 1 arrays of others and its own, each once; with more it is no "
                "longer bound by the time of one load",
                &kit::Counters::global_load_bytes);
    kit::budget("bytes per load of a thread",
                kit::ratio(static_cast<double>(run.counters().global_load_bytes),
                           32.0 * static_cast<double>(run.counters().global_load_requests)),
                kit::at_least(16), "A load of 16 bytes takes as long as one of 4",
                &kit::Counters::global_load_requests);
  });
}

TEST(OneShotAllReduce, IsFast) {
  RecordProperty("todo", 1);
  const int devices = kit::simulated() ? 4 : kit::device_count();
  const int n = 1 << 14;  // 64 KiB
  const Group group(devices);
  kit::Speed speed;
  SpeedArrays x(devices, "d_x",
                [&](int, const char* called) { return speed.input<float>(n, called); });
  SpeedArrays y(devices, "d_y",
                [&](int, const char* called) { return speed.output<float>(n, called); });
  speed.whole_call();
  speed.launch([&] {
    one_shot_all_reduce(x.pointers().data(), y.pointers().data(), n, group.ready(),
                        group.streams().data(), devices);
  });
  for (int d = 0; d < devices; ++d) {
    speed.expect(
        y[d],
        [&](size_t i) {
          kit::Expected sum(0.0);
          for (const auto& array : x) {
            sum.value += array.at(i);
            sum.scale += std::fabs(array.at(i));
          }
          return sum;
        },
        kit::Tolerance::units(devices));
  }
  // The calls of the host decide here, and the model has no time for NCCL's.
  speed.against(
      kit::library(
          "NCCL all-reduce", kit::nccl(),
          [&] { kit::nccl_all_reduce(x.pointers().data(), y.pointers().data(), n, devices); }),
      kit::Bars(0.6, 1.0, 1.5));
  speed.grade();
}
