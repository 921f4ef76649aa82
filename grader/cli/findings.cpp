#include "cli/findings.h"

#include <algorithm>

#include "course/error.h"
#include "course/manifest.h"
#include "course/text.h"

namespace grade {

namespace fs = std::filesystem;

namespace {

std::vector<std::string> kinds_of(std::string heading) {
  std::vector<std::string> kinds;
  for (size_t comma = heading.find(", "); comma != std::string::npos; comma = heading.find(", ")) {
    kinds.push_back(heading.substr(0, comma));
    heading.erase(0, comma + 2);
  }
  kinds.push_back(heading);
  return kinds;
}

void read_page(const fs::path& file, std::vector<ExplainedFinding>* findings) {
  bool inside = false;  // of a section
  for (const std::string& line : course::split_lines(course::read_text(file))) {
    if (course::starts_with(line, "## ")) {
      findings->push_back({file.stem().string(), kinds_of(course::trim(line.substr(3))), {}});
      inside = true;
    } else if (inside && !course::trim(line).empty()) {
      findings->back().paragraphs.push_back(line);
    }
  }
}

}  // namespace

bool ExplainedFinding::is(const std::string& kind) const {
  return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

std::vector<ExplainedFinding> read_findings(const fs::path& root) {
  const fs::path folder = root / "docs" / "findings";
  if (!fs::exists(folder)) {
    throw course::Error(folder.string(), 0, "the pages that explain findings are missing.");
  }
  std::vector<fs::path> pages;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".md" && entry.path().stem() != "README") {
      pages.push_back(entry.path());
    }
  }
  std::sort(pages.begin(), pages.end());
  std::vector<ExplainedFinding> findings;
  for (const fs::path& page : pages) read_page(page, &findings);
  return findings;
}

}  // namespace grade
