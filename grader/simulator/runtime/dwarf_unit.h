// One compilation unit of DWARF 4 or 5: its line table, and the calls that were inlined into it.
//
// Only what "which source line is this address" needs. The line table alone is not enough: nvcc's
// headers wrap the runtime in inline templates, and after inlining the table says "cuda_runtime.h".
#ifndef WARPLINGS_SIMULATOR_RUNTIME_DWARF_UNIT_H_
#define WARPLINGS_SIMULATOR_RUNTIME_DWARF_UNIT_H_

#include <cstdint>
#include <vector>

#include "core/finding.h"
#include "runtime/dwarf_line.h"
#include "runtime/elf_image.h"

namespace warplings::sim {

// Addresses here are as linked, without load bias.
class DwarfUnit {
 public:
  // `offset` is that of the unit in .debug_info.
  DwarfUnit(const ElfImage& image, uint64_t offset);

  // Unknown if the unit does not cover the address.
  Position line_of(uint64_t address) const;
  // Call sites of the inlined calls around `address`, innermost first.
  std::vector<Position> inlined_at(uint64_t address) const;

 private:
  struct InlinedCall {
    uint64_t low, high;
    uint32_t file;
    int line;
  };
  friend class DieReader;

  Position position(uint32_t file, int line) const;

  LineTable lines_;
  std::vector<InlinedCall> calls_;  // outer before inner
};

// Offset in .debug_info of the unit that covers the address, from .debug_aranges; false if absent.
bool find_unit(const ElfImage& image, uint64_t address, uint64_t* offset);

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_RUNTIME_DWARF_UNIT_H_
