// A program that knows NVRTC and the driver alone: y = 3 x + y, compiled to machine code while it
// runs.
#include <cuda.h>
#include <nvrtc.h>

#include <cstdio>
#include <string>
#include <vector>

namespace {

constexpr char kSource[] = R"(
extern "C" __global__ void saxpy(float a, const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
)";

bool ok(CUresult result, const char* what) {
  if (result == CUDA_SUCCESS) return true;
  const char* name = "?";
  cuGetErrorName(result, &name);
  std::printf("%s: %s\n", what, name);
  return false;
}

std::string machine_code(const char* option) {
  nvrtcProgram program = nullptr;
  nvrtcCreateProgram(&program, kSource, "saxpy.cu", 0, nullptr, nullptr);
  std::string code;
  size_t size = 0;
  if (nvrtcCompileProgram(program, 1, &option) == NVRTC_SUCCESS &&
      nvrtcGetCUBINSize(program, &size) == NVRTC_SUCCESS && size > 0) {
    code.resize(size);
    nvrtcGetCUBIN(program, code.data());
  }
  nvrtcDestroyProgram(&program);
  return code;
}

}  // namespace

int main() {
  if (!machine_code("-arch=compute_80").empty()) {
    std::puts("a virtual architecture has no machine code");
    return 1;
  }
  const std::string code = machine_code("-arch=sm_80");
  int n = 1000;
  float factor = 3;
  const size_t bytes = static_cast<size_t>(n) * sizeof(float);
  std::vector<float> x(n, 2.0F), y(n, 1.0F);
  CUdevice device = 0;
  CUcontext context = nullptr, current = nullptr;
  CUmodule module = nullptr;
  CUfunction kernel = nullptr;
  CUdeviceptr d_x = 0, d_y = 0;
  void* arguments[] = {&factor, &d_x, &d_y, &n};
  const bool done =
      ok(cuInit(0), "cuInit") && ok(cuDeviceGet(&device, 0), "cuDeviceGet") &&
      ok(cuCtxCreate(&context, nullptr, 0, device), "cuCtxCreate") &&
      ok(cuCtxGetCurrent(&current), "cuCtxGetCurrent") && current == context &&
      ok(cuModuleLoadData(&module, code.data()), "cuModuleLoadData") &&
      ok(cuModuleGetFunction(&kernel, module, "saxpy"), "cuModuleGetFunction") &&
      ok(cuMemAlloc(&d_x, bytes), "cuMemAlloc") && ok(cuMemAlloc(&d_y, bytes), "cuMemAlloc") &&
      ok(cuMemcpyHtoD(d_x, x.data(), bytes), "cuMemcpyHtoD") &&
      ok(cuMemcpyHtoD(d_y, y.data(), bytes), "cuMemcpyHtoD") &&
      ok(cuLaunchKernel(kernel, 8, 1, 1, 128, 1, 1, 0, nullptr, arguments, nullptr),
         "cuLaunchKernel") &&
      ok(cuMemcpyDtoH(y.data(), d_y, bytes), "cuMemcpyDtoH") && ok(cuMemFree(d_x), "cuMemFree") &&
      ok(cuMemFree(d_y), "cuMemFree") && ok(cuModuleUnload(module), "cuModuleUnload") &&
      ok(cuCtxDestroy(context), "cuCtxDestroy");
  if (!done) return 1;
  for (const float value : y) {
    if (value != 7) {
      std::printf("%g instead of 7\n", value);
      return 1;
    }
  }
  std::puts("1000 times 7");
  return 0;
}
