// cuBLASLt: products with layouts, transposes, batches and epilogues, and bad arguments.
#include <cublasLt.h>

#include <algorithm>
#include <string>

#include "conformance.h"

using conformance::Device;
using conformance::random_floats;
using conformance::relative_error;
using conformance::right;
using conformance::status;

namespace {

cublasLtHandle_t handle = nullptr;
const float kOne = 1, kZero = 0;

// One product, d = epilogue(alpha op(a) op(b) + beta c).
struct Product {
  int m = 24, n = 40, k = 32;
  bool transpose_a = false, transpose_b = false;
  cublasLtOrder_t order_a = CUBLASLT_ORDER_COL, order_b = CUBLASLT_ORDER_COL;
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  int batch = 1;
  float alpha = 1, beta = 0;
};

void set_layout(cublasLtMatrixLayout_t* layout, int rows, int columns, cublasLtOrder_t order,
                int batch) {
  const bool by_rows = order == CUBLASLT_ORDER_ROW;
  status("layout",
         cublasLtMatrixLayoutCreate(layout, CUDA_R_32F, rows, columns, by_rows ? columns : rows));
  cublasLtMatrixLayoutSetAttribute(*layout, CUBLASLT_MATRIX_LAYOUT_ORDER, &order, sizeof order);
  if (batch == 1) return;
  const int64_t stride = static_cast<int64_t>(rows) * columns;
  status("batch", cublasLtMatrixLayoutSetAttribute(*layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT,
                                                   &batch, sizeof batch));
  status("stride",
         cublasLtMatrixLayoutSetAttribute(*layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                                          &stride, sizeof stride));
}

// In double, from the definition.
std::vector<double> expected(const Product& p, const std::vector<float>& a,
                             const std::vector<float>& b, const std::vector<float>& c,
                             const std::vector<float>& bias) {
  const int a_rows = p.transpose_a ? p.k : p.m, a_columns = p.transpose_a ? p.m : p.k;
  const int b_rows = p.transpose_b ? p.n : p.k, b_columns = p.transpose_b ? p.k : p.n;
  std::vector<double> want;
  for (int i = 0; i < p.batch; ++i) {
    const float *x = a.data() + static_cast<size_t>(i) * p.m * p.k,
                *y = b.data() + static_cast<size_t>(i) * p.k * p.n;
    for (int column = 0; column < p.n; ++column) {
      for (int row = 0; row < p.m; ++row) {
        double sum = 0;
        for (int q = 0; q < p.k; ++q) {
          const int ar = p.transpose_a ? q : row, ac = p.transpose_a ? row : q;
          const int br = p.transpose_b ? column : q, bc = p.transpose_b ? q : column;
          sum += static_cast<double>(
                     x[p.order_a == CUBLASLT_ORDER_ROW ? ar * a_columns + ac : ar + ac * a_rows]) *
                 y[p.order_b == CUBLASLT_ORDER_ROW ? br * b_columns + bc : br + bc * b_rows];
        }
        double value = p.alpha * sum + (p.beta == 0 ? 0 : p.beta * c[want.size()]);
        if (p.epilogue & CUBLASLT_EPILOGUE_BIAS) value += bias[row];
        if (p.epilogue & CUBLASLT_EPILOGUE_RELU) value = std::max(0.0, value);
        want.push_back(value);
      }
    }
  }
  return want;
}

void multiply(const char* name, const Product& p) {
  const int a_rows = p.transpose_a ? p.k : p.m, a_columns = p.transpose_a ? p.m : p.k;
  const int b_rows = p.transpose_b ? p.n : p.k, b_columns = p.transpose_b ? p.k : p.n;
  const std::vector<float> a = random_floats(static_cast<size_t>(p.m) * p.k * p.batch, 1),
                           b = random_floats(static_cast<size_t>(p.k) * p.n * p.batch, 2),
                           c = random_floats(static_cast<size_t>(p.m) * p.n * p.batch, 3),
                           bias = random_floats(p.m, 4);
  Device<float> da(a), db(b), dc(c), dd(c.size()), dbias(bias);
  cublasLtMatmulDesc_t operation = nullptr;
  status(name, cublasLtMatmulDescCreate(&operation, CUBLAS_COMPUTE_32F_PEDANTIC, CUDA_R_32F));
  const cublasOperation_t ta = p.transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N,
                          tb = p.transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N;
  cublasLtMatmulDescSetAttribute(operation, CUBLASLT_MATMUL_DESC_TRANSA, &ta, sizeof ta);
  cublasLtMatmulDescSetAttribute(operation, CUBLASLT_MATMUL_DESC_TRANSB, &tb, sizeof tb);
  status("epilogue", cublasLtMatmulDescSetAttribute(operation, CUBLASLT_MATMUL_DESC_EPILOGUE,
                                                    &p.epilogue, sizeof p.epilogue));
  const float* pointer = p.epilogue & CUBLASLT_EPILOGUE_BIAS ? dbias.get() : nullptr;
  status("bias", cublasLtMatmulDescSetAttribute(operation, CUBLASLT_MATMUL_DESC_BIAS_POINTER,
                                                &pointer, sizeof pointer));
  cublasLtMatrixLayout_t la = nullptr, lb = nullptr, ld = nullptr;
  set_layout(&la, a_rows, a_columns, p.order_a, p.batch);
  set_layout(&lb, b_rows, b_columns, p.order_b, p.batch);
  set_layout(&ld, p.m, p.n, CUBLASLT_ORDER_COL, p.batch);
  cublasLtMatmulPreference_t preference = nullptr;
  status("preference", cublasLtMatmulPreferenceCreate(&preference));
  const size_t most = 4 << 20;
  status("most workspace",
         cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                              &most, sizeof most));
  cublasLtMatmulHeuristicResult_t found[4];
  int count = 0;
  status("heuristic", cublasLtMatmulAlgoGetHeuristic(handle, operation, la, lb, ld, ld, preference,
                                                     4, found, &count));
  std::printf("found: %d, usable: %d, fits: %d\n", count > 0, found[0].state == 0,
              found[0].workspaceSize <= most);
  Device<char> space(most);
  status(name,
         cublasLtMatmul(handle, operation, &p.alpha, da.get(), la, db.get(), lb, &p.beta, dc.get(),
                        ld, dd.get(), ld, &found[0].algo, space.get(), most, nullptr));
  const std::vector<double> want = expected(p, a, b, c, bias);
  right(name, relative_error(dd.host(), want), 1e-6);
  status("without an algorithm",
         cublasLtMatmul(handle, operation, &p.alpha, da.get(), la, db.get(), lb, &p.beta, dc.get(),
                        ld, dd.get(), ld, nullptr, nullptr, 0, nullptr));
  right("without an algorithm", relative_error(dd.host(), want), 1e-6);
  cublasLtMatmulPreferenceDestroy(preference);
  cublasLtMatrixLayoutDestroy(la);
  cublasLtMatrixLayoutDestroy(lb);
  cublasLtMatrixLayoutDestroy(ld);
  cublasLtMatmulDescDestroy(operation);
}

void products() {
  Product p;
  multiply("plain", p);
  p.transpose_a = true;
  multiply("transposed a", p);
  p.transpose_b = true;
  multiply("both transposed", p);
  p = {};
  p.alpha = -2;
  p.beta = 0.5F;
  multiply("alpha and beta", p);
  p = {};
  p.epilogue = CUBLASLT_EPILOGUE_RELU;
  multiply("relu", p);
  p.epilogue = CUBLASLT_EPILOGUE_BIAS;
  multiply("bias", p);
  p.epilogue = CUBLASLT_EPILOGUE_RELU_BIAS;
  multiply("bias, relu", p);
  p.beta = 1;
  p.alpha = 0.5F;
  multiply("alpha, beta, bias, relu", p);
  p = {};
  p.batch = 3;
  multiply("batch", p);
  p = {};
  p.order_a = CUBLASLT_ORDER_ROW;
  multiply("a by rows", p);
}

void bad_arguments() {
  cublasLtMatmulDesc_t operation = nullptr;
  cublasLtMatrixLayout_t a = nullptr, b = nullptr, d = nullptr, other = nullptr;
  cublasLtMatmulDescCreate(&operation, CUBLAS_COMPUTE_32F, CUDA_R_32F);
  cublasLtMatrixLayoutCreate(&a, CUDA_R_32F, 8, 8, 8);
  cublasLtMatrixLayoutCreate(&b, CUDA_R_32F, 8, 8, 8);
  cublasLtMatrixLayoutCreate(&d, CUDA_R_32F, 8, 8, 8);
  cublasLtMatrixLayoutCreate(&other, CUDA_R_32F, 9, 8, 9);
  Device<float> x(128);
  const auto run = [&](cublasLtMatrixLayout_t second) {
    return cublasLtMatmul(handle, operation, &kOne, x.get(), a, x.get(), second, &kZero, x.get(), d,
                          x.get(), d, nullptr, nullptr, 0, nullptr);
  };
  status("right", run(b));
  status("sizes that do not fit", run(other));
  const float* bias = x.get();
  cublasLtMatmulDescSetAttribute(operation, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof bias);
  status("a bias that the epilogue does not add", run(b));
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_BIAS;
  status("attribute of another size",
         cublasLtMatmulDescSetAttribute(operation, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, 1));
  status("no attribute",
         cublasLtMatmulDescSetAttribute(operation, static_cast<cublasLtMatmulDescAttributes_t>(999),
                                        &epilogue, sizeof epilogue));
  size_t written = 0;
  int read = -1;
  status("get", cublasLtMatmulDescGetAttribute(operation, CUBLASLT_MATMUL_DESC_EPILOGUE, &read,
                                               sizeof read, &written));
  std::printf("epilogue %d, %zu bytes\n", read, written);
  cublasLtMatmulDescDestroy(operation);
  cublasLtMatrixLayoutDestroy(a);
  cublasLtMatrixLayoutDestroy(b);
  cublasLtMatrixLayoutDestroy(d);
  cublasLtMatrixLayoutDestroy(other);
}

}  // namespace

int main() {
  std::setvbuf(stdout, nullptr, _IONBF, 0);
  status("create", cublasLtCreate(&handle));
  products();
  bad_arguments();
  status("destroy", cublasLtDestroy(handle));
}
