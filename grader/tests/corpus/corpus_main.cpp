// corpus NAME planted|clean: runs one case and prints one line per finding,
//   finding CHECK/KIND LINE error|note MESSAGE
// corpus --list prints the names, each with the ids of the sentences that it shows.
#include <warplings/sim.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "corpus.h"

namespace {

const CorpusPart* const kParts[] = {
    &kBasicCorpus,  &kAsyncCorpus,     &kBlockCorpus, &kStreamCorpus, &kImageCorpus,
    &kMemoryCorpus, &kOrderCorpus,     &kLaneCorpus,  &kBulkCorpus,   &kClusterCorpus,
    &kWgmmaCorpus,  &kDependentCorpus, &kMapCorpus};

void print_findings() {
  for (int i = 0; i < wsim_finding_count(); ++i) {
    wsim_finding finding;
    if (wsim_get_finding(i, &finding) != 0) continue;
    std::printf("finding %s/%s %d %s %s\n", finding.check, finding.kind, finding.line,
                finding.is_note ? "note" : "error", finding.message);
  }
  std::fflush(stdout);
}

// A finding that the program cannot outlive (host access to device memory).
void print_and_leave() {
  print_findings();
  std::_Exit(0);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "--list") == 0) {
    for (const CorpusPart* part : kParts) {
      for (int i = 0; i < part->size; ++i) {
        std::printf("%s %s\n", part->cases[i].name, part->cases[i].shows);
      }
    }
    return 0;
  }
  if (argc != 3) return 2;
  wsim_set_fatal_hook(print_and_leave);
  for (const CorpusPart* part : kParts) {
    for (int i = 0; i < part->size; ++i) {
      const CorpusCase& entry = part->cases[i];
      if (std::strcmp(entry.name, argv[1]) != 0) continue;
      (std::strcmp(argv[2], "planted") == 0 ? entry.planted : entry.clean)();
      print_findings();
      return 0;
    }
  }
  return 2;
}
