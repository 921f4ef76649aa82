// Cholesky and LU factors, and the systems that are solved with them.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "cusolver/handle.h"

using namespace warplings::libraries;

namespace {

constexpr int kPanel = 32;
int size_of_potrf(int n) { return kPanel * std::max(1, n); }
int size_of_getrf(int m, int n) { return kPanel * std::max({1, m, n}); }

// An element of a matrix of which one triangle is stored, as if it were the lower one.
template <class T>
struct Lower {
  T* a;
  int64_t ld;
  bool stored_below;
  T& operator()(int64_t i, int64_t j) const { return stored_below ? a[i + j * ld] : a[j + i * ld]; }
};

void require_triangle(SolverCall& call, cublasFillMode_t uplo, int n) {
  call.require(uplo == CUBLAS_FILL_MODE_LOWER || uplo == CUBLAS_FILL_MODE_UPPER, 1,
               "the part is CUBLAS_FILL_MODE_LOWER or _UPPER");
  call.require(n >= 0, 2, "n is not negative");
}

template <class T>
cusolverStatus_t potrf_size(const Call& site, cusolverDnHandle_t handle, cublasFillMode_t uplo,
                            int n, int lda, int* size) {
  SolverCall call(site, handle);
  require_triangle(call, uplo, n);
  call.require(lda >= std::max(1, n), 4, "lda is the distance between columns, at least n");
  return answer(call, size_of_potrf(n), size);
}

template <class T>
cusolverStatus_t potrf(const Call& site, cusolverDnHandle_t handle, cublasFillMode_t uplo, int n,
                       T* A, int lda, T* work, int lwork, int* info) {
  SolverCall call(site, handle);
  require_triangle(call, uplo, n);
  call.require(lda >= std::max(1, n), 4, "lda is the distance between columns, at least n");
  call.space(work, lwork, size_of_potrf(n), 6);
  if (!call.ok()) return call.status();
  const bool below = uplo == CUBLAS_FILL_MODE_LOWER;
  call.triangle("matrix A", A, below, n, lda, Access::kReadWrite);
  return call.run(1.0 * n * n * n / 3, info, [=] {
    const Lower<T> l{view(A), lda, below};
    for (int64_t j = 0; j < n; ++j) {
      T pivot = l(j, j);
      for (int64_t k = 0; k < j; ++k) pivot -= l(j, k) * l(j, k);
      if (!(pivot > 0)) return static_cast<int>(j + 1);
      l(j, j) = std::sqrt(pivot);
      for (int64_t i = j + 1; i < n; ++i) {
        T sum = l(i, j);
        for (int64_t k = 0; k < j; ++k) sum -= l(i, k) * l(j, k);
        l(i, j) = sum / l(j, j);
      }
    }
    return 0;
  });
}

// Solves with a lower triangle from the top, or with its transpose from the bottom. at(i, j) of the
// lower triangle; a unit diagonal is not read.
template <class T, class At>
void solve_lower(const At& at, bool transposed, bool unit, int64_t n, T* x) {
  for (int64_t step = 0; step < n; ++step) {
    const int64_t i = transposed ? n - 1 - step : step;
    T sum = x[i];
    for (int64_t j = transposed ? i + 1 : 0; j < (transposed ? n : i); ++j) {
      sum -= (transposed ? at(j, i) : at(i, j)) * x[j];
    }
    x[i] = unit ? sum : sum / at(i, i);
  }
}

template <class T>
cusolverStatus_t potrs(const Call& site, cusolverDnHandle_t handle, cublasFillMode_t uplo, int n,
                       int nrhs, const T* A, int lda, T* B, int ldb, int* info) {
  SolverCall call(site, handle);
  require_triangle(call, uplo, n);
  call.require(nrhs >= 0, 3, "nrhs is not negative");
  call.require(lda >= std::max(1, n), 5, "lda is the distance between columns, at least n");
  call.require(ldb >= std::max(1, n), 7, "ldb is the distance between columns of B, at least n");
  if (!call.ok()) return call.status();
  const bool below = uplo == CUBLAS_FILL_MODE_LOWER;
  call.triangle("matrix A", A, below, n, lda, Access::kRead);
  call.matrix("matrix B", B, n, nrhs, ldb, Access::kReadWrite);
  return call.run(2.0 * n * n * nrhs, info, [=] {
    const Lower<const T> l{view(A), lda, below};
    for (int64_t column = 0; column < nrhs; ++column) {
      T* const x = view(B) + column * ldb;
      solve_lower(l, false, false, n, x);
      solve_lower(l, true, false, n, x);
    }
    return 0;
  });
}

template <class T>
cusolverStatus_t getrf_size(const Call& site, cusolverDnHandle_t handle, int m, int n, int lda,
                            int* size) {
  SolverCall call(site, handle);
  call.require(m >= 0, 1, "m is not negative");
  call.require(n >= 0, 2, "n is not negative");
  call.require(lda >= std::max(1, m), 4, "lda is the distance between columns, at least m");
  return answer(call, size_of_getrf(m, n), size);
}

// Row interchanges and factors of the column j and all behind it; 0, or j + 1 if the pivot is 0.
template <class T>
int eliminate(T* a, int64_t j, int64_t m, int64_t n, int64_t ld, int* pivots) {
  int64_t pivot = j;
  for (int64_t i = j + 1; i < m && pivots != nullptr; ++i) {
    if (std::abs(a[i + j * ld]) > std::abs(a[pivot + j * ld])) pivot = i;
  }
  if (pivots != nullptr) pivots[j] = static_cast<int>(pivot + 1);
  if (a[pivot + j * ld] == 0) return static_cast<int>(j + 1);
  for (int64_t col = 0; col < n && pivot != j; ++col)
    std::swap(a[j + col * ld], a[pivot + col * ld]);
  for (int64_t i = j + 1; i < m; ++i) a[i + j * ld] /= a[j + j * ld];
  for (int64_t col = j + 1; col < n; ++col) {
    for (int64_t i = j + 1; i < m; ++i) a[i + col * ld] -= a[i + j * ld] * a[j + col * ld];
  }
  return 0;
}

template <class T>
cusolverStatus_t getrf(const Call& site, cusolverDnHandle_t handle, int m, int n, T* A, int lda,
                       T* work, int* pivots, int* info) {
  SolverCall call(site, handle);
  call.require(m >= 0, 1, "m is not negative");
  call.require(n >= 0, 2, "n is not negative");
  call.require(lda >= std::max(1, m), 4, "lda is the distance between columns, at least m");
  const int needed = size_of_getrf(m, n);
  call.space(work, needed, needed, 5);  // its size is not an argument
  if (!call.ok()) return call.status();
  const int64_t count = std::min(m, n);
  call.matrix("matrix A", A, m, n, lda, Access::kReadWrite);
  if (pivots != nullptr) call.vector("pivots", pivots, count, Access::kWrite);
  return call.run(2.0 * m * n * static_cast<double>(count), info, [=] {
    int first_zero = 0;
    for (int64_t j = 0; j < count; ++j) {
      const int zero = eliminate(view(A), j, int64_t{m}, int64_t{n}, int64_t{lda},
                                 pivots == nullptr ? nullptr : view(pivots));
      if (first_zero == 0) first_zero = zero;
    }
    return first_zero;
  });
}

template <class T>
cusolverStatus_t getrs(const Call& site, cusolverDnHandle_t handle, cublasOperation_t trans, int n,
                       int nrhs, const T* A, int lda, const int* pivots, T* B, int ldb, int* info) {
  SolverCall call(site, handle);
  call.require(trans == CUBLAS_OP_N || trans == CUBLAS_OP_T || trans == CUBLAS_OP_C, 1,
               "the operation is CUBLAS_OP_N, _T or _C");
  call.require(n >= 0, 2, "n is not negative");
  call.require(nrhs >= 0, 3, "nrhs is not negative");
  call.require(lda >= std::max(1, n), 5, "lda is the distance between columns, at least n");
  call.require(ldb >= std::max(1, n), 8, "ldb is the distance between columns of B, at least n");
  if (!call.ok()) return call.status();
  call.matrix("matrix A", A, n, n, lda, Access::kRead);
  if (pivots != nullptr) call.vector("pivots", pivots, n, Access::kRead);
  call.matrix("matrix B", B, n, nrhs, ldb, Access::kReadWrite);
  const bool transposed = trans != CUBLAS_OP_N;
  return call.run(2.0 * n * n * nrhs, info, [=] {
    const T* const a = view(A);
    const int* const rows = pivots == nullptr ? nullptr : view(pivots);
    const auto below = [&](int64_t i, int64_t j) { return a[i + j * lda]; };  // L
    const auto above = [&](int64_t i, int64_t j) { return a[j + i * lda]; };  // U, transposed
    for (int64_t column = 0; column < nrhs; ++column) {
      T* const x = view(B) + column * ldb;
      for (int64_t i = 0; i < n && rows != nullptr && !transposed; ++i)
        std::swap(x[i], x[rows[i] - 1]);
      // P L U x = b, or U^T L^T P^T x = b.
      if (!transposed) solve_lower(below, false, true, n, x);
      solve_lower(above, !transposed, false, n, x);
      if (transposed) solve_lower(below, true, true, n, x);
      for (int64_t i = n; i-- > 0 && rows != nullptr && transposed;)
        std::swap(x[i], x[rows[i] - 1]);
    }
    return 0;
  });
}

}  // namespace

extern "C" {

#define WARPLINGS_FACTORS(S, T)                                                                    \
  cusolverStatus_t cusolverDn##S##potrf_bufferSize(                                                \
      cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, T*, int lda, int* Lwork) {          \
    WARPLINGS_LIBRARY_CALL(cusolverDn##S##potrf_bufferSize);                                       \
    WARPLINGS_MAY_FAIL(cusolverDn##S##potrf_bufferSize, CUSOLVER_STATUS_INTERNAL_ERROR);           \
    return potrf_size<T>(call, handle, uplo, n, lda, Lwork);                                       \
  }                                                                                                \
  cusolverStatus_t cusolverDn##S##potrf(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n,   \
                                        T* A, int lda, T* Workspace, int Lwork, int* devInfo) {    \
    WARPLINGS_LIBRARY_CALL(cusolverDn##S##potrf);                                                  \
    return potrf(call, handle, uplo, n, A, lda, Workspace, Lwork, devInfo);                        \
  }                                                                                                \
  cusolverStatus_t cusolverDn##S##potrs(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n,   \
                                        int nrhs, const T* A, int lda, T* B, int ldb,              \
                                        int* devInfo) {                                            \
    WARPLINGS_LIBRARY_CALL(cusolverDn##S##potrs);                                                  \
    return potrs(call, handle, uplo, n, nrhs, A, lda, B, ldb, devInfo);                            \
  }                                                                                                \
  cusolverStatus_t cusolverDn##S##getrf_bufferSize(cusolverDnHandle_t handle, int m, int n, T*,    \
                                                   int lda, int* Lwork) {                          \
    WARPLINGS_LIBRARY_CALL(cusolverDn##S##getrf_bufferSize);                                       \
    WARPLINGS_MAY_FAIL(cusolverDn##S##getrf_bufferSize, CUSOLVER_STATUS_INTERNAL_ERROR);           \
    return getrf_size<T>(call, handle, m, n, lda, Lwork);                                          \
  }                                                                                                \
  cusolverStatus_t cusolverDn##S##getrf(cusolverDnHandle_t handle, int m, int n, T* A, int lda,    \
                                        T* Workspace, int* devIpiv, int* devInfo) {                \
    WARPLINGS_LIBRARY_CALL(cusolverDn##S##getrf);                                                  \
    return getrf(call, handle, m, n, A, lda, Workspace, devIpiv, devInfo);                         \
  }                                                                                                \
  cusolverStatus_t cusolverDn##S##getrs(cusolverDnHandle_t handle, cublasOperation_t trans, int n, \
                                        int nrhs, const T* A, int lda, const int* devIpiv, T* B,   \
                                        int ldb, int* devInfo) {                                   \
    WARPLINGS_LIBRARY_CALL(cusolverDn##S##getrs);                                                  \
    return getrs(call, handle, trans, n, nrhs, A, lda, devIpiv, B, ldb, devInfo);                  \
  }
WARPLINGS_FACTORS(S, float)
WARPLINGS_FACTORS(D, double)
#undef WARPLINGS_FACTORS

}  // extern "C"
