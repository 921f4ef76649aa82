// simulator_speed: processor time of the kernels of speed.cu in the simulator, without and with its
// checks and counters, in one table. Products also as multiples of the same product in scalar loops
// on the host: built with -O2 and no -march, so that this baseline stays scalar.
//
//   simulator_speed          all cases
//   simulator_speed WORD     those whose name has the word
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
#include <string>
#include <vector>

#include "speed.h"

namespace {

constexpr int kRuns = 3;  // the best counts

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
std::vector<float> integers(int n, int seed) {
  std::vector<float> out(static_cast<size_t>(n) * static_cast<size_t>(n));
  for (size_t i = 0; i < out.size(); ++i) {
    out[i] = static_cast<float>(static_cast<int>(i * 7 + static_cast<size_t>(seed)) % 13 - 6);
  }
  return out;
}

double scalar_seconds(int n) {
  const std::vector<float> a = integers(n, 1), b = integers(n, 5);
  std::vector<float> c(a.size());
  return best_of([&] { multiply(a.data(), b.data(), c.data(), n); });
}

uint64_t hash_of(const std::vector<float>& values) {
  uint64_t hash = 0xcbf29ce484222325ull;
  for (const float value : values) {
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    hash = (hash ^ bits) * 0x100000001b3ull;
  }
  return hash;
}

int measure_here(const SpeedCase& which) {
  const std::vector<float> a = integers(which.n, 1), b = integers(which.n, 5);
  std::vector<float> c(a.size());
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
    which.launch(d_a, d_b, d_c, which.n);
    cudaDeviceSynchronize();
  });
  cudaMemcpy(c.data(), d_c, bytes, cudaMemcpyDeviceToHost);
  if (which.is_product) {
    std::vector<float> expected(a.size());
    multiply(a.data(), b.data(), expected.data(), which.n);
    if (c != expected) {
      std::fprintf(stderr, "simulator_speed: wrong result: %s\n", which.name);
      return 1;
    }
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::printf("%.6f %ld %llx\n", seconds, usage.ru_maxrss,
              static_cast<unsigned long long>(hash_of(c)));
  return 0;
}

struct Measured {
  double seconds = 0;
  long peak_kilobytes = 0;  // of resident memory, the matrices of the host among it
  unsigned long long hash = 0;
};

// In a process of its own, because the options of the engine are read once.
Measured measure(const std::string& program, size_t index, bool checks) {
  const std::string command = (checks ? "'" : "GRADE_SIM_CHECKS=0 GRADE_SIM_COUNTERS=0 '") +
                              program + "' --case " + std::to_string(index);
  FILE* pipe = popen(command.c_str(), "r");
  Measured measured;
  const bool read = pipe != nullptr && std::fscanf(pipe, "%lf %ld %llx", &measured.seconds,
                                                   &measured.peak_kilobytes, &measured.hash) == 3;
  if (pipe != nullptr && pclose(pipe) == 0 && read) return measured;
  std::exit(1);
}

int print_table(const std::string& program, const char* word) {
  std::printf("processor time in seconds, best of %d\n", kRuns);
  std::printf("| kernel | n | unchecked | checked | ratio | / scalar loops | MB |\n");
  std::printf("| --- | --- | --- | --- | --- | --- | --- |\n");
  std::vector<double> ratios;
  for (size_t i = 0; i < kSpeedCases.size; ++i) {
    const SpeedCase& which = kSpeedCases.first[i];
    if (word != nullptr && std::strstr(which.name, word) == nullptr) continue;
    const Measured unchecked = measure(program, i, false), checked = measure(program, i, true);
    if (unchecked.hash != checked.hash) {
      std::fprintf(stderr, "simulator_speed: the checks change the result: %s\n", which.name);
      return 1;
    }
    ratios.push_back(checked.seconds / unchecked.seconds);
    const double scalar = which.is_product ? scalar_seconds(which.n) : 0;
    std::printf("| %s | %d | %.3f | %.3f | %.1f | ", which.name, which.n, unchecked.seconds,
                checked.seconds, ratios.back());
    if (which.is_product) {
      std::printf("%.1f, %.1f", unchecked.seconds / scalar, checked.seconds / scalar);
    }
    std::printf(" | %ld |\n", checked.peak_kilobytes / 1024);
    std::fflush(stdout);
  }
  if (ratios.empty()) return 1;
  std::sort(ratios.begin(), ratios.end());
  std::printf("ratio: median %.1f, largest %.1f\n", ratios[ratios.size() / 2], ratios.back());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::strcmp(argv[1], "--case") == 0) {
    return measure_here(kSpeedCases.first[std::atoi(argv[2])]);
  }
  char self[4096] = {};
  if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0) return 1;
  return print_table(self, argc == 2 ? argv[1] : nullptr);
}
