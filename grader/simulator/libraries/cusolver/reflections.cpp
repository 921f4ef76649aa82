// A = Q R by Householder reflections, one column at a time, and products with Q. A reflection is
// H = 1 - tau v v^T with v[0] = 1, as in LAPACK (Anderson et al., LAPACK Users' Guide, "QR
// Factorization").
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "cusolver/handle.h"

using namespace warplings::libraries;

namespace {

// Elements of work space. The vendor's numbers depend on its version; here, too, now one call and
// now the other needs more.
constexpr int kReflections = 32;
int size_of_geqrf(int n) { return kReflections * std::max(1, n); }
int size_of_product(int lines) { return kReflections * (kReflections + std::max(1, lines)); }

// c -= tau v (v^T c), for each of `lines` vectors of n elements, `step` apart; v has a 1 on top,
// which is not stored.
template <class T>
void reflect(const T* v, T tau, int64_t n, T* c, int64_t step, int64_t lines, int64_t distance) {
  if (tau == 0) return;
  for (int64_t line = 0; line < lines; ++line) {
    T* const x = c + line * distance;
    T sum = x[0];
    for (int64_t i = 1; i < n; ++i) sum += v[i] * x[i * step];
    x[0] -= tau * sum;
    for (int64_t i = 1; i < n; ++i) x[i * step] -= tau * sum * v[i];
  }
}

// Makes of x[0..n) the reflection that turns it into (beta, 0, ..., 0), and of x[0] that beta.
template <class T>
T make_reflection(T* x, int64_t n) {
  T square = 0;
  for (int64_t i = 1; i < n; ++i) square += x[i] * x[i];
  if (square == 0) return 0;
  const T alpha = x[0], beta = -std::copysign(std::sqrt(alpha * alpha + square), alpha);
  for (int64_t i = 1; i < n; ++i) x[i] /= alpha - beta;
  x[0] = beta;
  return (beta - alpha) / beta;
}

template <class T>
cusolverStatus_t geqrf(const Call& site, cusolverDnHandle_t handle, int m, int n, T* A, int lda,
                       T* tau, T* work, int lwork, int* info) {
  SolverCall call(site, handle);
  call.require(m >= 0, 1, "m is not negative");
  call.require(n >= 0, 2, "n is not negative");
  call.require(lda >= std::max(1, m), 4, "lda is the distance between columns, at least m");
  call.space(work, lwork, size_of_geqrf(n), 7);
  if (!call.ok()) return call.status();
  const int64_t count = std::min(m, n);
  call.matrix("matrix A", A, m, n, lda, Access::kReadWrite);
  call.vector("tau", tau, count, Access::kWrite);
  return call.run(2.0 * n * n * (m - n / 3.0), info, [=] {
    T *const a = view(A), *const factors = view(tau);
    for (int64_t j = 0; j < count; ++j) {
      T* const v = a + j + j * lda;
      factors[j] = make_reflection(v, m - j);
      reflect(v, factors[j], m - j, v + lda, 1, n - j - 1, lda);
    }
    return 0;
  });
}

template <class T>
cusolverStatus_t geqrf_size(const Call& site, cusolverDnHandle_t handle, int m, int n, int lda,
                            int* size) {
  SolverCall call(site, handle);
  call.require(m >= 0, 1, "m is not negative");
  call.require(n >= 0, 2, "n is not negative");
  call.require(lda >= std::max(1, m), 4, "lda is the distance between columns, at least m");
  return answer(call, size_of_geqrf(n), size);
}

void require_orgqr(SolverCall& call, int m, int n, int k, int lda) {
  call.require(m >= 0, 1, "m is not negative");
  call.require(n >= 0 && n <= m, 2, "n is at most m");
  call.require(k >= 0 && k <= n, 3, "k is at most n");
  call.require(lda >= std::max(1, m), 5, "lda is the distance between columns, at least m");
}

template <class T>
cusolverStatus_t orgqr(const Call& site, cusolverDnHandle_t handle, int m, int n, int k, T* A,
                       int lda, const T* tau, T* work, int lwork, int* info) {
  SolverCall call(site, handle);
  require_orgqr(call, m, n, k, lda);
  call.space(work, lwork, size_of_product(n), 8);
  if (!call.ok()) return call.status();
  call.matrix("matrix A", A, m, n, lda, Access::kReadWrite);
  call.vector("tau", tau, k, Access::kRead);
  return call.run(4.0 * m * n * k, info, [=] {
    T* const a = view(A);
    const T* const factors = view(tau);
    // From the last reflection to the first, each on a unit matrix that grows by a row and a
    // column.
    for (int64_t j = n - 1; j >= 0; --j) {
      T* const v = a + j + j * lda;
      const T factor = j < k ? factors[j] : T(0);
      if (j < k) reflect(v, factor, m - j, v + lda, 1, n - j - 1, lda);
      for (int64_t i = 1; i < m - j; ++i) v[i] = j < k ? -factor * v[i] : T(0);
      v[0] = 1 - factor;
      std::fill(v - j, v, T(0));
    }
    return 0;
  });
}

template <class T>
cusolverStatus_t orgqr_size(const Call& site, cusolverDnHandle_t handle, int m, int n, int k,
                            int lda, int* size) {
  SolverCall call(site, handle);
  require_orgqr(call, m, n, k, lda);
  return answer(call, size_of_product(n), size);
}

struct Product {
  cublasSideMode_t side;
  cublasOperation_t trans;
  int m, n, k, lda, ldc;

  bool left() const { return side == CUBLAS_SIDE_LEFT; }
  int order() const { return left() ? m : n; }
  int size() const { return size_of_product(left() ? n : m); }
  void require(SolverCall& call) const {
    call.require(side == CUBLAS_SIDE_LEFT || side == CUBLAS_SIDE_RIGHT, 1,
                 "the side is CUBLAS_SIDE_LEFT or _RIGHT");
    call.require(trans == CUBLAS_OP_N || trans == CUBLAS_OP_T, 2,
                 "the operation is CUBLAS_OP_N or _T");
    call.require(m >= 0, 3, "m is not negative");
    call.require(n >= 0, 4, "n is not negative");
    call.require(k >= 0 && k <= order(), 5, "there are at most as many reflections as rows of A");
    call.require(lda >= std::max(1, order()), 7, "lda is the distance between columns of A");
    call.require(ldc >= std::max(1, m), 10, "ldc is the distance between columns of C, at least m");
  }
};

template <class T>
cusolverStatus_t ormqr(const Call& site, cusolverDnHandle_t handle, const Product& p, const T* A,
                       const T* tau, T* C, T* work, int lwork, int* info) {
  SolverCall call(site, handle);
  p.require(call);
  call.space(work, lwork, p.size(), 12);
  if (!call.ok()) return call.status();
  for (int64_t j = 0; j < p.k; ++j) {  // the vectors alone; R above them is not read
    call.vector("matrix A", A + j + 1 + j * p.lda, p.order() - j - 1, Access::kRead);
  }
  call.vector("tau", tau, p.k, Access::kRead);
  call.matrix("matrix C", C, p.m, p.n, p.ldc, Access::kReadWrite);
  return call.run(4.0 * p.m * p.n * p.k, info, [=] {
    const T *const a = view(A), *const factors = view(tau);
    T* const c = view(C);
    // Q = H1 H2 ... Hk, and every H is its own transpose.
    const bool first_to_last = p.left() == (p.trans == CUBLAS_OP_T);
    for (int64_t step = 0; step < p.k; ++step) {
      const int64_t j = first_to_last ? step : p.k - 1 - step;
      const T* const v = a + j + j * p.lda;
      const int64_t n = p.order() - j;
      if (p.left()) {
        reflect(v, factors[j], n, c + j, 1, p.n, p.ldc);
      } else {
        reflect(v, factors[j], n, c + j * p.ldc, p.ldc, p.m, 1);
      }
    }
    return 0;
  });
}

cusolverStatus_t ormqr_size(const Call& site, cusolverDnHandle_t handle, const Product& p,
                            int* size) {
  SolverCall call(site, handle);
  p.require(call);
  return answer(call, p.size(), size);
}

}  // namespace

extern "C" {

#define WARPLINGS_REFLECTIONS(S, T)                                                                \
  cusolverStatus_t cusolverDn##S##geqrf_bufferSize(cusolverDnHandle_t handle, int m, int n, T*,    \
                                                   int lda, int* lwork) {                          \
    WARPLINGS_LIBRARY_CALL(cusolverDn##S##geqrf_bufferSize);                                       \
    WARPLINGS_MAY_FAIL(cusolverDn##S##geqrf_bufferSize, CUSOLVER_STATUS_INTERNAL_ERROR);           \
    return geqrf_size<T>(call, handle, m, n, lda, lwork);                                          \
  }                                                                                                \
  cusolverStatus_t cusolverDn##S##geqrf(cusolverDnHandle_t handle, int m, int n, T* A, int lda,    \
                                        T* TAU, T* Workspace, int Lwork, int* devInfo) {           \
    WARPLINGS_LIBRARY_CALL(cusolverDn##S##geqrf);                                                  \
    return geqrf(call, handle, m, n, A, lda, TAU, Workspace, Lwork, devInfo);                      \
  }                                                                                                \
  cusolverStatus_t cusolverDn##S##orgqr_bufferSize(cusolverDnHandle_t handle, int m, int n, int k, \
                                                   const T*, int lda, const T*, int* lwork) {      \
    WARPLINGS_LIBRARY_CALL(cusolverDn##S##orgqr_bufferSize);                                       \
    WARPLINGS_MAY_FAIL(cusolverDn##S##orgqr_bufferSize, CUSOLVER_STATUS_INTERNAL_ERROR);           \
    return orgqr_size<T>(call, handle, m, n, k, lda, lwork);                                       \
  }                                                                                                \
  cusolverStatus_t cusolverDn##S##orgqr(cusolverDnHandle_t handle, int m, int n, int k, T* A,      \
                                        int lda, const T* tau, T* work, int lwork, int* info) {    \
    WARPLINGS_LIBRARY_CALL(cusolverDn##S##orgqr);                                                  \
    return orgqr(call, handle, m, n, k, A, lda, tau, work, lwork, info);                           \
  }                                                                                                \
  cusolverStatus_t cusolverDn##S##ormqr_bufferSize(                                                \
      cusolverDnHandle_t handle, cublasSideMode_t side, cublasOperation_t trans, int m, int n,     \
      int k, const T*, int lda, const T*, const T*, int ldc, int* lwork) {                         \
    WARPLINGS_LIBRARY_CALL(cusolverDn##S##ormqr_bufferSize);                                       \
    WARPLINGS_MAY_FAIL(cusolverDn##S##ormqr_bufferSize, CUSOLVER_STATUS_INTERNAL_ERROR);           \
    return ormqr_size(call, handle, {side, trans, m, n, k, lda, ldc}, lwork);                      \
  }                                                                                                \
  cusolverStatus_t cusolverDn##S##ormqr(                                                           \
      cusolverDnHandle_t handle, cublasSideMode_t side, cublasOperation_t trans, int m, int n,     \
      int k, const T* A, int lda, const T* tau, T* C, int ldc, T* work, int lwork, int* devInfo) { \
    WARPLINGS_LIBRARY_CALL(cusolverDn##S##ormqr);                                                  \
    return ormqr(call, handle, {side, trans, m, n, k, lda, ldc}, A, tau, C, work, lwork, devInfo); \
  }
WARPLINGS_REFLECTIONS(S, float)
WARPLINGS_REFLECTIONS(D, double)
#undef WARPLINGS_REFLECTIONS

}  // extern "C"
