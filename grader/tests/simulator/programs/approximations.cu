// How far the .approx instructions are from the function, in bits: a row per instruction and range
// of the argument, the largest and the mean error of kArguments of them. Fails where an error is
// larger than NVIDIA documents (PTX ISA, "Floating Point Instructions"; for angles outside
// [-pi, pi], where it states none, than range reduction by one product allows), and where it is so
// small that something else than the approximation was computed. The same program on a GPU:
//
//   nvcc -std=c++17 -arch=native approximations.cu -o approximations && ./approximations
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "check.h"

namespace {

constexpr int kArguments = 1 << 14;
constexpr double kPi = 3.14159265358979323846;

enum Function { kRcp, kSqrt, kRsqrt, kEx2, kLg2, kSin, kCos, kTanh, kDiv, kDivFull, kFunctions };

__device__ float approximation(Function function, float x) {
  float y = 0;
  switch (function) {
    case kRcp:
      asm("rcp.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
      break;
    case kSqrt:
      asm("sqrt.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
      break;
    case kRsqrt:
      asm("rsqrt.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
      break;
    case kEx2:
      asm("ex2.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
      break;
    case kLg2:
      asm("lg2.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
      break;
    case kSin:
      asm("sin.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
      break;
    case kCos:
      asm("cos.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
      break;
    case kTanh:
      asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
      break;
    case kDiv:
      asm("div.approx.f32 %0, 0f40400000, %1;" : "=f"(y) : "f"(x));
      break;
    case kDivFull:
      asm("div.full.f32 %0, 0f40400000, %1;" : "=f"(y) : "f"(x));
      break;
    case kFunctions:
      break;
  }
  return y;
}

__global__ void approximate(Function function, const float* x, float* y, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) y[i] = approximation(function, x[i]);
}

double exact(Function function, double x) {
  switch (function) {
    case kRcp:
      return 1 / x;
    case kSqrt:
      return std::sqrt(x);
    case kRsqrt:
      return 1 / std::sqrt(x);
    case kEx2:
      return std::exp2(x);
    case kLg2:
      return std::log2(x);
    case kSin:
      return std::sin(x);
    case kCos:
      return std::cos(x);
    case kTanh:
      return std::tanh(x);
    case kDiv:
    case kDivFull:
      return 3 / x;
    case kFunctions:
      break;
  }
  return 0;
}

struct Row {
  const char* name;
  Function function;
  double from, to;  // of the argument; by its logarithm where both are positive
  bool relative;
  double bound;  // of the error
};

// In `n` steps of one and the same sequence, so that every machine gets the same arguments.
std::vector<float> arguments(const Row& row, int n) {
  std::vector<float> x;
  uint64_t state = 0x9E3779B97F4A7C15u;
  for (int i = 0; i < n; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const double u = static_cast<double>(state >> 11) * 0x1p-53;
    const bool by_logarithm = row.from > 0;
    x.push_back(static_cast<float>(by_logarithm ? row.from * std::pow(row.to / row.from, u)
                                                : row.from + (row.to - row.from) * u));
  }
  return x;
}

std::vector<float> results(Function function, const std::vector<float>& x) {
  const size_t bytes = x.size() * sizeof(float);
  const int n = static_cast<int>(x.size());
  float *d_x = nullptr, *d_y = nullptr;
  CHECK_CUDA(cudaMalloc(&d_x, bytes));
  CHECK_CUDA(cudaMalloc(&d_y, bytes));
  CHECK_CUDA(cudaMemcpy(d_x, x.data(), bytes, cudaMemcpyHostToDevice));
  approximate<<<(n + 255) / 256, 256>>>(function, d_x, d_y, n);
  CHECK_CUDA(cudaGetLastError());
  std::vector<float> y(x.size());
  CHECK_CUDA(cudaMemcpy(y.data(), d_y, bytes, cudaMemcpyDeviceToHost));
  CHECK_CUDA(cudaFree(d_x));
  CHECK_CUDA(cudaFree(d_y));
  return y;
}

bool within_bounds(const Row& row) {
  const std::vector<float> x = arguments(row, kArguments);
  const std::vector<float> y = results(row.function, x);
  double most = 0, sum = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double wanted = exact(row.function, static_cast<double>(x[i]));
    double error = std::fabs(static_cast<double>(y[i]) - wanted);
    if (row.relative) error /= std::fabs(wanted);
    most = std::fmax(most, error);
    sum += error;
  }
  const bool in_bounds = most <= row.bound && most >= row.bound / 16;
  std::printf("%-13s %9.3g %9.3g  %s  %7.2f %7.2f  documented %6.2f%s\n", row.name, row.from, row.to,
              row.relative ? "relative" : "absolute", std::log2(most), std::log2(sum / kArguments),
              std::log2(row.bound), in_bounds ? "" : "  NOT IN BOUNDS");
  return in_bounds;
}

std::vector<Row> rows() {
  // One unit in the last place is at most 2^-23 of the value.
  std::vector<Row> all = {
      {"rcp", kRcp, 1e-3, 1e3, true, std::exp2(-23)},
      {"sqrt", kSqrt, 1e-3, 1e3, true, std::exp2(-23)},
      {"rsqrt", kRsqrt, 1e-3, 1e3, true, std::exp2(-22.9)},
      {"ex2", kEx2, -20, 20, true, std::exp2(-22)},
      {"ex2", kEx2, 1e-4, 1, true, std::exp2(-22)},
      {"lg2", kLg2, 0.5, 2, false, std::exp2(-22)},
      {"lg2", kLg2, 2, 1e6, true, std::exp2(-22)},
      {"lg2", kLg2, 1e-6, 0.5, true, std::exp2(-22)},
      {"tanh", kTanh, 1e-2, 8, true, std::exp2(-10.987)},
      {"div", kDiv, 1e-3, 1e3, true, std::exp2(-22)},
      {"div.full", kDivFull, 1e-3, 1e3, true, std::exp2(-22)},
      {"sin", kSin, -kPi, kPi, false, std::exp2(-20.5)},
      {"cos", kCos, -kPi, kPi, false, std::exp2(-20.5)},
  };
  // 1 / (2 pi) as a float is off by 2^-24.6 of it, the product by 2^-23 of itself.
  for (double decade = 10; decade < 1e5; decade *= 10) {
    const double bound = std::exp2(-20.5) + 10 * decade * (std::exp2(-24.5) + std::exp2(-23));
    all.push_back({"sin", kSin, decade, 10 * decade, false, bound});
    all.push_back({"cos", kCos, decade, 10 * decade, false, bound});
  }
  return all;
}

}  // namespace

int main() {
  std::printf("instruction        from        to     error  largest    mean  as powers of two\n");
  bool good = true;
  for (const Row& row : rows()) good = within_bounds(row) && good;
  return good ? 0 : 1;
}
