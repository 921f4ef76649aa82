#include <algorithm>

#include "cli/json_out.h"
#include "cli/verdict.h"

namespace grade {
namespace {

constexpr int kVerdictFormat = 1;  // raised when a member changes its meaning or goes away

const char* word_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::kPassed:
      return "pass";
    case Outcome::kFailed:
      return "fail";
    case Outcome::kDoesNotCompile:
      return "does not compile";
    case Outcome::kCannotBuild:
      return "set-up error";
    case Outcome::kCancelled:
      return "cancelled";
    default:
      return "inconclusive";
  }
}

// Declared first, so that json_list finds all of them.
std::string json_of(const Diagnostic& diagnostic);
std::string json_of(const Failure& failure);
std::string json_of(const Finding& finding);
std::string json_of(const BudgetCheck& budget);
std::string json_of(const SpeedRatio& ratio);
std::string json_of(const SpeedReport& speed);
std::string json_of(const TestReport& test);
std::string json_of(const LinkedKernel& kernel);
std::string json_of(const Result& result);

template <class T>
std::string json_list(const std::vector<T>& items) {
  std::vector<std::string> texts;
  for (const T& item : items) texts.push_back(json_of(item));
  return json_array(texts);
}

std::string json_of(const Diagnostic& diagnostic) {
  return JsonOut()
      .text("file", diagnostic.file)
      .number("line", diagnostic.line)
      .text("severity", diagnostic.is_error ? "error" : "warning")
      .text("message", diagnostic.message)
      .str();
}

std::string json_of(const Failure& failure) {
  return JsonOut()
      .text("file", failure.file)
      .number("line", failure.line)
      .text("message", failure.message)
      .str();
}

std::string json_of(const Finding& finding) {
  return JsonOut()
      .text("check", finding.check)
      .text("kind", finding.kind)
      .text("message", finding.message)
      .text("case", finding.where)
      .text("file", finding.file)
      .number("line", finding.line)
      .text("other_file", finding.other_file)
      .number("other_line", finding.other_line)
      .text("kernel", finding.kernel)
      .number("count", static_cast<double>(finding.count))
      .boolean("note", finding.is_note)
      .boolean("expected", finding.expected)
      .str();
}

std::string json_of(const BudgetCheck& budget) {
  return JsonOut()
      .text("name", budget.name)
      .number("value", budget.value)
      .text("rule", budget.unit)
      .number("limit", budget.limit)
      .boolean("passed", budget.passed)
      .str();
}

std::string json_of(const SpeedRatio& ratio) {
  return JsonOut()
      .text("kind", ratio.kind)
      .text("name", ratio.name)
      .text("level", ratio.level)
      .number("ratio", ratio.ratio)
      .number("low", ratio.low)
      .number("high", ratio.high)
      .number("pass", ratio.pass)
      .number("gold", ratio.gold)
      .number("reference", ratio.reference)
      .number("seconds", ratio.seconds)
      .number("amount", ratio.amount)
      .str();
}

std::string json_of(const SpeedReport& speed) {
  return JsonOut()
      .text("case", speed.where)
      .text("device", speed.device)
      .boolean("modelled", speed.modelled)
      .text("verdict", speed.verdict)
      .text("level", speed.level)
      .text("reason", speed.reason)
      .text("left_out", speed.left_out)
      .number("seconds", speed.seconds)
      .number("bytes", speed.bytes)
      .number("flops", speed.flops)
      .number("slice", speed.slice)
      .number("rounds", speed.rounds)
      .raw("ratios", json_list(speed.ratios))
      .str();
}

std::string json_of(const TestReport& test) {
  const bool run = test.started;
  JsonOut out;
  out.text("name", test.name)
      .text("outcome", !run          ? "not run"
                       : test.passed ? "pass"
                                     : "fail")
      .number("milliseconds", test.ms);
  if (test.todo() > 0) out.number("todo", test.todo());
  return out.raw("failures", json_list(test.failures))
      .raw("findings", json_list(test.findings))
      .raw("budgets", json_list(test.budgets))
      .raw("speeds", json_list(test.speeds))
      .text("output", test.output)
      .str();
}

std::string json_of(const LinkedKernel& kernel) {
  JsonOut out;
  out.text("exercise", kernel.id).text("kernels", kernel.own ? "learner" : "solution");
  if (kernel.share >= 0) out.number("share", kernel.share);
  return out.str();
}

std::string json_of(const Result& result) {
  JsonOut out;
  out.text("device", result.device == Device::kGpu ? "gpu" : "simulator")
      .text("outcome", word_of(result.outcome))
      .number("build_seconds", result.build.seconds)
      .number("run_seconds", result.run_seconds)
      .raw("diagnostics", json_list(result.build.diagnostics))
      .raw("tests", json_list(result.tests))
      .raw("linked", json_list(result.linked))
      .text("output", result.output);
  if (!result.build.problem.empty()) out.text("problem", result.build.problem);
  if (!result.early_end.empty()) {
    out.text("ended_early_by", result.early_end).text("ended_early", result.early_message);
  }
  if (result.simulated_thread_instructions > 0) {
    out.number("simulated_thread_instructions", result.simulated_thread_instructions);
  }
  return out.str();
}

}  // namespace

std::string verdict_json(const std::vector<Result>& results, int todo, const std::string& next,
                         const std::string& screen) {
  const bool passed = std::all_of(results.begin(), results.end(),
                                  [](const Result& result) { return result.passed(); });
  JsonOut out;
  out.number("format", kVerdictFormat).text("kind", "verdict");
  out.text("exercise", results.empty() ? "" : results.front().id);
  const bool solution = !results.empty() && results.front().program == Program::kSolution;
  out.text("graded", solution ? "solution" : "learner");
  out.boolean("passed", passed && !results.empty());
  if (todo > 0) out.number("todo", todo);
  if (!screen.empty()) out.text("screen", screen);
  return out.text("next", next).raw("devices", json_list(results)).str() + "\n";
}

}  // namespace grade
