// Small kernels whose counters are known or compared with hardware. One case is one launch.
#ifndef WARPLINGS_TESTS_COUNTER_CASES_H_
#define WARPLINGS_TESTS_COUNTER_CASES_H_

struct CounterCase {
  const char* name;
  void (*run)(int n);  // allocates, launches once, synchronises, frees
  int n;               // usual size; what it means is the kernel's business
};

extern const CounterCase kCounterCases[];
extern const int kCounterCaseCount;

// False if there is no such case. n = 0: the usual size.
bool run_counter_case(const char* name, int n);

#endif  // WARPLINGS_TESTS_COUNTER_CASES_H_
