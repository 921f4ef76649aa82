// Device code that a program loads while it runs, in the CUDA runtime API.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>

#include "runtime/api.h"
#include "runtime/registry.h"

using namespace warplings::sim;

namespace {

// nullptr if the handle is no loaded library.
FatBinary* find(cudaLibrary_t handle) {
  auto* const binary = reinterpret_cast<FatBinary*>(handle);
  return Registry::instance().is_loaded_code(binary) ? binary : nullptr;
}

cudaError_t load(cudaLibrary_t* library, const void* code) {
  if (library == nullptr || code == nullptr) return cudaErrorInvalidValue;
  FatBinary* const binary = Registry::instance().add_code(code);
  if (binary == nullptr) return cudaErrorInvalidKernelImage;
  const cudaError_t error = Registry::instance().load(binary);
  if (error == cudaSuccess) {
    *library = reinterpret_cast<cudaLibrary_t>(binary);
  } else {
    binary->unregistered = true;
  }
  return error;
}

cudaError_t variable(cudaLibrary_t handle, const char* name, void** pointer, size_t* bytes) {
  FatBinary* const binary = find(handle);
  if (binary == nullptr) return cudaErrorInvalidResourceHandle;
  uint64_t address = 0, size = 0;
  if (name == nullptr || !Registry::instance().variable_named(binary, name, &address, &size)) {
    return cudaErrorSymbolNotFound;
  }
  if (pointer != nullptr) *pointer = reinterpret_cast<void*>(address);
  if (bytes != nullptr) *bytes = size;
  return cudaSuccess;
}

}  // namespace

extern "C" {

// The options are for a compiler that does not run here.
cudaError_t cudaLibraryLoadData(cudaLibrary_t* library, const void* code, cudaJitOption*, void**,
                                unsigned, cudaLibraryOption*, void**, unsigned) {
  return WARPLINGS_API { return load(library, code); };
}

cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t* library, const char* path, cudaJitOption*,
                                    void**, unsigned, cudaLibraryOption*, void**, unsigned) {
  return WARPLINGS_API {
    if (path == nullptr) return cudaErrorInvalidValue;
    std::ifstream file(path, std::ios::binary);
    if (!file) return cudaErrorFileNotFound;
    const std::string code{std::istreambuf_iterator<char>(file), {}};
    return load(library, code.c_str());
  };
}

cudaError_t cudaLibraryUnload(cudaLibrary_t handle) {
  return WARPLINGS_API {
    FatBinary* const binary = find(handle);
    if (binary == nullptr) return cudaErrorInvalidResourceHandle;
    binary->unregistered = true;
    return cudaSuccess;
  };
}

cudaError_t cudaLibraryGetKernel(cudaKernel_t* kernel, cudaLibrary_t handle, const char* name) {
  return WARPLINGS_API {
    FatBinary* const binary = find(handle);
    if (binary == nullptr) return cudaErrorInvalidResourceHandle;
    if (kernel == nullptr || name == nullptr) return cudaErrorInvalidValue;
    RegisteredKernel* const found = Registry::instance().kernel_named(binary, name);
    if (found == nullptr) return cudaErrorSymbolNotFound;
    *kernel = reinterpret_cast<cudaKernel_t>(found);
    return cudaSuccess;
  };
}

cudaError_t cudaLibraryGetGlobal(void** pointer, size_t* bytes, cudaLibrary_t library,
                                 const char* name) {
  return WARPLINGS_API { return variable(library, name, pointer, bytes); };
}

cudaError_t cudaLibraryGetManaged(void** pointer, size_t* bytes, cudaLibrary_t library,
                                  const char* name) {
  return WARPLINGS_API { return variable(library, name, pointer, bytes); };
}

cudaError_t cudaLibraryGetKernelCount(unsigned* count, cudaLibrary_t handle) {
  return WARPLINGS_API {
    FatBinary* const binary = find(handle);
    if (binary == nullptr) return cudaErrorInvalidResourceHandle;
    if (count == nullptr) return cudaErrorInvalidValue;
    *count = static_cast<unsigned>(Registry::instance().kernels_in(binary).size());
    return cudaSuccess;
  };
}

cudaError_t cudaLibraryEnumerateKernels(cudaKernel_t* kernels, unsigned count,
                                        cudaLibrary_t handle) {
  return WARPLINGS_API {
    FatBinary* const binary = find(handle);
    if (binary == nullptr) return cudaErrorInvalidResourceHandle;
    if (kernels == nullptr) return cudaErrorInvalidValue;
    const auto all = Registry::instance().kernels_in(binary);
    for (size_t i = 0; i < std::min<size_t>(count, all.size()); ++i) {
      kernels[i] = reinterpret_cast<cudaKernel_t>(all[i]);
    }
    return cudaSuccess;
  };
}

}  // extern "C"
