// counters NAME [N]: runs one case. counters --all: every case, in order. counters --list: the
// names.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "counter_cases.h"

int main(int argc, char** argv) {
  const bool list = argc == 2 && std::strcmp(argv[1], "--list") == 0;
  const bool all = argc == 2 && std::strcmp(argv[1], "--all") == 0;
  for (int i = 0; i < kCounterCaseCount && (list || all); ++i) {
    if (list) std::printf("%s\n", kCounterCases[i].name);
    if (all) kCounterCases[i].run(kCounterCases[i].n);
  }
  if (list || all) return 0;
  if (argc < 2 || !run_counter_case(argv[1], argc > 2 ? std::atoi(argv[2]) : 0)) {
    std::fprintf(stderr, "usage: counters --list | --all | NAME [N]\n");
    return 2;
  }
  return 0;
}
