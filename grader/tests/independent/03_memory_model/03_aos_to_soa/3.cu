// Design: grid-stride over 132 blocks, one float4 at a time
#include "03_aos_to_soa.h"

constexpr int kBlock = 256;

void to_arrays(const Particle* particles, int n, ParticleArrays arrays) {
  for (int i = 0; i < n; ++i) {
    arrays.x[i] = particles[i].x;
    arrays.y[i] = particles[i].y;
    arrays.z[i] = particles[i].z;
    arrays.vx[i] = particles[i].vx;
    arrays.vy[i] = particles[i].vy;
    arrays.vz[i] = particles[i].vz;
  }
}

__device__ void advance_axis(float* position, const float* velocity, float dt, int n) {
  float4* const p = reinterpret_cast<float4*>(position);
  const float4* const v = reinterpret_cast<const float4*>(velocity);
  const int fours = n / 4, first = blockIdx.x * kBlock + threadIdx.x, stride = gridDim.x * kBlock;
  for (long long i = first; i < fours; i += stride) {
    float4 at = p[i];
    const float4 speed = v[i];
    at.x += dt * speed.x, at.y += dt * speed.y, at.z += dt * speed.z, at.w += dt * speed.w;
    p[i] = at;
  }
  if (first < n % 4) position[4 * fours + first] += dt * velocity[4 * fours + first];
}

__global__ void __launch_bounds__(kBlock) advance_arrays(ParticleArrays arrays, float dt, int n) {
  advance_axis(arrays.x, arrays.vx, dt, n);
  advance_axis(arrays.y, arrays.vy, dt, n);
  advance_axis(arrays.z, arrays.vz, dt, n);
}

void launch_advance_arrays(ParticleArrays d_arrays, float dt, int n) {
  if (n == 0) return;
  const int blocks = n / (4 * kBlock) + 1 < 132 ? n / (4 * kBlock) + 1 : 132;
  advance_arrays<<<blocks, kBlock>>>(d_arrays, dt, n);
}
