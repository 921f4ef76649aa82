// Timing on a GPU.
//
// A round calls every contender once, in turning order. Before each call the inputs get new values,
// the outputs are poisoned, and the L2 is filled with something else by reading. The call is queued
// while a small kernel holds the stream, so that launch latency is not part of the time; events on
// the default stream take it.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>

#include "kit/context.h"
#include "kit/speed/gpu.h"
#include "kit/speed/measurement.h"

namespace kit::internal {
namespace {

constexpr size_t kLeastRounds = 15, kMostRounds = 200, kLeastSlowRounds = 7;
constexpr double kMostSeconds = 2;  // of device time, all contenders together
constexpr double kMostCheckSeconds = 1.5;
constexpr double kWantedWidth = 0.015;              // half of the 98 % interval, relative
constexpr double kTensorCores = 32;                 // times the FMA rate: more than any card has
constexpr double kHoldSeconds = 0.005;              // longest time that a stream is held
constexpr double kSaneCopy = 0.55, kSaneFma = 0.5;  // shares of limits, else the card is not fit

// FP32 units of one multiprocessor (CUDA C++ Programming Guide, arithmetic instructions).
int fp32_units(int major, int minor) {
  if (major == 7 || (major == 8 && minor == 0)) return 64;
  return 128;
}

int attribute(cudaDeviceAttr name) {
  int value = 0, device = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&value, name, device);
  return value;
}

struct Card {
  std::string name;
  int multiprocessors;
  size_t l2_bytes, free_bytes;
  Limits limits;

  Card() {
    int device = 0;
    cudaGetDevice(&device);
    cudaDeviceProp properties;
    cudaGetDeviceProperties(&properties, device);
    name = properties.name;
    multiprocessors = properties.multiProcessorCount;
    l2_bytes = static_cast<size_t>(properties.l2CacheSize);
    size_t total = 0;
    cudaMemGetInfo(&free_bytes, &total);
    // Two transfers per memory clock. Clocks are in kHz.
    limits.bytes_per_second = 2.0 * attribute(cudaDevAttrMemoryClockRate) * 1e3 *
                              attribute(cudaDevAttrGlobalMemoryBusWidth) / 8;
    limits.flops_per_second = 2.0 * attribute(cudaDevAttrClockRate) * 1e3 * multiprocessors *
                              fp32_units(properties.major, properties.minor);
  }
};

// A block of device memory that is freed with its owner.
class Memory {
 public:
  explicit Memory(size_t bytes) {
    if (cudaMalloc(&data_, bytes) != cudaSuccess) data_ = nullptr;
  }
  ~Memory() { cudaFree(data_); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  void* get() const { return data_; }

 private:
  void* data_ = nullptr;
};

// Times one call at a time.
class Clock {
 public:
  Clock() {
    cudaEventCreate(&begin_);
    cudaEventCreate(&end_);
    cudaHostAlloc(reinterpret_cast<void**>(&flags_), 2 * sizeof(unsigned), cudaHostAllocMapped);
  }
  ~Clock() {
    cudaEventDestroy(begin_);
    cudaEventDestroy(end_);
    cudaFreeHost(flags_);
  }
  Clock(const Clock&) = delete;
  Clock& operator=(const Clock&) = delete;

  // By events, with the launch hidden. Negative after a CUDA error.
  double by_events(const std::function<void()>& call) {
    volatile unsigned* go = flags_;
    go[0] = 0;
    go[1] = 0;
    if (hides_launches_) hold(flags_, flags_ + 1, kHoldSeconds);
    cudaEventRecord(begin_);
    call();
    cudaEventRecord(end_);
    go[0] = 1;
    if (cudaDeviceSynchronize() != cudaSuccess) return -1;
    // The call waited for the device itself: there is nothing to hide.
    if (go[1] != 0) hides_launches_ = false;
    float milliseconds = 0;
    cudaEventElapsedTime(&milliseconds, begin_, end_);
    return milliseconds * 1e-3;
  }

  // By the clock on the wall, from before the call until all devices are idle.
  static double by_wall(const std::function<void()>& call) {
    const OnDevice scope(current_device());
    synchronize_devices();
    const auto begin = std::chrono::steady_clock::now();
    call();
    if (synchronize_devices() != cudaSuccess) return -1;
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
    return time.count();
  }

 private:
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
  unsigned* flags_ = nullptr;  // go, expired
  bool hides_launches_ = true;
};

class GpuMeasurement {
 public:
  explicit GpuMeasurement(Measurement& m)
      : m_(m), flush_(2 * card_.l2_bytes), sink_(256), order_(seed()) {}

  Timings run() {
    result_.device = card_.name;
    if (!allocate() || !warm_up() || !is_sane()) return std::move(result_);
    sample(1);
    if (result_.problem.empty() && !is_decided()) sample(4);
    if (result_.problem.empty()) cross_check();
    judge_possible();
    return std::move(result_);
  }

 private:
  // As many copies of the arrays as make four times the L2, and at least two.
  bool allocate() {
    const size_t per_set = std::max<size_t>(m_.bytes_per_set(), 1);
    const size_t wanted = (4 * card_.l2_bytes + per_set - 1) / per_set;
    const size_t room = card_.free_bytes / 2 / per_set;
    sets_ = std::clamp<size_t>(std::min(wanted, room), 2, 8);
    result_.problem = m_.allocate(sets_);
    if (result_.problem.empty()) add_contenders();
    return result_.problem.empty();
  }

  void add_contenders() {
    result_.contenders.push_back({"yours", m_.launch, 1, {}});
    for (const Bar* bar : m_.counted_bars()) {
      Contender contender{bar->baseline.name, bar->baseline.launch, 1, {}};
      if (bar->baseline.kind == Baseline::Kind::kCopyRate) contender = copy_contender();
      if (bar->baseline.kind == Baseline::Kind::kReadRate) contender = read_contender();
      if (bar->baseline.kind == Baseline::Kind::kFmaRate) contender = fma_contender();
      result_.contenders.push_back(contender);
    }
  }

  size_t ceiling_bytes() const {
    const size_t wanted = std::max<size_t>(size_t{256} << 20, 4 * card_.l2_bytes);
    return std::min(wanted, card_.free_bytes / 16) & ~size_t{4095};
  }

  Contender copy_contender() {
    const size_t bytes = ceiling_bytes();
    if (copy_ == nullptr) copy_ = std::make_unique<Memory>(2 * bytes);
    unsigned char* data = static_cast<unsigned char*>(copy_->get());
    const auto launch = [=] {
      cudaMemcpyAsync(data, data + bytes, bytes, cudaMemcpyDeviceToDevice);
    };
    return {copy_rate().name, launch, 2.0 * static_cast<double>(bytes), {}};
  }

  Contender read_contender() {
    const size_t bytes = 2 * ceiling_bytes();
    if (copy_ == nullptr) copy_ = std::make_unique<Memory>(bytes);
    void* data = copy_->get();
    unsigned* sink = static_cast<unsigned*>(sink_.get());
    return {read_rate().name, [=] { read_all(data, bytes, sink); }, static_cast<double>(bytes), {}};
  }

  Contender fma_contender() {
    constexpr int kRounds = 4096;
    float* sink = static_cast<float*>(sink_.get());
    const int multiprocessors = card_.multiprocessors;
    const double flops = multiply_add_all(multiprocessors, 1, sink) * kRounds;
    return {fma_rate().name, [=] { multiply_add_all(multiprocessors, kRounds, sink); }, flops, {}};
  }

  void before_call(size_t set) {
    cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 0);
    cudaCtxResetPersistingL2Cache();
    m_.prepare(set, ++content_ ^ order_);
    read_all(flush_.get(), 2 * card_.l2_bytes & ~size_t{15}, static_cast<unsigned*>(sink_.get()));
    // Work on other streams must find everything ready as well.
    synchronize_devices();
    cudaGetLastError();  // a limit that this card does not have
  }

  double time_call(const std::function<void()>& call) {
    before_call(next_set());
    return m_.whole_call ? Clock::by_wall(call) : clock_.by_events(call);
  }

  // Not in turn: which memory a call gets must not be a pattern.
  size_t next_set() { return mix64(++draws_ ^ order_) % sets_; }

  bool fails(const std::string& what) {
    const cudaError_t error = cudaGetLastError();
    if (error == cudaSuccess) return false;
    result_.problem = what + " failed: " + cudaGetErrorString(error) + ".";
    return true;
  }

  double time_contender(const Contender& contender) {
    const bool is_graded = &contender == &result_.contenders.front();
    report_at_work(is_graded ? "" : "measuring " + contender.name);
    return time_call(contender.launch);
  }

  // Twice, because the second call must be as right as the first.
  bool warm_up() {
    for (int i = 0; i < 2; ++i) {
      if (!call_and_check()) return false;
    }
    for (Contender& contender : result_.contenders) {
      time_contender(contender);
      if (fails(contender.name)) return false;
    }
    return true;
  }

  bool call_and_check() {
    report_at_work("");
    time_call(m_.launch);
    if (fails("A timed call")) return false;
    return is_right();
  }

  bool is_right() {
    const auto begin = std::chrono::steady_clock::now();
    result_.problem = m_.check_results(++draws_ ^ order_);
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
    check_seconds_ += time.count();
    return result_.problem.empty();
  }

  // A card that does not reach half of its own data sheet is busy, throttled or shared.
  bool is_sane() {
    if (card_.limits.bytes_per_second > 0 &&
        !is_sane(copy_contender(), kSaneCopy, "copies", card_.limits.bytes_per_second)) {
      return false;
    }
    const bool uses_fma = std::any_of(m_.bars.begin(), m_.bars.end(), [](const Bar& bar) {
      return bar.baseline.kind == Baseline::Kind::kFmaRate ||
             bar.baseline.kind == Baseline::Kind::kLibrary;
    });
    if (!uses_fma) return true;
    const Contender fma = fma_contender();
    if (card_.limits.flops_per_second > 0 &&
        !is_sane(fma, kSaneFma, "computes", card_.limits.flops_per_second)) {
      return false;
    }
    return !cublas().missing.empty() || multiplies_sanely(fma);
  }

  // The library that many bars are shares of must itself reach half of what this card computes now.
  bool multiplies_sanely(const Contender& fma) {
    const int n = card_.multiprocessors < 60 ? 2048 : 4096;
    const size_t bytes = sizeof(float) * n * n;
    const Memory matrices(3 * bytes);
    float* const a = static_cast<float*>(matrices.get());
    if (a == nullptr) return true;  // no room: the card is judged by the other figures
    cudaMemset(a, 0, 3 * bytes);
    const size_t elements = bytes / sizeof(float);
    const auto product = [=] { cublas_sgemm(a, a + elements, a + 2 * elements, n, n, n); };
    product();  // the first call makes the handle
    std::vector<double> seconds;
    for (int i = 0; i < 5; ++i) seconds.push_back(clock_.by_events(fma.launch));
    return is_sane({"cuBLAS", product, 2.0 * n * n * n, {}}, kSaneFma, "multiplies with cuBLAS",
                   fma.amount / median(seconds), "what it computes in registers");
  }

  bool is_sane(const Contender& ceiling, double least, const char* verb, double limit,
               const char* limit_name = "its data sheet") {
    std::vector<double> seconds;
    for (int i = 0; i < 7; ++i) seconds.push_back(clock_.by_events(ceiling.launch));
    const double share = ceiling.amount / median(seconds) / limit;
    if (share >= least) return true;
    result_.inconclusive =
        "This card " + std::string(verb) + " at only " +
        std::to_string(static_cast<int>(100 * share)) + " % of " + limit_name +
        " now: it is busy, throttled or shared. Run it again when nothing else does.";
    return false;
  }

  void sample(size_t patience) {
    double spent = 0;
    while (!is_enough(spent, patience)) {
      const size_t round = rounds();
      const size_t n = result_.contenders.size();
      const bool checks = mix64(++draws_ ^ order_) % 2 == 0 && check_seconds_ < kMostCheckSeconds;
      for (size_t k = 0; k < n; ++k) {
        const size_t which = round % 2 == 0 ? k : n - 1 - k;
        Contender& contender = result_.contenders[which];
        const double seconds = time_contender(contender);
        if (fails(which == 0 ? "A timed call" : contender.name)) return;
        contender.seconds.push_back(seconds);
        spent += seconds;
        if (which == 0 && checks && !is_right()) return;
      }
    }
    call_and_check();
  }

  size_t rounds() const { return result_.contenders.back().seconds.size(); }

  bool is_enough(double spent, size_t patience) const {
    const size_t n = rounds();
    if (n >= kMostRounds * patience) return true;
    if (spent >= kMostSeconds * static_cast<double>(patience)) return n >= kLeastSlowRounds;
    if (n < kLeastRounds * patience) return false;
    for (size_t k = 1; k < result_.contenders.size(); ++k) {
      if (ratio(k).half_width() > kWantedWidth) return false;
    }
    return true;
  }

  Estimate ratio(size_t which) const {
    const std::vector<double>& yours = result_.contenders[0].seconds;
    const std::vector<double>& other = result_.contenders[which].seconds;
    std::vector<double> ratios;
    for (size_t i = 0; i < std::min(yours.size(), other.size()); ++i) {
      ratios.push_back(other[i] / yours[i]);
    }
    return estimate(ratios);
  }

  bool is_decided() const {
    for (size_t k = 1; k < result_.contenders.size(); ++k) {
      if (ratio(k).half_width() > 2 * kWantedWidth) return false;
    }
    return !looks_busy(result_.contenders[0].seconds);
  }

  // Work on another stream or host thread escapes the events, not the clock on the wall.
  void cross_check() {
    if (m_.whole_call) return;
    std::vector<double> walls, launches;
    for (int i = 0; i < 5; ++i) {
      before_call(next_set());
      walls.push_back(Clock::by_wall(m_.launch));
      launches.push_back(Clock::by_wall(launch_nothing));
    }
    const double events = median(result_.contenders[0].seconds);
    const double wall = median(walls), launch = median(launches);
    // A call may launch several kernels; what it costs the host to do so is no hidden work.
    const double allowed = 1.3 * events + 20 * launch + 50e-6;
    if (wall <= allowed) return;
    char text[256];
    std::snprintf(text, sizeof text,
                  "By the clock on the wall a call takes %.3g ms, on the stream that is timed only "
                  "%.3g ms: the rest of the work is done elsewhere (another stream, a host thread, "
                  "the CPU), where it is not timed. Launch on the default stream.",
                  wall * 1e3, events * 1e3);
    result_.problem = text;
  }

  void judge_possible() {
    Limits limits = card_.limits;
    if (m_.on_tensor_cores) limits.flops_per_second *= kTensorCores;
    result_.least_seconds = least_seconds(limits, m_.bytes, m_.flops);
    const bool beyond_cache =
        static_cast<double>(m_.bytes) >= 4.0 * static_cast<double>(card_.l2_bytes);
    const double fastest = median(result_.contenders[0].seconds);
    result_.impossible =
        result_.problem.empty() && beyond_cache && fastest > 0 && fastest < result_.least_seconds;
  }

  Measurement& m_;
  Card card_;
  Memory flush_, sink_;
  std::unique_ptr<Memory> copy_;
  Clock clock_;
  Timings result_;
  size_t sets_ = 2;
  uint64_t order_, content_ = 0, draws_ = 0;
  double check_seconds_ = 0;
};

}  // namespace

Timings measure(Measurement& measurement) { return GpuMeasurement(measurement).run(); }

}  // namespace kit::internal
