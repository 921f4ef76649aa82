// Level 3: matrix products of every type, single, strided and through arrays of pointers.
#include <algorithm>
#include <cstdint>
#include <string>

#include "cublas/gemm.h"
#include "cublas/handle.h"

using namespace warplings::libraries;

namespace {

enum class Batching { kOne, kStrided, kPointers };

// One call, of any of the functions below. With kPointers, a, b and c are arrays of pointers in
// device memory.
struct Request {
  cublasOperation_t transa, transb;
  int m, n, k;
  const void* alpha;
  const void* a;
  cudaDataType a_type;
  int lda;
  int64_t stride_a;
  const void* b;
  cudaDataType b_type;
  int ldb;
  int64_t stride_b;
  const void* beta;
  void* c;
  cudaDataType c_type;
  int ldc;
  int64_t stride_c;
  int count;
  cublasComputeType_t compute;
  Batching batching;
};

// What a computation takes and gives: the rows of cuBLAS's table of supported types.
struct Row {
  cublasComputeType_t compute;
  cudaDataType input, output;
  Number scale;
  Arithmetic arithmetic;
};
constexpr Row kSupported[] = {
    {CUBLAS_COMPUTE_16F, CUDA_R_16F, CUDA_R_16F, Number::kHalf, Arithmetic::kHalf},
    {CUBLAS_COMPUTE_16F_PEDANTIC, CUDA_R_16F, CUDA_R_16F, Number::kHalf, Arithmetic::kHalfPedantic},
    {CUBLAS_COMPUTE_32I, CUDA_R_8I, CUDA_R_32I, Number::kInt32, Arithmetic::kDouble},
    {CUBLAS_COMPUTE_32I_PEDANTIC, CUDA_R_8I, CUDA_R_32I, Number::kInt32, Arithmetic::kDouble},
    {CUBLAS_COMPUTE_32F, CUDA_R_16F, CUDA_R_16F, Number::kFloat, Arithmetic::kFloat},
    {CUBLAS_COMPUTE_32F, CUDA_R_16F, CUDA_R_32F, Number::kFloat, Arithmetic::kFloat},
    {CUBLAS_COMPUTE_32F, CUDA_R_16BF, CUDA_R_16BF, Number::kFloat, Arithmetic::kFloat},
    {CUBLAS_COMPUTE_32F, CUDA_R_16BF, CUDA_R_32F, Number::kFloat, Arithmetic::kFloat},
    {CUBLAS_COMPUTE_32F, CUDA_R_8I, CUDA_R_32F, Number::kFloat, Arithmetic::kFloat},
    {CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_32F, Number::kFloat, Arithmetic::kFloat},
    {CUBLAS_COMPUTE_32F_FAST_16F, CUDA_R_32F, CUDA_R_32F, Number::kFloat, Arithmetic::kFloatOfHalf},
    {CUBLAS_COMPUTE_32F_FAST_16BF, CUDA_R_32F, CUDA_R_32F, Number::kFloat,
     Arithmetic::kFloatOfBfloat16},
    {CUBLAS_COMPUTE_32F_FAST_TF32, CUDA_R_32F, CUDA_R_32F, Number::kFloat,
     Arithmetic::kFloatOfTf32},
    {CUBLAS_COMPUTE_64F, CUDA_R_64F, CUDA_R_64F, Number::kDouble, Arithmetic::kDouble},
    {CUBLAS_COMPUTE_64F_PEDANTIC, CUDA_R_64F, CUDA_R_64F, Number::kDouble, Arithmetic::kDouble},
};

const Row* find_row(const Request& r) {
  // The pedantic form of single precision takes the same types.
  const auto compute = r.compute == CUBLAS_COMPUTE_32F_PEDANTIC ? CUBLAS_COMPUTE_32F : r.compute;
  for (const Row& row : kSupported) {
    if (row.compute == compute && row.input == r.a_type && r.a_type == r.b_type &&
        row.output == r.c_type) {
      return &row;
    }
  }
  return nullptr;
}

// Products of single precision may be rounded where the handle allows it.
Arithmetic arithmetic_of(const Row& row, const Request& r, cublasMath_t math) {
  const bool tf32 =
      (math & ~CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION) == CUBLAS_TF32_TENSOR_OP_MATH;
  const bool single = r.compute == CUBLAS_COMPUTE_32F && r.a_type == CUDA_R_32F;
  return tf32 && single ? Arithmetic::kFloatOfTf32 : row.arithmetic;
}

void check(const Request& r, BlasCall* call) {
  call->require(is_operation(r.transa), 1, "the operation is CUBLAS_OP_N, _T or _C");
  call->require(is_operation(r.transb), 2, "the operation is CUBLAS_OP_N, _T or _C");
  call->require(r.m >= 0, 3, "m is not negative");
  call->require(r.n >= 0, 4, "n is not negative");
  call->require(r.k >= 0, 5, "k is not negative");
  const auto enough = [&](int ld, int rows, int parameter, const char* name) {
    const std::string text = std::string(name) + " = " + std::to_string(ld) +
                             " is the distance between columns, at least the " +
                             std::to_string(rows) +
                             " rows in memory (matrices are column-major; a row-major one is the "
                             "transposed of it)";
    call->require(ld >= std::max(1, rows), parameter, text.c_str());
  };
  enough(r.lda, r.transa == CUBLAS_OP_N ? r.m : r.k, 8, "lda");
  enough(r.ldb, r.transb == CUBLAS_OP_N ? r.k : r.n, 10, "ldb");
  enough(r.ldc, r.m, 13, "ldc");
  call->require(r.count >= 0, 14, "the number of matrices is not negative");
}

GemmShape shape_of(const Request& r, Arithmetic arithmetic) {
  GemmShape shape;
  shape.m = r.m;
  shape.n = r.n;
  shape.k = r.k;
  shape.transpose_a = r.transa != CUBLAS_OP_N;
  shape.transpose_b = r.transb != CUBLAS_OP_N;
  shape.lda = r.lda;
  shape.ldb = r.ldb;
  shape.ldc = r.ldc;
  shape.a = number_of(r.a_type);
  shape.b = number_of(r.b_type);
  shape.c = number_of(r.c_type);
  shape.arithmetic = arithmetic;
  return shape;
}

// Matrices that start at a, b and c. `add` takes a role, a pointer, a type, rows, columns, leading
// dimension, access and stride.
template <class Add>
void list_matrices(const GemmShape& s, const Request& r, const void* a, const void* b,
                   const void* c, bool reads_ab, Access access_c, Add add) {
  if (reads_ab) {
    add("matrix A", a, s.a, s.transpose_a ? s.k : s.m, s.transpose_a ? s.m : s.k, s.lda,
        Access::kRead, r.stride_a);
    add("matrix B", b, s.b, s.transpose_b ? s.n : s.k, s.transpose_b ? s.k : s.n, s.ldb,
        Access::kRead, r.stride_b);
  }
  add("matrix C", c, s.c, s.m, s.n, s.ldc, access_c, r.stride_c);
}

const void* advanced(const void* start, int64_t elements, Number type) {
  return static_cast<const char*>(start) + elements * static_cast<int64_t>(size_of(type));
}

// The product of each set of pointers, looked at when the work runs.
void run_pointers(const Request& r, const GemmShape& shape, double alpha, double beta) {
  const auto pointers = [](const void* array) { return static_cast<void* const*>(view(array)); };
  for (int i = 0; i < r.count; ++i) {
    const void *a = pointers(r.a)[i], *b = pointers(r.b)[i];
    void* c = pointers(r.c)[i];
    Operands operands;
    const auto add = [&](const char* role, const void* x, Number type, int64_t rows,
                         int64_t columns, int64_t ld, Access access, int64_t) {
      const auto size = static_cast<int64_t>(size_of(type));
      operands.add(std::string(role) + " of product " + std::to_string(i), x, size_of(type),
                   {{rows, size}, {columns, ld * size}}, access);
    };
    list_matrices(shape, r, a, b, c, alpha != 0 && r.k > 0,
                  beta == 0 ? Access::kWrite : Access::kReadWrite, add);
    if (!use(operands)) return;
    gemm(shape, alpha, view(a), view(b), beta, view(c), view(c), r.ldc, {});
  }
}

cublasStatus_t product(const Call& site, cublasHandle_t handle, const Request& r) {
  BlasCall call(site, handle);
  check(r, &call);
  if (!call.ok()) return call.status();
  const Row* row = find_row(r);
  if (row == nullptr) return CUBLAS_STATUS_NOT_SUPPORTED;
  const Scalar alpha = call.scalar("alpha", r.alpha, row->scale);
  const Scalar beta = call.scalar("beta", r.beta, row->scale);
  if (!call.ok() || r.m == 0 || r.n == 0 || r.count == 0) return call.status();
  const GemmShape shape = shape_of(r, arithmetic_of(*row, r, call.context().math));
  const double operations = 2.0 * r.m * r.n * r.k * r.count;
  if (r.batching == Batching::kPointers) {
    for (const void* array : {r.a, r.b, static_cast<const void*>(r.c)}) {
      call.vector("array of pointers", array, Number::kDouble, r.count, 1, Access::kRead);
    }
    return call.run(operations, [=] { run_pointers(r, shape, alpha.get(), beta.get()); });
  }
  const auto add = [&](const char* role, const void* x, Number type, int64_t rows, int64_t columns,
                       int64_t ld, Access access, int64_t stride) {
    call.matrix(role, x, type, rows, columns, ld, access, stride, r.count);
  };
  // Whether a beta in device memory is zero is not known yet.
  list_matrices(shape, r, r.a, r.b, r.c, !alpha.is_zero() && r.k > 0,
                beta.is_zero() || beta.on_device() ? Access::kWrite : Access::kReadWrite, add);
  return call.run(operations, [=] {
    for (int64_t i = 0; i < r.count; ++i) {
      void* c = const_cast<void*>(advanced(view(r.c), i * r.stride_c, shape.c));
      gemm(shape, alpha.get(), advanced(view(r.a), i * r.stride_a, shape.a),
           advanced(view(r.b), i * r.stride_b, shape.b), beta.get(), c, c, r.ldc, {});
    }
  });
}

}  // namespace

extern "C" {

#define WARPLINGS_PRODUCTS(S, suffix, T, type, compute)                                            \
  cublasStatus_t cublas##S##gemm##suffix(cublasHandle_t handle, cublasOperation_t transa,          \
                                         cublasOperation_t transb, int m, int n, int k,            \
                                         const T* alpha, const T* A, int lda, const T* B, int ldb, \
                                         const T* beta, T* C, int ldc) {                           \
    WARPLINGS_LIBRARY_CALL(cublas##S##gemm);                                                       \
    return product(call, handle,                                                                   \
                   {transa, transb, m, n,    k, alpha, A,   type, lda, 0,       B,                 \
                    type,   ldb,    0, beta, C, type,  ldc, 0,    1,   compute, Batching::kOne});  \
  }                                                                                                \
  cublasStatus_t cublas##S##gemmBatched(                                                           \
      cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,     \
      int k, const T* alpha, const T* const Aarray[], int lda, const T* const Barray[], int ldb,   \
      const T* beta, T* const Carray[], int ldc, int batchCount) {                                 \
    WARPLINGS_LIBRARY_CALL(cublas##S##gemmBatched);                                                \
    return product(call, handle, {transa,  transb,                                                 \
                                  m,       n,                                                      \
                                  k,       alpha,                                                  \
                                  Aarray,  type,                                                   \
                                  lda,     0,                                                      \
                                  Barray,  type,                                                   \
                                  ldb,     0,                                                      \
                                  beta,    const_cast<T**>(Carray),                                \
                                  type,    ldc,                                                    \
                                  0,       batchCount,                                             \
                                  compute, Batching::kPointers});                                  \
  }                                                                                                \
  cublasStatus_t cublas##S##gemmStridedBatched(                                                    \
      cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,     \
      int k, const T* alpha, const T* A, int lda, long long int strideA, const T* B, int ldb,      \
      long long int strideB, const T* beta, T* C, int ldc, long long int strideC,                  \
      int batchCount) {                                                                            \
    WARPLINGS_LIBRARY_CALL(cublas##S##gemmStridedBatched);                                         \
    return product(call, handle, {transa,  transb,                                                 \
                                  m,       n,                                                      \
                                  k,       alpha,                                                  \
                                  A,       type,                                                   \
                                  lda,     strideA,                                                \
                                  B,       type,                                                   \
                                  ldb,     strideB,                                                \
                                  beta,    C,                                                      \
                                  type,    ldc,                                                    \
                                  strideC, batchCount,                                             \
                                  compute, Batching::kStrided});                                   \
  }
WARPLINGS_PRODUCTS(S, _v2, float, CUDA_R_32F, CUBLAS_COMPUTE_32F)
WARPLINGS_PRODUCTS(D, _v2, double, CUDA_R_64F, CUBLAS_COMPUTE_64F)
WARPLINGS_PRODUCTS(H, , __half, CUDA_R_16F, CUBLAS_COMPUTE_16F)
#undef WARPLINGS_PRODUCTS

cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t transa,
                            cublasOperation_t transb, int m, int n, int k, const void* alpha,
                            const void* A, cudaDataType Atype, int lda, const void* B,
                            cudaDataType Btype, int ldb, const void* beta, void* C,
                            cudaDataType Ctype, int ldc, cublasComputeType_t computeType,
                            cublasGemmAlgo_t) {
  WARPLINGS_LIBRARY_CALL(cublasGemmEx);
  return product(call, handle,
                 {transa, transb, m, n,    k, alpha, A,   Atype, lda, 0,           B,
                  Btype,  ldb,    0, beta, C, Ctype, ldc, 0,     1,   computeType, Batching::kOne});
}

cublasStatus_t cublasSgemmEx(cublasHandle_t handle, cublasOperation_t transa,
                             cublasOperation_t transb, int m, int n, int k, const float* alpha,
                             const void* A, cudaDataType Atype, int lda, const void* B,
                             cudaDataType Btype, int ldb, const float* beta, void* C,
                             cudaDataType Ctype, int ldc) {
  WARPLINGS_LIBRARY_CALL(cublasSgemmEx);
  return product(call, handle, {transa,        transb, m,     n,   k,     alpha, A,
                                Atype,         lda,    0,     B,   Btype, ldb,   0,
                                beta,          C,      Ctype, ldc, 0,     1,     CUBLAS_COMPUTE_32F,
                                Batching::kOne});
}

cublasStatus_t cublasGemmBatchedEx(cublasHandle_t handle, cublasOperation_t transa,
                                   cublasOperation_t transb, int m, int n, int k, const void* alpha,
                                   const void* const Aarray[], cudaDataType Atype, int lda,
                                   const void* const Barray[], cudaDataType Btype, int ldb,
                                   const void* beta, void* const Carray[], cudaDataType Ctype,
                                   int ldc, int batchCount, cublasComputeType_t computeType,
                                   cublasGemmAlgo_t) {
  WARPLINGS_LIBRARY_CALL(cublasGemmBatchedEx);
  return product(call, handle, {transa,      transb,
                                m,           n,
                                k,           alpha,
                                Aarray,      Atype,
                                lda,         0,
                                Barray,      Btype,
                                ldb,         0,
                                beta,        const_cast<void**>(Carray),
                                Ctype,       ldc,
                                0,           batchCount,
                                computeType, Batching::kPointers});
}

cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t transa,
                                          cublasOperation_t transb, int m, int n, int k,
                                          const void* alpha, const void* A, cudaDataType Atype,
                                          int lda, long long int strideA, const void* B,
                                          cudaDataType Btype, int ldb, long long int strideB,
                                          const void* beta, void* C, cudaDataType Ctype, int ldc,
                                          long long int strideC, int batchCount,
                                          cublasComputeType_t computeType, cublasGemmAlgo_t) {
  WARPLINGS_LIBRARY_CALL(cublasGemmStridedBatchedEx);
  return product(call, handle, {transa,      transb,
                                m,           n,
                                k,           alpha,
                                A,           Atype,
                                lda,         strideA,
                                B,           Btype,
                                ldb,         strideB,
                                beta,        C,
                                Ctype,       ldc,
                                strideC,     batchCount,
                                computeType, Batching::kStrided});
}

}  // extern "C"
