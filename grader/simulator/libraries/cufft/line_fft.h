// Transforms of many lines of one length at a time.
#ifndef WARPLINGS_SIMULATOR_LIBRARIES_CUFFT_LINE_FFT_H_
#define WARPLINGS_SIMULATOR_LIBRARIES_CUFFT_LINE_FFT_H_

#include <cstddef>
#include <memory>
#include <vector>

namespace warplings::libraries {

// Real and imaginary parts, apart.
template <class T>
struct Parts {
  T* re = nullptr;
  T* im = nullptr;
};

// Forward transforms of n points: Stockham's algorithm, which needs no bit reversal, over radices
// 4, 2, 3, 5, 7, 11 and 13; Bluestein's (a convolution of a power of two) where n has a larger
// prime factor. An inverse transform is a forward one with real and imaginary parts exchanged.
// Twiddle factors are computed in double and rounded once; sums are in T.
template <class T>
class LineFft {
 public:
  explicit LineFft(size_t n);

  // data[n][lanes], in place; scratch is as large as scratch_size() * lanes.
  void run(Parts<T> data, Parts<T> scratch, size_t lanes) const;
  size_t scratch_size() const;

 private:
  struct Pass {
    int radix = 0;
    size_t groups = 0;              // m: butterflies that differ in their twiddle factors
    std::vector<T> cosines, sines;  // [m][radix - 1]
  };
  struct Bluestein {
    std::unique_ptr<LineFft> fft;         // of a power of two
    std::vector<T> chirp_re, chirp_im;    // [n]: exp(-i pi k^2 / n)
    std::vector<T> filter_re, filter_im;  // transformed conjugate chirp, divided by the length
  };

  void prepare_bluestein();
  void run_passes(Parts<T> data, Parts<T> scratch, size_t lanes) const;
  void run_bluestein(Parts<T> data, Parts<T> scratch, size_t lanes) const;

  size_t n_;
  std::vector<Pass> passes_;
  std::unique_ptr<Bluestein> bluestein_;
};

extern template class LineFft<float>;
extern template class LineFft<double>;

}  // namespace warplings::libraries

#endif  // WARPLINGS_SIMULATOR_LIBRARIES_CUFFT_LINE_FFT_H_
