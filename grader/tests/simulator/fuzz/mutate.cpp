#include "fuzz/mutate.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <string_view>
#include <vector>

namespace warplings::sim::fuzz {
namespace {

using random::Generator;

struct Piece {
  size_t begin, size;
};

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '%' || c == '$';
}

// Words, and single other characters; blanks separate them.
std::vector<Piece> tokens_of(const std::string& text) {
  std::vector<Piece> tokens;
  for (size_t i = 0; i < text.size();) {
    if (std::isspace(static_cast<unsigned char>(text[i])) != 0) {
      ++i;
      continue;
    }
    const size_t begin = i++;
    while (is_word(text[begin]) && i < text.size() && is_word(text[i])) ++i;
    tokens.push_back({begin, i - begin});
  }
  return tokens;
}

std::vector<Piece> lines_of(const std::string& text) {
  std::vector<Piece> lines;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
    lines.push_back({begin, end - begin});
    begin = end;
  }
  return lines;
}

std::string_view at(const std::string& text, Piece piece) {
  return std::string_view(text).substr(piece.begin, piece.size);
}

template <class List>
const auto& any_of(const List& list, Generator& random) {
  return list[random.below(std::size(list))];
}

constexpr std::string_view kNumbers[] = {
    "0",
    "1",
    "-1",
    "2147483647",
    "4294967295",
    "4294967296",
    "0x80000000",
    "0xffffffffffffffff",
    "18446744073709551615",
    "99999999999999999999999999",
    "-9223372036854775808",
    "0f7f800000",
    "0dfff0000000000000",
    "1e400",
    "0x",
    "08",
    "1.5",
    "0b2",
    "0f12",
    "3U",
    "65535",
    "16",
    "64",
};
constexpr std::string_view kTypes[] = {
    "u8",  "s8",  "b8",  "u16",   "s16",  "b16",    "u32",  "s32",  "b32",  "u64", "s64", "b64",
    "f16", "f32", "f64", "f16x2", "bf16", "bf16x2", "tf32", "pred", "b128", "v2",  "v4",  "v8"};
constexpr std::string_view kWords[] = {
    "{{{{{{{{",
    "((((((((",
    "[[[[",
    "}}",
    ")",
    ";;",
    "/*",
    "//",
    "\"",
    "$L",
    "@",
    "@!%p",
    "%",
    "_",
    "\xff\xfe",
    "\xc3\xa9",
    "\x01",
    "<4000000000>",
    "[4000000000]",
    ".loc 1 2 3,",
    ".reg .b32 %q<99999999>;",
    ".local .b8 x[99999999999];",
    ".shared .b8 y[4294967295];",
    ".visible .entry k() {",
    ".func f(",
    "generic(",
    "call f, (f);",
    "bra k;",
    ".align 3",
    ".align 0",
    "exit;",
    "WARP_SZ",
    "{%r1,%r2}",
    "[%rd1+-8]",
};

void replace(std::string& text, Piece piece, std::string_view by) {
  text.replace(piece.begin, piece.size, by);
}

void change_token(std::string& text, const std::string& other, Generator& random) {
  const std::vector<Piece> tokens = tokens_of(text);
  if (tokens.empty()) return;
  const Piece token = any_of(tokens, random);
  const Piece second = any_of(tokens, random);
  switch (random.below(7)) {
    case 0:
      text.erase(token.begin, token.size);
      break;
    case 1:
      text.insert(token.begin, std::string(at(text, token)) + " ");
      break;
    case 2: {  // the later one first, so that the earlier one keeps its place
      const Piece early = token.begin < second.begin ? token : second;
      const Piece late = token.begin < second.begin ? second : token;
      const std::string first(at(text, early)), last(at(text, late));
      replace(text, late, first);
      if (early.begin != late.begin) replace(text, early, last);
      break;
    }
    case 3: {
      const std::vector<Piece> foreign = tokens_of(other);
      if (!foreign.empty()) replace(text, token, at(other, any_of(foreign, random)));
      break;
    }
    case 4:
      replace(text, token, std::string(at(text, second)));
      break;
    case 5:
      text.insert(token.begin, std::string(any_of(kWords, random)));
      break;
    default:
      replace(text, token, any_of(kWords, random));
  }
}

// The next number or type behind a random place becomes another one.
void change_value(std::string& text, Generator& random) {
  std::vector<Piece> numbers, types;
  for (const Piece token : tokens_of(text)) {
    const std::string_view word = at(text, token);
    if (std::isdigit(static_cast<unsigned char>(word[0])) != 0) numbers.push_back(token);
    if (std::find(std::begin(kTypes), std::end(kTypes), word) != std::end(kTypes)) {
      types.push_back(token);
    }
  }
  if (random.chance(50) && !numbers.empty()) {
    replace(text, any_of(numbers, random), any_of(kNumbers, random));
  } else if (!types.empty()) {
    replace(text, any_of(types, random), any_of(kTypes, random));
  }
}

void change_lines(std::string& text, const std::string& other, Generator& random) {
  const std::vector<Piece> lines = lines_of(text);
  if (lines.empty()) return;
  const Piece line = any_of(lines, random);
  const Piece second = any_of(lines, random);
  switch (random.below(5)) {
    case 0:
      text.erase(line.begin, line.size);
      break;
    case 1:
      text.insert(line.begin, std::string(at(text, second)));
      break;
    case 2: {
      const std::vector<Piece> foreign = lines_of(other);
      if (!foreign.empty())
        text.insert(line.begin, std::string(at(other, any_of(foreign, random))));
      break;
    }
    case 3: {  // many times
      const std::string copy(at(text, second));
      std::string many;
      for (uint32_t i = 10 + random.below(500); i != 0; --i) many += copy;
      text.insert(line.begin, many);
      break;
    }
    default:
      text.erase(line.begin, std::min(text.size() - line.begin, size_t{random.below(400)}));
  }
}

void change_bytes(std::string& text, Generator& random) {
  if (text.empty()) return;
  const size_t place = random.below(text.size());
  switch (random.below(8)) {
    case 0:
      text[place] = static_cast<char>(random.below(256));
      break;
    case 1:
      text[place] = '\0';
      break;
    case 2:
      text.insert(place, 1, '\0');
      break;
    case 3:
      text.resize(place);
      break;
    case 4:  // deep nesting
      text.insert(place, std::string(1 + random.below(20000), any_of(std::string("{(["), random)));
      break;
    case 5:  // a long word or number
      text.insert(place, std::string(1 + random.below(70000), any_of(std::string("a9%-"), random)));
      break;
    case 6: {  // line ends of another system
      std::string changed;
      for (const char c : text) {
        if (c == '\n') changed += '\r';
        changed += c;
      }
      text = std::move(changed);
      break;
    }
    default:
      text.insert(place, "\xef\xbb\xbf\xe2\x80\xa8");
  }
}

}  // namespace

std::string mutate(std::string text, const std::string& other, Generator& random) {
  constexpr size_t kLargest = size_t{1} << 20;
  for (uint32_t changes = 1 + random.below(4); changes != 0 && text.size() < kLargest; --changes) {
    switch (random.below(10)) {
      case 0:
        change_bytes(text, random);
        break;
      case 1:
      case 2:
        change_lines(text, other, random);
        break;
      case 3:
      case 4:
      case 5:
        change_value(text, random);
        break;
      default:
        change_token(text, other, random);
    }
  }
  return text;
}

}  // namespace warplings::sim::fuzz
