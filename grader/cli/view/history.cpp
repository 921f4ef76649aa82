#include "cli/view/history.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <sstream>

#include "cli/json_out.h"
#include "cli/kept.h"
#include "course/text.h"

namespace grade::view {

namespace fs = std::filesystem;

namespace {

constexpr size_t kMostRuns = 6;  // runs before the present one, besides the last that passed

std::string hash_of(const fs::path& file) {
  return course::Hash().add(course::read_text(file)).hex();
}

// One line: HASH NUMBER passed|failed SUMMARY. Nothing for what is no such line.
std::optional<EarlierRun> parsed(const std::string& line) {
  std::istringstream in(line);
  EarlierRun run;
  std::string outcome;
  if (!(in >> run.source >> run.number >> outcome)) return std::nullopt;
  run.passed = outcome == "passed";
  std::getline(in >> std::ws, run.summary);
  if (run.summary.empty() || run.summary.front() != '{') return std::nullopt;
  return run;
}

std::string line_of(const EarlierRun& run) {
  return run.source + " " + std::to_string(run.number) + (run.passed ? " passed " : " failed ") +
         run.summary + "\n";
}

std::vector<EarlierRun> read_runs(const fs::path& file) {
  std::vector<EarlierRun> runs;
  if (!fs::exists(file)) return runs;
  for (const std::string& line : course::split_lines(course::read_text(file))) {
    if (std::optional<EarlierRun> run = parsed(line)) runs.push_back(std::move(*run));
  }
  return runs;
}

// The oldest go first; the last that passed stays, however old.
void forget_the_oldest(std::vector<EarlierRun>* runs) {
  while (runs->size() > kMostRuns) {
    const auto last_pass =
        std::find_if(runs->rbegin(), runs->rend(), [](const EarlierRun& r) { return r.passed; });
    const bool first_is_it = last_pass != runs->rend() && &*last_pass == &runs->front();
    runs->erase(runs->begin() + (first_is_it ? 1 : 0));
  }
}

}  // namespace

History remember_run(const Paths& paths, const course::Exercise& exercise, bool passed,
                     const std::string& summary) {
  const fs::path file = run_list_of(paths, exercise);
  EarlierRun now{hash_of(course::files_of(paths.root, exercise).starter), 1, passed, summary};
  History history;
  history.runs = read_runs(file);
  for (const EarlierRun& run : history.runs) now.number = std::max(now.number, run.number + 1);
  std::erase_if(history.runs, [&](const EarlierRun& run) {
    if (run.source == now.source) now.number = run.number;
    return run.source == now.source;
  });
  forget_the_oldest(&history.runs);
  std::string text;
  for (const EarlierRun& run : history.runs) text += line_of(run);
  fs::create_directories(file.parent_path());
  course::write_text(file, text + line_of(now));

  std::map<std::string, int> copies;  // the newest of equal ones
  std::vector<KeptCopy> kept = copies_of(paths, exercise);
  std::reverse(kept.begin(), kept.end());
  for (const KeptCopy& copy : kept) copies[hash_of(paths.root / copy.file)] = copy.number;
  for (const EarlierRun& run : history.runs) {
    const auto copy = copies.find(run.source);
    history.names.push_back(copy == copies.end() ? "run " + std::to_string(run.number)
                                                 : "copy " + std::to_string(copy->second));
    copies.erase(run.source);
  }
  copies.erase(now.source);
  for (const auto& [source, number] : copies) history.unseen.push_back(number);
  std::sort(history.unseen.begin(), history.unseen.end());
  return history;
}

std::string history_json(const History& history) {
  std::vector<std::string> runs, unseen;
  for (size_t i = 0; i < history.runs.size(); ++i) {
    runs.push_back(JsonOut()
                       .text("name", history.names[i])
                       .boolean("passed", history.runs[i].passed)
                       .raw("run", history.runs[i].summary)
                       .str());
  }
  for (const int number : history.unseen) unseen.push_back(std::to_string(number));
  return JsonOut().raw("runs", json_array(runs)).raw("unseen", json_array(unseen)).str();
}

}  // namespace grade::view
