// Two virtual devices: each has its own memory, streams, variables and errors.
#include <cstdlib>

#include "runtime_fixture.h"

void launch_read_variables(int* to);
const void* counter_symbol();

namespace warplings::sim {
namespace {

// Before the runtime counts its devices, which it does once.
[[maybe_unused]] const int kTwoDevices = setenv("GRADE_SIM_DEVICES", "2", 1);

class Devices : public RuntimeTest {
 protected:
  void TearDown() override {
    for (const int device : {1, 0}) {
      cudaSetDevice(device);
      cudaDeviceReset();
    }
  }
};

TEST_F(Devices, AnAllocationBelongsToTheDeviceThatWasCurrent) {
  int count = 0;
  cudaGetDeviceCount(&count);
  ASSERT_EQ(count, 2);
  cudaSetDevice(1);
  int* there = device<int>(1);
  cudaSetDevice(0);
  cudaPointerAttributes attributes;
  ASSERT_EQ(cudaPointerGetAttributes(&attributes, there), cudaSuccess);
  EXPECT_EQ(attributes.device, 1);
  EXPECT_EQ(attributes.type, cudaMemoryTypeDevice);
}

TEST_F(Devices, MemoryInUseIsCountedForEachDevice) {
  size_t before[2], after[2], total = 0;
  for (int i = 0; i < 2; ++i) {
    cudaSetDevice(i);
    cudaMemGetInfo(&before[i], &total);
  }
  device<char>(1 << 20);
  for (int i = 0; i < 2; ++i) {
    cudaSetDevice(i);
    cudaMemGetInfo(&after[i], &total);
  }
  EXPECT_EQ(before[0], after[0]);
  EXPECT_EQ(before[1] - after[1], 1u << 20);
}

TEST_F(Devices, AKernelMayNotTouchMemoryOfAPeerUntilItIsAllowedTo) {
  int* here = device<int>(1);
  int can = 0;
  EXPECT_EQ(cudaDeviceCanAccessPeer(&can, 1, 0), cudaSuccess);
  EXPECT_EQ(can, 1);
  cudaSetDevice(1);
  EXPECT_EQ(cudaDeviceEnablePeerAccess(0, 0), cudaSuccess);
  EXPECT_EQ(cudaDeviceEnablePeerAccess(0, 0), cudaErrorPeerAccessAlreadyEnabled);
  launch_store(here, 5);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  int value = 0;
  EXPECT_EQ(cudaMemcpy(&value, here, 4, cudaMemcpyDefault), cudaSuccess);
  EXPECT_EQ(value, 5);

  EXPECT_EQ(cudaDeviceDisablePeerAccess(0), cudaSuccess);
  EXPECT_EQ(cudaDeviceDisablePeerAccess(0), cudaErrorPeerAccessNotEnabled);
  launch_store(here, 6);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  EXPECT_EQ(findings(), Kinds{"memcheck/no-peer-access-write"});
  EXPECT_NE(last_finding().message.find("cudaDeviceEnablePeerAccess(0, 0)"), std::string::npos);
}

TEST_F(Devices, PeerAccessHoldsForMemoryThatIsAllocatedLater) {
  cudaSetDevice(1);
  ASSERT_EQ(cudaDeviceEnablePeerAccess(0, 0), cudaSuccess);
  cudaSetDevice(0);
  int* later = device<int>(1);
  cudaSetDevice(1);
  launch_store(later, 5);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(findings(), Kinds{});
}

TEST_F(Devices, PinnedAndManagedMemoryIsOpenToAllDevices) {
  int* page_locked = pinned<int>(1);
  void* shared = nullptr;
  ASSERT_EQ(cudaMallocManaged(&shared, 4), cudaSuccess);
  int* managed = static_cast<int*>(shared);
  cudaSetDevice(1);
  launch_store(page_locked, 1);
  launch_store(managed, 2);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(*page_locked + *managed, 3);
}

TEST_F(Devices, AFaultSpoilsOnlyItsDevice) {
  cudaSetDevice(1);
  launch_null_store();
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  void* pointer = nullptr;
  EXPECT_EQ(cudaMalloc(&pointer, 4), cudaErrorIllegalAddress);
  cudaSetDevice(0);
  EXPECT_EQ(cudaMalloc(&pointer, 4), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
}

TEST_F(Devices, EachHasItsOwnModuleVariables) {
  int host[2] = {};
  for (const int number : {0, 1}) {
    cudaSetDevice(number);
    int* out = device<int>(2);
    launch_read_variables(out);
    cudaMemcpy(host, out, 8, cudaMemcpyDeviceToHost);
    EXPECT_EQ(host[0], 42) << "device " << number;
  }
  const int changed = 7;
  cudaMemcpyToSymbol(counter_symbol(), &changed, 4, 0, cudaMemcpyHostToDevice);
  cudaSetDevice(0);
  cudaMemcpyFromSymbol(host, counter_symbol(), 4, 0, cudaMemcpyDeviceToHost);
  EXPECT_EQ(host[0], 42);
}

TEST_F(Devices, SynchronisingOneLeavesTheOtherWaiting) {
  int* first = pinned<int>(1);
  int* second = pinned<int>(1);
  *first = *second = 0;
  launch_store(first, 1);
  cudaSetDevice(1);
  launch_store(second, 1);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(*first, 0);
  EXPECT_EQ(*second, 1);
  cudaSetDevice(0);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(*first, 1);
}

TEST_F(Devices, AStreamTakesKernelsOnlyWhileItsDeviceIsCurrent) {
  cudaStream_t stream;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  cudaEvent_t event;
  ASSERT_EQ(cudaEventCreate(&event), cudaSuccess);
  int* value = pinned<int>(1);
  cudaSetDevice(1);
  launch_store(value, 1, stream);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaEventRecord(event, nullptr), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaEventRecord(event, stream), cudaSuccess);
  EXPECT_EQ(cudaStreamWaitEvent(nullptr, event, 0), cudaSuccess)
      << "waiting across devices is fine";
}

TEST_F(Devices, OneMayBeAnotherCard) {
  const auto attribute = [](cudaDeviceAttr name, int device) {
    int value = 0;
    EXPECT_EQ(cudaDeviceGetAttribute(&value, name, device), cudaSuccess);
    return value;
  };
  void* managed = nullptr;
  ASSERT_EQ(cudaMallocManaged(&managed, 64), cudaSuccess);
  const cudaMemLocation to_device_1 = {cudaMemLocationTypeDevice, {1}};
  const cudaMemLocation to_host = {cudaMemLocationTypeHost, {0}};
  wsim_make_unlike(1);
  for (const cudaDeviceAttr name :
       {cudaDevAttrMultiProcessorCount, cudaDevAttrMaxSharedMemoryPerBlockOptin,
        cudaDevAttrL2CacheSize, cudaDevAttrConcurrentManagedAccess}) {
    EXPECT_LT(attribute(name, 1), attribute(name, 0));
  }
  EXPECT_EQ(cudaMemPrefetchAsync(managed, 64, to_device_1, 0, nullptr), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaMemPrefetchAsync(managed, 64, to_host, 0, nullptr), cudaSuccess);
  cudaSetDevice(1);  // whose stream cannot do that
  EXPECT_EQ(cudaMemPrefetchAsync(managed, 64, to_host, 0, nullptr), cudaErrorInvalidDevice);
  wsim_make_unlike(-1);
  EXPECT_EQ(cudaMemPrefetchAsync(managed, 64, to_device_1, 0, nullptr), cudaSuccess);
  EXPECT_EQ(attribute(cudaDevAttrMultiProcessorCount, 1),
            attribute(cudaDevAttrMultiProcessorCount, 0));
  cudaFree(managed);
  cudaGetLastError();
}

TEST_F(Devices, PeerCopiesNeedNoPeerAccess) {
  int* here = device<int>(1);
  cudaMemset(here, 1, 4);
  cudaSetDevice(1);
  int* there = device<int>(1);
  EXPECT_EQ(cudaMemcpyPeer(there, 1, here, 0, 4), cudaSuccess);
  int value = 0;
  EXPECT_EQ(cudaMemcpy(&value, there, 4, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(value, 0x01010101);
  EXPECT_EQ(findings(), Kinds{});
}

}  // namespace
}  // namespace warplings::sim
