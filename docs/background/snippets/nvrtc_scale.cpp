// A kernel that is compiled while the program runs, with its width as a constant.
#include <cuda.h>
#include <nvrtc.h>

#include <cstdio>
#include <string>
#include <vector>

int main() {
  const char* source =
      "extern \"C\" __global__ void fill(int* out) { out[threadIdx.x] = WIDTH * threadIdx.x; }";
  const char* options[] = {"-arch=sm_90", "-DWIDTH=3"};
  nvrtcProgram program;
  nvrtcCreateProgram(&program, source, "fill.cu", 0, nullptr, nullptr);
  if (nvrtcCompileProgram(program, 2, options) != NVRTC_SUCCESS) return 1;
  size_t size = 0;
  nvrtcGetCUBINSize(program, &size);
  std::vector<char> cubin(size);
  nvrtcGetCUBIN(program, cubin.data());
  nvrtcDestroyProgram(&program);

  cuInit(0);
  CUdevice device;
  CUcontext context;
  cuDeviceGet(&device, 0);
  cuDevicePrimaryCtxRetain(&context, device);
  cuCtxSetCurrent(context);
  CUmodule module;
  CUfunction fill;
  if (cuModuleLoadData(&module, cubin.data()) != CUDA_SUCCESS) return 2;
  cuModuleGetFunction(&fill, module, "fill");
  CUdeviceptr out;
  cuMemAlloc(&out, 4 * sizeof(int));
  void* arguments[] = {&out};
  cuLaunchKernel(fill, 1, 1, 1, 4, 1, 1, 0, nullptr, arguments, nullptr);
  int result[4];
  cuMemcpyDtoH(result, out, sizeof result);
  std::printf("%d %d %d %d\n", result[0], result[1], result[2], result[3]);
}
