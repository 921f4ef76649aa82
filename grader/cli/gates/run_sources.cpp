#include "cli/gates/run_sources.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <set>

#include "cli/python_program.h"
#include "course/text.h"

namespace grade {

namespace {

[[noreturn]] void reject(const Mark& mark, const std::string& file, const std::string& message) {
  throw course::Error(file, mark.line, message);
}

std::string counter_value(const GateContext& context, const Mark& mark, const std::string& file) {
  const std::vector<std::string>& s = mark.source;
  if (s.size() != 5 && !(s.size() == 7 && s[5] == "/")) {
    reject(mark, file, "a counter reads: counter EX TEST \"CASE\" KEY [/ KEY].");
  }
  const Result result = run_for(context, mark, file, s[1], s[2]);
  for (const TestReport& test : result.tests) {
    for (const auto& [name, counters] : test.counters) {
      if (test.name != s[2] || (!s[3].empty() && name != s[3])) continue;
      const auto top = counters.find(s[4]);
      if (top == counters.end()) reject(mark, file, "there is no counter called " + s[4] + ".");
      if (s.size() == 5) return with_thousands(top->second);
      const auto bottom = counters.find(s[6]);
      if (bottom == counters.end() || bottom->second == 0) {
        reject(mark, file, "there is no counter called " + s[6] + ", or it is 0.");
      }
      char text[64];
      std::snprintf(text, sizeof text, "%.1f", top->second / bottom->second);
      return text;
    }
  }
  reject(mark, file, "the solution's run has no case \"" + s[3] + "\" in " + s[2] + ".");
}

std::string finding_value(const GateContext& context, const Mark& mark, const std::string& file) {
  if (mark.source.size() != 2) reject(mark, file, "a finding reads: finding EX.");
  std::set<std::string> checks;
  for (const TestReport& test : run_for(context, mark, file, mark.source[1], "").tests) {
    for (const Finding& finding : test.findings) {
      if (!finding.is_note && !finding.expected) checks.insert(finding.check);
    }
  }
  return checks.empty() ? "none" : course::join({checks.begin(), checks.end()}, " and ");
}

std::string result_value(const GateContext& context, const Mark& mark, const std::string& file) {
  const std::vector<std::string>& s = mark.source;
  if (s.size() != 2 && s.size() != 3) reject(mark, file, "a result reads: result EX [TEST].");
  const Result result = run_for(context, mark, file, s[1], s.size() == 3 ? s[2] : "");
  if (s.size() == 2) return result.passed() ? "passes" : "fails";
  for (const TestReport& test : result.tests) {
    if (test.name == s[2]) return test.passed ? "passes" : "fails";
  }
  reject(mark, file, s[1] + " has no test called " + s[2] + ".");
}

std::string modelled_value(const GateContext& context, const Mark& mark, const std::string& file) {
  if (mark.source.size() != 3) reject(mark, file, "modelled reads: modelled EX NAME.");
  for (const TestReport& test : run_for(context, mark, file, mark.source[1], kSpeedTests).tests) {
    for (const SpeedReport& speed : test.speeds) {
      for (const SpeedRatio& ratio : speed.ratios) {
        if (ratio.name != mark.source[2]) continue;
        char text[64];
        std::snprintf(text, sizeof text, "%.2f", ratio.ratio);
        return text;
      }
    }
  }
  reject(mark, file, mark.source[1] + " is not compared with " + mark.source[2] + ".");
}

// By the gates before: asking Ninja again takes as long as many a run.
bool built_already(const GateContext& context, const RunRequest& request) {
  return context.built != nullptr && !is_python(*request.exercise) &&
         context.built->count(target_of(*request.exercise, request.program)) != 0;
}

// One Ninja at a time works in a build folder.
Result build_alone_and_run(const GateContext& context, const RunRequest& request) {
  static std::mutex mutex;
  const std::lock_guard<std::mutex> lock(mutex);
  return build_and_run(*context.paths, request);
}

}  // namespace

std::string with_thousands(double value) {
  std::string digits = std::to_string(static_cast<long long>(std::llround(value)));
  for (int at = static_cast<int>(digits.size()) - 3; at > (digits[0] == '-' ? 1 : 0); at -= 3) {
    digits.insert(static_cast<size_t>(at), ",");
  }
  return digits;
}

Result run_for(const GateContext& context, const Mark& mark, const std::string& file,
               const std::string& program, const std::string& filter,
               const std::vector<std::pair<std::string, std::string>>& environment) {
  const size_t at = program.find('@');
  const std::string id = program.substr(0, at);
  const std::string which = at == std::string::npos ? "solution" : program.substr(at + 1);
  const course::Exercise* exercise = context.course->find(id);
  if (exercise == nullptr) reject(mark, file, "no exercise is called " + id + ".");
  RunRequest request;
  request.exercise = exercise;
  request.filter = filter;
  request.environment = environment;
  if (!environment.empty()) request.continue_after_crash = false;  // it would write again
  if (which == "solution") {
    request.program = Program::kSolution;
  } else if (which == "starter") {
    request.program = Program::kStarter;
  } else {
    choose_derived(*context.paths, which, &request);
  }
  const Result result = built_already(context, request) ? run_program(*context.paths, request)
                                                        : build_alone_and_run(context, request);
  if (result.build.status != BuildResult::Status::kBuilt) {
    reject(mark, file, target_of(*exercise, request.program) + " does not build.");
  }
  return result;
}

bool is_of_a_run(const Mark& mark) {
  const std::string& kind = mark.source[0];
  return kind == "counter" || kind == "finding" || kind == "result" || kind == "modelled";
}

std::string run_value(const GateContext& context, const Mark& mark, const std::string& file) {
  if (mark.source[0] == "finding") return finding_value(context, mark, file);
  if (mark.source[0] == "result") return result_value(context, mark, file);
  if (mark.source[0] == "modelled") return modelled_value(context, mark, file);
  return counter_value(context, mark, file);
}

}  // namespace grade
