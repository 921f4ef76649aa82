// PTX, which the driver compiles further when it is loaded, and options in another spelling.
#include <vector>

#include "19_nvrtc_specialise.h"

nvrtcResult compile_for(const std::string& source, int tile, int major, int minor,
                        std::string* code, std::string* log) {
  const std::string text = "#define TILE " + std::to_string(tile) + "\n" + source;
  const std::string target =
      "--gpu-architecture=compute_" + std::to_string(major) + std::to_string(minor);
  const std::vector<const char*> options = {target.c_str(), "--std=c++17"};
  nvrtcProgram program = nullptr;
  nvrtcResult status = nvrtcCreateProgram(&program, text.c_str(), nullptr, 0, nullptr, nullptr);
  if (status != NVRTC_SUCCESS) return status;
  status = nvrtcCompileProgram(program, static_cast<int>(options.size()), options.data());
  size_t size = 0;
  nvrtcGetProgramLogSize(program, &size);
  std::vector<char> said(size + 1, '\0');
  nvrtcGetProgramLog(program, said.data());
  *log = said.data();
  if (status == NVRTC_SUCCESS) {
    nvrtcGetPTXSize(program, &size);
    code->assign(size, '\0');
    status = nvrtcGetPTX(program, code->data());
  }
  nvrtcDestroyProgram(&program);
  return status;
}

CUresult load(const std::string& code, const char* kernel, Specialised* loaded) {
  CUresult status = cuModuleLoadDataEx(&loaded->module, code.c_str(), 0, nullptr, nullptr);
  if (status == CUDA_SUCCESS) {
    status = cuModuleGetFunction(&loaded->function, loaded->module, kernel);
  }
  return status;
}

CUresult launch_specialised(const Specialised& kernel, int tile, const float* d_a, const float* d_b,
                            float* d_c, int m, int n, int k, CUstream stream) {
  if (m == 0 || n == 0) return CUDA_SUCCESS;
  CUdeviceptr pointers[] = {reinterpret_cast<CUdeviceptr>(d_a), reinterpret_cast<CUdeviceptr>(d_b),
                            reinterpret_cast<CUdeviceptr>(d_c)};
  int sizes[] = {m, n, k};
  void* arguments[] = {&pointers[0], &pointers[1], &pointers[2], &sizes[0], &sizes[1], &sizes[2]};
  const auto blocks = [&](int length) { return static_cast<unsigned>((length + tile - 1) / tile); };
  return cuLaunchKernel(kernel.function, blocks(n), blocks(m), 1, tile, tile, 1, 0, stream,
                        arguments, nullptr);
}
