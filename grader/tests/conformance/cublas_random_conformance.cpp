// cuBLAS, 80 random calls: products, batches, triangular systems, sums over vectors; shapes,
// transposes, leading dimensions, increments, factors and pointer modes drawn from a seed.
#include <cublas_v2.h>

#include <algorithm>

#include "random_cases.h"

using conformance::Device;
using conformance::Draw;
using conformance::relative_error;
using conformance::right;
using conformance::status;
using conformance::text;

namespace {

cublasHandle_t handle = nullptr;

constexpr auto kNoOp = static_cast<cublasOperation_t>(99);

// Column-major, `rows` of each column used, `ld` apart.
struct Matrix {
  int rows, columns, ld;
  std::vector<float> values;
  Matrix(Draw& draw, int rows_, int columns_)
      : rows(rows_),
        columns(columns_),
        ld(std::max(1, rows) + draw.from(0, 4)),
        values(draw.floats(static_cast<size_t>(ld) * std::max(1, columns))) {}
  size_t at(int row, int column) const { return static_cast<size_t>(column) * ld + row; }
  double operator()(cublasOperation_t op, int row, int column) const {
    return op == CUBLAS_OP_N ? values[at(row, column)] : values[at(column, row)];
  }
};

char letter(cublasOperation_t op) {
  return op == CUBLAS_OP_N ? 'N' : op == CUBLAS_OP_T ? 'T' : 'C';
}
cublasOperation_t any_op(Draw& draw) {
  return draw.of({CUBLAS_OP_N, CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C});
}
Matrix operand(Draw& draw, cublasOperation_t op, int rows, int columns) {
  return op == CUBLAS_OP_N ? Matrix(draw, rows, columns) : Matrix(draw, columns, rows);
}

// A factor in host or in device memory, as the mode of the handle says.
class Factor {
 public:
  Factor(float value, bool on_device)
      : value_(value), on_device_(on_device), there_(std::vector<float>(1, value)) {}
  const float* get() const { return on_device_ ? there_.get() : &value_; }

 private:
  float value_;
  bool on_device_;
  Device<float> there_;
};

bool draw_mode(Draw& draw) {
  const bool on_device = draw.chance(35);
  cublasSetPointerMode(handle, on_device ? CUBLAS_POINTER_MODE_DEVICE : CUBLAS_POINTER_MODE_HOST);
  return on_device;
}

void judge(const std::string& name, cublasStatus_t code, const Device<float>& got,
           const std::vector<double>& want) {
  status(name.c_str(), code);
  if (code == CUBLAS_STATUS_SUCCESS) right("  result", relative_error(got.host(), want), 2e-6);
}

void gemm(Draw& draw) {
  const int m = draw.from(0, 40), n = draw.from(1, 40), k = draw.from(0, 40);
  const auto ta = any_op(draw), tb = any_op(draw);
  const Matrix a = operand(draw, ta, m, k), b = operand(draw, tb, k, n);
  Matrix c(draw, m, n);
  const float alpha = draw.factor(), beta = draw.factor();
  const bool on_device = draw_mode(draw);
  const int wrong = draw.wrong(8);
  const Factor fa(alpha, on_device), fb(beta, on_device);
  Device<float> da(a.values), db(b.values), dc(c.values);
  const cublasStatus_t code = cublasSgemm(
      wrong == 1 ? nullptr : handle, wrong == 2 ? kNoOp : ta, tb, wrong == 3 ? -1 : m,
      wrong == 4 ? -2 : n, wrong == 5 ? -1 : k, wrong == 6 && !on_device ? nullptr : fa.get(),
      da.get(), wrong == 7 ? a.rows - 1 : a.ld, db.get(), b.ld, fb.get(), dc.get(),
      wrong == 8 ? c.rows - 1 : c.ld);
  std::vector<double> want(c.values.begin(), c.values.end());
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < m; ++i) {
      double sum = 0;
      for (int p = 0; p < k; ++p) sum += a(ta, i, p) * b(tb, p, j);
      want[c.at(i, j)] = alpha * sum + beta * c.values[c.at(i, j)];
    }
  }
  judge(
      text("gemm %c%c %d x %d x %d, ld %d %d %d, factors %g %g%s, wrong %d", letter(ta), letter(tb),
           m, n, k, a.ld, b.ld, c.ld, alpha, beta, on_device ? " on device" : "", wrong),
      code, dc, want);
}

// Strided, or by pointers in device memory.
void batched(Draw& draw) {
  const int m = draw.from(1, 20), n = draw.from(1, 20), k = draw.from(1, 20);
  const int batch = draw.from(0, 5), wrong = draw.wrong(4);
  const bool by_pointers = draw.chance(50);
  const long long sa = 1LL * m * k + draw.from(0, 9), sb = draw.chance(20) ? 0 : 1LL * k * n,
                  sc = 1LL * m * n + draw.from(0, 9);
  const std::vector<float> a = draw.floats(sa * 5), b = draw.floats(1LL * k * n * 5),
                           c = draw.floats(sc * 5);
  const float alpha = draw.factor(), beta = draw.factor();
  Device<float> da(a), db(b), dc(c);
  std::vector<const float*> pa, pb;
  std::vector<float*> pc;
  std::vector<double> want(c.begin(), c.end());
  for (int z = 0; z < batch; ++z) {
    pa.push_back(da.get() + z * sa);
    pb.push_back(db.get() + z * sb);
    pc.push_back(dc.get() + z * sc);
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < m; ++i) {
        double sum = 0;
        for (int p = 0; p < k; ++p) sum += 1.0 * a[z * sa + p * m + i] * b[z * sb + j * k + p];
        double& at = want[z * sc + j * m + i];
        at = alpha * sum + beta * at;
      }
    }
  }
  Device<const float*> va(pa), vb(pb);
  Device<float*> vc(pc);
  cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST);
  const int count = wrong == 1 ? -1 : batch, rows = wrong == 2 ? -3 : m;
  const int lda = wrong == 3 ? m - 1 : m;
  const auto op = wrong == 4 ? kNoOp : CUBLAS_OP_N;
  const cublasStatus_t code =
      by_pointers
          ? cublasSgemmBatched(handle, op, CUBLAS_OP_N, rows, n, k, &alpha, va.get(), lda, vb.get(),
                               k, &beta, vc.get(), m, count)
          : cublasSgemmStridedBatched(handle, op, CUBLAS_OP_N, rows, n, k, &alpha, da.get(), lda,
                                      sa, db.get(), k, sb, &beta, dc.get(), m, sc, count);
  judge(text("%d %s %d x %d x %d, factors %g %g, wrong %d", batch,
             by_pointers ? "by pointers" : "at strides", m, n, k, alpha, beta, wrong),
        code, dc, want);
}

void gemv(Draw& draw) {
  const int m = draw.from(1, 60), n = draw.from(1, 60), wrong = draw.wrong(5);
  const int incx = draw.of({1, 2, -1, -3}), incy = draw.of({1, 3, -2});
  const auto op = any_op(draw);
  const Matrix a(draw, m, n);
  const int rows = op == CUBLAS_OP_N ? m : n, columns = op == CUBLAS_OP_N ? n : m;
  const std::vector<float> x = draw.floats(columns * std::abs(incx)),
                           y = draw.floats(rows * std::abs(incy));
  // With factors of 0 and 1 nothing is to be done, and the vendor's asks no further.
  const float alpha = wrong == 2 ? 1.0F : draw.factor(), beta = draw.factor();
  const bool on_device = draw_mode(draw);
  const Factor fa(alpha, on_device), fb(beta, on_device);
  Device<float> da(a.values), dx(x), dy(y);
  const cublasStatus_t code =
      cublasSgemv(wrong == 1 ? nullptr : handle, wrong == 2 ? kNoOp : op, wrong == 3 ? -1 : m, n,
                  fa.get(), da.get(), wrong == 4 ? m - 1 : a.ld, dx.get(), incx, fb.get(), dy.get(),
                  wrong == 5 ? 0 : incy);
  // A negative increment goes through the vector from its end.
  const auto place = [](int i, int count, int inc) {
    return inc > 0 ? i * inc : (count - 1 - i) * -inc;
  };
  std::vector<double> want(y.begin(), y.end());
  for (int i = 0; i < rows; ++i) {
    double sum = 0;
    for (int j = 0; j < columns; ++j) sum += a(op, i, j) * x[place(j, columns, incx)];
    double& at = want[place(i, rows, incy)];
    at = alpha * sum + beta * at;
  }
  judge(text("gemv %c %d x %d, ld %d, inc %d %d, factors %g %g%s, wrong %d", letter(op), m, n, a.ld,
             incx, incy, alpha, beta, on_device ? " on device" : "", wrong),
        code, dy, want);
}

void geam(Draw& draw) {
  const int m = draw.from(1, 50), n = draw.from(1, 50), wrong = draw.wrong(4);
  const auto ta = any_op(draw), tb = any_op(draw);
  const Matrix a = operand(draw, ta, m, n), b = operand(draw, tb, m, n);
  const Matrix c(draw, m, n);
  const float alpha = draw.factor(), beta = draw.factor();
  Device<float> da(a.values), db(b.values), dc(c.values);
  cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST);
  const cublasStatus_t code = cublasSgeam(
      wrong == 1 ? nullptr : handle, ta, wrong == 2 ? kNoOp : tb, wrong == 3 ? -1 : m, n, &alpha,
      da.get(), a.ld, &beta, db.get(), b.ld, dc.get(), wrong == 4 ? m - 1 : c.ld);
  std::vector<double> want(c.values.begin(), c.values.end());
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < m; ++i) want[c.at(i, j)] = alpha * a(ta, i, j) + beta * b(tb, i, j);
  }
  judge(text("geam %c%c %d x %d, ld %d %d %d, factors %g %g, wrong %d", letter(ta), letter(tb), m,
             n, a.ld, b.ld, c.ld, alpha, beta, wrong),
        code, dc, want);
}

void syrk(Draw& draw) {
  const int n = draw.from(1, 30), k = draw.from(1, 30), wrong = draw.wrong(3);
  const auto op = draw.of({CUBLAS_OP_N, CUBLAS_OP_T});
  const auto part = draw.of({CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER});
  const Matrix a = operand(draw, op, n, k), c(draw, n, n);
  const float alpha = draw.factor(), beta = draw.factor();
  Device<float> da(a.values), dc(c.values);
  cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST);
  const cublasStatus_t code = cublasSsyrk(
      handle, wrong == 1 ? static_cast<cublasFillMode_t>(77) : part, op, wrong == 2 ? -1 : n, k,
      &alpha, da.get(), a.ld, &beta, dc.get(), wrong == 3 ? n - 1 : c.ld);
  std::vector<double> want(c.values.begin(), c.values.end());
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < n; ++i) {
      if (part == CUBLAS_FILL_MODE_LOWER ? i < j : i > j) continue;  // stays
      double sum = 0;
      for (int p = 0; p < k; ++p) sum += a(op, i, p) * a(op, j, p);
      want[c.at(i, j)] = alpha * sum + beta * c.values[c.at(i, j)];
    }
  }
  judge(text("syrk %c %s %d x %d, factors %g %g, wrong %d", letter(op),
             part == CUBLAS_FILL_MODE_LOWER ? "lower" : "upper", n, k, alpha, beta, wrong),
        code, dc, want);
}

// b becomes x with op(a) x = alpha b, or x op(a) = alpha b: what a times x is, is compared.
void trsm(Draw& draw) {
  const int m = draw.from(1, 24), n = draw.from(1, 24), wrong = draw.wrong(3);
  const auto side = draw.of({CUBLAS_SIDE_LEFT, CUBLAS_SIDE_RIGHT});
  const auto part = draw.of({CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER});
  const auto op = draw.of({CUBLAS_OP_N, CUBLAS_OP_T});
  const auto diagonal = draw.of({CUBLAS_DIAG_NON_UNIT, CUBLAS_DIAG_UNIT});
  const int order = side == CUBLAS_SIDE_LEFT ? m : n;
  Matrix a(draw, order, order), b(draw, m, n);
  for (float& value : a.values) value /= 32;  // far from singular
  for (int i = 0; i < order; ++i) a.values[a.at(i, i)] += 2;
  const float alpha = draw.of({1.0F, -0.5F, 3.0F});
  Device<float> da(a.values), db(b.values);
  cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST);
  const cublasStatus_t code = cublasStrsm(
      handle, wrong == 1 ? static_cast<cublasSideMode_t>(9) : side, part, op, diagonal, m,
      wrong == 2 ? -1 : n, &alpha, da.get(), wrong == 3 ? order - 1 : a.ld, db.get(), b.ld);
  status(text("trsm %s %s %c %s %d x %d, wrong %d", side == CUBLAS_SIDE_LEFT ? "left" : "right",
              part == CUBLAS_FILL_MODE_LOWER ? "lower" : "upper", letter(op),
              diagonal == CUBLAS_DIAG_UNIT ? "unit" : "stored", m, n, wrong)
             .c_str(),
         code);
  if (code != CUBLAS_STATUS_SUCCESS) return;
  const auto triangle = [&](int i, int j) -> double {  // op(a)
    const int row = op == CUBLAS_OP_N ? i : j, column = op == CUBLAS_OP_N ? j : i;
    if (row == column) return diagonal == CUBLAS_DIAG_UNIT ? 1 : a.values[a.at(row, row)];
    return (part == CUBLAS_FILL_MODE_LOWER) == (row > column) ? a.values[a.at(row, column)] : 0;
  };
  const std::vector<float> x = db.host();
  std::vector<double> got, want;
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < m; ++i) {
      double sum = 0;
      for (int p = 0; p < order; ++p) {
        sum += side == CUBLAS_SIDE_LEFT ? triangle(i, p) * x[b.at(p, j)]
                                        : x[b.at(i, p)] * triangle(p, j);
      }
      got.push_back(sum);
      want.push_back(alpha * b.values[b.at(i, j)]);
    }
  }
  right("  result", relative_error(got, want), 5e-6);
}

// Sums over vectors, and updates of them.
void vectors(Draw& draw) {
  const int n = draw.from(-1, 200), incx = draw.of({1, 2, 3, -1, -2}), incy = draw.of({1, 2, -3});
  const int kind = draw.from(0, 5), count = std::max(n, 1);
  const std::vector<float> x = draw.floats(count * std::abs(incx)),
                           y = draw.floats(count * std::abs(incy));
  const float alpha = draw.factor();
  const bool on_device = draw_mode(draw), no_handle = draw.chance(8);
  cublasHandle_t with = no_handle ? nullptr : handle;
  const Factor fa(alpha, on_device);
  Device<float> dx(x), dy(y), there(1);
  float here = 0;
  float* result = on_device ? there.get() : &here;
  const char* names[] = {"axpy", "scal", "copy", "dot", "nrm2", "asum"};
  cublasStatus_t code = CUBLAS_STATUS_SUCCESS;
  const auto place = [&](int i, int inc) { return inc > 0 ? i * inc : (n - 1 - i) * -inc; };
  std::vector<double> want_y(y.begin(), y.end()), want_x(x.begin(), x.end());
  double sum = 0;
  for (int i = 0; i < n; ++i) {
    const double a = x[place(i, incx)];
    double& b = want_y[place(i, incy)];
    if (kind == 0) b += alpha * a;
    if (kind == 2) b = a;
    if (kind == 1 && incx > 0) want_x[place(i, incx)] = alpha * a;
    if (kind == 3) sum += a * b;
    if (kind == 4 && incx > 0) sum += a * a;
    if (kind == 5 && incx > 0) sum += std::fabs(a);
  }
  if (kind == 0) code = cublasSaxpy(with, n, fa.get(), dx.get(), incx, dy.get(), incy);
  if (kind == 1) code = cublasSscal(with, n, fa.get(), dx.get(), incx);
  if (kind == 2) code = cublasScopy(with, n, dx.get(), incx, dy.get(), incy);
  if (kind == 3) code = cublasSdot(with, n, dx.get(), incx, dy.get(), incy, result);
  if (kind == 4) code = cublasSnrm2(with, n, dx.get(), incx, result);
  if (kind == 5) code = cublasSasum(with, n, dx.get(), incx, result);
  if (kind == 4) sum = std::sqrt(sum);
  judge(text("%s n %d, inc %d %d, factor %g%s%s", names[kind], n, incx, incy, alpha,
             on_device ? " on device" : "", no_handle ? ", no handle" : ""),
        code, kind == 1 ? dx : dy, kind == 1 ? want_x : want_y);
  if (kind >= 3 && code == CUBLAS_STATUS_SUCCESS) {
    const double got = on_device ? there.host()[0] : here;
    right("  sum", std::fabs(got - sum), 1e-4);
  }
}

}  // namespace

int main(int argc, char** argv) {
  Draw draw(conformance::seed_of(argc, argv));
  status("create", cublasCreate(&handle));
  for (int i = 0; i < 10; ++i) {
    gemm(draw);
    batched(draw);
    gemv(draw);
    geam(draw);
    vectors(draw);
    syrk(draw);
    trsm(draw);
    vectors(draw);
  }
  status("destroy", cublasDestroy(handle));
}
