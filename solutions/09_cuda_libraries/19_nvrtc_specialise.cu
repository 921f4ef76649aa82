// 09/19 NVRTC: a kernel that is compiled while the program runs, for the width that it needs now.
//   Exercise 07/05 had two answers to a tile width that is known late: a variable, which the
//   compiler cannot unroll, and a template for each width that somebody foresaw. The third: hand
//   the source to the compiler once the width is known, as a constant, for the card that is there.
//   nvrtc... calls the compiler, cu... the driver: cuda_runtime's <<<>>> knows no such kernel.
//   TODOs  3
#include "19_nvrtc_specialise.h"

nvrtcResult compile_for(const std::string& source, int tile, int major, int minor,
                        std::string* code, std::string* log) {
  //~ // TODO(1): Compile the source for this card, with TILE as a constant. What the compiler
  //~ // has to say goes to *log, also where it refuses; *code is machine code, or as it was.
  //~ // No program of NVRTC is left behind.
  //~ static_cast<void>(source), static_cast<void>(tile + major + minor);
  //~ static_cast<void>(code), static_cast<void>(log);
  //~ return NVRTC_ERROR_INVALID_INPUT;
  //~begin 1
  nvrtcProgram program = nullptr;
  const nvrtcResult created =
      nvrtcCreateProgram(&program, source.c_str(), "specialised.cu", 0, nullptr, nullptr);
  if (created != NVRTC_SUCCESS) return created;
  const std::string define = "-DTILE=" + std::to_string(tile);
  const std::string target = "-arch=sm_" + std::to_string(10 * major + minor);
  const char* const options[] = {define.c_str(), target.c_str()};
  nvrtcResult status = nvrtcCompileProgram(program, 2, options);
  size_t size = 0;
  log->clear();
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
  //~end
}

CUresult load(const std::string& code, const char* kernel, Specialised* loaded) {
  //~ // TODO(2): The kernel of that name must be ready to be launched.
  //~ static_cast<void>(code), static_cast<void>(kernel);
  //~ return loaded->function != nullptr ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
  //~begin 2
  const CUresult status = cuModuleLoadData(&loaded->module, code.data());
  if (status != CUDA_SUCCESS) return status;
  return cuModuleGetFunction(&loaded->function, loaded->module, kernel);
  //~end
}

CUresult launch_specialised(const Specialised& kernel, int tile, const float* d_a, const float* d_b,
                            float* d_c, int m, int n, int k, CUstream stream) {
  //~ // TODO(3): c = a b by this kernel, whatever the sizes. The driver knows no types: it is
  //~ // told where each argument lies.
  //~ static_cast<void>(d_a), static_cast<void>(d_b), static_cast<void>(d_c);
  //~ static_cast<void>(tile + m + n + k), static_cast<void>(stream);
  //~ return kernel.function == nullptr ? CUDA_ERROR_INVALID_HANDLE : CUDA_SUCCESS;
  //~begin 3
  if (m == 0 || n == 0) return CUDA_SUCCESS;
  const unsigned across = n / tile + (n % tile != 0), down = m / tile + (m % tile != 0);
  void* arguments[] = {&d_a, &d_b, &d_c, &m, &n, &k};
  return cuLaunchKernel(kernel.function, across, down, 1, tile, tile, 1, 0, stream, arguments,
                        nullptr);
  //~end
}
