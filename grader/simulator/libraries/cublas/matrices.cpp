// Level 2, and the calls of level 3 that are no products: sums, transposes, diagonals, triangles.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "cublas/gemm.h"
#include "cublas/handle.h"

using namespace warplings::libraries;

namespace {

template <class T>
cublasStatus_t gemv(const Call& site, cublasHandle_t handle, cublasOperation_t trans, int m, int n,
                    const T* alpha, const T* A, int lda, const T* x, int incx, const T* beta, T* y,
                    int incy) {
  BlasCall call(site, handle);
  call.require(is_operation(trans), 1, "the operation is CUBLAS_OP_N, _T or _C");
  call.require(m >= 0 && n >= 0, 2, "m and n are not negative");
  call.require(lda >= std::max(1, m), 6, "lda is the distance between columns, at least m");
  call.require(incx != 0 && incy != 0, 8, "incx and incy are not 0");
  const Scalar a = call.scalar("alpha", alpha, kNumberOf<T>);
  const Scalar b = call.scalar("beta", beta, kNumberOf<T>);
  if (!call.ok() || m == 0 || n == 0) return call.status();
  const bool transposed = trans != CUBLAS_OP_N;
  const int64_t in = transposed ? m : n, out = transposed ? n : m;
  if (!a.is_zero()) {
    call.matrix("matrix A", A, kNumberOf<T>, m, n, lda, Access::kRead);
    call.vector("vector x", x, kNumberOf<T>, in, incx, Access::kRead);
  }
  call.vector("vector y", y, kNumberOf<T>, out, incy,
              b.is_zero() || b.on_device() ? Access::kWrite : Access::kReadWrite);
  return call.run(2.0 * m * n, [=] {
    const T *matrix = view(A), *from = view(x);
    T* to = view(y);
    const T factor = static_cast<T>(a.get()), old = static_cast<T>(b.get());
    for (int64_t i = 0; i < out; ++i) {
      T sum = 0;
      for (int64_t j = 0; j < in && factor != 0; ++j) {
        sum += matrix[transposed ? j + i * lda : i + j * lda] * from[element(j, in, incx)];
      }
      T& place = to[element(i, out, incy)];
      place = factor * sum + (old == 0 ? T(0) : old * place);
    }
  });
}

template <class T>
cublasStatus_t ger(const Call& site, cublasHandle_t handle, int m, int n, const T* alpha,
                   const T* x, int incx, const T* y, int incy, T* A, int lda) {
  BlasCall call(site, handle);
  call.require(m >= 0 && n >= 0, 1, "m and n are not negative");
  call.require(incx != 0, 5, "incx is not 0");
  call.require(incy != 0, 7, "incy is not 0");
  call.require(lda >= std::max(1, m), 9, "lda is the distance between columns, at least m");
  const Scalar a = call.scalar("alpha", alpha, kNumberOf<T>);
  if (!call.ok() || m == 0 || n == 0) return call.status();
  call.vector("vector x", x, kNumberOf<T>, m, incx, Access::kRead);
  call.vector("vector y", y, kNumberOf<T>, n, incy, Access::kRead);
  call.matrix("matrix A", A, kNumberOf<T>, m, n, lda, Access::kReadWrite);
  return call.run(2.0 * m * n, [=] {
    const T *left = view(x), *right = view(y);
    T* matrix = view(A);
    for (int64_t j = 0; j < n; ++j) {
      const T factor = static_cast<T>(a.get()) * right[element(j, n, incy)];
      for (int64_t i = 0; i < m; ++i) matrix[i + j * lda] += left[element(i, m, incx)] * factor;
    }
  });
}

// C = alpha op(A) + beta op(B). C may be A or B if that is not transposed.
template <class T>
cublasStatus_t geam(const Call& site, cublasHandle_t handle, cublasOperation_t transa,
                    cublasOperation_t transb, int m, int n, const T* alpha, const T* A, int lda,
                    const T* beta, const T* B, int ldb, T* C, int ldc) {
  BlasCall call(site, handle);
  const bool ta = transa != CUBLAS_OP_N, tb = transb != CUBLAS_OP_N;
  call.require(is_operation(transa), 1, "the operation is CUBLAS_OP_N, _T or _C");
  call.require(is_operation(transb), 2, "the operation is CUBLAS_OP_N, _T or _C");
  call.require(m >= 0 && n >= 0, 3, "m and n are not negative");
  const Scalar a = call.scalar("alpha", alpha, kNumberOf<T>);
  const Scalar b = call.scalar("beta", beta, kNumberOf<T>);
  call.require(a.is_zero() || lda >= std::max(1, ta ? n : m), 7,
               "lda is the distance between columns of A, at least its rows");
  call.require(b.is_zero() || ldb >= std::max(1, tb ? n : m), 10,
               "ldb is the distance between columns of B, at least its rows");
  call.require(ldc >= std::max(1, m), 12, "ldc is the distance between columns of C, at least m");
  call.require(!(A == C && (ta || lda != ldc)) && !(B == C && (tb || ldb != ldc)), 11,
               "C may be A or B only if that is not transposed and its columns lie alike");
  if (!call.ok() || m == 0 || n == 0) return call.status();
  const auto add = [&](const char* role, const T* x, bool transposed, int ld) {
    call.matrix(role, x, kNumberOf<T>, transposed ? n : m, transposed ? m : n, ld, Access::kRead);
  };
  if (!a.is_zero()) add("matrix A", A, ta, lda);
  if (!b.is_zero()) add("matrix B", B, tb, ldb);
  call.matrix("matrix C", C, kNumberOf<T>, m, n, ldc, Access::kWrite);
  return call.run(2.0 * m * n, [=] {
    const T fa = static_cast<T>(a.get()), fb = static_cast<T>(b.get());
    const T *left = view(A), *right = view(B);
    T* to = view(C);
    for (int64_t j = 0; j < n; ++j) {
      for (int64_t i = 0; i < m; ++i) {
        T sum = 0;
        if (fa != 0) sum += fa * left[ta ? j + i * lda : i + j * lda];
        if (fb != 0) sum += fb * right[tb ? j + i * ldb : i + j * ldb];
        to[i + j * ldc] = sum;
      }
    }
  });
}

template <class T>
cublasStatus_t dgmm(const Call& site, cublasHandle_t handle, cublasSideMode_t mode, int m, int n,
                    const T* A, int lda, const T* x, int incx, T* C, int ldc) {
  BlasCall call(site, handle);
  call.require(mode == CUBLAS_SIDE_LEFT || mode == CUBLAS_SIDE_RIGHT, 1,
               "the side is CUBLAS_SIDE_LEFT or _RIGHT");
  call.require(m >= 0 && n >= 0, 2, "m and n are not negative");
  call.require(lda >= std::max(1, m), 5, "lda is the distance between columns, at least m");
  call.require(ldc >= std::max(1, m), 9, "ldc is the distance between columns, at least m");
  if (!call.ok() || m == 0 || n == 0) return call.status();
  const int64_t count = mode == CUBLAS_SIDE_LEFT ? m : n;
  call.matrix("matrix A", A, kNumberOf<T>, m, n, lda, Access::kRead);
  call.vector("vector x", x, kNumberOf<T>, count, incx, Access::kRead);
  call.matrix("matrix C", C, kNumberOf<T>, m, n, ldc, Access::kWrite);
  return call.run(1.0 * m * n, [=] {
    const T *from = view(A), *diagonal = view(x);
    T* to = view(C);
    for (int64_t j = 0; j < n; ++j) {
      for (int64_t i = 0; i < m; ++i) {
        const int64_t at = mode == CUBLAS_SIDE_LEFT ? i : j;
        to[i + j * ldc] = from[i + j * lda] * diagonal[element(at, count, incx)];
      }
    }
  });
}

// One triangle of C = alpha op(A) op(A)^T + beta C.
template <class T>
cublasStatus_t syrk(const Call& site, cublasHandle_t handle, cublasFillMode_t uplo,
                    cublasOperation_t trans, int n, int k, const T* alpha, const T* A, int lda,
                    const T* beta, T* C, int ldc) {
  BlasCall call(site, handle);
  const bool transposed = trans != CUBLAS_OP_N;
  call.require(uplo == CUBLAS_FILL_MODE_LOWER || uplo == CUBLAS_FILL_MODE_UPPER, 1,
               "the part is CUBLAS_FILL_MODE_LOWER or _UPPER");
  call.require(is_operation(trans), 2, "the operation is CUBLAS_OP_N, _T or _C");
  call.require(n >= 0 && k >= 0, 3, "n and k are not negative");
  call.require(lda >= std::max(1, transposed ? k : n), 7,
               "lda is the distance between columns of A, at least its rows");
  call.require(ldc >= std::max(1, n), 10, "ldc is the distance between columns of C, at least n");
  const Scalar a = call.scalar("alpha", alpha, kNumberOf<T>);
  const Scalar b = call.scalar("beta", beta, kNumberOf<T>);
  if (!call.ok() || n == 0) return call.status();
  call.matrix("matrix A", A, kNumberOf<T>, transposed ? k : n, transposed ? n : k, lda,
              Access::kRead);
  // The other triangle is neither read nor written: column by column.
  const bool lower = uplo == CUBLAS_FILL_MODE_LOWER;
  const auto first_row = [lower](int64_t j) { return lower ? j : 0; };
  const auto rows = [lower, n](int64_t j) { return lower ? n - j : j + 1; };
  for (int64_t j = 0; j < n; ++j) {
    call.vector("matrix C", C + first_row(j) + j * ldc, kNumberOf<T>, rows(j), 1,
                b.is_zero() || b.on_device() ? Access::kWrite : Access::kReadWrite);
  }
  return call.run(1.0 * n * n * k, [=] {
    GemmShape shape;
    shape.m = shape.n = n;
    shape.k = k;
    shape.transpose_a = transposed;
    shape.transpose_b = !transposed;
    shape.lda = shape.ldb = lda;
    shape.ldc = ldc;
    shape.a = shape.b = shape.c = kNumberOf<T>;
    shape.arithmetic = sizeof(T) == sizeof(double) ? Arithmetic::kDouble : Arithmetic::kFloat;
    std::vector<T> full(static_cast<size_t>(n) * static_cast<size_t>(n));
    T* to = view(C);
    gemm(shape, a.get(), view(A), view(A), b.get(), to, full.data(), n, {});
    for (int64_t j = 0; j < n; ++j) {
      std::copy_n(full.begin() + j * n + first_row(j), rows(j), to + j * ldc + first_row(j));
    }
  });
}

// A triangle A as the solver sees it: op(A), lower or upper.
template <class T>
struct Triangle {
  const T* a;
  int64_t ld;
  bool transposed, lower, unit;
  T at(int64_t i, int64_t j) const { return transposed ? a[j + i * ld] : a[i + j * ld]; }
  // x = op(A)^-1 x, n elements `step` apart.
  void solve(T* x, int64_t n, int64_t step) const {
    for (int64_t s = 0; s < n; ++s) {
      const int64_t i = lower ? s : n - 1 - s;
      T value = x[i * step];
      for (int64_t t = 0; t < s; ++t) {
        const int64_t j = lower ? t : n - 1 - t;
        value -= at(i, j) * x[j * step];
      }
      x[i * step] = unit ? value : value / at(i, i);
    }
  }
};

// The triangle of an n x n matrix A that a call reads, column by column.
template <class T>
void add_triangle(BlasCall& call, const T* A, bool lower, int64_t n, int64_t lda) {
  for (int64_t j = 0; j < n; ++j) {
    call.vector("matrix A", A + (lower ? j : 0) + j * lda, kNumberOf<T>, lower ? n - j : j + 1, 1,
                Access::kRead);
  }
}

// op(A) X = alpha B, or X op(A) = alpha B; X takes the place of B.
template <class T>
cublasStatus_t trsm(const Call& site, cublasHandle_t handle, cublasSideMode_t side,
                    cublasFillMode_t uplo, cublasOperation_t trans, cublasDiagType_t diag, int m,
                    int n, const T* alpha, const T* A, int lda, T* B, int ldb) {
  BlasCall call(site, handle);
  call.require(side == CUBLAS_SIDE_LEFT || side == CUBLAS_SIDE_RIGHT, 1,
               "the side is CUBLAS_SIDE_LEFT or _RIGHT");
  call.require(uplo == CUBLAS_FILL_MODE_LOWER || uplo == CUBLAS_FILL_MODE_UPPER, 2,
               "the part is CUBLAS_FILL_MODE_LOWER or _UPPER");
  call.require(is_operation(trans), 3, "the operation is CUBLAS_OP_N, _T or _C");
  call.require(m >= 0 && n >= 0, 5, "m and n are not negative");
  const bool left = side == CUBLAS_SIDE_LEFT, transposed = trans != CUBLAS_OP_N;
  const int64_t order = left ? m : n;
  call.require(lda >= std::max<int64_t>(1, order), 9, "lda is at least the order of A");
  call.require(ldb >= std::max(1, m), 11, "ldb is the distance between columns of B, at least m");
  const Scalar a = call.scalar("alpha", alpha, kNumberOf<T>);
  if (!call.ok() || m == 0 || n == 0) return call.status();
  const bool lower = uplo == CUBLAS_FILL_MODE_LOWER;
  add_triangle(call, A, lower, order, lda);
  call.matrix("matrix B", B, kNumberOf<T>, m, n, ldb, Access::kReadWrite);
  return call.run(1.0 * m * n * static_cast<double>(order), [=] {
    // X op(A) = B is op(A)^T X^T = B^T.
    const Triangle<T> triangle{view(A), lda, transposed == left, (lower != transposed) == left,
                               diag == CUBLAS_DIAG_UNIT};
    T* x = view(B);
    const T factor = static_cast<T>(a.get());
    for (int64_t j = 0; j < n; ++j) {
      for (int64_t i = 0; i < m; ++i) x[i + j * ldb] *= factor;
    }
    for (int64_t line = 0; line < (left ? n : m); ++line) {
      triangle.solve(left ? x + line * ldb : x + line, order, left ? 1 : ldb);
    }
  });
}

// op(A) x = b; x takes the place of b.
template <class T>
cublasStatus_t trsv(const Call& site, cublasHandle_t handle, cublasFillMode_t uplo,
                    cublasOperation_t trans, cublasDiagType_t diag, int n, const T* A, int lda,
                    T* x, int incx) {
  BlasCall call(site, handle);
  call.require(uplo == CUBLAS_FILL_MODE_LOWER || uplo == CUBLAS_FILL_MODE_UPPER, 1,
               "the part is CUBLAS_FILL_MODE_LOWER or _UPPER");
  call.require(is_operation(trans), 2, "the operation is CUBLAS_OP_N, _T or _C");
  call.require(n >= 0, 4, "n is not negative");
  call.require(lda >= std::max(1, n), 6, "lda is the distance between columns, at least n");
  call.require(incx != 0, 8, "incx is not 0");
  if (!call.ok() || n == 0) return call.status();
  const bool lower = uplo == CUBLAS_FILL_MODE_LOWER, transposed = trans != CUBLAS_OP_N;
  add_triangle(call, A, lower, n, lda);
  call.vector("vector x", x, kNumberOf<T>, n, incx, Access::kReadWrite);
  return call.run(1.0 * n * n, [=] {
    const Triangle<T> triangle{view(A), lda, transposed, lower != transposed,
                               diag == CUBLAS_DIAG_UNIT};
    triangle.solve(view(x) + element(0, n, incx), n, incx);
  });
}

}  // namespace

extern "C" {

#define WARPLINGS_MATRICES(S, T)                                                                  \
  cublasStatus_t cublas##S##gemv_v2(cublasHandle_t handle, cublasOperation_t trans, int m, int n, \
                                    const T* alpha, const T* A, int lda, const T* x, int incx,    \
                                    const T* beta, T* y, int incy) {                              \
    WARPLINGS_LIBRARY_CALL(cublas##S##gemv);                                                      \
    return gemv(call, handle, trans, m, n, alpha, A, lda, x, incx, beta, y, incy);                \
  }                                                                                               \
  cublasStatus_t cublas##S##ger_v2(cublasHandle_t handle, int m, int n, const T* alpha,           \
                                   const T* x, int incx, const T* y, int incy, T* A, int lda) {   \
    WARPLINGS_LIBRARY_CALL(cublas##S##ger);                                                       \
    return ger(call, handle, m, n, alpha, x, incx, y, incy, A, lda);                              \
  }                                                                                               \
  cublasStatus_t cublas##S##geam(                                                                 \
      cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,    \
      const T* alpha, const T* A, int lda, const T* beta, const T* B, int ldb, T* C, int ldc) {   \
    WARPLINGS_LIBRARY_CALL(cublas##S##geam);                                                      \
    return geam(call, handle, transa, transb, m, n, alpha, A, lda, beta, B, ldb, C, ldc);         \
  }                                                                                               \
  cublasStatus_t cublas##S##dgmm(cublasHandle_t handle, cublasSideMode_t mode, int m, int n,      \
                                 const T* A, int lda, const T* x, int incx, T* C, int ldc) {      \
    WARPLINGS_LIBRARY_CALL(cublas##S##dgmm);                                                      \
    return dgmm(call, handle, mode, m, n, A, lda, x, incx, C, ldc);                               \
  }                                                                                               \
  cublasStatus_t cublas##S##syrk_v2(cublasHandle_t handle, cublasFillMode_t uplo,                 \
                                    cublasOperation_t trans, int n, int k, const T* alpha,        \
                                    const T* A, int lda, const T* beta, T* C, int ldc) {          \
    WARPLINGS_LIBRARY_CALL(cublas##S##syrk);                                                      \
    return syrk(call, handle, uplo, trans, n, k, alpha, A, lda, beta, C, ldc);                    \
  }                                                                                               \
  cublasStatus_t cublas##S##trsm_v2(cublasHandle_t handle, cublasSideMode_t side,                 \
                                    cublasFillMode_t uplo, cublasOperation_t trans,               \
                                    cublasDiagType_t diag, int m, int n, const T* alpha,          \
                                    const T* A, int lda, T* B, int ldb) {                         \
    WARPLINGS_LIBRARY_CALL(cublas##S##trsm);                                                      \
    return trsm(call, handle, side, uplo, trans, diag, m, n, alpha, A, lda, B, ldb);              \
  }                                                                                               \
  cublasStatus_t cublas##S##trsv_v2(cublasHandle_t handle, cublasFillMode_t uplo,                 \
                                    cublasOperation_t trans, cublasDiagType_t diag, int n,        \
                                    const T* A, int lda, T* x, int incx) {                        \
    WARPLINGS_LIBRARY_CALL(cublas##S##trsv);                                                      \
    return trsv(call, handle, uplo, trans, diag, n, A, lda, x, incx);                             \
  }
WARPLINGS_MATRICES(S, float)
WARPLINGS_MATRICES(D, double)
#undef WARPLINGS_MATRICES

}  // extern "C"
