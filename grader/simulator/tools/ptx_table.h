// Tables of fixtures: many small kernels that share their shell, a few lines each. Every row is
// expanded to the text of a .ptx fixture; grader/tests/fixtures/README.md says how a table is
// written.
#ifndef WARPLINGS_SIMULATOR_TOOLS_PTX_TABLE_H_
#define WARPLINGS_SIMULATOR_TOOLS_PTX_TABLE_H_

#include <stdexcept>
#include <string>
#include <vector>

namespace warplings::sim {

// A fixture that cannot be read: "file:line: message".
class FixtureError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct FixtureText {
  std::string path;  // "folder/integer.table:12: add_s32", or that of a .ptx file
  std::string text;  // what stands in the .ptx file, or would
};

// The rows of a table, in their order. Kernels in shells that it does not declare itself use those
// of `shells`, a table without rows. Throws FixtureError.
std::vector<FixtureText> expand_table(const std::string& path, const std::string& text,
                                      const std::string& shells);

// The fixture of a .ptx file, those of a table (with "shells.table" beside it), one row of it
// ("integer.table:add_s32"), or all below a folder in the order of their names. Throws
// FixtureError.
std::vector<FixtureText> load_fixtures(const std::string& path);

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_TOOLS_PTX_TABLE_H_
