// Another right answer: Thrust sorts, and the normal equations are solved by Cholesky's factors,
// which cuBLAS and cuSOLVER make of a as it lies there.
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/system/cuda/execution_policy.h>

#include "20_fit_twice.h"

namespace {

__global__ void lengths(float* values, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    values[i] = fabsf(values[i]);
  }
}

// Row i of `to` is row chosen[i] of a; a thread per row.
__global__ void collect(const float* a, const float* b, const int* chosen, int count, int n,
                        float* to, float* to_b) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const size_t from = static_cast<size_t>(chosen[i]) * n;
  for (int col = 0; col < n; ++col) to[static_cast<size_t>(i) * n + col] = a[from + col];
  to_b[i] = b[chosen[i]];
}

// One block of memory, from which arrays are taken.
class Arena {
 public:
  Arena(size_t bytes, cudaStream_t stream) : stream_(stream) {
    if (cudaMallocAsync(&memory_, bytes, stream) != cudaSuccess) memory_ = nullptr;
  }
  ~Arena() {
    if (memory_ != nullptr) cudaFreeAsync(memory_, stream_);
  }
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  bool is_there() const { return memory_ != nullptr; }
  template <class T>
  T* take(size_t count) {
    T* const at = reinterpret_cast<T*>(static_cast<char*>(memory_) + used_);
    used_ += (count * sizeof(T) + 255) / 256 * 256;
    return at;
  }

 private:
  void* memory_ = nullptr;
  cudaStream_t stream_;
  size_t used_ = 0;
};

struct Square {
  float* matrix;
  float* work;
  int floats;
  int* info;
};

bool solve(cublasHandle_t blas, cusolverDnHandle_t solver, const float* a, const float* b, float* x,
           int m, int n, const Square& s) {
  const float one = 1, zero = 0;
  return cublasSsyrk(blas, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, n, m, &one, a, n, &zero, s.matrix,
                     n) == CUBLAS_STATUS_SUCCESS &&
         cublasSgemv(blas, CUBLAS_OP_N, n, m, &one, a, n, b, 1, &zero, x, 1) ==
             CUBLAS_STATUS_SUCCESS &&
         cusolverDnSpotrf(solver, CUBLAS_FILL_MODE_LOWER, n, s.matrix, n, s.work, s.floats,
                          s.info) == CUSOLVER_STATUS_SUCCESS &&
         cusolverDnSpotrs(solver, CUBLAS_FILL_MODE_LOWER, n, 1, s.matrix, n, x, n, s.info) ==
             CUSOLVER_STATUS_SUCCESS;
}

}  // namespace

bool fit_twice(cublasHandle_t blas, cusolverDnHandle_t solver, const float* d_a, const float* d_b,
               float* d_x, int* d_kept, int m, int n, int keep, cudaStream_t stream) {
  int floats = 0;
  if (cusolverDnSpotrf_bufferSize(solver, CUBLAS_FILL_MODE_LOWER, n, nullptr, n, &floats) !=
      CUSOLVER_STATUS_SUCCESS) {
    return false;
  }
  const size_t elements = static_cast<size_t>(m) * n;
  Arena arena(4 * (elements + 3 * static_cast<size_t>(m) + n * n + floats) + 8 * 256, stream);
  if (!arena.is_there()) return false;
  float* const rows = arena.take<float>(elements);
  float* const sides = arena.take<float>(m);
  float* const far = arena.take<float>(m);
  int* const order = arena.take<int>(m);
  const Square square = {arena.take<float>(n * n), arena.take<float>(floats), floats,
                         arena.take<int>(1)};
  if (!solve(blas, solver, d_a, d_b, d_x, m, n, square)) return false;

  const float one = 1, minus_one = -1;
  if (cublasScopy(blas, m, d_b, 1, far, 1) != CUBLAS_STATUS_SUCCESS ||
      cublasSgemv(blas, CUBLAS_OP_T, n, m, &minus_one, d_a, n, d_x, 1, &one, far, 1) !=
          CUBLAS_STATUS_SUCCESS) {
    return false;
  }
  lengths<<<64, 128, 0, stream>>>(far, m);
  if (cudaGetLastError() != cudaSuccess) return false;
  try {
    const auto policy = thrust::cuda::par_nosync.on(stream);
    thrust::sequence(policy, order, order + m);
    thrust::sort_by_key(policy, far, far + m, order);
    thrust::sort(policy, order, order + keep);
  } catch (...) {
    return false;
  }
  if (cudaMemcpyAsync(d_kept, order, keep * sizeof(int), cudaMemcpyDeviceToDevice, stream) !=
      cudaSuccess) {
    return false;
  }
  collect<<<(keep + 127) / 128, 128, 0, stream>>>(d_a, d_b, d_kept, keep, n, rows, sides);
  return cudaGetLastError() == cudaSuccess &&
         solve(blas, solver, rows, sides, d_x, keep, n, square);
}
