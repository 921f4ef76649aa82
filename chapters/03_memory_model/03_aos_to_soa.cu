// 03/03 AoS to SoA: particles move on, as an array of structures and as a structure of arrays.
//   Particle        64 bytes (03_aos_to_soa.h); moving one uses 24 of them
//   ParticleArrays  x, y, z and vx, vy, vz: n floats each, aligned to 16 bytes; n >= 0
//   x += dt * vx for every particle, the same for y and z
//   TODOs           2
#include "03_aos_to_soa.h"

// On the host: what a particle's motion needs goes into an array of its own.
void to_arrays(const Particle* particles, int n, ParticleArrays arrays) {
  // TODO(1): Every particle's position and velocity is in its arrays; nothing else travels
  // (about 8 lines).
}

// One axis: n positions and velocities.
__device__ void advance_axis(float* position, const float* velocity, float dt, int n) {
  // TODO(2): All n positions of one axis have moved by dt * velocity, in accesses of 16 bytes
  // wherever four elements are left. How threads and elements meet is yours (about 10 lines).
}

__global__ void advance_arrays(ParticleArrays arrays, float dt, int n) {
  // Still TODO(2): Each of the three axes is moved once (about 3 lines).
}

void launch_advance_arrays(ParticleArrays d_arrays, float dt, int n) {
  // Still TODO(2): Enough threads for all axes; no launch where n is 0 (about 5 lines).
}
