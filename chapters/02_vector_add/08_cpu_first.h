// 02/08 Cpu first: what the test calls.
#ifndef CHAPTERS_02_VECTOR_ADD_08_CPU_FIRST_H_
#define CHAPTERS_02_VECTOR_ADD_08_CPU_FIRST_H_

// Reference on the host. x: n floats; midpoints: n - 1 doubles; n from 2 to 2^30.
void midpoints_cpu(const float* x, double* midpoints, int n);

// The first position where got and expected differ: where |got[i] - expected[i]| <= tolerance does
// not hold, a NaN in got and a tolerance that is NaN included. With different sizes, and no
// difference before, the end of the shorter one. -1 if there is none. expected holds finite values;
// the sizes are >= 0.
int first_difference(const float* got, int got_size, const double* expected, int expected_size,
                     double tolerance);

// The same midpoints on the device, each off by at most one unit in the last place of the larger
// one of its two neighbours. d_x: n floats, of which no two neighbours add up to infinity;
// d_midpoints: n - 1 floats; n from 2 to 2^30.
void launch_midpoints(const float* d_x, float* d_midpoints, int n);

#endif  // CHAPTERS_02_VECTOR_ADD_08_CPU_FIRST_H_
