#include "cufft/line_fft.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

namespace warplings::libraries {
namespace {

constexpr double kPi = 3.14159265358979323846;
constexpr int kRadices[] = {4, 2, 3, 5, 7, 11, 13};

// exp(-2 pi i k / n), with the angle reduced to one turn first.
std::pair<double, double> root(uint64_t k, uint64_t n) {
  const double angle = -2 * kPi * static_cast<double>(k % n) / static_cast<double>(n);
  return {std::cos(angle), std::sin(angle)};
}

// b[j] = sum over k of a[k] exp(-2 pi i jk / radix).
template <class T, int kRadix>
struct Butterfly {
  T cosines[kRadix], sines[kRadix];
  Butterfly() {
    for (int k = 0; k < kRadix; ++k) {
      const auto [re, im] = root(static_cast<uint64_t>(k), kRadix);
      cosines[k] = static_cast<T>(re);
      sines[k] = static_cast<T>(im);
    }
  }
  void operator()(const T* are, const T* aim, T* bre, T* bim) const {
    for (int j = 0; j < kRadix; ++j) {
      T re = are[0], im = aim[0];
      for (int k = 1; k < kRadix; ++k) {
        const T c = cosines[j * k % kRadix], s = sines[j * k % kRadix];
        re += are[k] * c - aim[k] * s;
        im += are[k] * s + aim[k] * c;
      }
      bre[j] = re;
      bim[j] = im;
    }
  }
};

template <class T>
struct Butterfly<T, 2> {
  void operator()(const T* are, const T* aim, T* bre, T* bim) const {
    bre[0] = are[0] + are[1], bim[0] = aim[0] + aim[1];
    bre[1] = are[0] - are[1], bim[1] = aim[0] - aim[1];
  }
};

template <class T>
struct Butterfly<T, 4> {
  void operator()(const T* are, const T* aim, T* bre, T* bim) const {
    const T sum_re = are[0] + are[2], sum_im = aim[0] + aim[2];
    const T dif_re = are[0] - are[2], dif_im = aim[0] - aim[2];
    const T odd_re = are[1] + are[3], odd_im = aim[1] + aim[3];
    // (a1 - a3) times -i
    const T turned_re = aim[1] - aim[3], turned_im = are[3] - are[1];
    bre[0] = sum_re + odd_re, bim[0] = sum_im + odd_im;
    bre[1] = dif_re + turned_re, bim[1] = dif_im + turned_im;
    bre[2] = sum_re - odd_re, bim[2] = sum_im - odd_im;
    bre[3] = dif_re - turned_re, bim[3] = dif_im - turned_im;
  }
};

// One pass: butterflies over elements m * s apart, results radix-interleaved. `s` counts the lanes
// as well, so the inner loop runs over neighbours in memory.
template <class T, int kRadix>
void run_pass(Parts<T> x, Parts<T> y, size_t m, size_t s, const T* cosines, const T* sines) {
  const Butterfly<T, kRadix> butterfly;
  for (size_t p = 0; p < m; ++p) {
    const T* c = cosines + p * (kRadix - 1);
    const T* d = sines + p * (kRadix - 1);
    for (size_t q = 0; q < s; ++q) {
      T are[kRadix], aim[kRadix], bre[kRadix], bim[kRadix];
      for (size_t k = 0; k < kRadix; ++k) {
        are[k] = x.re[q + s * (p + m * k)];
        aim[k] = x.im[q + s * (p + m * k)];
      }
      butterfly(are, aim, bre, bim);
      const size_t to = q + s * kRadix * p;
      y.re[to] = bre[0];
      y.im[to] = bim[0];
      for (size_t j = 1; j < kRadix; ++j) {
        y.re[to + s * j] = bre[j] * c[j - 1] - bim[j] * d[j - 1];
        y.im[to + s * j] = bre[j] * d[j - 1] + bim[j] * c[j - 1];
      }
    }
  }
}

size_t power_of_two_from(size_t least) {
  size_t size = 1;
  while (size < least) size *= 2;
  return size;
}

}  // namespace

template <class T>
LineFft<T>::LineFft(size_t n) : n_(n) {
  size_t left = n;
  for (const int radix : kRadices) {
    const auto factor = static_cast<size_t>(radix);
    for (; left % factor == 0; left /= factor) {
      Pass pass;
      pass.radix = radix;
      pass.groups = left / factor;
      for (size_t p = 0; p < pass.groups; ++p) {
        for (size_t j = 1; j < factor; ++j) {
          const auto [re, im] = root(p * j, left);
          pass.cosines.push_back(static_cast<T>(re));
          pass.sines.push_back(static_cast<T>(im));
        }
      }
      passes_.push_back(std::move(pass));
    }
  }
  if (left > 1) prepare_bluestein();
}

template <class T>
void LineFft<T>::prepare_bluestein() {
  passes_.clear();
  bluestein_ = std::make_unique<Bluestein>();
  const size_t size = power_of_two_from(2 * n_ - 1);
  bluestein_->fft = std::make_unique<LineFft>(size);
  std::vector<double> re(size), im(size);
  for (size_t k = 0; k < n_; ++k) {
    const auto [cosine, sine] = root(k * k, 2 * n_);
    bluestein_->chirp_re.push_back(static_cast<T>(cosine));
    bluestein_->chirp_im.push_back(static_cast<T>(sine));
    re[k] = re[(size - k) % size] = cosine / static_cast<double>(size);
    im[k] = im[(size - k) % size] = -sine / static_cast<double>(size);
  }
  const LineFft<double> exact(size);
  std::vector<double> scratch_re(size), scratch_im(size);
  exact.run({re.data(), im.data()}, {scratch_re.data(), scratch_im.data()}, 1);
  bluestein_->filter_re.assign(re.begin(), re.end());
  bluestein_->filter_im.assign(im.begin(), im.end());
}

template <class T>
size_t LineFft<T>::scratch_size() const {
  if (bluestein_ == nullptr) return n_;
  return bluestein_->filter_re.size() + bluestein_->fft->scratch_size();
}

template <class T>
void LineFft<T>::run(Parts<T> data, Parts<T> scratch, size_t lanes) const {
  if (bluestein_ != nullptr) {
    run_bluestein(data, scratch, lanes);
  } else {
    run_passes(data, scratch, lanes);
  }
}

template <class T>
void LineFft<T>::run_passes(Parts<T> data, Parts<T> scratch, size_t lanes) const {
  Parts<T> x = data, y = scratch;
  size_t s = lanes;
  for (const Pass& pass : passes_) {
    const T *c = pass.cosines.data(), *d = pass.sines.data();
    switch (pass.radix) {
      case 2:
        run_pass<T, 2>(x, y, pass.groups, s, c, d);
        break;
      case 3:
        run_pass<T, 3>(x, y, pass.groups, s, c, d);
        break;
      case 4:
        run_pass<T, 4>(x, y, pass.groups, s, c, d);
        break;
      case 5:
        run_pass<T, 5>(x, y, pass.groups, s, c, d);
        break;
      case 7:
        run_pass<T, 7>(x, y, pass.groups, s, c, d);
        break;
      case 11:
        run_pass<T, 11>(x, y, pass.groups, s, c, d);
        break;
      default:
        run_pass<T, 13>(x, y, pass.groups, s, c, d);
        break;
    }
    std::swap(x, y);
    s *= static_cast<size_t>(pass.radix);
  }
  if (x.re == data.re) return;
  std::copy(x.re, x.re + n_ * lanes, data.re);
  std::copy(x.im, x.im + n_ * lanes, data.im);
}

// X[k] = chirp[k] * sum over t of (x[t] chirp[t]) conj(chirp[k - t])
template <class T>
void LineFft<T>::run_bluestein(Parts<T> data, Parts<T> scratch, size_t lanes) const {
  const Bluestein& b = *bluestein_;
  const size_t size = b.filter_re.size();
  const Parts<T> long_line = scratch;
  const Parts<T> rest = {scratch.re + size * lanes, scratch.im + size * lanes};
  const auto times = [lanes](Parts<T> from, Parts<T> to, const T* re, const T* im, size_t count) {
    for (size_t k = 0; k < count; ++k) {
      for (size_t i = k * lanes; i < (k + 1) * lanes; ++i) {
        const T a = from.re[i], c = from.im[i];
        to.re[i] = a * re[k] - c * im[k];
        to.im[i] = a * im[k] + c * re[k];
      }
    }
  };
  times(data, long_line, b.chirp_re.data(), b.chirp_im.data(), n_);
  std::fill(long_line.re + n_ * lanes, long_line.re + size * lanes, T(0));
  std::fill(long_line.im + n_ * lanes, long_line.im + size * lanes, T(0));
  b.fft->run(long_line, rest, lanes);
  times(long_line, long_line, b.filter_re.data(), b.filter_im.data(), size);
  b.fft->run({long_line.im, long_line.re}, rest, lanes);  // inverse
  times(long_line, data, b.chirp_re.data(), b.chirp_im.data(), n_);
}

template class LineFft<float>;
template class LineFft<double>;

}  // namespace warplings::libraries
