// cuBLASLt: a product described by attributes.
#include <cublasLt.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <new>
#include <string>
#include <utility>

#include "common/call.h"
#include "common/held.h"
#include "cublas/gemm.h"

using namespace warplings::libraries;

struct cublasLtContext {
  int device = 0;
  warplings::libraries::Held held{"cuBLASLt handle"};
};

namespace {

// What the opaque structures hold.
struct MatrixLayout {
  cudaDataType type;
  cublasLtOrder_t order;
  uint64_t rows, columns;
  int64_t ld;
  int32_t batch;
  int64_t stride;
};
struct Operation {
  cublasComputeType_t compute;
  cudaDataType scale;
  cublasLtPointerMode_t pointer_mode;
  cublasOperation_t transpose_a, transpose_b;
  cublasLtEpilogue_t epilogue;
  const void* bias;
  cudaDataType bias_type;
  bool has_bias_type;
};
struct Preference {
  uint32_t search_mode;
  uint64_t workspace;
};
static_assert(sizeof(MatrixLayout) <= sizeof(cublasLtMatrixLayoutOpaque_t));
static_assert(sizeof(Operation) <= sizeof(cublasLtMatmulDescOpaque_t));
static_assert(sizeof(Preference) <= sizeof(cublasLtMatmulPreferenceOpaque_t));

MatrixLayout& inside(cublasLtMatrixLayoutOpaque_t* opaque) {
  return *reinterpret_cast<MatrixLayout*>(opaque);
}
Operation& inside(cublasLtMatmulDescOpaque_t* opaque) {
  return *reinterpret_cast<Operation*>(opaque);
}
Preference& inside(cublasLtMatmulPreferenceOpaque_t* opaque) {
  return *reinterpret_cast<Preference*>(opaque);
}

// What a program has to destroy, by the type that it is given.
const char* held_name(const cublasLtMatrixLayoutOpaque_t*) { return "cuBLASLt matrix layout"; }
const char* held_name(const cublasLtMatmulDescOpaque_t*) { return "cuBLASLt matmul descriptor"; }
const char* held_name(const cublasLtMatmulPreferenceOpaque_t*) {
  return "cuBLASLt matmul preference";
}

template <class Opaque>
void destroy(Opaque* opaque) {
  if (opaque != nullptr) wsim_library_holds(held_name(opaque), -1);
  delete opaque;
}

template <class Opaque, class Inside>
cublasStatus_t create(Opaque** place, const Inside& value) {
  if (place == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *place = new (std::nothrow) Opaque();
  if (*place == nullptr) return CUBLAS_STATUS_ALLOC_FAILED;
  inside(*place) = value;
  wsim_library_holds(held_name(*place), 1);
  return CUBLAS_STATUS_SUCCESS;
}

// A field that an attribute stands for.
struct Field {
  void* data = nullptr;  // nullptr: there is none
  size_t size = 0;
};
template <class T>
Field field(T& member) {
  return {&member, sizeof(T)};
}

Field find(MatrixLayout& l, cublasLtMatrixLayoutAttribute_t attribute) {
  switch (attribute) {
    case CUBLASLT_MATRIX_LAYOUT_TYPE:
      return field(l.type);
    case CUBLASLT_MATRIX_LAYOUT_ORDER:
      return field(l.order);
    case CUBLASLT_MATRIX_LAYOUT_ROWS:
      return field(l.rows);
    case CUBLASLT_MATRIX_LAYOUT_COLS:
      return field(l.columns);
    case CUBLASLT_MATRIX_LAYOUT_LD:
      return field(l.ld);
    case CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT:
      return field(l.batch);
    case CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET:
      return field(l.stride);
  }
  return {};
}

Field find(Operation& o, cublasLtMatmulDescAttributes_t attribute) {
  switch (attribute) {
    case CUBLASLT_MATMUL_DESC_COMPUTE_TYPE:
      return field(o.compute);
    case CUBLASLT_MATMUL_DESC_SCALE_TYPE:
      return field(o.scale);
    case CUBLASLT_MATMUL_DESC_POINTER_MODE:
      return field(o.pointer_mode);
    case CUBLASLT_MATMUL_DESC_TRANSA:
      return field(o.transpose_a);
    case CUBLASLT_MATMUL_DESC_TRANSB:
      return field(o.transpose_b);
    case CUBLASLT_MATMUL_DESC_EPILOGUE:
      return field(o.epilogue);
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
      return field(o.bias);
    case CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE:
      o.has_bias_type = true;
      return field(o.bias_type);
  }
  return {};
}

Field find(Preference& p, cublasLtMatmulPreferenceAttributes_t attribute) {
  switch (attribute) {
    case CUBLASLT_MATMUL_PREF_SEARCH_MODE:
      return field(p.search_mode);
    case CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES:
      return field(p.workspace);
  }
  return {};
}

template <class Opaque, class Attribute>
cublasStatus_t set(Opaque* opaque, Attribute attribute, const void* from, size_t size) {
  if (opaque == nullptr || from == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  const Field to = find(inside(opaque), attribute);
  if (to.data == nullptr || to.size != size) return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(to.data, from, size);
  return CUBLAS_STATUS_SUCCESS;
}

// With no room given, says how much there has to be.
template <class Opaque, class Attribute>
cublasStatus_t get(Opaque* opaque, Attribute attribute, void* to, size_t size, size_t* written) {
  if (opaque == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  const Field from = find(inside(opaque), attribute);
  if (from.data == nullptr || (size != 0 && (to == nullptr || size != from.size)) ||
      (size == 0 && written == nullptr)) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  if (size != 0) std::memcpy(to, from.data, size);
  if (written != nullptr) *written = from.size;
  return CUBLAS_STATUS_SUCCESS;
}

// ---- products

struct Matrices {
  const MatrixLayout &a, &b, &c, &d;
};

bool transposed(cublasOperation_t op) { return op != CUBLAS_OP_N; }

bool has_bias(const Operation& o) { return (o.epilogue & CUBLASLT_EPILOGUE_BIAS) != 0; }
bool is_gelu(const Operation& o) { return (o.epilogue & CUBLASLT_EPILOGUE_GELU) != 0; }

bool sizes_fit(const Operation& o, const Matrices& m) {
  const auto rows = [](const MatrixLayout& l, cublasOperation_t op) {
    return transposed(op) ? l.columns : l.rows;
  };
  const auto columns = [](const MatrixLayout& l, cublasOperation_t op) {
    return transposed(op) ? l.rows : l.columns;
  };
  return rows(m.a, o.transpose_a) == m.d.rows && columns(m.b, o.transpose_b) == m.d.columns &&
         columns(m.a, o.transpose_a) == rows(m.b, o.transpose_b) && m.c.rows == m.d.rows &&
         m.c.columns == m.d.columns && m.c.type == m.d.type && m.a.batch == m.d.batch &&
         m.b.batch == m.d.batch && m.c.batch == m.d.batch;
}

// The types that the products of products.cpp know, by their computation.
bool find_arithmetic(const Operation& o, const Matrices& m, Arithmetic* arithmetic) {
  const cudaDataType in = m.a.type, out = m.d.type;
  if (in != m.b.type || number_of(in) == Number::kNone) return false;
  const bool single = o.scale == CUDA_R_32F;
  switch (o.compute) {
    case CUBLAS_COMPUTE_16F:
      *arithmetic = Arithmetic::kHalf;
      return o.scale == CUDA_R_16F && in == CUDA_R_16F && out == in;
    case CUBLAS_COMPUTE_32F:
    case CUBLAS_COMPUTE_32F_PEDANTIC:
      *arithmetic = Arithmetic::kFloat;
      return single && in != CUDA_R_64F && in != CUDA_R_32I && (out == in || out == CUDA_R_32F);
    case CUBLAS_COMPUTE_32F_FAST_TF32:
      *arithmetic = Arithmetic::kFloatOfTf32;
      return single && in == CUDA_R_32F && out == in;
    case CUBLAS_COMPUTE_32F_FAST_16BF:
      *arithmetic = Arithmetic::kFloatOfBfloat16;
      return single && in == CUDA_R_32F && out == in;
    case CUBLAS_COMPUTE_32F_FAST_16F:
      *arithmetic = Arithmetic::kFloatOfHalf;
      return single && in == CUDA_R_32F && out == in;
    case CUBLAS_COMPUTE_64F:
      *arithmetic = Arithmetic::kDouble;
      return o.scale == CUDA_R_64F && in == CUDA_R_64F && out == in;
    default:
      return false;
  }
}

// Column-major, as gemm() has it: a matrix by rows is the transposed of one by columns.
GemmShape shape_of(const Operation& o, const Matrices& m, Arithmetic arithmetic) {
  GemmShape shape;
  shape.m = static_cast<int64_t>(m.d.rows);
  shape.n = static_cast<int64_t>(m.d.columns);
  shape.k = static_cast<int64_t>(transposed(o.transpose_a) ? m.a.rows : m.a.columns);
  shape.transpose_a = transposed(o.transpose_a) != (m.a.order == CUBLASLT_ORDER_ROW);
  shape.transpose_b = transposed(o.transpose_b) != (m.b.order == CUBLASLT_ORDER_ROW);
  shape.lda = m.a.ld;
  shape.ldb = m.b.ld;
  shape.ldc = m.c.ld;
  shape.a = number_of(m.a.type);
  shape.b = number_of(m.b.type);
  shape.c = number_of(m.d.type);
  shape.arithmetic = arithmetic;
  return shape;
}

void add_matrix(const char* role, const MatrixLayout& l, const void* data, Access access,
                Operands* operands) {
  const size_t element = size_of(number_of(l.type));
  const auto size = static_cast<int64_t>(element);
  const bool by_rows = l.order == CUBLASLT_ORDER_ROW;
  const auto inner = static_cast<int64_t>(by_rows ? l.columns : l.rows);
  const auto outer = static_cast<int64_t>(by_rows ? l.rows : l.columns);
  operands->add(role, data, element,
                {{inner, size}, {outer, l.ld * size}, {l.batch, l.stride * size}}, access);
}

// alpha or beta, of the host now or of the device later.
struct Factor {
  const void* device = nullptr;
  double value = 0;
  Number type = Number::kFloat;
  double get() const { return device == nullptr ? value : load(type, view(device), 0); }
};

// Rows and columns of an operand as the product sees it: "op(A) 4 x 3".
std::string size_text(const char* name, const MatrixLayout& l, cublasOperation_t op) {
  const bool turned = transposed(op);
  return std::string(turned ? "op(" : "") + name + (turned ? ") " : " ") +
         std::to_string(turned ? l.columns : l.rows) + " x " +
         std::to_string(turned ? l.rows : l.columns);
}

cublasStatus_t check(const Call& call, const Operation& o, const Matrices& m,
                     Arithmetic* arithmetic) {
  if (!sizes_fit(o, m)) {
    call.explain("invalid-value",
                 "refuses matrices whose rows, columns, types or batches do not fit together: " +
                     size_text("A", m.a, o.transpose_a) + ", " +
                     size_text("B", m.b, o.transpose_b) + ", " + size_text("C", m.c, CUBLAS_OP_N) +
                     ", " + size_text("D", m.d, CUBLAS_OP_N) +
                     " (layouts are column-major unless their order says otherwise).");
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  const std::pair<const char*, const MatrixLayout&> layouts[] = {
      {"A", m.a}, {"B", m.b}, {"C", m.c}, {"D", m.d}};
  for (const auto& [name, layout] : layouts) {
    const bool by_rows = layout.order == CUBLASLT_ORDER_ROW;
    const uint64_t least = by_rows ? layout.columns : layout.rows;
    if (layout.ld >= static_cast<int64_t>(least)) continue;
    call.explain("invalid-value", std::string("refuses the layout of ") + name + ": its leading " +
                                      "dimension, " + std::to_string(layout.ld) +
                                      ", is less than the " + std::to_string(least) +
                                      (by_rows ? " elements of a row." : " elements of a column."));
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  if (!find_arithmetic(o, m, arithmetic)) return CUBLAS_STATUS_NOT_SUPPORTED;
  const bool by_rows = m.c.order == CUBLASLT_ORDER_ROW || m.d.order == CUBLASLT_ORDER_ROW;
  if (by_rows || is_gelu(o)) {
    call.not_simulated("C or D by rows, or an epilogue other than bias and ReLU");
    return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  return CUBLAS_STATUS_SUCCESS;
}

Number bias_type_of(const Operation& o, const MatrixLayout& d) {
  return number_of(o.has_bias_type ? o.bias_type : d.type);
}

struct Data {
  const void *alpha, *a, *b, *beta, *c;
  void* d;
};

Operands operands_of(const Operation& o, const Matrices& m, const Data& data, Factor* alpha,
                     Factor* beta) {
  Operands operands;
  const Number scale = number_of(o.scale);
  const bool on_device = o.pointer_mode == CUBLASLT_POINTER_MODE_DEVICE;
  const auto factor = [&](const char* role, const void* pointer) {
    if (!on_device) return Factor{nullptr, load(scale, pointer, 0), scale};
    operands.add(role, pointer, size_of(scale), {}, Access::kRead);
    return Factor{pointer, 0, scale};
  };
  *alpha = factor("alpha", data.alpha);
  *beta = factor("beta", data.beta);
  add_matrix("matrix A", m.a, data.a, Access::kRead, &operands);
  add_matrix("matrix B", m.b, data.b, Access::kRead, &operands);
  if (!on_device && beta->value != 0) {
    add_matrix("matrix C", m.c, data.c, Access::kRead, &operands);
  }
  add_matrix("matrix D", m.d, data.d, Access::kWrite, &operands);
  if (has_bias(o)) {
    const size_t size = size_of(bias_type_of(o, m.d));
    operands.add("bias", o.bias, size,
                 {{static_cast<int64_t>(m.d.rows), static_cast<int64_t>(size)}}, Access::kRead);
  }
  return operands;
}

const void* at(const void* data, int64_t element, Number type) {
  return static_cast<const char*>(data) + element * static_cast<int64_t>(size_of(type));
}

// False, with a note, if the algorithm needs more workspace than there is. Without an algorithm the
// library takes one that fits.
bool use_algorithm(const Call& call, const cublasLtMatmulAlgo_t* algorithm, size_t workspace) {
  const size_t* workspaces = nullptr;
  const int count = wsim_library_algorithms(&workspaces);
  const int position = algorithm == nullptr ? -1 : static_cast<int>(algorithm->data[0]) - 1;
  wsim_library_uses_algorithm(position);
  if (position < 0 || position >= count || workspaces[position] <= workspace) return true;
  call.explain("invalid-value",
               "is given an algorithm that needs " + std::to_string(workspaces[position]) +
                   " bytes of workspace, and has " + std::to_string(workspace) + ".");
  return false;
}

}  // namespace

extern "C" {

cublasStatus_t cublasLtCreate(cublasLtHandle_t* lightHandle) {
  WARPLINGS_MAY_FAIL(cublasLtCreate, CUBLAS_STATUS_ALLOC_FAILED);
  if (lightHandle == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *lightHandle = new cublasLtContext{current_device()};
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtDestroy(cublasLtHandle_t lightHandle) {
  delete lightHandle;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* matLayout, cudaDataType type,
                                          uint64_t rows, uint64_t cols, int64_t ld) {
  WARPLINGS_MAY_FAIL(cublasLtMatrixLayoutCreate, CUBLAS_STATUS_ALLOC_FAILED);
  return create(matLayout, MatrixLayout{type, CUBLASLT_ORDER_COL, rows, cols, ld, 1, 0});
}

cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t matLayout) {
  destroy(matLayout);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t matLayout,
                                                cublasLtMatrixLayoutAttribute_t attr,
                                                const void* buf, size_t sizeInBytes) {
  WARPLINGS_MAY_FAIL(cublasLtMatrixLayoutSetAttribute, CUBLAS_STATUS_INTERNAL_ERROR);
  return set(matLayout, attr, buf, sizeInBytes);
}

cublasStatus_t cublasLtMatrixLayoutGetAttribute(cublasLtMatrixLayout_t matLayout,
                                                cublasLtMatrixLayoutAttribute_t attr, void* buf,
                                                size_t sizeInBytes, size_t* sizeWritten) {
  return get(matLayout, attr, buf, sizeInBytes, sizeWritten);
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* matmulDesc,
                                        cublasComputeType_t computeType, cudaDataType_t scaleType) {
  WARPLINGS_MAY_FAIL(cublasLtMatmulDescCreate, CUBLAS_STATUS_ALLOC_FAILED);
  return create(matmulDesc,
                Operation{computeType, scaleType, CUBLASLT_POINTER_MODE_HOST, CUBLAS_OP_N,
                          CUBLAS_OP_N, CUBLASLT_EPILOGUE_DEFAULT, nullptr, CUDA_R_32F, false});
}

cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t matmulDesc) {
  destroy(matmulDesc);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t matmulDesc,
                                              cublasLtMatmulDescAttributes_t attr, const void* buf,
                                              size_t sizeInBytes) {
  WARPLINGS_MAY_FAIL(cublasLtMatmulDescSetAttribute, CUBLAS_STATUS_INTERNAL_ERROR);
  return set(matmulDesc, attr, buf, sizeInBytes);
}

cublasStatus_t cublasLtMatmulDescGetAttribute(cublasLtMatmulDesc_t matmulDesc,
                                              cublasLtMatmulDescAttributes_t attr, void* buf,
                                              size_t sizeInBytes, size_t* sizeWritten) {
  return get(matmulDesc, attr, buf, sizeInBytes, sizeWritten);
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* pref) {
  WARPLINGS_MAY_FAIL(cublasLtMatmulPreferenceCreate, CUBLAS_STATUS_ALLOC_FAILED);
  wsim_library_count(__func__);
  return create(pref, Preference{0, 0});
}

cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t pref) {
  wsim_library_count(__func__);
  destroy(pref);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t pref,
                                                    cublasLtMatmulPreferenceAttributes_t attr,
                                                    const void* buf, size_t sizeInBytes) {
  WARPLINGS_MAY_FAIL(cublasLtMatmulPreferenceSetAttribute, CUBLAS_STATUS_INTERNAL_ERROR);
  return set(pref, attr, buf, sizeInBytes);
}

// Proposes, in their order, the algorithms whose workspace the preference allows. An algorithm is
// its position, counted from one.
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(
    cublasLtHandle_t lightHandle, cublasLtMatmulDesc_t operationDesc, cublasLtMatrixLayout_t Adesc,
    cublasLtMatrixLayout_t Bdesc, cublasLtMatrixLayout_t Cdesc, cublasLtMatrixLayout_t Ddesc,
    cublasLtMatmulPreference_t preference, int requestedAlgoCount,
    cublasLtMatmulHeuristicResult_t heuristicResultsArray[], int* returnAlgoCount) {
  WARPLINGS_MAY_FAIL(cublasLtMatmulAlgoGetHeuristic, CUBLAS_STATUS_INTERNAL_ERROR);
  WARPLINGS_LIBRARY_CALL(cublasLtMatmulAlgoGetHeuristic);
  if (lightHandle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (operationDesc == nullptr || Adesc == nullptr || Bdesc == nullptr || Cdesc == nullptr ||
      Ddesc == nullptr || preference == nullptr || requestedAlgoCount < 1 ||
      heuristicResultsArray == nullptr || returnAlgoCount == nullptr) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  *returnAlgoCount = 0;
  Arithmetic arithmetic{};
  const cublasStatus_t status =
      check(call, inside(operationDesc),
            {inside(Adesc), inside(Bdesc), inside(Cdesc), inside(Ddesc)}, &arithmetic);
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  const size_t* workspaces = nullptr;
  const int count = wsim_library_algorithms(&workspaces);
  for (int i = 0; i < count && *returnAlgoCount < requestedAlgoCount; ++i) {
    if (workspaces[i] > inside(preference).workspace) continue;
    cublasLtMatmulHeuristicResult_t& proposed = heuristicResultsArray[(*returnAlgoCount)++];
    proposed = {};
    proposed.algo.data[0] = static_cast<uint64_t>(i) + 1;
    proposed.workspaceSize = workspaces[i];
    proposed.state = CUBLAS_STATUS_SUCCESS;
    proposed.wavesCount = 1;
  }
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t lightHandle, cublasLtMatmulDesc_t computeDesc,
                              const void* alpha, const void* A, cublasLtMatrixLayout_t Adesc,
                              const void* B, cublasLtMatrixLayout_t Bdesc, const void* beta,
                              const void* C, cublasLtMatrixLayout_t Cdesc, void* D,
                              cublasLtMatrixLayout_t Ddesc, const cublasLtMatmulAlgo_t* algo,
                              void* workspace, size_t workspaceSizeInBytes, cudaStream_t stream) {
  WARPLINGS_LIBRARY_CALL(cublasLtMatmul);
  if (lightHandle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (computeDesc == nullptr || alpha == nullptr || beta == nullptr || Adesc == nullptr ||
      Bdesc == nullptr || Cdesc == nullptr || Ddesc == nullptr || A == nullptr || B == nullptr ||
      D == nullptr) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  const Operation o = inside(computeDesc);
  const MatrixLayout a = inside(Adesc), b = inside(Bdesc), c = inside(Cdesc), d = inside(Ddesc);
  const Matrices matrices = {a, b, c, d};
  Arithmetic arithmetic{};
  const cublasStatus_t status = check(call, o, matrices, &arithmetic);
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  if (!use_algorithm(call, algo, workspace == nullptr ? 0 : workspaceSizeInBytes)) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  if (has_bias(o) != (o.bias != nullptr)) {
    call.explain("invalid-value",
                 "refuses a bias pointer without an epilogue that adds it, or an "
                 "epilogue that adds a bias without a pointer to it.");
    return CUBLAS_STATUS_INVALID_VALUE;
  }

  Factor fa, fb;
  const Operands operands = operands_of(o, matrices, {alpha, A, B, beta, C, D}, &fa, &fb);
  const Number bias_type = bias_type_of(o, d);
  const GemmShape shape = shape_of(o, matrices, arithmetic);
  Placement placement;
  placement.device = lightHandle->device;
  placement.stream = stream;
  placement.operations =
      2.0 * static_cast<double>(shape.m * shape.n) * static_cast<double>(shape.k) * d.batch;
  const cudaError_t error = call.enqueue(placement, operands, [=] {
    const Epilogue epilogue = {has_bias(o) ? view(o.bias) : nullptr, bias_type,
                               (o.epilogue & CUBLASLT_EPILOGUE_RELU) != 0};
    for (int64_t i = 0; i < d.batch; ++i) {
      gemm(shape, fa.get(), at(view(A), i * a.stride, shape.a), at(view(B), i * b.stride, shape.b),
           fb.get(), at(view(C), i * c.stride, shape.c),
           const_cast<void*>(at(view(D), i * d.stride, shape.c)), d.ld, epilogue);
    }
  });
  return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

}  // extern "C"
