// The models of the cards that nobody here has, against published times: within 1.5 times.
//
// A whole product is too much work for a test. Blocks are alike, and so are the steps along k. So
// four multiprocessors are modelled, each with as many blocks as the one that gets most would have,
// and a part of k, whose time is multiplied.
#include "published.h"

#include <gtest/gtest.h>

#include <cstdio>

#include "core/gpu_model.h"
#include "warplings/sim.h"

namespace {

constexpr double kWithin = 1.5;

constexpr int kMultiprocessors = 4;

double modelled_ms(const char* card, Product product, int m, int n, int k, int parts_of_k) {
  EXPECT_EQ(wsim_select_model(card), 0);
  wsim_model_start(static_cast<double>(warplings::sim::gpu_model().multiprocessors) /
                   kMultiprocessors);
  const uint64_t mark = wsim_model_mark();
  run_product(product, m, n, k / parts_of_k);
  const double ms = 1e3 * wsim_modelled_seconds(mark) * parts_of_k;
  wsim_model_stop();
  wsim_select_model("");
  return ms;
}

void expect_near(const char* what, double modelled, double published) {
  std::printf("  %-32s modelled %7.3f ms, published %7.3f ms: %.2f\n", what, modelled, published,
              modelled / published);
  EXPECT_LE(modelled, kWithin * published) << what;
  EXPECT_GE(modelled, published / kWithin) << what;
}

// Tesla T4, 1024 x 1024 x 1024, means of 100 runs: table "CUDA Benchmark Results" of
// github.com/czhao-dev/cuda-matmul-optimizer (README.md at 0c51df1). 4096 blocks of 16 x 16 are 103
// for the multiprocessor that gets most of 40; 128 blocks of 64 x 128 are 4.
TEST(PublishedTimes, T4NaiveProduct) {
  expect_near("T4, naive", modelled_ms("t4", Product::kNaive, 256, 416, 1024, 8), 4.19);
}
// 256 x 256 x 256: 7 of 256 blocks.
TEST(PublishedTimes, T4NaiveProductOf256) {
  expect_near("T4, naive, 256", modelled_ms("t4", Product::kNaive, 64, 112, 256, 1), 0.0597);
}
TEST(PublishedTimes, T4LibraryProduct) {
  expect_near("T4, library", modelled_ms("t4", Product::kLibraryLike, 256, 512, 1024, 2), 0.4447);
}

// RTX 3070, a library's SGEMM: 0.203 ms for 1024 and 1.66 ms for 2048 at 1.48 GHz (lecture notes on
// CUTLASS and cuBLAS). 128 blocks on 46 multiprocessors: 3 on one; 512: 12.
TEST(PublishedTimes, Rtx3070Product1024) {
  expect_near("RTX 3070, 1024", modelled_ms("rtx3070", Product::kLibraryLike, 192, 512, 1024, 2),
              0.203);
}
TEST(PublishedTimes, Rtx3070Product2048) {
  const double ms = modelled_ms("rtx3070", Product::kLibraryLike, 512, 768, 2048, 16);
  const double clocks = ms * warplings::sim::find_gpu_model("rtx3070")->clock_hz;
  expect_near("RTX 3070, 2048 at 1.48 GHz", clocks / 1.48e9, 1.66);
}

}  // namespace
