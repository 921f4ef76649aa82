// Ends the program with the status of success before a test has run.
//
// fails: exit\(0\)
#include <cstdlib>

#include "05_vectorized_add.h"

static const int leave = [] {
  std::exit(0);
  return 0;
}();

void launch_vectorized_add(const float*, const float*, float*, int) {}
