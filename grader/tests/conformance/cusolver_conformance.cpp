// cuSOLVER: QR, Cholesky and LU factors in single and double, what is solved with them, and bad
// arguments.
#include <cusolverDn.h>

#include <string>

#include "conformance.h"

using conformance::Device;
using conformance::random_floats;
using conformance::relative_error;
using conformance::right;
using conformance::status;

namespace {

// Column-major, `ld` apart; in double whatever the call computes in.
struct Matrix {
  int rows, columns, ld;
  std::vector<double> at;
  Matrix(int m, int n, int distance = 0)
      : rows(m), columns(n), ld(distance > 0 ? distance : m), at(static_cast<size_t>(ld) * n) {}
  double& operator()(int i, int j) { return at[i + static_cast<size_t>(j) * ld]; }
  double operator()(int i, int j) const { return at[i + static_cast<size_t>(j) * ld]; }
};

Matrix random_matrix(int rows, int columns, int ld, unsigned seed) {
  Matrix matrix(rows, columns, ld);
  const std::vector<float> values = random_floats(matrix.at.size(), seed);
  matrix.at.assign(values.begin(), values.end());
  return matrix;
}

Matrix product(const Matrix& a, bool ta, const Matrix& b, bool tb) {
  Matrix c(ta ? a.columns : a.rows, tb ? b.rows : b.columns);
  for (int j = 0; j < c.columns; ++j) {
    for (int i = 0; i < c.rows; ++i) {
      for (int k = 0; k < (ta ? a.rows : a.columns); ++k) {
        c(i, j) += (ta ? a(k, i) : a(i, k)) * (tb ? b(j, k) : b(k, j));
      }
    }
  }
  return c;
}

// Its elements without what lies between the columns.
std::vector<double> packed(const Matrix& matrix) {
  std::vector<double> values;
  for (int j = 0; j < matrix.columns; ++j) {
    for (int i = 0; i < matrix.rows; ++i) values.push_back(matrix(i, j));
  }
  return values;
}

template <class T>
std::vector<T> narrow(const Matrix& matrix) {
  return {matrix.at.begin(), matrix.at.end()};
}
template <class T>
Matrix widen(const Matrix& shape, const Device<T>& device) {
  Matrix matrix = shape;
  const std::vector<T> values = device.host();
  matrix.at.assign(values.begin(), values.end());
  return matrix;
}

// The names of one precision.
#define CONFORMANCE_CALL(name)            \
  template <class... A>                   \
  cusolverStatus_t name(float, A... a) {  \
    return cusolverDnS##name(a...);       \
  }                                       \
  template <class... A>                   \
  cusolverStatus_t name(double, A... a) { \
    return cusolverDnD##name(a...);       \
  }
CONFORMANCE_CALL(geqrf)
CONFORMANCE_CALL(geqrf_bufferSize)
CONFORMANCE_CALL(orgqr)
CONFORMANCE_CALL(orgqr_bufferSize)
CONFORMANCE_CALL(ormqr)
CONFORMANCE_CALL(ormqr_bufferSize)
CONFORMANCE_CALL(potrf)
CONFORMANCE_CALL(potrf_bufferSize)
CONFORMANCE_CALL(potrs)
CONFORMANCE_CALL(getrf)
CONFORMANCE_CALL(getrf_bufferSize)
CONFORMANCE_CALL(getrs)

template <class T>
constexpr double kTolerance = sizeof(T) == 4 ? 1e-5 : 1e-13;

template <class T>
void qr(cusolverDnHandle_t handle, int m, int n, int ld) {
  const std::string name = std::string(sizeof(T) == 4 ? "S" : "D") + " qr " + std::to_string(m) +
                           "x" + std::to_string(n) + " ld " + std::to_string(ld) + ": ";
  const int count = m < n ? m : n;
  const Matrix a = random_matrix(m, n, ld, 1);
  Device<T> da(narrow<T>(a)), tau(count);
  Device<int> info(1);
  int size = -1;
  status((name + "size").c_str(), geqrf_bufferSize(T(), handle, m, n, da.get(), ld, &size));
  Device<T> work(size);
  status((name + "geqrf").c_str(),
         geqrf(T(), handle, m, n, da.get(), ld, tau.get(), work.get(), size, info.get()));
  status((name + "info").c_str(), info.host()[0]);
  const Matrix factors = widen(a, da);
  Matrix r(count, n);
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i <= j && i < count; ++i) r(i, j) = factors(i, j);
  }
  // R has the products of the columns of A.
  right((name + "R^T R").c_str(),
        relative_error(packed(product(r, true, r, false)), packed(product(a, true, a, false))),
        kTolerance<T>);
  for (const cublasSideMode_t side : {CUBLAS_SIDE_LEFT, CUBLAS_SIDE_RIGHT}) {
    for (const cublasOperation_t op : {CUBLAS_OP_N, CUBLAS_OP_T}) {
      const bool left = side == CUBLAS_SIDE_LEFT;
      const std::string what =
          name + (left ? "left" : "right") + (op == CUBLAS_OP_N ? " Q" : " Q^T");
      const Matrix c = random_matrix(left ? m : 5, left ? 5 : m, (left ? m : 5) + 2, 2);
      Device<T> dc(narrow<T>(c));
      status((what + " size").c_str(),
             ormqr_bufferSize(T(), handle, side, op, c.rows, c.columns, count, da.get(), ld,
                              tau.get(), dc.get(), c.ld, &size));
      Device<T> space(size);
      status(what.c_str(), ormqr(T(), handle, side, op, c.rows, c.columns, count, da.get(), ld,
                                 tau.get(), dc.get(), c.ld, space.get(), size, info.get()));
      // Q turns: lengths of columns (rows) stay, and back is where it came from.
      const cublasOperation_t back = op == CUBLAS_OP_N ? CUBLAS_OP_T : CUBLAS_OP_N;
      const Matrix turned = widen(c, dc);
      status((what + " differs").c_str(), packed(turned) != packed(c));
      right((what + " keeps lengths").c_str(),
            relative_error(packed(product(turned, left, turned, !left)),
                           packed(product(c, left, c, !left))),
            kTolerance<T>);
      ormqr(T(), handle, side, back, c.rows, c.columns, count, da.get(), ld, tau.get(), dc.get(),
            c.ld, space.get(), size, info.get());
      right((what + " and back").c_str(), relative_error(packed(widen(c, dc)), packed(c)),
            kTolerance<T>);
    }
  }
  if (m < n) return;
  status((name + "orgqr size").c_str(),
         orgqr_bufferSize(T(), handle, m, n, n, da.get(), ld, tau.get(), &size));
  Device<T> space(size);
  status((name + "orgqr").c_str(),
         orgqr(T(), handle, m, n, n, da.get(), ld, tau.get(), space.get(), size, info.get()));
  right((name + "Q R").c_str(),
        relative_error(packed(product(widen(a, da), false, r, false)), packed(a)), kTolerance<T>);
}

template <class T>
void cholesky(cusolverDnHandle_t handle, cublasFillMode_t part, int n) {
  const bool lower = part == CUBLAS_FILL_MODE_LOWER;
  const std::string name = std::string(sizeof(T) == 4 ? "S" : "D") + " cholesky " +
                           (lower ? "lower " : "upper ") + std::to_string(n) + ": ";
  const Matrix half = random_matrix(n, n, n, 3);
  Matrix a = product(half, true, half, false);
  for (int i = 0; i < n; ++i) a(i, i) += n;
  const Matrix x = random_matrix(n, 3, n, 4), b = product(a, false, x, false);
  Device<T> da(narrow<T>(a)), db(narrow<T>(b));
  Device<int> info(1);
  int size = -1;
  status((name + "size").c_str(), potrf_bufferSize(T(), handle, part, n, da.get(), n, &size));
  Device<T> work(size);
  status((name + "potrf").c_str(),
         potrf(T(), handle, part, n, da.get(), n, work.get(), size, info.get()));
  status((name + "info").c_str(), info.host()[0]);
  status((name + "potrs").c_str(),
         potrs(T(), handle, part, n, 3, da.get(), n, db.get(), n, info.get()));
  right((name + "x").c_str(), relative_error(packed(widen(x, db)), packed(x)), 10 * kTolerance<T>);
  a(n / 2, n / 2) = -1;  // no longer positive
  Device<T> bad(narrow<T>(a));
  status((name + "potrf of another").c_str(),
         potrf(T(), handle, part, n, bad.get(), n, work.get(), size, info.get()));
  status((name + "its info").c_str(), info.host()[0]);
}

template <class T>
void lu(cusolverDnHandle_t handle, int n) {
  const std::string name =
      std::string(sizeof(T) == 4 ? "S" : "D") + " lu " + std::to_string(n) + ": ";
  Matrix a = random_matrix(n, n, n, 5);
  for (int i = 0; i < n; ++i)
    a(i, (i + 1) % n) += 4;  // needs interchanges, and is far from singular
  const Matrix x = random_matrix(n, 3, n, 6);
  Device<T> da(narrow<T>(a));
  Device<int> info(1), pivots(n);
  int size = -1;
  status((name + "size").c_str(), getrf_bufferSize(T(), handle, n, n, da.get(), n, &size));
  Device<T> work(size);
  status((name + "getrf").c_str(),
         getrf(T(), handle, n, n, da.get(), n, work.get(), pivots.get(), info.get()));
  status((name + "info").c_str(), info.host()[0]);
  for (const cublasOperation_t op : {CUBLAS_OP_N, CUBLAS_OP_T}) {
    Device<T> db(narrow<T>(product(a, op == CUBLAS_OP_T, x, false)));
    const std::string what = name + (op == CUBLAS_OP_N ? "getrs" : "getrs transposed");
    status(what.c_str(),
           getrs(T(), handle, op, n, 3, da.get(), n, pivots.get(), db.get(), n, info.get()));
    right((what + " x").c_str(), relative_error(packed(widen(x, db)), packed(x)),
          20 * kTolerance<T>);
  }
  Matrix zero = a;
  for (int i = 0; i < n; ++i) zero(i, n / 2) = 0;
  Device<T> dz(narrow<T>(zero));
  status((name + "getrf of a singular one").c_str(),
         getrf(T(), handle, n, n, dz.get(), n, work.get(), pivots.get(), info.get()));
  status((name + "its info").c_str(), info.host()[0]);
}

void bad_arguments(cusolverDnHandle_t handle) {
  Device<float> a(64), tau(8), c(64), work(1 << 16);
  Device<int> info(1);
  int size = 0;
  const auto sgeqrf = [&](int m, int n, int lda, int lwork) {
    return cusolverDnSgeqrf(handle, m, n, a.get(), lda, tau.get(), work.get(), lwork, info.get());
  };
  status("geqrf, m -1", sgeqrf(-1, 4, 8, 1 << 16));
  status("geqrf, n -1", sgeqrf(8, -1, 8, 1 << 16));
  status("geqrf, lda 7", sgeqrf(8, 4, 7, 1 << 16));
  const auto sormqr = [&](cublasSideMode_t side, int m, int n, int k, int lda, int ldc) {
    return cusolverDnSormqr(handle, side, CUBLAS_OP_T, m, n, k, a.get(), lda, tau.get(), c.get(),
                            ldc, work.get(), 1 << 16, info.get());
  };
  status("ormqr, k 9 of 8", sormqr(CUBLAS_SIDE_LEFT, 8, 1, 9, 8, 8));
  status("ormqr, lda 7", sormqr(CUBLAS_SIDE_LEFT, 8, 1, 4, 7, 8));
  status("ormqr, ldc 7", sormqr(CUBLAS_SIDE_LEFT, 8, 1, 4, 8, 7));
  status("ormqr, n -1", sormqr(CUBLAS_SIDE_LEFT, 8, -1, 4, 8, 8));
  status("potrf, n -1", cusolverDnSpotrf(handle, CUBLAS_FILL_MODE_LOWER, -1, a.get(), 8, work.get(),
                                         1 << 16, info.get()));
  status("potrf, lda 7", cusolverDnSpotrf(handle, CUBLAS_FILL_MODE_LOWER, 8, a.get(), 7, work.get(),
                                          1 << 16, info.get()));
  status("getrf, lda 7",
         cusolverDnSgetrf(handle, 8, 8, a.get(), 7, work.get(), nullptr, info.get()));
  status("no handle", cusolverDnSgeqrf_bufferSize(nullptr, 8, 4, a.get(), 8, &size));
}

}  // namespace

int main() {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // the vendor's library may end the program
  cusolverDnHandle_t handle = nullptr;
  status("create", cusolverDnCreate(&handle));
  cudaStream_t stream = nullptr, is = nullptr;
  conformance::require(cudaStreamCreate(&stream));
  status("set stream", cusolverDnSetStream(handle, stream));
  status("get stream", cusolverDnGetStream(handle, &is));
  status("the same", is == stream);
  status("default stream", cusolverDnSetStream(handle, nullptr));
  const int shapes[][3] = {{1, 1, 1}, {2, 1, 2}, {8, 8, 8}, {33, 5, 40}, {100, 31, 100}, {5, 9, 6}};
  for (const auto& s : shapes) {
    qr<float>(handle, s[0], s[1], s[2]);
    qr<double>(handle, s[0], s[1], s[2]);
  }
  for (const int n : {1, 7, 50}) {
    for (const cublasFillMode_t part : {CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER}) {
      cholesky<float>(handle, part, n);
      cholesky<double>(handle, part, n);
    }
    lu<float>(handle, n);
    lu<double>(handle, n);
  }
  bad_arguments(handle);
  status("destroy", cusolverDnDestroy(handle));
  cudaStreamDestroy(stream);
  return 0;
}
