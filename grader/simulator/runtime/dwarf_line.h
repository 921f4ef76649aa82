// The line number program of one unit (.debug_line, DWARF 4 and 5).
#ifndef WARPLINGS_SIMULATOR_RUNTIME_DWARF_LINE_H_
#define WARPLINGS_SIMULATOR_RUNTIME_DWARF_LINE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/elf_image.h"

namespace warplings::sim {

struct LineRow {
  uint64_t address = 0;
  uint32_t file = 0;  // index into LineTable::files
  int line = 0;       // -1 ends a sequence
};

struct LineTable {
  std::vector<std::string> files;
  std::vector<LineRow> rows;  // sorted by address
};

// `offset` is that of the program in .debug_line. Empty if it cannot be read.
LineTable read_line_table(const ElfImage& image, uint64_t offset);

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_RUNTIME_DWARF_LINE_H_
