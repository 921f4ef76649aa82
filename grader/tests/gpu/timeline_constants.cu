// Measures the constants of the modelled timeline (grader/simulator/profile/timeline_model.h) on the
// GPU of this machine and prints them as JSON: seconds, and bytes per second.
//
//   nvcc -O2 -std=c++17 -arch=native grader/tests/gpu/timeline_constants.cu -o timeline_constants
//   ./timeline_constants > h200_timeline.json
//
// Each figure is the median of kRepeats measurements, after a warm-up.
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <vector>

namespace {

constexpr int kRepeats = 15;
constexpr int kCalls = 1000;
constexpr size_t kBytes = size_t{256} << 20;

#define CHECK(call)                                                                          \
  do {                                                                                       \
    const cudaError_t error_ = (call);                                                       \
    if (error_ != cudaSuccess) {                                                             \
      std::fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(error_));           \
      std::exit(1);                                                                          \
    }                                                                                        \
  } while (0)

__global__ void empty() {}
__global__ void loaded_once() {}
__global__ void spin(long long cycles) {
  const long long begin = clock64();
  while (clock64() - begin < cycles) {
  }
}

double seconds_now() {
  using Clock = std::chrono::steady_clock;
  return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

double median(const std::function<double()>& measure) {
  std::vector<double> values;
  measure();
  for (int i = 0; i < kRepeats; ++i) values.push_back(measure());
  std::sort(values.begin(), values.end());
  return values[kRepeats / 2];
}

bool first_line = true;
void print(const char* name, double value) {
  std::printf("%s\n  \"%s\": %.6g", first_line ? "" : ",", name, value);
  first_line = false;
}

// Seconds on the host for each of kCalls calls, while the device is kept busy by a long kernel, so
// that the calls never wait for it. kInFlight stays below the depth of a stream's queue.
constexpr int kInFlight = 500;
double host_cost(cudaStream_t stream, const std::function<void()>& call) {
  return median([&] {
    spin<<<1, 1, 0, stream>>>(40'000'000);
    const double begin = seconds_now();
    for (int i = 0; i < kInFlight; ++i) call();
    const double end = seconds_now();
    CHECK(cudaDeviceSynchronize());
    return (end - begin) / kInFlight;
  });
}

// Seconds on the device between two events.
double device_time(cudaStream_t stream, const std::function<void()>& work) {
  cudaEvent_t start, stop;
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&stop));
  const double seconds = median([&] {
    // The queue is filled while the first kernel runs: the host is never the bottleneck.
    spin<<<1, 1, 0, stream>>>(4'000'000);
    CHECK(cudaEventRecord(start, stream));
    work();
    CHECK(cudaEventRecord(stop, stream));
    CHECK(cudaEventSynchronize(stop));
    float ms = 0;
    CHECK(cudaEventElapsedTime(&ms, start, stop));
    return 1e-3 * ms;
  });
  CHECK(cudaEventDestroy(start));
  CHECK(cudaEventDestroy(stop));
  return seconds;
}

void measure_calls(cudaStream_t stream) {
  // The first launch of a kernel, once: its code is loaded then.
  CHECK(cudaDeviceSynchronize());
  const double begin = seconds_now();
  loaded_once<<<1, 1, 0, stream>>>();
  print("first_launch", seconds_now() - begin);
  CHECK(cudaDeviceSynchronize());

  char *device = nullptr, *pinned = nullptr;
  CHECK(cudaMalloc(&device, 4096));
  CHECK(cudaMallocHost(&pinned, 4096));
  cudaEvent_t event;
  CHECK(cudaEventCreate(&event));
  print("call", host_cost(stream, [] { cudaGetLastError(); }));
  print("launch", host_cost(stream, [&] { empty<<<1, 1, 0, stream>>>(); }));
  print("copy_call", host_cost(stream, [&] {
          cudaMemcpyAsync(device, pinned, 4096, cudaMemcpyHostToDevice, stream);
        }));
  print("event_call", host_cost(stream, [&] { cudaEventRecord(event, stream); }));
  print("allocate", median([] {
          void* memory = nullptr;
          const double start = seconds_now();
          CHECK(cudaMalloc(&memory, size_t{64} << 20));
          const double end = seconds_now();
          CHECK(cudaFree(memory));
          return end - start;
        }));
  print("allocate_host", median([] {
          void* memory = nullptr;
          const double start = seconds_now();
          CHECK(cudaMallocHost(&memory, size_t{1} << 20));
          const double end = seconds_now();
          CHECK(cudaFreeHost(memory));
          return end - start;
        }));
  print("create", median([] {
          cudaStream_t made;
          const double start = seconds_now();
          CHECK(cudaStreamCreate(&made));
          const double end = seconds_now();
          CHECK(cudaStreamDestroy(made));
          return end - start;
        }));
  // An empty kernel from call to return of the wait: launch + launch_latency + kernel_least + wake.
  print("launch_and_wait", median([&] {
          const double start = seconds_now();
          empty<<<1, 1, 0, stream>>>();
          CHECK(cudaStreamSynchronize(stream));
          return seconds_now() - start;
        }));
  CHECK(cudaEventDestroy(event));
  CHECK(cudaFreeHost(pinned));
  CHECK(cudaFree(device));
}

void measure_kernels(cudaStream_t stream) {
  const auto kernels = [&](int n) {
    return device_time(stream, [&] {
      for (int i = 0; i < n; ++i) empty<<<1, 1, 0, stream>>>();
    });
  };
  print("kernel_least_plus_gap", (kernels(201) - kernels(1)) / 200);

  cudaGraph_t graph;
  cudaGraphExec_t executable;
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  for (int i = 0; i < kCalls; ++i) empty<<<1, 1, 0, stream>>>();
  CHECK(cudaStreamEndCapture(stream, &graph));
  double begin = seconds_now();
  CHECK(cudaGraphInstantiate(&executable, graph, 0));
  print("instantiate_node", (seconds_now() - begin) / kCalls);
  print("kernel_least_plus_graph_gap", device_time(stream, [&] {
          CHECK(cudaGraphLaunch(executable, stream));
        }) / kCalls);
  print("graph_launch_of_1000", median([&] {
          CHECK(cudaStreamSynchronize(stream));
          begin = seconds_now();
          CHECK(cudaGraphLaunch(executable, stream));
          return seconds_now() - begin;
        }));
  CHECK(cudaGraphExecDestroy(executable));
  CHECK(cudaGraphDestroy(graph));

  // The time that an event takes from one stream to another, back and forth.
  cudaStream_t other;
  cudaEvent_t there, back;
  CHECK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
  CHECK(cudaEventCreateWithFlags(&there, cudaEventDisableTiming));
  CHECK(cudaEventCreateWithFlags(&back, cudaEventDisableTiming));
  constexpr int kTurns = 100;
  print("kernel_least_plus_gap_plus_stream_gap", device_time(stream, [&] {
          for (int i = 0; i < kTurns; ++i) {
            empty<<<1, 1, 0, stream>>>();
            CHECK(cudaEventRecord(there, stream));
            CHECK(cudaStreamWaitEvent(other, there, 0));
            empty<<<1, 1, 0, other>>>();
            CHECK(cudaEventRecord(back, other));
            CHECK(cudaStreamWaitEvent(stream, back, 0));
          }
        }) / (2 * kTurns));
  CHECK(cudaEventDestroy(there));
  CHECK(cudaEventDestroy(back));
  CHECK(cudaStreamDestroy(other));
}

void measure_copies(cudaStream_t stream) {
  char *device = nullptr, *second = nullptr, *pinned = nullptr;
  CHECK(cudaMalloc(&device, kBytes));
  CHECK(cudaMalloc(&second, kBytes));
  CHECK(cudaMallocHost(&pinned, kBytes));
  std::vector<char> pageable(kBytes, 1);
  std::memset(pinned, 1, kBytes);
  const auto rate = [&](double seconds) { return static_cast<double>(kBytes) / seconds; };
  const auto copy = [&](void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
    return device_time(stream,
                       [&] { CHECK(cudaMemcpyAsync(to, from, bytes, kind, stream)); });
  };
  print("copy_latency", copy(device, pinned, 4, cudaMemcpyHostToDevice));
  print("pinned_rate_to_device", rate(copy(device, pinned, kBytes, cudaMemcpyHostToDevice)));
  print("pinned_rate_to_host", rate(copy(pinned, device, kBytes, cudaMemcpyDeviceToHost)));
  print("dram_rate", 2 * rate(copy(second, device, kBytes, cudaMemcpyDeviceToDevice)));
  const auto blocking = [&](void* to, const void* from, cudaMemcpyKind kind) {
    return rate(median([&] {
      const double begin = seconds_now();
      CHECK(cudaMemcpy(to, from, kBytes, kind));
      return seconds_now() - begin;
    }));
  };
  print("pageable_rate_to_device", blocking(device, pageable.data(), cudaMemcpyHostToDevice));
  print("pageable_rate_to_host", blocking(pageable.data(), device, cudaMemcpyDeviceToHost));
  print("host_rate", blocking(pinned, pageable.data(), cudaMemcpyHostToHost));

  int devices = 0;
  CHECK(cudaGetDeviceCount(&devices));
  if (devices > 1) {
    char* far = nullptr;
    CHECK(cudaSetDevice(1));
    CHECK(cudaMalloc(&far, kBytes));
    CHECK(cudaSetDevice(0));
    cudaDeviceEnablePeerAccess(1, 0);
    print("peer_rate", rate(device_time(stream, [&] {
            CHECK(cudaMemcpyPeerAsync(far, 1, device, 0, kBytes, stream));
          })));
    CHECK(cudaFree(far));
  }
  CHECK(cudaFree(device));
  CHECK(cudaFree(second));
  CHECK(cudaFreeHost(pinned));
}

}  // namespace

int main() {
  cudaDeviceProp properties;
  CHECK(cudaGetDeviceProperties(&properties, 0));
  std::printf("{\n  \"device\": \"%s\",\n  \"figures\": {", properties.name);
  cudaStream_t stream;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  empty<<<1, 1, 0, stream>>>();
  spin<<<1, 1, 0, stream>>>(1);
  CHECK(cudaDeviceSynchronize());
  measure_calls(stream);
  measure_kernels(stream);
  measure_copies(stream);
  CHECK(cudaStreamDestroy(stream));
  std::printf("\n  }\n}\n");
  return 0;
}
