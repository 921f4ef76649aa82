// simulator_speed: processor time of two products in the simulator, as multiples of the same
// product in scalar loops on the host. Built with -O2 and no -march, so that the baseline stays
// scalar.
#include <cuda_runtime_api.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <vector>

#include "speed.h"

namespace {

constexpr int kN = 512;
constexpr int kRuns = 5;  // the best counts

double processor_seconds() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

double best_of(const std::function<void()>& work) {
  double best = 1e30;
  for (int i = 0; i < kRuns; ++i) {
    const double start = processor_seconds();
    work();
    best = std::min(best, processor_seconds() - start);
  }
  return best;
}

__attribute__((noinline)) void multiply(const float* a, const float* b, float* c, int n) {
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      float acc = 0.0f;
      for (int k = 0; k < n; ++k) acc += a[i * n + k] * b[k * n + j];
      c[i * n + j] = acc;
    }
  }
}

// Small integers: every order of summation is exact, so results compare bit by bit.
std::vector<float> integers(int seed) {
  std::vector<float> out(kN * kN);
  for (size_t i = 0; i < out.size(); ++i) {
    out[i] = static_cast<float>(static_cast<int>(i * 7 + static_cast<size_t>(seed)) % 13 - 6);
  }
  return out;
}

using Launcher = void (*)(const float*, const float*, float*, int);

int measure_here(Launcher launch) {
  const std::vector<float> a = integers(1), b = integers(5);
  std::vector<float> c(a.size()), expected(a.size());
  multiply(a.data(), b.data(), expected.data(), kN);
  const size_t bytes = a.size() * sizeof(float);
  float *d_a, *d_b, *d_c;
  cudaMalloc(reinterpret_cast<void**>(&d_a), bytes);
  cudaMalloc(reinterpret_cast<void**>(&d_b), bytes);
  cudaMalloc(reinterpret_cast<void**>(&d_c), bytes);
  cudaMemcpy(d_a, a.data(), bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(d_b, b.data(), bytes, cudaMemcpyHostToDevice);
  const double seconds = best_of([&] {
    // The runtime counts an unchanged launch without executing it again: change something.
    cudaMemset(d_c, 0, bytes);
    launch(d_a, d_b, d_c, kN);
    cudaDeviceSynchronize();
  });
  cudaMemcpy(c.data(), d_c, bytes, cudaMemcpyDeviceToHost);
  if (c != expected) {
    std::fprintf(stderr, "simulator_speed: the product is wrong\n");
    return 1;
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::printf("%.6f %ld\n", seconds, usage.ru_maxrss);
  return 0;
}

struct Measured {
  double seconds = 0;
  long peak_kilobytes = 0;  // of resident memory, the matrices of the host among it
};

// In a process of its own, because the options of the engine are read once.
Measured measure(const char* program, const char* kernel, bool checks) {
  char command[4096];
  std::snprintf(command, sizeof(command), "%s '%s' %s",
                checks ? "" : "GRADE_SIM_CHECKS=0 GRADE_SIM_COUNTERS=0", program, kernel);
  FILE* pipe = popen(command, "r");
  Measured measured;
  const bool read = pipe != nullptr &&
                    std::fscanf(pipe, "%lf %ld", &measured.seconds, &measured.peak_kilobytes) == 2;
  if (pipe != nullptr && pclose(pipe) == 0 && read) return measured;
  std::exit(1);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2) {
    return measure_here(std::strcmp(argv[1], "tiled") == 0 ? launch_matmul_tiled
                                                           : launch_matmul_registers);
  }
  char self[4096] = {};
  if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0) return 1;
  const std::vector<float> a = integers(1), b = integers(5);
  std::vector<float> c(a.size());
  const double baseline = best_of([&] { multiply(a.data(), b.data(), c.data(), kN); });
  std::printf("n = %d, processor time, best of %d; scalar loops %.3f s\n", kN, kRuns, baseline);
  std::printf("| kernel | unchecked | all checks and counters | peak memory, checked |\n");
  std::printf("| --- | --- | --- | --- |\n");
  for (const char* kernel : {"tiled", "registers"}) {
    const Measured unchecked = measure(self, kernel, false);
    const Measured checked = measure(self, kernel, true);
    std::printf("| %s | %.1f | %.1f | %ld MB |\n", kernel, unchecked.seconds / baseline,
                checked.seconds / baseline, checked.peak_kilobytes / 1024);
  }
  return 0;
}
