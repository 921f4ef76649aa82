// 09/03 cuBLAS, batched: many small products in one call, at strides or wherever pointers lead.
//   a  m x k,  b  k x n,  c  m x n: floats, row-major, rows without gaps; c[z] = a[z] b[z]
//   One product of 16 x 16 keeps a few warps busy, and every call is a launch of its own. Both
//   functions below hand over the whole batch at once.
//   TODOs  3
#include "03_cublas_batched.h"

cublasStatus_t launch_strided(cublasHandle_t handle, int m, int n, int k, const float* d_a,
                              long long stride_a, const float* d_b, long long stride_b, float* d_c,
                              long long stride_c, int batch) {
  const float one = 1.0f, zero = 0.0f;
  if (batch == 0) return CUBLAS_STATUS_SUCCESS;
  //~ // TODO(1): This is the first product of the batch. Make it all of them: the strided call takes a
  //~ // stride behind each leading dimension, and the number of products at its end (1 call).
  //~ static_cast<void>(stride_a), static_cast<void>(stride_b), static_cast<void>(stride_c);
  //~ return cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &one, d_b, n, d_a, k, &zero, d_c,
  //~                    n);
  //~begin 1
  return cublasSgemmStridedBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &one, d_b, n,
                                   stride_b, d_a, k, stride_a, &zero, d_c, n, stride_c, batch);
  //~end
}

// Product z: a[z] is matrix z at a, b[z] is matrix which[z] at b, c[z] is matrix z at c.
__global__ void point_to(Products products, const float* a, const float* b, const int* which,
                         float* c, int m, int n, int k, int batch) {
  const int z = blockIdx.x * blockDim.x + threadIdx.x;
  if (z < batch) {
    //~ // TODO(2): Write the addresses of the three matrices of product z (3 lines).
    //~ static_cast<void>(which), static_cast<void>(m + n + k);
    //~ products.a[z] = a;
    //~ products.b[z] = b;
    //~ products.c[z] = c;
    //~begin 2
    products.a[z] = a + static_cast<size_t>(z) * m * k;
    products.b[z] = b + static_cast<size_t>(which[z]) * k * n;
    products.c[z] = c + static_cast<size_t>(z) * m * n;
    //~end
  }
}

cublasStatus_t launch_chosen(cublasHandle_t handle, int m, int n, int k, const float* d_a,
                             const float* d_b, const int* d_which, float* d_c, int batch,
                             const Products& products) {
  constexpr int kBlock = 128;  // threads
  const float one = 1.0f, zero = 0.0f;
  if (batch == 0) return CUBLAS_STATUS_SUCCESS;
  cudaStream_t stream = nullptr;
  const cublasStatus_t known = cublasGetStream(handle, &stream);
  if (known != CUBLAS_STATUS_SUCCESS) return known;
  const int grid = (batch + kBlock - 1) / kBlock;
  //~ // TODO(3): Let the kernel write the pointers, in front of the products in their stream, and pass
  //~ // those arrays to cublasSgemmBatched: b first, as ever (about 3 lines).
  //~ point_to<<<grid, kBlock>>>(products, d_a, d_b, d_which, d_c, m, n, k, batch);
  //~ return cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &one, d_b, n, d_a, k, &zero, d_c,
  //~                    n);
  //~begin 3
  point_to<<<grid, kBlock, 0, stream>>>(products, d_a, d_b, d_which, d_c, m, n, k, batch);
  return cublasSgemmBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &one, products.b, n,
                            products.a, k, &zero, products.c, n, batch);
  //~end
}
