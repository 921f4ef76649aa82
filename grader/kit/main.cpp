// main() of every exercise program: EXE [--variant=NAME] [GoogleTest flags]. Called NAME.starter,
// it runs the variant "starter". Exit status: 0 all tests passed, 1 some failed or the program
// ended early, 2 wrong use.
#include <fcntl.h>
#include <unistd.h>

#include <cctype>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <random>
#include <string>

#include "kit/context.h"
#include "kit/listener.h"
#include "kit/processes.h"

// In programs that hold the mutants of an exercise: directs the launchers to one of them. 0: done.
extern "C" __attribute__((weak)) int grade_select_variant(const char* name);

namespace kit {
namespace {

constexpr int kFailed = 1, kUsage = 2;

// exit() called by the code under test must not look like a pass.
void ended_early() {
  Context& now = context();
  if (now.finished) return;
  send_properties();
  flush_pending();
  std::fflush(stdout);
  std::fprintf(stderr, "The program ended early: exit() was called in %s.\n",
               now.test.empty() ? "no test" : now.test.c_str());
  ::_exit(kFailed);
}

void on_signal(int signal) {
  flush_pending();
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

// The simulator is about to end the program, because host code touched device memory. What it found
// is the failure of the running test, unless an earlier case has one.
void on_fatal_finding() {
  Context& now = context();
  const std::string finding = take_findings();
  send_properties();
  if (now.pending_text.empty()) {
    const std::string label = case_label();
    const std::string message = (label.empty() ? "" : label + ": ") + finding;
    now.pending_text = message + "\n";
    const testing::TestInfo* info = testing::UnitTest::GetInstance()->current_test_info();
    const std::string file = info == nullptr ? "" : info->file();
    const int line = info == nullptr ? 0 : info->line();
    if (now.channel.open()) {
      now.pending_line = Channel::line("failure", failure_fields(file, line, message));
    }
  }
  std::fflush(stdout);
  flush_pending();
  now.finished = true;
}

void watch_for_early_ends() {
  wsim_set_fatal_hook(on_fatal_finding);
  std::atexit(ended_early);
  // SIGSEGV and SIGBUS belong to the simulator, which tells a learner's mistake from a crash.
  for (const int signal : {SIGABRT, SIGFPE, SIGILL, SIGTERM}) std::signal(signal, on_signal);
  if (!simulated()) std::signal(SIGSEGV, on_signal);
}

// An endless loop in a kernel ends after about a second: so many instructions after the last block
// that has ended. No exercise simulates more than 250 million lane instructions, which is 8 million
// of a full warp.
void limit_launches() {
  constexpr const char* kWarpInstructions = "20000000";
  ::setenv("GRADE_SIM_MAX_WARP_INSTRUCTIONS", kWarpInstructions, 0);
}

// One that the function works on, and one more: for a case in which that one is current.
void ask_for_two_devices() { ::setenv("GRADE_SIM_DEVICES", "2", 0); }

bool read_seed() {
  Context& now = context();
  const char* text = std::getenv("GRADE_SEED");
  if (text == nullptr) {
    // The simulator promises the same report for the same code; a GPU sees new inputs every time.
    now.base_seed = simulated() ? 20260101 : std::random_device{}();
    now.seed_given = !simulated();
    return true;
  }
  char* end = nullptr;
  now.base_seed = std::strtoull(text, &end, 10);
  now.seed_given = true;
  if (end != text && *end == '\0') return true;
  std::fprintf(stderr, "GRADE_SEED is \"%s\"; it must be a whole number.\n", text);
  return false;
}

// A program of variants runs one of them. The others lie in namespaces called starter, ablation_N,
// mutant_N and variant_NAME, which begin a mangled name: _ZN8mutant_3... (That of a variable that
// its file keeps for itself has the name of the file before.) Reading them takes long.
constexpr char kStarter[] = "starter";
std::string& chosen_variant() {
  static std::string name;
  return name;
}
int belongs_to_another_variant(const char* mangled) {
  if (std::strncmp(mangled, "_ZN", 3) != 0) return 0;
  std::string name, rest = mangled + 3;
  do {
    size_t digits = 0;
    while (digits < rest.size() && std::isdigit(static_cast<unsigned char>(rest[digits]))) ++digits;
    const size_t length = std::strtoul(rest.c_str(), nullptr, 10);
    name = rest.substr(digits, length);
    rest.erase(0, digits + length);
  } while (name.compare(0, 10, "_INTERNAL_") == 0);
  if (name == kStarter) return name != chosen_variant() ? 1 : 0;
  for (const char* kind : {"ablation_", "mutant_", "variant_"}) {
    if (name.compare(0, std::strlen(kind), kind) == 0) return name != chosen_variant() ? 1 : 0;
  }
  return 0;
}

// False on an unknown variant.
bool select_variant(const char* name) {
  if (grade_select_variant == nullptr) {
    std::fprintf(stderr, "This program holds no variants: --variant=%s is for the .derived one.\n",
                 name);
    return false;
  }
  if (grade_select_variant(name) != 0) {
    std::fprintf(stderr, "There is no variant named \"%s\".\n", name);
    return false;
  }
  chosen_variant() = name;
  internal::remember_variant(name);
  wsim_leave_out_kernels(belongs_to_another_variant);
  return true;
}

// Takes --variant=NAME out of the arguments, or the name from that of the program.
bool select_variant(int* argc, char** argv) {
  constexpr const char* kOption = "--variant=";
  const std::string program = argv[0], end = std::string(".") + kStarter;
  const bool is_starter = program.size() > end.size() &&
                          program.compare(program.size() - end.size(), end.size(), end) == 0;
  if (is_starter && !select_variant(kStarter)) return false;
  int kept = 1;
  for (int i = 1; i < *argc; ++i) {
    if (std::strncmp(argv[i], kOption, std::strlen(kOption)) != 0) {
      argv[kept++] = argv[i];
    } else if (!select_variant(argv[i] + std::strlen(kOption))) {
      return false;
    }
  }
  argv[kept] = nullptr;
  *argc = kept;
  return true;
}

void add_listeners() {
  testing::TestEventListeners& listeners = testing::UnitTest::GetInstance()->listeners();
  if (context().channel.open()) {
    // The grader words the results; stdout is the learner's. Line by line, as on a terminal: what
    // was printed before a crash must not be lost in a buffer.
    std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
    delete listeners.Release(listeners.default_result_printer());
  }
  listeners.Append(new Listener);  // last: its OnTestEnd runs first and may still add a failure
}

int run_tests() {
  const int status = RUN_ALL_TESTS();
  const testing::UnitTest& program = *testing::UnitTest::GetInstance();
  Context& now = context();
  Counters counters = {};
  wsim_read_counters(&counters);
  now.thread_instructions += counters.thread_instructions - now.counted_instructions;
  now.finished = true;
  if (testing::GTEST_FLAG(list_tests)) return status;
  now.channel.send("done",
                   JsonObject()
                       .integer("passed", static_cast<uint64_t>(program.successful_test_count()))
                       .integer("failed", static_cast<uint64_t>(program.failed_test_count()))
                       .integer("simulated_thread_instructions", now.thread_instructions));
  if (program.test_to_run_count() == 0) {
    std::fprintf(stderr, "No test matches --gtest_filter=%s.\n",
                 testing::GTEST_FLAG(filter).c_str());
    return kUsage;
  }
  return status == 0 ? 0 : kFailed;
}

}  // namespace
}  // namespace kit

int main(int argc, char** argv) {
  kit::context().channel = kit::Channel::from_environment();
  testing::InitGoogleTest(&argc, argv);
  if (!kit::select_variant(&argc, argv) || !kit::read_seed()) return kit::kUsage;
  kit::limit_launches();
  kit::ask_for_two_devices();
  if (argc > 1) {
    kit::watch_for_early_ends();
    const int status = kit::internal::run_as_process(argc, argv);
    if (status >= 0) return status;
    std::fprintf(stderr, "%s: unknown argument %s.\n", argv[0], argv[1]);
    return kit::kUsage;
  }
  kit::add_listeners();
  kit::watch_for_early_ends();
  return kit::run_tests();
}
