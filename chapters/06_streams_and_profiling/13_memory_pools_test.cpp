// Tests of 06/13 memory pools.
#include "13_memory_pools.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "kit/kit.h"
#include "kit/speed/speed.h"
#include "kit/stream.h"

namespace {

constexpr size_t kPlenty = size_t{1} << 26;  // bytes

std::vector<double> blur_on_cpu(const std::vector<double>& in) {
  std::vector<double> out;
  for (size_t i = 0; i < in.size(); ++i) {
    const double before = in[i > 0 ? i - 1 : 0], behind = in[std::min(i + 1, in.size() - 1)];
    out.push_back(0.25 * (before + 2 * in[i] + behind));
  }
  return out;
}

// Reference in double: x has n elements.
std::vector<double> sharpen_on_cpu(const std::vector<float>& x) {
  const std::vector<double> exact(x.begin(), x.end()), once = blur_on_cpu(exact);
  std::vector<double> y = blur_on_cpu(once);
  for (size_t i = 0; i < y.size(); ++i) y[i] += std::fabs(exact[i] - once[i]);
  return y;
}

// |x| <= 1: every intermediate value is at most 2 and rounded some ten times.
kit::Tolerance tolerance(size_t n) { return kit::Tolerance::units(8, std::vector<double>(n, 2.0)); }

void expect_success(const char* function, cudaError_t error) {
  if (error == cudaSuccess) return;
  kit::fail(std::string(function) + " returned " + cudaGetErrorName(error) + ".");
}

uint64_t attribute(cudaMemPool_t pool, cudaMemPoolAttr name) {
  uint64_t value = 0;
  if (pool != nullptr) cudaMemPoolGetAttribute(pool, name, &value);
  return value;
}

// An open workshop, closed at the end.
struct Open {
  Workshop workshop;
  explicit Open(size_t keep) { expect_success("open_workshop", open_workshop(&workshop, keep)); }
  ~Open() { close_workshop(&workshop); }
  Open(const Open&) = delete;
  Open& operator=(const Open&) = delete;
};

// What was seen of `calls` calls for n elements, behind each other, and once they had ended.
struct Seen {
  uint64_t slow_calls = 0, waits = 0;  // of the host, in all calls
  uint64_t taken = 0;                  // bytes from the pool that were in use together
  uint64_t in_use = 0, reserved = 0;   // bytes, when the streams had ended
  bool idle_at_return = false;
};

Seen check(int n, size_t keep, int calls = 1) {
  const std::vector<float> x = kit::random_floats(n);
  const auto d_x = kit::DeviceBuffer<float>::input(x, "d_x");
  const auto d_y = kit::DeviceBuffer<float>::output(n, "d_y");
  const kit::Stream stream, side;
  const Open open(keep);
  Seen seen;
  kit::run([&] {
    cudaError_t error = cudaSuccess;
    for (int i = 0; i < calls && error == cudaSuccess; ++i) {
      error = sharpen(open.workshop, d_x.get(), d_y.get(), n, stream.get(), side.get());
    }
    seen.idle_at_return = cudaStreamQuery(stream.get()) == cudaSuccess;
    cudaGetLastError();  // "not ready" is remembered like an error
    seen.slow_calls = wsim_api_calls("cudaMalloc") + wsim_api_calls("cudaFree");
    seen.waits = wsim_api_calls("cudaDeviceSynchronize") + wsim_api_calls("cudaStreamSynchronize") +
                 wsim_api_calls("cudaEventSynchronize");
    cudaStreamSynchronize(stream.get());
    cudaStreamSynchronize(side.get());
    seen.taken = attribute(open.workshop.pool, cudaMemPoolAttrUsedMemHigh);
    seen.in_use = attribute(open.workshop.pool, cudaMemPoolAttrUsedMemCurrent);
    seen.reserved = attribute(open.workshop.pool, cudaMemPoolAttrReservedMemCurrent);
    return error;
  });
  kit::expect_near(d_y, sharpen_on_cpu(x), tolerance(n));
  return seen;
}

}  // namespace

TEST(MemoryPools, TheWorkshopHasAPoolOfItsOwn) {
  RecordProperty("todo", 1);
  kit::for_each("keep", std::vector<size_t>{1 << 20, (size_t{1} << 32) + 4096}, [](size_t keep) {
    Workshop workshop;
    expect_success("open_workshop", open_workshop(&workshop, keep));
    int device = 0;
    cudaMemPool_t others = nullptr;
    cudaGetDevice(&device);
    cudaDeviceGetDefaultMemPool(&others, device);
    if (workshop.pool == nullptr) {
      kit::fail(
          "open_workshop returned cudaSuccess, and the workshop has no pool: "
          "cudaMemPoolCreate.");
    } else if (workshop.pool == others) {
      kit::fail(
          "The workshop has the default pool of the device, which belongs to everybody: "
          "closing the workshop could give nothing back.");
    } else if (attribute(workshop.pool, cudaMemPoolAttrReleaseThreshold) != keep) {
      kit::fail("The pool's release threshold is " +
                std::to_string(attribute(workshop.pool, cudaMemPoolAttrReleaseThreshold)) +
                " bytes, and the caller asked for " + std::to_string(keep) +
                ": cudaMemPoolSetAttribute.");
    }
    close_workshop(&workshop);
  });
}

TEST(MemoryPools, AfterAnErrorThereIsNoPool) {
  RecordProperty("todo", 1);
  if (!kit::simulated()) return;
  std::string failed = "none yet";
  for (uint64_t k = 1; !failed.empty(); ++k) {  // the first call, the second one, ...
    Workshop workshop;
    wsim_reset_counters();
    wsim_fail_call(k, "cuda", ".cu");
    const cudaError_t error = open_workshop(&workshop, 1 << 20);
    failed = wsim_failed_call();
    wsim_fail_call(0, "", "");
    cudaGetLastError();
    const uint64_t refused = failed.find("cudaMemPoolCreate") == 0 ? 1 : 0;
    const uint64_t made = wsim_api_calls("cudaMemPoolCreate") - refused;
    const uint64_t destroyed = wsim_api_calls("cudaMemPoolDestroy");
    const bool has_pool = workshop.pool != nullptr;
    close_workshop(&workshop);
    if (failed.empty() || (error != cudaSuccess && !has_pool && destroyed == made)) continue;
    kit::fail(failed + " was made to fail. open_workshop returned " +
              (error == cudaSuccess ? "cudaSuccess"
               : has_pool           ? "an error, and the workshop has a pool"
                                    : "an error, and had made " + std::to_string(made) +
                                " pool and destroyed " + std::to_string(destroyed)) +
              ": the first error is returned, and the pool that was made before it is destroyed.");
    return;
  }
}

TEST(MemoryPools, ClosingTwiceIsHarmlessAndLeavesNothing) {
  RecordProperty("todo", 1);
  uint64_t destroyed = 0;
  Workshop workshop;
  kit::run([&] {
    expect_success("open_workshop", open_workshop(&workshop, kPlenty));
    expect_success("close_workshop", close_workshop(&workshop));
    expect_success("close_workshop", close_workshop(&workshop));
    destroyed = wsim_api_calls("cudaMemPoolDestroy");
  });
  if (workshop.pool != nullptr || (kit::simulated() && destroyed != 1)) {
    kit::fail(
        "After close_workshop the pool must be destroyed, once, and workshop->pool be empty: "
        "cudaMemPoolDestroy.");
  }
}

TEST(MemoryPools, SharpensAnySize) {
  RecordProperty("todo", 2);
  kit::for_each("n", kit::awkward_sizes(), [](int n) { check(n, kPlenty); });
}

TEST(MemoryPools, CallsFollowEachOther) {
  RecordProperty("todo", 2);
  check(kit::work_scale(3000, 1 << 22), kPlenty, 3);
}

TEST(MemoryPools, ScratchMemoryIsThePoolsAndGoesBack) {
  RecordProperty("todo", 2);
  const Seen seen = check(5000, kPlenty, 2);
  if (seen.taken == 0) {
    kit::fail("Nothing was taken from workshop.pool: cudaMallocFromPoolAsync.");
  } else if (seen.in_use != 0) {
    kit::fail("When the streams had ended, " + std::to_string(seen.in_use) +
              " bytes of the pool were still in use. Each call gives back what it takes: "
              "cudaFreeAsync.");
  }
}

TEST(MemoryPools, TheHostDoesNotWait) {
  RecordProperty("todo", 2);
  const Seen seen = check(kit::work_scale(5000, 1 << 26), kit::work_scale(1 << 26, 1 << 30));
  if (kit::simulated() ? seen.waits > 0 : seen.idle_at_return) {
    kit::fail(
        "sharpen waited for the device. Memory that goes back in the order of a stream needs "
        "no host: cudaFreeAsync behind the last kernel that uses it.");
  }
}

// Every kernel takes a millisecond longer. Of the four, two can be under way together.
TEST(MemoryPools, ContrastAndTheSecondBlurRunSideBySide) {
  RecordProperty("todo", 2);
  if (!kit::simulated()) return;
  constexpr int kCount = 500;
  constexpr double kSlow = 1e-3;  // seconds
  const auto d_x = kit::DeviceBuffer<float>::input(kit::random_floats(kCount), "d_x");
  const auto d_y = kit::DeviceBuffer<float>::output(kCount, "d_y");
  const kit::Stream stream, side;
  const Open open(kPlenty);
  double length = 0;
  kit::run([&] {
    const std::vector<double> slow(4, kSlow);
    wsim_slow_kernels(slow.data(), static_cast<int>(slow.size()));
    const double begin = wsim_timeline_now();
    sharpen(open.workshop, d_x.get(), d_y.get(), kCount, stream.get(), side.get());
    cudaStreamSynchronize(stream.get());
    length = wsim_timeline_now() - begin;
    wsim_slow_kernels(nullptr, 0);
  });
  kit::budget(
      "kernels one after the other", length / kSlow, kit::at_most(3.5),
      "Neither contrast nor the second blur reads what the other makes: one of them belongs "
      "into `side`, and the wait for it behind both");
}

TEST(MemoryPools, NoCallAllocatesTheSlowWay) {
  RecordProperty("todo", 2);
  const Seen seen = check(5000, kPlenty, 4);
  kit::budget("cudaMalloc and cudaFree in 4 calls", static_cast<double>(seen.slow_calls),
              kit::at_most(0),
              "Both ask the driver for memory, and cudaFree waits until the device is idle");
}

TEST(MemoryPools, NoMoreScratchMemoryThanThreeArrays) {
  RecordProperty("todo", 2);
  constexpr int kCount = 1 << 14;
  const Seen seen = check(kCount, kPlenty);
  kit::budget("scratch bytes per element", kit::ratio(static_cast<double>(seen.taken), kCount),
              kit::at_most(12), "What lies between four kernels is three arrays, or fewer");
}

TEST(MemoryPools, ThePoolKeepsItsMemoryBetweenCalls) {
  RecordProperty("todo", 1);
  constexpr int kCount = 1 << 14;
  const Seen seen = check(kCount, kPlenty);
  if (seen.reserved < kCount * sizeof(float)) {
    kit::fail(
        "The caller wanted the pool to keep up to 64 MiB, and when the streams had ended it "
        "held " +
        std::to_string(seen.reserved) +
        " bytes. The next call must ask the driver again: cudaMemPoolAttrReleaseThreshold.");
  }
}

TEST(MemoryPools, ThePoolKeepsNoMoreThanItIsAllowed) {
  RecordProperty("todo", 1);
  const Seen seen = check(1 << 14, 4096);
  // A driver reserves in large steps, so only the simulator is asked.
  if (kit::simulated() && seen.reserved > 4096) {
    kit::fail(
        "The caller allowed the pool to keep 4096 bytes, and when the streams had ended it "
        "held " +
        std::to_string(seen.reserved) + ".");
  }
}

TEST(MemoryPools, IsFast) {
  RecordProperty("todo", 2);
  const int n = kit::work_scale(1 << 16, 1 << 20);
  kit::Speed speed;
  const auto x = speed.input<float>(n, "x");
  const auto y = speed.output<float>(n, "y");
  const kit::Stream stream, side;
  const Open open(kPlenty);
  speed.whole_call();
  speed.launch([&] { sharpen(open.workshop, x.get(), y.get(), n, stream.get(), side.get()); });
  speed.expect(
      y,
      [&](size_t i) {
        // Two neighbours on each side decide about element i.
        const size_t first = i < 2 ? 0 : i - 2, last = std::min<size_t>(i + 2, n - 1);
        std::vector<float> part;
        for (size_t k = first; k <= last; ++k) part.push_back(x.at(k));
        return kit::Expected(sharpen_on_cpu(part)[i - first], 2.0);
      },
      kit::Tolerance::units(8));
  speed.against(kit::stage("cudaMalloc and cudaFree",
                           [&] { sharpen_slowly(x.get(), y.get(), n, stream.get()); }),
                kit::Bars(2.0));
  speed.grade();
}
