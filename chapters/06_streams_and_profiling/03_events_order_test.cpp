// Tests of 06/03 events order.
#include "03_events_order.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "kit/kit.h"

namespace {

// Reference in double: x has n elements; the mean of the series of x and of -x.
std::vector<double> even_powers_on_cpu(const std::vector<float>& x, int terms) {
  std::vector<double> y;
  for (const float value : x) {
    double plus = 0, minus = 0;
    for (int k = 0; k < terms; ++k) {
      plus = plus * value + 1.0;
      minus = minus * -static_cast<double>(value) + 1.0;
    }
    y.push_back((plus + minus) / 2);
  }
  return y;
}

// |x| <= 0.5: a sum is at most 2, and an error of half a unit in each step adds up to twice that.
const kit::Tolerance kTolerance = kit::Tolerance::units(8);

struct Streams {
  cudaStream_t left = nullptr, right = nullptr;
  Streams() {
    cudaStreamCreateWithFlags(&left, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&right, cudaStreamNonBlocking);
  }
  ~Streams() {
    cudaStreamDestroy(left);
    cudaStreamDestroy(right);
  }
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;
};

using PinnedFloats = std::unique_ptr<float[], void (*)(float*)>;

PinnedFloats pinned(const std::vector<float>& values) {
  void* memory = nullptr;
  if (cudaMallocHost(&memory, values.size() * sizeof(float)) != cudaSuccess) return {nullptr, {}};
  std::copy(values.begin(), values.end(), static_cast<float*>(memory));
  return PinnedFloats(static_cast<float*>(memory), [](float* p) { cudaFreeHost(p); });
}

// The caller's side: x arrives in `left`, and y leaves in `left`, `rounds` times over with the same
// device memory. Nothing but the streams keeps the rounds apart.
class Pipeline {
 public:
  Pipeline(int n, int terms, int rounds) : n_(n), terms_(terms), x_(rounds), y_(rounds) {
    for (std::vector<float>& x : x_) x = kit::random_floats(n, -0.5f, 0.5f);
  }

  kit::Run run() {
    std::vector<PinnedFloats> h_x, h_y;
    for (const std::vector<float>& x : x_) {
      h_x.push_back(pinned(x));
      h_y.push_back(pinned(std::vector<float>(n_, -9.0f)));
    }
    const auto make = [this](const char* name) {
      return kit::DeviceBuffer<float>::output(n_, name);
    };
    const auto d_x = make("d_x"), d_a = make("d_a"), d_b = make("d_b"), d_y = make("d_y");
    const Streams streams;
    const size_t bytes = n_ * sizeof(float);
    cudaError_t error = cudaSuccess;
    const kit::Run run = kit::run([&] {
      for (size_t i = 0; i < x_.size(); ++i) {
        cudaMemcpyAsync(d_x.get(), h_x[i].get(), bytes, cudaMemcpyHostToDevice, streams.left);
        error = enqueue_even_powers(d_x.get(), d_a.get(), d_b.get(), d_y.get(), n_, terms_,
                                    streams.left, streams.right);
        if (error != cudaSuccess) break;
        cudaMemcpyAsync(h_y[i].get(), d_y.get(), bytes, cudaMemcpyDeviceToHost, streams.left);
      }
      events_made_ = wsim_api_calls("cudaEventCreate") + wsim_api_calls("cudaEventCreateWithFlags");
      events_destroyed_ = wsim_api_calls("cudaEventDestroy");
      waits_ = wsim_api_calls("cudaDeviceSynchronize") + wsim_api_calls("cudaStreamSynchronize") +
               wsim_api_calls("cudaEventSynchronize") + wsim_api_calls("cudaStreamQuery") +
               wsim_api_calls("cudaEventQuery");
      idle_at_return_ = cudaStreamQuery(streams.left) == cudaSuccess;
      cudaGetLastError();  // "not ready" is remembered like an error
      cudaStreamSynchronize(streams.left);
      return error;
    });
    if (error != cudaSuccess) {
      kit::fail(std::string("enqueue_even_powers returned ") + cudaGetErrorName(error) + ".");
    }
    for (size_t i = 0; i < y_.size(); ++i) y_[i].assign(h_y[i].get(), h_y[i].get() + n_);
    return run;
  }

  void expect_right() const {
    for (size_t i = 0; i < y_.size(); ++i) {
      const std::string name = y_.size() == 1 ? "y" : "y of round " + std::to_string(i);
      kit::expect_near(name, y_[i], even_powers_on_cpu(x_[i], terms_), kTolerance);
    }
  }

  uint64_t events_left() const { return events_made_ - events_destroyed_; }
  uint64_t waits() const { return waits_; }
  bool idle_at_return() const { return idle_at_return_; }

 private:
  int n_, terms_;
  std::vector<std::vector<float>> x_, y_;  // one per round
  uint64_t events_made_ = 0, events_destroyed_ = 0, waits_ = 0;
  bool idle_at_return_ = false;
};

struct Span {
  double start = 0, end = 0;  // seconds on the modelled timeline
};

// The two launches of power_series of the last run, by stream.
std::vector<Span> series_spans() {
  std::vector<Span> spans;
  for (int i = 0; i < wsim_timeline_count(); ++i) {
    wsim_timeline_item item;
    if (wsim_get_timeline_item(i, &item) != 0) break;
    if (std::strstr(item.name, "power_series") != nullptr) spans.push_back({item.start, item.end});
  }
  return spans;
}

}  // namespace

TEST(EventsOrder, TheRightBranchSeesWhatTheLeftStreamHasMade) {
  RecordProperty("todo", 2);
  kit::for_each("n", kit::awkward_sizes(), [](int n) {
    Pipeline pipeline(n, 5, 1);
    pipeline.run();
    pipeline.expect_right();
  });
}

TEST(EventsOrder, TheJoinWaitsForTheRightBranch) {
  RecordProperty("todo", 2);
  Pipeline pipeline(kit::work_scale(1000, 1 << 22), 20, 1);
  pipeline.run();
  pipeline.expect_right();
}

TEST(EventsOrder, RoundsCanFollowEachOtherWithTheSameMemory) {
  RecordProperty("todo", 1);
  Pipeline pipeline(kit::work_scale(500, 1 << 20), 8, 3);
  pipeline.run();
  pipeline.expect_right();
}

TEST(EventsOrder, TheHostDoesNotWait) {
  RecordProperty("todo", 1);
  Pipeline pipeline(kit::work_scale(1000, 1 << 24), 200, 1);
  pipeline.run();
  if (kit::simulated() ? pipeline.waits() > 0 : pipeline.idle_at_return()) {
    kit::fail(
        "enqueue_even_powers waited for the device. Order between streams needs no host: one "
        "stream records an event, the other waits for it (cudaStreamWaitEvent).");
  }
}

TEST(EventsOrder, EveryEventIsDestroyed) {
  RecordProperty("todo", 1);
  Pipeline pipeline(100, 3, 2);
  pipeline.run();
  if (pipeline.events_left() != 0) {  // nothing is counted on a GPU
    kit::fail(std::to_string(pipeline.events_left()) +
              " events of 2 calls were not destroyed. cudaEventDestroy may be called as soon as "
              "the wait is queued.");
  }
}

TEST(EventsOrder, TheBranchesRunSideBySide) {
  RecordProperty("todo", 2);
  // Two blocks leave room for the other branch, and each takes longer than a launch.
  Pipeline pipeline(256, 8000, 1);
  pipeline.run();
  pipeline.expect_right();
  const std::vector<Span> spans = series_spans();
  if (!kit::simulated()) return;
  if (spans.size() != 2) {
    kit::fail("power_series was launched " + std::to_string(spans.size()) + " times, not twice.");
    return;
  }
  const double both =
      std::min(spans[0].end, spans[1].end) - std::max(spans[0].start, spans[1].start);
  const double shorter = std::min(spans[0].end - spans[0].start, spans[1].end - spans[1].start);
  kit::budget("share of a branch beside the other", both / shorter, kit::at_least(0.5),
              "Branches that do not need each other are in different streams, with no wait between "
              "them");
}
