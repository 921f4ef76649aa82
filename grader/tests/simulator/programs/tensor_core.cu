// Tensor cores through <mma.h>: every type and shape, tiles in shared memory, against loops on the
// CPU. The inputs are small multiples of 1/4, so that every sum is exact in any order.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

#include <vector>

#include "check.h"

namespace wmma = nvcuda::wmma;

// What a fragment calls its type, and what memory holds.
template <class T>
struct Stored {
  using type = T;
};
template <>
struct Stored<wmma::precision::tf32> {
  using type = float;
};

// One warp per tile of c; a and b pass through shared memory when asked to.
template <int kM, int kN, int kK, class T, class Sum, class LayoutA, class LayoutB, bool kShared>
__global__ void matmul_fragments(const typename Stored<T>::type* a,
                                 const typename Stored<T>::type* b, Sum* c, int n, int k) {
  using Element = typename Stored<T>::type;
  constexpr bool kRowsA = std::is_same<LayoutA, wmma::row_major>::value;
  constexpr bool kRowsB = std::is_same<LayoutB, wmma::row_major>::value;
  constexpr int kPad = 32 / sizeof(Element);  // rows of the tiles start at multiples of 32 bytes
  __shared__ alignas(32) Element tile_a[kShared ? (kM + kPad) * (kK + kPad) : 1];
  __shared__ alignas(32) Element tile_b[kShared ? (kK + kPad) * (kN + kPad) : 1];
  const int m = gridDim.y * kM;
  const int row = blockIdx.y * kM, col = blockIdx.x * kN;
  wmma::fragment<wmma::matrix_a, kM, kN, kK, T, LayoutA> fa;
  wmma::fragment<wmma::matrix_b, kM, kN, kK, T, LayoutB> fb;
  wmma::fragment<wmma::accumulator, kM, kN, kK, Sum> sum;
  wmma::fill_fragment(sum, Sum(0));
  for (int i = 0; i < k; i += kK) {
    const Element* from_a = kRowsA ? a + row * k + i : a + i * m + row;
    const Element* from_b = kRowsB ? b + i * n + col : b + col * k + i;
    if constexpr (kShared) {
      constexpr int kLeadA = (kRowsA ? kK : kM) + kPad, kLeadB = (kRowsB ? kN : kK) + kPad;
      for (int e = threadIdx.x; e < kM * kK; e += 32) {
        const int outer = e / (kRowsA ? kK : kM), inner = e % (kRowsA ? kK : kM);
        tile_a[outer * kLeadA + inner] = from_a[outer * (kRowsA ? k : m) + inner];
      }
      for (int e = threadIdx.x; e < kN * kK; e += 32) {
        const int outer = e / (kRowsB ? kN : kK), inner = e % (kRowsB ? kN : kK);
        tile_b[outer * kLeadB + inner] = from_b[outer * (kRowsB ? n : k) + inner];
      }
      __syncthreads();  // the tiles are complete
      wmma::load_matrix_sync(fa, tile_a, kLeadA);
      wmma::load_matrix_sync(fb, tile_b, kLeadB);
      __syncthreads();  // nobody reads them any more
    } else {
      wmma::load_matrix_sync(fa, from_a, kRowsA ? k : m);
      wmma::load_matrix_sync(fb, from_b, kRowsB ? n : k);
    }
    if constexpr (std::is_same<T, wmma::precision::tf32>::value) {
      for (int e = 0; e < fa.num_elements; ++e) fa.x[e] = wmma::__float_to_tf32(fa.x[e]);
      for (int e = 0; e < fb.num_elements; ++e) fb.x[e] = wmma::__float_to_tf32(fb.x[e]);
    }
    wmma::mma_sync(sum, fa, fb, sum);
  }
  for (int e = 0; e < sum.num_elements; ++e) sum.x[e] = sum.x[e] + sum.x[e];  // any layout will do
  wmma::store_matrix_sync(c + row * n + col, sum, n, wmma::mem_row_major);
}

template <class T>
T* upload(const std::vector<T>& values) {
  T* device = nullptr;
  CHECK_CUDA(cudaMalloc(&device, values.size() * sizeof(T)));
  CHECK_CUDA(cudaMemcpy(device, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
  return device;
}

template <int kM, int kN, int kK, class T, class Sum, class LayoutA, class LayoutB, bool kShared>
void check_one() {
  using Element = typename Stored<T>::type;
  const int m = 2 * kM, n = 2 * kN, k = 2 * kK;
  const float unit = std::is_integral<Element>::value ? 1.0f : 0.25f;
  std::vector<Element> a(m * k), b(k * n);
  std::vector<float> value_a(m * k), value_b(k * n);
  const auto fill = [unit](std::vector<Element>& to, std::vector<float>& values, int step) {
    for (size_t i = 0; i < to.size(); ++i) {
      values[i] = static_cast<float>(static_cast<int>(i * step % 11) - 5) * unit;
      if (std::is_unsigned<Element>::value) values[i] += 5;
      to[i] = static_cast<Element>(values[i]);
    }
  };
  fill(a, value_a, 7);
  fill(b, value_b, 3);
  Element *d_a = upload(a), *d_b = upload(b);
  Sum* d_c = nullptr;
  std::vector<Sum> c(m * n);
  CHECK_CUDA(cudaMalloc(&d_c, c.size() * sizeof(Sum)));
  matmul_fragments<kM, kN, kK, T, Sum, LayoutA, LayoutB, kShared>
      <<<dim3(2, 2), 32>>>(d_a, d_b, d_c, n, k);
  CHECK_CUDA(cudaMemcpy(c.data(), d_c, c.size() * sizeof(Sum), cudaMemcpyDeviceToHost));
  const bool rows_a = std::is_same<LayoutA, wmma::row_major>::value;
  const bool rows_b = std::is_same<LayoutB, wmma::row_major>::value;
  for (int row = 0; row < m; ++row) {
    for (int col = 0; col < n; ++col) {
      double sum = 0;
      for (int i = 0; i < k; ++i) {
        sum += static_cast<double>(value_a[rows_a ? row * k + i : i * m + row]) *
               value_b[rows_b ? i * n + col : col * k + i];
      }
      CHECK(static_cast<double>(c[row * n + col]) == 2 * sum);
    }
  }
  CHECK_CUDA(cudaFree(d_a));
  CHECK_CUDA(cudaFree(d_b));
  CHECK_CUDA(cudaFree(d_c));
}

template <int kM, int kN, int kK, class T, class Sum>
void check_all() {
  check_one<kM, kN, kK, T, Sum, wmma::row_major, wmma::row_major, false>();
  check_one<kM, kN, kK, T, Sum, wmma::row_major, wmma::col_major, true>();
  check_one<kM, kN, kK, T, Sum, wmma::col_major, wmma::row_major, true>();
  check_one<kM, kN, kK, T, Sum, wmma::col_major, wmma::col_major, false>();
}

int main() {
  check_all<16, 16, 16, half, float>();
  check_all<16, 16, 16, half, half>();
  check_all<32, 8, 16, half, float>();
  check_all<8, 32, 16, half, float>();
  check_all<16, 16, 16, __nv_bfloat16, float>();
  check_all<32, 8, 16, __nv_bfloat16, float>();
  check_all<8, 32, 16, __nv_bfloat16, float>();
  check_all<16, 16, 8, wmma::precision::tf32, float>();
  check_all<8, 8, 4, double, double>();
  check_all<16, 16, 16, signed char, int>();
  check_all<16, 16, 16, unsigned char, int>();
  std::printf("PASSED\n");
  return 0;
}
