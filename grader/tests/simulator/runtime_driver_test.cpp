// Device code that is loaded while the program runs, and the driver API by name.
#include <cuda.h>

#include <cstdint>
#include <string>
#include <vector>

#include "runtime_fixture.h"

namespace warplings::sim {
namespace {

constexpr char kPtx[] = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .global .align 4 .u32 offset = 40;
.visible .entry put(.param .u64 to, .param .u32 value)
{
  .reg .b32 %r<4>;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [to];
  ld.param.u32 %r1, [value];
  ld.global.u32 %r2, [offset];
  add.u32 %r3, %r1, %r2;
  cvta.to.global.u64 %rd2, %rd1;
  st.global.u32 [%rd2], %r3;
  ret;
}
)";

class Driver : public RuntimeTest {
 protected:
  template <class Function>
  static Function* entry(const char* name) {
    void* function = nullptr;
    cudaDriverEntryPointQueryResult status = cudaDriverEntryPointSymbolNotFound;
    EXPECT_EQ(cudaGetDriverEntryPointByVersion(name, &function, 12000, cudaEnableDefault, &status),
              cudaSuccess);
    EXPECT_EQ(status, cudaDriverEntryPointSuccess) << name;
    return reinterpret_cast<Function*>(function);
  }
};

TEST_F(Driver, AModuleOfPtxIsLoadedAndItsKernelLaunched) {
  CUmodule module = nullptr;
  ASSERT_EQ(entry<decltype(cuModuleLoadData)>("cuModuleLoadData")(&module, kPtx), CUDA_SUCCESS);
  CUfunction put = nullptr;
  const auto get_function = entry<decltype(cuModuleGetFunction)>("cuModuleGetFunction");
  ASSERT_EQ(get_function(&put, module, "put"), CUDA_SUCCESS);
  EXPECT_EQ(get_function(&put, module, "absent"), CUDA_ERROR_NOT_FOUND);
  CUdeviceptr to = 0;
  ASSERT_EQ(entry<CUresult(CUdeviceptr*, size_t)>("cuMemAlloc")(&to, 4), CUDA_SUCCESS);

  const auto launch = entry<decltype(cuLaunchKernel)>("cuLaunchKernel");
  int value = 2;
  void* arguments[] = {&to, &value};
  ASSERT_EQ(launch(put, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr), CUDA_SUCCESS);
  const auto copy = entry<CUresult(void*, CUdeviceptr, size_t)>("cuMemcpyDtoH");
  int host = 0;
  ASSERT_EQ(copy(&host, to, 4), CUDA_SUCCESS);
  EXPECT_EQ(host, 42);

  // The same with all arguments in one buffer.
  struct {
    CUdeviceptr to;
    int value;
  } buffer{to, 3};
  size_t size = sizeof buffer;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                   CU_LAUNCH_PARAM_END};
  ASSERT_EQ(launch(put, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra), CUDA_SUCCESS);
  ASSERT_EQ(copy(&host, to, 4), CUDA_SUCCESS);
  EXPECT_EQ(host, 43);
  EXPECT_EQ(launch(put, 1, 1, 1, 2048, 1, 1, 0, nullptr, arguments, nullptr),
            CUDA_ERROR_INVALID_VALUE);

  CUdeviceptr global = 0;
  const auto get_global =
      entry<CUresult(CUdeviceptr*, size_t*, CUmodule, const char*)>("cuModuleGetGlobal");
  ASSERT_EQ(get_global(&global, &size, module, "offset"), CUDA_SUCCESS);
  EXPECT_EQ(size, 4u);
  EXPECT_EQ(entry<decltype(cuModuleUnload)>("cuModuleUnload")(module), CUDA_SUCCESS);
  EXPECT_EQ(get_function(&put, module, "put"), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(Driver, MemoryIsFilledWithElementsOfTwoAndFourBytes) {
  CUdeviceptr to = 0;
  ASSERT_EQ(cuMemAlloc(&to, 16), CUDA_SUCCESS);
  ASSERT_EQ(cuMemsetD32(to, 0x01020304u, 2), CUDA_SUCCESS);
  ASSERT_EQ(cuMemsetD16Async(to + 8, 0x0506, 3, nullptr), CUDA_SUCCESS);
  uint16_t host[7] = {};
  ASSERT_EQ(cuMemcpyDtoH(host, to, sizeof host), CUDA_SUCCESS);
  EXPECT_EQ(std::vector<uint16_t>(host, host + 7),
            (std::vector<uint16_t>{0x0304, 0x0102, 0x0304, 0x0102, 0x0506, 0x0506, 0x0506}));
  EXPECT_EQ(cuMemsetD32(to + 2, 1, 1), CUDA_ERROR_INVALID_VALUE) << "not aligned to four bytes";
  EXPECT_EQ(cuMemsetD16(to + 8, 1, 5), CUDA_ERROR_INVALID_VALUE) << "two bytes too many";
  EXPECT_EQ(cuMemFree(to), CUDA_SUCCESS);
}

TEST_F(Driver, AKernelHasTheSharedMemoryThatItNames) {
  // As nvcc writes an array of the kernel, and one of another kernel beside it.
  constexpr char kModule[] = R"(
.version 8.0
.target sm_90
.address_size 64
.shared .align 16 .b8 of_another[40000];
.shared .align 8 .b8 own[80];
.extern .shared .align 1024 .b8 more[];
.visible .entry other()
{
  .reg .b32 %r<2>;
  ld.shared.u32 %r1, [of_another];
  ret;
}
.visible .entry put(.param .u64 to)
{
  .reg .b32 %r<4>;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [to];
  mov.u32 %r1, own;
  mov.u32 %r2, more;
  cvta.to.global.u64 %rd2, %rd1;
  st.global.u32 [%rd2], %r1;
  st.global.u32 [%rd2+4], %r2;
  ret;
}
)";
  CUmodule module = nullptr;
  ASSERT_EQ(cuModuleLoadData(&module, kModule), CUDA_SUCCESS);
  CUfunction put = nullptr;
  ASSERT_EQ(cuModuleGetFunction(&put, module, "put"), CUDA_SUCCESS);
  int bytes = 0;
  ASSERT_EQ(cuFuncGetAttribute(&bytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, put), CUDA_SUCCESS);
  EXPECT_EQ(bytes, 80);
  CUdeviceptr to = 0;
  ASSERT_EQ(cuMemAlloc(&to, 8), CUDA_SUCCESS);
  void* arguments[] = {&to};
  ASSERT_EQ(cuLaunchKernel(put, 1, 1, 1, 1, 1, 1, 4096, nullptr, arguments, nullptr), CUDA_SUCCESS);
  uint32_t offsets[2] = {};
  ASSERT_EQ(cuMemcpyDtoH(offsets, to, sizeof offsets), CUDA_SUCCESS);
  EXPECT_EQ(offsets[1] % 1024, 0u);
  EXPECT_GE(offsets[1], offsets[0] + 80);
  EXPECT_EQ(cuMemFree(to), CUDA_SUCCESS);
  EXPECT_EQ(cuModuleUnload(module), CUDA_SUCCESS);
}

TEST_F(Driver, UnknownNamesAndNewerVersionsAreNotFound) {
  void* function = &function;
  cudaDriverEntryPointQueryResult status;
  ASSERT_EQ(
      cudaGetDriverEntryPointByVersion("cuNothing", &function, 12000, cudaEnableDefault, &status),
      cudaSuccess);
  EXPECT_EQ(status, cudaDriverEntryPointSymbolNotFound);
  EXPECT_EQ(function, nullptr);
  ASSERT_EQ(
      cudaGetDriverEntryPointByVersion("cuInit", &function, 99000, cudaEnableDefault, &status),
      cudaSuccess);
  EXPECT_EQ(status, cudaDriverEntryPointVersionNotSufficent);
}

TEST_F(Driver, AFailureIsNotTheRuntimesLastError) {
  const auto allocate = entry<CUresult(CUdeviceptr*, size_t)>("cuMemAlloc");
  CUdeviceptr address = 0;
  EXPECT_EQ(allocate(&address, size_t{1} << 50), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  const char* name = nullptr;
  ASSERT_EQ(entry<decltype(cuGetErrorName)>("cuGetErrorName")(CUDA_ERROR_OUT_OF_MEMORY, &name),
            CUDA_SUCCESS);
  EXPECT_STREQ(name, "CUDA_ERROR_OUT_OF_MEMORY");
}

TEST_F(Driver, ContextsFollowTheCurrentDevice) {
  const auto retain = entry<decltype(cuDevicePrimaryCtxRetain)>("cuDevicePrimaryCtxRetain");
  CUcontext first = nullptr, second = nullptr, current = nullptr;
  ASSERT_EQ(retain(&first, 0), CUDA_SUCCESS);
  ASSERT_EQ(retain(&second, 1), CUDA_SUCCESS);
  EXPECT_NE(first, second);
  const auto get_current = entry<decltype(cuCtxGetCurrent)>("cuCtxGetCurrent");
  ASSERT_EQ(entry<decltype(cuCtxSetCurrent)>("cuCtxSetCurrent")(second), CUDA_SUCCESS);
  int device = 0;
  cudaGetDevice(&device);
  EXPECT_EQ(device, 1);
  cudaSetDevice(0);
  ASSERT_EQ(get_current(&current), CUDA_SUCCESS);
  EXPECT_EQ(current, first);
}

TEST_F(Driver, APointerTellsItsAllocation) {
  int* memory = device<int>(8);
  const auto ask = entry<decltype(cuPointerGetAttribute)>("cuPointerGetAttribute");
  const auto inside = reinterpret_cast<CUdeviceptr>(memory + 2);
  CUdeviceptr start = 0;
  size_t size = 0;
  ASSERT_EQ(ask(&start, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, inside), CUDA_SUCCESS);
  ASSERT_EQ(ask(&size, CU_POINTER_ATTRIBUTE_RANGE_SIZE, inside), CUDA_SUCCESS);
  EXPECT_EQ(start, reinterpret_cast<CUdeviceptr>(memory));
  EXPECT_EQ(size, 32u);
}

TEST_F(Driver, ALibraryListsItsKernels) {
  cudaLibrary_t library = nullptr;
  ASSERT_EQ(cudaLibraryLoadData(&library, kPtx, nullptr, nullptr, 0, nullptr, nullptr, 0),
            cudaSuccess);
  unsigned count = 0;
  ASSERT_EQ(cudaLibraryGetKernelCount(&count, library), cudaSuccess);
  ASSERT_EQ(count, 1u);
  cudaKernel_t kernel = nullptr;
  ASSERT_EQ(cudaLibraryEnumerateKernels(&kernel, 1, library), cudaSuccess);
  const char* name = nullptr;
  ASSERT_EQ(cudaFuncGetName(&name, kernel), cudaSuccess);
  EXPECT_STREQ(name, "put");
  size_t offset = 0, size = 0;
  ASSERT_EQ(cudaFuncGetParamInfo(kernel, 1, &offset, &size), cudaSuccess);
  EXPECT_EQ(offset, 8u);
  EXPECT_EQ(size, 4u);
  EXPECT_EQ(cudaFuncGetParamInfo(kernel, 2, &offset, &size), cudaErrorInvalidValue);
  EXPECT_EQ(cudaLibraryUnload(library), cudaSuccess);
  EXPECT_EQ(cudaLibraryUnload(library), cudaErrorInvalidResourceHandle);
  const char machine_code[] =
      "\x7f"
      "ELF machine code";
  EXPECT_EQ(cudaLibraryLoadData(&library, machine_code, nullptr, nullptr, 0, nullptr, nullptr, 0),
            cudaErrorInvalidKernelImage);
}

TEST_F(Driver, ADeviceIsFoundByItsAddressOnTheBus) {
  char id[32];
  ASSERT_EQ(cudaDeviceGetPCIBusId(id, sizeof id, 1), cudaSuccess);
  int found = 0;
  ASSERT_EQ(cudaDeviceGetByPCIBusId(&found, id), cudaSuccess);
  EXPECT_EQ(found, 1);
  EXPECT_EQ(cudaDeviceGetByPCIBusId(&found, "0000:77:00.0"), cudaErrorInvalidDevice);
  int value = 0;
  EXPECT_EQ(cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, 0, 1), cudaSuccess);
  EXPECT_EQ(value, 1);
}

TEST_F(Driver, PriorityDecidesAmongReadyStreams) {
  cudaStream_t low = nullptr, high = nullptr;
  ASSERT_EQ(cudaStreamCreateWithPriority(&high, cudaStreamNonBlocking, -3), cudaSuccess);
  ASSERT_EQ(cudaStreamCreateWithFlags(&low, cudaStreamNonBlocking), cudaSuccess);
  std::string log;
  const auto mark = [](void* text) { *static_cast<std::string*>(text) += 'h'; };
  const auto other = [](void* text) { *static_cast<std::string*>(text) += 'l'; };
  cudaLaunchHostFunc(high, mark, &log);
  cudaLaunchHostFunc(low, other, &log);
  cudaDeviceSynchronize();
  EXPECT_EQ(log, "hl") << "without priorities the one used last would run first";
  cudaLaunchAttributeValue value{};
  ASSERT_EQ(cudaStreamCopyAttributes(low, high), cudaSuccess);
  ASSERT_EQ(cudaStreamGetAttribute(low, cudaLaunchAttributePriority, &value), cudaSuccess);
  EXPECT_EQ(value.priority, -3);
}

}  // namespace
}  // namespace warplings::sim
