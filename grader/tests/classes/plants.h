// Planted answers: what they may do before and after a function of a solution.
#ifndef WARPLINGS_TESTS_CLASSES_PLANTS_H_
#define WARPLINGS_TESTS_CLASSES_PLANTS_H_

#include <cstdint>

namespace plants {

constexpr int kRegisters = 6;

struct Plant {
  const char* name;
  // Before a function of the solution, inside of kit::run, with the registers of its first
  // kRegisters integers and pointers: true if the function is not called at all; it returns what it
  // returned the last time.
  bool (*before)(uint64_t* arguments);
  // After it: which function it was, and what it returns (as far as one register holds it).
  void (*after)(long function, uint64_t* returned);
};

// All of them; the last one has no name.
extern const Plant kPlants[];

}  // namespace plants

#endif  // WARPLINGS_TESTS_CLASSES_PLANTS_H_
