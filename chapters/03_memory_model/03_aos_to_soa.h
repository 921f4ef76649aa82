// 03/03 AoS to SoA: what the test calls.
#ifndef CHAPTERS_03_MEMORY_MODEL_03_AOS_TO_SOA_H_
#define CHAPTERS_03_MEMORY_MODEL_03_AOS_TO_SOA_H_

// 64 bytes: two sectors of 32.
struct Particle {
  float x, y, z, radius;
  float red, green, blue, age;
  float vx, vy, vz, mass;
  float fx, fy, fz, charge;
};

// One array per field that the motion needs, n floats each.
struct ParticleArrays {
  float *x, *y, *z;
  float *vx, *vy, *vz;
};

// Host memory to host memory; n >= 0.
void to_arrays(const Particle* particles, int n, ParticleArrays arrays);

// x += dt * vx, y += dt * vy, z += dt * vz; velocities stay.
//   d_arrays     device memory, each array aligned to 16 bytes; n from 0 to 2^30, 0 does nothing
void launch_advance_arrays(ParticleArrays d_arrays, float dt, int n);

// The same on n structures in device memory (03_aos_to_soa_baseline.cu); n >= 1.
void launch_advance_structures(Particle* d_particles, float dt, int n);

#endif  // CHAPTERS_03_MEMORY_MODEL_03_AOS_TO_SOA_H_
