// The pages of docs/findings: one file per check, one section per finding. A heading names all
// kinds that the section explains: "## null-pointer-read, null-pointer-write".
#ifndef WARPLINGS_CLI_FINDINGS_H_
#define WARPLINGS_CLI_FINDINGS_H_

#include <filesystem>
#include <string>
#include <vector>

namespace grade {

struct ExplainedFinding {
  std::string check;  // the name of the file: "racecheck"
  std::vector<std::string> kinds;
  std::vector<std::string> paragraphs;

  bool is(const std::string& kind) const;
};

// In the order of the files and their headings. Throws course::Error where the folder is missing.
std::vector<ExplainedFinding> read_findings(const std::filesystem::path& root);

}  // namespace grade
#endif  // WARPLINGS_CLI_FINDINGS_H_
