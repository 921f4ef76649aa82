#include "cli/gates/ctest_report.h"

#include <cstdlib>
#include <utility>

#include "cli/gates/report.h"
#include "course/text.h"

namespace grade {
namespace {

std::string unescaped(std::string text) {
  constexpr std::pair<const char*, const char*> kEntities[] = {
      {"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&apos;", "'"}, {"&amp;", "&"}};
  for (const auto& [entity, character] : kEntities) {
    const std::string name = entity;
    for (size_t at = 0; (at = text.find(name, at)) != std::string::npos; ++at) {
      text.replace(at, name.size(), character);
    }
  }
  return text;
}

// What lies between `begin` and `end` in `text`; "" where they are not both there.
std::string between(const std::string& text, const std::string& begin, const std::string& end) {
  const size_t from = text.find(begin);
  if (from == std::string::npos) return "";
  const size_t to = text.find(end, from + begin.size());
  if (to == std::string::npos) return "";
  return unescaped(text.substr(from + begin.size(), to - from - begin.size()));
}

// The end of the output holds the failures of GoogleTest and of the shell tests.
std::string last_lines(const std::string& output) {
  std::vector<std::string> lines = course::split_lines(output);
  constexpr size_t kShown = 40;
  if (lines.size() > kShown) lines.erase(lines.begin(), lines.end() - kShown);
  return course::join(lines, "\n");
}

// `element`: <testcase ...> without its end.
std::vector<Item> items_of_test(const std::string& element,
                                const std::map<std::string, std::string>& ends) {
  const std::string name = between(element, "name=\"", "\"");
  const std::string status = between(element, "status=\"", "\"");
  const std::string output = between(element, "<system-out>", "</system-out>");
  if (status == "run") {
    std::vector<Item> items = skipped_tests(name, output);
    items.insert(items.begin(), passed(0, name));
    items.front().seconds = std::atof(between(element, "time=\"", "\"").c_str());
    return items;
  }
  const std::string why = between(element, "<skipped message=\"", "\"");
  if (course::starts_with(why, "SKIP_")) {
    const auto lines = course::split_lines(course::trim(output));
    return {skipped(0, name, lines.empty() ? "it says nothing more" : lines.back())};
  }
  const auto end = ends.find(name);
  const std::string how = end != ends.end() ? end->second : why.empty() ? status : why;
  return {failed(0, name, how + "\n" + last_lines(output))};
}

}  // namespace

std::map<std::string, std::string> ends_of_failed_tests(const std::string& printed) {
  // " 4/6 Test #4: slow .................***Timeout   1.01 sec"
  std::map<std::string, std::string> ends;
  for (const std::string& line : course::split_lines(printed)) {
    const size_t name = line.find(": "), stars = line.find("***");
    if (line.find("Test ") == std::string::npos || name == std::string::npos) continue;
    if (stars == std::string::npos || stars < name) continue;
    const std::string dotted = line.substr(name + 2, stars - name - 2);
    const std::string how = line.substr(stars + 3);
    ends[dotted.substr(0, dotted.find_last_not_of(". ") + 1)] =
        course::trim(how.substr(0, how.find("  ")));
  }
  return ends;
}

std::vector<Item> items_of_ctest(const std::string& xml,
                                 const std::map<std::string, std::string>& ends) {
  constexpr char kBegin[] = "<testcase ", kEnd[] = "</testcase>";
  if (xml.find("</testsuite>") == std::string::npos) {
    throw course::Error("", 0, "ctest wrote no whole report; its own messages say why.");
  }
  std::vector<Item> items;
  for (size_t at = 0; (at = xml.find(kBegin, at)) != std::string::npos;) {
    const size_t end = xml.find(kEnd, at);
    const std::vector<Item> of_test = items_of_test(xml.substr(at, end - at), ends);
    items.insert(items.end(), of_test.begin(), of_test.end());
    at = end;
  }
  return items;
}

}  // namespace grade
