// Asks a card what griddepcontrol.wait waits for in a chain of three kernels, each launched so that
// it may begin early: the first lets the second begin, works for milliseconds and then writes; the
// second does or does not wait for the first, and ends; the third waits for the second, and reads.
// "early": the third has seen what was there before, so the first was still running.
//
//   nvcc -O2 -std=c++17 -arch=sm_90a grader/tests/gpu/dependent_chain.cu -o dependent_chain
#include <cuda_runtime.h>

#include <cstdio>

namespace {

__global__ void first(int* value, long long cycles) {
  cudaTriggerProgrammaticLaunchCompletion();
  const long long begin = clock64();
  while (clock64() - begin < cycles) {
  }
  *static_cast<volatile int*>(value) = 1;
}

template <bool kWaits, bool kTriggers>
__global__ void second(int* other) {
  if (kWaits) cudaGridDependencySynchronize();
  if (kTriggers) cudaTriggerProgrammaticLaunchCompletion();
  *other = 1;
}

template <bool kWaits>
__global__ void third(const int* value, int* seen) {
  if (kWaits) cudaGridDependencySynchronize();
  *seen = *static_cast<const volatile int*>(value);
}

template <class Kernel, class... Arguments>
void launch(bool early, Kernel kernel, Arguments... arguments) {
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(1);
  config.blockDim = dim3(1);
  config.attrs = &attribute;
  config.numAttrs = early ? 1 : 0;
  cudaLaunchKernelEx(&config, kernel, arguments...);
}

template <bool kSecondWaits, bool kSecondTriggers, bool kThirdWaits>
void ask(bool third_is_early) {
  int *value = nullptr, *other = nullptr, *seen = nullptr;
  cudaMalloc(&value, sizeof(int));
  cudaMalloc(&other, sizeof(int));
  cudaMalloc(&seen, sizeof(int));
  int early = 0;
  for (int round = 0; round < 20; ++round) {
    cudaMemset(value, 0, sizeof(int));
    cudaDeviceSynchronize();
    launch(false, first, value, 5000000LL);
    launch(true, second<kSecondWaits, kSecondTriggers>, other);
    launch(third_is_early, third<kThirdWaits>, static_cast<const int*>(value), seen);
    int got = -1;
    cudaMemcpy(&got, seen, sizeof got, cudaMemcpyDeviceToHost);
    early += got == 0;
  }
  std::printf("second %s%s, third %s: early %d of 20 (%s)\n",
              kSecondWaits ? "waits" : "does not wait", kSecondTriggers ? " and triggers" : "",
              !third_is_early ? "is an ordinary launch"
              : kThirdWaits   ? "waits"
                              : "does not wait",
              early, cudaGetErrorString(cudaGetLastError()));
}

}  // namespace

int main() {
  ask<true, false, true>(true);
  ask<false, false, true>(true);
  ask<false, true, true>(true);
  ask<true, true, true>(true);
  ask<false, true, false>(true);
  ask<false, false, false>(true);
  ask<true, true, false>(true);
  ask<false, true, false>(false);
  return 0;
}
