// Another right answer: one thread per particle, one float at a time, all axes in one thread.
#include "03_aos_to_soa.h"

void to_arrays(const Particle* particles, int n, ParticleArrays arrays) {
  for (int i = n - 1; i >= 0; --i) {
    const Particle& p = particles[i];
    arrays.x[i] = p.x, arrays.y[i] = p.y, arrays.z[i] = p.z;
    arrays.vx[i] = p.vx, arrays.vy[i] = p.vy, arrays.vz[i] = p.vz;
  }
}

__global__ void advance_floats(ParticleArrays a, float dt, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float x = fmaf(dt, a.vx[i], a.x[i]);
  const float y = fmaf(dt, a.vy[i], a.y[i]);
  const float z = fmaf(dt, a.vz[i], a.z[i]);
  a.x[i] = x, a.y[i] = y, a.z[i] = z;
}

void launch_advance_arrays(ParticleArrays d_arrays, float dt, int n) {
  if (n > 0) advance_floats<<<(n + 127) / 128, 128>>>(d_arrays, dt, n);
}
