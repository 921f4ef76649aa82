// The cases of corpus*.cu.
#ifndef WARPLINGS_TESTS_CORPUS_H_
#define WARPLINGS_TESTS_CORPUS_H_

struct CorpusCase {
  const char* name;
  const char* shows;  // ids of sentences.txt, blanks between
  void (*planted)();
  void (*clean)();
};
#define CASE(name, shows) \
  { #name, shows, run_##name < true>, run_##name < false> }

// The cases of one file.
struct CorpusPart {
  const CorpusCase* cases;
  int size;
};
extern const CorpusPart kBasicCorpus;      // corpus.cu
extern const CorpusPart kAsyncCorpus;      // corpus_async.cu
extern const CorpusPart kBlockCorpus;      // corpus_blocks.cu
extern const CorpusPart kStreamCorpus;     // corpus_streams.cu
extern const CorpusPart kImageCorpus;      // corpus_image.cu
extern const CorpusPart kMemoryCorpus;     // corpus_memory.cu
extern const CorpusPart kOrderCorpus;      // corpus_order.cu
extern const CorpusPart kLaneCorpus;       // corpus_lanes.cu
extern const CorpusPart kBulkCorpus;       // corpus_bulk.cu
extern const CorpusPart kClusterCorpus;    // corpus_clusters.cu
extern const CorpusPart kWgmmaCorpus;      // corpus_wgmma.cu
extern const CorpusPart kDependentCorpus;  // corpus_dependent.cu
extern const CorpusPart kMapCorpus;        // corpus_maps.cu

#endif  // WARPLINGS_TESTS_CORPUS_H_
