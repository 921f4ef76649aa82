#include "12_mnist_cnn/test/digits.h"

#include <algorithm>
#include <cmath>

namespace kit {

namespace {

struct Point {
  double x, y;
};
using Stroke = std::vector<Point>;  // corners of a line, in a square from 0 to 1, y downwards

// Part of an ellipse as a line of 12 pieces. Angles in turns, clockwise from the right.
Stroke arc(double x, double y, double rx, double ry, double from, double to) {
  constexpr int kPieces = 12;
  constexpr double kTurn = 6.283185307179586;
  Stroke stroke;
  for (int i = 0; i <= kPieces; ++i) {
    const double angle = kTurn * (from + (to - from) * i / kPieces);
    stroke.push_back({x + rx * std::cos(angle), y + ry * std::sin(angle)});
  }
  return stroke;
}

std::vector<Stroke> strokes_of(int digit) {
  switch (digit) {
    case 0:
      return {arc(0.5, 0.5, 0.3, 0.45, 0, 1)};
    case 1:
      return {{{0.3, 0.25}, {0.55, 0.05}, {0.55, 0.95}}};
    case 2:
      return {arc(0.5, 0.3, 0.28, 0.25, 0.5, 1.1), {{0.75, 0.42}, {0.22, 0.95}, {0.8, 0.95}}};
    case 3:
      return {arc(0.45, 0.28, 0.3, 0.23, 0.55, 1.25), arc(0.45, 0.72, 0.33, 0.23, 0.75, 1.45)};
    case 4:
      return {{{0.65, 0.95}, {0.65, 0.05}, {0.2, 0.65}, {0.85, 0.65}}};
    case 5:
      return {{{0.75, 0.05}, {0.3, 0.05}, {0.27, 0.45}}, arc(0.47, 0.67, 0.3, 0.27, 0.62, 1.4)};
    case 6:
      return {arc(0.75, 0.6, 0.5, 0.58, 0.5, 0.78), arc(0.5, 0.7, 0.26, 0.25, 0, 1)};
    case 7:
      return {{{0.2, 0.05}, {0.8, 0.05}, {0.42, 0.95}}};
    case 8:
      return {arc(0.5, 0.28, 0.24, 0.22, 0, 1), arc(0.5, 0.73, 0.29, 0.23, 0, 1)};
    default:
      return {arc(0.5, 0.3, 0.27, 0.25, 0, 1), {{0.77, 0.3}, {0.72, 0.65}, {0.5, 0.95}}};
  }
}

// SplitMix64, as a sequence.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  double between(double low, double high) {
    return low + (high - low) * static_cast<double>(next() >> 11) * 0x1p-53;
  }

 private:
  uint64_t next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  uint64_t state_;
};

double distance(Point p, Point a, Point b) {
  const double dx = b.x - a.x, dy = b.y - a.y, length = dx * dx + dy * dy;
  const double along = length == 0 ? 0 : ((p.x - a.x) * dx + (p.y - a.y) * dy) / length;
  const double t = std::clamp(along, 0.0, 1.0);
  return std::hypot(p.x - a.x - t * dx, p.y - a.y - t * dy);
}

// Turns, slants, scales and moves; from the square of 0 to 1 to itself.
struct Placing {
  double xx, xy, yx, yy, x, y;
  explicit Placing(Random& random) {
    const double angle = random.between(-kTurned, kTurned), slant = random.between(-kSlant, kSlant);
    const double width = random.between(kSmall, kLarge), height = random.between(kSmall, kLarge);
    xx = width * std::cos(angle);
    xy = height * (slant * std::cos(angle) - std::sin(angle));
    yx = width * std::sin(angle);
    yy = height * (slant * std::sin(angle) + std::cos(angle));
    x = 0.5 + random.between(-kMoved, kMoved);
    y = 0.5 + random.between(-kMoved, kMoved);
  }
  Point operator()(Point p) const {
    const double u = p.x - 0.5, v = p.y - 0.5;
    return {x + xx * u + xy * v, y + yx * u + yy * v};
  }
  static constexpr double kTurned = 0.02, kSlant = 0.02;  // radians; width per height
  static constexpr double kSmall = 0.7, kLarge = 0.75;    // parts of the image
  static constexpr double kMoved = 0.175;
};

void draw(int digit, int side, Random& random, uint8_t* image) {
  std::vector<Stroke> strokes = strokes_of(digit);
  const Placing place(random);
  for (Stroke& stroke : strokes) {
    for (Point& point : stroke) point = place(point);
  }
  const double pen = random.between(0.05, 0.075), ink = random.between(0.7, 1.0);
  const double edge = 0.7 / side;  // of a pixel: where white fades to black
  for (int i = 0; i < side * side; ++i) {
    const Point p = {(i % side + 0.5) / side, (i / side + 0.5) / side};
    double nearest = 1;
    for (const Stroke& stroke : strokes) {
      for (size_t k = 1; k < stroke.size(); ++k) {
        nearest = std::min(nearest, distance(p, stroke[k - 1], stroke[k]));
      }
    }
    const double white = std::clamp((pen - nearest) / edge * 0.5 + 0.5, 0.0, 1.0);
    const double value = ink * white + random.between(-0.02, 0.02);
    image[i] = static_cast<uint8_t>(std::lround(255 * std::clamp(value, 0.0, 1.0)));
  }
}

void put_big_endian(std::vector<uint8_t>* bytes, uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) {
    bytes->push_back(static_cast<uint8_t>(value >> shift));
  }
}

}  // namespace

DigitSet random_digits(int count, int side, uint64_t seed) {
  DigitSet set;
  set.count = count;
  set.side = side;
  set.images.resize(static_cast<size_t>(count) * side * side);
  for (int i = 0; i < count; ++i) {
    Random random(seed * 0x9e3779b97f4a7c15u + static_cast<uint64_t>(i));
    const int digit = std::min(9, static_cast<int>(random.between(0, 10)));
    set.labels.push_back(static_cast<uint8_t>(digit));
    draw(digit, side, random, set.images.data() + static_cast<size_t>(i) * side * side);
  }
  return set;
}

std::vector<uint8_t> idx_images(const DigitSet& set) {
  std::vector<uint8_t> bytes;
  for (const int value : {0x803, set.count, set.side, set.side}) {
    put_big_endian(&bytes, static_cast<uint32_t>(value));
  }
  bytes.insert(bytes.end(), set.images.begin(), set.images.end());
  return bytes;
}

std::vector<uint8_t> idx_labels(const DigitSet& set) {
  std::vector<uint8_t> bytes;
  for (const int value : {0x801, set.count}) put_big_endian(&bytes, static_cast<uint32_t>(value));
  bytes.insert(bytes.end(), set.labels.begin(), set.labels.end());
  return bytes;
}

}  // namespace kit
