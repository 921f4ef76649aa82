// A naive product of matrices of 512 x 512, the largest file that a page is made of; or of as many rows
// as the first argument says.
#include <cstdlib>

__global__ void product(const float* a, const float* b, float* c, int n) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y,
            col = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0.0f;
  for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + col];
  c[row * n + col] = sum;
}

int main(int argc, char** argv) {
  const int side = argc > 1 ? std::atoi(argv[1]) : 512;
  const size_t bytes = sizeof(float) * side * side;
  float *a = nullptr, *b = nullptr, *c = nullptr;
  cudaMalloc(&a, bytes);
  cudaMalloc(&b, bytes);
  cudaMalloc(&c, bytes);
  cudaMemset(a, 0, bytes);
  cudaMemset(b, 0, bytes);
  product<<<dim3(side / 16, side / 16), dim3(16, 16)>>>(a, b, c, side);
  cudaDeviceSynchronize();
  cudaFree(c);
  cudaFree(b);
  cudaFree(a);
}
