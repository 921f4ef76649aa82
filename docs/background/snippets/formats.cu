// What is left of a number in each format, and of a sum.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <cstdint>
#include <cstdio>
#include <cstring>

// TF32 keeps 10 of the 23 bits behind the binary point; rounded to nearest, ties to even.
float tf32(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  bits += 0xfff + ((bits >> 13) & 1);
  bits &= ~0x1fffu;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

void show(float x) {
  printf("%-10.9g %-10.7g %-10.7g %-10.7g %-10.7g\n", x, tf32(x), float(__float2bfloat16(x)),
         float(__float2half(x)), float(__nv_fp8_e4m3(x)));
}

int main() {
  printf("%-10s %-10s %-10s %-10s %-10s\n", "fp32", "tf32", "bf16", "fp16", "fp8 e4m3");
  for (float x : {1.0f / 3, 1000.5f, 70000.0f, 1e-8f}) show(x);

  float sum = 0;
  __nv_bfloat16 bf16 = 0.0f;
  __half fp16 = 0.0f;
  for (int i = 0; i < 10000; ++i) {
    sum += 1.0f;
    bf16 = bf16 + __nv_bfloat16(1.0f);
    fp16 = fp16 + __half(1.0f);
  }
  printf("10,000 times 1: fp32 %g, bf16 %g, fp16 %g\n", sum, float(bf16), float(fp16));
}
