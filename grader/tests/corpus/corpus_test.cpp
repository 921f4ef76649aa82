// Every planted defect of corpus*.cu is found on its line; no clean twin is accused; notes are
// where they belong; the report is the same every time; every sentence of sentences.txt is shown.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <future>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace {

struct Marker {
  std::string name, finding, file;
  int line = 0;
};

struct Found {
  std::string kind, severity, message;
  int line = 0;
};

struct Case {
  std::string name;
  std::vector<std::string> shows;
};

// "NAME KIND" behind `word`; a second marker of the line ("..., noted: KIND") has the same name.
void read_marker(const std::string& text, const std::string& word, Marker marker,
                 std::vector<Marker>* markers) {
  const size_t at = text.find(word);
  if (at == std::string::npos) return;
  std::istringstream words(text.substr(at + word.size()));
  std::string first;
  words >> first;
  if (first.find('/') == std::string::npos) {
    marker.name = first;
    words >> marker.finding;
  } else {
    std::istringstream planted(text.substr(text.find("// planted: ") + 12));
    planted >> marker.name;
    marker.finding = first;
  }
  if (!marker.finding.empty() && marker.finding.back() == ',') marker.finding.pop_back();
  markers->push_back(marker);
}

// Markers like "// planted: NAME KIND". One on a line of its own is about the next line.
std::vector<Marker> read_markers(const std::string& word) {
  std::vector<Marker> markers;
  std::istringstream paths(CORPUS_SOURCES);  // one after the other, ':' between
  for (std::string path; std::getline(paths, path, ':');) {
    std::ifstream source(path);
    std::string text;
    for (int line = 1; std::getline(source, text); ++line) {
      if (text.compare(0, 2, "//") == 0) continue;
      const size_t comment = text.find("//");
      if (comment == std::string::npos) continue;
      const bool alone = text.find_first_not_of(' ') == comment;
      Marker marker;
      marker.file = path.substr(path.rfind('/') + 1);
      marker.line = alone ? line + 1 : line;
      read_marker(text, word, marker, &markers);
    }
  }
  return markers;
}

std::string output_of(const std::string& arguments, const std::string& environment = "") {
  // The loops that do not end are stopped early, and no assembler is asked for registers.
  const std::string command =
      "GRADE_SIM_MAX_WARP_INSTRUCTIONS=1000000 GRADE_SIM_PTXAS= " + environment + " '" +
      CORPUS_PROGRAM + "' " + arguments + " 2>/dev/null";
  std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::string out;
  std::array<char, 4096> buffer;
  while (const size_t n = std::fread(buffer.data(), 1, buffer.size(), pipe.get())) {
    out.append(buffer.data(), n);
  }
  return out;
}

std::vector<Found> findings_in(const std::string& output) {
  std::vector<Found> findings;
  std::istringstream lines(output);
  std::string line;
  while (std::getline(lines, line)) {
    if (line.rfind("finding ", 0) != 0) continue;
    std::istringstream words(line.substr(8));
    Found found;
    words >> found.kind >> found.line >> found.severity;
    std::getline(words, found.message);
    findings.push_back(found);
  }
  return findings;
}

// "memcheck/*" fits every kind of the check.
bool fits(const std::string& kind, const std::string& wanted) {
  const size_t star = wanted.find('*');
  return star == std::string::npos ? kind == wanted : kind.compare(0, star, wanted, 0, star) == 0;
}

void expect_finding(const std::string& output, const Marker& marker, const char* severity) {
  bool found = false;
  for (const Found& finding : findings_in(output)) {
    found = found || (fits(finding.kind, marker.finding) && finding.line == marker.line &&
                      finding.severity == severity);
  }
  EXPECT_TRUE(found) << "expected " << severity << " " << marker.finding << " on line "
                     << marker.line << " of " << marker.file << ", got\n"
                     << output;
}

std::vector<Case> cases() {
  std::vector<Case> out;
  std::istringstream lines(output_of("--list"));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    Case entry;
    words >> entry.name;
    for (std::string id; words >> id;) entry.shows.push_back(id);
    out.push_back(entry);
  }
  return out;
}

std::set<std::string> names_that_show(const std::string& sentence) {
  std::set<std::string> names;
  for (const Case& entry : cases()) {
    for (const std::string& id : entry.shows) {
      if (id == sentence) names.insert(entry.name);
    }
  }
  return names;
}

TEST(Corpus, HasAMarkerForEveryCaseThatPlantsSomething) {
  std::map<std::string, int> markers;
  for (const char* word : {"// planted: ", "// leaked: "}) {
    for (const Marker& marker : read_markers(word)) ++markers[marker.name];
  }
  std::vector<std::string> without;
  for (const Case& entry : cases()) {
    if (markers[entry.name] == 0) without.push_back(entry.name);
    EXPECT_LE(markers[entry.name], 1) << entry.name;
    markers.erase(entry.name);
  }
  // It is clean twice.
  EXPECT_EQ(without, std::vector<std::string>{"early_return"});
  for (const auto& [name, count] : markers) ADD_FAILURE() << name << " has no case";
}

// Each case is a planted and a clean program.
TEST(Corpus, EverySentenceHasTwoPlantedAndTwoCleanPrograms) {
  std::map<std::string, int> planted, clean;
  for (const Case& entry : cases()) {
    EXPECT_FALSE(entry.shows.empty()) << entry.name;
    for (const std::string& id : entry.shows) {
      ++clean[id];
      if (entry.name != "early_return") ++planted[id];
    }
  }
  std::ifstream sentences(CORPUS_SENTENCES);
  std::string text;
  int count = 0;
  while (std::getline(sentences, text)) {
    if (text.empty() || text[0] == '#') continue;
    const std::string id = text.substr(0, text.find_first_of(" |"));
    EXPECT_GE(planted[id], 2) << id;
    EXPECT_GE(clean[id], 2) << id;
    clean.erase(id);
    ++count;
  }
  EXPECT_GE(count, 50) << CORPUS_SENTENCES;
  for (const auto& [id, n] : clean) ADD_FAILURE() << id << " is no sentence";
}

// Not as the assembler calls it.
TEST(Corpus, AVariableInAnUnnamedNamespaceHasItsName) {
  const std::string output = output_of("write_constant planted");
  EXPECT_NE(output.find("writes element 0 of `table`"), std::string::npos) << output;
}

// The missing barrier belongs between two rounds of a loop. In one of them the other barrier orders
// the two, so "between the accesses" would send the reader there.
TEST(Corpus, ARaceOfTwoRoundsOfALoopIsToldAsOne) {
  const std::string output = output_of("second_barrier planted");
  EXPECT_NE(output.find("between the read at corpus.cu:301 of one round and the write at "
                        "corpus.cu:299 of the next"),
            std::string::npos)
      << output;
  EXPECT_EQ(output.find("between the two accesses"), std::string::npos) << output;
  const std::string other = output_of("missing_barrier planted");
  EXPECT_EQ(other.find("of the next"), std::string::npos) << other;
  EXPECT_NE(other.find("A __syncthreads() between the two accesses"), std::string::npos) << other;
}

// Lanes of one warp are what is seen; the other warps of the block race as well.
TEST(Corpus, ASyncwarpIsNoAdviceWhereABlockHasSeveralWarps) {
  const std::string advice = "a __syncwarp() or __syncthreads() between";
  EXPECT_EQ(output_of("missing_barrier planted").find(advice), std::string::npos);
  EXPECT_NE(output_of("missing_syncwarp planted").find(advice), std::string::npos);
}

TEST(Corpus, ALaneThatIsMissingMayWaitAtABarrier) {
  const std::string output = output_of("lanes_at_barrier planted");
  EXPECT_NE(output.find("it waits at the barrier at corpus_lanes.cu:94"), std::string::npos)
      << output;
  EXPECT_NE(output.find("or the mask names lanes that do not come here"), std::string::npos)
      << output;
}

TEST(Corpus, EveryPlantedDefectIsFoundOnItsLine) {
  for (const Marker& marker : read_markers("// planted: ")) {
    SCOPED_TRACE(marker.name);
    expect_finding(output_of(marker.name + " planted"), marker, "error");
  }
}

TEST(Corpus, NoCleanTwinIsAccusedAndNotesStandWhereTheyBelong) {
  std::multimap<std::string, Marker> notes;
  for (const char* word : {"// noted: ", ", noted: "}) {
    for (const Marker& marker : read_markers(word)) notes.emplace(marker.name, marker);
  }
  EXPECT_GE(notes.size(), 6u);
  for (const Case& entry : cases()) {
    SCOPED_TRACE(entry.name);
    const std::string output = output_of(entry.name + " clean");
    const auto [first, last] = notes.equal_range(entry.name);
    for (auto note = first; note != last; ++note) expect_finding(output, note->second, "note");
    for (const Found& finding : findings_in(output)) {
      bool expected = false;
      for (auto note = first; note != last; ++note) {
        expected = expected || finding.kind == note->second.finding;
      }
      if (finding.severity == "note" && expected) continue;
      ADD_FAILURE() << finding.kind << " line " << finding.line << ":" << finding.message;
    }
  }
}

TEST(Corpus, WhatIsNotFreedIsANoteAtTheEnd) {
  const auto report_of = [](const std::string& arguments) {
    return output_of(arguments + " 2>&1 >/dev/null; echo status $?", "GRADE_EXEC=1");
  };
  for (const Marker& marker : read_markers("// leaked: ")) {
    const std::string report = report_of(marker.name + " planted");
    const std::string place = marker.file + ":" + std::to_string(marker.line);
    EXPECT_NE(report.find("leak (note): 1 allocation was not freed"), std::string::npos) << report;
    EXPECT_NE(report.find(place), std::string::npos) << place << "\n" << report;
    EXPECT_NE(report.find("status 0"), std::string::npos) << report;
    EXPECT_EQ(report_of(marker.name + " clean"), "status 0\n");
  }
}

// The same words in the same order, twenty times; two processes at a time.
TEST(Corpus, ReportsAreTheSameEveryTime) {
  const std::vector<Marker> markers = read_markers("// planted: ");
  const auto every_second_from = [&](size_t first) {
    for (size_t i = first; i < markers.size(); i += 2) {
      const std::string arguments = markers[i].name + " planted", report = output_of(arguments);
      for (int run = 1; run < 20; ++run) EXPECT_EQ(output_of(arguments), report) << arguments;
    }
  };
  const auto others = std::async(std::launch::async, every_second_from, 1);
  every_second_from(0);
}

// What racecheck says, without who came first: that depends on the order.
std::set<std::string> verdict_of(const std::string& arguments, const char* order) {
  std::set<std::string> verdict;
  const std::string environment = std::string("GRADE_SIM_ORDER=") + order;
  for (const Found& finding : findings_in(output_of(arguments, environment))) {
    if (fits(finding.kind, "racecheck/*")) verdict.insert(finding.kind + " " + finding.severity);
  }
  return verdict;
}

TEST(Corpus, CodeWithBarriersGetsOneVerdictInEveryOrderOfTheBlocks) {
  const std::set<std::string> names = names_that_show("race.schedule");
  EXPECT_GE(names.size(), 10u);
  for (const std::string& name : names) {
    for (const char* twin : {" planted", " clean"}) {
      const std::set<std::string> forward = verdict_of(name + twin, "forward");
      EXPECT_EQ(forward.empty(), std::string(twin) == " clean") << name;
      EXPECT_EQ(verdict_of(name + twin, "reversed"), forward) << name << twin;
      EXPECT_EQ(verdict_of(name + twin, "turns"), forward) << name << twin;
    }
  }
}

// peek_at_next shows when the blocks begin with the last one, first_and_not_alone when they take
// turns.
TEST(Corpus, OtherOrdersOfTheBlocksFindWhatOneOrderHides) {
  const std::string race = "racecheck/global-race error";
  EXPECT_EQ(verdict_of("peek_at_next planted", "forward").count(race), 0u);
  EXPECT_EQ(verdict_of("peek_at_next planted", "reversed").count(race), 1u);
  EXPECT_EQ(verdict_of("first_and_not_alone planted", "forward").count(race), 0u);
  EXPECT_EQ(verdict_of("first_and_not_alone planted", "reversed").count(race), 0u);
  EXPECT_EQ(verdict_of("first_and_not_alone planted", "turns").count(race), 1u);
  for (const std::string& name : names_that_show("race.repeat")) {
    EXPECT_EQ(verdict_of(name + " planted", "").count(race), 1u) << name;
    EXPECT_EQ(verdict_of(name + " clean", "").count(race), 0u) << name;
  }
}

}  // namespace
