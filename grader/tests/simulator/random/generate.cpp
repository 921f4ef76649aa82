// From a seed to a program: families are chosen, then templates of them, then registers.
#include <algorithm>
#include <cctype>

#include "program.h"
#include "templates.h"

namespace warplings::sim::random {
namespace {

constexpr int kFamiliesPerKernel = 7;
constexpr int kTopUnits = 34;  // at least; each is one instruction or more
constexpr uint32_t kImmediatePercent = 25;
constexpr uint32_t kSpecialWords[] = {0,          1,          2,          31,         32,
                                      33,         0x7f,       0x80,       0xff,       0x7fff,
                                      0x8000,     0xffff,     0x10000,    0x7fffffff, 0x80000000,
                                      0x80000001, 0xfffffffe, 0xffffffff, 0x55555555, 0x12345678};

std::string hex(uint64_t value, int digits) {
  std::string text(static_cast<size_t>(digits), '0');
  for (int i = digits - 1; i >= 0; --i, value >>= 4) {
    text[static_cast<size_t>(i)] = "0123456789abcdef"[value & 15];
  }
  return text;
}

// Bits of a floating-point number with so many mantissa bits, special ones more often than not.
uint64_t special_float(Generator& random, int bits, int mantissa) {
  const uint64_t sign = uint64_t{random.below(2)} << (bits - 1);
  const uint64_t exponents = (uint64_t{1} << (bits - 1 - mantissa)) - 1;
  const uint64_t bias = exponents >> 1;
  const uint64_t fraction = random.bits() & ((uint64_t{1} << mantissa) - 1);
  const uint64_t top_fraction = (uint64_t{1} << mantissa) - 1;
  switch (random.below(12)) {
    case 0:
      return sign;
    case 1:
      return sign | bias << mantissa;  // 1
    case 2:
      return sign | exponents << mantissa;  // infinity
    case 3:  // the NaN that arithmetic gives: f64 has another one than the narrower types
      return bits == 64 ? 0x7ff8000000000000u : (uint64_t{1} << (bits - 1)) - 1;
    case 4:
      return sign | fraction;  // subnormal or 0
    case 5:
      return sign | 1;
    case 6:
      return sign | uint64_t{1} << mantissa;  // the least normal number
    case 7:
      return sign | (exponents - 1) << mantissa | top_fraction;  // the greatest
    case 8:  // integers and halves around the end of the mantissa
      return sign | (bias + random.below(static_cast<size_t>(mantissa) + 2)) << mantissa |
             (fraction & ~(top_fraction >> random.below(8)));
    case 9:
      return sign | (bias + random.below(8) - 4) << mantissa | top_fraction;
    case 10:
      return sign | (random.bits() % exponents) << mantissa | fraction;
    default:
      return sign | (bias + random.below(16) - 8) << mantissa | fraction;
  }
}

uint64_t special_integer(Generator& random) {
  const uint64_t word = kSpecialWords[random.below(std::size(kSpecialWords))];
  switch (random.below(4)) {
    case 0:
      return word;
    case 1:
      return word << 32 | kSpecialWords[random.below(std::size(kSpecialWords))];
    case 2:
      return random.bits() >> random.below(64);
    default:
      return random.bits();
  }
}

// A value for a register of this kind, as many bytes as it has.
uint64_t value_for(Generator& random, char kind) {
  switch (kind) {
    case 'f':
      return special_float(random, 32, 23);
    case 'd':
      return special_float(random, 64, 52);
    case 'a':
      return special_float(random, 16, 10);
    case 'b':
      return special_float(random, 16, 7);
    case 'x':
      return special_float(random, 16, 10) | special_float(random, 16, 10) << 16;
    case 'y':
      return special_float(random, 16, 7) | special_float(random, 16, 7) << 16;
    default:
      return special_integer(random);
  }
}

std::string constant_for(Generator& random, char kind) {
  const uint64_t value = value_for(random, kind);
  switch (kind) {
    case 'f':
      return "0f" + hex(value, 8);
    case 'd':
      return "0d" + hex(value, 16);
    case 'l':
      return "0x" + hex(value, 16);
    case 'h':
      return "0x" + hex(value, 4);
    default:
      return "0x" + hex(value, 8);
  }
}

size_t kind_index(char letter) {
  const auto found = std::find_if(kKinds.begin(), kKinds.end(),
                                  [letter](const RegisterKind& k) { return k.letter == letter; });
  return static_cast<size_t>(found - kKinds.begin());
}

// Fills one template in.
class Filler {
 public:
  Filler(Program& program, Generator& random, std::string mask)
      : program_(program), random_(random), mask_(std::move(mask)) {}

  std::vector<std::string> fill(const Template& source) {
    source_ = &source;
    const std::string text = choose(source.text);
    for (size_t i = 0; i < text.size(); ++i) token(text, i);
    if (!source.nan_is_defined) {
      for (const auto& [kind, name] : destinations_) make_canonical(kind, name);
    }
    return std::move(lines_);
  }

 private:
  // One alternative of each <a|b|c>.
  std::string choose(const std::string& text) {
    std::string result;
    for (size_t i = 0; i < text.size(); ++i) {
      if (text[i] != '<') {
        result += text[i];
        continue;
      }
      const size_t end = text.find('>', i);
      std::vector<std::string> choices(1);
      for (size_t k = i + 1; k < end; ++k) {
        if (text[k] == '|') {
          choices.emplace_back();
        } else {
          choices.back() += text[k];
        }
      }
      result += choices[random_.below(choices.size())];
      i = end;
    }
    return result;
  }

  void token(const std::string& text, size_t& i) {
    const char c = text[i];
    const char next = i + 1 < text.size() ? text[i + 1] : ' ';
    if (c == ';') {
      lines_.push_back(line_ + ";");
      line_.clear();
    } else if (c == ' ' && line_.empty()) {
      return;
    } else if (c == '$') {
      line_ += source(next);
      ++i;
    } else if (c == '?') {
      line_ += random_.chance(kImmediatePercent) ? constant_for(random_, next) : source(next);
      ++i;
    } else if (c == '@' && std::islower(static_cast<unsigned char>(next)) != 0) {
      line_ += destination(next);
      ++i;
    } else if (c == '#') {
      line_ += temporary(next, text[i + 2]);
      i += 2;
    } else if (c == '=') {
      line_ += approximate();
      ++i;
    } else if (c == '&') {
      line_ += '@';
    } else if (c == '!' && std::islower(static_cast<unsigned char>(next)) != 0) {
      line_ += number(next);
      ++i;
    } else {
      line_ += c;
    }
  }

  std::string source(char letter) {
    const RegisterKind& kind = kind_of(letter);
    return kind.prefix + std::to_string(random_.below(static_cast<size_t>(kind.count)));
  }

  // Destinations of one template differ, so that one instruction never writes a register twice.
  std::string destination(char letter) {
    std::string name = source(letter);
    const auto taken = [&] {
      return std::any_of(destinations_.begin(), destinations_.end(),
                         [&](const auto& d) { return d.second == name; });
    };
    while (taken()) name = source(letter);
    destinations_.emplace_back(letter, name);
    return name;
  }

  std::string temporary(char letter, char digit) {
    const std::string key = {letter, digit};
    const auto known = std::find_if(temporaries_.begin(), temporaries_.end(),
                                    [&](const auto& t) { return t.first == key; });
    if (known != temporaries_.end()) return known->second;
    const std::string name = new_temporary(letter);
    temporaries_.emplace_back(key, name);
    return name;
  }
  std::string new_temporary(char letter) {
    const size_t index = kind_index(letter);
    return std::string("%t") + letter + std::to_string(program_.temporaries[index]++);
  }

  std::string approximate() {
    const std::string name = "%near" + std::to_string(program_.approximate.size());
    program_.approximate.push_back({name, source_->relative, source_->absolute});
    return name;
  }

  std::string number(char kind) {
    switch (kind) {
      case 'n':
        return std::to_string(random_.below(32));
      case 'b':
        return std::to_string(random_.below(256));
      case 'k':
        return std::to_string(random_.below(16));
      case 'w':
        return "0x" + hex(kSpecialWords[random_.below(std::size(kSpecialWords))], 8);
      default:
        return mask_;
    }
  }

  void make_canonical(char kind, const std::string& name) {
    if (kind == 'f' || kind == 'd' || kind == 'a') {
      const std::string p = new_temporary('p');
      const bool half = kind == 'a';
      lines_.push_back(std::string("setp.nan.") + (half ? "f16" : kind_of(kind).type + 1) + " " +
                       p + ", " + name + ", " + name + ";");
      const char* nan = half ? "0x7fff" : kind == 'f' ? "0f7fffffff" : "0d7ff8000000000000";
      lines_.push_back(std::string("selp.") + (half ? "b16" : kind_of(kind).type + 1) + " " + name +
                       ", " + nan + ", " + name + ", " + p + ";");
    } else if (kind == 'b') {
      canonical_bf16(name);
    } else if (kind == 'x' || kind == 'y') {
      const char part = kind == 'x' ? 'a' : 'b';
      const std::string low = new_temporary(part), high = new_temporary(part);
      lines_.push_back("mov.b32 {" + low + ", " + high + "}, " + name + ";");
      make_canonical(part, low);
      make_canonical(part, high);
      lines_.push_back("mov.b32 " + name + ", {" + low + ", " + high + "};");
    }
  }
  // Integers, because comparisons of bf16 need sm_90.
  void canonical_bf16(const std::string& name) {
    const std::string p = new_temporary('p'), magnitude = new_temporary('h');
    lines_.push_back("and.b16 " + magnitude + ", " + name + ", 0x7fff;");
    lines_.push_back("setp.gt.u16 " + p + ", " + magnitude + ", 0x7f80;");
    lines_.push_back("selp.b16 " + name + ", 0x7fff, " + name + ", " + p + ";");
  }

  Program& program_;
  Generator& random_;
  std::string mask_;
  const Template* source_ = nullptr;
  std::string line_;
  std::vector<std::string> lines_;
  std::vector<std::pair<char, std::string>> destinations_;
  std::vector<std::pair<std::string, std::string>> temporaries_;
};

class Maker {
 public:
  explicit Maker(uint64_t seed) : random_(seed) { program_.seed = seed; }

  Program make() {
    program_.grid = 1 + random_.below(3);
    full_warps_ = !random_.chance(15);
    program_.block = full_warps_ ? 32 * (1 + random_.below(3)) : 1 + random_.below(96);
    program_.needs_sm_90 = random_.chance(20);
    choose_families();
    const int units = kTopUnits + static_cast<int>(random_.below(20));
    // Each family appears, then chance decides.
    for (int i = 0; i < units; ++i) {
      const bool code = static_cast<size_t>(i) < families_.size() || !random_.chance(16);
      program_.units.push_back(code ? instruction(Place::kOutside, "0xffffffff", i) : group());
    }
    program_.unit_count = next_id_;
    return std::move(program_);
  }

 private:
  enum class Place : uint8_t { kOutside, kMasked, kInside };

  void choose_families() {
    std::vector<Family> all;
    for (uint8_t i = 0; i < static_cast<uint8_t>(Family::kCount); ++i) {
      const auto family = static_cast<Family>(i);
      if (family == Family::kWarp && !full_warps_) continue;
      all.push_back(family);
    }
    while (families_.size() < kFamiliesPerKernel) {
      const size_t index = random_.below(all.size());
      families_.push_back(all[index]);
      all.erase(all.begin() + static_cast<long>(index));
    }
  }

  bool fits(const Template& t, Place place) const {
    if (t.needs_sm_90 && !program_.needs_sm_90) return false;
    switch (t.where) {
      case Where::kAnywhere:
        return true;
      case Where::kMasked:
        return full_warps_ && place != Place::kInside;
      case Where::kFullWarp:
        return full_warps_ && place == Place::kOutside;
      default:
        return place == Place::kOutside;
    }
  }

  // `turn` walks through the families first.
  Unit instruction(Place place, const std::string& mask, int turn) {
    std::vector<const Template*> fitting;
    while (fitting.empty()) {
      const Family family = turn >= 0 && static_cast<size_t>(turn) < families_.size()
                                ? families_[static_cast<size_t>(turn)]
                                : families_[random_.below(families_.size())];
      for (const Template& t : templates()) {
        if (t.family == family && fits(t, place)) fitting.push_back(&t);
      }
    }
    Unit unit;
    unit.id = next_id_++;
    unit.lines = Filler(program_, random_, mask).fill(*fitting[random_.below(fitting.size())]);
    return unit;
  }

  // A branch or a loop around some instructions.
  Unit group(int depth = 0) {
    Unit unit;
    unit.id = next_id_++;
    unit.type = random_.chance(35) ? Unit::Type::kLoop : Unit::Type::kBranch;
    const bool is_branch = unit.type == Unit::Type::kBranch;
    const RegisterKind& kind = kind_of(is_branch ? 'p' : 'r');
    unit.condition = kind.prefix + std::to_string(random_.below(static_cast<size_t>(kind.count)));
    unit.with_mask = is_branch && depth == 0 && full_warps_;
    const std::string mask = "%mask" + std::to_string(unit.id);
    const int n = 1 + static_cast<int>(random_.below(5));
    for (int i = 0; i < n; ++i) {
      if (depth == 0 && random_.chance(20)) {
        unit.body.push_back(group(1));
      } else {
        unit.body.push_back(
            instruction(unit.with_mask ? Place::kMasked : Place::kInside, mask, -1));
      }
    }
    return unit;
  }

  Generator random_;
  Program program_;
  std::vector<Family> families_;
  bool full_warps_ = true;
  int next_id_ = 0;
};

}  // namespace

const RegisterKind& kind_of(char letter) { return kKinds[kind_index(letter)]; }

Program generate(uint64_t seed) { return Maker(seed).make(); }

std::vector<uint8_t> input_of(const Program& program) {
  Generator random(program.seed ^ 0x1f83d9abfb41bd6bu);
  std::vector<uint8_t> bytes(size_t{program.threads()} * slot_bytes(program));
  for (unsigned thread = 0; thread < program.threads(); ++thread) {
    size_t at = size_t{thread} * slot_bytes(program);
    for (const RegisterKind& kind : kKinds) {
      const size_t stored = kind.bytes == 8 ? 8 : 4;
      for (int i = 0; i < kind.count; ++i, at += stored) {
        uint64_t value = value_for(random, kind.letter);
        if (kind.bytes == 2) value &= 0xffff;
        for (size_t k = 0; k < stored; ++k) bytes[at + k] = static_cast<uint8_t>(value >> (8 * k));
      }
    }
  }
  return bytes;
}

}  // namespace warplings::sim::random
