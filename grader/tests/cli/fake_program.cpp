// A stand-in for an exercise program: does what the lines "//! ..." of the learner's file say and
// reports it as the kit does. Tests of the command line use it where no kernel is needed: it takes
// no compiler and no simulator, and it can misbehave in ways that are hard to reach with a real
// one.
//
//   //! test Suite.Name 2        a test begins; 2 is its TODO
//   //! fail TEXT                it fails ("\n" in TEXT is a line end)
//   //! finding CHECK KIND TEXT  //! budget VALUE LIMIT NAME    //! counters N
//   //! speed SECONDS RATIO PASS NAME   modelled, against the stage NAME; PASS is the bar
//   //! measured SECONDS RATIO PASS NAME   the same, on a card
//   //! part SHARE EXERCISE   //! own NEEDED   whose kernels have what of a step
//   //! case NAME                          the case of the speeds after it
//   //! devices N               fails unless so many devices are asked for (0: not said)
//   //! print TEXT  //! spam  //! exit N  //! abort  //! crash  //! recurse  //! allocate
//   //! hang  //! wait  //! crowded-hang
//   //! at_work TEXT            the test itself is busy with that
//   //! throw  //! fork  //! silent-exit, linked-for-gpu (before the first event)
//   //! view        a recording, where GRADE_SIM_VIEW asks for one
//   //! trace TEXT   into the file that GRADE_SIM_TRACE names, with the block and thread asked for
#include <fnmatch.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "kit/output_mark.h"
#include "kit/seal.h"

namespace {

struct Step {
  std::string verb, rest;
};

struct Test {
  std::string name;
  int todo = 0;
  std::vector<Step> steps;
};

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '"') out += '\\';
    out += c;
  }
  return out;  // a "\n" of the script is the JSON escape already
}

class Program {
 public:
  Program() {
    const char* channel = std::getenv("GRADE_CHANNEL");
    if (channel == nullptr) return;
    fd_ = std::atoi(channel);
    char key[32] = {};
    if (::read(fd_, key, sizeof key) != sizeof key) std::_Exit(7);
    if (!kit::read_key({key, sizeof key}, &key_)) std::_Exit(7);
    unsetenv("GRADE_CHANNEL");
  }

  void read(const std::string& file) {
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) {
      if (line.rfind("//! ", 0) != 0) continue;
      std::istringstream words(line.substr(4));
      Step step;
      words >> step.verb;
      std::getline(words >> std::ws, step.rest);
      if (step.verb == "test") {
        std::istringstream rest(step.rest);
        Test test;
        rest >> test.name >> test.todo;
        tests_.push_back(test);
      } else if (tests_.empty()) {
        first_.push_back(step);
      } else {
        tests_.back().steps.push_back(step);
      }
    }
  }

  int run(const std::string& filter) {
    for (const Step& step : first_) perform(step);
    std::string names;
    for (const Test& test : tests_) {
      if (!selected(test, filter)) continue;
      names += (names.empty() ? "\"" : ",\"") + test.name + "\"";
    }
    send("start", std::string("\"simulated\":") + (on_a_gpu_ ? "false" : "true") + ",\"tests\":[" +
                      names + "]");
    int failed = 0, passed = 0;
    for (const Test& test : tests_) {
      if (!selected(test, filter)) continue;
      ++(run_test(test) ? passed : failed);
    }
    send("done", "\"passed\":" + std::to_string(passed) + ",\"failed\":" + std::to_string(failed) +
                     ",\"simulated_thread_instructions\":1000");
    return failed == 0 ? 0 : 1;
  }

 private:
  static bool selected(const Test& test, const std::string& filter) {
    return ::fnmatch(filter.c_str(), test.name.c_str(), 0) == 0;
  }

  bool run_test(const Test& test) {
    test_ = test.name;
    failed_ = false;
    std::cout << kit::kOutputMark << test_ << std::endl;
    std::cerr << kit::kOutputMark << test_ << std::endl;
    send("test_start", about());
    send("property", about() + ",\"key\":\"todo\",\"value\":\"" + std::to_string(test.todo) + "\"");
    for (const Step& step : test.steps) perform(step);
    send("test_end", about() + ",\"passed\":" + (failed_ ? "false" : "true") + ",\"ms\":1.5");
    return !failed_;
  }

  void send(const std::string& event, const std::string& fields) {
    const std::string text = "{\"event\":\"" + event + "\"," + fields + "}\n";
    char seal[kit::kSealDigits];
    kit::write_seal(kit::seal_of(key_, sent_++, text), seal);
    const std::string line = std::string(seal, sizeof seal) + " " + text;
    if (fd_ >= 0 && ::write(fd_, line.data(), line.size()) < 0) std::_Exit(9);
  }

  std::string about() const { return "\"test\":\"" + test_ + "\""; }

  void fail(const std::string& text) {
    failed_ = true;
    send("failure",
         about() + ",\"file\":\"t_test.cpp\",\"line\":7,\"message\":\"" + escaped(text) + "\"");
  }

  void finding(const std::string& rest) {
    std::istringstream words(rest);
    std::string check, kind, text;
    words >> check >> kind;
    std::getline(words >> std::ws, text);
    send("finding",
         about() + ",\"check\":\"" + check + "\",\"kind\":\"" + kind + "\",\"message\":\"" +
             escaped(text) +
             "\",\"file\":\"01_first.cu\",\"line\":9,\"other_file\":\"\",\"other_line\":0,"
             "\"kernel\":\"k\",\"is_note\":false,\"count\":3,\"expected\":false");
    fail(text);
  }

  void budget(const std::string& rest) {
    std::istringstream words(rest);
    double value = 0, limit = 0;
    std::string name;
    words >> value >> limit;
    std::getline(words >> std::ws, name);
    const bool good = value <= limit;
    std::ostringstream numbers;
    numbers << ",\"value\":" << value << ",\"limit\":" << limit;
    send("budget", about() + ",\"name\":\"" + name + "\",\"unit\":\"at most\"" + numbers.str() +
                       ",\"passed\":" + (good ? "true" : "false") + ",\"message\":\"\"");
    if (!good) fail("Right, but over budget. " + name + ".");
  }

  void counters(const std::string& rest) {
    send("counters", about() + ",\"case\":\"n = 1\",\"counters\":{\"global_load_sectors\":" + rest +
                         ",\"warp_instructions\":100}");
  }

  void speed(const std::string& rest, bool modelled) {
    std::istringstream words(rest);
    double seconds = 0, ratio = 0, pass = 0;
    std::string name;
    words >> seconds >> ratio >> pass;
    std::getline(words >> std::ws, name);
    const std::string level = ratio >= 2 * pass ? "reference" : ratio >= pass ? "pass" : "none";
    std::ostringstream fields;
    fields << ",\"case\":\"" << case_ << "\",\"device\":\""
           << (modelled ? "modelled (H200)" : "Test Card")
           << "\",\"modelled\":" << (modelled ? "true" : "false") << ",\"seconds\":" << seconds
           << ",\"bytes\":4000,\"flops\":1000,\"slice\":" << (modelled ? 33 : 1)
           << ",\"rounds\":1,\"verdict\":\"" << (ratio >= pass ? "pass" : "fail")
           << "\",\"level\":\"" << level
           << "\",\"reason\":\"\",\"ratios\":[{\"kind\":\"stage\",\"name\":\"" << name
           << "\",\"level\":\"" << level << "\",\"ratio\":" << ratio << ",\"low\":" << ratio
           << ",\"high\":" << ratio << ",\"pass\":" << pass
           << ",\"gold\":0,\"reference\":0,\"seconds\":" << seconds * ratio << ",\"amount\":1}]";
    send("speed", about() + fields.str());
    if (ratio < pass) fail("Right, but too slow.");
  }

  void part(const std::string& rest) {
    std::istringstream words(rest);
    std::string share, exercise;
    words >> share >> exercise;
    send("part", about() + ",\"exercise\":\"" + exercise + "\",\"share\":" + share);
  }

  [[noreturn]] static void spam() {
    const std::string line(1 << 16, 'x');
    for (;;) {
      if (::write(STDOUT_FILENO, line.data(), line.size()) < 0) std::_Exit(8);
    }
  }

  [[noreturn]] static void hang() {
    volatile unsigned turns = 0;
    for (;;) turns = turns + 1;
  }

  [[noreturn]] static void wait() {
    for (;;) ::pause();
  }

  // On one processor, which nine other processes want as well: not its children, so that their time
  // is not its own.
  [[noreturn]] static void crowded_hang() {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof one, &one);
    for (int i = 0; i < 9; ++i) {
      if (::fork() != 0) continue;
      if (::fork() == 0) hang();
      std::_Exit(0);
    }
    hang();
  }

  static int recurse(volatile char* above) {
    volatile char here[1 << 12];
    here[0] = above[0];
    return above[0] == 0 ? 0 : recurse(here) + here[0];  // never 0, which no compiler knows
  }

  void expect_devices(const std::string& count) {
    const char* asked_for = std::getenv("GRADE_SIM_DEVICES");
    const std::string got = asked_for == nullptr ? "0" : asked_for;
    if (got != count) fail(got + " devices");
  }

  // "NAME VALUE": fails unless the environment has it.
  void expect_variable(const std::string& wanted) {
    const size_t space = wanted.find(' ');
    const char* value = std::getenv(wanted.substr(0, space).c_str());
    const std::string got = value == nullptr ? "" : value;
    if (got != wanted.substr(space + 1)) fail(got + " instead of " + wanted);
  }

  static void trace(const std::string& text) {
    const auto value = [](const char* name) {
      const char* set = std::getenv(name);
      return std::string(set == nullptr ? "none" : set);
    };
    std::ofstream(value("GRADE_SIM_TRACE"))
        << text << ", block " << value("GRADE_SIM_TRACE_BLOCK") << ", thread "
        << value("GRADE_SIM_TRACE_THREAD") << "\n";
  }

  // A recording of a kernel that never ran.
  static void view() {
    const char* file = std::getenv("GRADE_SIM_VIEW");
    if (file == nullptr) return;
    std::ofstream(file)
        << R"x({"format": 1, "kind": "view", "label": "modelled (H200)", "limits": {}, )x"
        << R"x("findings": [], "findings_left_out": 0, "wrong": [], "profile": {"kernels": [)x"
        << R"x({"name": "k", "launches": 1, "launch": {}, "cost": {}, "totals": {}, "lines": [], )x"
        << R"x("view": {"grid": [1, 1, 1], "block": [32, 1, 1], "shared_bytes": 0, )x"
        << R"x("numbers": [], "arrays": [], "variables": [], )x"
        << R"x("sites": [], "code": [], "files": []}}]}})x"
        << "\n";
  }

  static void allocate() {
    std::vector<std::vector<char>> blocks;
    for (;;) blocks.emplace_back(16 << 20, 'x');
  }

  void perform(const Step& step) {
    const std::map<std::string, std::function<void()>> verbs = {
        {"fail", [&] { fail(step.rest); }},
        {"finding", [&] { finding(step.rest); }},
        {"budget", [&] { budget(step.rest); }},
        {"counters", [&] { counters(step.rest); }},
        {"speed", [&] { speed(step.rest, true); }},
        {"case", [&] { case_ = step.rest; }},
        {"part", [&] { part(step.rest); }},
        {"own", [&] { send("own_parts", about() + ",\"needed\":" + step.rest); }},
        {"measured", [&] { speed(step.rest, false); }},
        {"devices", [&] { expect_devices(step.rest); }},
        {"variable", [&] { expect_variable(step.rest); }},
        {"print", [&] { std::cout << step.rest << std::endl; }},
        {"spam", [] { spam(); }},
        {"exit", [&] { std::exit(std::atoi(step.rest.c_str())); }},
        {"silent-exit", [] { std::_Exit(0); }},
        {"abort", [] { std::abort(); }},
        {"crash", [] { ::raise(SIGSEGV); }},
        {"recurse",
         [] {
           volatile char first = 1;
           recurse(&first);
         }},
        {"hang", [] { hang(); }},
        {"wait", [] { wait(); }},
        {"crowded-hang", [] { crowded_hang(); }},
        {"at_work", [&] { send("at_work", about() + ",\"doing\":\"" + step.rest + "\""); }},
        {"trace", [&] { trace(step.rest); }},
        {"view", [] { view(); }},
        {"linked-for-gpu", [&] { on_a_gpu_ = true; }},
        {"allocate", [] { allocate(); }},
        {"throw", [] { throw std::runtime_error("thrown by the learner"); }},
        {"fork",
         [] {
           if (::fork() == 0) wait();  // holds the pipes open
         }},
    };
    const auto found = verbs.find(step.verb);
    if (found != verbs.end()) found->second();
  }

  int fd_ = -1;
  kit::SealKey key_;
  uint64_t sent_ = 0;
  std::string test_, case_;
  std::vector<Step> first_;
  std::vector<Test> tests_;
  bool failed_ = false;
  bool on_a_gpu_ = false;
};

}  // namespace

int main(int argc, char** argv) {
  Program program;
  program.read(std::string(argv[0]) + ".cu");
  std::string filter = "*";
  constexpr const char* kFilter = "--gtest_filter=";
  for (int i = 1; i < argc; ++i) {
    if (std::strncmp(argv[i], kFilter, std::strlen(kFilter)) == 0) {
      filter = argv[i] + std::strlen(kFilter);
    }
  }
  return program.run(filter);
}
