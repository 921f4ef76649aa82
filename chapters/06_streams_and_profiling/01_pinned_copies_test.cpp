// Tests of 06/01 pinned copies.
#include "01_pinned_copies.h"

#include <algorithm>
#include <cstdlib>

#include "kit/kit.h"
#include "kit/largest.h"
#include "kit/speed/speed.h"
#include "kit/stream.h"

namespace {

// Memory from the learner's allocator, filled with `values`. A null pointer is a failure.
class HostArray {
 public:
  explicit HostArray(const std::vector<float>& values) : data_(allocate_for_copies(values.size())) {
    if (data_ == nullptr) {
      kit::fail("allocate_for_copies(" + std::to_string(values.size()) + ") returned nullptr.");
    } else {
      std::copy(values.begin(), values.end(), data_);
    }
  }
  ~HostArray() { free_for_copies(data_); }
  HostArray(const HostArray&) = delete;
  HostArray& operator=(const HostArray&) = delete;
  float* get() const { return data_; }

 private:
  float* data_;
};

cudaMemoryType type_of(const void* pointer) {
  cudaPointerAttributes attributes = {};
  cudaPointerGetAttributes(&attributes, pointer);
  cudaGetLastError();  // CUDA before 11 returns an error for memory that it does not know
  return attributes.type;
}

const char* name_of(cudaMemoryType type) {
  switch (type) {
    case cudaMemoryTypeHost:
      return "pinned host memory";
    case cudaMemoryTypeDevice:
      return "device memory";
    case cudaMemoryTypeManaged:
      return "managed memory";
    default:
      return "pageable memory";
  }
}

void expect_success(const char* function, cudaError_t error) {
  if (error != cudaSuccess) {
    kit::fail(std::string(function) + " returned " + cudaGetErrorName(error) +
              " for valid arguments.");
  }
}

}  // namespace

TEST(PinnedCopies, TheMemoryIsPinned) {
  RecordProperty("todo", 1);
  const HostArray x(kit::random_floats(1000));
  if (type_of(x.get()) != cudaMemoryTypeHost) {
    kit::fail(std::string("allocate_for_copies returned ") + name_of(type_of(x.get())) +
              ". The copy engine needs pages that cannot move: cudaMallocHost.");
  }
}

TEST(PinnedCopies, ThereIsNotSoMuchMemory) {
  RecordProperty("todo", 1);
  // Bytes that an int holds no more, and no host either.
  float* const h_x = allocate_for_copies((size_t{1} << 46) + 1000);
  cudaGetLastError();
  if (h_x == nullptr) return;
  free_for_copies(h_x);
  kit::fail(
      "allocate_for_copies returned memory for 2^46 floats, which is 256 TiB: nullptr is "
      "expected. n is a size_t, and so is its number of bytes.");
}

TEST(PinnedCopies, ThePinnedMemoryIsFreed) {
  RecordProperty("todo", 1);
  uint64_t given_back = 0;
  const kit::Run run = kit::run([&] {
    float* h_x = allocate_for_copies(1 << 20);
    if (h_x != nullptr) h_x[0] = h_x[(1 << 20) - 1] = 1.0f;  // all of it is there
    free_for_copies(h_x);
    // Memory of the C library may be pinned as well; it is then unpinned before it is freed.
    given_back = wsim_api_calls("cudaFreeHost") + wsim_api_calls("cudaHostUnregister");
  });
  kit::expect_no_leak(run);
  if (kit::simulated() && given_back == 0) {
    kit::fail("Pinned memory is freed with cudaFreeHost: the C library does not know it.");
  }
}

TEST(PinnedCopies, UploadsEveryElement) {
  RecordProperty("todo", 2);
  kit::for_each("n", kit::awkward_sizes(), [](int n) {
    const std::vector<float> x = kit::random_floats(n);
    const HostArray h_x(x);
    const kit::Stream stream;
    const auto d_x = kit::DeviceBuffer<float>::output(n, "d_x");
    cudaError_t error = cudaSuccess;
    kit::run([&] {
      error = start_upload(d_x.get(), h_x.get(), n, stream.get());
      cudaStreamSynchronize(stream.get());
      return error;
    });
    expect_success("start_upload", error);
    kit::expect_equal(d_x, x);
  });
}

TEST(PinnedCopies, TheUploadIsInItsStreamAndNotWaitedFor) {
  RecordProperty("todo", 2);
  const int n = kit::work_scale(1 << 16, 1 << 26);
  const HostArray h_x(std::vector<float>(n, 1.0f));
  const kit::Stream stream;
  const auto d_x = kit::DeviceBuffer<float>::output(n, "d_x");
  cudaDeviceSynchronize();
  cudaError_t state = cudaSuccess;
  kit::run([&] {
    start_upload(d_x.get(), h_x.get(), n, stream.get());
    state = cudaStreamQuery(stream.get());
    cudaGetLastError();  // "not ready" is remembered like an error
  });
  if (state != cudaErrorNotReady) {
    kit::fail(
        "When start_upload returned, `stream` had nothing left to do. The copy belongs into "
        "`stream`, and the call must return while it is still under way: cudaMemcpyAsync.");
  }
}

TEST(PinnedCopies, UploadsMemoryOfOthersThroughAPinnedWindow) {
  RecordProperty("todo", 3);
  kit::for_each("n", std::vector<int>{1, 1023, 1 << 16}, [](int n) {
    const std::vector<float> values = kit::random_floats(n);
    std::vector<float> x = values;  // pageable
    const kit::Stream stream;
    const auto d_x = kit::DeviceBuffer<float>::output(n, "d_x");
    cudaError_t error = cudaSuccess;
    kit::run([&] {
      x = values;
      error = upload_existing(d_x.get(), x.data(), n, stream.get());
      x.assign(n, -7.0f);  // the caller may use its memory again
      return error;
    });
    expect_success("upload_existing", error);
    if (kit::simulated() && kit::api_calls("cudaHostRegister") != 1) {
      kit::fail("upload_existing must pin the memory it was given, in place: cudaHostRegister.");
    }
    if (type_of(x.data()) == cudaMemoryTypeHost) {
      cudaHostUnregister(x.data());  // the next array may lie in the same place
      kit::fail(
          "h_x is still pinned after upload_existing. Pinned pages are taken from everybody "
          "else: cudaHostUnregister on every way out.");
    }
    kit::expect_equal(d_x, values);
  });
}

TEST(PinnedCopies, MemoryThatIsAlreadyPinnedIsReportedAndLeftAlone) {
  RecordProperty("todo", 3);
  std::vector<float> x = kit::random_floats(5000);
  const std::vector<float> before(x.size(), 3.0f);
  const kit::Stream stream;
  const auto d_x = kit::DeviceBuffer<float>::inout(before, "d_x");
  cudaHostRegister(x.data(), x.size() * sizeof(float), cudaHostRegisterDefault);
  const cudaError_t error = upload_existing(d_x.get(), x.data(), 5000, stream.get());
  cudaGetLastError();
  const bool still_pinned = type_of(x.data()) == cudaMemoryTypeHost;
  if (still_pinned) cudaHostUnregister(x.data());
  if (error != cudaErrorHostMemoryAlreadyRegistered) {
    kit::fail(std::string("h_x was pinned by its owner already, so cudaHostRegister fails. "
                          "upload_existing must return that error; it returned ") +
              cudaGetErrorName(error) + ".");
  }
  if (!still_pinned) {
    kit::fail(
        "upload_existing unpinned memory that it had not pinned itself: its owner relies on "
        "it.");
  }
  cudaStreamSynchronize(stream.get());
  if (d_x.download() != before) {
    kit::fail(
        "The memory could not be pinned, and d_x was written all the same. Where upload_existing "
        "returns that error, it changes nothing.");
  }
}

// All of the memory is pinned, not only where it begins: here its owner has pinned the end.
TEST(PinnedCopies, MemoryWhoseEndIsPinnedIsReported) {
  RecordProperty("todo", 3);
  constexpr int kCount = 1 << 16, kOwners = 1 << 12;  // floats; the owner's are several pages
  std::vector<float> x = kit::random_floats(kCount);
  float* const owners = x.data() + kCount - kOwners;
  const kit::Stream stream;
  const auto d_x = kit::DeviceBuffer<float>::inout(std::vector<float>(kCount, 3.0f), "d_x");
  cudaHostRegister(owners, kOwners * sizeof(float), cudaHostRegisterDefault);
  const cudaError_t error = upload_existing(d_x.get(), x.data(), kCount, stream.get());
  cudaGetLastError();
  cudaHostUnregister(owners);
  if (error == cudaErrorHostMemoryAlreadyRegistered) return;
  kit::fail(std::string("The last 16 KiB of h_x were pinned by their owner already, so all of it "
                        "cannot be pinned. upload_existing must return that error; it returned ") +
            cudaGetErrorName(error) +
            ". Are all n * sizeof(float) bytes given to cudaHostRegister?");
}

// A stream that records what it is given cannot be waited for: the upload fails after the pinning.
TEST(PinnedCopies, TheWindowIsClosedWhenTheUploadFails) {
  RecordProperty("todo", 3);
  // A stream that captures cannot be waited for. What a driver makes of memory that is pinned
  // meanwhile has not been tried, so only the simulator is asked.
  if (!kit::simulated()) return;
  std::vector<float> x = kit::random_floats(5000);
  const kit::Stream stream;
  const auto d_x = kit::DeviceBuffer<float>::output(x.size(), "d_x");
  cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeRelaxed);
  const cudaError_t error = upload_existing(d_x.get(), x.data(), 5000, stream.get());
  cudaGraph_t graph = nullptr;
  cudaStreamEndCapture(stream.get(), &graph);
  if (graph != nullptr) cudaGraphDestroy(graph);
  cudaGetLastError();
  if (error == cudaSuccess) {
    kit::fail(
        "The stream could not be waited for, and upload_existing returned cudaSuccess. It must "
        "return the first error.");
  }
  if (type_of(x.data()) == cudaMemoryTypeHost) {
    cudaHostUnregister(x.data());
    kit::fail(
        "The upload failed, and h_x is still pinned: cudaHostUnregister on every way out, also "
        "behind an error.");
  }
}

TEST(PinnedCopies, UploadsArraysOfGigabytes) {
  RecordProperty("todo", 3);
  // 2^31 and 2^32 bytes: an int and an unsigned int hold them no more.
  for (const int most : {1 << 29, 1 << 30}) {
    kit::at_largest(most, [](int n) {
      const auto pinned = kit::LargeHostFloats::input(n, "h_x", kit::HostPages::kPinned);
      const auto pageable = kit::LargeHostFloats::input(n, "h_x", kit::HostPages::kPageable);
      const auto d_x = kit::LargeArray<float>::output(n, "d_x");
      const auto d_y = kit::LargeArray<float>::output(n, "d_y");
      const kit::Stream stream;
      cudaError_t started = cudaSuccess, existing = cudaSuccess;
      kit::run([&] {
        started = start_upload(d_x.get(), pinned.get(), n, stream.get());
        existing = upload_existing(d_y.get(), pageable.get(), n, stream.get());
        cudaStreamSynchronize(stream.get());
      });
      expect_success("start_upload", started);
      expect_success("upload_existing", existing);
      kit::expect_at_ends(d_x, [&](size_t i) { return pinned.get()[i]; });
      kit::expect_at_ends(d_y, [&](size_t i) { return pageable.get()[i]; });
    });
  }
}

TEST(PinnedCopies, UploadsFast) {
  RecordProperty("todo", 1);
  const int n = kit::work_scale(1 << 20, 1 << 26);
  const size_t bytes = n * sizeof(float);
  const kit::HostMemory yours = {
      [](size_t size) { return allocate_for_copies((size + 3) / sizeof(float)); },
      [](void* memory) { free_for_copies(static_cast<float*>(memory)); }};
  kit::Speed speed;
  const auto x = speed.host_input<float>(n, "h_x", yours);
  const auto pinned = speed.host_input<float>(n, "pinned", kit::pinned_memory());
  const auto pageable = speed.host_input<float>(n, "pageable", kit::pageable_memory());
  const auto d_x = speed.output<float>(n, "d_x");
  const kit::Stream stream;
  speed.whole_call();
  speed.launch([&] { start_upload(d_x.get(), x.get(), n, stream.get()); });
  speed.expect(
      d_x, [&](size_t i) { return x.at(i); }, kit::Tolerance::absolute(0));
  const auto from = [&](const float* h_x) {
    cudaMemcpyAsync(d_x.get(), h_x, bytes, cudaMemcpyHostToDevice, stream.get());
  };
  speed.against(kit::stage("pageable memory", [&] { from(pageable.get()); }), kit::Bars(1.3));
  speed.against(kit::limit("host link", [&] { from(pinned.get()); }), kit::Bars(0.9, 0.9, 0.97));
  speed.grade();
}
