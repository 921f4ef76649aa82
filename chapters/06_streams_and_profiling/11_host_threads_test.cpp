// Tests of 06/11 host threads.
#include "11_host_threads.h"

#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstring>
#include <future>
#include <memory>
#include <set>
#include <thread>

#include "kit/kit.h"
#include "kit/largest.h"
#include "kit/launches.h"

namespace {

// Threads of the host that were made while halve_in_threads ran, in all its calls so far.
std::atomic<bool> counts_threads{false};
std::atomic<int> threads_made{0};

// While it is set, a thread of the host is made when the one before has ended, so that it is
// certain who ends last. Threads that wait for each other are not held up for long.
std::atomic<bool> one_by_one{false};

struct Turn {
  void* (*start)(void*);
  void* argument;
  std::promise<void> ended;
};

void* take_turn(void* data) {
  const std::unique_ptr<Turn> turn(static_cast<Turn*>(data));
  void* const result = turn->start(turn->argument);
  turn->ended.set_value();
  return result;
}

using PinnedFloats = std::unique_ptr<float[], void (*)(float*)>;

PinnedFloats pinned(size_t n) {
  void* memory = nullptr;
  if (cudaMallocHost(&memory, (n + 1) * sizeof(float)) != cudaSuccess) memory = nullptr;
  return PinnedFloats(static_cast<float*>(memory), [](float* p) { cudaFreeHost(p); });
}

// Streams in which kernels ran, as the timeline names them.
std::set<std::string> streams_of_kernels() {
  std::set<std::string> streams;
  for (int i = 0; i < wsim_timeline_count(); ++i) {
    wsim_timeline_item item;
    if (wsim_get_timeline_item(i, &item) != 0) break;
    if (std::strcmp(item.kind, "kernel") == 0) streams.insert(item.stream);
  }
  return streams;
}

struct Halving {
  std::set<std::string> streams;
  uint64_t made = 0, destroyed = 0;  // streams
  uint64_t waits_for_device = 0;
};

Halving check(int n) {
  const std::vector<float> x = kit::random_floats(n);
  const PinnedFloats h_x = pinned(n), h_y = pinned(n);
  std::copy(x.begin(), x.end(), h_x.get());
  std::memset(h_y.get(), 0xFF, n * sizeof(float));
  const auto d_x = kit::DeviceBuffer<float>::output(n, "d_x");
  Halving seen;
  const kit::Run run = kit::run([&] {
    counts_threads = true;
    const cudaError_t error = halve_in_threads(h_x.get(), h_y.get(), d_x.get(), n, 64);
    counts_threads = false;
    seen.made = wsim_api_calls("cudaStreamCreate") + wsim_api_calls("cudaStreamCreateWithFlags");
    seen.destroyed = wsim_api_calls("cudaStreamDestroy");
    seen.waits_for_device = wsim_api_calls("cudaDeviceSynchronize");
    if (error != cudaSuccess) {
      kit::fail(std::string("halve_in_threads returned ") + cudaGetErrorName(error) + ".");
    }
    seen.streams = streams_of_kernels();
  });
  kit::expect_blocks_of(run, dim3(64));
  std::vector<float> expected;
  for (const float value : x) expected.push_back(0.5f * value);
  kit::expect_equal("h_y", std::vector<float>(h_y.get(), h_y.get() + n), expected);
  return seen;
}

// How much two long kernels, launched by two CPU threads without a stream of their own, overlap: 0
// (one after the other) to 1. On the modelled timeline, or by the clock on the wall.
double overlap_of(cudaStream_t stream) {
  const int rounds = kit::work_scale(10000, 10000000);
  const auto d_a = kit::DeviceBuffer<float>::inout(std::vector<float>(32, 1.0f), "a");
  const auto d_b = kit::DeviceBuffer<float>::inout(std::vector<float>(32, 1.0f), "b");
  const auto seconds = [&](const std::function<void()>& work) {
    cudaDeviceSynchronize();
    const double modelled = wsim_timeline_now();
    const auto begin = std::chrono::steady_clock::now();
    work();
    cudaDeviceSynchronize();
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
    return kit::simulated() ? wsim_timeline_now() - modelled : wall.count();
  };
  // A thread for each array. None ends before all have launched: its default stream ends with it.
  const auto launch = [&](const std::vector<float*>& arrays) {
    std::atomic<size_t> launched{0};
    std::vector<std::thread> threads;
    for (float* d_x : arrays) {
      threads.emplace_back([&, d_x] {
        launch_long(d_x, rounds, stream);
        ++launched;
        while (launched < arrays.size()) std::this_thread::yield();
      });
    }
    for (std::thread& thread : threads) thread.join();
  };
  launch({d_a.get()});  // the first launch loads the code
  const double one = seconds([&] { launch({d_a.get()}); });
  const double two = seconds([&] { launch({d_a.get(), d_b.get()}); });
  return (2 * one - two) / one;
}

std::string outcome(const char* kind, double overlap) {
  return std::string("Two long kernels of two threads in the ") + kind + " default stream were " +
         std::to_string(std::lround(100 * overlap)) +
         " % side by side, which is not what you predicted.";
}

}  // namespace

// std::thread, std::async and their like come here, and from here to the system.
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                              void* (*start)(void*), void* argument) noexcept {
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto create = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  if (counts_threads) ++threads_made;
  if (!one_by_one) return create(thread, attributes, start, argument);
  auto turn = std::make_unique<Turn>(Turn{start, argument, {}});
  const std::future<void> ended = turn->ended.get_future();
  const int error = create(thread, attributes, take_turn, turn.get());
  if (error != 0) return error;
  turn.release();  // the thread has it
  ended.wait_for(std::chrono::milliseconds(300));
  return error;
}

TEST(HostThreads, EveryThreadDoesItsSlice) {
  RecordProperty("todo", 1);
  kit::for_each("n", std::vector<int>{1024, 1023, 401, 5, 3, 1, 0}, [](int n) { check(n); });
}

TEST(HostThreads, TheLastSliceOfGigabytesIsDone) {
  RecordProperty("todo", 1);
  kit::at_largest(1 << 30, [](int n) {
    const auto h_x = kit::LargeHostFloats::input(n, "h_x", kit::HostPages::kPinned);
    const auto h_y = kit::LargeHostFloats::output(n, "h_y", kit::HostPages::kPinned);
    const auto d_x = kit::LargeArray<float>::output(n, "d_x");
    kit::run([&] { halve_in_threads(h_x.get(), h_y.get(), d_x.get(), n, 64); });
    kit::expect_at_ends(h_y, [&](size_t i) { return 0.5f * h_x.get()[i]; });
  });
}

TEST(HostThreads, EveryThreadHasAStreamOfItsOwn) {
  RecordProperty("todo", 1);
  const Halving seen = check(4096);
  if (!kit::simulated()) return;
  // The default streams of several threads have one name.
  const bool per_thread = seen.streams.count("the per-thread default stream") == 1;
  if (seen.streams.size() != kThreads && !per_thread) {
    kit::fail("The kernels of 4 threads ran in " + std::to_string(seen.streams.size()) +
              " streams. Work in one stream is done in order, whoever put it there.");
  }
  if (seen.made != seen.destroyed) {
    kit::fail(std::to_string(seen.made) + " streams were made and " +
              std::to_string(seen.destroyed) + " destroyed.");
  }
  if (seen.waits_for_device > 0) {
    kit::fail(
        "A thread called cudaDeviceSynchronize: it waited for the work of all threads. Its "
        "own is in its own stream (cudaStreamSynchronize).");
  }
}

TEST(HostThreads, ThereIsAThreadForEverySlice) {
  RecordProperty("todo", 1);
  check(4096);
  // The caller's own thread may do a slice, and threads may stay for later calls.
  if (threads_made >= kThreads - 1) return;
  kit::fail("halve_in_threads has made " + std::to_string(threads_made) +
            " threads of the CPU in " + "all its calls, and " + std::to_string(kThreads) +
            " of them are to share the work: who does the slices?");
}

TEST(HostThreads, TheErrorOfAThreadIsReturned) {
  RecordProperty("todo", 1);
  const PinnedFloats h_x = pinned(512), h_y = pinned(512);
  const auto d_x = kit::DeviceBuffer<float>::output(512, "d_x");
  std::fill(h_x.get(), h_x.get() + 512, 1.0f);
  const auto streams_left = [] {
    return wsim_api_calls("cudaStreamCreate") + wsim_api_calls("cudaStreamCreateWithFlags") -
           wsim_api_calls("cudaStreamDestroy");
  };
  const uint64_t before = streams_left();
  const cudaError_t error = halve_in_threads(h_x.get(), h_y.get(), d_x.get(), 512, 2048);
  cudaGetLastError();
  if (streams_left() != before) {
    kit::fail("Where the launch is refused, " + std::to_string(streams_left() - before) +
              " streams are not destroyed: every way out has to.");
  }
  // CUDA 13 says the first, older versions the second.
  if (error != cudaErrorInvalidValue && error != cudaErrorInvalidConfiguration) {
    kit::fail(std::string("With 2048 threads per block every launch is refused. halve_in_threads "
                          "returned ") +
              cudaGetErrorName(error) +
              ": the last error belongs to the thread that launched, so ask there "
              "(cudaGetLastError).");
  }
}

// The kit lets each call of each thread fail, and looks at what stays.
TEST(HostThreads, CallsOfThreadsThatFailAreReported) {
  RecordProperty("todo", 1);
  const std::vector<float> x = kit::random_floats(512);
  const PinnedFloats h_x = pinned(512), h_y = pinned(512);
  const auto d_x = kit::DeviceBuffer<float>::output(512, "d_x");
  std::copy(x.begin(), x.end(), h_x.get());
  kit::run([&] { return halve_in_threads(h_x.get(), h_y.get(), d_x.get(), 512, 64); });
  std::vector<float> expected;
  for (const float value : x) expected.push_back(0.5f * value);
  kit::expect_equal("h_y", std::vector<float>(h_y.get(), h_y.get() + 512), expected);
}

TEST(HostThreads, TheErrorOfOneThreadOutlivesTheOthers) {
  RecordProperty("todo", 1);
  if (!kit::simulated()) return;
  const PinnedFloats h_x = pinned(512), h_y = pinned(512);
  const auto d_x = kit::DeviceBuffer<float>::output(512, "d_x");
  std::fill(h_x.get(), h_x.get() + 512, 1.0f);
  for (int k = 1; k <= kThreads; ++k) {
    one_by_one = true;
    wsim_fail_call(k, "cudaLaunchKernel", ".cu");
    const cudaError_t error = halve_in_threads(h_x.get(), h_y.get(), d_x.get(), 512, 64);
    const std::string failed = wsim_failed_call();
    wsim_fail_call(0, "", "");
    one_by_one = false;
    cudaGetLastError();
    wsim_clear_findings();  // of that launch
    if (failed.empty() || error != cudaSuccess) continue;
    kit::fail("Of all launches, number " + std::to_string(k) + ", " + failed +
              ", was made to do nothing and to leave an error, in its thread alone. "
              "halve_in_threads returned cudaSuccess all the same: a thread that goes well must "
              "not erase the error of another one, and that of every thread counts. Give each a "
              "place of its own for its status, and look at all of them when the threads have "
              "ended.");
    return;
  }
}

TEST(HostThreads, ThePredictionForTheLegacyDefaultStreamHolds) {
  RecordProperty("todo", 2);
  const double overlap = overlap_of(cudaStreamLegacy);
  if (runs_side_by_side(DefaultStream::kLegacy) != (overlap > 0.5)) {
    kit::fail(outcome("legacy", overlap) +
              " It is one stream, and all threads put their work into it.");
  }
}

TEST(HostThreads, ThePredictionForThePerThreadDefaultStreamHolds) {
  RecordProperty("todo", 2);
  const double overlap = overlap_of(cudaStreamPerThread);
  if (runs_side_by_side(DefaultStream::kPerThread) != (overlap > 0.5)) {
    kit::fail(outcome("per-thread", overlap) + " Every thread of the CPU has one of its own.");
  }
}

TEST(HostThreads, AWaitOfTheHostDoesNotOrderTheThreadsOfAKernel) {
  RecordProperty("todo", 3);
  kit::for_each("blocks", std::vector<int>{1, 3}, [](int blocks) {
    const std::vector<float> x = kit::random_floats(blocks * kMirror);
    const auto d_x = kit::DeviceBuffer<float>::input(x, "x");
    const auto d_sums = kit::DeviceBuffer<float>::output(x.size(), "sums");
    kit::run([&] { return launch_mirror_sums(d_x.get(), d_sums.get(), blocks); });
    std::vector<float> expected;
    for (size_t i = 0; i < x.size(); ++i) {
      const size_t begin = i / kMirror * kMirror;
      expected.push_back(x[i] + x[begin + kMirror - 1 - (i - begin)]);
    }
    kit::expect_equal(d_sums, expected);
  });
}

TEST(HostThreads, ALaunchThatIsRefusedIsReported) {
  RecordProperty("todo", 3);
  const auto d_x = kit::DeviceBuffer<float>::inout(std::vector<float>(kMirror), "x");
  const cudaError_t error = launch_mirror_sums(d_x.get(), d_x.get(), 0);
  cudaGetLastError();
  wsim_clear_findings();  // of that launch
  if (error != cudaErrorInvalidValue && error != cudaErrorInvalidConfiguration) {
    kit::fail(std::string("A launch of no blocks is refused. launch_mirror_sums returned ") +
              cudaGetErrorName(error) +
              ": cudaDeviceSynchronize knows only of work that has begun. Ask for the error of the "
              "launch as well (cudaGetLastError).");
  }
}
