// Tests of 03/10 unified memory.
#include "10_unified_memory.h"

#include "kit/kit.h"

namespace {

constexpr const char* kPrefetch = "cudaMemPrefetchAsync";

// Reference: a product has one correct rounding.
std::vector<float> squares_on_cpu(const std::vector<float>& x) {
  std::vector<float> squares;
  for (const float value : x) squares.push_back(value * value);
  return squares;
}

int current_device() {
  int device = 0;
  cudaGetDevice(&device);
  return device;
}

// One call of square_managed, what the host gave it and saw.
struct Call {
  std::vector<float> in, out;
  bool managed = false;
  int uses = 0;
  uint64_t prefetches_at_fill = 0, prefetches_at_use = 0;
  uint64_t undisturbed = 0;  // prefetches where no call fails
  int last_at_use = 0;       // where all of x was prefetched to last
  cudaError_t error = cudaSuccess;
  std::string failed_before_use, launched_after;  // calls that the kit has let fail

  explicit Call(int n) : in(kit::random_floats(n, -4.0f, 4.0f)) {}
  kit::Run run();
};

void fill_from(float* x, int n, void* context) {
  Call& call = *static_cast<Call*>(context);
  cudaPointerAttributes attributes = {};
  if (cudaPointerGetAttributes(&attributes, x) != cudaSuccess) cudaGetLastError();
  call.managed = attributes.type == cudaMemoryTypeManaged;
  if (!call.managed) return;  // perhaps not the host's to write
  call.prefetches_at_fill = wsim_api_calls(kPrefetch);
  for (int i = 0; i < n; ++i) x[i] = call.in[i];
}

void use_into(const float* x, int n, void* context) {
  Call& call = *static_cast<Call*>(context);
  ++call.uses;
  const std::string failed = wsim_failed_call();
  if (!failed.empty()) call.failed_before_use = failed;
  call.prefetches_at_use = wsim_api_calls(kPrefetch);
  if (failed.empty()) call.undisturbed = call.prefetches_at_use - call.prefetches_at_fill;
  if (!call.managed) return;
  cudaMemRangeGetAttribute(&call.last_at_use, sizeof(int),
                           cudaMemRangeAttributeLastPrefetchLocation, x, n * sizeof(float));
  call.out.assign(x, x + n);
}

kit::Run Call::run() {
  const kit::Run run = kit::run([&] {
    uses = 0;
    const int launches = wsim_launch_count();
    error = square_managed(static_cast<int>(in.size()), fill_from, use_into, this);
    const std::string failed = wsim_failed_call();
    const bool before_the_launch =
        undisturbed >= 2 && wsim_api_calls(kPrefetch) == prefetches_at_fill + 1;
    if (failed.rfind(kPrefetch, 0) == 0 && before_the_launch && wsim_launch_count() > launches) {
      launched_after = failed;
    }
    return error;
  });
  if (!launched_after.empty()) {
    kit::fail("A call that fails: " + launched_after +
              " was made to return an error, and the kernel was launched all the same. After the "
              "first error nothing is launched any more.");
  }
  if (!failed_before_use.empty()) {
    kit::fail(
        "A call that fails: " + failed_before_use +
        " was made to return an error, and use was called all the same. After the first error "
        "neither function is called any more.");
  } else if (error != cudaSuccess) {
    kit::fail(std::string("square_managed returned ") + cudaGetErrorName(error) +
              " for valid arguments.");
  } else if (!managed) {
    kit::fail("The memory given to fill is not managed memory: cudaMallocManaged makes it.");
  } else if (uses != 1) {
    kit::fail("use was called " + std::to_string(uses) + " times, not once.");
  }
  return run;
}

// Managed memory of one page of a card's, freed at the end.
class Page {
 public:
  static constexpr size_t kBytes = 1 << 16;
  Page() { cudaMallocManaged(&memory_, kBytes); }
  ~Page() { cudaFree(memory_); }
  Page(const Page&) = delete;
  Page& operator=(const Page&) = delete;
  const void* get() const { return memory_; }

 private:
  void* memory_ = nullptr;
};

bool prefetch_is_possible() {
  int yes = 0;
  cudaDeviceGetAttribute(&yes, cudaDevAttrConcurrentManagedAccess, current_device());
  return yes != 0;
}

void expect_prefetch(const char* what, int destination) {
  const Page page;
  const cudaError_t error = prefetch(page.get(), Page::kBytes, destination);
  cudaGetLastError();
  if (error != cudaSuccess) {
    kit::fail(std::string("prefetch to ") + what + " returned " + cudaGetErrorName(error) + ".");
  }
}

}  // namespace

TEST(UnifiedMemory, PrefetchesToTheDeviceAndToTheHost) {
  RecordProperty("todo", 1);
  if (!prefetch_is_possible()) return;
  expect_prefetch("the current device", current_device());
  expect_prefetch("the host (cudaCpuDeviceId)", cudaCpuDeviceId);
}

TEST(UnifiedMemory, PrefetchReportsErrors) {
  RecordProperty("todo", 1);
  if (!prefetch_is_possible()) return;
  int devices = 0;
  cudaGetDeviceCount(&devices);
  const Page page;
  EXPECT_EQ(prefetch(page.get(), Page::kBytes, devices), cudaErrorInvalidDevice)
      << "There is no device " << devices << ".";
  cudaGetLastError();
  const auto plain = kit::DeviceBuffer<float>::inout(std::vector<float>(64), "plain");
  EXPECT_EQ(prefetch(plain.get(), 64 * sizeof(float), current_device()), cudaErrorInvalidValue)
      << "Memory of cudaMalloc is not managed: it does not move.";
  cudaGetLastError();
}

TEST(UnifiedMemory, SquaresWhatTheHostHasWritten) {
  RecordProperty("todo", 2);
  kit::for_each("n", kit::awkward_sizes(), [](int n) {
    Call call(n);
    call.run();
    kit::expect_equal("x, as the host reads it", call.out, squares_on_cpu(call.in));
  });
}

TEST(UnifiedMemory, TheHostReadsAfterTheKernelHasEnded) {
  RecordProperty("todo", 3);
  Call call(100000);
  call.run();
  kit::expect_equal("x, as the host reads it", call.out, squares_on_cpu(call.in));
}

TEST(UnifiedMemory, PrefetchesBeforeTheLaunchAndBeforeTheHostReads) {
  RecordProperty("todo", 3);
  Call call(50000);  // several pages
  call.run();
  kit::expect_equal("x, as the host reads it", call.out, squares_on_cpu(call.in));
  kit::budget("prefetches", static_cast<double>(call.prefetches_at_use - call.prefetches_at_fill),
              kit::at_least(2),
              "One to the device after the host has written, one back before it reads");
  if (kit::simulated() && call.uses == 1 && call.prefetches_at_use > call.prefetches_at_fill &&
      call.last_at_use != cudaCpuDeviceId) {
    kit::fail("When the host reads x, not all of its bytes were prefetched to the host last.");
  }
  kit::budget("copies", static_cast<double>(kit::api_calls_like("cudaMemcpy")), kit::at_most(0),
              "Both sides follow the same pointer");
}

// One device moves single pages, the other one does not.
TEST(UnifiedMemory, AsksTheDeviceThatIsCurrent) {
  RecordProperty("todo", 3);
  if (!kit::simulated() || kit::device_count() < 2) return;
  for (const int current : {0, 1}) {
    for (const int unlike : {0, 1}) {
      const kit::UnlikeDevice smaller(unlike);
      const kit::OnDevice scope(current);
      Call call(3000);
      call.run();
      kit::expect_equal("x, as the host reads it", call.out, squares_on_cpu(call.in));
      const uint64_t prefetches = call.prefetches_at_use - call.prefetches_at_fill;
      if (current == unlike ? prefetches == 0 : prefetches >= 2) continue;
      kit::fail("Device " + std::to_string(current) + " is current, where pages " +
                (current == unlike ? "do not move" : "move") + " one by one, and device " +
                std::to_string(1 - current) + " is another card. There were " +
                std::to_string(prefetches) + " prefetches.");
    }
  }
}

TEST(UnifiedMemory, FreesWhatItHasAllocated) {
  RecordProperty("todo", 2);
  Call call(3000);
  const kit::Run run = call.run();
  if (run.leaked_allocations() > 0) {
    kit::fail(std::to_string(run.leaked_bytes()) + " bytes of managed memory were not freed.");
  }
}

// The simulated card has 8 GiB and gives managed memory no more than that.
TEST(UnifiedMemory, ReportsThatThereIsNotEnoughMemory) {
  RecordProperty("todo", 2);
  if (!kit::simulated()) return;
  void* taken = nullptr;
  cudaMalloc(&taken, size_t{1} << 30);
  Call call(1);
  const int most = 0x7FFFFFFF;
  kit::expect_cuda_error(cudaErrorMemoryAllocation);
  kit::run([&] {
    call.error = square_managed(
        most, [](float*, int, void* context) { ++static_cast<Call*>(context)->uses; },
        [](const float*, int, void* context) { ++static_cast<Call*>(context)->uses; }, &call);
  });
  cudaFree(taken);
  if (call.error != cudaErrorMemoryAllocation || call.uses != 0) {
    kit::fail("8.6 GB do not fit what is left of this card: square_managed returned " +
              std::string(cudaGetErrorName(call.error)) + " and called " +
              std::to_string(call.uses) +
              " functions of the test, expected cudaErrorMemoryAllocation and none.");
  }
}
