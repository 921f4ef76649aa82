// Kernels that may begin before the one before them has ended (programmatic dependent launch): see
// corpus.cu for the form.
#include <cuda_runtime.h>

#include "corpus.h"

namespace {

constexpr int kThreads = 128;
constexpr int kBlocks = 4;
constexpr int kElements = kBlocks * kThreads;

struct Arrays {
  float *in = nullptr, *middle = nullptr, *out = nullptr;
  Arrays() {
    for (float** array : {&in, &middle, &out}) {
      cudaMalloc(array, kElements * sizeof(float));
      cudaMemset(*array, 0, kElements * sizeof(float));
    }
    cudaDeviceSynchronize();
  }
  ~Arrays() {
    cudaDeviceSynchronize();
    for (float* array : {in, middle, out}) cudaFree(array);
  }
};

// Lets the next kernel begin before it has written anything.
__global__ void first_step(const float* in, float* middle) {
  cudaTriggerProgrammaticLaunchCompletion();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  middle[i] = in[i] + 1.0f;
}

template <class Kernel, class... Arguments>
void launch_early(Kernel kernel, Arguments... arguments) {
  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(kBlocks);
  config.blockDim = dim3(kThreads);
  config.attrs = &early;
  config.numAttrs = 1;
  cudaLaunchKernelEx(&config, kernel, arguments...);
}

#define RUN_TWO_STEPS(name)                               \
  template <bool kPlanted>                                \
  void run_##name() {                                     \
    Arrays m;                                             \
    first_step<<<kBlocks, kThreads>>>(m.in, m.middle);    \
    launch_early(name<kPlanted>, m.in, m.middle, m.out);  \
  }

template <bool kPlanted>
__global__ void dependent_reads(float*, float* middle, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (!kPlanted) cudaGridDependencySynchronize();
  const float value = *static_cast<volatile float*>(&middle[i]);  // planted: dependent_reads streamcheck/early-dependent
  if (kPlanted) cudaGridDependencySynchronize();
  out[i] = value;
}
RUN_TWO_STEPS(dependent_reads)

template <bool kPlanted>
__global__ void dependent_never_waits(float*, float* middle, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (!kPlanted) cudaGridDependencySynchronize();
  out[i] = 2.0f * middle[i];  // planted: dependent_never_waits streamcheck/early-dependent
}
RUN_TWO_STEPS(dependent_never_waits)

// The input of the other kernel is no longer needed only when it has ended.
template <bool kPlanted>
__global__ void dependent_clears_input(float* in, float* middle, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = 0.0f;  // nobody else uses it: it may be early
  if (!kPlanted) cudaGridDependencySynchronize();
  in[i] = 0.0f;  // planted: dependent_clears_input streamcheck/early-dependent
  if (kPlanted) cudaGridDependencySynchronize();
  out[i] += middle[i];
}
RUN_TWO_STEPS(dependent_clears_input)

// One thread waits for all; the others must hear of it.
template <bool kPlanted>
__global__ void dependent_one_waits(float*, float* middle, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x == 0) cudaGridDependencySynchronize();
  if (!kPlanted) __syncthreads();
  out[i] = middle[i];  // planted: dependent_one_waits streamcheck/early-dependent
}
RUN_TWO_STEPS(dependent_one_waits)

// The kernel between has nothing to do with the others; unless it waits, the last one may overlap both.
template <bool kPlanted>
__global__ void between() {
  if (!kPlanted) cudaGridDependencySynchronize();
}
__global__ void reads_the_first(const float* middle, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = middle[i];  // planted: dependent_chain streamcheck/early-dependent
  cudaGridDependencySynchronize();
}
template <bool kPlanted>
void run_dependent_chain() {
  Arrays m;
  first_step<<<kBlocks, kThreads>>>(m.in, m.middle);
  launch_early(between<kPlanted>);
  launch_early(reads_the_first, static_cast<const float*>(m.middle), m.out);
}

}  // namespace

const CorpusCase kDependentCases[] = {
    CASE(dependent_reads, "stream.early"),
    CASE(dependent_never_waits, "stream.early"),
    CASE(dependent_clears_input, "stream.early"),
    CASE(dependent_one_waits, "stream.early"),
    CASE(dependent_chain, "stream.early"),
};
extern const CorpusPart kDependentCorpus = {kDependentCases,
                                            sizeof(kDependentCases) / sizeof(kDependentCases[0])};
