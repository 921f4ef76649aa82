// grade selftest [--device sim|gpu] [--all]: the tests of the course itself. Works in the build
// folder and leaves chapters/ alone. Without --all, the ablations, mutants and variants of two
// thirds of the exercises, and the programs of their lessons, are left to other days.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <thread>

#include "cli/app.h"
#include "cli/commands.h"
#include "cli/dev/dev.h"
#include "cli/dev/share_of_today.h"
#include "cli/gates/ctest_report.h"
#include "cli/gates/gate.h"
#include "cli/gates/report.h"
#include "cli/progress_line.h"
#include "cli/python_program.h"
#include "course/text.h"

namespace grade {

namespace fs = std::filesystem;

namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

class SelfTest {
 public:
  explicit SelfTest(App& app) : app_(app) {}

  int run(bool on_gpu, bool all) {
    if (!all) share_.emplace(app_, kDays);
    std::thread python([this] { make_python_environment(); });
    build_all();
    run_ctest();
    python.join();
    gates(Device::kSimulator);
    planted_answers();
    if (on_gpu) gates(Device::kGpu);
    print(slowest_text(items_, 10) + failures_text(items_, app_.terminal()));
    print(last_line(items_));
    return all_well(items_) ? kPass : kFail;
  }

 private:
  // Set-up may use the network, tests may not. Where it fails, Python exercises are skipped, and
  // say what they lack.
  void make_python_environment() const {
    const bool chosen = std::getenv("GRADE_PYTHON") != nullptr;
    const auto lacks = [this](const course::Exercise& exercise) {
      return is_python(exercise) && !exercise.gpu_only &&
             !missing_modules(app_.paths(), exercise).empty();
    };
    const std::vector<course::Exercise>& all = app_.course().exercises;
    if (chosen || std::none_of(all.begin(), all.end(), lacks)) return;
    constexpr double kLongest = 120;  // seconds; it runs beside the build
    ChildOptions options;
    options.argv = {"sh", (app_.paths().root / "setup/python_env.sh").string()};
    options.own_seconds = kLongest;
    run_child(options);
  }

  void stage(const std::string& text) {
    now_.clear();
    print("[" + pad_left(seconds_text(now() - start_), 6) + "] " + text + "\n");
    std::fflush(stdout);
  }

  void add(Item item) {
    const bool was_said = item.gate >= 4 && item.gate <= 8;  // by run_gates
    if (item.state == Item::State::kFailed && !was_said) stage("FAIL " + item.name);
    items_.push_back(std::move(item));
  }

  void add_all(const std::vector<Item>& items) {
    for (const Item& item : items) add(item);
  }

  void build_all() {
    stage("building the grader and its tests");
    const double start = now();
    ChildOptions options;
    options.argv = {app_.paths().ninja,
                    "-C",
                    app_.paths().build(Device::kSimulator).string(),
                    "-k",
                    "0",
                    "all"};
    options.grace_seconds = 10;
    options.environment = {{"NINJA_STATUS", "[%f/%t] "}};
    NinjaProgress ninja;
    options.on_output = [&](std::string_view text) { ninja.read(text); };
    options.on_tick = [&] { now_.show("building the grader and its tests, " + ninja.text()); };
    const ChildResult result = run_child(options);
    now_.clear();
    Item item = passed(0, "the grader and its tests build");
    if (!result.ok()) {
      std::vector<std::string> lines = course::split_lines(result.out.text() + result.error);
      constexpr size_t kShown = 30;
      if (lines.size() > kShown) lines.erase(lines.begin(), lines.end() - kShown);
      item = failed(0, item.name, course::join(lines, "\n"));
    }
    item.seconds = now() - start;
    add(item);
  }

  // CTest runs them; its report stays in the build folder.
  void run_ctest() {
    stage("tests of the grader");
    const fs::path build = app_.paths().build(Device::kSimulator);
    const fs::path report = build / "Testing" / "grader.xml";
    const fs::path beside = fs::path(app_.paths().cmake).parent_path() / "ctest";
    fs::remove(report);
    ChildOptions options;
    options.argv = {fs::exists(beside) ? beside.string() : "ctest",
                    "--test-dir",
                    build.string(),
                    "-L",
                    "^grader$",
                    "-j",
                    std::to_string(std::max(1u, std::thread::hardware_concurrency())),
                    "--output-junit",
                    report.string(),
                    "--test-output-size-passed",
                    "10000000",
                    "--test-output-size-failed",
                    "10000000"};
    options.output_kept = 16 << 20;
    options.grace_seconds = 10;
    if (share_) {
      const std::string part = std::to_string(part_of_today(kDays));
      options.environment.emplace_back("LESSONS_SHARE", part + "/" + std::to_string(kDays));
    }
    // "12/80 Test  #3: grader/kit ....   Passed    1.20 sec"
    std::string last = "tests of the grader";
    options.on_output = [&](std::string_view text) {
      const size_t at = text.rfind(" Test ");
      const size_t begin = at == std::string_view::npos ? at : text.rfind('\n', at);
      if (begin == std::string_view::npos) return;
      last = "tests of the grader, " + course::trim(std::string(text.substr(begin, at - begin)));
    };
    options.on_tick = [&] { now_.show(last + ", " + seconds_text(now() - start_)); };
    const ChildResult result = run_child(options);
    now_.clear();
    if (!fs::exists(report)) {
      throw course::Error(build.string(), 0,
                          "ctest wrote no report: " + result.error +
                              course::trim(result.out.text() + result.err.text()));
    }
    add_all(items_of_ctest(course::read_text(report.string()),
                           ends_of_failed_tests(result.out.text())));
    print("CTest's report: " + report.string() + "\n");
  }

  void planted_answers() {
    stage("planted answers");
    const double start = now();
    Item item = planted_answers_of_today(app_);
    item.seconds = now() - start;
    add(item);
  }

  void gates(Device device) {
    GateContext context;
    context.paths = &app_.paths();
    context.course = &app_.course();
    context.device = device;
    context.progress = [this, device](const std::string& text) {
      stage(std::string("gates (") + name_of(device) + "): " + text);
    };
    context.how_far = [this](const std::string& text) { now_.show(text); };
    for (const course::Exercise& exercise : app_.course().exercises) {
      context.exercises.push_back(&exercise);
    }
    if (share_) {
      context.asks_derived = [this](const course::Exercise& it) { return share_->has(it); };
    }
    const std::vector<Item> items =
        device == Device::kSimulator ? check_all_gates(context) : run_gates(context);
    now_.clear();
    add_all(items);
    print(gate_table(items, app_.terminal()));
  }

  static constexpr size_t kDays = 3;

  App& app_;
  std::optional<ShareOfToday> share_;  // none: all
  double start_ = now();
  ProgressLine now_{app_.terminal()};
  std::vector<Item> items_;
};

}  // namespace

int selftest_command(App& app) {
  bool on_gpu = false, all = false;
  const std::vector<std::string>& rest = app.options().rest;
  for (size_t i = 0; i < rest.size(); ++i) {
    const bool device = rest[i] == "--device" && i + 1 < rest.size();
    const std::string value = device ? rest[++i] : "";
    if (rest[i] == "--device=gpu" || value == "gpu") {
      on_gpu = true;
    } else if (rest[i] == "--all") {
      all = true;
    } else if (rest[i] == "--device=sim" || rest[i] == "--no-color" || value == "sim") {
    } else {
      throw UsageError("unknown argument " + harmless(rest[i]) +
                       ": ./grade selftest [--device sim|gpu] [--all]");
    }
  }
  on_gpu = on_gpu || app.options().device == DeviceChoice::kGpu;
  if (on_gpu && !gpu_present()) {
    throw UsageError("--device gpu: this machine has no usable NVIDIA GPU (./grade doctor).");
  }
  return SelfTest(app).run(on_gpu, all);
}

}  // namespace grade
