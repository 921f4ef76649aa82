// Fixtures: small PTX files, or rows of a table that expand to them (ptx_table.h), which say in
// comments what their first kernel must compute.
//
//   // input: f32 1.5, -0.0         values of the input buffer; several lines are joined
//   // expect: u32 0x3fc00000       what the output buffer must hold; several lines are joined
//   // launch: grid 1 block 64      optional; up to three numbers each (grid 2 2 block 32 4)
//   // shared: 1024                 optional; bytes of dynamic shared memory
//   // tolerance: relative 1e-6     optional, also "absolute 1e-7" and "ulp 2"; else bit for bit
//
// A type is a PTX type, or b8 b16 b32 b64 for bits in hexadecimal. Values are PTX constants, inf,
// -inf or nan (the canonical one). The kernel takes (pointer to input, pointer to output), without
// an input line the output alone; the output starts zeroed.
#ifndef WARPLINGS_SIMULATOR_TOOLS_PTX_FIXTURE_H_
#define WARPLINGS_SIMULATOR_TOOLS_PTX_FIXTURE_H_

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <set>
#include <string>
#include <vector>

#include "ptx/module.h"
#include "tools/ptx_table.h"

namespace warplings::sim {

struct Fixture {
  enum class Tolerance : uint8_t { kNone, kRelative, kAbsolute, kUlp };

  std::string path;
  std::string text;
  bool has_input = false;
  std::vector<uint8_t> input;
  std::vector<uint8_t> expected;
  // Which type the expected bytes have, in runs: comparison and messages go element by element.
  struct Run {
    ptx::Type type;
    size_t count;
  };
  std::vector<Run> runs;
  unsigned grid[3] = {1, 1, 1};
  unsigned block[3] = {1, 1, 1};
  size_t shared_bytes = 0;
  Tolerance tolerance = Tolerance::kNone;
  double tolerance_value = 0;
};

// Reads the comments of `text`. Throws FixtureError.
Fixture read_fixture(std::string path, std::string text);

// Runs the fixture's kernel and fills `output`, which has the size of fixture.expected and is
// zeroed. Returns what went wrong, empty if nothing did. May throw ptx::ParseError.
using FixtureRunner =
    std::function<std::string(const Fixture& fixture, std::vector<uint8_t>* output)>;
std::string run_on_simulator(const Fixture& fixture, std::vector<uint8_t>* output);
// The same; `opcodes` gets the mnemonic of every instruction that was executed.
std::string run_and_note_opcodes(const Fixture& fixture, std::vector<uint8_t>* output,
                                 std::set<std::string>* opcodes);
std::string run_on_gpu(const Fixture& fixture, std::vector<uint8_t>* output);  // the CUDA driver
// ... with an assembler that does not optimise.
std::string run_on_gpu_unoptimised(const Fixture& fixture, std::vector<uint8_t>* output);

// Differences between output and expectation, empty if there are none.
std::string compare(const Fixture& fixture, const std::vector<uint8_t>& output);

// Runs the fixtures of all paths (load_fixtures says which those are). Prints each failure, of a
// row with the PTX that ran, and "N passed, M failed". Returns 0 if all passed, 1 if one failed, 2
// if a path has nothing to run.
int run_ptx_fixtures(const std::vector<std::string>& paths, std::ostream& out,
                     const FixtureRunner& runner = run_on_simulator);

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_TOOLS_PTX_FIXTURE_H_
