// Random kernels: what they are made of, and how they become PTX, input and a description of their
// output. The same seed gives the same kernel on every machine.
#ifndef WARPLINGS_TESTS_SIMULATOR_RANDOM_PROGRAM_H_
#define WARPLINGS_TESTS_SIMULATOR_RANDOM_PROGRAM_H_

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "generator.h"
#include "tools/ptx_fixture.h"

namespace warplings::sim::random {

// The registers that carry values from instruction to instruction. Each thread loads all of them
// before the first instruction and stores all of them after the last one, so any instruction can be
// taken out and a kernel remains.
struct RegisterKind {
  char letter;         // in templates: $r, @f, ...
  const char* prefix;  // of its names
  const char* type;    // in .reg
  int count;
  int bytes;  // 0: a predicate
};
inline constexpr std::array<RegisterKind, 10> kKinds = {{
    {'l', "%rd", ".b64", 5, 8},
    {'d', "%fd", ".f64", 5, 8},
    {'r', "%r", ".b32", 8, 4},
    {'f', "%f", ".f32", 7, 4},
    {'x', "%x", ".b32", 3, 4},  // two f16
    {'y', "%y", ".b32", 3, 4},  // two bf16
    {'h', "%rs", ".b16", 4, 2},
    {'a', "%a", ".b16", 3, 2},  // f16
    {'b', "%b", ".b16", 3, 2},  // bf16
    {'p', "%p", ".pred", 4, 0},
}};
const RegisterKind& kind_of(char letter);

// An instruction with the few that belong to it, or a branch or loop around others.
struct Unit {
  enum class Type : uint8_t { kCode, kBranch, kLoop };
  Type type = Type::kCode;
  int id = 0;                      // of all units of a program, outer ones first
  std::vector<std::string> lines;  // kCode: its text
  std::string condition;           // kBranch: a predicate; kLoop: the register that has the trips
  bool with_mask = false;          // kBranch: %k<id> holds the lanes that take it
  std::vector<Unit> body;
};

// A result of an .approx instruction: kept apart, because only its error is defined.
struct Approximate {
  std::string name;
  double relative = 0, absolute = 0;
};

// A value that each thread stores at the end.
struct Element {
  std::string name;
  uint32_t offset = 0;  // in the thread's slot
  uint32_t bytes = 4;
  double relative = 0, absolute = 0;  // both 0: bit for bit
  bool is_exact() const { return relative == 0 && absolute == 0; }
};

struct Program {
  uint64_t seed = 0;
  unsigned grid = 1, block = 32;
  bool needs_sm_90 = false;
  std::vector<Unit> units;
  int unit_count = 0;
  std::array<int, kKinds.size()> temporaries{};  // of each kind
  std::vector<Approximate> approximate;
  unsigned threads() const { return grid * block; }
};

// Bytes before the first thread's slot: cells that all threads add to.
inline constexpr uint32_t kCells = 16;
inline constexpr uint32_t kCellBytes = 8;
// Words of shared memory that one thread owns, and of its local array.
inline constexpr uint32_t kSharedSlotBytes = 16;
inline constexpr uint32_t kLocalBytes = 64;

Program generate(uint64_t seed);

// Which parts of a program are written out; everything by default.
struct Selection {
  std::vector<bool> alive;     // per unit
  std::vector<bool> elements;  // per element of the output
  static Selection all(const Program& program);
};

std::vector<Element> elements_of(const Program& program);
uint32_t slot_bytes(const Program& program);
size_t output_bytes(const Program& program);

std::string text_of(const Program& program, const Selection& selection);
// Initial registers of every thread, many of them special values.
std::vector<uint8_t> input_of(const Program& program);
// What the runners of fixtures run.
Fixture fixture_of(const Program& program, const Selection& selection);

}  // namespace warplings::sim::random

#endif  // WARPLINGS_TESTS_SIMULATOR_RANDOM_PROGRAM_H_
