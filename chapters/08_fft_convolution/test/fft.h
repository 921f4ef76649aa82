// What the tests of Fourier transforms share. Complex values are float2 on the device (x is the
// real part), std::complex<double> in references. Transforms of n points lie one after the other.
//
//   void check(int n, int batch) {
//     const std::vector<float2> x = kit::random_complex(static_cast<size_t>(n) * batch);
//     const auto d_x = kit::DeviceBuffer<float2>::input(x, "x");
//     const auto d_y = kit::DeviceBuffer<float2>::output(x.size(), "y");
//     kit::run([&] { launch_fft(d_x.get(), d_y.get(), n, batch); });
//     kit::expect_transforms_near(d_y, kit::dft_on_cpu(x, n), n);
//   }
#ifndef WARPLINGS_FFT_CONVOLUTION_TEST_FFT_H_
#define WARPLINGS_FFT_CONVOLUTION_TEST_FFT_H_

#include <complex>
#include <functional>
#include <string>
#include <vector>

#include "kit/kit.h"
#include "kit/speed/speed.h"

namespace kit {

using Complex = std::complex<double>;

enum class Direction { kForward, kInverse };

// Both parts in [-1, 1).
std::vector<float2> random_complex(size_t n);

// Reference in double, from the definition: y[k] is the sum of x[i] exp(-2 pi i k / n) over i,
// for each n values of x. kInverse: the other sign, and divided by n.
std::vector<Complex> dft_on_cpu(const std::vector<Complex>& x, int n,
                                Direction direction = Direction::kForward);
std::vector<Complex> dft_on_cpu(const std::vector<float2>& x, int n,
                                Direction direction = Direction::kForward);

// Each transform as a whole within 4 units of 2^-24 times log2(n), relative to its length (L2
// norm), and no value further off than 16 such units of the root mean square of its transform. The
// failure names transforms and points, and guesses: conjugated, bit-reversed, not scaled.
bool expect_transforms_near(const DeviceBuffer<float2>& got, const std::vector<Complex>& expected,
                            int n, Site site = Site::here());
// The same for values on the host; `what` names them.
bool expect_transforms_near(const std::string& what, const std::vector<float2>& got,
                            const std::vector<Complex>& expected, int n, Site site = Site::here());

// A launcher of `batch` forward transforms of n points each, from x to y.
using FftLauncher = std::function<void(const float2* x, float2* y, int n, int batch)>;

// A speed test of a batch of transforms. The same arrays serve every launcher:
//   kit::FftSpeed work(n, batch, 33);
//   work.speed.launch(work.call(launch_fft));
//   work.speed.against(work.against_cufft(), kit::Bars(0.25));
//   work.speed.grade();
class FftSpeed {
 public:
  // `slice` as in Speed::slice.
  FftSpeed(int n, int batch, double slice, Site site = Site::here());
  FftSpeed(const FftSpeed&) = delete;
  FftSpeed& operator=(const FftSpeed&) = delete;

  // The call of a launcher on the arrays of this work.
  std::function<void()> call(const FftLauncher& launch) const;
  Baseline against_cufft() const;

  Speed speed;

 private:
  Expected part(size_t i) const;  // of y as floats: real and imaginary parts in turn

  int n_, batch_;
  SpeedBuffer<float> x_, y_;  // two for each point
};

}  // namespace kit

#endif  // WARPLINGS_FFT_CONVOLUTION_TEST_FFT_H_
