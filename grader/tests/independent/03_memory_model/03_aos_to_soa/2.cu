// Design: one float of each axis per thread
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
  const int i = blockIdx.x * kBlock + threadIdx.x;
  if (i < n) position[i] += dt * velocity[i];
}

__global__ void __launch_bounds__(kBlock) advance_arrays(ParticleArrays arrays, float dt, int n) {
  advance_axis(arrays.x, arrays.vx, dt, n);
  advance_axis(arrays.y, arrays.vy, dt, n);
  advance_axis(arrays.z, arrays.vz, dt, n);
}

void launch_advance_arrays(ParticleArrays d_arrays, float dt, int n) {
  if (n == 0) return;
  const int blocks = (n - 1) / kBlock + 1;
  advance_arrays<<<blocks, kBlock>>>(d_arrays, dt, n);
}
