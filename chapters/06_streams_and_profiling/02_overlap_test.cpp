// Tests of 06/02 overlap.
#include "02_overlap.h"

#include <cmath>
#include <cstring>
#include <filesystem>
#include <memory>

#include "kit/kit.h"
#include "kit/largest.h"
#include "kit/speed/speed.h"

namespace {

// Reference in double: x has n elements. The partial sum of the geometric series, by Horner.
std::vector<double> series_on_cpu(const std::vector<float>& x, int terms) {
  std::vector<double> y;
  for (const float factor : x) {
    double sum = 0;
    for (int k = 0; k < terms; ++k) sum = sum * factor + 1.0;
    y.push_back(sum);
  }
  return y;
}

// Each step rounds twice at most, and its error shrinks by |x| <= 0.75 in every later one.
const kit::Tolerance kTolerance = kit::Tolerance::units(8, {});
constexpr double kMostFactor = 0.75;

// Streams that the default stream neither waits for nor is waited for by.
class Streams {
 public:
  explicit Streams(int count) : streams_(count) {
    for (cudaStream_t& stream : streams_) {
      cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    }
  }
  ~Streams() {
    for (const cudaStream_t stream : streams_) cudaStreamDestroy(stream);
  }
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;
  const cudaStream_t* data() const { return streams_.data(); }
  int count() const { return static_cast<int>(streams_.size()); }
  cudaStream_t operator[](int i) const { return streams_[i]; }

 private:
  std::vector<cudaStream_t> streams_;
};

using PinnedFloats = std::unique_ptr<float[], void (*)(float*)>;

PinnedFloats pinned(size_t n) {
  void* memory = nullptr;
  if (cudaMallocHost(&memory, n * sizeof(float)) != cudaSuccess) memory = nullptr;
  return PinnedFloats(static_cast<float*>(memory), [](float* p) { cudaFreeHost(p); });
}

struct Case {
  int n, terms, streams;
};
std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << c.n << " (" << c.streams << (c.streams == 1 ? " stream)" : " streams)");
}

// Runs one pipeline and compares its result. The host's results start as NaN.
kit::Run check(const Case& c) {
  const std::vector<float> x = kit::random_floats(c.n, -kMostFactor, kMostFactor);
  const PinnedFloats h_x = pinned(c.n), h_y = pinned(c.n);
  std::copy(x.begin(), x.end(), h_x.get());
  std::memset(h_y.get(), 0xFF, c.n * sizeof(float));
  const auto d_x = kit::DeviceBuffer<float>::output(c.n, "d_x");
  const auto d_y = kit::DeviceBuffer<float>::output(c.n, "d_y");
  const Streams streams(c.streams);
  std::vector<float> y;
  cudaError_t error = cudaSuccess;
  const kit::Run run = kit::run([&] {
    error = series_overlapped(h_x.get(), h_y.get(), d_x.get(), d_y.get(), c.n, c.terms,
                              streams.data(), streams.count());
    const uint64_t waits = wsim_api_calls("cudaStreamSynchronize") +
                           wsim_api_calls("cudaDeviceSynchronize") +
                           wsim_api_calls("cudaEventSynchronize");
    if (error == cudaSuccess && waits > 0) {
      kit::fail("series_overlapped waited " + std::to_string(waits) +
                " times. It only fills the streams; the caller waits when it needs h_y.");
    }
    // For these streams and for no other.
    for (int i = 0; i < streams.count(); ++i) cudaStreamSynchronize(streams[i]);
    y.assign(h_y.get(), h_y.get() + c.n);
    return error;
  });
  if (error != cudaSuccess) {
    kit::fail(std::string("series_overlapped returned ") + cudaGetErrorName(error) + ".");
  }
  kit::expect_near("h_y", y, series_on_cpu(x, c.terms), kTolerance);
  return run;
}

}  // namespace

TEST(Overlap, APieceIsCopiedInComputedAndCopiedOut) {
  RecordProperty("todo", 1);
  kit::for_each("n", std::vector<Case>{{1, 3, 1}, {1023, 3, 1}, {1025, 3, 3}}, check);
}

TEST(Overlap, AFewFloatsAreOnePiece) {
  RecordProperty("todo", 2);
  const kit::Run run = check({4096, 1, 3});
  kit::budget("pieces of 4096 floats", static_cast<double>(run.launches().size()), kit::at_most(1),
              "16 KiB are on the link for 0.3 microseconds, and every call costs more than that");
}

TEST(Overlap, ManyFloatsAreSeveralPieces) {
  RecordProperty("todo", 2);
  const kit::Run run = check({5 << 17, 1, 2});
  kit::budget("pieces of 655360 floats", static_cast<double>(run.launches().size()),
              kit::at_least(2), "With one piece nothing can lie beside anything else");
}

TEST(Overlap, TheLastPieceMayBeShorter) {
  RecordProperty("todo", 1);
  kit::for_each("n",
                std::vector<Case>{{(1 << 17) + 1, 1, 3}, {(1 << 17) + 255, 1, 1}, {3 << 17, 1, 2}},
                check);
}

// So many floats that they are many pieces, however these are cut. Some blocks of each launch run.
TEST(Overlap, ManyPiecesAreQueuedWithoutWaiting) {
  RecordProperty("todo", 1);
  const int n = 1 << 24;
  kit::at_largest("n = 2^24", [] {
    const PinnedFloats h_x = pinned(n), h_y = pinned(n);
    std::fill(h_x.get(), h_x.get() + n, 0.5f);
    const auto d_x = kit::DeviceBuffer<float>::output(n, "d_x");
    const auto d_y = kit::DeviceBuffer<float>::output(n, "d_y");
    const Streams streams(3);
    kit::run([&] {
      series_overlapped(h_x.get(), h_y.get(), d_x.get(), d_y.get(), n, 1, streams.data(),
                        streams.count());
      wsim_host_wait wait;
      if (wsim_get_host_wait(0, &wait) != 0) return;
      kit::fail(std::string("series_overlapped waited in ") + wait.call + " (" +
                std::filesystem::path(wait.file).filename().string() + ":" +
                std::to_string(wait.line) +
                "). However many pieces there are, it only fills the streams; the caller waits "
                "when it needs h_y.");
    });
  });
}

TEST(Overlap, StreamsArraysOfGigabytes) {
  RecordProperty("todo", 1);
  kit::at_largest(1 << 30, [](int n) {
    const auto h_x = kit::LargeHostFloats::input(n, "h_x", kit::HostPages::kPinned);
    const auto h_y = kit::LargeHostFloats::output(n, "h_y", kit::HostPages::kPinned);
    const auto d_x = kit::LargeArray<float>::output(n, "d_x");
    const auto d_y = kit::LargeArray<float>::output(n, "d_y");
    const Streams streams(3);
    kit::run([&] {
      series_overlapped(h_x.get(), h_y.get(), d_x.get(), d_y.get(), n, 2, streams.data(),
                        streams.count());
      for (int i = 0; i < streams.count(); ++i) cudaStreamSynchronize(streams[i]);
    });
    const auto series = [&](size_t i) { return 1 + static_cast<double>(h_x.get()[i]); };
    kit::expect_at_ends(h_y, series, kTolerance);
  });
}

TEST(Overlap, IsFast) {
  RecordProperty("todo", 2);
  const int n = kit::work_scale(1 << 20, 1 << 26);
  // On an H200 (2026-11-21) the kernel takes 2.4 ms, a copy 4.9 ms, both copies together 5.3 ms.
  const int terms = kit::work_scale(1, 500);
  const size_t bytes = n * sizeof(float);
  kit::Speed speed;
  const kit::Values factors = kit::Values::uniform(-kMostFactor, kMostFactor);
  const auto h_x = speed.host_input<float>(n, "h_x", kit::pinned_memory(), factors);
  const auto h_y = speed.host_output<float>(n, "h_y", kit::pinned_memory());
  const auto d_x = speed.output<float>(n, "d_x");
  const auto d_y = speed.output<float>(n, "d_y");
  const int ideal_n = kit::work_scale(1, n);  // the simulator does not judge the ideal
  const auto other_x = speed.input<float>(ideal_n, "other_x", factors);
  const auto other_y = speed.input<float>(ideal_n, "other_y", factors);
  const Streams streams(3);
  speed.whole_call();
  speed.launch([&] {
    series_overlapped(h_x.get(), h_y.get(), d_x.get(), d_y.get(), n, terms, streams.data(),
                      streams.count());
  });
  speed.expect(
      h_y, [&](size_t i) { return series_on_cpu({h_x.at(i)}, terms)[0]; }, kTolerance);
  const auto serial = [&] {
    series_serial(h_x.get(), h_y.get(), d_x.get(), d_y.get(), n, terms, streams[0]);
  };
  // The three parts at the same time, none waiting for another, so on arrays of their own.
  const auto ideal = [&] {
    cudaMemcpyAsync(d_x.get(), h_x.get(), bytes, cudaMemcpyHostToDevice, streams[0]);
    launch_geometric_series(other_x.get(), d_y.get(), n, terms, streams[1]);
    cudaMemcpyAsync(h_y.get(), other_y.get(), bytes, cudaMemcpyDeviceToHost, streams[2]);
  };
  speed.against(kit::stage("one stream", serial), kit::Bars(1.25));
  // Measured there: 92 % with 32 pieces, 85 % with 8, 73 % with 256. In the simulator the arrays
  // are so small that the calls of the host decide.
  speed.against(kit::limit("ideal overlap", ideal).on_gpu_only(), kit::Bars(0.8, 0.8, 0.9));
  speed.grade();
}
