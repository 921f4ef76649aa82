// Another right answer, nearly without kernels: cuBLAS turns a around, a limit is read from the
// sorted distances, cub::DeviceSelect lists the rows within it, and the others are multiplied by 0.
#include <thrust/iterator/counting_iterator.h>

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_select.cuh>

#include "20_fit_twice.h"

namespace {

// 1 for a row within the limit, 0 for one beyond it; nobody knows the limit but the device.
__global__ void weigh(const float* far, const float* limit, float* weight, char* flag, int m) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= m) return;
  flag[i] = far[i] <= *limit;
  weight[i] = flag[i] ? 1.0f : 0.0f;
}

__global__ void without_sign(float* far, int m) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < m) far[i] = fabsf(far[i]);
}

// The first call that fails decides, and none is made behind it.
struct Chain {
  bool ok = true;
  template <class Call>
  Chain& then(const Call& call) {
    ok = ok && static_cast<int>(call()) == 0;  // of all four kinds of status, 0 is the success
    return *this;
  }
};

struct Arrays {
  float *w, *y, *far, *sorted, *weight, *tau, *work;
  char* flag;
  int *info, *count;
  void* sort;
};

}  // namespace

bool fit_twice(cublasHandle_t blas, cusolverDnHandle_t solver, const float* d_a, const float* d_b,
               float* d_x, int* d_kept, int m, int n, int keep, cudaStream_t stream) {
  const thrust::counting_iterator<int> numbers(0);
  const float one = 1, zero = 0, minus_one = -1;
  int factors = 0, product = 0;
  size_t for_sort = 0, for_select = 0;
  const int bits = 32;
  Chain chain;
  chain.then([&] { return cusolverDnSgeqrf_bufferSize(solver, m, n, nullptr, m, &factors); })
      .then([&] {
        return cusolverDnSormqr_bufferSize(solver, CUBLAS_SIDE_LEFT, CUBLAS_OP_T, m, 1, n, nullptr,
                                           m, nullptr, nullptr, m, &product);
      })
      .then([&] {
        return cub::DeviceRadixSort::SortKeys(nullptr, for_sort, static_cast<const float*>(nullptr),
                                              static_cast<float*>(nullptr), m, 0, bits, stream);
      })
      .then([&] {
        return cub::DeviceSelect::Flagged(nullptr, for_select, numbers,
                                          static_cast<char*>(nullptr), d_kept,
                                          static_cast<int*>(nullptr), m, stream);
      });
  const int floats = factors > product ? factors : product;
  const size_t temporary = for_sort > for_select ? for_sort : for_select;
  const size_t rows = (static_cast<size_t>(m) + 63) / 64 * 64;  // of 256 bytes
  char* memory = nullptr;
  const size_t own = 4 * (rows * n + 4 * rows + 64 + (floats + 63) / 64 * 64 + 128) + rows;
  const auto take_memory = [&] {
    return cudaMallocAsync(reinterpret_cast<void**>(&memory), own + temporary, stream);
  };
  if (!chain.then(take_memory).ok) return false;
  Arrays at = {};
  float* next = reinterpret_cast<float*>(memory);
  at.w = next, next += rows * n;
  for (float** const array : {&at.y, &at.far, &at.sorted, &at.weight}) *array = next, next += rows;
  at.tau = next, next += 64;
  at.work = next, next += (floats + 63) / 64 * 64;
  at.info = reinterpret_cast<int*>(next), next += 64;
  at.count = reinterpret_cast<int*>(next), next += 64;
  at.flag = reinterpret_cast<char*>(next);
  at.sort = at.flag + rows;

  const auto turn_around = [&] {
    return cublasSgeam(blas, CUBLAS_OP_T, CUBLAS_OP_N, m, n, &one, d_a, n, &zero, at.w, m, at.w, m);
  };
  const auto solve = [&] {
    chain.then([&] {
           return cusolverDnSgeqrf(solver, m, n, at.w, m, at.tau, at.work, floats, at.info);
         })
        .then([&] {
          return cusolverDnSormqr(solver, CUBLAS_SIDE_LEFT, CUBLAS_OP_T, m, 1, n, at.w, m, at.tau,
                                  at.y, m, at.work, floats, at.info);
        })
        .then([&] {
          return cublasStrsv(blas, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT, n,
                             at.w, m, at.y, 1);
        });
  };
  chain.then(turn_around).then([&] { return cublasScopy(blas, m, d_b, 1, at.y, 1); });
  solve();
  chain.then([&] { return cublasScopy(blas, m, d_b, 1, at.far, 1); })
      .then([&] {
        return cublasSgemv(blas, CUBLAS_OP_T, n, m, &one, d_a, n, at.y, 1, &minus_one, at.far, 1);
      })
      .then([&] {
        without_sign<<<(m + 127) / 128, 128, 0, stream>>>(at.far, m);
        return cudaGetLastError();
      })
      .then([&] {
        return cub::DeviceRadixSort::SortKeys(at.sort, for_sort,
                                              static_cast<const float*>(at.far), at.sorted, m, 0,
                                              bits, stream);
      })
      .then([&] {
        weigh<<<(m + 127) / 128, 128, 0, stream>>>(at.far, at.sorted + keep - 1, at.weight, at.flag,
                                                   m);
        return cudaGetLastError();
      })
      .then([&] {
        return cub::DeviceSelect::Flagged(at.sort, for_select, numbers, at.flag, d_kept, at.count,
                                          m, stream);
      })
      .then(turn_around)
      .then([&] {
        return cublasSdgmm(blas, CUBLAS_SIDE_LEFT, m, n, at.w, m, at.weight, 1, at.w, m);
      })
      .then([&] { return cublasSdgmm(blas, CUBLAS_SIDE_LEFT, m, 1, d_b, m, at.weight, 1, at.y, m); });
  solve();
  chain.then([&] { return cublasScopy(blas, n, at.y, 1, d_x, 1); });
  return cudaFreeAsync(memory, stream) == cudaSuccess && chain.ok;
}
