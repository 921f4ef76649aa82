// The cases of corpus*.cu.
#ifndef WARPLINGS_TESTS_CORPUS_H_
#define WARPLINGS_TESTS_CORPUS_H_

struct CorpusCase {
  const char* name;
  void (*planted)();
  void (*clean)();
};

// The cases of one file.
struct CorpusPart {
  const CorpusCase* cases;
  int size;
};
extern const CorpusPart kBasicCorpus;   // corpus.cu
extern const CorpusPart kAsyncCorpus;   // corpus_async.cu
extern const CorpusPart kBlockCorpus;   // corpus_blocks.cu
extern const CorpusPart kStreamCorpus;  // corpus_streams.cu
extern const CorpusPart kImageCorpus;   // corpus_image.cu

#endif  // WARPLINGS_TESTS_CORPUS_H_
