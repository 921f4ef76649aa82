// Measures throughputs that the modelled cost needs (grader/simulator/MODEL.md) on the GPU of this
// machine and prints them as JSON:
//
//   nvcc -O2 -std=c++17 -arch=native grader/tests/gpu/throughputs.cu -o throughputs &&
//   ./throughputs
//
// Clocks are those of the multiprocessors, counted by clock64 in the same run. Each figure is the
// best of kRepeats runs after one to warm up.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

constexpr int kRepeats = 5;

#define CHECK(call)                                                                \
  do {                                                                             \
    const cudaError_t error_ = (call);                                             \
    if (error_ != cudaSuccess) {                                                   \
      std::fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(error_)); \
      std::exit(1);                                                                \
    }                                                                              \
  } while (0)

// Least seconds of a launch.
template <class Launch>
double seconds_of(Launch launch) {
  cudaEvent_t begin, end;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  double least = 1e9;
  for (int repeat = 0; repeat <= kRepeats; ++repeat) {
    CHECK(cudaEventRecord(begin));
    launch();
    CHECK(cudaGetLastError());
    CHECK(cudaEventRecord(end));
    CHECK(cudaEventSynchronize(end));
    float ms = 0.0f;
    CHECK(cudaEventElapsedTime(&ms, begin, end));
    if (repeat > 0) least = std::min(least, ms * 1e-3);
  }
  CHECK(cudaEventDestroy(begin));
  CHECK(cudaEventDestroy(end));
  return least;
}

// `width` bytes of every sector of 32 are written by one warp in one request; the rest of the
// sector by others, much later. words: the size of `out` in 4-byte words.
template <int kWidth>
__global__ void store_parts(unsigned* out, size_t words, int passes) {
  constexpr size_t kWords = kWidth / 4;   // of a part
  constexpr size_t kParts = 32 / kWidth;  // of a sector
  const size_t thread = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  const size_t stride = static_cast<size_t>(gridDim.x) * blockDim.x;
  const size_t half = words / kParts;  // words written in one pass over all sectors
  for (int pass = 0; pass < passes; ++pass) {
    const size_t part = pass % kParts;
    for (size_t i = thread; i < half; i += stride) {
      out[i / kWords * 8 + part * kWords + i % kWords] = static_cast<unsigned>(i);
    }
  }
}

// Reads `words` again and again, 16 bytes per thread and request.
__global__ void read_all(const uint4* in, size_t n, int passes, unsigned* sink) {
  const size_t thread = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  const size_t stride = static_cast<size_t>(gridDim.x) * blockDim.x;
  unsigned sum = 0;
  for (int pass = 0; pass < passes; ++pass) {
    size_t i = thread;
    for (; i + 7 * stride < n; i += 8 * stride) {
      uint4 x[8];
#pragma unroll
      for (int k = 0; k < 8; ++k) x[k] = __ldcg(&in[i + k * stride]);
#pragma unroll
      for (int k = 0; k < 8; ++k) sum += x[k].x ^ x[k].y ^ x[k].z ^ x[k].w;
    }
  }
  if (sum == 12345) *sink = sum;
}
__global__ void write_all(uint4* out, size_t n, int passes) {
  const size_t thread = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  const size_t stride = static_cast<size_t>(gridDim.x) * blockDim.x;
  for (int pass = 0; pass < passes; ++pass) {
    for (size_t i = thread; i < n; i += stride) {
      out[i] = make_uint4(pass, pass, pass, pass);
    }
  }
}

// Loads that hit L1, each request touching `lines` lines of 128 bytes: in each the same words, or
// every lane in a bank of its own (were the banks those of shared memory). Each address hangs on the
// word loaded before, which is 0, so that no load is left out. One block of 1024 threads.
__global__ void load_lines(const unsigned* zeros, int lines, bool own_banks, long long* cycles,
                           unsigned* sink) {
  const int lane = threadIdx.x % 32, lanes_per_line = 32 / lines;
  const int word = own_banks ? lane : lane % lanes_per_line;
  const unsigned* at = zeros + lane / lanes_per_line * 32 + word;
  for (int k = 0; k < 8; ++k) at += *at;
  __syncthreads();
  const long long begin = clock64();
#pragma unroll 8
  for (int k = 0; k < 256; ++k) at += *at;
  __syncthreads();
  const long long end = clock64();
  if (threadIdx.x == 0) *cycles = end - begin;
  if (at < zeros) *sink = 1;
}

__device__ unsigned folded(unsigned x) { return x; }
__device__ unsigned folded(uint4 x) { return x.x ^ x.y ^ x.z ^ x.w; }

// Rounds of kLoads independent loads per thread; every result of a round is needed before the next.
template <int kLoads, class T>
__global__ void read_rounds(const T* in, size_t n, unsigned* sink) {
  const size_t thread = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  const size_t stride = static_cast<size_t>(gridDim.x) * blockDim.x;
  unsigned sum = 0;
#pragma unroll 1
  for (size_t i = thread; i + (kLoads - 1) * stride < n; i += kLoads * stride) {
    T x[kLoads];
#pragma unroll
    for (int k = 0; k < kLoads; ++k) x[k] = in[i + k * stride];
#pragma unroll
    for (int k = 0; k < kLoads; ++k) sum += folded(x[k]);
  }
  if (sum == 12345) *sink = sum;
}

// One block at a time on each multiprocessor: it spins, then stores or loads and ends.
__global__ void spin_and_store(long long clocks, unsigned* out) {
  const long long begin = clock64();
  while (clock64() - begin < clocks) {
  }
  out[(blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x) * 8] = 1;
}

__global__ void nothing() {}

// Each block takes at least `clocks`; *done counts nothing, it keeps the loop.
__global__ void spin(long long clocks) {
  const long long begin = clock64();
  while (clock64() - begin < clocks) {
  }
}

__global__ void clock_rate(long long* cycles, long long clocks) {
  const long long begin = clock64();
  while (clock64() - begin < clocks) {
  }
  *cycles = clock64() - begin;
}

class Report {
 public:
  void add(const std::string& name, double value) {
    text_ += (text_.empty() ? "" : ",\n");
    char line[160];
    std::snprintf(line, sizeof line, " \"%s\": %.4g", name.c_str(), value);
    text_ += line;
  }
  void print() const { std::printf("{\n%s\n}\n", text_.c_str()); }

 private:
  std::string text_;
};

template <int kWidth>
void report_parts(Report& report, unsigned* memory, size_t bytes, const char* where, double hz) {
  const int parts = 32 / kWidth;
  const int passes = (bytes > (size_t{1} << 27) ? 1 : 16) * parts;
  const double seconds =
      seconds_of([&] { store_parts<kWidth><<<132 * 8, 256>>>(memory, bytes / 4, passes); });
  const double stores = passes * (bytes / 32.0);
  report.add("stores of " + std::to_string(kWidth) + " bytes of a sector, " + where +
                 ", sectors per clock",
             stores / seconds / hz);
}

template <int kLoads, class T>
void report_rounds(Report& report, const unsigned* memory, size_t bytes, int sms, double hz,
                   unsigned* sink) {
  for (int warps : {1, 4, 16, 32}) {
    const size_t n = bytes / sizeof(T) / (warps < 4 ? 4 : 1);
    const double clocks =
        hz * seconds_of([&] {
          read_rounds<kLoads><<<sms, warps * 32>>>(reinterpret_cast<const T*>(memory), n, sink);
        });
    const double per_round = static_cast<double>(sms) * warps * 32 * kLoads;
    report.add(std::to_string(kLoads) + " loads of " + std::to_string(sizeof(T)) + " bytes, " +
                   std::to_string(warps) + " warps per multiprocessor, clocks per round",
               clocks / (static_cast<double>(n) / per_round));
  }
}

}  // namespace

int main() {
  Report report;
  cudaDeviceProp device;
  CHECK(cudaGetDeviceProperties(&device, 0));
  const int sms = device.multiProcessorCount;
  const size_t big = size_t{1} << 30, small = size_t{1} << 24;
  unsigned *memory, *sink;
  long long* cycles;
  CHECK(cudaMalloc(&memory, big));
  CHECK(cudaMemset(memory, 0, big));
  CHECK(cudaMalloc(&sink, 4096));
  CHECK(cudaMallocManaged(&cycles, 64));

  const double second = seconds_of([&] { clock_rate<<<1, 1>>>(cycles, 10000000); });
  CHECK(cudaDeviceSynchronize());
  const double hz = *cycles / second;
  report.add("clock, GHz", hz * 1e-9);

  report_parts<4>(report, memory, small, "in L2", hz);
  report_parts<8>(report, memory, small, "in L2", hz);
  report_parts<16>(report, memory, small, "in L2", hz);
  report_parts<32>(report, memory, small, "in L2", hz);
  report_parts<4>(report, memory, big, "in DRAM", hz);
  report_parts<8>(report, memory, big, "in DRAM", hz);
  report_parts<16>(report, memory, big, "in DRAM", hz);
  report_parts<32>(report, memory, big, "in DRAM", hz);

  const auto* in = reinterpret_cast<const uint4*>(memory);
  const size_t n_small = small / 16, n_big = big / 16;
  const size_t n_whole = n_small / (sms * 2 * 1024 * 8) * (sms * 2 * 1024 * 8) + sms * 2 * 1024 * 8;
  report.add("read from L2, bytes per clock", 64.0 * 16 * n_whole / seconds_of([&] {
                                                read_all<<<sms * 2, 1024>>>(in, n_whole, 64, sink);
                                              }) / hz);
  report.add("write to L2, bytes per clock", 64.0 * small / seconds_of([&] {
                                               write_all<<<sms * 2, 1024>>>(
                                                   reinterpret_cast<uint4*>(memory), n_small, 64);
                                             }) / hz);
  for (int blocks : {8, 16, 33, 66, 132}) {
    // As much work for each block in every case.
    const size_t n = n_big / 132 * blocks;
    report.add(
        "read from DRAM by " + std::to_string(blocks) + " blocks, bytes per clock and block",
        16.0 * n / seconds_of([&] { read_all<<<blocks, 1024>>>(in, n, 1, sink); }) / hz / blocks);
    const size_t few = static_cast<size_t>(blocks) * 1024 * 8;
    report.add("read from L2 by " + std::to_string(blocks) + " blocks, bytes per clock and block",
               64.0 * 16 * few /
                   seconds_of([&] { read_all<<<blocks, 1024>>>(in, few, 64, sink); }) / hz /
                   blocks);
  }
  report.add("read from DRAM, whole card, GB/s",
             1e-9 * big / seconds_of([&] { read_all<<<sms * 2, 1024>>>(in, n_big, 1, sink); }));
  report.add("write to DRAM, whole card, GB/s", 1e-9 * big / seconds_of([&] {
                                                  write_all<<<sms * 2, 1024>>>(
                                                      reinterpret_cast<uint4*>(memory), n_big, 1);
                                                }));

  unsigned* zeros;
  CHECK(cudaMalloc(&zeros, 8192));
  CHECK(cudaMemset(zeros, 0, 8192));
  for (int lines : {1, 2, 4, 8, 16, 32}) {
    for (bool own_banks : {false, true}) {
      seconds_of([&] { load_lines<<<1, 1024>>>(zeros, lines, own_banks, cycles, sink); });
      CHECK(cudaDeviceSynchronize());
      report.add("load of " + std::to_string(lines) + " lines" +
                     (own_banks ? " in banks of their own" : "") +
                     " that hit L1, cycles per request",
                 *cycles / (256.0 * 32));
    }
  }
  report_rounds<1, unsigned>(report, memory, big, sms, hz, sink);
  report_rounds<2, unsigned>(report, memory, big, sms, hz, sink);
  report_rounds<4, unsigned>(report, memory, big, sms, hz, sink);
  report_rounds<8, unsigned>(report, memory, big, sms, hz, sink);
  report_rounds<1, uint4>(report, memory, big, sms, hz, sink);
  report_rounds<2, uint4>(report, memory, big, sms, hz, sink);
  report_rounds<4, uint4>(report, memory, big, sms, hz, sink);

  for (int threads : {32, 64, 128, 256, 512, 1024}) {
    const int blocks = 1 << 20;
    report.add(
        "empty blocks of " + std::to_string(threads) + ", clocks per block and multiprocessor",
        seconds_of([&] { nothing<<<blocks, threads>>>(); }) * hz * sms / blocks);
  }
  // One block at a time per multiprocessor, which holds it with its shared memory.
  const int most = static_cast<int>(device.sharedMemPerBlockOptin);
  CHECK(cudaFuncSetAttribute(spin, cudaFuncAttributeMaxDynamicSharedMemorySize, most));
  CHECK(cudaFuncSetAttribute(spin_and_store, cudaFuncAttributeMaxDynamicSharedMemorySize, most));
  for (int threads : {32, 256, 1024}) {
    const int rounds = 200;
    const double all = seconds_of([&] { spin<<<sms * rounds, threads, most>>>(2000); });
    const double one = seconds_of([&] { spin<<<sms, threads, most>>>(2000); });
    report.add("from the end of a block of " + std::to_string(threads) +
                   " to the work of the next, clocks",
               (all - one) * hz / (rounds - 1) - 2000);
    const double stored =
        seconds_of([&] { spin_and_store<<<sms * rounds, threads, most>>>(2000, memory); });
    const double once = seconds_of([&] { spin_and_store<<<sms, threads, most>>>(2000, memory); });
    report.add("the same with a store before the end, clocks",
               (stored - once) * hz / (rounds - 1) - 2000);
  }
  report.print();
}
