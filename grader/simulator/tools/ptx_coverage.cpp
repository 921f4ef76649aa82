#include "tools/ptx_coverage.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <ostream>
#include <set>
#include <sstream>
#include <string_view>

#include "decode/opcodes.h"
#include "decode/program.h"
#include "exec/launch.h"
#include "tools/ptx_fixture.h"

namespace warplings::sim {
namespace {

constexpr std::array kOpcodes = {
#define OPCODE(mnemonic, ...) std::string_view(#mnemonic),
#include "decode/opcodes.def"
#undef OPCODE
};

std::string_view trimmed(std::string_view line) {
  const size_t first = line.find_first_not_of(" \t");
  return first == std::string_view::npos ? "" : line.substr(first);
}

}  // namespace

int report_coverage(const std::vector<std::string>& paths, std::ostream& out) {
  std::map<std::string, int> fixtures;
  const int status =
      run_ptx_fixtures(paths, out, [&](const Fixture& fixture, std::vector<uint8_t>* output) {
        std::set<std::string> opcodes;
        std::string problem = run_and_note_opcodes(fixture, output, &opcodes);
        for (const std::string& opcode : opcodes) ++fixtures[opcode];
        return problem;
      });
  size_t missing = 0, objects = 0;
  for (const std::string_view mnemonic : kOpcodes) {
    const int n = fixtures[std::string(mnemonic)];
    // Fixtures have plain buffers: programs in grader/tests/simulator/programs are for objects.
    const bool needs_object = opcode_row(mnemonic).needs_object;
    std::string line(mnemonic);
    line.resize(std::max<size_t>(line.size() + 1, 18), ' ');
    out << line << n;
    if (needs_object) {
      ++objects;
      out << "   needs a texture or surface: programs, not fixtures";
    } else if (n == 0) {
      ++missing;
      out << "   no fixture executes this";
    }
    out << "\n";
  }
  out << kOpcodes.size() - missing - objects << " of " << kOpcodes.size() - objects
      << " opcodes executed\n";
  return missing != 0 ? 1 : status;
}

int report_unknown(const std::vector<std::string>& paths, std::ostream& out) {
  int status = 0;
  for (const std::string& path : paths) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    if (!file) {
      out << path << ": this file cannot be read\n";
      status = 1;
      continue;
    }
    const LoadedModule* module = nullptr;
    try {
      module = load_module(ptx::parse(text.str(), path));
    } catch (const ptx::ParseError& error) {
      out << error.what() << "\n";
      status = 1;
      continue;
    }
    size_t unknown = 0;
    for (size_t pc = 0; pc < module->code.size(); ++pc) {
      const Instr& in = module->code[pc];
      if (in.kind != Kind::kUnsupported) continue;
      ++unknown;
      const int line = module->text_lines[pc];
      out << path << ":" << line << ": " << trimmed(module->source->text_of_line(line)) << " ("
          << module->messages[in.extra] << ")\n";
    }
    out << path << ": " << module->code.size() << " instructions, " << unknown << " unknown\n";
    if (unknown != 0) status = 1;
  }
  return status;
}

}  // namespace warplings::sim
