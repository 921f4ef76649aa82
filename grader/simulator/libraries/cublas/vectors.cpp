// Level 1: vectors. Sums are in double and rounded once: a GPU's tree is nearly as exact.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>

#include "cublas/handle.h"

using namespace warplings::libraries;

namespace {

template <class T>
cublasStatus_t axpy(const Call& site, cublasHandle_t handle, int n, const T* alpha, const T* x,
                    int incx, T* y, int incy) {
  BlasCall call(site, handle);
  const Scalar factor = call.scalar("alpha", alpha, kNumberOf<T>);
  if (n <= 0) return call.status();
  call.vector("vector x", x, kNumberOf<T>, n, incx, Access::kRead);
  call.vector("vector y", y, kNumberOf<T>, n, incy, Access::kReadWrite);
  return call.run(2.0 * n, [=] {
    const T a = static_cast<T>(factor.get());
    const T* from = view(x);
    T* to = view(y);
    for (int64_t i = 0; i < n; ++i) to[element(i, n, incy)] += a * from[element(i, n, incx)];
  });
}

template <class T>
cublasStatus_t scal(const Call& site, cublasHandle_t handle, int n, const T* alpha, T* x,
                    int incx) {
  BlasCall call(site, handle);
  const Scalar factor = call.scalar("alpha", alpha, kNumberOf<T>);
  if (n <= 0 || incx <= 0) return call.status();
  call.vector("vector x", x, kNumberOf<T>, n, incx, Access::kReadWrite);
  return call.run(n, [=] {
    const T a = static_cast<T>(factor.get());
    T* to = view(x);
    for (int64_t i = 0; i < n; ++i) to[i * incx] *= a;
  });
}

template <class T>
cublasStatus_t copy(const Call& site, cublasHandle_t handle, int n, const T* x, int incx, T* y,
                    int incy) {
  BlasCall call(site, handle);
  if (n <= 0) return call.status();
  call.vector("vector x", x, kNumberOf<T>, n, incx, Access::kRead);
  call.vector("vector y", y, kNumberOf<T>, n, incy, Access::kWrite);
  return call.run(0, [=] {
    const T* from = view(x);
    T* to = view(y);
    for (int64_t i = 0; i < n; ++i) to[element(i, n, incy)] = from[element(i, n, incx)];
  });
}

template <class T>
cublasStatus_t swap(const Call& site, cublasHandle_t handle, int n, T* x, int incx, T* y,
                    int incy) {
  BlasCall call(site, handle);
  if (n <= 0) return call.status();
  call.vector("vector x", x, kNumberOf<T>, n, incx, Access::kReadWrite);
  call.vector("vector y", y, kNumberOf<T>, n, incy, Access::kReadWrite);
  return call.run(0, [=] {
    T *a = view(x), *b = view(y);
    for (int64_t i = 0; i < n; ++i) std::swap(a[element(i, n, incx)], b[element(i, n, incy)]);
  });
}

template <class T>
cublasStatus_t dot(const Call& site, cublasHandle_t handle, int n, const T* x, int incx, const T* y,
                   int incy, T* result) {
  BlasCall call(site, handle);
  call.vector("vector x", x, kNumberOf<T>, n, incx, Access::kRead);
  call.vector("vector y", y, kNumberOf<T>, n, incy, Access::kRead);
  return call.run_with_result(result, kNumberOf<T>, [=](void* to) {
    const T *a = view(x), *b = view(y);
    double sum = 0;
    for (int64_t i = 0; i < n; ++i) {
      sum += static_cast<double>(a[element(i, n, incx)]) * b[element(i, n, incy)];
    }
    *static_cast<T*>(to) = static_cast<T>(sum);
  });
}

// The forms that take types as arguments: arrays of one real type. Halves are computed in single
// precision, as the caller has to say.
bool real_types(cudaDataType computed, std::initializer_list<cudaDataType> arrays) {
  const cudaDataType first = *arrays.begin();
  for (const cudaDataType type : arrays) {
    if (type != first) return false;
  }
  const bool small = first == CUDA_R_16F || first == CUDA_R_16BF || first == CUDA_R_32F;
  return small ? computed == CUDA_R_32F : first == CUDA_R_64F && computed == CUDA_R_64F;
}

cublasStatus_t dot_ex(const Call& site, cublasHandle_t handle, int n, const void* x,
                      cudaDataType x_type, int incx, const void* y, cudaDataType y_type, int incy,
                      void* result, cudaDataType result_type, cudaDataType computed) {
  BlasCall call(site, handle);
  if (!real_types(computed, {x_type, y_type, result_type})) call.fail(CUBLAS_STATUS_NOT_SUPPORTED);
  const Number type = number_of(x_type);
  call.vector("vector x", x, type, n, incx, Access::kRead);
  call.vector("vector y", y, type, n, incy, Access::kRead);
  return call.run_with_result(result, type, [=](void* to) {
    double sum = 0;
    for (int64_t i = 0; i < n; ++i) {
      sum += load(type, view(x), element(i, n, incx)) * load(type, view(y), element(i, n, incy));
    }
    store(type, to, 0, sum);
  });
}

cublasStatus_t nrm2_ex(const Call& site, cublasHandle_t handle, int n, const void* x,
                       cudaDataType x_type, int incx, void* result, cudaDataType result_type,
                       cudaDataType computed) {
  BlasCall call(site, handle);
  if (!real_types(computed, {x_type, result_type})) call.fail(CUBLAS_STATUS_NOT_SUPPORTED);
  const Number type = number_of(x_type);
  const int64_t count = incx > 0 ? std::max(n, 0) : 0;
  call.vector("vector x", x, type, count, incx, Access::kRead);
  return call.run_with_result(result, type, [=](void* to) {
    double sum = 0;
    for (int64_t i = 0; i < count; ++i) {
      const double value = load(type, view(x), i * incx);
      sum += value * value;
    }
    store(type, to, 0, std::sqrt(sum));
  });
}

// alpha has the type of the computation, or that of the vector.
bool scalar_type_fits(cudaDataType alpha, cudaDataType x, cudaDataType computed) {
  return alpha == computed || alpha == x;
}

cublasStatus_t axpy_ex(const Call& site, cublasHandle_t handle, int n, const void* alpha,
                       cudaDataType alpha_type, const void* x, cudaDataType x_type, int incx,
                       void* y, cudaDataType y_type, int incy, cudaDataType computed) {
  BlasCall call(site, handle);
  if (!real_types(computed, {x_type, y_type}) || !scalar_type_fits(alpha_type, x_type, computed)) {
    call.fail(CUBLAS_STATUS_NOT_SUPPORTED);
  }
  const Number type = number_of(x_type);
  const Scalar factor = call.scalar("alpha", alpha, number_of(alpha_type));
  if (n <= 0) return call.status();
  call.vector("vector x", x, type, n, incx, Access::kRead);
  call.vector("vector y", y, type, n, incy, Access::kReadWrite);
  return call.run(2.0 * n, [=] {
    for (int64_t i = 0; i < n; ++i) {
      const int64_t at = element(i, n, incy);
      const double product = factor.get() * load(type, view(x), element(i, n, incx));
      store(type, view(y), at, product + load(type, view(y), at));
    }
  });
}

cublasStatus_t scal_ex(const Call& site, cublasHandle_t handle, int n, const void* alpha,
                       cudaDataType alpha_type, void* x, cudaDataType x_type, int incx,
                       cudaDataType computed) {
  BlasCall call(site, handle);
  if (!real_types(computed, {x_type}) || !scalar_type_fits(alpha_type, x_type, computed)) {
    call.fail(CUBLAS_STATUS_NOT_SUPPORTED);
  }
  const Number type = number_of(x_type);
  const Scalar factor = call.scalar("alpha", alpha, number_of(alpha_type));
  if (n <= 0 || incx <= 0) return call.status();
  call.vector("vector x", x, type, n, incx, Access::kReadWrite);
  return call.run(n, [=] {
    for (int64_t i = 0; i < n; ++i) {
      store(type, view(x), i * incx, factor.get() * load(type, view(x), i * incx));
    }
  });
}

// A number made from all elements; none if n or the step is not positive.
template <class T, class Step, class Finish>
cublasStatus_t reduce(const Call& site, cublasHandle_t handle, int n, const T* x, int incx,
                      T* result, Step step, Finish finish) {
  BlasCall call(site, handle);
  const int64_t count = incx > 0 ? std::max(n, 0) : 0;
  call.vector("vector x", x, kNumberOf<T>, count, incx, Access::kRead);
  return call.run_with_result(result, kNumberOf<T>, [=](void* to) {
    const T* a = view(x);
    double sum = 0;
    for (int64_t i = 0; i < count; ++i) sum += step(static_cast<double>(a[i * incx]));
    *static_cast<T*>(to) = static_cast<T>(finish(sum));
  });
}

// The first of the elements that `better` prefers to all others, counted from 1; 0 if there is
// none.
template <class T, class Better>
cublasStatus_t find(const Call& site, cublasHandle_t handle, int n, const T* x, int incx,
                    int* result, Better better) {
  BlasCall call(site, handle);
  const int64_t count = incx > 0 ? std::max(n, 0) : 0;
  call.vector("vector x", x, kNumberOf<T>, count, incx, Access::kRead);
  return call.run_with_result(result, Number::kInt32, [=](void* to) {
    const T* a = view(x);
    int64_t best = 0;
    for (int64_t i = 1; i < count; ++i) {
      if (better(std::fabs(a[i * incx]), std::fabs(a[best * incx]))) best = i;
    }
    *static_cast<int*>(to) = count == 0 ? 0 : static_cast<int>(best + 1);
  });
}

double square(double x) { return x * x; }
double magnitude(double x) { return std::fabs(x); }
double root(double x) { return std::sqrt(x); }
double same(double x) { return x; }

}  // namespace

extern "C" {

#define WARPLINGS_LEVEL_1(S, s, T)                                                                 \
  cublasStatus_t cublas##S##axpy_v2(cublasHandle_t handle, int n, const T* alpha, const T* x,      \
                                    int incx, T* y, int incy) {                                    \
    WARPLINGS_LIBRARY_CALL(cublas##S##axpy);                                                       \
    return axpy(call, handle, n, alpha, x, incx, y, incy);                                         \
  }                                                                                                \
  cublasStatus_t cublas##S##scal_v2(cublasHandle_t handle, int n, const T* alpha, T* x,            \
                                    int incx) {                                                    \
    WARPLINGS_LIBRARY_CALL(cublas##S##scal);                                                       \
    return scal(call, handle, n, alpha, x, incx);                                                  \
  }                                                                                                \
  cublasStatus_t cublas##S##copy_v2(cublasHandle_t handle, int n, const T* x, int incx, T* y,      \
                                    int incy) {                                                    \
    WARPLINGS_LIBRARY_CALL(cublas##S##copy);                                                       \
    return copy(call, handle, n, x, incx, y, incy);                                                \
  }                                                                                                \
  cublasStatus_t cublas##S##swap_v2(cublasHandle_t handle, int n, T* x, int incx, T* y,            \
                                    int incy) {                                                    \
    WARPLINGS_LIBRARY_CALL(cublas##S##swap);                                                       \
    return swap(call, handle, n, x, incx, y, incy);                                                \
  }                                                                                                \
  cublasStatus_t cublas##S##dot_v2(cublasHandle_t handle, int n, const T* x, int incx, const T* y, \
                                   int incy, T* result) {                                          \
    WARPLINGS_LIBRARY_CALL(cublas##S##dot);                                                        \
    return dot(call, handle, n, x, incx, y, incy, result);                                         \
  }                                                                                                \
  cublasStatus_t cublas##S##nrm2_v2(cublasHandle_t handle, int n, const T* x, int incx,            \
                                    T* result) {                                                   \
    WARPLINGS_LIBRARY_CALL(cublas##S##nrm2);                                                       \
    return reduce(call, handle, n, x, incx, result, square, root);                                 \
  }                                                                                                \
  cublasStatus_t cublas##S##asum_v2(cublasHandle_t handle, int n, const T* x, int incx,            \
                                    T* result) {                                                   \
    WARPLINGS_LIBRARY_CALL(cublas##S##asum);                                                       \
    return reduce(call, handle, n, x, incx, result, magnitude, same);                              \
  }                                                                                                \
  cublasStatus_t cublasI##s##amax_v2(cublasHandle_t handle, int n, const T* x, int incx,           \
                                     int* result) {                                                \
    WARPLINGS_LIBRARY_CALL(cublasI##s##amax);                                                      \
    return find(call, handle, n, x, incx, result, [](T a, T b) { return a > b; });                 \
  }                                                                                                \
  cublasStatus_t cublasI##s##amin_v2(cublasHandle_t handle, int n, const T* x, int incx,           \
                                     int* result) {                                                \
    WARPLINGS_LIBRARY_CALL(cublasI##s##amin);                                                      \
    return find(call, handle, n, x, incx, result, [](T a, T b) { return a < b; });                 \
  }
WARPLINGS_LEVEL_1(S, s, float)
WARPLINGS_LEVEL_1(D, d, double)
#undef WARPLINGS_LEVEL_1

#define WARPLINGS_DOT_EX(name)                                                                   \
  cublasStatus_t name(cublasHandle_t handle, int n, const void* x, cudaDataType xType, int incx, \
                      const void* y, cudaDataType yType, int incy, void* result,                 \
                      cudaDataType resultType, cudaDataType executionType) {                     \
    WARPLINGS_LIBRARY_CALL(name);                                                                \
    return dot_ex(call, handle, n, x, xType, incx, y, yType, incy, result, resultType,           \
                  executionType);                                                                \
  }
WARPLINGS_DOT_EX(cublasDotEx)
WARPLINGS_DOT_EX(cublasDotcEx)  // the same for real numbers
#undef WARPLINGS_DOT_EX

cublasStatus_t cublasNrm2Ex(cublasHandle_t handle, int n, const void* x, cudaDataType xType,
                            int incx, void* result, cudaDataType resultType,
                            cudaDataType executionType) {
  WARPLINGS_LIBRARY_CALL(cublasNrm2Ex);
  return nrm2_ex(call, handle, n, x, xType, incx, result, resultType, executionType);
}

cublasStatus_t cublasAxpyEx(cublasHandle_t handle, int n, const void* alpha, cudaDataType alphaType,
                            const void* x, cudaDataType xType, int incx, void* y,
                            cudaDataType yType, int incy, cudaDataType executiontype) {
  WARPLINGS_LIBRARY_CALL(cublasAxpyEx);
  return axpy_ex(call, handle, n, alpha, alphaType, x, xType, incx, y, yType, incy, executiontype);
}

cublasStatus_t cublasScalEx(cublasHandle_t handle, int n, const void* alpha, cudaDataType alphaType,
                            void* x, cudaDataType xType, int incx, cudaDataType executionType) {
  WARPLINGS_LIBRARY_CALL(cublasScalEx);
  return scal_ex(call, handle, n, alpha, alphaType, x, xType, incx, executionType);
}

}  // extern "C"
