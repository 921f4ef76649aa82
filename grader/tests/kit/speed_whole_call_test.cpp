// Speed of whole calls on the modelled timeline: host arrays, stages and limits.
#include <cuda_bf16.h>
#include <gtest/gtest.h>

#include <cstring>

#include "failure_of.h"
#include "kernels.h"
#include "kit/speed/speed.h"

namespace {

using kit_tests::failure_of;

constexpr int kCallCount = 1 << 20;  // floats: 76 us over a link of 55 GB/s

// y = x, by way of the host's calls alone.
struct Upload {
  kit::Speed speed;
  kit::SpeedBuffer<float> x, y;

  explicit Upload(const kit::HostMemory& memory)
      : x(speed.host_input<float>(kCallCount, "x", memory)),
        y(speed.output<float>(kCallCount, "y")) {
    speed.whole_call();
    speed.expect(
        y, [this](size_t i) { return x.at(i); }, kit::Tolerance::absolute(0));
  }
  void copy(size_t count) {
    cudaMemcpyAsync(y.get(), x.get(), count * sizeof(float), cudaMemcpyHostToDevice);
  }
};

}  // namespace

TEST(WholeCall, OfWhatTheLimitDoesIsTheLimit) {
  Upload upload(kit::pinned_memory());
  upload.speed.launch([&] { upload.copy(kCallCount); });
  upload.speed.against(kit::limit("link", [&] { upload.copy(kCallCount); }), kit::Bars(1.03));
  EXPECT_TRUE(upload.speed.grade());
}

TEST(WholeCall, TakesArraysOfBfloat16) {
  kit::Speed speed;
  const auto x = speed.host_input<__nv_bfloat16>(kCallCount, "x", kit::pinned_memory());
  const auto y = speed.output<__nv_bfloat16>(kCallCount, "y");
  const auto upload = [&] {
    cudaMemcpyAsync(y.get(), x.get(), kCallCount * sizeof(__nv_bfloat16), cudaMemcpyHostToDevice);
  };
  speed.whole_call().launch(upload);
  speed.expect(
      y, [&](size_t i) { return __bfloat162float(x.at(i)); }, kit::Tolerance::absolute(0));
  speed.against(kit::limit("link", upload), kit::Bars(0.97));
  EXPECT_TRUE(speed.grade());
}

TEST(WholeCall, CountsTheCopiesOfAStage) {
  Upload upload(kit::pinned_memory());
  upload.speed.launch([&] { upload.copy(kCallCount); });
  const auto twice = [&] {
    upload.copy(kCallCount);
    upload.copy(kCallCount);
  };
  upload.speed.against(kit::stage("two copies", twice), kit::Bars(1.9));
  EXPECT_TRUE(upload.speed.grade());
}

TEST(WholeCall, BelowItsLimitFailsAndNamesTheShare) {
  const std::string failure = failure_of([] {
    Upload upload(kit::pinned_memory());
    upload.speed.launch([&] {
      upload.copy(kCallCount);
      upload.copy(kCallCount);
    });
    upload.speed.against(kit::limit("link", [&] { upload.copy(kCallCount); }), kit::Bars(0.9));
    upload.speed.grade();
  });
  EXPECT_NE(failure.find("% of the link (a pass needs 0.9)"), std::string::npos) << failure;
}

TEST(WholeCall, PageableMemoryIsSlowerThanPinnedMemory) {
  Upload upload(kit::pageable_memory());
  const std::string failure = failure_of([&] {
    float* pinned = nullptr;
    cudaMallocHost(reinterpret_cast<void**>(&pinned), kCallCount * sizeof(float));
    std::memset(pinned, 0, kCallCount * sizeof(float));
    upload.speed.launch([&] { upload.copy(kCallCount); });
    const auto from_pinned = [&] {
      cudaMemcpyAsync(upload.y.get(), pinned, kCallCount * sizeof(float), cudaMemcpyHostToDevice);
    };
    upload.speed.against(kit::limit("link", from_pinned), kit::Bars(0.5));
    upload.speed.grade();
    cudaFreeHost(pinned);
  });
  EXPECT_NE(failure.find("of the link"), std::string::npos) << failure;
}

TEST(WholeCall, AHalfDoneCopyIsFound) {
  const std::string failure = failure_of([] {
    Upload upload(kit::pinned_memory());
    upload.speed.launch([&] { upload.copy(kCallCount / 2); });
    upload.speed.grade();
  });
  EXPECT_NE(failure.find("never written"), std::string::npos) << failure;
}

TEST(WholeCall, AChangedHostInputIsFound) {
  const std::string failure = failure_of([] {
    Upload upload(kit::pinned_memory());
    upload.speed.launch([&] {
      upload.copy(kCallCount);
      cudaDeviceSynchronize();
      upload.x.get()[7] = 5;
    });
    upload.speed.grade();
  });
  EXPECT_NE(failure.find("changed 1 of the"), std::string::npos) << failure;
}

TEST(WholeCall, AHostOutputIsCheckedWithItsRedZones) {
  const auto grade = [](size_t surplus) {
    return failure_of([surplus] {
      kit::Speed speed;
      const auto x = speed.input<float>(kCallCount, "x");
      const auto y = speed.host_output<float>(kCallCount, "y", kit::pinned_memory());
      speed.whole_call();
      speed.expect(
          y, [&](size_t i) { return x.at(i); }, kit::Tolerance::absolute(0));
      speed.launch([&] {
        cudaMemcpyAsync(y.get(), x.get(), kCallCount * sizeof(float), cudaMemcpyDeviceToHost);
        cudaDeviceSynchronize();
        std::memset(y.get() + kCallCount, 0, surplus);
      });
      speed.grade();
    });
  };
  EXPECT_EQ(grade(0), "");
  EXPECT_NE(grade(1).find("past the end of y"), std::string::npos) << grade(1);
}

TEST(WholeCall, TheFirstLaunchOfAStageIsNotItsTime) {
  kit::Speed speed;
  const auto x = speed.input<float>(1 << 10, "x");
  const auto y = speed.output<float>(1 << 10, "y");
  speed.whole_call();
  const auto work = [&] { launch_twice(x.get(), y.get(), 1 << 10); };
  speed.launch(work);
  speed.against(kit::stage("itself", work), kit::Bars(1.03));  // 3 % are forgiven
  EXPECT_TRUE(speed.grade());
}
