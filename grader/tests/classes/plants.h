// Planted answers: what they may do before and after a function of a solution.
#ifndef WARPLINGS_TESTS_CLASSES_PLANTS_H_
#define WARPLINGS_TESTS_CLASSES_PLANTS_H_

namespace plants {

struct Plant {
  const char* name;
  // Before a function of the solution, inside of kit::run: true if the function is not called at
  // all; it returns what it returned the last time.
  bool (*before)();
  // After it.
  void (*after)();
};

// All of them; the last one has no name.
extern const Plant kPlants[];

}  // namespace plants

#endif  // WARPLINGS_TESTS_CLASSES_PLANTS_H_
