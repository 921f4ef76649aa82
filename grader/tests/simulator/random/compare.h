// Two runs of a random kernel held against each other, and a difference made small.
#ifndef WARPLINGS_TESTS_SIMULATOR_RANDOM_COMPARE_H_
#define WARPLINGS_TESTS_SIMULATOR_RANDOM_COMPARE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "program.h"

namespace warplings::sim::random {

// One of the machines: its name in reports, and how it runs a kernel.
struct Machine {
  std::string name;
  FixtureRunner run;
};

// What a machine made of a kernel.
struct Result {
  std::string problem;  // empty: it ran, without a finding
  std::vector<uint8_t> output;
};
Result run(const Machine& machine, const Program& program, const Selection& selection);

// The first value that differs: one line of a report. Empty if the results agree: bit for bit, or
// within the documented error of an .approx instruction.
struct Difference {
  std::string text;
  int element = -1;  // index in elements_of; -1: a cell of the grid, or a problem
  int thread = -1;   // in the grid
};
Difference difference(const Program& program, const Machine& a, const Result& result_a,
                      const Machine& b, const Result& result_b);

// Everything that a person needs who looks for the cause: the difference in the whole kernel, then
// the least kernel that still shows one.
std::string explain(const Program& program, const Machine& a, const Machine& b);

// Of the values that are compared bit for bit.
uint64_t hash_of(const Program& program, const std::vector<uint8_t>& output);
uint64_t hash_of(const std::string& text, uint64_t start);

}  // namespace warplings::sim::random

#endif  // WARPLINGS_TESTS_SIMULATOR_RANDOM_COMPARE_H_
