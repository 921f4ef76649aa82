// counters NAME [N]: runs one case. counters --list: the names, one per line.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "counter_cases.h"

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "--list") == 0) {
    for (int i = 0; i < kCounterCaseCount; ++i) std::printf("%s\n", kCounterCases[i].name);
    return 0;
  }
  if (argc < 2 || !run_counter_case(argv[1], argc > 2 ? std::atoi(argv[2]) : 0)) {
    std::fprintf(stderr, "usage: counters --list | NAME [N]\n");
    return 2;
  }
  return 0;
}
