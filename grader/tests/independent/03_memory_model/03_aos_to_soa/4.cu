// axis chosen by blockIdx.y, grid-stride, tail by plain threads, explicit fmaf
#include "03_aos_to_soa.h"

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
  const int groups = n / 4, stride = gridDim.x * blockDim.x;
  const int rank = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = rank; i < groups; i += stride) {
    float4 p = reinterpret_cast<float4*>(position)[i];
    const float4 v = reinterpret_cast<const float4*>(velocity)[i];
    p.x += dt * v.x;
    p.y += dt * v.y;
    p.z += dt * v.z;
    p.w += dt * v.w;
    reinterpret_cast<float4*>(position)[i] = p;
  }
  const int k = 4 * groups + rank;
  if (rank < 4 && k < n) position[k] = fmaf(dt, velocity[k], position[k]);
}

__global__ void advance_arrays(ParticleArrays arrays, float dt, int n) {
  switch (blockIdx.y) {
    case 0: return advance_axis(arrays.x, arrays.vx, dt, n);
    case 1: return advance_axis(arrays.y, arrays.vy, dt, n);
    default: return advance_axis(arrays.z, arrays.vz, dt, n);
  }
}

void launch_advance_arrays(ParticleArrays d_arrays, float dt, int n) {
  const int threads = n / 4 + (n % 4 != 0);
  if (threads > 0) advance_arrays<<<dim3((threads + 127) / 128 < 65536 ? (threads + 127) / 128 : 65536, 3), 128>>>(d_arrays, dt, n);
}
