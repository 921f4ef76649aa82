// Five defects that `grade view` must show: each is one kernel, chosen by the first argument.
#include <cstdio>
#include <cstring>

// Lane 31 of the last warp reads one element past the end.
__global__ void reads_outside(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i + 1];
}

// Every lane wants a word of bank 3.
__global__ void one_bank(float* out) {
  __shared__ float tile[32][32];
  for (int row = 0; row < 32; ++row) tile[row][threadIdx.x] = static_cast<float>(row);
  __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x][3];
}

// The threads of warp 1 never come to the first barrier.
__global__ void misses_barrier(float* out) {
  if (threadIdx.x < 32) {
    out[threadIdx.x] = 1.0f;
    __syncthreads();
  } else {
    out[threadIdx.x] = 2.0f;
    asm volatile("bar.sync 1;");
  }
}

// Written by one warp and read by another, with nothing between.
__global__ void races(float* out) {
  __shared__ float value[64];
  value[threadIdx.x] = static_cast<float>(threadIdx.x);
  out[threadIdx.x] = value[63 - threadIdx.x];
}

__global__ void twice(float* data, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] *= 2.0f;
}

// Two halves in two streams; the copies of the first half's result comes when all kernels are over.
void copies() {
  constexpr int kHalf = 1 << 16;
  float *h_data = nullptr, *d_data = nullptr;
  cudaMallocHost(&h_data, 2 * kHalf * sizeof(float));
  cudaMalloc(&d_data, 2 * kHalf * sizeof(float));
  for (int i = 0; i < 2 * kHalf; ++i) h_data[i] = 1.0f;
  cudaStream_t streams[2];
  for (cudaStream_t& stream : streams) cudaStreamCreate(&stream);
  for (int k = 0; k < 2; ++k) {
    float* const part = d_data + k * kHalf;
    cudaMemcpyAsync(part, h_data + k * kHalf, kHalf * sizeof(float), cudaMemcpyHostToDevice,
                    streams[k]);
    for (int again = 0; again < 8; ++again) twice<<<kHalf / 256, 256, 0, streams[k]>>>(part, kHalf);
  }
  cudaDeviceSynchronize();
  cudaMemcpy(h_data, d_data, 2 * kHalf * sizeof(float), cudaMemcpyDeviceToHost);
  printf("%g\n", h_data[0]);
  for (cudaStream_t& stream : streams) cudaStreamDestroy(stream);
  cudaFree(d_data);
  cudaFreeHost(h_data);
}

int main(int argc, char** argv) {
  const char* const which = argc > 1 ? argv[1] : "";
  if (std::strcmp(which, "copies") == 0) {
    copies();
    return 0;
  }
  constexpr int kCount = 64;
  float *in = nullptr, *out = nullptr;
  cudaMalloc(&in, kCount * sizeof(float));
  cudaMalloc(&out, kCount * sizeof(float));
  cudaMemset(in, 0, kCount * sizeof(float));
  if (std::strcmp(which, "outside") == 0) reads_outside<<<2, 32>>>(in, out, kCount);
  if (std::strcmp(which, "bank") == 0) one_bank<<<1, 32>>>(out);
  if (std::strcmp(which, "barrier") == 0) misses_barrier<<<1, 64>>>(out);
  if (std::strcmp(which, "race") == 0) races<<<1, 64>>>(out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}
