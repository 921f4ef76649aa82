// Tests of 09/16 CUTLASS. The reference, in double, is in test/matmul.h.
#include "16_cutlass_gemm.h"

#include <cstring>

#include "07_tiled_matmul/test/matmul.h"
#include "kit/kit.h"

namespace {

using kit::MatmulSizes;

// Calls the learner's function, and fails the case if CUTLASS refused.
void multiply(const float* a, const float* b, float* c, int m, int n, int k) {
  const char* const said = launch_cutlass_gemm(a, b, c, m, n, k, nullptr);
  if (std::strcmp(said, "Success") == 0) return;
  kit::fail(std::string("CUTLASS says: ") + said +
            ". \"Misaligned Operand\": a kernel of wide loads needs rows whose length is a "
            "multiple of them.");
}

// Memsets of known sizes: the first calls are long, then short ones with one long among them.
struct Workload {
  char* memory = nullptr;
  int calls = 0;
  // Bytes. The simulator writes them one by one, and its clock follows the card's bandwidth.
  size_t short_one = size_t{kit::simulated() ? 4U : 64U} << 20, long_one = 16 * short_one;
  void operator()() {
    cudaMemsetAsync(memory, calls % 256, calls < 10 || calls == 13 ? long_one : short_one, nullptr);
    ++calls;
  }
};

}  // namespace

TEST(CutlassGemm, KeepsFullPrecision) {
  RecordProperty("todo", 1);
  kit::check_matmul_precision(multiply, {40, 24, 512});
  kit::check_matmul(multiply, {128, 64, 1000});
}

TEST(CutlassGemm, MultipliesEveryShape) {
  RecordProperty("todo", 2);
  kit::for_each("c", kit::awkward_matmuls(),
                [](const MatmulSizes& s) { kit::check_matmul_exact(multiply, s); });
  kit::check_matmul_exact(multiply, {256, 192, 64});
}

TEST(CutlassGemm, TakesTheMedianBehindTheWarmUps) {
  RecordProperty("todo", 3);
  Workload workload;
  if (cudaMalloc(&workload.memory, workload.long_one) != cudaSuccess) {
    kit::fail("This test needs " + std::to_string(workload.long_one >> 20) +
              " MiB of device memory.");
    return;
  }
  for (int i = 0; i < 3; ++i) cudaMemset(workload.memory, 0, workload.long_one);
  const double expected =
      kit::milliseconds([&] { cudaMemsetAsync(workload.memory, 1, workload.short_one, nullptr); });
  const float got = median_ms(10, 7, nullptr, [&] { workload(); });
  cudaDeviceSynchronize();
  cudaFree(workload.memory);
  if (workload.calls != 17) {
    kit::fail("work() was called " + std::to_string(workload.calls) +
              " times; ten calls to warm up and seven that are timed are 17.");
  }
  if (!(got > expected / 4 && got < expected * 4)) {
    kit::fail(
        "median_ms returned " + std::to_string(got) + " ms for a memset that takes about " +
        std::to_string(expected) +
        " ms. The calls that warm up are longer here, and so is one of those that are timed.");
  }
}

TEST(CutlassGemm, CutsTheProductForAWholeCard) {
  RecordProperty("todo", 1);
  const MatmulSizes s = {1024, 1024, 8};
  const kit::Run run = kit::check_matmul_exact(multiply, s);
  kit::budget("blocks for 132 multiprocessors", static_cast<double>(run.counters().blocks),
              kit::at_least(100),
              "A tile of c for each block: the larger the tile, the fewer of them");
}

TEST(CutlassGemm, IsFastAt1024) {
  RecordProperty("todo", 1);
  const int side = kit::simulated() ? 128 : 1024;  // nothing is timed without a GPU
  kit::MatmulSpeed work({side, side, side}, 1);
  work.speed.launch(work.call(multiply));
  work.speed.against(work.against_cublas().on_gpu_only(), kit::Bars(0.5, 0.8, 0.97));
  work.speed.grade();
}
