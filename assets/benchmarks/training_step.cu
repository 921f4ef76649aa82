// Times of 12/16's training step on a GPU; training_step.py builds and runs it.
//   training_step serve N        answers lines with the time of a step: see training_step.h
//   training_step kernels N ...  for each batch size a line of JSON with every kernel alone
//   training_step limits         what the card can do, as a line of JSON
//   training_step train N IN OUT STEPS RATE
//                                parameters and batches from a file; the parameters afterwards
#include <string>

#include "16_faster_than_pytorch.h"
#include "training_step.h"

namespace {

// A step with streams, two pinned batches, and its two graphs.
struct Trainer {
  FusedStep step = {};
  StepStreams streams = {};
  unsigned char* h_batch[2] = {};
  cudaGraphExec_t graphs[2] = {};

  explicit Trainer(int n, float rate = kRate) {
    check(make_step(kMnistNetwork, n, n, rate, &step), "make_step");
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
  void begin_with_noise() {
    std::mt19937 random(1);
    for (unsigned char* batch : h_batch) fill_batch(random, step.n, batch);
    begin(first_parameters(random).data());
  }
  void replay(int slot) { check(cudaGraphLaunch(graphs[slot], streams.main), "cudaGraphLaunch"); }
  void wait() { check(cudaStreamSynchronize(streams.main), "step"); }
};

void serve(int n) {
  Trainer trainer(n);
  trainer.begin_with_noise();
  serve_times(trainer.streams.main, [&](int i) { trainer.replay(i % 2); });
}

// Microseconds of one of ten in a row, so that the launch of one hides behind the one before.
double time_launch(cudaStream_t stream, const std::function<void()>& launch) {
  constexpr int kRow = 10;
  return time_single(stream, 11,
                     [&](int) {
                       for (int i = 0; i < kRow; ++i) launch();
                     }) /
         kRow;
}

void time_kernels(int n) {
  Trainer trainer(n);
  trainer.begin_with_noise();
  for (int i = 0; i < kWarmUp; ++i) trainer.replay(i % 2);
  trainer.wait();
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
  std::printf("{\"batch\": %d, \"kernels_us\": {", n);
  const char* comma = "";
  for (const auto& [name, launch] : parts) {
    std::printf("%s\"%s\": %.2f", comma, name, time_launch(stream, launch));
    comma = ", ";
  }
  std::printf("}}\n");
}

__global__ void copy_words(const float4* from, float4* to, size_t count) {
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < count;
       i += size_t(gridDim.x) * blockDim.x) {
    to[i] = from[i];
  }
}

constexpr int kChains = 16, kRounds = 1 << 12;

// kChains * kRounds multiply-adds per thread; no sum of a round waits for another.
__global__ void multiply_add(float* out, float factor) {
  float sums[kChains];
  for (int i = 0; i < kChains; ++i) sums[i] = threadIdx.x + i;
#pragma unroll 8
  for (int round = 0; round < kRounds; ++round) {
#pragma unroll
    for (int i = 0; i < kChains; ++i) sums[i] = sums[i] * factor + factor;
  }
  float total = 0;
  for (int i = 0; i < kChains; ++i) total += sums[i];
  if (total == 1.0f) *out = total;  // never; but the compiler cannot know
}

void measure_limits() {
  constexpr size_t kBytes = size_t{1} << 30, kPinned = size_t{64} << 20;
  constexpr int kThreads = 512, kTimes = 8;
  int multiprocessors = 0;
  cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0);
  float4* memory[2] = {};
  unsigned char* pinned = nullptr;
  for (float4*& half : memory) check(cudaMalloc(&half, kBytes), "cudaMalloc");
  check(cudaMallocHost(&pinned, kPinned), "cudaMallocHost");
  const double copy = time_single(nullptr, kTimes, [&](int) {
    copy_words<<<multiprocessors * 4, kThreads>>>(memory[0], memory[1], kBytes / sizeof(float4));
  });
  const double fma = time_single(nullptr, kTimes, [&](int) {
    multiply_add<<<multiprocessors * 16, kThreads>>>(reinterpret_cast<float*>(memory[1]), 0.5f);
  });
  const double link = time_single(nullptr, kTimes, [&](int) {
    cudaMemcpyAsync(memory[0], pinned, kPinned, cudaMemcpyHostToDevice);
  });
  const double operations = 2.0 * kChains * kRounds * kThreads * multiprocessors * 16;
  std::printf(
      "{\"bytes_per_second\": %.4g, \"flops_per_second\": %.4g, "
      "\"pinned_bytes_per_second\": %.4g}\n",
      2e6 * kBytes / copy, 1e6 * operations / fma, 1e6 * kPinned / link);
  for (float4* half : memory) cudaFree(half);
  cudaFreeHost(pinned);
}

void train(int n, const char* in, const char* out, int steps, float rate) {
  Trainer trainer(n, rate);
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
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "serve" && argc == 3) {
    serve(std::atoi(argv[2]));
  } else if (what == "kernels") {
    for (int i = 2; i < argc; ++i) time_kernels(std::atoi(argv[i]));
  } else if (what == "limits") {
    measure_limits();
  } else if (what == "train" && argc == 7) {
    train(std::atoi(argv[2]), argv[3], argv[4], std::atoi(argv[5]), std::atof(argv[6]));
  } else {
    std::fprintf(stderr, "The first lines of training_step.cu say how to call this.\n");
    return 2;
  }
}
