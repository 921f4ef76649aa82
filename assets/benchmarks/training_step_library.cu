// The time of 12/15's training step, by calls of cuDNN and cuBLAS, on a GPU; training_step.py
// builds and runs it: see serve_times() in training_step.h. As in 12/16 the next batch is copied
// from pinned memory while a step runs; the calls go to the default stream one after the other,
// without a graph.
#include "15_library_step.h"
#include "training_step.h"

namespace {

class LibraryTrainer {
 public:
  explicit LibraryTrainer(int n) : libraries_(kMnistNetwork, n) {
    if (!libraries_.ready()) {
      std::fprintf(stderr, "cuBLAS or cuDNN is not ready.\n");
      std::exit(1);
    }
    const size_t total = parameters_of(kMnistNetwork).total;
    pixels_ = size_t(n) * kMnistNetwork.image * kMnistNetwork.image;
    batch_bytes_ = pixels_ * sizeof(float) + n;
    step_.network = kMnistNetwork;
    step_.n = n;
    allocate(total, &step_.parameters);
    allocate(total, &step_.gradients);
    allocate(workspace_size(kMnistNetwork, n), &step_.workspace);
    allocate(1, &step_.loss);
    std::mt19937 random(1);
    const std::vector<float> parameters = first_parameters(random);
    check(cudaMemcpy(step_.parameters, parameters.data(), total * sizeof(float),
                     cudaMemcpyHostToDevice),
          "parameters");
    check(cudaStreamCreateWithFlags(&copies_, cudaStreamNonBlocking), "cudaStreamCreate");
    for (int slot = 0; slot < 2; ++slot) {
      check(cudaMallocHost(&h_batch_[slot], batch_bytes_), "cudaMallocHost");
      check(cudaMalloc(&d_batch_[slot], batch_bytes_), "cudaMalloc");
      fill_batch(random, n, h_batch_[slot]);
      cudaEventCreateWithFlags(&copied_[slot], cudaEventDisableTiming);
      cudaEventCreateWithFlags(&used_[slot], cudaEventDisableTiming);
      copy(slot);
    }
  }
  ~LibraryTrainer() {
    for (int slot = 0; slot < 2; ++slot) {
      cudaFreeHost(h_batch_[slot]);
      cudaFree(d_batch_[slot]);
      cudaEventDestroy(copied_[slot]);
      cudaEventDestroy(used_[slot]);
    }
    cudaStreamDestroy(copies_);
    for (float* memory : {step_.parameters, step_.gradients, step_.workspace, step_.loss}) {
      cudaFree(memory);
    }
  }
  LibraryTrainer(const LibraryTrainer&) = delete;
  LibraryTrainer& operator=(const LibraryTrainer&) = delete;

  void queue(int slot) {
    cudaStreamWaitEvent(nullptr, copied_[slot], 0);
    step_.images = reinterpret_cast<const float*>(d_batch_[slot]);
    step_.labels = d_batch_[slot] + pixels_ * sizeof(float);
    if (!launch_library_step(libraries_, step_, kRate)) {
      std::fprintf(stderr, "A call of cuBLAS or cuDNN failed.\n");
      std::exit(1);
    }
    cudaEventRecord(used_[slot], nullptr);
    copy(slot);
  }

 private:
  static void allocate(size_t floats, float** memory) {
    check(cudaMalloc(memory, floats * sizeof(float)), "cudaMalloc");
  }
  void copy(int slot) {
    cudaStreamWaitEvent(copies_, used_[slot], 0);
    cudaMemcpyAsync(d_batch_[slot], h_batch_[slot], batch_bytes_, cudaMemcpyHostToDevice, copies_);
    cudaEventRecord(copied_[slot], copies_);
  }

  Libraries libraries_;
  TrainStep step_ = {};
  size_t pixels_ = 0, batch_bytes_ = 0;
  unsigned char *h_batch_[2] = {}, *d_batch_[2] = {};
  cudaStream_t copies_ = nullptr;
  cudaEvent_t copied_[2] = {}, used_[2] = {};
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: training_step_library serve N\n");
    return 2;
  }
  LibraryTrainer trainer(std::atoi(argv[2]));
  serve_times(nullptr, [&](int i) { trainer.queue(i % 2); });
}
