// The special function unit, as S. Oberman and M. Siu describe it (A High-Performance
// Area-Efficient Multifunction Interpolator, 17th IEEE Symposium on Computer Arithmetic, 2005): the
// leading bits of a reduced argument choose three coefficients, of about 26, 16 and 10 bits, and
// the rest of it goes through c0 + c1 x + c2 x^2 with a truncated square. The card's coefficients
// are not public; those below are fitted to the function, so errors have the card's size but not
// its bits.
#include "exec/approx.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace warplings::sim::approx {
namespace {

constexpr double kPi = 3.14159265358979323846;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

double round_to(double value, double unit) { return std::nearbyint(value / unit) * unit; }

// A function on [0, 1), in 2^kBits segments.
template <int kBits>
class Table {
 public:
  template <class F>
  Table(F f, double unit_c0, double unit_c1, double unit_c2) {
    for (int i = 0; i < kSegments; ++i) {
      const double begin = static_cast<double>(i) / kSegments;
      // The first value of all is exact, since 2^0 is 1. The slope there makes up for it.
      segments_[static_cast<size_t>(i)] = fit([&](double x) { return f(begin + x); }, i == 0,
                                              unit_c0, i == 0 ? unit_c1 / 16 : unit_c1, unit_c2);
    }
  }

  double operator()(double x) const {
    const int i = static_cast<int>(x * kSegments);
    const Segment& s = segments_[static_cast<size_t>(i)];
    const double rest = x - static_cast<double>(i) / kSegments;
    const double square = std::floor(rest * rest * kSquareUnits) / kSquareUnits;
    return s.c0 + s.c1 * rest + s.c2 * square;
  }

 private:
  struct Segment {
    double c0, c1, c2;
  };
  static constexpr int kSegments = 1 << kBits;
  static constexpr double kSquareUnits = 0x1p26;

  // Rounded coefficients, from the last to the first: each makes up for the rounding before it.
  template <class F>
  static Segment fit(F f, bool exact_begin, double unit_c0, double unit_c1, double unit_c2) {
    constexpr double kWidth = 1.0 / kSegments;
    // Chebyshev's three nodes, the first one moved to the beginning where that is exact.
    const double cosine = std::cos(kPi / 6);
    const double away = cosine * kWidth / (exact_begin ? 1 + cosine : 2);
    const double b = exact_begin ? away : kWidth / 2, a = b - away, c = b + away;
    Segment s;
    s.c2 = round_to((f(a) - 2 * f(b) + f(c)) / (2 * away * away), unit_c2);
    const auto line = [&](double x) { return f(x) - s.c2 * x * x; };
    s.c1 = round_to((line(c) - line(a)) / (c - a), unit_c1);
    const auto rest = [&](double x) { return line(x) - s.c1 * x; };
    double low = rest(0), high = low;
    for (double x : {a, b, c, kWidth}) {
      low = std::fmin(low, rest(x));
      high = std::fmax(high, rest(x));
    }
    s.c0 = exact_begin ? f(0) : round_to((low + high) / 2, unit_c0);
    return s;
  }

  std::array<Segment, kSegments> segments_;
};

struct Unit {
  Table<7> reciprocal{[](double x) { return 1 / (1 + x); }, 0x1p-26, 0x1p-17, 0x1p-9};
  Table<6> root{[](double x) { return std::sqrt(1 + x); }, 0x1p-25, 0x1p-17, 0x1p-11};
  Table<6> root_of_two{[](double x) { return std::sqrt(2 + 2 * x); }, 0x1p-25, 0x1p-17, 0x1p-11};
  Table<6> inverse{[](double x) { return 1 / std::sqrt(1 + x); }, 0x1p-26, 0x1p-17, 0x1p-10};
  Table<6> inverse_of_two{[](double x) { return 1 / std::sqrt(2 + 2 * x); }, 0x1p-26, 0x1p-17,
                          0x1p-10};
  Table<6> power{[](double x) { return std::exp2(x); }, 0x1p-25, 0x1p-15, 0x1p-10};
  Table<6> logarithm{[](double x) { return std::log2(1 + x); }, 0x1p-25, 0x1p-15, 0x1p-9};
  Table<6> sine{[](double x) { return std::sin(kPi / 2 * x); }, 0x1p-25, 0x1p-15, 0x1p-9};
};

const Unit& unit() {
  static const Unit* const tables = new Unit();
  return *tables;
}

// x = mantissa * 2^exponent with a mantissa in [1, 2). For positive finite x.
struct Split {
  explicit Split(double x) : exponent(std::ilogb(x)), mantissa(std::ldexp(x, -exponent)) {}
  int exponent;
  double mantissa;
};

double signed_as(double magnitude, float x) { return std::signbit(x) ? -magnitude : magnitude; }

// 1 / x for finite x other than zero, rounded to 24 bits whatever its exponent.
double reciprocal_of(float x) {
  const Split s(std::fabs(x));
  const auto rounded = static_cast<float>(unit().reciprocal(s.mantissa - 1));
  return signed_as(std::ldexp(rounded, -s.exponent), x);
}

// sin(2 pi t) of a positive number of turns. `t` is exact, so the part of it that is left of the
// whole turns is, too.
double sine_of_turns(double t) {
  const double quarters = 4 * (t - std::floor(t));
  const int quadrant = static_cast<int>(quarters);
  double x = quarters - quadrant;
  if (quadrant % 2 == 1) x = 1 - x;
  // The first segment keeps leading bits, so that a small angle has a small error; the end is 1.
  const double value = x == 1 ? 1.0 : x < 0x1p-6 ? std::sin(kPi / 2 * x) : unit().sine(x);
  return quadrant >= 2 ? -value : value;
}

// The argument in turns: one multiplication, rounded to zero, by 1 / (2 pi) as a float. That is all
// the range reduction there is, and why large arguments have large errors.
float turns(float x) {
  constexpr float kTurnsPerRadian = 0x1.45f306p-3f;
  const double exact = std::fabs(static_cast<double>(x)) * kTurnsPerRadian;
  auto t = static_cast<float>(exact);
  if (t > exact) t = std::nextafter(t, 0.0f);
  return t;
}

// Of a positive number below 8: a line in each eighth of an octave, and of 1/16 from 1 on.
double tangent_of(double x) {
  const double width = std::fmin(std::ldexp(0.125, Split(x).exponent), 0x1p-4);
  const double begin = std::floor(x / width) * width;
  const double low = std::tanh(begin), high = std::tanh(begin + width);
  // Halfway between the chord and the tangent parallel to it, which is the line of least error.
  const double middle = (low + high) / 2;
  const double lift = (std::tanh(begin + width / 2) - middle) / 2;
  return low + lift + (high - low) * ((x - begin) / width);
}

}  // namespace

float reciprocal(float x) {
  if (x != x) return kNan;
  if (x == 0) return std::copysign(kInfinity, x);
  if (std::isinf(x)) return std::copysign(0.0f, x);
  return static_cast<float>(reciprocal_of(x));
}

float square_root(float x) {
  if (x == 0) return x;
  if (!(x > 0)) return kNan;
  if (std::isinf(x)) return x;
  const Split s(x);
  const bool odd = s.exponent % 2 != 0;
  const double root = odd ? unit().root_of_two(s.mantissa - 1) : unit().root(s.mantissa - 1);
  return static_cast<float>(std::ldexp(root, (s.exponent - odd) / 2));
}

float reciprocal_root(float x) {
  if (x == 0) return std::copysign(kInfinity, x);
  if (!(x > 0)) return kNan;
  if (std::isinf(x)) return 0.0f;
  const Split s(x);
  const int odd = s.exponent & 1;
  const double f = s.mantissa - 1;
  const double value = odd ? unit().inverse_of_two(f) : unit().inverse(f);
  return static_cast<float>(std::ldexp(value, -((s.exponent - odd) / 2)));
}

float power_of_two(float x) {
  if (x != x) return kNan;
  if (x >= 128) return kInfinity;
  if (x < -150) return 0.0f;
  // Fixed point with 24 bits behind the point: of a small argument the rest is lost.
  const double fixed = round_to(x, 0x1p-24);
  const double whole = std::floor(fixed);
  return static_cast<float>(std::ldexp(unit().power(fixed - whole), static_cast<int>(whole)));
}

float logarithm(float x) {
  if (x == 0) return -kInfinity;
  if (!(x > 0)) return kNan;
  if (std::isinf(x)) return x;
  // The sum is in fixed point: near one, where it is small, its error stays what it is.
  const Split s(x);
  return static_cast<float>(s.exponent + unit().logarithm(s.mantissa - 1));
}

float sine(float x) {
  if (!std::isfinite(x)) return kNan;
  return static_cast<float>(signed_as(sine_of_turns(turns(x)), x));
}

float cosine(float x) {
  if (!std::isfinite(x)) return kNan;
  return static_cast<float>(sine_of_turns(static_cast<double>(turns(x)) + 0.25));
}

float tangent(float x) {
  if (x != x) return kNan;
  const double magnitude = std::fabs(x);
  if (magnitude < 0x1p-5) return x;
  if (magnitude >= 8) return std::copysign(1.0f, x);
  return static_cast<float>(signed_as(std::fmin(tangent_of(magnitude), 1.0), x));
}

float quotient(float a, float b, bool full) {
  const float magnitude = std::fabs(b);
  if (a != a || !(magnitude > 0) || std::isinf(b)) return a / b;
  if (!full && magnitude > 0x1p126f) return a * std::copysign(0.0f, b);
  return static_cast<float>(a * reciprocal_of(b));
}

namespace {

// The argument keeps 20 bits behind its point, and so does the result.
double upper_word(double x) {
  return std::bit_cast<double>(std::bit_cast<uint64_t>(x) & 0xffffffff00000000u);
}
double flushed(double x) { return std::fabs(x) < 0x1p-1022 ? std::copysign(0.0, x) : x; }

}  // namespace

double reciprocal(double x) { return flushed(upper_word(1 / flushed(upper_word(x)))); }

double reciprocal_root(double x) { return upper_word(1 / std::sqrt(flushed(upper_word(x)))); }

}  // namespace warplings::sim::approx
