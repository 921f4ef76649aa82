// Memory that streams allocate and free in their order.
#include "runtime_fixture.h"

namespace warplings::sim {
namespace {

class MemoryPools : public RuntimeTest {
 protected:
  static cudaStream_t stream() {
    cudaStream_t made = nullptr;
    EXPECT_EQ(cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking), cudaSuccess);
    return made;
  }
  static int* allocate(cudaStream_t in) {
    void* pointer = nullptr;
    EXPECT_EQ(cudaMallocAsync(&pointer, 4, in), cudaSuccess);
    return static_cast<int*>(pointer);
  }
  static uint64_t read(cudaMemPool_t pool, cudaMemPoolAttr attribute) {
    uint64_t value = 0;
    EXPECT_EQ(cudaMemPoolGetAttribute(pool, attribute, &value), cudaSuccess);
    return value;
  }
};

TEST_F(MemoryPools, UseAfterTheFreeOfAStreamIsFound) {
  cudaStream_t s = stream();
  int* value = allocate(s);
  launch_store(value, 1, s);
  ASSERT_EQ(cudaFreeAsync(value, s), cudaSuccess);
  launch_store(value, 2, s);
  EXPECT_EQ(cudaStreamSynchronize(s), cudaErrorIllegalAddress);
  EXPECT_EQ(findings(), Kinds{"memcheck/use-after-free-write"});
  EXPECT_NE(last_finding().message.find("has been freed at"), std::string::npos);
}

TEST_F(MemoryPools, ACopyAfterTheFreeOfAStreamIsFound) {
  cudaStream_t s = stream();
  int* host = pinned<int>(1);
  int* value = allocate(s);
  launch_store(value, 1, s);
  ASSERT_EQ(cudaFreeAsync(value, s), cudaSuccess);
  ASSERT_EQ(cudaMemcpyAsync(host, value, 4, cudaMemcpyDeviceToHost, s), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(s), cudaSuccess);
  EXPECT_EQ(findings(), Kinds{"memcheck/use-after-free"});
}

TEST_F(MemoryPools, AnotherStreamHasToWaitForTheAllocation) {
  cudaStream_t a = stream(), b = stream();
  int* value = allocate(a);
  launch_store(value, 1, b);
  EXPECT_EQ(cudaStreamSynchronize(b), cudaErrorIllegalAddress);
  EXPECT_EQ(findings(), Kinds{"memcheck/use-before-allocation-write"});
}

TEST_F(MemoryPools, AnEventAfterTheAllocationIsEnough) {
  cudaStream_t a = stream(), b = stream();
  cudaEvent_t event;
  cudaEventCreate(&event);
  int* value = allocate(a);
  cudaEventRecord(event, a);
  cudaStreamWaitEvent(b, event, 0);
  launch_store(value, 1, b);
  EXPECT_EQ(cudaStreamSynchronize(b), cudaSuccess);
  EXPECT_EQ(cudaFree(value), cudaSuccess);
  EXPECT_EQ(findings(), Kinds{});
}

TEST_F(MemoryPools, APointerIsDeviceMemoryFromTheCallOn) {
  cudaStream_t s = stream();
  int* value = allocate(s);
  cudaPointerAttributes attributes;
  ASSERT_EQ(cudaPointerGetAttributes(&attributes, value), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeDevice);
}

TEST_F(MemoryPools, FreeingTwiceIsFound) {
  cudaStream_t s = stream();
  int* value = allocate(s);
  cudaFreeAsync(value, s);
  cudaFreeAsync(value, s);
  cudaStreamSynchronize(s);
  EXPECT_EQ(findings(), Kinds{"memcheck/double-free"});
}

TEST_F(MemoryPools, TheBooksOfAPoolAreRight) {
  cudaMemPool_t pool = nullptr;
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  properties.maxSize = 1 << 20;
  ASSERT_EQ(cudaMemPoolCreate(&pool, &properties), cudaSuccess);
  uint64_t threshold = UINT64_MAX;
  ASSERT_EQ(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold),
            cudaSuccess);
  cudaStream_t s = stream();
  void *first = nullptr, *second = nullptr;
  ASSERT_EQ(cudaMallocFromPoolAsync(&first, 1000, pool, s), cudaSuccess);
  EXPECT_EQ(cudaMallocFromPoolAsync(&second, 1 << 20, pool, s), cudaErrorMemoryAllocation);
  ASSERT_EQ(cudaFreeAsync(first, s), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(s), cudaSuccess);
  EXPECT_EQ(read(pool, cudaMemPoolAttrUsedMemCurrent), 0u);
  EXPECT_EQ(read(pool, cudaMemPoolAttrUsedMemHigh), 1000u);
  EXPECT_EQ(read(pool, cudaMemPoolAttrReservedMemCurrent), 1000u) << "below the threshold it stays";
  ASSERT_EQ(cudaMemPoolTrimTo(pool, 0), cudaSuccess);
  EXPECT_EQ(read(pool, cudaMemPoolAttrReservedMemCurrent), 0u);
  EXPECT_EQ(cudaMemPoolDestroy(pool), cudaSuccess);
  EXPECT_EQ(cudaMemPoolDestroy(pool), cudaErrorInvalidValue);
}

TEST_F(MemoryPools, AccessOfAPoolIsItsOwn) {
  cudaMemPool_t pool = nullptr;
  ASSERT_EQ(cudaDeviceGetDefaultMemPool(&pool, 0), cudaSuccess);
  cudaStream_t s = stream();
  int* value = allocate(s);
  ASSERT_EQ(cudaStreamSynchronize(s), cudaSuccess);
  cudaMemAccessDesc access{};
  access.location.type = cudaMemLocationTypeDevice;
  access.location.id = 1;
  access.flags = cudaMemAccessFlagsProtReadWrite;
  ASSERT_EQ(cudaMemPoolSetAccess(pool, &access, 1), cudaSuccess);
  cudaMemAccessFlags flags = cudaMemAccessFlagsProtNone;
  ASSERT_EQ(cudaMemPoolGetAccess(&flags, pool, &access.location), cudaSuccess);
  EXPECT_EQ(flags, cudaMemAccessFlagsProtReadWrite);
  cudaSetDevice(1);
  launch_store(value, 1);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  cudaDeviceReset();
  cudaSetDevice(0);
  EXPECT_EQ(findings(), Kinds{});
}

}  // namespace
}  // namespace warplings::sim
