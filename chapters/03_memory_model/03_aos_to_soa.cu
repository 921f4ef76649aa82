// 03/03 AoS to SoA: particles move on, as an array of structures and as a structure of arrays.
//   Particle        64 bytes (03_aos_to_soa.h); moving one uses 24 of them
//   ParticleArrays  x, y, z and vx, vy, vz: n floats each, aligned to 16 bytes; n >= 0
//   x += dt * vx for every particle, the same for y and z
//   TODOs           2
#include "03_aos_to_soa.h"

// On the host: what a particle's motion needs goes into an array of its own.
void to_arrays(const Particle* particles, int n, ParticleArrays arrays) {
  // TODO(1): Copy position and velocity of every particle (about 8 lines).
}

// One axis: n positions and velocities.
__device__ void advance_axis(float* position, const float* velocity, float dt, int n) {
  // TODO(2): Thread i of the row of blocks moves four particles with float4 accesses, as in
  // 02/05; the first threads move the last n % 4 one by one (about 10 lines).
}

// The row of blocks with blockIdx.y 0 moves along x, 1 along y, 2 along z.
__global__ void advance_arrays(ParticleArrays arrays, float dt, int n) {
  if (blockIdx.y == 0) advance_axis(arrays.x, arrays.vx, dt, n);
  if (blockIdx.y == 1) advance_axis(arrays.y, arrays.vy, dt, n);
  if (blockIdx.y == 2) advance_axis(arrays.z, arrays.vz, dt, n);
}

void launch_advance_arrays(ParticleArrays d_arrays, float dt, int n) {
  constexpr int kBlock = 256;  // threads
  const int along = (n + 4 * kBlock - 1) / (4 * kBlock);
  if (along > 0) {
    advance_arrays<<<dim3(along, 3), kBlock>>>(d_arrays, dt, n);
  }
}
