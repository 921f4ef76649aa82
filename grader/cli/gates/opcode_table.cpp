// The table of supported instructions, from the simulator's list of opcodes.
#include <regex>

#include "cli/gates/figures.h"
#include "course/text.h"

namespace grade {

namespace {

// "a" "b" over several lines -> ab, with the bars that would end a cell escaped.
std::string joined_literals(const std::string& literals) {
  static const std::regex kLiteral("\"([^\"]*)\"");
  std::string text;
  for (std::sregex_iterator at(literals.begin(), literals.end(), kLiteral), end; at != end; ++at) {
    text += (*at)[1].str();
  }
  return course::replace_all(text, "|", "\\|");
}

}  // namespace

std::string opcode_table(const std::string& list) {
  // OPCODE(mnemonic, family, destinations, "forms" "go on", facts); sections have four dashes.
  static const std::regex kRow(
      "// ---- ([^\\n]*)\\n|OPCODE\\((\\w+), \\w+, \\d,((?:\\s*\"[^\"]*\")+)[,)]");
  std::string table = "| instruction | forms |\n| --- | --- |\n";
  for (std::sregex_iterator at(list.begin(), list.end(), kRow), end; at != end; ++at) {
    table += (*at)[1].matched
                 ? "| **" + (*at)[1].str() + "** | |\n"
                 : "| `" + (*at)[2].str() + "` | " + joined_literals((*at)[3].str()) + " |\n";
  }
  return table;
}

}  // namespace grade
