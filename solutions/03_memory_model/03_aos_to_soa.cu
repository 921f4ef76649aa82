// 03/03 AoS to SoA: particles move on, as an array of structures and as a structure of arrays.
//   Particle        64 bytes (03_aos_to_soa.h); moving one uses 24 of them
//   ParticleArrays  x, y, z and vx, vy, vz: n floats each, aligned to 16 bytes; n >= 0
//   x += dt * vx for every particle, the same for y and z
//   TODOs           2
#include "03_aos_to_soa.h"

// On the host: what a particle's motion needs goes into an array of its own.
void to_arrays(const Particle* particles, int n, ParticleArrays arrays) {
  //~ // TODO(1): Every particle's position and velocity is in its arrays; nothing else travels
  //~ // (about 8 lines).
  //~begin 1
  for (int i = 0; i < n; ++i) {
    arrays.x[i] = particles[i].x;
    arrays.y[i] = particles[i].y;
    arrays.z[i] = particles[i].z;
    arrays.vx[i] = particles[i].vx;
    arrays.vy[i] = particles[i].vy;
    arrays.vz[i] = particles[i].vz;
  }
  //~end
}

// One axis: n positions and velocities.
__device__ void advance_axis(float* position, const float* velocity, float dt, int n) {
  //~ // TODO(2): All n positions of one axis have moved by dt * velocity, in accesses of 16 bytes
  //~ // wherever four elements are left. How threads and elements meet is yours (about 10 lines).
  //~begin 2
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n / 4) {
    float4 p = reinterpret_cast<const float4*>(position)[i];
    const float4 v = reinterpret_cast<const float4*>(velocity)[i];
    p.x += dt * v.x;  // of four neighbouring particles
    p.y += dt * v.y;
    p.z += dt * v.z;
    p.w += dt * v.w;
    reinterpret_cast<float4*>(position)[i] = p;
  }
  const int k = n / 4 * 4 + i;  // below n for at most three threads
  if (k < n) position[k] += dt * velocity[k];
  //~end
}

__global__ void advance_arrays(ParticleArrays arrays, float dt, int n) {
  //~ // Still TODO(2): Each of the three axes is moved once (about 3 lines).
  //~begin 2
  if (blockIdx.y == 0) advance_axis(arrays.x, arrays.vx, dt, n);
  if (blockIdx.y == 1) advance_axis(arrays.y, arrays.vy, dt, n);
  if (blockIdx.y == 2) advance_axis(arrays.z, arrays.vz, dt, n);
  //~end
}

void launch_advance_arrays(ParticleArrays d_arrays, float dt, int n) {
  //~ // Still TODO(2): Enough threads for all axes; no launch where n is 0 (about 5 lines).
  //~begin 2
  constexpr int kBlock = 256;  // threads
  const int along = (n + 4 * kBlock - 1) / (4 * kBlock);
  if (along > 0) {
    advance_arrays<<<dim3(along, 3), kBlock>>>(d_arrays, dt, n);
  }
  //~end
}
