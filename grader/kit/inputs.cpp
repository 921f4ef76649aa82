// Seeded inputs. The generator is our own, because the distributions of <random> differ between
// standard libraries and a seed must give the same inputs everywhere.
#include "kit/context.h"
#include "kit/kit.h"

namespace kit {
namespace {

// splitmix64: https://prng.di.unimi.it/splitmix64.c
uint64_t mix(uint64_t x) {
  x += 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

uint64_t hash(const std::string& text) {
  uint64_t state = 0;
  for (const char c : text) state = mix(state ^ static_cast<unsigned char>(c));
  return state;
}

// A block of draws takes its seed once: hashing the name of the test for every value would cost
// seconds.
class Draws {
 public:
  uint64_t next() { return mix(seed_ + 0x632BE59BD9B4E019u * ++count_); }
  // In [0, 1), with 53 random bits.
  double next_unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  int next_int(int low, int high) {
    const uint64_t span = static_cast<uint64_t>(static_cast<int64_t>(high) - low) + 1;
    return static_cast<int>(low + static_cast<int64_t>(next() % span));
  }

 private:
  const uint64_t seed_ = seed();
  uint64_t& count_ = context().draws;
};

}  // namespace

uint64_t seed() { return mix(context().base_seed ^ hash(context().test)); }

std::vector<float> random_floats(size_t n, float low, float high) {
  Draws draws;
  std::vector<float> values(n);
  for (float& value : values) value = static_cast<float>(low + (high - low) * draws.next_unit());
  return values;
}

std::vector<double> random_doubles(size_t n, double low, double high) {
  Draws draws;
  std::vector<double> values(n);
  for (double& value : values) value = low + (high - low) * draws.next_unit();
  return values;
}

std::vector<int> random_ints(size_t n, int low, int high) {
  Draws draws;
  std::vector<int> values(n);
  for (int& value : values) value = draws.next_int(low, high);
  return values;
}

std::vector<float> random_integer_floats(size_t n, int low, int high) {
  Draws draws;
  std::vector<float> values(n);
  for (float& value : values) value = static_cast<float>(draws.next_int(low, high));
  return values;
}

std::vector<float> precision_tripwire_floats(size_t n) {
  Draws draws;
  std::vector<float> values(n);
  for (float& value : values) {
    const int magnitude = 2049 + 2 * draws.next_int(0, (4095 - 2049) / 2);
    value = static_cast<float>(draws.next() & 1 ? magnitude : -magnitude);
  }
  return values;
}

std::ostream& operator<<(std::ostream& out, const Shape& shape) {
  if (shape.depth != 1) out << shape.depth << " x ";
  return out << shape.rows << " x " << shape.cols;
}

// A multiple of every usual block comes first: if it fails, the end of the array is not the
// problem, and the first failure is the one that is described. 1025 is the plainest case of a last,
// partial block.
const std::vector<int>& awkward_sizes() {
  static const std::vector<int> sizes = {1024, 1025, 1023, 1000, 32,   31,  33,
                                         1,    127,  128,  129,  1031, 2048};
  return sizes;
}

const std::vector<Shape>& awkward_shapes() {
  static const std::vector<Shape> shapes = {{64, 32}, {33, 65}, {31, 33},  {32, 32}, {1, 1},
                                            {1, 100}, {100, 1}, {129, 17}, {7, 127}, {96, 160}};
  return shapes;
}

}  // namespace kit
