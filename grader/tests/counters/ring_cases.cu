// A ring of stages in shared memory, as programs for compute capability 9.0 fill it: one thread has
// the copy engine bring pieces of `in`, the others add them up.
#include <cuda_runtime.h>

#include <cstdint>

#include "ring_cases.h"

namespace {

constexpr int kMostStages = 8, kConsumers = 128, kPiece = 4096;  // bytes

__device__ uint32_t address_of(const void* p) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}

__device__ void wait(uint64_t* barrier, int parity) {
  asm volatile(
      "{\n.reg .pred done;\nagain:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n@!done bra again;\n}" ::"r"(
          address_of(barrier)),
      "r"(parity)
      : "memory");
}

__global__ void add_up(const float4* in, float* out, int stages, int steps) {
  __shared__ alignas(128) float4 pieces[kMostStages][kPiece / sizeof(float4)];
  __shared__ uint64_t full[kMostStages], empty[kMostStages];
  if (threadIdx.x == 0) {
    for (int s = 0; s < stages; ++s) {
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(address_of(&full[s])) : "memory");
      asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(address_of(&empty[s])),
                   "n"(kConsumers)
                   : "memory");
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  float sum = 0;
  for (int i = 0; i < steps; ++i) {
    const int stage = i % stages, parity = i / stages & 1;
    if (threadIdx.x == kConsumers) {
      wait(&empty[stage], parity ^ 1);
      asm volatile(
          "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;\n"
          "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%2], [%3], %1, "
          "[%0];" ::"r"(address_of(&full[stage])),
          "r"(kPiece), "r"(address_of(pieces[stage])),
          "l"(in + (static_cast<size_t>(blockIdx.x) * steps + i) * (kPiece / sizeof(float4)))
          : "memory");
    } else if (threadIdx.x < kConsumers) {
      wait(&full[stage], parity);
      const float4 x = pieces[stage][threadIdx.x];
      sum += x.x + x.y + x.z + x.w;
      asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(address_of(&empty[stage]))
                   : "memory");
    }
  }
  if (threadIdx.x < kConsumers) out[blockIdx.x * kConsumers + threadIdx.x] = sum;
}

}  // namespace

bool run_ring(int stages, int steps) {
  float4* in = nullptr;
  float* out = nullptr;
  const size_t bytes = static_cast<size_t>(steps) * kPiece;
  cudaMalloc(&in, bytes);
  cudaMalloc(&out, kConsumers * sizeof(float));
  cudaMemset(in, 0, bytes);
  add_up<<<1, kConsumers + 32>>>(in, out, stages, steps);
  const bool ran = cudaDeviceSynchronize() == cudaSuccess;
  cudaFree(in);
  cudaFree(out);
  return ran;
}
