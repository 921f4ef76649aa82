// Finds the shared object of a library beside the running program, and its functions by name.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "kit/kit.h"
#include "kit/libraries/entry_points.h"
#include "kit/libraries/libraries.h"

namespace kit {
namespace {

// CMake writes libwarplings_NAME.so into the folder of the exercises' programs.
void* open_object(const std::string& name) {
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return nullptr;
  return dlopen((program.parent_path() / ("libwarplings_" + name + ".so")).c_str(),
                RTLD_NOW | RTLD_LOCAL);
}

void* object(const std::string& name) {
  static std::map<std::string, void*> opened;
  const auto found = opened.find(name);
  if (found != opened.end()) return found->second;
  return opened[name] = open_object(name);
}

Library library_called(const std::string& title, const std::string& name) {
  if (simulated()) return {title, "the simulator has no time for " + title};
  if (object(name) == nullptr) return {title, title + " is not installed here"};
  return {title, ""};
}

[[noreturn]] void stop(const char* function, const char* reason) {
  std::fprintf(stderr, "%s: %s\n", function, reason);
  std::abort();
}

template <class... Arguments>
void call(const char* name, const char* function, const char* (*)(Arguments...),
          Arguments... arguments) {
  void* const library = object(name);
  void* const address = library == nullptr ? nullptr : dlsym(library, function);
  if (address == nullptr) stop(function, "its library is not installed here");
  const auto entry = reinterpret_cast<const char* (*)(Arguments...)>(address);
  if (const char* reason = entry(arguments...)) stop(function, reason);
}

}  // namespace

Library cub() { return library_called("CUB", "cub"); }
Library cublas() { return library_called("cuBLAS", "cublas"); }
Library cudnn() { return library_called("cuDNN", "cudnn"); }
Library cufft() { return library_called("cuFFT", "cufft"); }
Library nccl() { return library_called("NCCL", "nccl"); }

// The type of the entry point comes from its declaration; it is never linked, so decltype alone.
#define WARPLINGS_CALL(name, function, ...) \
  call(name, #function, static_cast<decltype(&function)>(nullptr), __VA_ARGS__)

void cub_sum(const float* in, float* out, size_t n) {
  WARPLINGS_CALL("cub", warplings_cub_sum, in, out, n);
}
void cub_inclusive_sum(const float* in, float* out, size_t n) {
  WARPLINGS_CALL("cub", warplings_cub_inclusive_sum, in, out, n);
}
void cub_exclusive_sum(const float* in, float* out, size_t n) {
  WARPLINGS_CALL("cub", warplings_cub_exclusive_sum, in, out, n);
}
void cub_histogram(const uint8_t* in, unsigned* counts, size_t n) {
  WARPLINGS_CALL("cub", warplings_cub_histogram, in, counts, n);
}
void cublas_transpose(const float* in, float* out, int rows, int cols) {
  WARPLINGS_CALL("cublas", warplings_cublas_transpose, in, out, rows, cols);
}
void cublas_sgemm(const float* a, const float* b, float* c, int m, int n, int k) {
  WARPLINGS_CALL("cublas", warplings_cublas_sgemm, a, b, c, m, n, k);
}
void cublas_bf16(const uint16_t* a, const uint16_t* b, float* c, int m, int n, int k) {
  WARPLINGS_CALL("cublas", warplings_cublas_bf16, a, b, c, m, n, k);
}
void cudnn_softmax(const float* in, float* out, int rows, int cols) {
  WARPLINGS_CALL("cudnn", warplings_cudnn_softmax, in, out, rows, cols);
}
void cudnn_conv_gemm(const float* x, const float* f, float* y, const ConvSizes& sizes) {
  WARPLINGS_CALL("cudnn", warplings_cudnn_conv_gemm, x, f, y, &sizes);
}
void cudnn_conv_best(const float* x, const float* f, float* y, const ConvSizes& sizes) {
  WARPLINGS_CALL("cudnn", warplings_cudnn_conv_best, x, f, y, &sizes);
}
void cufft_forward(const float2* x, float2* y, int n, int batch) {
  WARPLINGS_CALL("cufft", warplings_cufft_forward, x, y, n, batch);
}
void cufft_correlate(const float* image, const float* filter, float* square, int height, int width,
                     int filter_height, int filter_width) {
  WARPLINGS_CALL("cufft", warplings_cufft_correlate, image, filter, square, height, width,
                 filter_height, filter_width);
}
void nccl_all_reduce(const float* const* in, float* const* out, size_t n, int devices) {
  WARPLINGS_CALL("nccl", warplings_nccl_all_reduce, in, out, n, devices);
}

#undef WARPLINGS_CALL

}  // namespace kit
