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
using Epilogue = cutlass::epilogue::thread::LinearCombination<float, 1, float, float>;
using Swizzle = cutlass::gemm::threadblock::GemmIdentityThreadblockSwizzle<4>;
// TODO(1): This multiplies on tensor cores, which round floats to TF32. Every product
// of two floats must keep its digits, and at 1024 x 1024 hardly a multiprocessor of 132
// should go without a block: which class of operations, and which tiles?
using Gemm = cutlass::gemm::device::Gemm<
    float, RowMajor, float, RowMajor, float, RowMajor, float, cutlass::arch::OpClassTensorOp,
    cutlass::arch::Sm80, cutlass::gemm::GemmShape<64, 128, 16>,
    cutlass::gemm::GemmShape<32, 64, 16>, cutlass::gemm::GemmShape<16, 8, 8>, Epilogue, Swizzle,
    3, 1, 1>;  // 3 stages; a and b are loaded one float at a time

}  // namespace

const char* launch_cutlass_gemm(const float* d_a, const float* d_b, float* d_c, int m, int n, int k,
                                cudaStream_t stream) {
  // TODO(2): Call it: c = 1 a b + 0 c, as work of `stream`, and return what CUTLASS says.
  static_cast<void>(d_a), static_cast<void>(d_b), static_cast<void>(d_c);
  static_cast<void>(m + n + k), static_cast<void>(stream);
  return cutlass::cutlassGetStatusString(cutlass::Status::kErrorNotSupported);
}

float median_ms(int warm_ups, int runs, cudaStream_t stream, const std::function<void()>& work) {
  // TODO(3): The median of the times that the device takes for each of the last `runs`
  // calls.
  for (int i = 0; i < warm_ups + runs; ++i) work();
  cudaStreamSynchronize(stream);
  return 0.0f;
}
