// What the two translation units of linked_units share.
#ifndef WARPLINGS_TESTS_LINKED_UNITS_H_
#define WARPLINGS_TESTS_LINKED_UNITS_H_

extern __device__ int offset;        // defined in linked_units.cu
extern __constant__ int factors[4];  // defined in linked_units_other.cu

__device__ int scaled(int x);       // linked_units_other.cu
void launch_add_offset(int* data);  // linked_units_other.cu: 32 threads
void set_factors(const int (&values)[4]);

#endif  // WARPLINGS_TESTS_LINKED_UNITS_H_
