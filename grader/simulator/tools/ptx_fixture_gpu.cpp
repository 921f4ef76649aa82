// A fixture's kernel on the CUDA driver: hardware as the oracle. The driver is opened at run time,
// so that nothing needs it to build.
#include <dlfcn.h>

#include <algorithm>
#include <string>

#include "tools/ptx_fixture.h"

namespace warplings::sim {
namespace {

using Status = int;  // CUresult
using Handle = void*;
using DevicePointer = unsigned long long;
constexpr int kLogBytes = 4096;
// CU_JIT_ERROR_LOG_BUFFER, ..._SIZE_BYTES, CU_JIT_OPTIMIZATION_LEVEL
constexpr int kErrorLogBuffer = 5, kErrorLogSize = 6, kOptimizationLevel = 7;

struct Driver {
  Handle library = nullptr;
  Status (*init)(unsigned) = nullptr;
  Status (*device_get)(int*, int) = nullptr;
  Status (*retain)(Handle*, int) = nullptr;
  Status (*set_current)(Handle) = nullptr;
  Status (*load)(Handle*, const void*, unsigned, int*, void**) = nullptr;
  Status (*unload)(Handle) = nullptr;
  Status (*get_function)(Handle*, Handle, const char*) = nullptr;
  Status (*allocate)(DevicePointer*, size_t) = nullptr;
  Status (*free)(DevicePointer) = nullptr;
  Status (*to_device)(DevicePointer, const void*, size_t) = nullptr;
  Status (*to_host)(void*, DevicePointer, size_t) = nullptr;
  Status (*launch)(Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                   Handle, void**, void**) = nullptr;
  Status (*synchronize)() = nullptr;
  std::string problem;

  static Driver& instance() {
    static Driver* driver = new Driver;
    return *driver;
  }

 private:
  template <class Function>
  void find(Function& function, const char* name) {
    function = reinterpret_cast<Function>(library != nullptr ? dlsym(library, name) : nullptr);
    if (function == nullptr && problem.empty()) problem = std::string("the driver lacks ") + name;
  }

  Driver() : library(dlopen("libcuda.so.1", RTLD_NOW)) {
    if (library == nullptr) problem = "there is no CUDA driver (libcuda.so.1) on this machine";
    find(init, "cuInit");
    find(device_get, "cuDeviceGet");
    find(retain, "cuDevicePrimaryCtxRetain");
    find(set_current, "cuCtxSetCurrent");
    find(load, "cuModuleLoadDataEx");
    find(unload, "cuModuleUnload");
    find(get_function, "cuModuleGetFunction");
    find(allocate, "cuMemAlloc_v2");
    find(free, "cuMemFree_v2");
    find(to_device, "cuMemcpyHtoD_v2");
    find(to_host, "cuMemcpyDtoH_v2");
    find(launch, "cuLaunchKernel");
    find(synchronize, "cuCtxSynchronize");
    if (!problem.empty()) return;
    int device = 0;
    Handle context = nullptr;
    Status status = init(0);
    if (status == 0) status = device_get(&device, 0);
    if (status == 0) status = retain(&context, device);
    if (status == 0) status = set_current(context);
    if (status != 0) problem = "the CUDA driver does not start: error " + std::to_string(status);
  }
};

std::string failed(const char* what, Status status) {
  return std::string(what) + " failed on the GPU with error " + std::to_string(status);
}

std::string run(const Fixture& fixture, uintptr_t optimization, std::vector<uint8_t>* output) {
  Driver& driver = Driver::instance();
  if (!driver.problem.empty()) return driver.problem;
  const auto parsed = ptx::parse(fixture.text, fixture.path);
  const auto entry = std::find_if(parsed->functions.begin(), parsed->functions.end(),
                                  [](const ptx::Function& f) { return f.is_entry; });
  if (entry == parsed->functions.end()) return "there is no .entry to run";

  Handle module = nullptr;
  Handle function = nullptr;
  char log[kLogBytes] = {};
  int options[] = {kErrorLogBuffer, kErrorLogSize, kOptimizationLevel};
  void* values[] = {log, reinterpret_cast<void*>(static_cast<uintptr_t>(kLogBytes)),
                    reinterpret_cast<void*>(optimization)};
  Status status = driver.load(&module, fixture.text.c_str(), 3, options, values);
  if (status != 0) return failed("loading", status) + ": " + log;
  status = driver.get_function(&function, module, entry->name.c_str());
  if (status != 0) return failed("finding the kernel", status);

  DevicePointer input = 0;
  DevicePointer out = 0;
  status = driver.allocate(&input, std::max<size_t>(fixture.input.size(), 1));
  if (status == 0) status = driver.allocate(&out, output->size());
  if (status == 0 && !fixture.input.empty()) {
    status = driver.to_device(input, fixture.input.data(), fixture.input.size());
  }
  if (status == 0) status = driver.to_device(out, output->data(), output->size());
  void* arguments[] = {fixture.has_input ? &input : &out, &out};
  if (status == 0) {
    status =
        driver.launch(function, fixture.grid[0], fixture.grid[1], fixture.grid[2], fixture.block[0],
                      fixture.block[1], fixture.block[2],
                      static_cast<unsigned>(fixture.shared_bytes), nullptr, arguments, nullptr);
  }
  if (status == 0) status = driver.synchronize();
  if (status == 0) status = driver.to_host(output->data(), out, output->size());
  driver.free(input);
  driver.free(out);
  driver.unload(module);
  return status == 0 ? "" : failed("the run", status);
}

}  // namespace

std::string run_on_gpu(const Fixture& fixture, std::vector<uint8_t>* output) {
  return run(fixture, 4, output);  // the driver's default
}

std::string run_on_gpu_unoptimised(const Fixture& fixture, std::vector<uint8_t>* output) {
  return run(fixture, 0, output);
}

}  // namespace warplings::sim
