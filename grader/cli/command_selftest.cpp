// grade selftest [--device sim|gpu]: every test of the course itself. Works in the build folder and
// leaves chapters/ alone.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "cli/app.h"
#include "cli/commands.h"
#include "cli/gates/gate.h"
#include "cli/gates/report.h"
#include "cli/python_program.h"
#include "course/json.h"
#include "course/text.h"

namespace grade {

namespace fs = std::filesystem;

namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// A test of CTest, as `ctest --show-only=json-v1` describes it.
struct UnitTest {
  std::string name;
  ChildOptions child;
  int skip_status = -1;
  bool serial = false, fails = false;
};

void read_property(const course::Json& property, UnitTest* test) {
  const std::string name = property.string_or("name");
  const course::Json* value = property.find("value");
  if (value == nullptr) return;
  if (name == "TIMEOUT") test->child.wall_seconds = value->number;
  if (name == "SKIP_RETURN_CODE") test->skip_status = static_cast<int>(value->number);
  if (name == "RUN_SERIAL") test->serial = value->boolean;
  if (name == "WILL_FAIL") test->fails = value->boolean;
  if (name == "WORKING_DIRECTORY") test->child.directory = value->text;
  if (name == "ENVIRONMENT") {
    for (const course::Json& item : value->items) {
      const size_t equal = item.text.find('=');
      if (equal != std::string::npos) {
        test->child.environment.emplace_back(item.text.substr(0, equal),
                                             item.text.substr(equal + 1));
      }
    }
  }
}

// The item of the test, and one for each part of it that was skipped.
std::vector<Item> run_unit_test(const UnitTest& test) {
  const ChildResult result = run_child(test.child);
  Item item = passed(0, test.name);
  item.seconds = result.seconds;
  const bool exited = result.end == ChildResult::End::kExited;
  if (exited && result.status == test.skip_status) {
    const auto lines = course::split_lines(course::trim(result.out.text()));
    return {skipped(0, test.name, lines.empty() ? "it says nothing more" : lines.back())};
  }
  if (exited && (result.status == 0) != test.fails) {
    std::vector<Item> items = skipped_tests(test.name, result.out.text());
    items.insert(items.begin(), std::move(item));
    return items;
  }
  item.state = Item::State::kFailed;
  std::string why = "exit status " + std::to_string(result.status);
  if (result.end == ChildResult::End::kTimedOut) why = "time limit";
  if (result.end == ChildResult::End::kSignalled) why = describe_signal(result.signal);
  if (result.end == ChildResult::End::kNotStarted) why = result.error;
  // The end of the output holds the failures of GoogleTest and of the shell tests.
  std::vector<std::string> lines = course::split_lines(result.out.text() + result.err.text());
  constexpr size_t kShown = 40;
  if (lines.size() > kShown) lines.erase(lines.begin(), lines.end() - kShown);
  item.message = why + "\n" + course::join(lines, "\n");
  return {item};
}

class SelfTest {
 public:
  explicit SelfTest(App& app) : app_(app) {}

  int run(bool on_gpu) {
    std::thread python([this] { make_python_environment(); });
    build_all();
    run_unit_tests();
    python.join();
    gates(Device::kSimulator);
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
    options.wall_seconds = kLongest;
    run_child(options);
  }

  void stage(const std::string& text) const {
    print("[" + pad_left(seconds_text(now() - start_), 6) + "] " + text + "\n");
    std::fflush(stdout);
  }

  void add(Item item) {
    if (item.state == Item::State::kFailed) stage("FAIL " + item.name);
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
    const ChildResult result = run_child(options);
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

  std::vector<UnitTest> listed_tests() {
    const fs::path build = app_.paths().build(Device::kSimulator);
    const fs::path beside = fs::path(app_.paths().cmake).parent_path() / "ctest";
    ChildOptions options;
    options.argv = {fs::exists(beside) ? beside.string() : "ctest",
                    "--test-dir",
                    build.string(),
                    "-L",
                    "^grader$",
                    "--show-only=json-v1"};
    options.output_kept = 16 << 20;
    const ChildResult result = run_child(options);
    if (!result.ok()) {
      throw course::Error(
          build.string(), 0,
          "ctest cannot list the tests: " + result.error + course::trim(result.err.text()));
    }
    const course::Json json = course::parse_json(result.out.text(), "ctest --show-only=json-v1");
    std::vector<UnitTest> tests;
    const course::Json* list = json.find("tests");
    if (list == nullptr) return tests;
    for (const course::Json& entry : list->items) {
      UnitTest test;
      test.name = entry.string_or("name");
      test.child.directory = build;
      test.child.wall_seconds = 300;
      if (const course::Json* command = entry.find("command")) {
        for (const course::Json& word : command->items) test.child.argv.push_back(word.text);
      }
      if (const course::Json* properties = entry.find("properties")) {
        for (const course::Json& property : properties->items) read_property(property, &test);
      }
      if (!test.child.argv.empty()) {
        tests.push_back(std::move(test));
      } else {
        add(failed(0, test.name, "its program was not built."));
      }
    }
    return tests;
  }

  void run_unit_tests() {
    std::vector<UnitTest> tests = listed_tests();
    const fs::path setup = app_.paths().root / "grader" / "tests" / "setup" / "run.sh";
    if (fs::exists(setup)) {
      UnitTest test;
      test.name = "set-up";
      test.child.argv = {"sh", setup.string()};
      test.child.directory = app_.paths().root;
      test.child.wall_seconds = 300;
      tests.push_back(std::move(test));
    }
    stage("tests of the grader: " + std::to_string(tests.size()));
    const auto serial = std::stable_partition(tests.begin(), tests.end(),
                                              [](const UnitTest& test) { return !test.serial; });
    std::vector<std::vector<Item>> items(static_cast<size_t>(serial - tests.begin()));
    in_parallel(items.size(), [&](size_t i) { items[i] = run_unit_test(tests[i]); });
    for (const std::vector<Item>& of_test : items) add_all(of_test);
    for (auto test = serial; test != tests.end(); ++test) add_all(run_unit_test(*test));
  }

  void gates(Device device) {
    GateContext context;
    context.paths = &app_.paths();
    context.course = &app_.course();
    context.device = device;
    context.progress = [this, device](const std::string& text) {
      stage(std::string("gates (") + name_of(device) + "): " + text);
    };
    for (const course::Exercise& exercise : app_.course().exercises) {
      context.exercises.push_back(&exercise);
    }
    const std::vector<Item> items =
        device == Device::kSimulator ? check_all_gates(context) : run_gates(context);
    add_all(items);
    print(gate_table(items, app_.terminal()));
  }

  App& app_;
  double start_ = now();
  std::vector<Item> items_;
};

}  // namespace

int selftest_command(App& app) {
  bool on_gpu = false;
  const std::vector<std::string>& rest = app.options().rest;
  for (size_t i = 0; i < rest.size(); ++i) {
    const bool device = rest[i] == "--device" && i + 1 < rest.size();
    const std::string value = device ? rest[++i] : "";
    if (rest[i] == "--device=gpu" || value == "gpu") {
      on_gpu = true;
    } else if (rest[i] == "--device=sim" || rest[i] == "--no-color" || value == "sim") {
    } else {
      throw UsageError("unknown argument " + harmless(rest[i]) +
                       ": ./grade selftest [--device sim|gpu]");
    }
  }
  on_gpu = on_gpu || app.options().device == DeviceChoice::kGpu;
  if (on_gpu && !gpu_present()) {
    throw UsageError("--device gpu: this machine has no usable NVIDIA GPU (./grade doctor).");
  }
  return SelfTest(app).run(on_gpu);
}

}  // namespace grade
