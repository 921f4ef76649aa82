// ptx_fuzz: damaged PTX and odd launches, as many as the time allows. Whatever goes in, the
// simulator answers with a module, a result or an error that points at the text: it does not crash,
// hang, grow without bound or (in a build with sanitizers) do what C++ leaves undefined. Cases are
// numbered; the number and the files make the case.
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "core/finding.h"
#include "exec/launch.h"
#include "fuzz/mutate.h"
#include "memory/device_memory.h"
#include "random/generator.h"
#include "runtime/launch_refusal.h"
#include "tools/ptx_table.h"

namespace warplings::sim::fuzz {
namespace {

namespace fs = std::filesystem;
using random::Generator;

// A case that takes longer hangs: of the processor, or, if it only waits, of time.
constexpr unsigned kCaseSeconds = 20, kWaitSeconds = 600;
constexpr uint64_t kCasesPerProcess = 150;
constexpr size_t kBufferBytes = 1 << 14;
#ifdef __SANITIZE_ADDRESS__
constexpr long kMostMegabytes = 3000;
#else
constexpr long kMostMegabytes = 1000;
#endif

enum Outcome { kParseError, kNoKernel, kRefused, kRan, kFault, kUnsupported, kOutcomes };
constexpr const char* kOutcomeNames[] = {"errors", "without a kernel", "launches refused",
                                         "ran",    "faults",           "unsupported"};

// Shared with the parent, so that it knows where a process died.
struct Progress {
  uint64_t current = 0;
  uint64_t outcomes[kOutcomes] = {};
  char complaint[256] = {};
};

struct Case {
  std::string text;
  LaunchConfig config;
  uint64_t pointers = 0;  // decides the arguments
};

unsigned any_size(Generator& random) {
  static constexpr unsigned kSizes[] = {0,  1,    2,    31,    32,         33,         64,
                                        96, 1023, 1024, 65535, 0x7fffffff, 0x80000000, 0xffffffff};
  return random.chance(60) ? 1 + random.below(3) : kSizes[random.below(std::size(kSizes))];
}

Case make_case(const std::vector<std::string>& texts, uint64_t number) {
  Generator random(number * 0x9e3779b97f4a7c15u + 7);
  Case result;
  const std::string& text = texts[random.below(texts.size())];
  const std::string& other = texts[random.below(texts.size())];
  // Some texts stay whole: then the launch is what is odd.
  result.text = random.chance(10) ? text : mutate(text, other, random);
  LaunchConfig& config = result.config;
  config.grid = {any_size(random), random.chance(80) ? 1 : any_size(random),
                 random.chance(80) ? 1 : any_size(random)};
  config.block = {random.chance(50) ? 32 : any_size(random),
                  random.chance(80) ? 1 : any_size(random),
                  random.chance(80) ? 1 : any_size(random)};
  static constexpr size_t kShared[] = {
      0, 1, 16, 4096, 48 * 1024, 227 * 1024, size_t{1} << 32, ~size_t{0}};
  config.dynamic_shared = random.chance(70) ? 0 : kShared[random.below(std::size(kShared))];
  config.cooperative = random.chance(5);
  result.pointers = random.bits();
  return result;
}

// Good pointers more often than others; null, misaligned, past the end, host addresses, garbage.
uint64_t any_argument(Generator& random, uint64_t buffer) {
  static uint64_t host = 0;
  switch (random.below(10)) {
    case 0:
      return 0;
    case 1:
      return buffer + 1 + random.below(15);
    case 2:
      return buffer + kBufferBytes - 8;
    case 3:
      return reinterpret_cast<uint64_t>(&host);
    case 4:
      return random.bits();
    case 5:
      return ~uint64_t{0} - random.below(64);
    default:
      return buffer;
  }
}

Outcome launch(LoadedModule* module, const Case& one) {
  const std::vector<const Kernel*> kernels = kernels_of(module);
  if (kernels.empty()) return kNoKernel;
  Generator random(one.pointers);
  const Kernel& kernel = *kernels[random.below(kernels.size())];
  const int most_shared = random.chance(50) ? -1 : 227 * 1024;
  if (check_launch(kernel, one.config, most_shared, false).error != cudaSuccess) {
    return kRefused;
  }
  DeviceMemory& memory = DeviceMemory::instance();
  const uint64_t buffer = memory.allocate(kBufferBytes, AllocationKind::kDevice, "buffer");
  memory.mark_defined(buffer, kBufferBytes / 2);
  std::vector<uint8_t> params(std::max<size_t>(kernel.param_bytes, 16));
  for (size_t i = 0; i + 8 <= params.size(); i += 8) {
    const uint64_t value = any_argument(random, buffer);
    std::memcpy(params.data() + i, &value, 8);
  }
  const LaunchStatus status = run_kernel(kernel, one.config, params.data());
  memory.free(buffer);
  return status == LaunchStatus::kOk            ? kRan
         : status == LaunchStatus::kUnsupported ? kUnsupported
                                                : kFault;
}

// An error names the file, and shows the line with a caret.
void check_error(const std::string& message, Progress& progress) {
  const bool points = message.rfind("fuzz.ptx:", 0) == 0 && message.find('^') != std::string::npos;
  if (points) return;
  std::snprintf(progress.complaint, sizeof(progress.complaint),
                "the error does not point at the text: %s", message.c_str());
  std::abort();
}

Outcome run_case(const Case& one, Progress& progress) {
  FindingLog::instance().clear();
  try {
    return launch(load_module(ptx::parse(one.text, "fuzz.ptx")), one);
  } catch (const ptx::ParseError& error) {
    check_error(error.what(), progress);
    return kParseError;
  } catch (const std::bad_alloc&) {
    return kParseError;  // variables that are larger than the device
  }
}

void limit_time() {
  itimerval limit{};
  limit.it_value.tv_sec = kCaseSeconds;
  setitimer(ITIMER_PROF, &limit, nullptr);
  alarm(kWaitSeconds);
}

// In a child: cases [begin, end).
[[noreturn]] void run_cases(const std::vector<std::string>& texts, uint64_t begin, uint64_t end,
                            Progress& progress) {
  engine_options().max_warp_instructions = 20'000;
  for (uint64_t number = begin; number < end; ++number) {
    progress.current = number;
    limit_time();
    const Outcome outcome = run_case(make_case(texts, number), progress);
    ++progress.outcomes[outcome];
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    if (usage.ru_maxrss / 1024 > kMostMegabytes) {
      std::snprintf(progress.complaint, sizeof(progress.complaint), "%ld MB of memory were used",
                    usage.ru_maxrss / 1024);
      std::abort();
    }
  }
  _exit(0);
}

std::string end_of(int status) {
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    return signal == SIGALRM || signal == SIGPROF ? "hangs" : strsignal(signal);
  }
  return "status " + std::to_string(WEXITSTATUS(status));
}

struct Options {
  double seconds = 5;
  uint64_t first = 0;
  uint64_t count = ~uint64_t{0} / 2;
  fs::path save;
  std::vector<std::string> texts;
};

class Fuzzer {
 public:
  explicit Fuzzer(Options options) : options_(std::move(options)) {
    void* shared =
        mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    progress_ = shared == MAP_FAILED ? nullptr : new (shared) Progress;
  }

  int run() {
    if (progress_ == nullptr) return 2;
    const auto start = std::chrono::steady_clock::now();
    const uint64_t end = options_.first + options_.count;
    uint64_t next = options_.first;
    while (next < end && seconds_since(start) < options_.seconds) {
      next = batch(next, std::min(next + kCasesPerProcess, end));
    }
    std::printf("%llu cases:", static_cast<unsigned long long>(next - options_.first));
    for (int i = 0; i < kOutcomes; ++i) {
      std::printf(" %llu %s%s", static_cast<unsigned long long>(progress_->outcomes[i]),
                  kOutcomeNames[i], i + 1 < kOutcomes ? "," : "\n");
    }
    std::printf("%d failed\n", failed_);
    return failed_ == 0 ? 0 : 1;
  }

 private:
  static double seconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

  // Returns the case to go on with.
  uint64_t batch(uint64_t begin, uint64_t end) {
    std::fflush(stdout);
    progress_->current = begin;
    progress_->complaint[0] = '\0';
    const pid_t child = fork();
    if (child == 0) run_cases(options_.texts, begin, end, *progress_);
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return end;
    report(progress_->current, status);
    return progress_->current + 1;
  }

  void report(uint64_t number, int status) {
    ++failed_;
    const Case one = make_case(options_.texts, number);
    const LaunchConfig& c = one.config;
    std::printf("case %llu: %s %s\n  launch: grid %u %u %u block %u %u %u shared %zu\n",
                static_cast<unsigned long long>(number), end_of(status).c_str(),
                progress_->complaint, c.grid.x, c.grid.y, c.grid.z, c.block.x, c.block.y, c.block.z,
                c.dynamic_shared);
    if (options_.save.empty()) return;
    fs::create_directories(options_.save);
    const fs::path file = options_.save / ("case_" + std::to_string(number) + ".ptx");
    std::ofstream(file, std::ios::binary) << one.text;
    std::printf("  %s\n", file.c_str());
  }

  Options options_;
  Progress* progress_ = nullptr;
  int failed_ = 0;
};

int usage() {
  std::fprintf(
      stderr,
      "usage: ptx_fuzz [--seconds S] [--first N] [--count N] [--save DIR] FILE-or-DIR ...\n"
      "  --first N --count 1  one case again\n"
      "  --save DIR           the texts of cases that fail\n");
  return 2;
}

}  // namespace
}  // namespace warplings::sim::fuzz

int main(int argc, char** argv) {
  using namespace warplings::sim;
  using namespace warplings::sim::fuzz;
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view name = argv[i];
    if (name.rfind("--", 0) != 0) {
      for (FixtureText& one : load_fixtures(argv[i])) options.texts.push_back(std::move(one.text));
      continue;
    }
    if (i + 1 >= argc) return usage();
    const char* value = argv[++i];
    if (name == "--seconds") {
      options.seconds = std::atof(value);
    } else if (name == "--first") {
      options.first = std::strtoull(value, nullptr, 10);
    } else if (name == "--count") {
      options.count = std::strtoull(value, nullptr, 10);
    } else if (name == "--save") {
      options.save = value;
    } else {
      return usage();
    }
  }
  if (options.texts.empty()) return usage();
  return Fuzzer(std::move(options)).run();
}
