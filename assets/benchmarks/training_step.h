// What the programs of training_step.py share: timing of steps, and answers to requests for it.
#ifndef ASSETS_BENCHMARKS_TRAINING_STEP_H_
#define ASSETS_BENCHMARKS_TRAINING_STEP_H_

#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>
#include <vector>

#include "support.h"

constexpr int kWarmUp = 20, kSteps = 100;
constexpr float kRate = 0.01f;

inline void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}

// Microseconds of some calls in a stream, by events; the median of single ones.
inline double time_single(cudaStream_t stream, int count, const std::function<void(int)>& call) {
  std::vector<cudaEvent_t> events(count + 1);
  for (cudaEvent_t& event : events) cudaEventCreate(&event);
  cudaEventRecord(events[0], stream);
  for (int i = 0; i < count; ++i) {
    call(i);
    cudaEventRecord(events[i + 1], stream);
  }
  check(cudaStreamSynchronize(stream), "timed work");
  std::vector<float> times(count);
  for (int i = 0; i < count; ++i) cudaEventElapsedTime(&times[i], events[i], events[i + 1]);
  for (cudaEvent_t event : events) cudaEventDestroy(event);
  std::nth_element(times.begin(), times.begin() + count / 2, times.end());
  return times[count / 2] * 1e3;
}

// Answers each line of the input with the microseconds of a step: the mean of kSteps by the clock
// and the median of as many single ones by events, after kWarmUp. step(i) queues step number i.
inline void serve_times(cudaStream_t stream, const std::function<void(int)>& step) {
  std::puts("ready");
  std::fflush(stdout);
  for (int line; (line = std::getchar()) != EOF;) {
    if (line != '\n') continue;
    for (int i = 0; i < kWarmUp; ++i) step(i);
    check(cudaStreamSynchronize(stream), "warm-up");
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < kSteps; ++i) step(i);
    check(cudaStreamSynchronize(stream), "steps");
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
    std::printf("%.2f %.2f\n", time.count() / kSteps * 1e6, time_single(stream, kSteps, step));
    std::fflush(stdout);
  }
}

// Uniform in +-1 / sqrt(fan_in); batch norm begins as 1 and 0.
inline std::vector<float> first_parameters(std::mt19937& random) {
  const Parameters p = parameters_of(kMnistNetwork);
  Tensor tensors[kTensors];
  list_tensors(p, tensors);
  std::vector<float> values(p.total);
  for (const Tensor& tensor : tensors) {
    const float bound = tensor.fan_in > 0 ? 1 / std::sqrt(static_cast<float>(tensor.fan_in)) : 0;
    const bool is_gamma = bound == 0 && std::strstr(tensor.name, "weight") != nullptr;
    std::uniform_real_distribution<float> uniform(-bound, bound);
    for (int i = 0; i < tensor.size; ++i) {
      values[tensor.offset + i] = bound > 0 ? uniform(random) : is_gamma ? 1.0f : 0.0f;
    }
  }
  return values;
}

// n images of floats, then n labels of a byte.
inline void fill_batch(std::mt19937& random, int n, unsigned char* batch) {
  std::normal_distribution<float> normal;
  const int count = n * kMnistNetwork.image * kMnistNetwork.image;
  float* images = reinterpret_cast<float*>(batch);
  for (int i = 0; i < count; ++i) images[i] = normal(random);
  for (int i = 0; i < n; ++i) batch[size_t(count) * sizeof(float) + i] = random() % 10;
}

#endif  // ASSETS_BENCHMARKS_TRAINING_STEP_H_
