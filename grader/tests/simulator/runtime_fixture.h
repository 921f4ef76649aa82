// What the tests of the runtime share: a clean device before each test, and its findings after.
#ifndef WARPLINGS_TESTS_SIMULATOR_RUNTIME_FIXTURE_H_
#define WARPLINGS_TESTS_SIMULATOR_RUNTIME_FIXTURE_H_

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/finding.h"

// Kernels of runtime_kernels.cu; each launcher launches one thread.
void launch_increment(int* value, cudaStream_t stream = nullptr);
void launch_store(int* to, int value, cudaStream_t stream = nullptr);
void launch_copy(int* to, const int* from, cudaStream_t stream = nullptr);
void launch_null_store();
void launch_blocks(dim3 grid, dim3 block, size_t shared = 0);
void launch_bounded(unsigned threads);
const void* big_shared_kernel();
void* store_kernel();  // (int* to, int value)
int launch_line();     // the line of the launch in launch_increment

namespace warplings::sim {

class RuntimeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    cudaDeviceReset();
    cudaGetLastError();
    FindingLog::instance().clear();
  }
  void TearDown() override { cudaDeviceReset(); }

  // Kinds of the findings, notes left out.
  static std::vector<std::string> findings() {
    std::vector<std::string> kinds;
    for (const Finding& finding : FindingLog::instance().snapshot()) {
      if (!finding.is_note) kinds.push_back(finding.check + "/" + finding.kind);
    }
    return kinds;
  }
  static Finding last_finding() {
    const auto all = FindingLog::instance().snapshot();
    return all.empty() ? Finding{} : all.back();
  }

  template <class T>
  static T* device(size_t count) {
    void* pointer = nullptr;
    EXPECT_EQ(cudaMalloc(&pointer, count * sizeof(T)), cudaSuccess);
    return static_cast<T*>(pointer);
  }
  template <class T>
  static T* pinned(size_t count) {
    void* pointer = nullptr;
    EXPECT_EQ(cudaMallocHost(&pointer, count * sizeof(T)), cudaSuccess);
    return static_cast<T*>(pointer);
  }
};

using Kinds = std::vector<std::string>;

}  // namespace warplings::sim

#endif  // WARPLINGS_TESTS_SIMULATOR_RUNTIME_FIXTURE_H_
