#include "08_fft_convolution/test/fft.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "kit/context.h"
#include "kit/libraries/libraries.h"

namespace kit {
namespace {

constexpr double kPi = 3.14159265358979323846;
constexpr double kUnit = 0x1p-24;
constexpr size_t kPositionsShown = 5;

// exp(-2 pi i k / n) for k = 0 .. n - 1; conjugated for the inverse.
std::vector<Complex> roots_of_unity(int n, Direction direction) {
  const double sign = direction == Direction::kForward ? -1 : 1;
  std::vector<Complex> roots;
  for (int k = 0; k < n; ++k) roots.push_back(std::polar(1.0, sign * 2 * kPi * k / n));
  return roots;
}

double log2_of(int n) { return std::max(1.0, std::log2(static_cast<double>(n))); }

Complex value(float2 z) { return {z.x, z.y}; }

bool poisoned(float2 z) { return internal::is_poison(z.x) && internal::is_poison(z.y); }

// The values that a comparison is about, and which of them are wrong.
struct Spectrum {
  std::string name;
  const std::vector<float2>& got;
  const std::vector<Complex>& expected;
  const std::vector<uint8_t>& written;  // empty: unknown, guess from poison
  int n;
  std::vector<size_t> wrong = {};

  bool never_written(size_t i) const {
    return written.empty() ? poisoned(got[i]) : written[i] == 0;
  }
};

double length(const Complex* x, int n) {
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += std::norm(x[i]);
  return std::sqrt(sum);
}

// "[5]", or "[transform 2, point 5]" of several.
std::string position(const Spectrum& s, size_t i) {
  if (s.got.size() <= static_cast<size_t>(s.n)) return "[" + std::to_string(i) + "]";
  return "[transform " + std::to_string(i / s.n) + ", point " + std::to_string(i % s.n) + "]";
}

std::string text(Complex z, int digits) {
  if (std::isnan(z.real()) || std::isnan(z.imag())) return "NaN";
  const double rounding =
      1e-12 * std::abs(z);  // of the reference: show 0 for what is meant to be 0
  const double real = std::fabs(z.real()) <= rounding ? 0 : z.real();
  const double imaginary = std::fabs(z.imag()) <= rounding ? 0 : z.imag();
  char line[80];
  std::snprintf(line, sizeof line, "%.*g %c %.*gi", digits, real, imaginary < 0 ? '-' : '+', digits,
                std::fabs(imaginary));
  return line;
}

std::string describe_one(const Spectrum& s, size_t i) {
  const std::string element = s.name + position(s, i);
  std::string got, expected;
  for (int digits = 4; digits <= 16 && got == expected; digits += 4) {
    got = text(value(s.got[i]), digits);
    expected = text(s.expected[i], digits);
  }
  if (s.never_written(i)) return element + " was never written (expected " + expected + ").";
  return element + " is " + got + ", expected " + expected + ".";
}

// True if every wrong element i is near other(i), and they are not all alike.
template <class Other>
bool all_are(const Spectrum& s, const Other& other) {
  bool varied = false;
  for (const size_t i : s.wrong) {
    const Complex want = other(i);
    const Complex got = value(s.got[i]);
    if (!(std::abs(got - want) <= 1e-4 * std::abs(want) + 1e-5)) return false;
    varied = varied || std::abs(got - value(s.got[s.wrong[0]])) > 1e-3;
  }
  return varied;
}

size_t bit_reversed(size_t k, int n) {
  size_t reversed = 0;
  for (int bit = 1; bit < n; bit *= 2) {
    reversed = reversed * 2 + k % 2;
    k /= 2;
  }
  return reversed;
}

// What is wrong with all wrong elements alike: a clause, or "".
std::string guess(const Spectrum& s) {
  if (s.wrong.size() < 2) return "";
  const auto every = [&](auto&& test) { return std::all_of(s.wrong.begin(), s.wrong.end(), test); };
  if (every([&](size_t i) { return s.never_written(i); })) {
    const bool last = s.wrong.back() + 1 == s.got.size() &&
                      s.wrong.back() - s.wrong.front() + 1 == s.wrong.size();
    return last ? "the last " + std::to_string(s.wrong.size()) + " were never written"
                : "they were never written";
  }
  if (every([&](size_t i) { return value(s.got[i]) == Complex(0, 0); })) return "they are zero";
  const size_t n = s.n;
  const auto of_point = [&](size_t i, size_t point) { return s.expected[i - i % n + point]; };
  if (all_are(s, [&](size_t i) { return of_point(i, (n - i % n) % n); })) {
    return "point k holds what belongs to n - k, as if the angle had the other sign";
  }
  if (all_are(s, [&](size_t i) { return std::conj(s.expected[i]); })) {
    return "they are the complex conjugates of what is expected";
  }
  if ((n & (n - 1)) == 0 &&
      all_are(s, [&](size_t i) { return of_point(i, bit_reversed(i % n, s.n)); })) {
    return "they stand in bit-reversed order";
  }
  const double count = s.n;
  if (all_are(s, [&](size_t i) { return count * s.expected[i]; })) {
    return "they are n times what is expected";
  }
  if (all_are(s, [&](size_t i) { return s.expected[i] / count; })) {
    return "they are 1/n of what is expected";
  }
  return "";
}

double allowed_error(const Spectrum& s, size_t i) {
  const double root_mean_square =
      length(&s.expected[i - i % s.n], s.n) / std::sqrt(static_cast<double>(s.n));
  return 16 * kUnit * log2_of(s.n) * root_mean_square;
}

// How far off the worst element is, where that may be a matter of rounding; or "".
std::string worst_error(const Spectrum& s) {
  size_t worst = s.wrong[0];
  double worst_ratio = 0;
  for (const size_t i : s.wrong) {
    const double ratio = std::abs(value(s.got[i]) - s.expected[i]) / (allowed_error(s, i) + 1e-300);
    if (!(ratio <= 1e5)) return "";
    if (ratio > worst_ratio) worst = i;
    worst_ratio = std::max(worst_ratio, ratio);
  }
  char line[160];
  std::snprintf(line, sizeof line, "\nThe error of %s is %.3g; %.3g is allowed.",
                (s.name + position(s, worst)).c_str(),
                std::abs(value(s.got[worst]) - s.expected[worst]), allowed_error(s, worst));
  return line;
}

std::string describe(const Spectrum& s) {
  if (s.wrong.size() == 1) return describe_one(s, s.wrong[0]) + worst_error(s);
  std::string lines = std::to_string(s.wrong.size()) + " of " + std::to_string(s.got.size()) +
                      " elements of " + s.name + " are wrong";
  const std::string pattern = guess(s);
  lines += (pattern.empty() ? "" : ": " + pattern) + ".";
  for (size_t k = 0; k < s.wrong.size() && k < kPositionsShown; ++k) {
    lines += "\n  " + describe_one(s, s.wrong[k]);
  }
  if (s.wrong.size() > kPositionsShown) {
    lines += "\n  and " + std::to_string(s.wrong.size() - kPositionsShown) + " more";
  }
  return lines + worst_error(s);
}

// The first transform that is too far off as a whole, described; "" if none is.
std::string too_far_off(const Spectrum& s) {
  for (size_t begin = 0; begin < s.got.size(); begin += s.n) {
    std::vector<Complex> error;
    for (int i = 0; i < s.n; ++i) {
      error.push_back(value(s.got[begin + i]) - s.expected[begin + i]);
    }
    const double size = length(&s.expected[begin], s.n);
    const double relative = length(error.data(), s.n) / (size == 0 ? 1 : size);
    const double limit = 4 * kUnit * log2_of(s.n);
    if (relative <= limit) continue;  // a NaN is not
    char line[160];
    std::snprintf(line, sizeof line,
                  "%s is %.3g away from the reference as a whole (relative L2 norm); %.3g is "
                  "allowed.",
                  s.name.c_str(), relative, limit);
    return line;
  }
  return "";
}

bool compare(Spectrum s, Site site) {
  if (internal::case_failed()) return false;
  if (s.got.size() != s.expected.size()) {
    return internal::report_sizes(s.name, s.got.size(), s.expected.size(), site);
  }
  for (size_t i = 0; i < s.got.size(); ++i) {
    const bool near = std::abs(value(s.got[i]) - s.expected[i]) <= allowed_error(s, i);
    if (!near || (!s.written.empty() && s.written[i] == 0)) s.wrong.push_back(i);
  }
  if (!s.wrong.empty()) return fail_results(describe(s), site);
  const std::string whole = too_far_off(s);
  return whole.empty() || fail_results(whole, site);
}

}  // namespace

std::vector<float2> random_complex(size_t n) {
  const std::vector<float> parts = random_floats(2 * n);
  std::vector<float2> values;
  for (size_t i = 0; i < n; ++i) values.push_back({parts[2 * i], parts[2 * i + 1]});
  return values;
}

std::vector<Complex> dft_on_cpu(const std::vector<Complex>& x, int n, Direction direction) {
  const std::vector<Complex> roots = roots_of_unity(n, direction);
  const double scale = direction == Direction::kForward ? 1.0 : 1.0 / n;
  std::vector<Complex> y;
  for (size_t begin = 0; begin + n <= x.size(); begin += n) {
    for (int k = 0; k < n; ++k) {
      double real = 0, imaginary = 0;
      int power = 0;  // i k modulo n
      for (int i = 0; i < n; ++i) {
        const Complex a = x[begin + i], b = roots[power];
        real += a.real() * b.real() - a.imag() * b.imag();
        imaginary += a.real() * b.imag() + a.imag() * b.real();
        power = power + k < n ? power + k : power + k - n;
      }
      y.emplace_back(scale * real, scale * imaginary);
    }
  }
  return y;
}

std::vector<Complex> dft_on_cpu(const std::vector<float2>& x, int n, Direction direction) {
  std::vector<Complex> wide;
  for (const float2 z : x) wide.push_back(value(z));
  return dft_on_cpu(wide, n, direction);
}

bool expect_transforms_near(const DeviceBuffer<float2>& got, const std::vector<Complex>& expected,
                            int n, Site site) {
  if (internal::case_failed()) return false;
  std::vector<uint8_t> written;
  const std::vector<float2> values = got.download(&written);
  return compare({got.name(), values, expected, written, n}, site);
}

bool expect_transforms_near(const std::string& what, const std::vector<float2>& got,
                            const std::vector<Complex>& expected, int n, Site site) {
  return compare({what, got, expected, {}, n}, site);
}

FftSpeed::FftSpeed(int n, int batch, double slice, Site site)
    : speed(site),
      n_(n),
      batch_(batch),
      x_(speed.input<float>(2 * static_cast<size_t>(n) * batch, "x")),
      y_(speed.output<float>(2 * static_cast<size_t>(n) * batch, "y")) {
  speed.bytes(16.0 * n * batch).slice(slice);
  speed.expect(
      y_, [this](size_t i) { return part(i); }, Tolerance::units(16 * log2_of(n)));
}

std::function<void()> FftSpeed::call(const FftLauncher& launch) const {
  return [this, launch] {
    launch(reinterpret_cast<const float2*>(x_.get()), reinterpret_cast<float2*>(y_.get()), n_,
           batch_);
  };
}

Baseline FftSpeed::against_cufft() const { return library("cuFFT", cufft(), call(cufft_forward)); }

Expected FftSpeed::part(size_t i) const {
  const size_t transform = i / 2 / n_, k = i / 2 % n_;
  Complex sum = 0;
  double scale = 0;
  for (size_t j = 0; j < static_cast<size_t>(n_); ++j) {
    const size_t at = 2 * (transform * n_ + j);
    const Complex value(x_.at(at), x_.at(at + 1));
    const double turns = static_cast<double>(j * k % n_) / n_;
    sum += value * std::polar(1.0, -2 * kPi * turns);
    scale += std::norm(value);
  }
  return {i % 2 == 0 ? sum.real() : sum.imag(), std::sqrt(scale)};
}

}  // namespace kit
