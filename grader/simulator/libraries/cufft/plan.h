// A plan: what is to be transformed, and how it lies in memory.
#ifndef WARPLINGS_SIMULATOR_LIBRARIES_CUFFT_PLAN_H_
#define WARPLINGS_SIMULATOR_LIBRARIES_CUFFT_PLAN_H_

#include <cufft.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "common/call.h"
#include "common/held.h"

namespace warplings::libraries {

// Element (x, y, z) of transform b lies at
// b * distance + ((x * embed[1] + y) * embed[2] + z) * stride.
struct FftLayout {
  std::array<int64_t, 3> embed{1, 1, 1};
  int64_t stride = 1, distance = 0;
};

struct FftPlan {
  cufftType type = CUFFT_C2C;
  std::array<int64_t, 3> n{1, 1, 1};  // lower ranks fill the end
  int64_t batch = 1;
  bool packed = true;  // then the layouts follow from the call: in place, rows of reals are padded
  FftLayout in, out;   // of a plan that is not packed

  bool made = false;
  int device = 0;
  cudaStream_t stream = nullptr;
  bool own_work_area = true;
  void* work_area = nullptr;
  size_t work_size = 0;
  Held held{"cuFFT plan"};

  int64_t half() const { return n[2] / 2 + 1; }
  bool real_input() const { return type == CUFFT_R2C || type == CUFFT_D2Z; }
  bool real_output() const { return type == CUFFT_C2R || type == CUFFT_Z2D; }
  bool is_double() const { return type == CUFFT_Z2Z || type == CUFFT_D2Z || type == CUFFT_Z2D; }
  size_t real_size() const { return is_double() ? sizeof(double) : sizeof(float); }
  FftLayout input_layout(bool in_place) const;
  FftLayout output_layout(bool in_place) const;
};

// The work of one execution; `sign` is CUFFT_FORWARD or CUFFT_INVERSE.
void run_fft(const FftPlan& plan, const void* in, void* out, int sign);

}  // namespace warplings::libraries

#endif  // WARPLINGS_SIMULATOR_LIBRARIES_CUFFT_PLAN_H_
