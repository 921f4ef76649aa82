// cuFFT. A plan for each shape, made at its first call.
#include <cufft.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "kit/libraries/entry_points.h"

namespace {

const char* text(const char* call, cufftResult result) {
  if (result == CUFFT_SUCCESS) return nullptr;
  static std::string message;
  message = std::string(call) + " returned " + std::to_string(static_cast<int>(result));
  return message.c_str();
}

// a[i] = scale a[i] conjugate(b[i]).
__global__ void correlate_spectra(float2* a, const float2* b, size_t n, float scale) {
  for (size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x; i < n;
       i += size_t{gridDim.x} * blockDim.x) {
    const float2 p = a[i], q = b[i];
    a[i] = make_float2(scale * (p.x * q.x + p.y * q.y), scale * (p.y * q.x - p.x * q.y));
  }
}

// A square of n x n points: plans, the filter with zeros around it, and both spectra.
struct Square {
  int n = 0;
  cufftHandle forward = 0, inverse = 0;
  float *image = nullptr, *filter = nullptr;
  float2 *image_spectrum = nullptr, *filter_spectrum = nullptr;

  const char* make(int points) {
    n = points;
    const size_t real = sizeof(float) * n * n, half = sizeof(float2) * n * (n / 2 + 1);
    if (const char* failed = text("cufftPlan2d", cufftPlan2d(&forward, n, n, CUFFT_R2C))) {
      return failed;
    }
    if (const char* failed = text("cufftPlan2d", cufftPlan2d(&inverse, n, n, CUFFT_C2R))) {
      return failed;
    }
    for (float** memory : {&image, &filter}) {
      if (cudaMalloc(memory, real) != cudaSuccess) return "cudaMalloc failed";
      if (cudaMemset(*memory, 0, real) != cudaSuccess) return "cudaMemset failed";
    }
    for (float2** memory : {&image_spectrum, &filter_spectrum}) {
      if (cudaMalloc(memory, half) != cudaSuccess) return "cudaMalloc failed";
    }
    return nullptr;
  }
};

const char* copy_into_square(float* square, int n, const float* from, int rows, int cols) {
  const cudaError_t status =
      cudaMemcpy2DAsync(square, n * sizeof(float), from, cols * sizeof(float), cols * sizeof(float),
                        rows, cudaMemcpyDeviceToDevice);
  return status == cudaSuccess ? nullptr : cudaGetErrorString(status);
}

}  // namespace

const char* warplings_cufft_forward(const float2* x, float2* y, int n, int batch) {
  static std::map<std::pair<int, int>, cufftHandle> plans;  // by n and batch
  const auto shape = std::make_pair(n, batch);
  if (plans.count(shape) == 0) {
    cufftHandle fresh = 0;
    if (const char* failed = text("cufftPlan1d", cufftPlan1d(&fresh, n, CUFFT_C2C, batch))) {
      return failed;
    }
    plans[shape] = fresh;
  }
  // Out of place, a transform leaves its input as it is; the interface lacks the const.
  return text("cufftExecC2C", cufftExecC2C(plans[shape], const_cast<float2*>(x), y, CUFFT_FORWARD));
}

const char* warplings_cufft_correlate(const float* image, const float* filter, float* square,
                                      int height, int width, int filter_height, int filter_width) {
  static std::map<int, Square> squares;  // by n
  int n = 1;  // powers of two were the fastest of 2048 .. 2304 on an H200
  while (n < std::max(height, width)) n *= 2;
  Square& s = squares[n];
  if (s.n == 0) {
    if (const char* failed = s.make(n)) return failed;
  }
  const float* whole = image;
  if (height != n || width != n) {
    whole = s.image;
    if (const char* failed = copy_into_square(s.image, n, image, height, width)) return failed;
  }
  if (const char* failed = copy_into_square(s.filter, n, filter, filter_height, filter_width)) {
    return failed;
  }
  cufftResult result = cufftExecR2C(s.forward, const_cast<float*>(whole), s.image_spectrum);
  if (result == CUFFT_SUCCESS) result = cufftExecR2C(s.forward, s.filter, s.filter_spectrum);
  if (result != CUFFT_SUCCESS) return text("cufftExecR2C", result);
  const size_t half = static_cast<size_t>(n) * (n / 2 + 1);
  correlate_spectra<<<1024, 256>>>(s.image_spectrum, s.filter_spectrum, half,
                                   1.0f / (static_cast<float>(n) * n));
  return text("cufftExecC2R", cufftExecC2R(s.inverse, s.image_spectrum, square));
}
