// A naive product of matrices of 512 x 512: the largest file that a page is made of.
__global__ void product(const float* a, const float* b, float* c, int n) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y,
            col = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0.0f;
  for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + col];
  c[row * n + col] = sum;
}

int main() {
  constexpr int kSide = 512;
  constexpr size_t kBytes = sizeof(float) * kSide * kSide;
  float *a = nullptr, *b = nullptr, *c = nullptr;
  cudaMalloc(&a, kBytes);
  cudaMalloc(&b, kBytes);
  cudaMalloc(&c, kBytes);
  cudaMemset(a, 0, kBytes);
  cudaMemset(b, 0, kBytes);
  product<<<dim3(kSide / 16, kSide / 16), dim3(16, 16)>>>(a, b, c, kSide);
  cudaDeviceSynchronize();
  cudaFree(c);
  cudaFree(b);
  cudaFree(a);
}
