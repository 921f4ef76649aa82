// What the tests of the libraries share: a clean device before each test, findings and counters
// through the public interface of the simulator.
#ifndef WARPLINGS_TESTS_SIMULATOR_LIBRARIES_LIBRARY_FIXTURE_H_
#define WARPLINGS_TESTS_SIMULATOR_LIBRARIES_LIBRARY_FIXTURE_H_

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "warplings/sim.h"

class LibraryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    cudaDeviceReset();
    cudaGetLastError();
    wsim_clear_findings();
    wsim_reset_counters();
  }
  void TearDown() override { cudaDeviceReset(); }

  // "memcheck/out-of-bounds-copy", in the order in which they were found.
  static std::vector<std::string> findings() {
    std::vector<std::string> kinds;
    const int count = wsim_finding_count();
    for (int i = 0; i < count; ++i) {
      wsim_finding finding;
      wsim_get_finding(i, &finding);
      kinds.push_back(std::string(finding.check) + "/" + finding.kind);
    }
    return kinds;
  }
  static std::string last_message() {
    wsim_finding finding{};
    const int count = wsim_finding_count();
    return wsim_get_finding(count - 1, &finding) == 0 ? finding.message : "";
  }
  static wsim_counters counters() {
    wsim_counters all;
    wsim_read_counters(&all);
    return all;
  }

  // Device memory that nothing has written.
  template <class T>
  static T* device(size_t count) {
    void* pointer = nullptr;
    EXPECT_EQ(cudaMalloc(&pointer, count * sizeof(T)), cudaSuccess);
    return static_cast<T*>(pointer);
  }
  template <class T>
  static T* device(const std::vector<T>& values) {
    T* pointer = device<T>(values.size());
    EXPECT_EQ(cudaMemcpy(pointer, values.data(), values.size() * sizeof(T), cudaMemcpyDefault),
              cudaSuccess);
    return pointer;
  }
  template <class T>
  static std::vector<T> host(const T* pointer, size_t count) {
    std::vector<T> values(count);
    EXPECT_EQ(cudaMemcpy(values.data(), pointer, count * sizeof(T), cudaMemcpyDefault),
              cudaSuccess);
    return values;
  }
  static cudaStream_t stream(unsigned flags = cudaStreamNonBlocking) {
    cudaStream_t made = nullptr;
    EXPECT_EQ(cudaStreamCreateWithFlags(&made, flags), cudaSuccess);
    return made;
  }
};

using Kinds = std::vector<std::string>;

#endif  // WARPLINGS_TESTS_SIMULATOR_LIBRARIES_LIBRARY_FIXTURE_H_
