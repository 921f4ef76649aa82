// cuBLAS: vectors, matrices, batches, types, layouts, pointer modes and bad arguments.
#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <string>

#include "conformance.h"

using conformance::Device;
using conformance::random_floats;
using conformance::relative_error;
using conformance::right;
using conformance::status;

namespace {

cublasHandle_t handle = nullptr;

std::vector<double> widen(const std::vector<float>& x) { return {x.begin(), x.end()}; }

// How a matrix lies in memory: column-major, `ld` elements from column to column.
struct Shape {
  int rows, columns, ld;
  size_t size() const { return static_cast<size_t>(ld) * columns; }
};

// c = alpha op(a) op(b) + beta c, in double; rows of c beyond m stay.
std::vector<double> gemm(bool ta, bool tb, int m, int n, int k, double alpha,
                         const std::vector<double>& a, int lda, const std::vector<double>& b,
                         int ldb, double beta, std::vector<double> c, int ldc) {
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < m; ++i) {
      double sum = 0;
      for (int p = 0; p < k; ++p) {
        sum += a[ta ? p + i * lda : i + p * lda] * b[tb ? j + p * ldb : p + j * ldb];
      }
      double& to = c[i + j * ldc];
      to = alpha * sum + (beta == 0 ? 0 : beta * to);
    }
  }
  return c;
}

void vectors() {
  const int n = 1000;
  const std::vector<float> x = random_floats(n * 2, 1), y = random_floats(n * 3, 2);
  Device<float> dx(x), dy(y);
  const float alpha = 1.5F;
  status("axpy", cublasSaxpy(handle, n, &alpha, dx.get(), 2, dy.get(), 3));
  std::vector<double> want = widen(y);
  for (int i = 0; i < n; ++i) want[3 * i] += 1.5 * x[2 * i];
  right("axpy", relative_error(dy.host(), want), 1e-6);
  dy.set(y);
  status("axpy backwards", cublasSaxpy(handle, n, &alpha, dx.get(), -2, dy.get(), 3));
  want = widen(y);
  for (int i = 0; i < n; ++i) want[3 * i] += 1.5 * x[2 * (n - 1 - i)];
  right("axpy backwards", relative_error(dy.host(), want), 1e-6);

  float result = 0;
  double dot = 0, square = 0, sum = 0;
  int largest = 0, smallest = 0;
  for (int i = 0; i < n; ++i) {
    dot += static_cast<double>(x[2 * i]) * y[3 * i];
    square += static_cast<double>(x[2 * i]) * x[2 * i];
    sum += std::fabs(x[2 * i]);
    if (std::fabs(x[2 * i]) > std::fabs(x[2 * largest])) largest = i;
    if (std::fabs(x[2 * i]) < std::fabs(x[2 * smallest])) smallest = i;
  }
  dy.set(y);
  status("dot", cublasSdot(handle, n, dx.get(), 2, dy.get(), 3, &result));
  right("dot", std::fabs(result - dot), 1e-4);
  status("nrm2", cublasSnrm2(handle, n, dx.get(), 2, &result));
  right("nrm2", std::fabs(result - std::sqrt(square)), 1e-4);
  status("asum", cublasSasum(handle, n, dx.get(), 2, &result));
  right("asum", std::fabs(result - sum), 1e-3);
  int index = 0;
  status("iamax", cublasIsamax(handle, n, dx.get(), 2, &index));
  right("iamax counts from 1", std::abs(index - 1 - largest), 0);
  status("iamin", cublasIsamin(handle, n, dx.get(), 2, &index));
  right("iamin counts from 1", std::abs(index - 1 - smallest), 0);
  status("iamax of nothing", cublasIsamax(handle, 0, dx.get(), 1, &index));
  std::printf("iamax of nothing: %d\n", index);
  status("dot of nothing", cublasSdot(handle, 0, dx.get(), 1, dy.get(), 1, &result));
  std::printf("dot of nothing: %g\n", result);
  status("nrm2 of nothing", cublasSnrm2(handle, -3, dx.get(), 1, &result));
  std::printf("nrm2 of nothing: %g\n", result);

  status("scal", cublasSscal(handle, n, &alpha, dx.get(), 1));
  status("copy", cublasScopy(handle, n, dx.get(), 1, dy.get(), 2));
  status("swap", cublasSswap(handle, n, dx.get(), 1, dy.get(), 3));
  want = widen(y);
  for (int i = 0; i < n; ++i) want[2 * i] = 1.5 * x[i];
  std::vector<double> other = widen(x);
  for (int i = 0; i < n; ++i) {
    other[i] = want[3 * i];
    want[3 * i] = 1.5 * x[i];
  }
  right("scal, copy, swap", relative_error(dy.host(), want), 1e-6);
  right("swap", relative_error(dx.host(), other), 1e-6);
}

void device_pointer_mode() {
  const int n = 100;
  const std::vector<float> x = random_floats(n, 3), y = random_floats(n, 4);
  Device<float> dx(x), dy(y), alpha(std::vector<float>{0.25F}), result(1);
  Device<int> index(1);
  status("device mode", cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE));
  cublasPointerMode_t mode = CUBLAS_POINTER_MODE_HOST;
  status("get mode", cublasGetPointerMode(handle, &mode));
  std::printf("mode: %d\n", mode);
  status("axpy in device mode", cublasSaxpy(handle, n, alpha.get(), dx.get(), 1, dy.get(), 1));
  status("dot in device mode", cublasSdot(handle, n, dx.get(), 1, dy.get(), 1, result.get()));
  status("iamax in device mode", cublasIsamax(handle, n, dx.get(), 1, index.get()));
  double dot = 0;
  int largest = 0;
  for (int i = 0; i < n; ++i) {
    dot += x[i] * (y[i] + 0.25 * x[i]);
    if (std::fabs(x[i]) > std::fabs(x[largest])) largest = i;
  }
  right("dot in device mode", std::fabs(result.host()[0] - dot), 1e-4);
  right("iamax in device mode", std::abs(index.host()[0] - 1 - largest), 0);
  status("host mode", cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST));
}

void matrix_vector() {
  const int m = 37, n = 23, lda = 40;
  const std::vector<float> a = random_floats(lda * n, 5), x = random_floats(100, 6),
                           y = random_floats(100, 7);
  Device<float> da(a), dx(x), dy(y);
  const float alpha = 1.25F, beta = -0.5F, one = 1;
  for (const bool transposed : {false, true}) {
    dy.set(y);
    const std::string name = transposed ? "gemv transposed" : "gemv";
    status(name.c_str(), cublasSgemv(handle, transposed ? CUBLAS_OP_T : CUBLAS_OP_N, m, n, &alpha,
                                     da.get(), lda, dx.get(), 2, &beta, dy.get(), 1));
    std::vector<double> want = widen(y);
    for (int i = 0; i < (transposed ? n : m); ++i) {
      double sum = 0;
      for (int j = 0; j < (transposed ? m : n); ++j) {
        sum += static_cast<double>(a[transposed ? j + i * lda : i + j * lda]) * x[2 * j];
      }
      want[i] = 1.25 * sum - 0.5 * y[i];
    }
    right(name.c_str(), relative_error(dy.host(), want), 1e-6);
  }
  dy.set(y);
  status("ger", cublasSger(handle, m, n, &one, dx.get(), 1, dy.get(), 2, da.get(), lda));
  std::vector<double> want = widen(a);
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < m; ++i) want[i + j * lda] += static_cast<double>(x[i]) * y[2 * j];
  }
  right("ger", relative_error(da.host(), want), 1e-6);
}

void products() {
  unsigned seed = 10;
  for (const bool ta : {false, true}) {
    for (const bool tb : {false, true}) {
      for (const int k : {0, 1, 65}) {
        const int m = 33, n = 18;
        const Shape a{ta ? k : m, ta ? m : k, (ta ? k : m) + 3};
        const Shape b{tb ? n : k, tb ? k : n, (tb ? n : k) + 2};
        const Shape c{m, n, m + 1};
        const std::vector<float> ha = random_floats(a.size() + 1, seed++),
                                 hb = random_floats(b.size() + 1, seed++),
                                 hc = random_floats(c.size(), seed++);
        Device<float> da(ha), db(hb), dc(hc);
        for (const float beta : {0.0F, 0.75F}) {
          const float alpha = -1.5F;
          const std::string name = std::string("gemm ") + (ta ? "t" : "n") + (tb ? "t" : "n") +
                                   " k=" + std::to_string(k) + (beta == 0 ? "" : " beta");
          dc.set(hc);
          status(name.c_str(), cublasSgemm(handle, ta ? CUBLAS_OP_T : CUBLAS_OP_N,
                                           tb ? CUBLAS_OP_T : CUBLAS_OP_N, m, n, k, &alpha,
                                           da.get(), a.ld, db.get(), b.ld, &beta, dc.get(), c.ld));
          right(name.c_str(),
                relative_error(dc.host(), gemm(ta, tb, m, n, k, alpha, widen(ha), a.ld, widen(hb),
                                               b.ld, beta, widen(hc), c.ld)),
                1e-6);
        }
      }
    }
  }
}

void nothing_is_read_where_beta_is_zero() {
  const int n = 16;
  std::vector<float> nan(n * n, NAN);
  const std::vector<float> a = random_floats(n * n, 40);
  Device<float> da(a), dc(nan);
  const float one = 1, zero = 0;
  status("gemm over NaN", cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, da.get(), n,
                                      da.get(), n, &zero, dc.get(), n));
  right("gemm over NaN",
        relative_error(dc.host(),
                       gemm(false, false, n, n, n, 1, widen(a), n, widen(a), n, 0, widen(nan), n)),
        1e-6);
}

void batches() {
  const int m = 8, n = 9, k = 10, count = 5;
  const std::vector<float> a = random_floats(m * k * count, 50), b = random_floats(k * n, 51);
  std::vector<double> want;
  for (int i = 0; i < count; ++i) {
    const std::vector<double> one(a.begin() + i * m * k, a.begin() + (i + 1) * m * k);
    const std::vector<double> c =
        gemm(false, false, m, n, k, 1, one, m, widen(b), k, 0, std::vector<double>(m * n), m);
    want.insert(want.end(), c.begin(), c.end());
  }
  Device<float> da(a), db(b), dc(m * n * count);
  const float one = 1, zero = 0;
  status("strided batch, b shared",
         cublasSgemmStridedBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &one, da.get(), m,
                                   m * k, db.get(), k, 0, &zero, dc.get(), m, m * n, count));
  right("strided batch, b shared", relative_error(dc.host(), want), 1e-6);
  std::vector<float*> pa, pb, pc;
  for (int i = 0; i < count; ++i) {
    pa.push_back(da.get() + i * m * k);
    pb.push_back(db.get());
    pc.push_back(dc.get() + i * m * n);
  }
  Device<float*> dpa(pa), dpb(pb), dpc(pc);
  dc.set(std::vector<float>(m * n * count));
  status("batch of pointers",
         cublasSgemmBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &one, dpa.get(), m,
                            dpb.get(), k, &zero, dpc.get(), m, count));
  right("batch of pointers", relative_error(dc.host(), want), 1e-6);
  status("batch of none", cublasSgemmBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &one,
                                             dpa.get(), m, dpb.get(), k, &zero, dpc.get(), m, 0));
  status("batch of -1", cublasSgemmBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &one,
                                           dpa.get(), m, dpb.get(), k, &zero, dpc.get(), m, -1));
}

template <class T>
std::vector<T> narrow(const std::vector<float>& x) {
  std::vector<T> y;
  for (const float value : x) y.push_back(T(value));
  return y;
}

template <class T>
std::vector<double> widen_all(const std::vector<T>& x) {
  std::vector<double> y;
  for (const T& value : x) y.push_back(static_cast<double>(static_cast<float>(value)));
  return y;
}

template <class In, class Out>
void typed_product(const char* name, cudaDataType in, cudaDataType out, double tolerance) {
  const int m = 40, n = 24, k = 64;
  const std::vector<In> a = narrow<In>(random_floats(m * k, 60)),
                        b = narrow<In>(random_floats(k * n, 61));
  Device<In> da(a), db(b);
  Device<Out> dc(m * n);
  const float one = 1, zero = 0;
  status(name,
         cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &one, da.get(), in, m, db.get(),
                      in, k, &zero, dc.get(), out, m, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
  right(
      name,
      relative_error(widen_all(dc.host()), gemm(false, false, m, n, k, 1, widen_all(a), m,
                                                widen_all(b), k, 0, std::vector<double>(m * n), m)),
      tolerance);
}

void types() {
  typed_product<__half, float>("half to float", CUDA_R_16F, CUDA_R_32F, 1e-6);
  typed_product<__half, __half>("half to half", CUDA_R_16F, CUDA_R_16F, 5e-4);
  typed_product<__nv_bfloat16, float>("bf16 to float", CUDA_R_16BF, CUDA_R_32F, 1e-6);
  typed_product<__nv_bfloat16, __nv_bfloat16>("bf16 to bf16", CUDA_R_16BF, CUDA_R_16BF, 4e-3);
  typed_product<float, float>("float to float", CUDA_R_32F, CUDA_R_32F, 1e-6);

  const int n = 64;
  const std::vector<__half> a = narrow<__half>(random_floats(n * n, 62));
  Device<__half> da(a), dc(n * n);
  const __half one(1.0F), zero(0.0F);
  status("hgemm", cublasHgemm(handle, CUBLAS_OP_N, CUBLAS_OP_T, n, n, n, &one, da.get(), n,
                              da.get(), n, &zero, dc.get(), n));
  right(
      "hgemm",
      relative_error(widen_all(dc.host()), gemm(false, true, n, n, n, 1, widen_all(a), n,
                                                widen_all(a), n, 0, std::vector<double>(n * n), n)),
      3e-3);

  const std::vector<float> x = random_floats(n * n, 63);
  Device<float> dx(x), dy(n * n);
  const float f1 = 1, f0 = 0;
  status("half to float by sgemmEx",
         cublasSgemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_T, n, n, n, &f1, da.get(), CUDA_R_16F, n,
                       da.get(), CUDA_R_16F, n, &f0, dy.get(), CUDA_R_32F, n));
  right("half to float by sgemmEx",
        relative_error(dy.host(), gemm(false, true, n, n, n, 1, widen_all(a), n, widen_all(a), n, 0,
                                       std::vector<double>(n * n), n)),
        1e-6);
  const auto error_of = [&](cublasComputeType_t compute) {
    cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &f1, dx.get(), CUDA_R_32F, n, dx.get(),
                 CUDA_R_32F, n, &f0, dy.get(), CUDA_R_32F, n, compute, CUBLAS_GEMM_DEFAULT);
    return relative_error(dy.host(), gemm(false, false, n, n, n, 1, widen(x), n, widen(x), n, 0,
                                          std::vector<double>(n * n), n));
  };
  std::printf("tf32 rounds: %d\n", error_of(CUBLAS_COMPUTE_32F_FAST_TF32) > 5e-5);
  right("tf32", error_of(CUBLAS_COMPUTE_32F_FAST_TF32), 1e-3);
  right("fast bf16", error_of(CUBLAS_COMPUTE_32F_FAST_16BF), 1e-2);
  right("pedantic", error_of(CUBLAS_COMPUTE_32F_PEDANTIC), 1e-6);
  status("math mode", cublasSetMathMode(handle, CUBLAS_TF32_TENSOR_OP_MATH));
  std::printf("tf32 by math mode: %d\n", error_of(CUBLAS_COMPUTE_32F) > 5e-5);
  status("pedantic mode", cublasSetMathMode(handle, CUBLAS_PEDANTIC_MATH));
  right("pedantic mode", error_of(CUBLAS_COMPUTE_32F), 1e-6);
  status("default mode", cublasSetMathMode(handle, CUBLAS_DEFAULT_MATH));
}

void integers() {
  const int n = 32;
  std::vector<int8_t> a;
  for (const float value : random_floats(n * n, 64)) {
    a.push_back(static_cast<int8_t>(std::lrint(value * 127)));
  }
  Device<int8_t> da(a);
  Device<int32_t> dc(n * n);
  const int one = 1, zero = 0;
  status("int8", cublasGemmEx(handle, CUBLAS_OP_T, CUBLAS_OP_N, n, n, n, &one, da.get(), CUDA_R_8I,
                              n, da.get(), CUDA_R_8I, n, &zero, dc.get(), CUDA_R_32I, n,
                              CUBLAS_COMPUTE_32I, CUBLAS_GEMM_DEFAULT));
  const std::vector<double> wide(a.begin(), a.end());
  right("int8",
        relative_error(dc.host(), gemm(true, false, n, n, n, 1, wide, n, wide, n, 0,
                                       std::vector<double>(n * n), n)),
        0);
}

void refused_types() {
  Device<float> x(64 * 64);
  const float one = 1, zero = 0;
  const auto attempt = [&](cudaDataType in, cudaDataType out, cublasComputeType_t compute) {
    return cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, 16, 16, 16, &one, x.get(), in, 16,
                        x.get(), in, 16, &zero, x.get(), out, 16, compute, CUBLAS_GEMM_DEFAULT);
  };
  status("float to half", attempt(CUDA_R_32F, CUDA_R_16F, CUBLAS_COMPUTE_32F));
  status("half to float in half", attempt(CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_16F));
  status("half to bf16", attempt(CUDA_R_16F, CUDA_R_16BF, CUBLAS_COMPUTE_32F));
  status("double in float", attempt(CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_32F));
  status("float in double", attempt(CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_64F));
  status("int8 to int8", attempt(CUDA_R_8I, CUDA_R_8I, CUBLAS_COMPUTE_32I));
}

void other_level_3() {
  const int m = 30, n = 20, lda = 33, ldb = 25, ldc = 31;
  const std::vector<float> a = random_floats(lda * n, 70), b = random_floats(ldb * m, 71);
  Device<float> da(a), db(b), dc(ldc * n);
  const float alpha = 2, beta = -3, zero = 0, one = 1;
  status("geam", cublasSgeam(handle, CUBLAS_OP_N, CUBLAS_OP_T, m, n, &alpha, da.get(), lda, &beta,
                             db.get(), ldb, dc.get(), ldc));
  std::vector<double> want(ldc * n);
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < m; ++i) want[i + j * ldc] = 2.0 * a[i + j * lda] - 3.0 * b[j + i * ldb];
  }
  right("geam", relative_error(dc.host(), want), 1e-6);
  status("transpose", cublasSgeam(handle, CUBLAS_OP_T, CUBLAS_OP_N, m, n, &one, db.get(), ldb,
                                  &zero, nullptr, m, dc.get(), ldc));
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < m; ++i) want[i + j * ldc] = b[j + i * ldb];
  }
  right("transpose", relative_error(dc.host(), want), 0);
  status("dgmm",
         cublasSdgmm(handle, CUBLAS_SIDE_RIGHT, m, n, da.get(), lda, db.get(), 1, dc.get(), ldc));
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < m; ++i) {
      want[i + j * ldc] = static_cast<double>(a[i + j * lda]) * b[j];
    }
  }
  right("dgmm", relative_error(dc.host(), want), 1e-6);

  // Triangular systems: multiply back.
  std::vector<float> triangle = random_floats(n * n, 72);
  for (int i = 0; i < n; ++i) triangle[i + i * n] = 4 + std::fabs(triangle[i + i * n]);
  std::vector<double> lower(n * n);
  for (int j = 0; j < n; ++j) {
    for (int i = j; i < n; ++i) lower[i + j * n] = triangle[i + j * n];
  }
  const std::vector<float> x = random_floats(n * 7, 73);
  Device<float> dt(triangle), dx(x);
  status("trsm", cublasStrsm(handle, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N,
                             CUBLAS_DIAG_NON_UNIT, n, 7, &one, dt.get(), n, dx.get(), n));
  right("trsm",
        relative_error(gemm(false, false, n, 7, n, 1, lower, n, widen(dx.host()), n, 0,
                            std::vector<double>(n * 7), n),
                       x),
        1e-5);
  // A vector, backwards in memory, by the transpose of the upper triangle: the lower one.
  std::vector<double> upper(n * n);
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i <= j; ++i) upper[i + j * n] = triangle[i + j * n];
  }
  const std::vector<float> v = random_floats(2 * n, 74);
  Device<float> dv(v);
  status("trsv", cublasStrsv(handle, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_T, CUBLAS_DIAG_NON_UNIT, n,
                             dt.get(), n, dv.get(), -2));
  std::vector<double> solved(n), given(n);
  for (int i = 0; i < n; ++i) {
    solved[i] = dv.host()[2 * (n - 1 - i)];
    given[i] = v[2 * (n - 1 - i)];
  }
  right(
      "trsv",
      relative_error(
          gemm(true, false, n, 1, n, 1, upper, n, solved, n, 0, std::vector<double>(n), n), given),
      1e-5);
  status("trsv, lda 1", cublasStrsv(handle, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_N,
                                    CUBLAS_DIAG_NON_UNIT, n, dt.get(), 1, dv.get(), 1));
}

void copies() {
  const int rows = 5, columns = 6;
  const std::vector<float> a = random_floats(8 * columns, 80);
  Device<float> device(rows * columns);
  std::vector<float> back(7 * columns);
  status("set matrix",
         cublasSetMatrix(rows, columns, sizeof(float), a.data(), 8, device.get(), rows));
  status("get matrix",
         cublasGetMatrix(rows, columns, sizeof(float), device.get(), rows, back.data(), 7));
  int wrong = 0;
  for (int j = 0; j < columns; ++j) {
    for (int i = 0; i < rows; ++i) wrong += back[i + j * 7] != a[i + j * 8];
  }
  right("matrix there and back", wrong, 0);
  status("set vector", cublasSetVector(10, sizeof(float), a.data(), 2, device.get(), 1));
  status("get vector", cublasGetVector(10, sizeof(float), device.get(), 1, back.data(), 3));
  wrong = 0;
  for (int i = 0; i < 10; ++i) wrong += back[3 * i] != a[2 * i];
  right("vector there and back", wrong, 0);
  status("set matrix, lda too small",
         cublasSetMatrix(rows, columns, sizeof(float), a.data(), 4, device.get(), rows));
  status("set vector, step 0", cublasSetVector(10, sizeof(float), a.data(), 0, device.get(), 1));
}

void bad_arguments() {
  Device<float> x(64 * 64);
  const float one = 1, zero = 0;
  const auto product = [&](int m, int n, int k, int lda, int ldb, int ldc) {
    return cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &one, x.get(), lda, x.get(), ldb,
                       &zero, x.get(), ldc);
  };
  status("no handle", cublasSgemm(nullptr, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &one, x.get(), 1,
                                  x.get(), 1, &zero, x.get(), 1));
  status("m = -1", product(-1, 4, 4, 4, 4, 4));
  status("n = -1", product(4, -1, 4, 4, 4, 4));
  status("k = -1", product(4, 4, -1, 4, 4, 4));
  status("m = 0", product(0, 4, 4, 4, 4, 4));
  status("m = 0, ldc = 0", product(0, 4, 4, 4, 4, 0));
  status("lda too small", product(8, 4, 4, 7, 4, 8));
  status("ldb too small", product(4, 4, 8, 4, 7, 4));
  status("ldc too small", product(8, 4, 4, 8, 4, 7));
  status("op 7", cublasSgemm(handle, static_cast<cublasOperation_t>(7), CUBLAS_OP_N, 4, 4, 4, &one,
                             x.get(), 4, x.get(), 4, &zero, x.get(), 4));
  status("no alpha", cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 4, 4, 4, nullptr, x.get(), 4,
                                 x.get(), 4, &zero, x.get(), 4));
  status("no beta", cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 4, 4, 4, &one, x.get(), 4,
                                x.get(), 4, nullptr, x.get(), 4));
  status("gemv, lda too small", cublasSgemv(handle, CUBLAS_OP_N, 4, 4, &one, x.get(), 3, x.get(), 1,
                                            &zero, x.get() + 100, 1));
  status("ger, incy = 0", cublasSger(handle, 4, 4, &one, x.get(), 1, x.get(), 0, x.get() + 100, 4));
  status("geam, ldc too small", cublasSgeam(handle, CUBLAS_OP_N, CUBLAS_OP_N, 4, 4, &one, x.get(),
                                            4, &one, x.get(), 4, x.get() + 100, 3));
  status("dot without a result", cublasSdot(handle, 4, x.get(), 1, x.get(), 1, nullptr));
  status("pointer mode 5", cublasSetPointerMode(handle, static_cast<cublasPointerMode_t>(5)));
  status("math mode 77", cublasSetMathMode(handle, static_cast<cublasMath_t>(77)));
  status("no place for a handle", cublasCreate(nullptr));
  status("no handle to destroy", cublasDestroy(nullptr));
  status("trsm, side 5",
         cublasStrsm(handle, static_cast<cublasSideMode_t>(5), CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N,
                     CUBLAS_DIAG_NON_UNIT, 4, 4, &one, x.get(), 4, x.get(), 4));
  std::printf("%s\n", cublasGetStatusName(CUBLAS_STATUS_INVALID_VALUE));
}

}  // namespace

int main() {
  status("create", cublasCreate(&handle));
  vectors();
  device_pointer_mode();
  matrix_vector();
  products();
  nothing_is_read_where_beta_is_zero();
  batches();
  types();
  integers();
  refused_types();
  other_level_3();
  copies();
  bad_arguments();
  status("destroy", cublasDestroy(handle));
}
