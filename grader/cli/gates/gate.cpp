#include "cli/gates/gate.h"

#include <atomic>
#include <mutex>
#include <thread>

#include "cli/python_program.h"
#include "course/mutants.h"
#include "course/text.h"

namespace grade {

namespace fs = std::filesystem;

const char* name_of_gate(int gate) {
  constexpr const char* kNames[] = {"self-test", "manifest",  "starters", "pages",    "solutions",
                                    "unsolved",  "ablations", "mutants",  "variants", "figures"};
  return kNames[gate];
}

Item passed(int gate, std::string name) {
  return {gate, std::move(name), Item::State::kPassed, "", 0, false};
}

Item failed(int gate, std::string name, std::string message) {
  return {gate, std::move(name), Item::State::kFailed, std::move(message), 0, false};
}

Item skipped(int gate, std::string name, std::string reason) {
  return {gate, std::move(name), Item::State::kSkipped, std::move(reason), 0, false};
}

std::string shown(const GateContext& context, const fs::path& path) {
  return path.lexically_proximate(context.paths->root).string();
}

std::string abnormal_end(const Result& result) {
  if (result.outcome == Outcome::kCancelled) return "was cancelled";
  if (result.early_end.empty()) return "";
  return "ended early " +
         (result.early_test.empty() ? "outside the tests" : "in " + result.early_test) + ": " +
         result.early_end;
}

std::string first_failure(const Result& result) {
  const TestReport* test = result.first_failed();
  if (test == nullptr) return "no test failed";
  std::string text = test->name;
  if (!test->failures.empty()) {
    const auto lines = course::split_lines(test->failures.front().message);
    for (size_t i = 0; i < lines.size() && i < 6; ++i)
      text += (i == 0 ? ": " : "\n    ") + lines[i];
  }
  return text;
}

void choose_derived(const Paths& paths, const std::string& name, RunRequest* request) {
  request->program = Program::kDerived;
  request->variant = name;
  const course::Exercise& exercise = *request->exercise;
  if (!is_python(exercise)) return;  // its program has them all
  for (course::Derived& one : course::derive(paths.root, exercise)) {
    if (one.name != name) continue;
    request->variant_text = std::move(one.text);
    return;
  }
  throw course::Error("", 0, exercise.id + " has no variant called " + name + ".");
}

void in_parallel(size_t count, const std::function<void(size_t)>& work, size_t most) {
  std::atomic<size_t> next{0};
  std::mutex mutex;
  std::exception_ptr error;
  const auto loop = [&] {
    for (size_t i = next++; i < count; i = next++) {
      try {
        work(i);
      } catch (...) {
        const std::lock_guard<std::mutex> lock(mutex);
        if (!error) error = std::current_exception();
      }
    }
  };
  std::vector<std::thread> threads;
  const size_t cores = std::max(1u, std::thread::hardware_concurrency());
  for (size_t i = 0; i < std::min({cores, count, most}); ++i) threads.emplace_back(loop);
  for (std::thread& thread : threads) thread.join();
  if (error) std::rethrow_exception(error);
}

}  // namespace grade
