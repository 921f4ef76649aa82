// Times of 12/15's training step on a GPU, as one line of JSON per batch size; training_step.py
// builds and runs it.
//   training_step N ...                 20 steps of warm-up, 100 steps, every kernel alone
//   training_step train N IN OUT STEPS  parameters and batches from a file; the parameters
//   afterwards
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "15_faster_than_pytorch.h"

namespace {

constexpr int kWarmUp = 20, kSteps = 100;
constexpr float kRate = 0.01f;

void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}

// A step with streams, two pinned batches, and its two graphs.
struct Trainer {
  FusedStep step = {};
  StepStreams streams = {};
  unsigned char* h_batch[2] = {};
  cudaGraphExec_t graphs[2] = {};

  explicit Trainer(int n) {
    check(make_step(kMnistNetwork, n, n, kRate, &step), "make_step");
    check(make_streams(&streams), "make_streams");
    for (unsigned char*& memory : h_batch) {
      check(cudaMallocHost(&memory, step.batch_bytes), "cudaMallocHost");
    }
  }
  ~Trainer() {
    for (cudaGraphExec_t graph : graphs) cudaGraphExecDestroy(graph);
    for (unsigned char* memory : h_batch) cudaFreeHost(memory);
    free_streams(streams);
    free_step(&step);
  }
  Trainer(const Trainer&) = delete;
  Trainer& operator=(const Trainer&) = delete;

  void begin(const float* parameters) {
    check(write_parameters(step, parameters), "write_parameters");
    check(cudaMemcpy(step.batch[0], h_batch[0], step.batch_bytes, cudaMemcpyHostToDevice), "copy");
    launch_moments(step, 0, streams.main);
    check(cudaStreamSynchronize(streams.main), "moments");
    for (int slot = 0; slot < 2; ++slot) {
      cudaGraph_t graph = nullptr;
      check(record_step(step, slot, h_batch[1 - slot], streams, &graph), "record_step");
      check(cudaGraphInstantiate(&graphs[slot], graph, 0), "cudaGraphInstantiate");
      cudaGraphDestroy(graph);
    }
  }
  void replay(int slot) { check(cudaGraphLaunch(graphs[slot], streams.main), "cudaGraphLaunch"); }
  void wait() { check(cudaStreamSynchronize(streams.main), "step"); }
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// Microseconds of some calls in streams.main, by events; the median of single ones.
double time_single(const Trainer& trainer, int count, const std::function<void(int)>& call) {
  std::vector<cudaEvent_t> events(count + 1);
  for (cudaEvent_t& event : events) cudaEventCreate(&event);
  cudaEventRecord(events[0], trainer.streams.main);
  for (int i = 0; i < count; ++i) {
    call(i);
    cudaEventRecord(events[i + 1], trainer.streams.main);
  }
  check(cudaStreamSynchronize(trainer.streams.main), "timed work");
  std::vector<double> times;
  for (int i = 0; i < count; ++i) {
    float milliseconds = 0;
    cudaEventElapsedTime(&milliseconds, events[i], events[i + 1]);
    times.push_back(milliseconds * 1e3);
  }
  for (cudaEvent_t event : events) cudaEventDestroy(event);
  return median(times);
}

std::vector<float> first_parameters(std::mt19937& random) {
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

void time_steps(int n) {
  Trainer trainer(n);
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  const int pixels = kMnistNetwork.image * kMnistNetwork.image;
  for (unsigned char* batch : trainer.h_batch) {
    float* images = reinterpret_cast<float*>(batch);
    for (int i = 0; i < n * pixels; ++i) images[i] = normal(random);
    for (int i = 0; i < n; ++i) batch[size_t(n) * pixels * 4 + i] = random() % 10;
  }
  trainer.begin(first_parameters(random).data());
  for (int i = 0; i < kWarmUp; ++i) trainer.replay(i % 2);
  trainer.wait();
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < kSteps; ++i) trainer.replay(i % 2);
  trainer.wait();
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
  const double single = time_single(trainer, kSteps, [&](int i) { trainer.replay(i % 2); });
  std::printf("{\"batch\": %d, \"mean_us\": %.1f, \"median_us\": %.1f, \"kernels_us\": {", n,
              time.count() / kSteps * 1e6, single);
  const FusedStep& s = trainer.step;
  const cudaStream_t stream = trainer.streams.main;
  const std::pair<const char*, std::function<void()>> parts[] = {
      {"copy",
       [&] {
         cudaMemcpyAsync(s.batch[1], trainer.h_batch[1], s.batch_bytes, cudaMemcpyHostToDevice,
                         stream);
       }},
      {"input_moments", [&] { launch_moments(s, 1, stream); }},
      {"convolutions", [&] { launch_convolutions(s, 0, stream); }},
      {"linear_pooled", [&] { launch_linear_pooled(s, stream); }},
      {"head", [&] { launch_head(s, 0, stream); }},
      {"linear_input_gradient", [&] { launch_linear_input_gradient(s, stream); }},
      {"linear_weight_gradient", [&] { launch_linear_weight_gradient(s, stream); }},
      {"conv_input_gradient", [&] { launch_conv_input_gradient(s, 0, stream); }},
      {"conv_weight_gradient", [&] { launch_conv_weight_gradient(s, stream); }},
      {"update", [&] { launch_fused_update(s, 0, stream); }},
  };
  const char* comma = "";
  for (const auto& [name, launch] : parts) {
    // Ten in a row, so that the launch of one hides behind the one before.
    const double ten = time_single(trainer, 11, [&, launch = launch](int) {
      for (int i = 0; i < 10; ++i) launch();
    });
    std::printf("%s\"%s\": %.2f", comma, name, ten / 10);
    comma = ", ";
  }
  std::printf("}}\n");
}

void train(int n, const char* in, const char* out, int steps) {
  Trainer trainer(n);
  FILE* file = std::fopen(in, "rb");
  std::vector<float> parameters(parameters_of(kMnistNetwork).total);
  bool whole = file != nullptr && std::fread(parameters.data(), sizeof(float), parameters.size(),
                                             file) == parameters.size();
  const auto read_batch = [&](int slot) {
    const size_t bytes = trainer.step.batch_bytes;
    whole = whole && std::fread(trainer.h_batch[slot], 1, bytes, file) == bytes;
  };
  read_batch(0);
  if (whole) trainer.begin(parameters.data());
  for (int i = 0; i < steps && whole; ++i) {
    if (i + 1 < steps) read_batch((i + 1) % 2);
    trainer.replay(i % 2);
    trainer.wait();
  }
  if (file != nullptr) std::fclose(file);
  if (!whole) {
    std::fprintf(stderr, "%s is too short.\n", in);
    std::exit(1);
  }
  check(read_parameters(trainer.step, parameters.data()), "read_parameters");
  file = std::fopen(out, "wb");
  std::fwrite(parameters.data(), sizeof(float), parameters.size(), file);
  std::fclose(file);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 6 && std::string(argv[1]) == "train") {
    train(std::atoi(argv[2]), argv[3], argv[4], std::atoi(argv[5]));
    return 0;
  }
  for (int i = 1; i < argc; ++i) time_steps(std::atoi(argv[i]));
}
