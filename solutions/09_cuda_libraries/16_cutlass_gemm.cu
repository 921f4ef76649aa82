// 09/16 CUTLASS: the product as a type. A template says how a matrix product is cut into tiles, and
// the compiler writes the kernel.
//   a  m x k,  b  k x n,  c  m x n: floats, row-major, in device memory
//   The tiles of chapter 07 by other names: a block computes kBlock, each of its warps kWarp, and a
//   step takes the third number of both along k.
//   TODOs  3
#include <algorithm>
#include <vector>

#include "16_cutlass_gemm.h"
#include "cutlass/cutlass.h"
#include "cutlass/gemm/device/gemm.h"

namespace {

using RowMajor = cutlass::layout::RowMajor;
using BlockTile = cutlass::gemm::GemmShape<64, 128, 8>;  // m, n, k
using WarpTile = cutlass::gemm::GemmShape<32, 64, 8>;
using ThreadTile = cutlass::gemm::GemmShape<1, 1, 1>;  // one multiply-add of a thread
using Epilogue = cutlass::epilogue::thread::LinearCombination<float, 1, float, float>;
using Swizzle = cutlass::gemm::threadblock::GemmIdentityThreadblockSwizzle<4>;

//~ // TODO(1): This multiplies on tensor cores, which round floats to TF32. Take the class of
//~ // operations that one thread does alone, OpClassSimt, with the tiles above and 4 stages (4 words).
//~ using Gemm = cutlass::gemm::device::Gemm<
//~     float, RowMajor, float, RowMajor, float, RowMajor, float, cutlass::arch::OpClassTensorOp,
//~     cutlass::arch::Sm80, cutlass::gemm::GemmShape<64, 128, 16>,
//~     cutlass::gemm::GemmShape<32, 64, 16>, cutlass::gemm::GemmShape<16, 8, 8>, Epilogue, Swizzle,
//~     3, 1, 1>;  // 3 steps are loaded ahead, one float at a time
//~begin 1
// The last number: steps that are loaded ahead.
using Gemm = cutlass::gemm::device::Gemm<float, RowMajor, float, RowMajor, float, RowMajor, float,
                                         cutlass::arch::OpClassSimt, cutlass::arch::Sm80, BlockTile,
                                         WarpTile, ThreadTile, Epilogue, Swizzle, 4>;
//~end

}  // namespace

const char* launch_cutlass_gemm(const float* d_a, const float* d_b, float* d_c, int m, int n, int k,
                                cudaStream_t stream) {
  //~ // TODO(2): Arguments are the sizes, a reference (pointer, leading dimension) to a, b, c and d, and
  //~ // {alpha, beta}. Call an object of type Gemm with them, no workspace and the stream (4 lines).
  //~ static_cast<void>(d_a), static_cast<void>(d_b), static_cast<void>(d_c);
  //~ static_cast<void>(m + n + k), static_cast<void>(stream);
  //~ const cutlass::Status status = cutlass::Status::kErrorNotSupported;
  //~begin 2
  Gemm gemm;
  const Gemm::Arguments arguments({m, n, k}, {d_a, k}, {d_b, n}, {d_c, n}, {d_c, n}, {1.0f, 0.0f});
  const cutlass::Status status = gemm(arguments, nullptr, stream);
  //~end
  return cutlass::cutlassGetStatusString(status);
}

float median_ms(int warm_ups, int runs, cudaStream_t stream, const std::function<void()>& work) {
  std::vector<float> times(runs);
  cudaEvent_t begin = nullptr, end = nullptr;
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  //~ // TODO(3): The calls to warm up, then for each time: an event, the work, an event, and wait for
  //~ // it. The first calls load the kernel and wake the card up (about 7 lines).
  //~ for (float& time : times) {
  //~   work();
  //~   time = static_cast<float>(warm_ups);
  //~ }
  //~ cudaStreamSynchronize(stream);
  //~begin 3
  for (int i = 0; i < warm_ups; ++i) work();
  for (float& time : times) {
    cudaEventRecord(begin, stream);
    work();
    cudaEventRecord(end, stream);
    cudaEventSynchronize(end);
    cudaEventElapsedTime(&time, begin, end);
  }
  //~end
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  std::nth_element(times.begin(), times.begin() + runs / 2, times.end());
  return times[runs / 2];
}
