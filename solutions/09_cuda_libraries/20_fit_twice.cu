// 09/20 Fit twice, the capstone: least squares, and once more without the rows that fit worst.
//   a     m x n floats, row-major,  b  m floats: m equations with n unknowns, in device memory
//   x     n floats: over the kept rows, |a x - b| is as small as it can be
//   kept  keep ints: the rows that came closest to an x for all rows, in ascending order
//   Budget: 40 bytes loaded for each element of a, 24 stored; nobody waits; no memory is left.
//
//   Nothing is given here: which libraries you call, kernels, launches and work space are yours.
#include "20_fit_twice.h"

//~begin 1
#include <algorithm>
#include <cub/device/device_radix_sort.cuh>
#include <cuda/std/mdspan>
#include <cuda/std/span>

namespace {

using Extents = cuda::std::dextents<int, 2>;
using RowMajor = cuda::std::mdspan<const float, Extents>;                           // as a is
using ColumnMajor = cuda::std::mdspan<float, Extents, cuda::std::layout_left>;      // as BLAS wants

constexpr int kBlock = 256;  // threads

int blocks(int n) { return (n + kBlock - 1) / kBlock; }

// Memory that is freed in the order of the stream.
template <class T>
class Memory {
 public:
  Memory(size_t count, cudaStream_t stream) : stream_(stream) {
    const size_t bytes = count * sizeof(T);
    if (cudaMallocAsync(reinterpret_cast<void**>(&at_), bytes, stream) != cudaSuccess) {
      at_ = nullptr;
    }
  }
  ~Memory() {
    if (at_ != nullptr) cudaFreeAsync(at_, stream_);
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  T* get() const { return at_; }
  bool is_there() const { return at_ != nullptr; }

 private:
  T* at_ = nullptr;
  cudaStream_t stream_;
};

__global__ void number(cuda::std::span<int> rows) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < static_cast<int>(rows.size())) rows[i] = i;
}

__global__ void magnitudes(cuda::std::span<float> values) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < static_cast<int>(values.size())) values[i] = fabsf(values[i]);
}

// The equations with these numbers, column-major. A thread per element of a.
__global__ void take(RowMajor a, const float* b, cuda::std::span<const int> rows, ColumnMajor w,
                     float* y) {
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  const int i = at / a.extent(1), col = at % a.extent(1);
  if (i >= w.extent(0)) return;
  const int row = rows[i];
  w(i, col) = a(row, col);
  if (col == 0) y[i] = b[row];
}

// What a factorisation needs besides the matrix.
struct Space {
  Memory<float> work, tau;
  Memory<int> info;
  int floats;
};

// The first n of y become the x that minimises |w x - y|. w: m x n, column-major.
bool solve(cublasHandle_t blas, cusolverDnHandle_t solver, float* w, float* y, int m, int n,
           const Space& space) {
  float* const tau = space.tau.get();
  if (cusolverDnSgeqrf(solver, m, n, w, m, tau, space.work.get(), space.floats,
                       space.info.get()) != CUSOLVER_STATUS_SUCCESS) {
    return false;
  }
  if (cusolverDnSormqr(solver, CUBLAS_SIDE_LEFT, CUBLAS_OP_T, m, 1, n, w, m, tau, y, m,
                       space.work.get(), space.floats,
                       space.info.get()) != CUSOLVER_STATUS_SUCCESS) {
    return false;
  }
  return cublasStrsv(blas, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT, n, w, m, y,
                     1) == CUBLAS_STATUS_SUCCESS;
}

// Work space of the larger of both steps, for m rows.
bool ask_space(cusolverDnHandle_t solver, int m, int n, int* floats) {
  int factors = 0, product = 0;
  if (cusolverDnSgeqrf_bufferSize(solver, m, n, nullptr, m, &factors) != CUSOLVER_STATUS_SUCCESS ||
      cusolverDnSormqr_bufferSize(solver, CUBLAS_SIDE_LEFT, CUBLAS_OP_T, m, 1, n, nullptr, m,
                                  nullptr, nullptr, m, &product) != CUSOLVER_STATUS_SUCCESS) {
    return false;
  }
  *floats = std::max({*floats, factors, product});
  return true;
}

// The numbers of the `keep` smallest magnitudes, in ascending order.
bool choose(const float* magnitude, const int* rows, int m, int keep, int* kept,
            cudaStream_t stream) {
  const Memory<float> sorted(m, stream);
  const Memory<int> order(m, stream);
  if (!sorted.is_there() || !order.is_there()) return false;
  const int bits = 8 * sizeof(float);
  size_t pairs = 0, keys = 0;
  if (cub::DeviceRadixSort::SortPairs(nullptr, pairs, magnitude, sorted.get(), rows, order.get(), m,
                                      0, bits, stream) != cudaSuccess ||
      cub::DeviceRadixSort::SortKeys(nullptr, keys, order.get(), kept, keep, 0, bits, stream) !=
          cudaSuccess) {
    return false;
  }
  const Memory<char> space(std::max(pairs, keys), stream);
  if (!space.is_there()) return false;
  return cub::DeviceRadixSort::SortPairs(space.get(), pairs, magnitude, sorted.get(), rows,
                                         order.get(), m, 0, bits, stream) == cudaSuccess &&
         cub::DeviceRadixSort::SortKeys(space.get(), keys, order.get(), kept, keep, 0, bits,
                                        stream) == cudaSuccess;
}

}  // namespace
//~end

bool fit_twice(cublasHandle_t blas, cusolverDnHandle_t solver, const float* d_a, const float* d_b,
               float* d_x, int* d_kept, int m, int n, int keep, cudaStream_t stream) {
  //~ static_cast<void>(blas), static_cast<void>(solver), static_cast<void>(d_a);
  //~ static_cast<void>(d_b), static_cast<void>(d_x), static_cast<void>(d_kept);
  //~ static_cast<void>(m), static_cast<void>(n), static_cast<void>(keep);
  //~ return stream == nullptr;
  //~begin 1
  int floats = 0;
  if (!ask_space(solver, m, n, &floats) || !ask_space(solver, keep, n, &floats)) return false;
  const Space space = {{static_cast<size_t>(floats), stream},
                       {static_cast<size_t>(n), stream},
                       {1, stream},
                       floats};
  const Memory<float> w(static_cast<size_t>(m) * n, stream), y(m, stream), magnitude(m, stream);
  const Memory<int> rows(m, stream);
  if (!space.work.is_there() || !space.tau.is_there() || !space.info.is_there() || !w.is_there() ||
      !y.is_there() || !magnitude.is_there() || !rows.is_there()) {
    return false;
  }
  const auto fit = [&](const int* chosen, int count) {
    take<<<blocks(count * n), kBlock, 0, stream>>>(
        RowMajor(d_a, m, n), d_b, cuda::std::span<const int>(chosen, count),
        ColumnMajor(w.get(), count, n), y.get());
    return cudaGetLastError() == cudaSuccess &&
           solve(blas, solver, w.get(), y.get(), count, n, space);
  };
  number<<<blocks(m), kBlock, 0, stream>>>(cuda::std::span<int>(rows.get(), m));
  if (cudaGetLastError() != cudaSuccess || !fit(rows.get(), m)) return false;

  // How far the first x is from each equation: a x - b. Read by columns, a is its transpose.
  const float one = 1.0f, minus_one = -1.0f;
  if (cudaMemcpyAsync(magnitude.get(), d_b, m * sizeof(float), cudaMemcpyDeviceToDevice, stream) !=
          cudaSuccess ||
      cublasSgemv(blas, CUBLAS_OP_T, n, m, &one, d_a, n, y.get(), 1, &minus_one, magnitude.get(),
                  1) != CUBLAS_STATUS_SUCCESS) {
    return false;
  }
  magnitudes<<<blocks(m), kBlock, 0, stream>>>(cuda::std::span<float>(magnitude.get(), m));
  if (cudaGetLastError() != cudaSuccess) return false;

  if (!choose(magnitude.get(), rows.get(), m, keep, d_kept, stream)) return false;
  return fit(d_kept, keep) && cudaMemcpyAsync(d_x, y.get(), n * sizeof(float),
                                              cudaMemcpyDeviceToDevice, stream) == cudaSuccess;
  //~end
}
