// ptx_random: random kernels, the same for the same seed, on the simulator and on what it is held
// against. A difference is reported with the least kernel that shows it.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "compare.h"
#include "program.h"
#include "recorded.h"
#include "worker.h"

namespace warplings::sim::random {
namespace {

constexpr const char* kUsage =
    "usage: ptx_random [--seed S] [--count N] [--against isas|orders|gpu|FILE.json] [--print]\n"
    "                  [--record FILE.json --machine NAME] [--explain N]\n"
    "  --against isas       every build of the lane loops (the default)\n"
    "  --against orders     blocks forward, in reverse and in turns\n"
    "  --against gpu        the CUDA driver of this machine; where it differs, once more with an\n"
    "                       assembler that does not optimise, whose word counts\n"
    "  --against FILE.json  hashes that were recorded there\n"
    "  --record FILE.json   write the hashes that the GPU gives; needs --against gpu\n"
    "  --print              the kernels, without running them\n"
    "  --explain N          differences that are made small (3)\n";

struct Options {
  uint64_t seed = 1;
  uint64_t count = 200;
  bool seed_given = false, count_given = false;
  std::string against = "isas";
  std::string record;
  std::string machine = "GPU";
  bool print = false;
  int explain = 3;
};

uint64_t number(const char* text) {
  char* end = nullptr;
  const uint64_t value = std::strtoull(text, &end, 10);
  if (*text == '\0' || *end != '\0') throw std::invalid_argument(text);
  return value;
}

Options read_options(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view name = argv[i];
    if (name == "--print") {
      options.print = true;
      continue;
    }
    if (i + 1 >= argc) throw std::invalid_argument(std::string(name));
    const char* value = argv[++i];
    if (name == "--seed") {
      options.seed = number(value);
      options.seed_given = true;
    } else if (name == "--count") {
      options.count = number(value);
      options.count_given = true;
    } else if (name == "--against") {
      options.against = value;
    } else if (name == "--record") {
      options.record = value;
    } else if (name == "--machine") {
      options.machine = value;
    } else if (name == "--explain") {
      options.explain = static_cast<int>(number(value));
    } else {
      throw std::invalid_argument(std::string(name));
    }
  }
  return options;
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  char text[16];
  std::tm parts{};
  std::strftime(text, sizeof text, "%Y-%m-%d", gmtime_r(&now, &parts));
  return text;
}

Machine worker_machine(const std::string& variable = "", const std::string& value = "") {
  const auto worker = std::make_shared<Worker>(variable, value);
  return {value.empty() ? "simulator" : "simulator (" + value + ")",
          [worker](const Fixture& fixture, std::vector<uint8_t>* output) {
            return worker->run(fixture, output);
          }};
}

// Counts and prints: one line for each difference, more for the first few.
class Tally {
 public:
  explicit Tally(int explain) : explained_(explain) {}
  void add(const std::string& problem) {
    ++kernels_;
    if (problem.empty()) return;
    ++failed_;
    std::printf("%s\n", problem.c_str());
    std::fflush(stdout);
  }
  // A kernel of which the GPU gives the right results when its assembler does not optimise.
  void add_disputed(const std::string& text) {
    ++kernels_;
    ++disputed_;
    std::printf("%s\n  The GPU agrees with the simulator when its assembler does not optimise.\n",
                text.c_str());
    std::fflush(stdout);
  }
  bool explains_more() const { return failed_ + disputed_ < explained_; }
  int finish() const {
    if (disputed_ != 0) std::printf("%d pass without optimisation only\n", disputed_);
    std::printf("%d passed, %d failed\n", kernels_ - failed_, failed_);
    return failed_ == 0 && kernels_ != 0 ? 0 : 1;
  }

 private:
  int explained_;
  int kernels_ = 0;
  int failed_ = 0;
  int disputed_ = 0;
};

// The simulator against the GPU. Optimisers of assemblers have errors too: where they change what a
// kernel computes, the code without them says what the hardware does.
int against_gpu(const Options& options) {
  const Machine simulator = worker_machine();
  const Machine gpu{"GPU", run_on_gpu}, plain{"GPU, unoptimised", run_on_gpu_unoptimised};
  Tally tally(options.explain);
  Recorded recorded;
  recorded.machine = options.machine;
  recorded.date = today();
  recorded.first_seed = options.seed;
  bool complete = true;
  for (uint64_t seed = options.seed; seed < options.seed + options.count; ++seed) {
    const Program program = generate(seed);
    const Selection all = Selection::all(program);
    recorded.kernels = hash_of(text_of(program, all), recorded.kernels);
    const Result expected = run(simulator, program, all);
    Result other = run(gpu, program, all);
    std::string problem = difference(program, simulator, expected, gpu, other).text;
    const bool explains = !problem.empty() && tally.explains_more();
    if (!problem.empty()) {
      problem = "seed " + std::to_string(seed) + ": " + problem;
      const Result second = run(plain, program, all);
      if (difference(program, simulator, expected, plain, second).text.empty()) {
        tally.add_disputed(explains ? explain(program, plain, gpu) : problem);
        recorded.hashes.push_back(hash_of(program, second.output));
        recorded.unoptimised.push_back(seed);
        continue;
      }
      if (explains) problem = explain(program, simulator, plain);
    }
    recorded.hashes.push_back(hash_of(program, other.output));
    complete = complete && other.problem.empty();
    tally.add(problem);
  }
  if (!options.record.empty() && complete) {
    write_recorded(options.record, recorded);
  } else if (!options.record.empty()) {
    std::printf("%s is not written: not every kernel ran\n", options.record.c_str());
  }
  return tally.finish();
}

// The simulator with the first value of a variable against that with each other one.
int against_values(const Options& options, const std::string& variable,
                   const std::vector<std::string>& values) {
  std::vector<Machine> machines;
  for (const std::string& value : values) machines.push_back(worker_machine(variable, value));
  Tally tally(options.explain);
  for (uint64_t seed = options.seed; seed < options.seed + options.count; ++seed) {
    const Program program = generate(seed);
    const Selection all = Selection::all(program);
    const Result first = run(machines[0], program, all);
    std::string problem;
    for (size_t i = 1; i < machines.size() && problem.empty(); ++i) {
      const Result other = run(machines[i], program, all);
      problem = difference(program, machines[0], first, machines[i], other).text;
      if (!problem.empty() && tally.explains_more()) {
        problem = explain(program, machines[0], machines[i]);
      }
    }
    tally.add(problem);
  }
  return tally.finish();
}

int against_file(Options options) {
  const Recorded recorded = read_recorded(options.against);
  if (!options.seed_given) options.seed = recorded.first_seed;
  if (!options.count_given) options.count = recorded.hashes.size();
  if (options.seed != recorded.first_seed || options.count > recorded.hashes.size()) {
    std::fprintf(stderr, "ptx_random: %s has the seeds %llu to %llu\n", options.against.c_str(),
                 static_cast<unsigned long long>(recorded.first_seed),
                 static_cast<unsigned long long>(recorded.first_seed + recorded.hashes.size() - 1));
    return 2;
  }
  uint64_t kernels = 0;
  for (uint64_t seed = options.seed; seed < options.seed + recorded.hashes.size(); ++seed) {
    const Program program = generate(seed);
    kernels = hash_of(text_of(program, Selection::all(program)), kernels);
  }
  if (kernels != recorded.kernels) {
    std::fprintf(stderr,
                 "ptx_random: the kernels are no longer those of %s: the generator has changed, so "
                 "the hashes must be recorded again (grader/tests/gpu/run.py on a machine with a "
                 "GPU)\n",
                 options.against.c_str());
    return 2;
  }
  const Machine simulator = worker_machine();
  Tally tally(options.explain);
  for (uint64_t i = 0; i < options.count; ++i) {
    const Program program = generate(options.seed + i);
    const Result result = run(simulator, program, Selection::all(program));
    std::string problem;
    if (!result.problem.empty()) {
      problem = "seed " + std::to_string(program.seed) + ": " + result.problem + "\n" +
                text_of(program, Selection::all(program));
    } else if (hash_of(program, result.output) != recorded.hashes[i]) {
      problem = "seed " + std::to_string(program.seed) + ": the output is not that of " +
                recorded.machine + ". On a machine with a GPU, ptx_random --against gpu --seed " +
                std::to_string(program.seed) + " --count 1 says which instruction it is.";
    }
    tally.add(problem);
  }
  return tally.finish();
}

int print(const Options& options) {
  for (uint64_t seed = options.seed; seed < options.seed + options.count; ++seed) {
    const Program program = generate(seed);
    std::printf("%s\n", text_of(program, Selection::all(program)).c_str());
  }
  return 0;
}

}  // namespace
}  // namespace warplings::sim::random

int main(int argc, char** argv) {
  using namespace warplings::sim::random;
  Options options;
  try {
    options = read_options(argc, argv);
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "ptx_random: '%s' is not understood\n%s", error.what(), kUsage);
    return 2;
  }
  if (!options.record.empty() && options.against != "gpu") {
    std::fprintf(stderr, "ptx_random: --record needs --against gpu\n");
    return 2;
  }
  try {
    if (options.print) return print(options);
    if (options.against == "gpu") return against_gpu(options);
    if (options.against == "isas") {
      return against_values(options, "GRADE_SIM_ISA", {"baseline", "avx2", "avx512"});
    }
    if (options.against == "orders") {
      return against_values(options, "GRADE_SIM_ORDER", {"forward", "reversed", "turns"});
    }
    return against_file(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "ptx_random: %s\n", error.what());
    return 2;
  }
}
