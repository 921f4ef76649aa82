#include <cstdio>

constexpr int kRows = 22, kCols = 72;

__global__ void draw(char* picture) {
  const int row = blockIdx.x, col = threadIdx.x;
  const float c_re = -2.2f + 3.2f * col / kCols, c_im = -1.2f + 2.4f * row / (kRows - 1);
  float re = 0.0f, im = 0.0f;
  int steps = 0;
  while (steps < 60 && re * re + im * im < 4.0f) {
    const float next = re * re - im * im + c_re;
    im = 2.0f * re * im + c_im;
    re = next;
    ++steps;
  }
  picture[row * kCols + col] = steps == 60 ? '#' : " .:-=+*%"[steps < 7 ? steps : 7];
}

int main() {
  char* d_picture = nullptr;
  cudaMalloc(&d_picture, kRows * kCols);
  cudaMemset(d_picture, '?', kRows * kCols);
  draw<<<kRows, kCols>>>(d_picture);
  static char picture[kRows * kCols];
  cudaMemcpy(picture, d_picture, sizeof picture, cudaMemcpyDeviceToHost);
  cudaFree(d_picture);
  for (int row = 0; row < kRows; ++row) printf("%.*s\n", kCols, picture + row * kCols);
}
