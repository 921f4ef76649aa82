#include "cli/verdict.h"

#include <algorithm>
#include <cstdlib>

#include "cli/speed_text.h"
#include "course/pattern.h"
#include "course/text.h"

namespace grade {
namespace {

constexpr size_t kLabel = 8;         // columns of "  FAIL  "
constexpr size_t kMessageLines = 9;  // of the first failure; the screen has 24

std::string label(Style style, const std::string& word, const Terminal& terminal) {
  return "  " + terminal.paint(style, word) + std::string(kLabel - 2 - width_of(word), ' ');
}

// `text` beside a label: wrapped and indented below it.
std::string labelled(Style style, const std::string& word, const std::string& text,
                     const Terminal& terminal) {
  const std::string body = wrap(text, std::string(kLabel, ' '), terminal.columns);
  return label(style, word, terminal) + body.substr(std::min(kLabel, body.size()));
}

std::string indented(const std::string& text, const Terminal& terminal) {
  return wrap(text, std::string(kLabel, ' '), terminal.columns);
}

std::string head_line(const Result& result, const Terminal& terminal) {
  std::string left = result.id + "  " + name_of(result.device);
  if (result.program == Program::kSolution) left += ", solution";
  if (!result.variant.empty()) left += ", " + result.variant;
  const std::string right = seconds_text(result.seconds());
  const size_t columns = static_cast<size_t>(terminal.columns);
  const size_t used = width_of(left) + width_of(right);
  const std::string gap(used + 1 < columns ? columns - used : 1, ' ');
  return terminal.paint(Style::kBold, result.id) + left.substr(result.id.size()) + gap + right +
         "\n";
}

std::string what_shows_more(const Result& result, const Extent& extent) {
  if (!extent.more.empty()) return extent.more;
  return "./grade run " + result.id.substr(result.id.find('/') + 1) + " --output";
}

std::string cut_lines(const std::string& text, const std::string& more, const Terminal& terminal) {
  std::vector<std::string> lines = course::split_lines(text);
  if (lines.size() <= kMessageLines) return text;
  const size_t rest = lines.size() - kMessageLines;
  lines.resize(kMessageLines);
  return course::join(lines, "\n") + "\n" +
         indented("... and " + course::plural(rest, "line") + " more: " + more, terminal);
}

// "n = 1025: message" into its two parts.
std::pair<std::string, std::string> split_case(const std::string& message) {
  static const course::Pattern with_case("^([A-Za-z][A-Za-z0-9_ ]* = [^:\n]{1,50}): ");
  const auto match = with_case.find(message);
  if (!match) return {"", message};
  return {match->groups[1], match->rest};
}

std::string base_name(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

std::string place(const std::string& file, int line) {
  if (file.empty()) return "";
  return base_name(file) + (line > 0 ? ":" + std::to_string(line) : "");
}

// ---- a file that does not compile -------------------------------------------------------------

std::string diagnostic_text(const Diagnostic& diagnostic, const Terminal& terminal) {
  const std::string where = place(diagnostic.file, diagnostic.line);
  std::string text =
      indented(where.empty() ? diagnostic.message : where + ": " + diagnostic.message, terminal);
  constexpr size_t kContext = 4;
  size_t shown = 0;
  for (const std::string& line : diagnostic.context) {
    if (course::trim(line).empty()) continue;
    if (shown++ == kContext) break;
    // Cut, not wrapped: the caret below must stay under its column.
    const size_t before = kLabel + 2;
    const size_t width = static_cast<size_t>(terminal.width);
    text += std::string(before, ' ') + cut(harmless(line), width == 0 ? 0 : width - before) + "\n";
  }
  return text;
}

std::string compile_errors(const Result& result, const Terminal& terminal) {
  std::vector<const Diagnostic*> errors;
  for (const Diagnostic& diagnostic : result.build.diagnostics) {
    if (diagnostic.is_error) errors.push_back(&diagnostic);
  }
  std::string text = labelled(Style::kBad, "FAIL", "It does not compile.", terminal);
  if (errors.empty()) return text + indented(harmless(result.build.log), terminal);
  text += diagnostic_text(*errors.front(), terminal);
  constexpr size_t kAlsoShown = 3;
  for (size_t i = 1; i < errors.size() && i <= kAlsoShown; ++i) {
    const std::string where = place(errors[i]->file, errors[i]->line);
    text += indented((where.empty() ? "" : where + ": ") + errors[i]->message, terminal);
  }
  if (errors.size() > kAlsoShown + 1) {
    text += indented("and " + course::plural(errors.size() - kAlsoShown - 1, "error") +
                         " more; the first often causes the rest",
                     terminal);
  }
  return text;
}

std::string warnings(const Result& result, const Terminal& terminal) {
  for (const Diagnostic& diagnostic : result.build.diagnostics) {
    // What is unused in a half-finished file will be used.
    if (diagnostic.is_error || diagnostic.message.find("unused") != std::string::npos ||
        diagnostic.message.find("never referenced") != std::string::npos) {
      continue;
    }
    const std::string where = place(diagnostic.file, diagnostic.line);
    return labelled(
        Style::kNote, "note",
        "The compiler warns: " + (where.empty() ? "" : where + ": ") + diagnostic.message,
        terminal);
  }
  return "";
}

// ---- a program that ran -----------------------------------------------------------------------

// Without what the kit says to terminals, which the verdict says already.
std::vector<std::string> printed_lines(const std::string& output) {
  std::vector<std::string> lines;
  for (const std::string& line : course::split_lines(harmless(output))) {
    const bool is_ours = course::starts_with(line, "The program ended early:");
    if (!is_ours && !course::trim(line).empty()) lines.push_back(line);
  }
  return lines;
}

// A line of the screen each, or all of it.
std::string lines_printed(const std::vector<std::string>& lines, size_t first, bool whole,
                          const Terminal& terminal) {
  const std::string before(kLabel + 2, ' ');
  const size_t room = static_cast<size_t>(terminal.columns) - before.size();
  std::string text;
  for (size_t i = first; i < lines.size(); ++i) {
    if (!whole) {
      text += before + cut(lines[i], room) + "\n";
      continue;
    }
    for (const std::string& piece : pieces_of(before + lines[i], before, terminal.width)) {
      text += piece + "\n";
    }
  }
  return text;
}

// The last lines of what a test printed, or the whole program.
std::string printed_text(const Result& result, const std::string& output, const Terminal& terminal,
                         const Extent& extent) {
  constexpr size_t kLines = 4;
  const std::vector<std::string> lines = printed_lines(output);
  if (lines.empty()) return "";
  if (extent.whole || lines.size() <= kLines) {
    return indented("It printed:", terminal) + lines_printed(lines, 0, extent.whole, terminal);
  }
  return indented("It printed " + course::plural(lines.size(), "line") +
                      " (all of them: " + what_shows_more(result, extent) + "), these last:",
                  terminal) +
         lines_printed(lines, lines.size() - kLines, false, terminal);
}

// What the tests printed of which the verdict says no more.
std::string printed_elsewhere(const Result& result, const std::string& told,
                              const Terminal& terminal, const Extent& extent) {
  std::string text;
  size_t count = 0;
  for (const TestReport& test : result.tests) {
    const std::vector<std::string> lines = printed_lines(test.output);
    if (test.name == told || lines.empty()) continue;
    count += lines.size();
    text += indented(test.short_name() + " printed:", terminal) +
            lines_printed(lines, 0, true, terminal);
  }
  if (extent.whole || count == 0) return text;
  return indented("Other tests printed " + course::plural(count, "line") + ": " +
                      what_shows_more(result, extent),
                  terminal);
}

// Findings that the first failure does not tell about already.
std::string other_findings(const TestReport& test, const std::string& told,
                           const Terminal& terminal) {
  size_t more = 0, more_notes = 0;
  std::string notes;
  for (const Finding& finding : test.findings) {
    if (finding.expected) continue;
    if (told.find(finding.message) != std::string::npos) continue;
    if (!finding.is_note) {
      ++more;
    } else if (notes.empty()) {
      notes = labelled(Style::kNote, "note", finding.message, terminal);
    } else {
      ++more_notes;
    }
  }
  if (more_notes > 0) {
    notes +=
        indented("and " + course::plural(more_notes, "more note") + ": ./grade sanitize lists all",
                 terminal);
  }
  if (more == 0) return notes;
  return indented("and " + course::plural(more, "more finding") + ": ./grade sanitize lists all",
                  terminal) +
         notes;
}

std::string failed_test(const Result& result, const TestReport& test, const Terminal& terminal,
                        const Extent& extent) {
  const Failure* failure = result.decisive(test);
  const std::string message =
      failure == nullptr ? "The test did not pass and gave no reason." : harmless(failure->message);
  const auto [where, words] = split_case(message);
  std::string text = labelled(Style::kBad, "FAIL",
                              test.short_name() + (where.empty() ? "" : ", " + where), terminal);
  const std::string told = indented(words, terminal);
  text += extent.whole ? told : cut_lines(told, what_shows_more(result, extent), terminal);
  text += printed_text(result, test.output, terminal, extent);
  text += other_findings(test, message, terminal);
  const int others = result.failed_tests() - 1;
  if (others > 0) {
    text += indented("and " + course::plural(static_cast<size_t>(others), "more failing test"),
                     terminal);
  }
  return text + printed_elsewhere(result, test.name, terminal, extent);
}

std::string ran(const Result& result, const Terminal& terminal, const Extent& extent) {
  if (const TestReport* test = result.first_failed()) {
    return failed_test(result, *test, terminal, extent);
  }
  std::string message = result.early_message;
  if (message.empty())
    message = "The program reported no test, so nothing is known about your code.";
  return labelled(Style::kBad, "FAIL", message, terminal) +
         printed_text(result, result.output, terminal, extent);
}

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

// One line per budget; of several cases the one nearest to its limit.
std::string budgets(const Result& result, const Terminal& terminal) {
  std::vector<const BudgetCheck*> tightest;
  const auto slack = [](const BudgetCheck& b) { return b.limit == 0 ? 0 : b.value / b.limit; };
  for (const TestReport& test : result.tests) {
    for (const BudgetCheck& budget : test.budgets) {
      const auto same = std::find_if(tightest.begin(), tightest.end(),
                                     [&](const BudgetCheck* b) { return b->name == budget.name; });
      const bool least = budget.unit == "at least";
      if (same == tightest.end()) {
        tightest.push_back(&budget);
      } else if (least ? slack(budget) < slack(**same) : slack(budget) > slack(**same)) {
        *same = &budget;
      }
    }
  }
  const auto figures = [](const BudgetCheck& budget) {
    return number(budget.value) + "  (" + budget.unit + " " + number(budget.limit) + ")";
  };
  size_t widest = 0;
  for (const BudgetCheck* budget : tightest) widest = std::max(widest, width_of(figures(*budget)));
  // Names in a column, as wide as leaves room for the figures; a wider name has a row of its own.
  constexpr size_t kWidestColumn = 40;
  const size_t room = static_cast<size_t>(terminal.columns) - kLabel - 1;
  const size_t column = std::min(kWidestColumn, room - std::min(room, widest));
  std::string text;
  for (const BudgetCheck* budget : tightest) {
    const bool fits = width_of(budget->name) <= column;
    text += indented(
        pad(budget->name, fits ? column : 0) + (fits ? " " : "\n  ") + figures(*budget), terminal);
  }
  return text;
}

// Three lines per measurement: what it reached, the bars, the time; and what was not compared.
std::string speeds(const Result& result, const Terminal& terminal) {
  std::string text;
  for (const TestReport& test : result.tests) {
    for (const SpeedReport& speed : test.speeds) {
      const SpeedRatio* best = best_ratio(speed);
      if (best == nullptr) continue;
      const std::string where = speed.where.empty() ? "" : speed.where + ", ";
      text += indented(where + ratio_text(*best) + ": " + speed.level, terminal);
      text += indented("(" + bars_text(*best) + "; 3 % short is let pass)", terminal);
      text += indented(time_text(speed.seconds) + " per call, " + speed.device, terminal);
      if (!speed.left_out.empty()) text += indented("not compared: " + speed.left_out, terminal);
    }
  }
  return text;
}

std::string passed(const Result& result, const Terminal& terminal, const Extent& extent) {
  return labelled(Style::kGood, "PASS", "all " + course::plural(result.tests.size(), "test"),
                  terminal) +
         budgets(result, terminal) + speeds(result, terminal) +
         printed_text(result, result.output, terminal, extent);
}

// "01_vector_add_test.cpp is not the committed one".
std::string what_changed(const Result& result) {
  const size_t others = result.changed.size() - 1;
  return result.changed.front() + (others == 0 ? " is not the committed one"
                                               : " and " + course::plural(others, "other file") +
                                                     " are not the committed ones");
}

std::string inconclusive(const Result& result, const Terminal& terminal) {
  if (!result.changed.empty()) {
    return labelled(Style::kNote, "OPEN",
                    "It passes, but not the course's own tests: " + what_changed(result) +
                        ". git restore takes the change back; a commit makes it the course's.",
                    terminal);
  }
  const SpeedReport* speed = result.undecided();
  if (speed == nullptr) {
    return labelled(Style::kNote, "OPEN", "No verdict: the run ended before it could be judged.",
                    terminal);
  }
  return labelled(Style::kNote, "OPEN", "Right, but its speed could not be judged.", terminal) +
         indented(speed->reason, terminal);
}

std::string body(const Result& result, const Terminal& terminal, const Extent& extent) {
  switch (result.outcome) {
    case Outcome::kPassed:
      return passed(result, terminal, extent);
    case Outcome::kFailed:
      return ran(result, terminal, extent);
    case Outcome::kDoesNotCompile:
      return compile_errors(result, terminal);
    case Outcome::kCannotBuild:
      return labelled(Style::kBad, "STOP", harmless(result.build.problem), terminal);
    case Outcome::kCancelled:
      return labelled(Style::kNote, "STOP", "Interrupted.", terminal);
    default:
      return inconclusive(result, terminal);
  }
}

std::string names_of(const Result& result, bool own) {
  std::vector<std::string> names;
  for (const LinkedKernel& kernel : result.linked) {
    if (kernel.own != own) continue;
    const std::string share = kernel.share < 0 ? "" : " (" + percent(kernel.share) + ")";
    names.push_back(base_name(kernel.id) + share);
  }
  return course::join(names, ", ");
}

// Whose kernels of earlier exercises it was linked with.
std::string linked(const Result& result, const Terminal& terminal) {
  if (result.linked.empty()) return "";
  const std::string own = names_of(result, true), solutions = names_of(result, false);
  std::string text = own.empty() ? "" : "your kernels of " + own;
  if (!solutions.empty()) {
    text += (own.empty() ? "" : "; ") + ("the solution's of " + solutions);
  }
  if (result.linked.front().share >= 0) text += ". In brackets: their shares of the time of a step";
  return labelled(Style::kNote, "with", text, terminal);
}

}  // namespace

std::string verdict_text(const Result& result, const Terminal& terminal, const Extent& extent) {
  std::string text = head_line(result, terminal) + body(result, terminal, extent);
  if (result.outcome != Outcome::kDoesNotCompile) text += warnings(result, terminal);
  if (result.passed() && !result.changed.empty()) {
    text += labelled(Style::kNote, "note", what_changed(result) + ".", terminal);
  }
  return text + linked(result, terminal);
}

int todo_for(const Result& result, const std::string& source) {
  if (result.passed()) return 0;
  const TestReport* test = result.first_failed();
  if (test != nullptr && test->todo() > 0) return test->todo();
  const size_t at = source.find("TODO(");
  const int open = at == std::string::npos ? 0 : std::atoi(source.c_str() + at + 5);
  return std::max(open, 1);
}

std::string next_line(const std::string& command, const std::string& why,
                      const Terminal& terminal) {
  const std::string text = why.empty() ? command : pad(command, 15) + "  (" + why + ")";
  return labelled(Style::kBold, "next", text, terminal);
}

const Finding* finding_told(const Result& result) {
  const TestReport* test = result.first_failed();
  const Failure* failure = test == nullptr ? nullptr : result.decisive(*test);
  if (failure == nullptr) return nullptr;
  for (const Finding& finding : test->findings) {
    if (finding.is_note || finding.expected || finding.kind.empty()) continue;
    if (failure->message.find(finding.message) != std::string::npos) return &finding;
  }
  return nullptr;
}

std::string explain_command_for(const Result& result) {
  const Finding* finding = finding_told(result);
  return finding == nullptr ? "" : "./grade explain " + finding->kind;
}

std::string finding_text(const Finding& finding, const Terminal& terminal) {
  std::string where = place(finding.file, finding.line);
  if (finding.other_line > 0) where += " and " + place(finding.other_file, finding.other_line);
  std::string title = finding.check + (finding.kind.empty() ? "" : ", " + finding.kind);
  if (!where.empty()) title += ", " + where;
  if (finding.count > 1) title += ", " + std::to_string(finding.count) + " times";
  const Style style = finding.is_note || finding.expected ? Style::kNote : Style::kBad;
  const std::string word = finding.is_note ? "note" : finding.expected ? "due" : "FIND";
  return labelled(style, word, title, terminal) + indented(harmless(finding.message), terminal);
}

}  // namespace grade
