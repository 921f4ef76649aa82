// A product of 256 x 256 x 256 on the tensor cores of compute capability 9.0: tiles that threads
// write in the swizzled order, one warpgroup per block, a step of k under way while the next tile
// is filled.
#include <cuda_bf16.h>

#include <cstdint>
#include <vector>

#include "check.h"

namespace {

constexpr int kSize = 256;
constexpr int kStep = 64;   // of k: a row of 128 bytes
constexpr int kRows = 64;   // of a tile of a, and of c
constexpr int kCols = 128;  // of a tile of b, and of c
constexpr int kSums = kCols / 2;

struct Stage {
  __nv_bfloat16 a[kRows * kStep];  // [row][k], 16-byte parts swapped
  __nv_bfloat16 b[kCols * kStep];  // [column][k], the same
};

// `count` rows of 64 elements: part p of row r goes to place p ^ (r % 8).
__device__ void fill(__nv_bfloat16* tile, const __nv_bfloat16* from, int count) {
  for (int i = static_cast<int>(threadIdx.x); i < count * 8; i += 128) {
    const int row = i / 8, part = i % 8;
    reinterpret_cast<uint4*>(tile)[row * 8 + (part ^ row % 8)] =
        reinterpret_cast<const uint4*>(from + static_cast<size_t>(row) * kSize)[part];
  }
}

__device__ uint64_t describe(const __nv_bfloat16* tile) {
  const auto address = static_cast<uint32_t>(__cvta_generic_to_shared(tile));
  return address >> 4 | uint64_t{1024 >> 4} << 32 | uint64_t{1} << 62;
}

#define EIGHT(i)                                                                              \
  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), \
      "+f"(d[i + 6]), "+f"(d[i + 7])

__device__ void multiply(float (&d)[kSums], uint64_t a, uint64_t b) {
  asm volatile(
      "{\n.reg .pred add;\nsetp.eq.u32 add, 0, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, "
      "%20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, "
      "%38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, "
      "%56, %57, %58, %59, %60, %61, %62, %63}, %64, %65, add, 1, 1, 0, 0;\n}"
      : EIGHT(0), EIGHT(8), EIGHT(16), EIGHT(24), EIGHT(32), EIGHT(40), EIGHT(48), EIGHT(56)
      : "l"(a), "l"(b));
}

// c = a b; a by rows, b by columns.
__global__ void __launch_bounds__(128)
    product(const __nv_bfloat16* a, const __nv_bfloat16* b, float* c) {
  __shared__ alignas(1024) Stage stage;
  const int top = static_cast<int>(blockIdx.y) * kRows, left = static_cast<int>(blockIdx.x) * kCols;
  float d[kSums] = {};
  for (int k = 0; k < kSize; k += kStep) {
    fill(stage.a, a + static_cast<size_t>(top) * kSize + k, kRows);
    fill(stage.b, b + static_cast<size_t>(left) * kSize + k, kCols);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    for (int part = 0; part < kStep; part += 16) {
      multiply(d, describe(stage.a + part), describe(stage.b + part));
    }
    asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
    __syncthreads();
  }
  const int t = static_cast<int>(threadIdx.x);
  const int row = top + t / 32 * 16 + t % 32 / 4, column = left + t % 4 * 2;
  for (int i = 0; i < kSums; ++i) {
    c[(row + i / 2 % 2 * 8) * kSize + column + i / 4 * 8 + i % 2] = d[i];
  }
}

}  // namespace

int main() {
  constexpr size_t kElements = size_t{kSize} * kSize;
  std::vector<__nv_bfloat16> a(kElements), b(kElements);
  std::vector<int> whole_a(kElements), whole_b(kElements);
  unsigned state = 1;
  const auto next = [&] {
    return static_cast<int>((state = state * 1664525 + 1013904223) >> 29) - 3;
  };
  for (size_t i = 0; i < kElements; ++i) {
    a[i] = __float2bfloat16(static_cast<float>(whole_a[i] = next()));
    b[i] = __float2bfloat16(static_cast<float>(whole_b[i] = next()));
  }
  __nv_bfloat16 *d_a = nullptr, *d_b = nullptr;
  float* d_c = nullptr;
  CHECK_CUDA(cudaMalloc(&d_a, kElements * sizeof(*d_a)));
  CHECK_CUDA(cudaMalloc(&d_b, kElements * sizeof(*d_b)));
  CHECK_CUDA(cudaMalloc(&d_c, kElements * sizeof(*d_c)));
  CHECK_CUDA(cudaMemcpy(d_a, a.data(), kElements * sizeof(*d_a), cudaMemcpyHostToDevice));
  CHECK_CUDA(cudaMemcpy(d_b, b.data(), kElements * sizeof(*d_b), cudaMemcpyHostToDevice));
  product<<<dim3(kSize / kCols, kSize / kRows), 128>>>(d_a, d_b, d_c);
  CHECK_CUDA(cudaGetLastError());
  std::vector<float> c(kElements);
  CHECK_CUDA(cudaMemcpy(c.data(), d_c, kElements * sizeof(float), cudaMemcpyDeviceToHost));
  for (size_t i = 0; i < kSize; ++i) {
    for (size_t j = 0; j < kSize; ++j) {
      int sum = 0;
      for (size_t k = 0; k < kSize; ++k) sum += whole_a[i * kSize + k] * whole_b[j * kSize + k];
      CHECK(c[i * kSize + j] == static_cast<float>(sum));
    }
  }
  CHECK_CUDA(cudaFree(d_a));
  CHECK_CUDA(cudaFree(d_b));
  CHECK_CUDA(cudaFree(d_c));
  return 0;
}
