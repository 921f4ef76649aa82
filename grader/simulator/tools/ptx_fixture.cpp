#include "tools/ptx_fixture.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <limits>
#include <optional>
#include <ostream>
#include <sstream>
#include <utility>

namespace warplings::sim {
namespace {

using ptx::Type;

constexpr int kMaxDifferences = 5;  // shown per fixture

bool is_float(Type type) {
  return type == Type::kF16 || type == Type::kBF16 || type == Type::kF32 || type == Type::kF64;
}

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

class Reader {
 public:
  Reader(std::string path, std::string text) {
    fixture_.path = std::move(path);
    fixture_.text = std::move(text);
  }

  Fixture run() {
    std::istringstream lines(fixture_.text);
    for (std::string line; std::getline(lines, line);) {
      ++line_;
      const std::string_view comment = trimmed(line);
      if (!comment.starts_with("//")) continue;
      const size_t colon = comment.find(':');
      if (colon == std::string_view::npos) continue;
      key(trimmed(comment.substr(2, colon - 2)), trimmed(comment.substr(colon + 1)));
    }
    if (fixture_.expected.empty()) {
      throw FixtureError(fixture_.path + ": no line says what is expected: // expect: u32 1, 2");
    }
    return std::move(fixture_);
  }

 private:
  [[noreturn]] void fail(const std::string& message) const {
    throw FixtureError(fixture_.path + ":" + std::to_string(line_) + ": " + message);
  }

  // Other words before a colon are ordinary comments.
  void key(std::string_view name, std::string_view value) {
    if (name == "input") {
      fixture_.has_input = true;
      append_values(value, &fixture_.input);
    } else if (name == "expect") {
      fixture_.runs.push_back(append_values(value, &fixture_.expected));
    } else if (name == "launch") {
      launch(value);
    } else if (name == "shared") {
      fixture_.shared_bytes = number(value, 228 * 1024);
    } else if (name == "tolerance") {
      tolerance(value);
    }
  }

  // "f32 1.5, -0.0": the values become the initial bytes of a PTX variable, so that numbers mean
  // here what they mean in PTX.
  Fixture::Run append_values(std::string_view text, std::vector<uint8_t>* bytes) const {
    const size_t space = std::min(text.find_first_of(" \t"), text.size());
    const std::string type_name(text.substr(0, space));
    const Type type = ptx::type_from_name(type_name);
    if (ptx::size_of(type) == 0) fail("'" + type_name + "' is not a type such as f32, u32 or b32");
    std::string list;
    std::string_view rest = trimmed(text.substr(space));
    if (rest.empty()) fail("values are missing after " + type_name);
    for (bool more = true; more;) {
      const size_t comma = rest.find(',');
      more = comma != std::string_view::npos;
      list += (list.empty() ? "" : ", ") + constant(trimmed(rest.substr(0, comma)), type);
      if (more) rest.remove_prefix(comma + 1);
    }
    const std::string source =
        ".version 8.0\n.target sm_80\n.global ." + type_name + " values[] = {" + list + "};\n";
    try {
      const auto module = ptx::parse(source, "values");
      const std::vector<uint8_t>& values = module->variables.at(0).initial;
      bytes->insert(bytes->end(), values.begin(), values.end());
      return {type, values.size() / static_cast<size_t>(ptx::size_of(type))};
    } catch (const ptx::ParseError&) {
      fail("this is not a list of " + type_name +
           " values, separated by commas: " + std::string(text.substr(space)));
    }
  }

  // One value as a PTX constant of its type.
  std::string constant(std::string_view value, Type type) const {
    const std::string text(value);
    const bool is_bits = value.starts_with("0x");
    if (!is_float(type)) return text;
    const bool minus = value.starts_with('-');
    const std::string_view word = value.substr(minus ? 1 : 0);
    const double special = word == "inf" ? std::numeric_limits<double>::infinity() : 0;
    if (word == "nan" || special != 0) return special_value(word == "nan", minus, type);
    if (is_bits) fail("bits have a type such as b32; write 0f and 0d constants for floats");
    const bool is_decimal = word.find_first_not_of("0123456789") == std::string_view::npos;
    return is_decimal ? text + ".0" : text;
  }

  static std::string special_value(bool is_nan, bool minus, Type type) {
    switch (type) {
      case Type::kF16:
        return is_nan ? "0x7fff" : minus ? "0xfc00" : "0x7c00";
      case Type::kBF16:
        return is_nan ? "0x7fff" : minus ? "0xff80" : "0x7f80";
      case Type::kF32:
        return is_nan ? "0f7fffffff" : minus ? "0fff800000" : "0f7f800000";
      default:
        return is_nan ? "0d7ff8000000000000" : minus ? "0dfff0000000000000" : "0d7ff0000000000000";
    }
  }

  size_t number(std::string_view text, size_t limit) const {
    size_t value = 0;
    bool is_number = !text.empty() && text.size() < 10;
    for (const char c : text) {
      is_number = is_number && c >= '0' && c <= '9';
      value = value * 10 + static_cast<size_t>(c - '0');
    }
    if (!is_number || value > limit) {
      fail("'" + std::string(text) + "' is not a number from 0 to " + std::to_string(limit));
    }
    return value;
  }

  // "grid 2 2 block 64"
  void launch(std::string_view text) {
    std::istringstream words{std::string(text)};
    unsigned* target = nullptr;
    int index = 0;
    for (std::string word; words >> word;) {
      if (word == "grid" || word == "block") {
        target = word == "grid" ? fixture_.grid : fixture_.block;
        index = 0;
        continue;
      }
      if (target == nullptr || index == 3) {
        fail("a launch is written as: // launch: grid 1 block 64 (up to three numbers each)");
      }
      target[index++] =
          static_cast<unsigned>(number(word, target == fixture_.block ? 1024 : 65535));
    }
    const auto is_zero = [](unsigned n) { return n == 0; };
    if (target == nullptr || std::any_of(fixture_.grid, fixture_.grid + 3, is_zero) ||
        std::any_of(fixture_.block, fixture_.block + 3, is_zero)) {
      fail("a launch is written as: // launch: grid 1 block 64, with numbers from 1");
    }
  }

  void tolerance(std::string_view text) {
    std::istringstream words{std::string(text)};
    std::string kind;
    words >> kind >> fixture_.tolerance_value;
    const bool has_number = !words.fail() && fixture_.tolerance_value >= 0;
    fixture_.tolerance = kind == "relative"   ? Fixture::Tolerance::kRelative
                         : kind == "absolute" ? Fixture::Tolerance::kAbsolute
                         : kind == "ulp"      ? Fixture::Tolerance::kUlp
                                              : Fixture::Tolerance::kNone;
    if (!has_number || fixture_.tolerance == Fixture::Tolerance::kNone) {
      fail("a tolerance is written as: // tolerance: relative 1e-6 (or absolute 1e-7, ulp 2)");
    }
  }

  Fixture fixture_;
  int line_ = 0;
};

// ---- comparison ----

uint64_t load_bits(const uint8_t* bytes, size_t size) {
  uint64_t bits = 0;
  std::memcpy(&bits, bytes, std::min<size_t>(size, 8));
  return bits;
}

double half_value(uint64_t bits, int exponent_bits) {
  const int mantissa_bits = 15 - exponent_bits;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const auto mantissa = static_cast<double>(bits & ((1u << mantissa_bits) - 1));
  const int exponent = static_cast<int>(bits >> mantissa_bits & ((1u << exponent_bits) - 1));
  const double sign = bits & 0x8000 ? -1 : 1;
  if (exponent == (1 << exponent_bits) - 1) {
    return mantissa != 0 ? std::numeric_limits<double>::quiet_NaN()
                         : sign * std::numeric_limits<double>::infinity();
  }
  if (exponent == 0) return sign * std::ldexp(mantissa, 1 - bias - mantissa_bits);
  return sign * std::ldexp(mantissa + (1u << mantissa_bits), exponent - bias - mantissa_bits);
}

double float_value(uint64_t bits, Type type) {
  switch (type) {
    case Type::kF16:
      return half_value(bits, 5);
    case Type::kBF16:
      return half_value(bits, 8);
    case Type::kF32:
      return std::bit_cast<float>(static_cast<uint32_t>(bits));
    default:
      return std::bit_cast<double>(bits);
  }
}

// Distance in representable values; the order of floats is that of their magnitude bits.
double ulp_distance(uint64_t a, uint64_t b, int bytes) {
  const uint64_t sign = uint64_t{1} << (8 * bytes - 1);
  const auto ordered = [sign](uint64_t bits) {
    const auto magnitude = static_cast<double>(bits & (sign - 1));
    return bits & sign ? -magnitude : magnitude;
  };
  return std::fabs(ordered(a) - ordered(b));
}

bool is_close(const Fixture& fixture, uint64_t got, uint64_t expected, Type type) {
  if (got == expected) return true;
  if (fixture.tolerance == Fixture::Tolerance::kNone || !is_float(type)) return false;
  const double x = float_value(got, type);
  const double y = float_value(expected, type);
  if (!std::isfinite(x) || !std::isfinite(y)) return false;
  const double difference = std::fabs(x - y);
  switch (fixture.tolerance) {
    case Fixture::Tolerance::kAbsolute:
      return difference <= fixture.tolerance_value;
    case Fixture::Tolerance::kRelative:
      return difference <= fixture.tolerance_value * std::fabs(y);
    default:
      return ulp_distance(got, expected, ptx::size_of(type)) <= fixture.tolerance_value;
  }
}

std::string shown(const uint8_t* bytes, Type type) {
  const int size = ptx::size_of(type);
  const uint64_t bits = load_bits(bytes, static_cast<size_t>(size));
  char text[96];
  if (size > 8) {
    std::snprintf(text, sizeof text, "0x%016llx%016llx",
                  static_cast<unsigned long long>(load_bits(bytes + 8, 8)),
                  static_cast<unsigned long long>(bits));
  } else if (is_float(type)) {
    std::snprintf(text, sizeof text, "0x%0*llx (%.9g)", 2 * size,
                  static_cast<unsigned long long>(bits), float_value(bits, type));
  } else {
    std::snprintf(text, sizeof text, "0x%0*llx", 2 * size, static_cast<unsigned long long>(bits));
  }
  return text;
}

std::string run_one(const FixtureText& source, const FixtureRunner& runner) {
  try {
    const Fixture fixture = read_fixture(source.path, source.text);
    std::vector<uint8_t> output(fixture.expected.size());
    const std::string problem = runner(fixture, &output);
    if (!problem.empty()) return fixture.path + ": " + problem + "\n";
    return compare(fixture, output);
  } catch (const FixtureError& error) {
    return std::string(error.what()) + "\n";
  } catch (const ptx::ParseError& error) {
    return std::string(error.what()) + "\n";
  }
}

// Nobody has seen the text of a row before.
std::string shown_text(const FixtureText& source) {
  if (source.path.ends_with(".ptx")) return "";
  std::string shown = "  expanded to:\n";
  std::istringstream lines(source.text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.starts_with("// input:") || line.starts_with("// expect:")) continue;
    shown += "  " + std::to_string(number) + "\t" + line + "\n";
  }
  return shown;
}

}  // namespace

Fixture read_fixture(std::string path, std::string text) {
  return Reader(std::move(path), std::move(text)).run();
}

std::string compare(const Fixture& fixture, const std::vector<uint8_t>& output) {
  std::string differences;
  int wrong = 0;
  size_t index = 0;
  size_t offset = 0;
  for (const Fixture::Run& run : fixture.runs) {
    const auto size = static_cast<size_t>(ptx::size_of(run.type));
    for (size_t i = 0; i < run.count; ++i, ++index, offset += size) {
      const uint8_t* got = output.data() + offset;
      const uint8_t* expected = fixture.expected.data() + offset;
      if (std::memcmp(got, expected, size) == 0) continue;
      const bool close =
          size <= 8 && is_close(fixture, load_bits(got, size), load_bits(expected, size), run.type);
      if (close || ++wrong > kMaxDifferences) continue;
      differences += "  output[" + std::to_string(index) + "] is " + shown(got, run.type) +
                     ", expected " + shown(expected, run.type) + "\n";
    }
  }
  if (wrong == 0) return "";
  if (wrong > kMaxDifferences) {
    differences += "  and " + std::to_string(wrong - kMaxDifferences) + " more\n";
  }
  return fixture.path + ": the output differs\n" + differences;
}

int run_ptx_fixtures(const std::vector<std::string>& paths, std::ostream& out,
                     const FixtureRunner& runner) {
  std::vector<FixtureText> fixtures;
  for (const std::string& path : paths) {
    try {
      std::vector<FixtureText> more = load_fixtures(path);
      if (more.empty()) {
        out << path << ": there is no fixture here, neither .ptx nor .table\n";
        return 2;
      }
      std::move(more.begin(), more.end(), std::back_inserter(fixtures));
    } catch (const FixtureError& error) {
      out << "FAIL " << error.what() << "\n";
      return 1;
    }
  }
  size_t failed = 0;
  for (const FixtureText& source : fixtures) {
    const std::string problem = run_one(source, runner);
    if (problem.empty()) continue;
    ++failed;
    out << "FAIL " << problem << shown_text(source);
  }
  out << fixtures.size() - failed << " passed, " << failed << " failed\n";
  return failed == 0 ? 0 : 1;
}

}  // namespace warplings::sim
