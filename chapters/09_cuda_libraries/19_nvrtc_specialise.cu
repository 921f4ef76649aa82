// 09/19 NVRTC: a kernel that is compiled while the program runs, for the width that it needs now.
//   Exercise 07/05 had two answers to a tile width that is known late: a variable, which the
//   compiler cannot unroll, and a template for each width that somebody foresaw. The third: hand
//   the source to the compiler once the width is known, as a constant, for the card that is there.
//   nvrtc... calls the compiler, cu... the driver: cuda_runtime's <<<>>> knows no such kernel.
//   TODOs  3
#include "19_nvrtc_specialise.h"

nvrtcResult compile_for(const std::string& source, int tile, int major, int minor,
                        std::string* code, std::string* log) {
  nvrtcProgram program = nullptr;
  const nvrtcResult created =
      nvrtcCreateProgram(&program, source.c_str(), "specialised.cu", 0, nullptr, nullptr);
  if (created != NVRTC_SUCCESS) return created;
  // TODO(1): Two options for the compiler: one defines TILE, one names the real architecture, such
  // as sm_90, so that the result is machine code (4 lines).
  static_cast<void>(tile + major + minor);
  nvrtcResult status = nvrtcCompileProgram(program, 0, nullptr);
  size_t size = 0;
  if (nvrtcGetProgramLogSize(program, &size) == NVRTC_SUCCESS && size > 1) {  // 1: its end
    log->resize(size);
    nvrtcGetProgramLog(program, &(*log)[0]);
    log->pop_back();
  }
  if (status == NVRTC_SUCCESS) status = nvrtcGetCUBINSize(program, &size);
  if (status == NVRTC_SUCCESS) {
    code->resize(size);
    status = nvrtcGetCUBIN(program, &(*code)[0]);
  }
  nvrtcDestroyProgram(&program);
  return status;
}

CUresult load(const std::string& code, const char* kernel, Specialised* loaded) {
  // TODO(2): Load the module from memory, then find the function in it by its name (3 lines).
  static_cast<void>(code), static_cast<void>(kernel);
  return loaded->function != nullptr ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult launch_specialised(const Specialised& kernel, int tile, const float* d_a, const float* d_b,
                            float* d_c, int m, int n, int k, CUstream stream) {
  if (m == 0 || n == 0) return CUDA_SUCCESS;
  const unsigned across = (n + tile - 1) / tile, down = (m + tile - 1) / tile;
  // TODO(3): An array of the addresses of the six arguments, in the order of the kernel, and
  // cuLaunchKernel: grid, block, shared bytes (none), stream, that array (4 lines).
  static_cast<void>(d_a), static_cast<void>(d_b), static_cast<void>(d_c);
  static_cast<void>(k), static_cast<void>(stream), static_cast<void>(across + down);
  return kernel.function == nullptr ? CUDA_ERROR_INVALID_HANDLE : CUDA_SUCCESS;
}
