// The cases of corpus.cu.
#ifndef WARPLINGS_TESTS_CORPUS_H_
#define WARPLINGS_TESTS_CORPUS_H_

struct CorpusCase {
  const char* name;
  void (*planted)();
  void (*clean)();
};
extern const CorpusCase kCorpus[];
extern const int kCorpusSize;

#endif  // WARPLINGS_TESTS_CORPUS_H_
