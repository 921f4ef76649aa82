// CUB's device-wide and block-wide algorithms, as the toolkit's headers have them: their flags,
// look-back and shared memory must give the right answers without any finding.
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <numeric>
#include <vector>

#include "check.h"

namespace {

constexpr int kBlock = 128;
constexpr int kBlocks = 3;

// `sums` gets the sum of each block of `in`, `scanned` the running sums inside of the block.
__global__ void block_algorithms(const int* in, int* sums, int* scanned) {
  using Reduce = cub::BlockReduce<int, kBlock>;
  using Scan = cub::BlockScan<int, kBlock>;
  __shared__ union {
    typename Reduce::TempStorage reduce;
    typename Scan::TempStorage scan;
  } storage;
  const int i = blockIdx.x * kBlock + threadIdx.x;
  const int value = in[i];
  const int sum = Reduce(storage.reduce).Sum(value);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
  __syncthreads();  // the scan uses the memory of the reduction
  int running = 0;
  Scan(storage.scan).InclusiveSum(value, running);
  scanned[i] = running;
}

struct DeviceInts {
  int* data = nullptr;
  int size = 0;
  explicit DeviceInts(const std::vector<int>& values) : size(static_cast<int>(values.size())) {
    CHECK_CUDA(cudaMalloc(&data, values.size() * sizeof(int)));
    CHECK_CUDA(cudaMemcpy(data, values.data(), values.size() * sizeof(int), cudaMemcpyDefault));
  }
  explicit DeviceInts(int n) : size(n) { CHECK_CUDA(cudaMalloc(&data, n * sizeof(int))); }
  ~DeviceInts() { CHECK_CUDA(cudaFree(data)); }
  std::vector<int> read() const {
    std::vector<int> values(static_cast<size_t>(size));
    CHECK_CUDA(cudaMemcpy(values.data(), data, values.size() * sizeof(int), cudaMemcpyDefault));
    return values;
  }
};

// Runs an algorithm of CUB: once for the size of its scratch memory, once for the work.
template <class Algorithm>
void with_scratch(const Algorithm& algorithm) {
  void* scratch = nullptr;
  size_t bytes = 0;
  CHECK_CUDA(algorithm(scratch, bytes));
  CHECK_CUDA(cudaMalloc(&scratch, bytes));
  CHECK_CUDA(algorithm(scratch, bytes));
  CHECK_CUDA(cudaFree(scratch));
}

std::vector<int> numbers(int n) {
  std::vector<int> values(static_cast<size_t>(n));
  for (int i = 0; i < n; ++i) values[static_cast<size_t>(i)] = i * 37 % 101 - 50;
  return values;
}

void check_device(int n) {
  const std::vector<int> in = numbers(n);
  std::vector<int> expected(in.size());
  std::partial_sum(in.begin(), in.end(), expected.begin());
  const DeviceInts d_in(in), d_sum(1), d_scanned(n);
  with_scratch([&](void* scratch, size_t& bytes) {
    return cub::DeviceReduce::Sum(scratch, bytes, d_in.data, d_sum.data, n);
  });
  with_scratch([&](void* scratch, size_t& bytes) {
    return cub::DeviceScan::InclusiveSum(scratch, bytes, d_in.data, d_scanned.data, n);
  });
  CHECK(d_sum.read()[0] == expected.back());
  CHECK(d_scanned.read() == expected);
}

void check_block() {
  const std::vector<int> in = numbers(kBlocks * kBlock);
  const DeviceInts d_in(in), d_sums(kBlocks), d_scanned(kBlocks * kBlock);
  block_algorithms<<<kBlocks, kBlock>>>(d_in.data, d_sums.data, d_scanned.data);
  CHECK_CUDA(cudaGetLastError());
  const std::vector<int> sums = d_sums.read(), scanned = d_scanned.read();
  for (int block = 0; block < kBlocks; ++block) {
    const auto first = in.begin() + block * kBlock;
    std::vector<int> expected(kBlock);
    std::partial_sum(first, first + kBlock, expected.begin());
    CHECK(sums[static_cast<size_t>(block)] == expected.back());
    CHECK(std::equal(expected.begin(), expected.end(), scanned.begin() + block * kBlock));
  }
}

}  // namespace

int main() {
  check_block();
  check_device(100);     // one block
  check_device(50'000);  // several, which look back
  return 0;
}
