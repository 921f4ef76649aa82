// Managed memory: advice, prefetches, what is known of ranges; batches of copies.
#include <vector>

#include "runtime_fixture.h"

namespace warplings::sim {
namespace {

constexpr size_t kManagedBytes = 1 << 16;
const cudaMemLocation kDevice{cudaMemLocationTypeDevice, {0}};
const cudaMemLocation kHost{cudaMemLocationTypeHost, {0}};

class MemoryRanges : public RuntimeTest {
 protected:
  static char* managed() {
    void* pointer = nullptr;
    EXPECT_EQ(cudaMallocManaged(&pointer, kManagedBytes), cudaSuccess);
    return static_cast<char*>(pointer);
  }
  static int attribute(cudaMemRangeAttribute which, const char* from, size_t bytes) {
    int value = -99;
    EXPECT_EQ(cudaMemRangeGetAttribute(&value, sizeof(value), which, from, bytes), cudaSuccess);
    return value;
  }
  static cudaStream_t stream() {
    cudaStream_t made = nullptr;
    EXPECT_EQ(cudaStreamCreate(&made), cudaSuccess);
    return made;
  }
};

TEST_F(MemoryRanges, HaveNoAdviceAtFirst) {
  char* m = managed();
  EXPECT_EQ(attribute(cudaMemRangeAttributeReadMostly, m, kManagedBytes), 0);
  EXPECT_EQ(attribute(cudaMemRangeAttributePreferredLocation, m, kManagedBytes),
            cudaInvalidDeviceId);
  EXPECT_EQ(attribute(cudaMemRangeAttributeLastPrefetchLocation, m, kManagedBytes),
            cudaInvalidDeviceId);
  EXPECT_EQ(attribute(cudaMemRangeAttributeAccessedBy, m, kManagedBytes), cudaInvalidDeviceId);
}

TEST_F(MemoryRanges, AnAttributeHoldsIfItHoldsEverywhere) {
  char* m = managed();
  ASSERT_EQ(cudaMemAdvise(m, kManagedBytes / 2, cudaMemAdviseSetReadMostly, kDevice), cudaSuccess);
  EXPECT_EQ(attribute(cudaMemRangeAttributeReadMostly, m, kManagedBytes / 2), 1);
  EXPECT_EQ(attribute(cudaMemRangeAttributeReadMostly, m, kManagedBytes), 0);
  EXPECT_EQ(attribute(cudaMemRangeAttributeReadMostly, m + kManagedBytes / 2, kManagedBytes / 2),
            0);
  ASSERT_EQ(cudaMemAdvise(m + 4096, 4096, cudaMemAdviseUnsetReadMostly, kDevice), cudaSuccess);
  EXPECT_EQ(attribute(cudaMemRangeAttributeReadMostly, m, kManagedBytes / 2), 0);
  EXPECT_EQ(attribute(cudaMemRangeAttributeReadMostly, m, 4096), 1);
}

TEST_F(MemoryRanges, RememberLocations) {
  char* m = managed();
  ASSERT_EQ(cudaMemAdvise(m, kManagedBytes, cudaMemAdviseSetPreferredLocation, kHost), cudaSuccess);
  ASSERT_EQ(cudaMemAdvise(m, kManagedBytes, cudaMemAdviseSetAccessedBy, kDevice), cudaSuccess);
  ASSERT_EQ(cudaMemAdvise(m, kManagedBytes, cudaMemAdviseSetAccessedBy, kHost), cudaSuccess);
  ASSERT_EQ(cudaMemPrefetchAsync(m, kManagedBytes, kDevice, 0, nullptr), cudaSuccess);
  int preferred = -99, type = -99, prefetched = -99, accessed[3] = {-99, -99, -99};
  void* data[] = {&preferred, &type, &prefetched, accessed};
  size_t sizes[] = {4, 4, 4, sizeof(accessed)};
  cudaMemRangeAttribute which[] = {
      cudaMemRangeAttributePreferredLocation, cudaMemRangeAttributePreferredLocationType,
      cudaMemRangeAttributeLastPrefetchLocation, cudaMemRangeAttributeAccessedBy};
  ASSERT_EQ(cudaMemRangeGetAttributes(data, sizes, which, 4, m, kManagedBytes), cudaSuccess);
  EXPECT_EQ(preferred, cudaCpuDeviceId);
  EXPECT_EQ(type, cudaMemLocationTypeHost);
  EXPECT_EQ(prefetched, 0);
  EXPECT_EQ(accessed[0], 0);
  EXPECT_EQ(accessed[1], cudaCpuDeviceId);
  EXPECT_EQ(accessed[2], cudaInvalidDeviceId);
  ASSERT_EQ(cudaMemAdvise(m, kManagedBytes, cudaMemAdviseUnsetAccessedBy, kDevice), cudaSuccess);
  EXPECT_EQ(attribute(cudaMemRangeAttributeAccessedBy, m, kManagedBytes), cudaCpuDeviceId);
}

TEST_F(MemoryRanges, OnlyManagedMemoryHasThem) {
  int value = 0;
  char* d = device<char>(kManagedBytes);
  EXPECT_EQ(cudaMemAdvise(d, kManagedBytes, cudaMemAdviseSetReadMostly, kDevice),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemRangeGetAttribute(&value, 4, cudaMemRangeAttributeReadMostly, d, kManagedBytes),
            cudaErrorInvalidValue);
  char* m = managed();
  EXPECT_EQ(
      cudaMemRangeGetAttribute(&value, 4, cudaMemRangeAttributeReadMostly, m, kManagedBytes + 1),
      cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemRangeGetAttribute(&value, 8, cudaMemRangeAttributeReadMostly, m, kManagedBytes),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemPrefetchAsync(m, kManagedBytes, {cudaMemLocationTypeDevice, {7}}, 0, nullptr),
            cudaErrorInvalidDevice);
}

TEST_F(MemoryRanges, ArePrefetchedInBatches) {
  char* m = managed();
  const cudaStream_t s = stream();
  void* pointers[] = {m, m + 8192, m + 16384};
  size_t sizes[] = {4096, 4096, 4096}, firsts[] = {0, 2};
  cudaMemLocation locations[] = {kDevice, kHost};
  ASSERT_EQ(cudaMemPrefetchBatchAsync(pointers, sizes, 3, locations, firsts, 2, 0, s), cudaSuccess);
  EXPECT_EQ(attribute(cudaMemRangeAttributeLastPrefetchLocation, m + 8192, 4096), 0);
  EXPECT_EQ(attribute(cudaMemRangeAttributeLastPrefetchLocation, m + 16384, 4096), cudaCpuDeviceId);
  EXPECT_EQ(attribute(cudaMemRangeAttributeLastPrefetchLocation, m + 4096, 4096),
            cudaInvalidDeviceId);
  EXPECT_EQ(cudaMemPrefetchBatchAsync(pointers, sizes, 3, locations, firsts, 2, 0, nullptr),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemDiscardBatchAsync(pointers, sizes, 3, 0, s), cudaSuccess);
  EXPECT_EQ(cudaMemDiscardAndPrefetchBatchAsync(pointers, sizes, 3, locations, firsts, 2, 0, s),
            cudaSuccess);
}

TEST_F(MemoryRanges, BatchesCopyInTheOrderOfTheirStream) {
  const cudaStream_t s = stream();
  int* from = pinned<int>(2);
  int* to = pinned<int>(2);
  int* d = device<int>(2);
  from[0] = 1, from[1] = 2;
  void* targets[] = {d, d + 1};
  const void* sources[] = {from, from + 1};
  size_t sizes[] = {4, 4}, firsts[] = {0, 1};
  cudaMemcpyAttributes attributes[2] = {};
  attributes[0].srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  attributes[1].srcAccessOrder = cudaMemcpySrcAccessOrderDuringApiCall;
  ASSERT_EQ(cudaMemcpyBatchAsync(targets, sources, sizes, 2, attributes, firsts, 2, s),
            cudaSuccess);
  from[1] = 3;  // has been read
  launch_increment(d, s);
  void* back[] = {to, to + 1};
  const void* results[] = {d, d + 1};
  size_t first = 0;
  ASSERT_EQ(cudaMemcpyBatchAsync(back, results, sizes, 2, attributes, &first, 1, s), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(s), cudaSuccess);
  EXPECT_EQ(to[0], 2);
  EXPECT_EQ(to[1], 2);
  EXPECT_EQ(findings(), Kinds{});
  firsts[1] = 0;
  EXPECT_EQ(cudaMemcpyBatchAsync(targets, sources, sizes, 2, attributes, firsts, 2, s),
            cudaErrorInvalidValue);
}

TEST_F(MemoryRanges, PoolsAreFoundByLocation) {
  cudaMemPool_t by_location = nullptr, by_device = nullptr;
  cudaMemLocation location = kDevice;
  ASSERT_EQ(cudaMemGetDefaultMemPool(&by_location, &location, cudaMemAllocationTypePinned),
            cudaSuccess);
  ASSERT_EQ(cudaDeviceGetDefaultMemPool(&by_device, 0), cudaSuccess);
  EXPECT_EQ(by_location, by_device);
  ASSERT_EQ(cudaMemSetMemPool(&location, cudaMemAllocationTypePinned, by_device), cudaSuccess);
  ASSERT_EQ(cudaMemGetMemPool(&by_location, &location, cudaMemAllocationTypePinned), cudaSuccess);
  EXPECT_EQ(by_location, by_device);
  location.id = 9;
  EXPECT_EQ(cudaMemGetMemPool(&by_location, &location, cudaMemAllocationTypePinned),
            cudaErrorInvalidValue);
}

// A range that neither begins nor ends with a page: what lies around it stays the program's.
class Registered : public MemoryRanges {
 protected:
  void SetUp() override {
    MemoryRanges::SetUp();
    memory_.assign(4000, 7);
    ASSERT_EQ(cudaHostRegister(range(), kBytes, cudaHostRegisterMapped), cudaSuccess);
  }
  int* range() { return memory_.data() + 10; }
  int* on_device(int at = 0) {
    void* pointer = nullptr;
    EXPECT_EQ(cudaHostGetDevicePointer(&pointer, range() + at, 0), cudaSuccess);
    return static_cast<int*>(pointer);
  }
  static constexpr int kCount = 3000;
  static constexpr size_t kBytes = kCount * sizeof(int);
  std::vector<int> memory_;
};

TEST_F(Registered, KernelsAndTheHostSeeTheSameBytes) {
  EXPECT_EQ(on_device(5), on_device() + 5);
  launch_increment(on_device(1));
  launch_store(on_device(kCount - 1), 42);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(range()[0], 7);
  EXPECT_EQ(range()[1], 8);
  EXPECT_EQ(range()[kCount - 1], 42);
  range()[2] = 100;
  launch_increment(on_device(2));
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(range()[2], 101);
  EXPECT_EQ(cudaHostUnregister(range()), cudaSuccess);
  EXPECT_EQ(range()[2], 101);
  EXPECT_EQ(range()[-1], 7);
  range()[2] = 102;
  EXPECT_EQ(range()[2], 102);
  EXPECT_EQ(findings(), Kinds{});
}

TEST_F(Registered, BothEndsAreBoundsAndTheEndOfRegistrationIsTheEndOfItsLife) {
  int* const begin = on_device();
  launch_store(begin - 1, 0);
  cudaDeviceSynchronize();
  EXPECT_EQ(findings(), Kinds{"memcheck/out-of-bounds-global-write"});
  EXPECT_EQ(range()[-1], 7);
  FindingLog::instance().clear();
  launch_store(begin + kCount, 0);
  cudaDeviceSynchronize();
  cudaGetLastError();
  EXPECT_EQ(findings(), Kinds{"memcheck/out-of-bounds-global-write"});
  EXPECT_EQ(range()[kCount], 7);
  cudaDeviceReset();  // the launch has faulted
  FindingLog::instance().clear();
  EXPECT_EQ(range()[kCount - 1], 7) << "a reset takes nothing from the host";
  int* const again = on_device();
  launch_increment(again);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(range()[0], 8);
  ASSERT_EQ(cudaHostUnregister(range()), cudaSuccess);
  launch_store(again, 0);
  cudaDeviceSynchronize();
  EXPECT_EQ(findings(), Kinds{"memcheck/use-after-free-write"});
  EXPECT_EQ(range()[0], 8);
}

TEST_F(Registered, TheStackCannotBeShownToAKernelAndTheReportSaysSo) {
  int local[64] = {};
  ASSERT_EQ(cudaHostRegister(local, sizeof local, cudaHostRegisterMapped), cudaSuccess);
  void* pointer = nullptr;
  EXPECT_EQ(cudaHostGetDevicePointer(&pointer, local, 0), cudaErrorNotSupported);
  EXPECT_EQ(findings(), Kinds{"api/not-simulated"});
  EXPECT_NE(last_finding().message.find("it lies on the stack"), std::string::npos)
      << last_finding().message;
  EXPECT_EQ(cudaHostUnregister(local), cudaSuccess);
}

}  // namespace
}  // namespace warplings::sim
