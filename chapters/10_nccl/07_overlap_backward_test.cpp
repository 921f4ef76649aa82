// Tests of 10/07 overlap backward.
#include "07_overlap_backward.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "02_all_reduce_support.h"
#include "04_ring_all_reduce_support.h"
#include "kit/kit.h"
#include "kit/speed/speed.h"

namespace {

// |x| stays below this, so that an error of one step shrinks in every later one.
constexpr double kMostFactor = 0.75;

// Reference in double: x + x^2 + ... , of one element.
double gradient_on_cpu(float x, int terms) {
  double sum = 0;
  for (int k = 0; k < terms; ++k) sum = sum * x + x;
  return sum;
}

// A block of NCCL's usual 512 threads or more has nearly all registers of its multiprocessor, and
// the layers lose it. With 256 threads they go on beside it; fewer than 16 such blocks are too slow
// for the link. NCCL reads this when the first communicator is made.
int with_small_blocks(int devices) {
  ::setenv("NCCL_NTHREADS", "256", 0);
  ::setenv("NCCL_MAX_CTAS", "24", 0);
  return devices;
}

// Streams and an event of each device. The link's stream has the higher priority: NCCL's few blocks
// must not queue behind the thousands of a layer.
class Lanes {
 public:
  explicit Lanes(int devices) : ranks_(with_small_blocks(devices)), replicas_(devices) {
    for (int d = 0; d < devices; ++d) {
      const kit::OnDevice scope(d);
      int least = 0, greatest = 0;
      cudaDeviceGetStreamPriorityRange(&least, &greatest);
      Replica& replica = replicas_[d];
      cudaStreamCreateWithPriority(&replica.compute, cudaStreamNonBlocking, least);
      cudaStreamCreateWithPriority(&replica.link, cudaStreamNonBlocking, greatest);
      cudaEventCreateWithFlags(&replica.event, cudaEventDisableTiming);
      replica.comm = ranks_[d];
    }
  }
  ~Lanes() {
    for (const Replica& replica : replicas_) {
      cudaStreamDestroy(replica.compute);
      cudaStreamDestroy(replica.link);
      cudaEventDestroy(replica.event);
    }
  }
  Lanes(const Lanes&) = delete;
  Lanes& operator=(const Lanes&) = delete;
  // With these arrays: x(d) and gradient(d) of device d.
  template <class X, class Gradient>
  std::vector<Replica> with(const X& x, const Gradient& gradient) const {
    std::vector<Replica> all = replicas_;
    for (int d = 0; d < static_cast<int>(all.size()); ++d) {
      all[d].x = x(d);
      all[d].gradient = gradient(d);
    }
    return all;
  }

 private:
  Ranks ranks_;
  std::vector<Replica> replicas_;
};

struct Case {
  int devices;
  std::vector<size_t> begins;
  size_t least;
  int buckets;
  Pass pass(int terms) const { return {static_cast<int>(begins.size()) - 1, begins.data(), terms}; }
};
std::ostream& operator<<(std::ostream& out, const Case& c) {
  out << "at";
  for (const size_t begin : c.begins) out << ' ' << begin;
  return out << ", least = " << c.least << ", devices = " << c.devices;
}
std::vector<Case> cases() {
  std::vector<Case> all;
  for (const int devices : device_counts()) {
    all.push_back({devices, {0, 400, 800, 1200}, 400, 3});
    all.push_back({devices, {0, 8, 8, 408, 412, 1000}, 410, 2});
    all.push_back({devices, {0, 100}, 1, 1});
    all.push_back({devices, {0, 40, 80, 120, 160}, SIZE_MAX, 1});
  }
  return all;
}

kit::Run check(const Case& c, bool clears_behind = false) {
  const Lanes lanes(c.devices);
  const Pass pass = c.pass(5);
  const size_t n = c.begins.back();
  std::vector<std::vector<float>> x;
  for (int d = 0; d < c.devices; ++d) {
    x.push_back(kit::random_floats(n, -kMostFactor, kMostFactor));
  }
  const auto d_x = PerDevice<float>::input(x, "d_x");
  const auto d_gradient = PerDevice<float>::output(c.devices, n, "d_gradient");
  const auto replicas =
      lanes.with([&](int d) { return d_x.get()[d]; }, [&](int d) { return d_gradient.get()[d]; });
  const kit::Run run = run_call("backward_overlapped", [&] {
    const ncclResult_t result = backward_overlapped(pass, replicas.data(), c.devices, c.least);
    for (int d = 0; d < c.devices && clears_behind; ++d) {
      const kit::OnDevice scope(d);
      cudaMemsetAsync(replicas[d].gradient, 0, n * sizeof(float), replicas[d].compute);
    }
    return result;
  });
  std::vector<double> mean(n, 0);
  for (size_t i = 0; i < n && !clears_behind; ++i) {
    for (const auto& values : x) mean[i] += gradient_on_cpu(values[i], pass.terms) / c.devices;
  }
  const std::vector<double> scale(n, 4);
  for (int d = 0; d < c.devices; ++d) {
    kit::expect_near(d_gradient[d], mean, kit::Tolerance::units(8, scale));
  }
  return run;
}

// Of the last run, on one device: seconds that kernels ran, and that they ran beside a call of
// NCCL.
struct Beside {
  double kernels = 0, hidden = 0;
};
Beside beside(int device) {
  std::vector<wsim_timeline_item> kernels, calls;
  for (int i = 0; i < wsim_timeline_count(); ++i) {
    wsim_timeline_item item;
    if (wsim_get_timeline_item(i, &item) != 0 || item.device != device) continue;
    const bool is_call = std::strncmp(item.name, "nccl", 4) == 0;
    if (is_call) calls.push_back(item);
    if (!is_call && std::strcmp(item.kind, "kernel") == 0) kernels.push_back(item);
  }
  Beside sum;
  for (const wsim_timeline_item& kernel : kernels) {
    sum.kernels += kernel.end - kernel.start;
    for (const wsim_timeline_item& call : calls) {
      const double both = std::min(kernel.end, call.end) - std::max(kernel.start, call.start);
      sum.hidden += std::max(both, 0.0);
    }
  }
  return sum;
}

}  // namespace

TEST(OverlapBackward, ABucketHasEnoughFloats) {
  RecordProperty("todo", 1);
  kit::for_each("layers", cases(), [](const Case& c) {
    if (c.devices != 2) return;  // the same layers again
    const Pass pass = c.pass(1);
    int last = pass.layers - 1, buckets = 0;
    while (last >= 0 && buckets <= pass.layers) {
      const int first = first_of_bucket(pass.begins, last, c.least);
      if (first < 0 || first > last) {
        kit::fail("The bucket that ends with layer " + std::to_string(last) +
                  " cannot begin with layer " + std::to_string(first) + ".");
        return;
      }
      last = first - 1;
      ++buckets;
    }
    if (buckets != c.buckets) {
      kit::fail("These layers are " + std::to_string(c.buckets) + " buckets of " +
                std::to_string(c.least) + " floats or more, the last one as it comes, but " +
                "first_of_bucket makes " + std::to_string(buckets) + ".");
    }
  });
}

TEST(OverlapBackward, EveryDeviceHasTheMean) {
  RecordProperty("todo", 2);
  kit::for_each("layers", cases(), [](const Case& c) { check(c); });
}

TEST(OverlapBackward, ABucketIsReducedWhenItIsComputed) {
  RecordProperty("todo", 2);
  check({2, {0, 4000, 8000, 12000}, 4000, 3});
}

TEST(OverlapBackward, WhatFollowsInTheComputeStreamComesBehindIt) {
  RecordProperty("todo", 3);
  check({2, {0, 400, 800, 1200}, 400, 3}, /*clears_behind=*/true);
}

TEST(OverlapBackward, ReducesWhileItComputes) {
  RecordProperty("todo", 2);
  const int devices = 2;
  const size_t layer = size_t{1} << kit::work_scale(20, 23);
  const std::vector<size_t> begins = {0, 4096, layer, 2 * layer, 3 * layer};
  const Lanes lanes(devices);
  const std::vector<float> x(begins.back(), 0.5f);
  const auto d_x = PerDevice<float>::input({x, x}, "d_x");
  const auto d_gradient = PerDevice<float>::output(devices, x.size(), "d_gradient");
  const auto replicas =
      lanes.with([&](int d) { return d_x.get()[d]; }, [&](int d) { return d_gradient.get()[d]; });
  const Pass pass = {4, begins.data(), 1};
  kit::run([&] { backward_overlapped(pass, replicas.data(), devices, layer - 4096); });
  const uint64_t calls = kit::api_calls("ncclAllReduce");
  kit::budget("calls per bucket and device", static_cast<double>(calls) / (4.0 * devices),
              kit::at_most(1), "A bucket is reduced by one call of each rank");
  for (int d = 0; d < devices; ++d) {
    const Beside time = beside(d);
    kit::budget(
        "share of the layers' time beside an all-reduce", kit::ratio(time.hidden, time.kernels),
        kit::at_least(0.3),
        "In the modelled timeline a call in its own stream runs beside the next layers. The "
        "first bucket has nothing beside it, and the host needs time for its calls");
  }
}

TEST(OverlapBackward, IsFast) {
  RecordProperty("todo", 2);
  const int devices = kit::simulated() ? 2 : kit::device_count();
  // On a GPU: 14 layers of 16 MiB and a first one of 512 KiB. The all-reduce of the last bucket has
  // nothing beside, whatever one does: the more buckets, the less is that.
  const int layers = 15;
  const size_t layer = kit::work_scale(4096, 1 << 22), first = layer / 32;
  std::vector<size_t> begins = {0};
  for (int l = 0; l < layers; ++l) begins.push_back(first + l * layer);
  const size_t n = begins.back();
  const Pass pass = {layers, begins.data(), kit::work_scale(2, 1000)};
  const Lanes lanes(devices);
  kit::Speed speed;
  SpeedArrays x(devices, "d_x", [&](int, const char* called) {
    return speed.input<float>(n, called, kit::Values::uniform(-kMostFactor, kMostFactor));
  });
  SpeedArrays gradient(devices, "d_gradient",
                       [&](int, const char* called) { return speed.output<float>(n, called); });
  const auto replicas = [&] {
    return lanes.with([&](int d) { return x[d].get(); }, [&](int d) { return gradient[d].get(); });
  };
  speed.whole_call();
  speed.launch([&] { backward_overlapped(pass, replicas().data(), devices, layer); });
  for (int d = 0; d < devices; ++d) {
    speed.expect(
        gradient[d],
        [&](size_t i) {
          double mean = 0;
          for (const auto& array : x) mean += gradient_on_cpu(array.at(i), pass.terms) / devices;
          return kit::Expected(mean, 4);
        },
        kit::Tolerance::units(8));
  }
  // With the small arrays of the simulator the host's calls decide; there the budget above judges.
  speed.against(kit::stage("the pass, then one all-reduce",
                           [&] { backward_serial(pass, replicas().data(), devices); })
                    .on_gpu_only(),
                kit::Bars(1.1));
  // Nothing but the layers: what is missing to 100 % is the all-reduce that shows. On two H200 the
  // all-reduces alone take 0.50 of the layers' time (2026-11-22), so 80 % of them hidden is
  // 1 / (1 + 0.2 * 0.50), 90 % is 0.952. The devices get their layers in turns: a launch takes the
  // host microseconds, and the last device would begin a whole pass of launches later.
  speed.against(kit::limit("layers alone",
                           [&] {
                             const std::vector<Replica> all = replicas();
                             for (int l = pass.layers - 1; l >= 0; --l) {
                               for (int d = 0; d < devices; ++d) {
                                 const kit::OnDevice scope(d);
                                 launch_layers(pass, all[d], l, l);
                               }
                             }
                           })
                    .on_gpu_only(),
                kit::Bars(0.7, 0.91, 0.952));
  speed.grade();
}
