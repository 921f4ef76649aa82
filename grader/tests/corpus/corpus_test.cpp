// Every planted defect of corpus*.cu is found on its line; no clean twin is accused; the report is
// the same every time.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

namespace {

struct Marker {
  std::string name, finding;
  int line = 0;
};

struct Found {
  std::string kind, severity, message;
  int line = 0;
};

std::vector<Marker> read_markers() {
  std::vector<Marker> markers;
  std::istringstream paths(CORPUS_SOURCES);  // one after the other, ':' between
  for (std::string path; std::getline(paths, path, ':');) {
    std::ifstream source(path);
    std::string text;
    for (int line = 1; std::getline(source, text); ++line) {
      const size_t at = text.find("// planted: ");
      if (at == std::string::npos || text.compare(0, 2, "//") == 0) continue;
      std::istringstream words(text.substr(at + 12));
      Marker marker;
      words >> marker.name >> marker.finding;
      marker.line = line;
      markers.push_back(marker);
    }
  }
  return markers;
}

std::string output_of(const std::string& arguments) {
  const std::string command = std::string("'") + CORPUS_PROGRAM + "' " + arguments + " 2>/dev/null";
  std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::string out;
  std::array<char, 4096> buffer;
  while (const size_t n = std::fread(buffer.data(), 1, buffer.size(), pipe.get())) {
    out.append(buffer.data(), n);
  }
  return out;
}

std::vector<Found> run(const std::string& name, const char* twin) {
  std::vector<Found> findings;
  std::istringstream lines(output_of(name + " " + twin));
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

std::vector<std::string> names() {
  std::vector<std::string> out;
  std::istringstream lines(output_of("--list"));
  for (std::string line; std::getline(lines, line);) out.push_back(line);
  return out;
}

TEST(Corpus, HasAMarkerForEveryCaseThatPlantsSomething) {
  const std::vector<Marker> markers = read_markers();
  ASSERT_GE(markers.size(), 20u);
  int without = 0;
  for (const std::string& name : names()) {
    int n = 0;
    for (const Marker& marker : markers) n += marker.name == name;
    EXPECT_LE(n, 1) << name;
    without += n == 0;
  }
  EXPECT_EQ(without, 1) << "only early_return plants nothing: it is clean twice";
}

TEST(Corpus, EveryPlantedDefectIsFoundOnItsLine) {
  for (const Marker& marker : read_markers()) {
    SCOPED_TRACE(marker.name);
    bool found = false;
    std::string all;
    for (const Found& finding : run(marker.name, "planted")) {
      all += finding.kind + " line " + std::to_string(finding.line) + ":" + finding.message + "\n";
      found = found || (fits(finding.kind, marker.finding) && finding.line == marker.line &&
                        finding.severity == "error");
    }
    EXPECT_TRUE(found) << "expected " << marker.finding << " on line " << marker.line << ", got\n"
                       << (all.empty() ? "nothing" : all);
  }
}

TEST(Corpus, NoCleanTwinIsAccused) {
  for (const std::string& name : names()) {
    SCOPED_TRACE(name);
    for (const Found& finding : run(name, "clean")) {
      if (finding.severity == "note") continue;
      ADD_FAILURE() << finding.kind << " line " << finding.line << ":" << finding.message;
    }
  }
}

TEST(Corpus, ReportsAreTheSameEveryTime) {
  for (const char* name : {"missing_barrier", "second_barrier", "extra_barrier", "write_write"}) {
    const std::string first = output_of(std::string(name) + " planted");
    ASSERT_NE(first.find("finding "), std::string::npos) << name;
    for (int i = 0; i < 5; ++i) EXPECT_EQ(output_of(std::string(name) + " planted"), first) << name;
  }
}

}  // namespace
