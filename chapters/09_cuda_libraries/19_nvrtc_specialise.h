// 09/19 NVRTC: what the test calls.
#ifndef CHAPTERS_09_CUDA_LIBRARIES_19_NVRTC_SPECIALISE_H_
#define CHAPTERS_09_CUDA_LIBRARIES_19_NVRTC_SPECIALISE_H_

#include <cuda.h>
#include <nvrtc.h>

#include <string>

// Machine code for compute capability major.minor of the CUDA C++ in `source`, with TILE defined as
// `tile`. *log: what the compiler has to say, "" if nothing; set on failure too. *code is left
// alone on failure.
nvrtcResult compile_for(const std::string& source, int tile, int major, int minor,
                        std::string* code, std::string* log);

// A kernel for one tile width, loaded into the current context.
struct Specialised {
  CUmodule module = nullptr;
  CUfunction function = nullptr;
};
CUresult load(const std::string& code, const char* kernel, Specialised* loaded);

// c = a b with the kernel of a source that was compiled for `tile`: blocks of tile x tile threads,
// one thread per element. a: m x k, b: k x n, c: m x n floats, row-major, in device memory; an int
// counts the elements of each, and any of the sizes may be 0. c has no more rows of tiles than a
// grid may have blocks in y. Does not wait.
CUresult launch_specialised(const Specialised& kernel, int tile, const float* d_a, const float* d_b,
                            float* d_c, int m, int n, int k, CUstream stream);

#endif  // CHAPTERS_09_CUDA_LIBRARIES_19_NVRTC_SPECIALISE_H_
