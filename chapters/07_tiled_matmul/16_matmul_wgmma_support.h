// Given code of 07/16: the instructions of compute capability 9.0 that C++ has no words for. Their
// operands and layouts are those of the PTX ISA: mbarrier, cp.async.bulk.tensor, wgmma.
#ifndef CHAPTERS_07_TILED_MATMUL_16_MATMUL_WGMMA_SUPPORT_H_
#define CHAPTERS_07_TILED_MATMUL_16_MATMUL_WGMMA_SUPPORT_H_

#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cstdint>

// Address of shared memory as the instructions want it.
__device__ inline uint32_t shared_address(const void* p) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}

// ---- barriers in shared memory -----------------------------------------------------------------
//
// A phase of a barrier ends when `arrivals` threads have arrived and all bytes that were announced
// have come. Phases are told apart by their parity: 0 for the first, 1 for the second, 0 again.

__device__ inline void init_barrier(uint64_t* barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)),
               "r"(arrivals)
               : "memory");
}
// Makes fresh barriers known to the copy engine.
__device__ inline void publish_barriers() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
__device__ inline void arrive(uint64_t* barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier))
               : "memory");
}
// Arrives, and announces bytes that the copy engine will bring.
__device__ inline void arrive_and_expect(uint64_t* barrier, int bytes) {
  asm volatile(
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)),
      "r"(bytes)
      : "memory");
}
// Returns when the phase of this parity has ended: at once where the current one has the other.
__device__ inline void wait(uint64_t* barrier, int parity) {
  asm volatile(
      "{\n"
      ".reg .pred done;\n"
      "again:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra again;\n"
      "}" ::"r"(shared_address(barrier)),
      "r"(parity)
      : "memory");
}

// ---- the copy engine ---------------------------------------------------------------------------

// Begins to copy a box of the matrix that `map` describes, from column `col` and row `row` on, to
// shared memory, which must be aligned to 1024 bytes. Its bytes count for `barrier`. One thread
// asks for all of it; what lies outside of the matrix becomes zero.
__device__ inline void copy_box(void* shared, const CUtensorMap* map, int col, int row,
                                uint64_t* barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
      " [%0], [%1, {%2, %3}], [%4];" ::"r"(shared_address(shared)),
      "l"(map), "r"(col), "r"(row), "r"(shared_address(barrier))
      : "memory");
}

// Describes a row-major matrix (rows, cols) that is copied in boxes of box_rows rows and 64
// columns. A row of a box is 128 bytes. The copy engine swaps its 16-byte parts, part p of row r
// goes to place p ^ (r % 8), so that eight parts of a column lie in different banks; wgmma knows
// that.
inline CUtensorMap describe(const __nv_bfloat16* matrix, int rows, int cols, int box_rows) {
  using Encode = decltype(&cuTensorMapEncodeTiled);
  static const Encode encode = [] {  // of the driver, which programs do not link
    void* address = nullptr;
    cudaDriverEntryPointQueryResult found;
#if CUDART_VERSION >= 12050
    cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &address, 12000, cudaEnableDefault,
                                     &found);
#else
    cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &address, cudaEnableDefault, &found);
#endif
    return reinterpret_cast<Encode>(address);
  }();
  CUtensorMap map = {};
  const cuuint64_t size[] = {static_cast<cuuint64_t>(cols), static_cast<cuuint64_t>(rows)};
  const cuuint64_t pitch[] = {static_cast<cuuint64_t>(cols) * sizeof(__nv_bfloat16)};
  const cuuint32_t box[] = {64, static_cast<cuuint32_t>(box_rows)}, every[] = {1, 1};
  encode(&map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, const_cast<__nv_bfloat16*>(matrix), size, pitch,
         box, every, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
         CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  return map;
}

// ---- the tensor cores --------------------------------------------------------------------------

// Where wgmma finds a matrix in shared memory: its address, two distances and the swaps, all in
// units of 16 bytes.
//   a [row][64 of k]    the next 8 rows begin 1024 bytes further; there is nothing beside it
//   b [k][64 columns]   the next 8 steps of k: 1024 bytes; the next 64 columns: `beside` bytes
__device__ inline uint64_t describe_shared(const void* matrix, int beside) {
  constexpr uint64_t kSwapped = uint64_t{1} << 62;  // within 128 bytes
  return (shared_address(matrix) & 0x3FFFF) >> 4 | static_cast<uint64_t>(beside >> 4) << 16 |
         static_cast<uint64_t>(1024 >> 4) << 32 | kSwapped;
}

// Sums that wgmma may change in the background, as four warps hold them: 64 x 256. Thread t of the
// 128 has rows 16 (t / 32) + t % 32 / 4 and the one 8 below, and of each eight columns two:
// sums[4 j + 2 h + e] is row + 8 h, column 8 j + 2 (t % 4) + e.
constexpr int kSums = 128;

// Before the first wgmma that uses registers which other instructions have written.
__device__ inline void begin_wgmma() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
// The wgmmas since the last call are one group.
__device__ inline void close_wgmma_group() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
// Waits until at most kNewest groups are still being multiplied.
template <int kNewest>
__device__ inline void wait_for_wgmma() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kNewest) : "memory");
}

// Eight operands that are read and written.
#define WGMMA_SUMS(i)                                                                        \
  "+f"(sums[i]), "+f"(sums[i + 1]), "+f"(sums[i + 2]), "+f"(sums[i + 3]), "+f"(sums[i + 4]), \
      "+f"(sums[i + 5]), "+f"(sums[i + 6]), "+f"(sums[i + 7])

// sums (64 x 256) += a (64 x 16) times b (16 x 256). All 128 threads call it. The last operands
// say: add to the sums; a and b are not negated; columns of b are not what lies together
// ("transposed").
__device__ inline void wgmma(float (&sums)[kSums], uint64_t a, uint64_t b) {
  // clang-format off
  asm volatile(
      "{\n"
      ".reg .pred add;\n"
      "setp.eq.u32 add, 0, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
      "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
      "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "
      "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "
      "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, "
      "%127}, "
      "%128, %129, add, 1, 1, 0, 1;\n"
      "}"
      : WGMMA_SUMS(0), WGMMA_SUMS(8), WGMMA_SUMS(16), WGMMA_SUMS(24),
        WGMMA_SUMS(32), WGMMA_SUMS(40), WGMMA_SUMS(48), WGMMA_SUMS(56),
        WGMMA_SUMS(64), WGMMA_SUMS(72), WGMMA_SUMS(80), WGMMA_SUMS(88),
        WGMMA_SUMS(96), WGMMA_SUMS(104), WGMMA_SUMS(112), WGMMA_SUMS(120)
      : "l"(a), "l"(b));
  // clang-format on
}
#undef WGMMA_SUMS

#endif  // CHAPTERS_07_TILED_MATMUL_16_MATMUL_WGMMA_SUPPORT_H_
