// Libraries of CUDA behind their shared objects, as `grade exec` runs programs that are already
// built: kernels and calls of three libraries in one stream.
#include <cublas_v2.h>
#include <cufft.h>
#include <curand.h>

#include "check.h"

__global__ void scale(cufftComplex* x, float factor, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    x[i].x *= factor;
    x[i].y *= factor;
  }
}

int main() {
  constexpr int kPoints = 1000;
  cudaStream_t stream = nullptr;
  float *x = nullptr, *back = nullptr;
  CHECK_CUDA(cudaStreamCreate(&stream));
  CHECK_CUDA(cudaMalloc(&x, 2 * kPoints * sizeof(float)));
  CHECK_CUDA(cudaMalloc(&back, 2 * kPoints * sizeof(float)));
  curandGenerator_t generator = nullptr;
  CHECK(curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_PHILOX4_32_10) ==
        CURAND_STATUS_SUCCESS);
  CHECK(curandSetStream(generator, stream) == CURAND_STATUS_SUCCESS);
  CHECK(curandGenerateUniform(generator, x, 2 * kPoints) == CURAND_STATUS_SUCCESS);

  // There and back again, divided by n in between.
  cufftHandle plan = 0;
  auto* spectrum = reinterpret_cast<cufftComplex*>(back);
  CHECK(cufftPlan1d(&plan, kPoints, CUFFT_C2C, 1) == CUFFT_SUCCESS);
  CHECK(cufftSetStream(plan, stream) == CUFFT_SUCCESS);
  CHECK(cufftExecC2C(plan, reinterpret_cast<cufftComplex*>(x), spectrum, CUFFT_FORWARD) ==
        CUFFT_SUCCESS);
  scale<<<(kPoints + 255) / 256, 256, 0, stream>>>(spectrum, 1.0F / kPoints, kPoints);
  CHECK_CUDA(cudaGetLastError());
  CHECK(cufftExecC2C(plan, spectrum, spectrum, CUFFT_INVERSE) == CUFFT_SUCCESS);

  // The difference is small.
  cublasHandle_t handle = nullptr;
  const float minus_one = -1;
  float difference = 0, size = 0;
  CHECK(cublasCreate(&handle) == CUBLAS_STATUS_SUCCESS);
  CHECK(cublasSetStream(handle, stream) == CUBLAS_STATUS_SUCCESS);
  CHECK(cublasSnrm2(handle, 2 * kPoints, x, 1, &size) == CUBLAS_STATUS_SUCCESS);
  CHECK(cublasSaxpy(handle, 2 * kPoints, &minus_one, x, 1, back, 1) == CUBLAS_STATUS_SUCCESS);
  CHECK(cublasSnrm2(handle, 2 * kPoints, back, 1, &difference) == CUBLAS_STATUS_SUCCESS);
  CHECK(size > 10);
  CHECK(difference < 1e-6F * size);

  CHECK(cublasDestroy(handle) == CUBLAS_STATUS_SUCCESS);
  CHECK(cufftDestroy(plan) == CUFFT_SUCCESS);
  CHECK(curandDestroyGenerator(generator) == CURAND_STATUS_SUCCESS);
  CHECK_CUDA(cudaFree(back));
  CHECK_CUDA(cudaFree(x));
  CHECK_CUDA(cudaStreamDestroy(stream));
}
