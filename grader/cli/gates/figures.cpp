#include "cli/gates/figures.h"

#include <algorithm>
#include <cmath>
#include <regex>

#include "cli/gates/changed_lines.h"
#include "cli/gates/class_table.h"
#include "cli/gates/fading_table.h"
#include "cli/gates/index_table.h"
#include "cli/gates/run_sources.h"
#include "cli/gates/speed_table.h"
#include "cli/gates/view_picture.h"
#include "cli/verdict.h"
#include "course/json.h"
#include "course/starter.h"
#include "course/text.h"

namespace grade {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kOpen = "<!-- from: ", kClose = " -->", kEnd = "<!-- end -->";

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  size_t i = 0;
  while (i < text.size()) {
    if (text[i] == ' ') {
      ++i;
      continue;
    }
    const bool quoted = text[i] == '"';
    const size_t begin = quoted ? i + 1 : i;
    const size_t end = std::min(text.find(quoted ? '"' : ' ', begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    i = end + 1;
  }
  return words;
}

int line_at(const std::string& text, size_t position) {
  return 1 + static_cast<int>(
                 std::count(text.begin(), text.begin() + static_cast<long>(position), '\n'));
}

// Sources in fenced blocks are examples, not marks.
std::vector<std::pair<size_t, size_t>> fenced_blocks(const std::string& page) {
  std::vector<std::pair<size_t, size_t>> blocks;
  size_t open = std::string::npos;
  for (size_t at = 0; at < page.size();) {
    const size_t end = std::min(page.find('\n', at), page.size());
    if (page.compare(at, 3, "```") == 0) {
      if (open == std::string::npos) {
        open = at;
      } else {
        blocks.emplace_back(open, end);
        open = std::string::npos;
      }
    }
    at = end + 1;
  }
  return blocks;
}

// The body of the fenced block that begins at `at`; false if there is none.
bool block_body(const std::string& page, size_t at, Mark* mark) {
  if (page.compare(at, 3, "```") != 0) return false;
  mark->begin = page.find('\n', at) + 1;
  const size_t end = page.find("\n```", mark->begin - 1);
  if (end == std::string::npos) return false;
  mark->end = end + 1;
  mark->is_block = true;
  return true;
}

std::string dedented(const std::vector<std::string>& lines) {
  size_t indent = std::string::npos;
  for (const std::string& line : lines) {
    const size_t first = line.find_first_not_of(' ');
    if (first != std::string::npos) indent = std::min(indent, first);
  }
  std::string text;
  for (const std::string& line : lines) {
    text +=
        (line.size() <= indent ? "" : line.substr(indent == std::string::npos ? 0 : indent)) + "\n";
  }
  return text;
}

[[noreturn]] void fail(const Mark& mark, const std::string& file, const std::string& message) {
  throw course::Error(file, mark.line, message);
}

// A learner writes this code in a file of their own: no namespace, no name of a variant.
Result as_learner_sees(Result result, const std::string& variant) {
  result.variant.clear();
  const std::string prefix = variant + "::";
  for (TestReport& test : result.tests) {
    for (Failure& failure : test.failures) {
      failure.message = course::replace_all(failure.message, prefix, "");
    }
    for (Finding& finding : test.findings) {
      finding.message = course::replace_all(finding.message, prefix, "");
      finding.kernel = course::replace_all(finding.kernel, prefix, "");
    }
    for (LaunchInfo& launch : test.launches) {
      launch.kernel = course::replace_all(launch.kernel, prefix, "");
    }
  }
  return result;
}

std::string screen_of(const GateContext& context, const Mark& mark, const std::string& file) {
  if (mark.source.size() != 3) fail(mark, file, "a screen reads: screen EX NAME.");
  Terminal terminal;  // plain, 80 columns
  const std::string variant = mark.source[2];
  Result result =
      as_learner_sees(run_for(context, mark, file, mark.source[1] + "@" + variant, ""), variant);
  // Warnings are there only when something was compiled just now.
  if (result.outcome != Outcome::kDoesNotCompile) result.build.diagnostics.clear();
  std::string text = verdict_text(result, terminal);
  if (result.passed()) return text;
  const std::string todo = std::to_string(todo_for(result, ""));
  const std::string explain = explain_command_for(result);
  return text + next_line("./grade hint", "TODO " + todo, terminal) +
         (explain.empty() ? "" : "        " + explain + "\n");
}

std::string benchmark_value(const GateContext& context, const Mark& mark, const std::string& file) {
  if (mark.source.size() < 3) fail(mark, file, "a benchmark reads: benchmark FILE KEY...");
  const fs::path source = context.paths->root / "assets" / "benchmarks" / mark.source[1];
  const course::Json json = course::parse_json(course::read_text(source), source.string());
  const course::Json* at = &json;
  for (size_t i = 2; i < mark.source.size(); ++i) {
    at = at->find(mark.source[i]);
    if (at == nullptr) fail(mark, file, mark.source[1] + " has no key " + mark.source[i] + ".");
  }
  if (at->is_string()) return at->text;
  if (at->is_integer) return with_thousands(at->number);
  char text[64];
  std::snprintf(text, sizeof text, "%g", at->number);
  return text;
}

// The ratios of a run's solution, in the order in which they were measured.
std::string ratio_value(const GateContext& context, const Mark& mark, const std::string& file) {
  const std::vector<std::string>& s = mark.source;
  if (s.size() != 4 && s.size() != 5) fail(mark, file, "a ratio reads: ratio FILE EX NAME [N].");
  const fs::path source = context.paths->root / "assets" / "benchmarks" / s[1];
  const course::Json json = course::parse_json(course::read_text(source), source.string());
  int left = s.size() == 5 ? std::stoi(s[4]) : 1;
  const course::Json* runs = json.find("runs");
  for (const course::Json& run : runs == nullptr ? std::vector<course::Json>() : runs->items) {
    const course::Json* speeds = run.find("speeds");
    if (speeds == nullptr || run.string_or("exercise") != s[2]) continue;
    for (const course::Json& speed : speeds->items) {
      for (const course::Json& ratio : speed.find("ratios")->items) {
        if (ratio.string_or("name") != s[3] || --left > 0) continue;
        char text[64];
        std::snprintf(text, sizeof text, "%.2f", ratio.number_or("ratio"));
        return text;
      }
    }
  }
  fail(mark, file, s[1] + " has no such comparison of " + s[2] + " with " + s[3] + ".");
}

std::string changed_value(const GateContext& context, const Mark& mark, const std::string& file) {
  const std::vector<std::string>& s = mark.source;
  if (s.size() != 4) fail(mark, file, "changed reads: changed EX BEFORE MOST.");
  std::string texts[2];  // of EX and BEFORE
  for (int i = 0; i < 2; ++i) {
    const course::Exercise* exercise = context.course->find(s[1 + i]);
    if (exercise == nullptr) fail(mark, file, "no exercise is called " + s[1 + i] + ".");
    texts[i] = course::read_text(course::files_of(context.paths->root, *exercise).solution);
  }
  const int changed = changed_lines(texts[1], texts[0], s[1]);
  if (changed > std::stoi(s[3])) {
    fail(mark, file,
         s[1] + " has " + std::to_string(changed) + " lines of code that " + s[2] +
             " does not have; at most " + s[3] + " may be new in one step.");
  }
  return std::to_string(changed);
}

}  // namespace

Mark mark_of(const std::string& source, int line, const std::string& file) {
  static const std::vector<std::string> kKnown = {
      "region",  "file",   "opcodes",  "speeds",    "index", "route",
      "counter", "screen", "table",    "benchmark", "ratio", "changed",
      "finding", "result", "modelled", "fading",    "view"};
  Mark mark;
  mark.line = line;
  mark.source = words_of(source);
  if (mark.source.size() < 2 ||
      std::find(kKnown.begin(), kKnown.end(), mark.source[0]) == kKnown.end()) {
    fail(mark, file,
         "a mark reads \"<!-- from: SOURCE ... -->\"; the sources are " +
             course::join(kKnown, ", ") + ".");
  }
  return mark;
}

std::vector<Mark> find_marks(const std::string& page, const std::string& file) {
  const auto blocks = fenced_blocks(page);
  std::vector<Mark> marks;
  for (size_t at = page.find(kOpen); at != std::string::npos; at = page.find(kOpen, at + 1)) {
    const bool example = std::any_of(blocks.begin(), blocks.end(), [&](const auto& block) {
      return at > block.first && at < block.second;
    });
    if (example) continue;
    Mark mark;
    mark.line = line_at(page, at);
    const size_t close = page.find(kClose, at);
    if (close == std::string::npos) fail(mark, file, "this mark has no \"-->\".");
    mark.source =
        mark_of(page.substr(at + kOpen.size(), close - at - kOpen.size()), mark.line, file).source;
    const size_t after = close + kClose.size();
    if (mark.is_table()) {
      mark.begin = after + 1;
      mark.end = page.find(kEnd, after);
      if (mark.end == std::string::npos)
        fail(mark, file, "this mark needs \"<!-- end -->\" below.");
    } else if (is_picture(mark)) {  // the next line is a link
      mark.begin = page.find_first_not_of('\n', after);
      if (mark.begin == std::string::npos || page.compare(mark.begin, 2, "![") != 0) {
        fail(mark, file, "no picture follows this mark: ![words](PATH.svg).");
      }
      mark.end = std::min(page.find('\n', mark.begin), page.size());
    } else if (page.compare(after, 1, "\n") == 0) {
      const size_t text = page.find_first_not_of('\n', after);
      if (text == std::string::npos || !block_body(page, text, &mark)) {
        fail(mark, file, "no fenced block follows this mark.");
      }
    } else {
      mark.begin = after;
      mark.end = page.find(kEnd, after);
      if (mark.end == std::string::npos || line_at(page, mark.end) != mark.line) {
        fail(mark, file, "this mark needs \"<!-- end -->\" after its text, in the same line.");
      }
    }
    marks.push_back(mark);
  }
  return marks;
}

namespace {

std::string region_text(const fs::path& root, const Mark& mark, const std::string& file) {
  if (mark.source.size() < 3) fail(mark, file, "a region reads: region FILE TODO N, or FILE NAME.");
  const fs::path source = root / mark.source[1];
  if (!fs::exists(source)) fail(mark, file, mark.source[1] + " does not exist.");
  const course::MarkedSource marked =
      course::parse_marked(course::read_text(source), mark.source[1]);
  std::vector<std::string> lines;
  if (mark.source[2] == "TODO" && mark.source.size() == 4) {
    for (const course::MarkedLine& line : marked.lines) {
      if (line.part == course::Part::kSolutionOnly && std::to_string(line.todo) == mark.source[3]) {
        lines.push_back(line.text);
      }
    }
  } else {
    const std::string name = mark.source[2] + "(";
    bool inside = false;
    for (const course::MarkedLine& line : marked.lines) {
      if (line.part == course::Part::kStarterOnly || line.part == course::Part::kMarker) continue;
      const bool begins = !line.text.empty() && line.text[0] != ' ' &&
                          line.text.find(name) != std::string::npos && line.text.back() != ';';
      if (lines.empty() && begins) inside = true;
      if (inside) lines.push_back(line.text);
      if (line.text == "}") inside = false;
    }
  }
  if (lines.empty()) {
    fail(mark, file,
         mark.source[1] + " has no region " +
             course::join({mark.source.begin() + 2, mark.source.end()}, " ") + ".");
  }
  return dedented(lines);
}

std::string speeds_text(const fs::path& root, const Mark& mark, const std::string& file) {
  if (mark.source.size() != 3) fail(mark, file, "speeds reads: speeds FILE CHAPTER.");
  const fs::path source = root / "assets" / "benchmarks" / mark.source[1];
  if (!fs::exists(source)) fail(mark, file, "assets/benchmarks has no " + mark.source[1] + ".");
  const std::string table =
      speed_table(course::parse_json(course::read_text(source), mark.source[1]), mark.source[2]);
  if (table.empty()) fail(mark, file, mark.source[1] + " has no speed of " + mark.source[2] + ".");
  // An empty line before and after, as Markdown wants it between a comment and a table.
  return "\n" + table + "\n";
}

// A file that holds "columns", a list of texts, and "rows", lists of as many.
std::string table_text(const fs::path& root, const Mark& mark, const std::string& file) {
  if (mark.source.size() != 2) fail(mark, file, "a table reads: table FILE.");
  const fs::path source = root / "assets" / "benchmarks" / mark.source[1];
  if (!fs::exists(source)) fail(mark, file, "assets/benchmarks has no " + mark.source[1] + ".");
  const course::Json json = course::parse_json(course::read_text(source), mark.source[1]);
  const course::Json* columns = json.find("columns");
  const course::Json* rows = json.find("rows");
  if (columns == nullptr || rows == nullptr || rows->items.empty()) {
    fail(mark, file, mark.source[1] + " has no \"columns\" and \"rows\".");
  }
  const auto line = [](const course::Json& cells) {
    std::string text = "|";
    for (const course::Json& cell : cells.items) text += " " + cell.text + " |";
    return text + "\n";
  };
  std::string table = "\n" + line(*columns) + "|";
  for (size_t i = 0; i < columns->items.size(); ++i) table += " --- |";
  table += "\n";
  for (const course::Json& row : rows->items) table += line(row);
  return table + "\n";
}

}  // namespace

namespace {

// Where the way into the course is a table, an empty line before and after, as Markdown wants it.
std::string way_text(const fs::path& root, const Mark& mark, const std::string& file) {
  const course::Course course = course::load_course(root);
  if (mark.source[0] == "route") {
    return "\n" + route_table(course, {mark.source.begin() + 1, mark.source.end()}) + "\n";
  }
  if (mark.source[1] == "concepts") return "\n" + concept_table(course) + "\n";
  if (mark.source[1] == "calls") return "\n" + call_table(course) + "\n";
  if (mark.source[1] == "classes") return "\n" + class_table(course) + "\n";
  fail(mark, file, "an index is of concepts, calls or classes, not of " + mark.source[1] + ".");
}

}  // namespace

std::string source_text(const fs::path& root, const Mark& mark, const std::string& file) {
  if (mark.is_way()) return way_text(root, mark, file);
  if (mark.source[0] == "region") return region_text(root, mark, file);
  if (mark.source[0] == "speeds") return speeds_text(root, mark, file);
  if (mark.source[0] == "table") return table_text(root, mark, file);
  if (mark.source[0] == "fading") return "\n" + fading_table(course::load_course(root)) + "\n";
  const fs::path source = root / mark.source[1];
  if (!fs::exists(source)) fail(mark, file, mark.source[1] + " does not exist.");
  const std::string text = course::read_text(source);
  return mark.source[0] == "file" ? text : opcode_table(text);
}

std::string value_of(const GateContext& context, const Mark& mark, const std::string& file) {
  if (mark.is_text()) return source_text(context.paths->root, mark, file);
  if (is_of_a_run(mark)) return run_value(context, mark, file);
  if (mark.source[0] == "screen") return screen_of(context, mark, file);
  if (mark.source[0] == "ratio") return ratio_value(context, mark, file);
  if (mark.source[0] == "changed") return changed_value(context, mark, file);
  return benchmark_value(context, mark, file);
}

std::string without_times(const std::string& text) {
  static const std::regex kTime(" *[0-9]+(\\.[0-9]+)? s\\b");
  return std::regex_replace(text, kTime, " T s");
}

FilledPage fill_figures(const GateContext& context, const fs::path& file, const std::string& page,
                        Marks which) {
  FilledPage filled{page, {}, {}};
  const std::string name = shown(context, file);
  try {
    std::vector<Mark> marks = find_marks(page, name);
    // From the end, so that positions before stay right.
    for (auto mark = marks.rbegin(); mark != marks.rend(); ++mark) {
      if (which == Marks::kThatNeedNoRun && mark->needs_a_run()) continue;
      const std::string now = page.substr(mark->begin, mark->end - mark->begin);
      if (is_picture(*mark)) {
        const fs::path drawn = picture_file(file, *mark, now);
        const std::string picture = picture_of_run(context, *mark, file);
        if (!fs::exists(drawn) || course::read_text(drawn) != picture) {
          filled.pictures.emplace_back(drawn, picture);
        }
        continue;
      }
      const std::string value = value_of(context, *mark, name);
      if (without_times(now) == without_times(value)) continue;
      filled.text.replace(mark->begin, mark->end - mark->begin, value);
    }
  } catch (const course::Error& error) {
    filled.problems.push_back(error.what());
  }
  return filled;
}

}  // namespace grade
