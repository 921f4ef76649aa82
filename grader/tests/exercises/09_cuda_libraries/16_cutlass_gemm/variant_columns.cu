// The transposed product, column by column, with other tiles; every time from a pair of events of
// its own, and one wait.
#include <algorithm>
#include <vector>

#include "16_cutlass_gemm.h"
#include "cutlass/cutlass.h"
#include "cutlass/gemm/device/gemm.h"

namespace {

using Columns = cutlass::layout::ColumnMajor;
using GemmOfColumns = cutlass::gemm::device::Gemm<
    float, Columns, float, Columns, float, Columns, float, cutlass::arch::OpClassSimt,
    cutlass::arch::Sm80, cutlass::gemm::GemmShape<64, 64, 8>, cutlass::gemm::GemmShape<32, 32, 8>,
    cutlass::gemm::GemmShape<1, 1, 1>,
    cutlass::epilogue::thread::LinearCombination<float, 1, float, float>,
    cutlass::gemm::threadblock::GemmIdentityThreadblockSwizzle<>, 3>;

}  // namespace

const char* launch_cutlass_gemm(const float* d_a, const float* d_b, float* d_c, int m, int n, int k,
                                cudaStream_t stream) {
  GemmOfColumns gemm;
  const cutlass::Status status =
      gemm({{n, m, k}, {d_b, n}, {d_a, k}, {d_c, n}, {d_c, n}, {1.0f, 0.0f}}, nullptr, stream);
  return cutlass::cutlassGetStatusString(status);
}

float median_ms(int warm_ups, int runs, cudaStream_t stream, const std::function<void()>& work) {
  std::vector<cudaEvent_t> events(2 * runs);
  for (cudaEvent_t& event : events) cudaEventCreate(&event);
  for (int i = 0; i < warm_ups; ++i) work();
  for (int i = 0; i < runs; ++i) {
    cudaEventRecord(events[2 * i], stream);
    work();
    cudaEventRecord(events[2 * i + 1], stream);
  }
  cudaStreamSynchronize(stream);
  std::vector<float> times(runs);
  for (int i = 0; i < runs; ++i) {
    cudaEventElapsedTime(&times[i], events[2 * i], events[2 * i + 1]);
  }
  for (const cudaEvent_t event : events) cudaEventDestroy(event);
  std::sort(times.begin(), times.end());
  return times[runs / 2];
}
