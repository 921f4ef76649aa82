// Tests of 06/05 host callback.
#include "05_host_callback.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <climits>
#include <cmath>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>

#include "kit/kit.h"
#include "kit/special_values.h"
#include "kit/stream.h"

namespace {

struct Pieces {
  int n, length;
  int count() const { return (n - 1) / length + 1; }
};
std::ostream& operator<<(std::ostream& out, const Pieces& p) {
  return out << p.n << ", in pieces of " << p.length;
}

// One download, and what was seen while it was queued, on its way and done.
class Download {
 public:
  explicit Download(const Pieces& pieces) : Download(pieces, kit::random_floats(pieces.n)) {}
  Download(const Pieces& pieces, const std::vector<float>& x)
      : pieces_(pieces), x_(x), arrivals_(pieces.count()) {
    void* memory = nullptr;
    // NaN, also behind the end: a sum that is made too early, or of too many elements, shows.
    const size_t bytes = (pieces.n + std::min(pieces.n, pieces.length)) * sizeof(float);
    cudaMallocHost(&memory, bytes);
    h_x_ = static_cast<float*>(memory);
    std::memset(h_x_, 0xFF, bytes);
    cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking);
    const auto d_x = kit::DeviceBuffer<float>::input(x_, "d_x");
    kit::run([&] {
      const cudaError_t error = enqueue_download(d_x.get(), h_x_, pieces.n, pieces.length,
                                                 arrivals_.data(), &report_, stream_);
      pieces_at_return_ = report_.pieces;
      functions_ = wsim_api_calls("cudaLaunchHostFunc") + wsim_api_calls("cudaStreamAddCallback");
      busy_at_return_ = cudaStreamQuery(stream_) == cudaErrorNotReady;
      cudaGetLastError();  // "not ready" is remembered like an error
      cudaStreamSynchronize(stream_);
      // Complete once this stream has ended, whatever others do.
      sum_ = report_.sum;
      counted_ = report_.pieces;
      if (error != cudaSuccess) {
        kit::fail(std::string("enqueue_download returned ") + cudaGetErrorName(error) + ".");
      }
    });
  }
  ~Download() {
    cudaStreamDestroy(stream_);
    cudaFreeHost(h_x_);
  }
  Download(const Download&) = delete;
  Download& operator=(const Download&) = delete;

  void expect_everything_arrived() const {
    kit::expect_equal_or_nan("h_x", std::vector<float>(h_x_, h_x_ + pieces_.n), x_,
                             "Each element arrives as it is.");
  }

  void expect_right_sum() const {
    double expected = 0, magnitude = 0;  // in any order: far closer than one element
    for (const float value : x_) {
      expected += value;
      magnitude += std::fabs(value);
    }
    if (!std::isfinite(expected)) return expect_special_sum(expected);
    if (!(std::fabs(sum_ - expected) <= 1e-12 * magnitude)) {
      char text[160];
      std::snprintf(text, sizeof text,
                    "When the stream had ended, the sum of the pieces was %.12g, not %.12g. ", sum_,
                    expected);
      const bool nearly = std::fabs(sum_ - expected) <= 1e-5 * magnitude;
      kit::fail(std::string(text) +
                (nearly ? "Digits are lost: the sum of each piece must be a double, too."
                        : "Does every piece have an Arrival of its own, with its own length? One "
                          "that is written again before its host function has run sends that "
                          "function to another piece, which may not have arrived."));
    }
  }

  void expect_special_sum(double expected) const {
    if (sum_ == expected || (std::isnan(sum_) && std::isnan(expected))) return;
    kit::fail("When the stream had ended, the sum of the pieces was " + std::to_string(sum_) +
              ", not " + std::to_string(expected) + ". " + kit::kSpecialSums);
  }

  void expect_all_counted() const {
    if (counted_ != pieces_.count()) {
      kit::fail("When the stream had ended, " + std::to_string(counted_) +
                " pieces were counted, not " + std::to_string(pieces_.count()) + ".");
    }
  }

  int pieces_at_return() const { return pieces_at_return_; }
  bool busy_at_return() const { return busy_at_return_; }
  uint64_t functions() const { return functions_; }

 private:
  Pieces pieces_;
  std::vector<float> x_;
  std::vector<Arrival> arrivals_;
  Report report_;
  float* h_x_ = nullptr;
  cudaStream_t stream_ = nullptr;
  double sum_ = 0;   // when the stream had ended
  int counted_ = 0;  // likewise
  int pieces_at_return_ = 0;
  bool busy_at_return_ = false;
  uint64_t functions_ = 0;
};

}  // namespace

TEST(HostCallback, AHostFunctionIsQueuedBehindEveryPiece) {
  RecordProperty("todo", 2);
  const Pieces pieces{1000, 128};
  const Download download(pieces);
  if (kit::simulated() && download.functions() != static_cast<uint64_t>(pieces.count())) {
    kit::fail(std::to_string(pieces.count()) + " pieces need " + std::to_string(pieces.count()) +
              " host functions; " + std::to_string(download.functions()) +
              " were put into the stream (cudaLaunchHostFunc).");
  }
  download.expect_everything_arrived();
}

TEST(HostCallback, EveryPieceIsCounted) {
  RecordProperty("todo", 1);
  kit::for_each("n", std::vector<Pieces>{{256, 64}, {7, 1}},
                [](const Pieces& pieces) { Download(pieces).expect_all_counted(); });
}

TEST(HostCallback, TheSumHoldsEveryElementOnce) {
  RecordProperty("todo", 1);
  kit::for_each(
      "n",
      std::vector<Pieces>{{256, 64}, {1, 1}, {1025, 256}, {1023, 256}, {100, 1000}, {100, INT_MAX}},
      [](const Pieces& pieces) {
        const Download download(pieces);
        download.expect_everything_arrived();
        download.expect_right_sum();
      });
}

// Elements may be any floats, and a double holds what two of them are together.
TEST(HostCallback, SpecialElementsAreInTheSum) {
  RecordProperty("todo", 1);
  const Pieces pieces{1000, 300};
  const auto check = [&](const std::vector<float>& x) {
    const Download download(pieces, x);
    download.expect_everything_arrived();
    download.expect_right_sum();
    download.expect_all_counted();
  };
  kit::for_each_special_sum(pieces.n, check);
  kit::Cases cases;
  cases.run("x = zeros", [&] { check(std::vector<float>(pieces.n, 0.0f)); });
  cases.run("x = largest floats", [&] { check(std::vector<float>(pieces.n, 3.4e38f)); });
}

// A report in memory of its own, of which the first write is seen: it ends in a fault, and goes on.
struct Watched {
  static constexpr size_t kPage = 1 << 16;
  static void* page;
  static std::atomic<long> first_write;  // offset in the report; -1: none yet
  static struct sigaction others;

  static void on_fault(int signal, siginfo_t* info, void* context) {
    const char* at = static_cast<const char*>(info->si_addr);
    const long offset = at - static_cast<const char*>(page);
    if (offset >= 0 && offset < static_cast<long>(kPage)) {
      first_write = offset;
      mprotect(page, kPage, PROT_READ | PROT_WRITE);
    } else if ((others.sa_flags & SA_SIGINFO) != 0) {
      others.sa_sigaction(signal, info, context);
    } else {
      sigaction(signal, &others, nullptr);
    }
  }
};
void* Watched::page = nullptr;
std::atomic<long> Watched::first_write{-1};
struct sigaction Watched::others = {};

TEST(HostCallback, CallsThatFailAreReported) {
  RecordProperty("todo", 2);
  constexpr int kCount = 1000, kLength = 300;
  const std::vector<float> x = kit::random_floats(kCount);
  const auto d_x = kit::DeviceBuffer<float>::input(x, "d_x");
  std::vector<Arrival> arrivals(4);
  Report report;
  const kit::Stream stream;
  void* memory = nullptr;
  cudaMallocHost(&memory, kCount * sizeof(float));
  float* const h_x = static_cast<float*>(memory);
  std::fill(h_x, h_x + kCount, 0.0f);
  kit::run([&] {
    const cudaError_t error =
        enqueue_download(d_x.get(), h_x, kCount, kLength, arrivals.data(), &report, stream.get());
    cudaStreamSynchronize(stream.get());
    return error;
  });
  kit::expect_equal("h_x", std::vector<float>(h_x, h_x + kCount), x);
  cudaFreeHost(memory);
}

TEST(HostCallback, WhoSeesTheCountFindsTheSum) {
  RecordProperty("todo", 1);
  if (!kit::simulated()) return;
  Watched::page =
      mmap(nullptr, Watched::kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  auto* const report = new (Watched::page) Report;
  const std::vector<float> x = kit::random_floats(64, 1.0f, 2.0f);
  void* memory = nullptr;
  cudaMallocHost(&memory, x.size() * sizeof(float));
  const kit::Stream stream;
  Arrival arrival = {};
  const auto d_x = kit::DeviceBuffer<float>::input(x, "d_x");
  enqueue_download(d_x.get(), static_cast<float*>(memory), 64, 64, &arrival, report, stream.get());
  // Nothing has run yet: it does when somebody waits.
  struct sigaction ours = {};
  ours.sa_sigaction = Watched::on_fault;
  ours.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &ours, &Watched::others);
  Watched::first_write = -1;
  mprotect(Watched::page, Watched::kPage, PROT_READ);
  cudaStreamSynchronize(stream.get());
  mprotect(Watched::page, Watched::kPage, PROT_READ | PROT_WRITE);
  sigaction(SIGSEGV, &Watched::others, nullptr);
  const bool counted_first = Watched::first_write == static_cast<long>(offsetof(Report, pieces));
  cudaFreeHost(memory);
  munmap(Watched::page, Watched::kPage);
  if (!counted_first) return;
  kit::fail(
      "The host function raised report->pieces before it wrote report->sum. Another thread that "
      "looks in between finds a piece counted whose elements are not in the sum. Add first, count "
      "then.");
}

// The second call is made while nothing of the first one has run, and the report has pieces of
// other downloads.
TEST(HostCallback, TwoDownloadsMayBeUnderWay) {
  RecordProperty("todo", 2);
  constexpr int kCount = 700, kLength = 128, kPieces = 6, kEarlier = 3;
  constexpr double kEarlierSum = 1000;
  const std::vector<float> x = kit::random_floats(2 * kCount);
  const auto d_x = kit::DeviceBuffer<float>::input(x, "d_x");
  std::vector<Arrival> arrivals(2 * kPieces);
  Report report;
  const kit::Stream stream;
  void* memory = nullptr;
  cudaMallocHost(&memory, x.size() * sizeof(float));
  float* const h_x = static_cast<float*>(memory);
  kit::run([&] {
    std::memset(h_x, 0xFF, x.size() * sizeof(float));
    report.sum = kEarlierSum;
    report.pieces = kEarlier;
    for (int k = 0; k < 2; ++k) {
      enqueue_download(d_x.get() + k * kCount, h_x + k * kCount, kCount, kLength,
                       arrivals.data() + k * kPieces, &report, stream.get());
    }
    cudaStreamSynchronize(stream.get());
  });
  kit::expect_equal("h_x", std::vector<float>(h_x, h_x + x.size()), x);
  cudaFreeHost(memory);
  double sum = kEarlierSum, magnitude = kEarlierSum;
  for (const float value : x) sum += value, magnitude += std::fabs(value);
  if (report.pieces == kEarlier + 2 * kPieces && std::fabs(report.sum - sum) <= 1e-12 * magnitude)
    return;
  kit::fail("Two downloads of " + std::to_string(kPieces) +
            " pieces each were queued behind each other, with a report that had counted " +
            std::to_string(kEarlier) + " pieces already. When the stream had ended, it counted " +
            std::to_string(report.pieces) + " pieces, and their sum was " +
            std::to_string(report.sum) + ", not " + std::to_string(sum) +
            ". A call adds to what the report holds, and all that its host functions need is in "
            "the arrivals that it was given: another call may come before they have run.");
}

TEST(HostCallback, TheCallerDoesNotWait) {
  RecordProperty("todo", 2);
  const Pieces pieces{kit::work_scale(4096, 1 << 24), kit::work_scale(512, 1 << 20)};
  const Download download(pieces);
  if (!download.busy_at_return() || download.pieces_at_return() == pieces.count()) {
    kit::fail(
        "When enqueue_download returned, the stream had nothing left to do. The adding up "
        "belongs into the host functions, and nobody waits for them here.");
  }
  download.expect_right_sum();
}
