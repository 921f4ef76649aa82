// 09/03 cuBLAS, batched: many small products in one call, at strides or wherever pointers lead.
//   a  m x k,  b  k x n,  c  m x n: floats, row-major, rows without gaps; c[z] = a[z] b[z]
//   One product of 16 x 16 keeps a few warps busy, and every call is a launch of its own. Both
//   functions below hand over the whole batch at once.
//   TODOs  3
#include "03_cublas_batched.h"

cublasStatus_t launch_strided(cublasHandle_t handle, int m, int n, int k, const float* d_a,
                              long long stride_a, const float* d_b, long long stride_b, float* d_c,
                              long long stride_c, int batch) {
  //~ // TODO(1): All products of the batch by one call. A stride may be 0, and what lies
  //~ // between two matrices is not ours.
  //~ static_cast<void>(handle), static_cast<void>(m + n + k + batch);
  //~ static_cast<void>(d_a), static_cast<void>(d_b), static_cast<void>(d_c);
  //~ static_cast<void>(stride_a + stride_b + stride_c);
  //~ return CUBLAS_STATUS_NOT_INITIALIZED;
  //~begin 1
  const float one = 1.0f, zero = 0.0f;
  if (batch == 0) return CUBLAS_STATUS_SUCCESS;
  return cublasSgemmStridedBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &one, d_b, n,
                                   stride_b, d_a, k, stride_a, &zero, d_c, n, stride_c, batch);
  //~end
}

// Product z: a[z] is matrix z at a, b[z] is matrix which[z] at b, c[z] is matrix z at c.
__global__ void point_to(Products products, const float* a, const float* b, const int* which,
                         float* c, int m, int n, int k, int batch) {
  //~ // TODO(2): Thread z tells where the three matrices of product z begin, if there is such
  //~ // a product.
  //~ static_cast<void>(products.a), static_cast<void>(a), static_cast<void>(b);
  //~ static_cast<void>(c), static_cast<void>(which), static_cast<void>(m + n + k + batch);
  //~begin 2
  const int z = blockIdx.x * blockDim.x + threadIdx.x;
  if (z < batch) {
    products.a[z] = a + static_cast<size_t>(z) * m * k;
    products.b[z] = b + static_cast<size_t>(which[z]) * k * n;
    products.c[z] = c + static_cast<size_t>(z) * m * n;
  }
  //~end
}

cublasStatus_t launch_chosen(cublasHandle_t handle, int m, int n, int k, const float* d_a,
                             const float* d_b, const int* d_which, float* d_c, int batch,
                             const Products& products) {
  //~ // TODO(3): The pointers must be written before the products read them, in the stream of
  //~ // the handle, and all products be made by one call. An empty batch is a success.
  //~ static_cast<void>(handle), static_cast<void>(m + n + k + batch);
  //~ static_cast<void>(d_a), static_cast<void>(d_b), static_cast<void>(d_which);
  //~ static_cast<void>(d_c), static_cast<void>(products.a);
  //~ return CUBLAS_STATUS_NOT_INITIALIZED;
  //~begin 3
  constexpr int kBlock = 128;  // threads
  const float one = 1.0f, zero = 0.0f;
  if (batch == 0) return CUBLAS_STATUS_SUCCESS;
  cudaStream_t stream = nullptr;
  const cublasStatus_t known = cublasGetStream(handle, &stream);
  if (known != CUBLAS_STATUS_SUCCESS) return known;
  const int grid = (batch + kBlock - 1) / kBlock;
  point_to<<<grid, kBlock, 0, stream>>>(products, d_a, d_b, d_which, d_c, m, n, k, batch);
  if (cudaGetLastError() != cudaSuccess) return CUBLAS_STATUS_EXECUTION_FAILED;
  return cublasSgemmBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &one, products.b, n,
                            products.a, k, &zero, products.c, n, batch);
  //~end
}
