// What the .approx instructions compute: an approximation with the error that NVIDIA documents, by
// the method that is published for the special function unit. The README says what is modelled.
#ifndef WARPLINGS_SIMULATOR_EXEC_APPROX_H_
#define WARPLINGS_SIMULATOR_EXEC_APPROX_H_

namespace warplings::sim::approx {

// Subnormal arguments and results are kept; .ftz is the caller's. A NaN may have any bits.
float reciprocal(float x);
float square_root(float x);
float reciprocal_root(float x);
float power_of_two(float x);
float logarithm(float x);  // to base 2
float sine(float x);
float cosine(float x);
float tangent(float x);  // hyperbolic
// a * reciprocal(b). `full` scales the operands first; without it 2^126 < |b| gives zero.
float quotient(float a, float b, bool full);

// The .ftz.f64 forms: of the upper word of the argument, with 32 zeros behind the result.
double reciprocal(double x);
double reciprocal_root(double x);

}  // namespace warplings::sim::approx

#endif  // WARPLINGS_SIMULATOR_EXEC_APPROX_H_
