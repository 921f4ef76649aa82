#include "ptx/lexer.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>

#include "ptx/module.h"

namespace warplings::sim::ptx {
namespace {

constexpr std::array<bool, 256> make_word_table() {
  std::array<bool, 256> table{};
  for (int c = 'a'; c <= 'z'; ++c) table[c] = true;
  for (int c = 'A'; c <= 'Z'; ++c) table[c] = true;
  for (int c = '0'; c <= '9'; ++c) table[c] = true;
  table['_'] = true;
  table['$'] = true;
  return table;
}
constexpr std::array<bool, 256> kWord = make_word_table();

bool is_word(char c) { return kWord[static_cast<unsigned char>(c)]; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

int digit_value(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return 99;
}

}  // namespace

void Lexer::fail(const char* at, const std::string& message) const {
  fail_at(source_, name_, at, message);
}

Token Lexer::make(Token::Kind kind, const char* from, const char* to) const {
  Token token;
  token.kind = kind;
  token.line = line_;
  token.text = std::string_view(from, static_cast<size_t>(to - from));
  return token;
}

void Lexer::skip_blanks() {
  while (at_ < end_) {
    const char c = *at_;
    if (c == '\n') {
      ++line_;
      ++at_;
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f' || c == '\0') {
      ++at_;  // a NUL ends the text inside a fatbin
    } else if (c == '/' && peek(1) == '/') {
      while (at_ < end_ && *at_ != '\n') ++at_;
    } else if (c == '/' && peek(1) == '*') {
      skip_block_comment();
    } else {
      return;
    }
  }
}

void Lexer::skip_block_comment() {
  const char* start = at_;
  for (at_ += 2; at_ < end_; ++at_) {
    if (*at_ == '\n') ++line_;
    if (*at_ == '*' && peek(1) == '/') {
      at_ += 2;
      return;
    }
  }
  fail(start, "this comment is never closed with */");
}

Token Lexer::next() {
  skip_blanks();
  if (at_ >= end_) return make(Token::Kind::kEnd, at_, at_);
  const char* start = at_;
  const char c = *at_;
  if (is_digit(c)) return number();
  if (is_word(c) || (c == '%' && is_word(peek(1)))) {
    for (++at_; at_ < end_ && is_word(*at_);) ++at_;
    return make(Token::Kind::kIdentifier, start, at_);
  }
  if (c == '.' && is_word(peek(1))) return dot_word();
  if (c == '"') return string();
  if (std::string_view(",;:{}()[]@!|+-*/%<>=&^~?.").find(c) == std::string_view::npos) {
    fail(start, "this character has no meaning in PTX");
  }
  ++at_;
  Token token = make(Token::Kind::kPunctuation, start, at_);
  token.punctuation = c;
  return token;
}

// ".u32" and also ".shared::cta", ".L2::128B": one modifier each.
Token Lexer::dot_word() {
  const char* start = ++at_;
  while (at_ < end_) {
    if (is_word(*at_)) {
      ++at_;
    } else if (*at_ == ':' && peek(1) == ':' && is_word(peek(2))) {
      at_ += 2;
    } else {
      break;
    }
  }
  return make(Token::Kind::kDotWord, start, at_);
}

Token Lexer::string() {
  const char* start = at_;
  for (++at_; at_ < end_ && *at_ != '"' && *at_ != '\n'; ++at_) {
    if (*at_ == '\\' && at_ + 1 < end_ && at_[1] != '\n') ++at_;
  }
  if (at_ >= end_ || *at_ != '"') fail(start, "this string is never closed with \"");
  ++at_;
  return make(Token::Kind::kString, start + 1, at_ - 1);
}

Token Lexer::number() {
  const Token token = number_without_end();
  if (at_ < end_ && is_word(*at_)) fail(at_, "this character does not belong in a number");
  return token;
}

Token Lexer::number_without_end() {
  const char prefix = peek() == '0' ? static_cast<char>(peek(1) | 0x20) : '\0';
  if (prefix == 'f') return float_bits(Token::Kind::kFloat32, 8);
  if (prefix == 'd') return float_bits(Token::Kind::kFloat64, 16);
  if (prefix == 'x') return integer(16, 2);
  if (prefix == 'b') return integer(2, 2);
  if (is_decimal_float()) return decimal_float();
  return integer(peek() == '0' && is_digit(peek(1)) ? 8 : 10, 0);
}

Token Lexer::float_bits(Token::Kind kind, int digits) {
  const char* start = at_;
  at_ += 2;
  uint64_t bits = 0;
  for (int i = 0; i < digits; ++i, ++at_) {
    const int digit = digit_value(peek());
    if (digit > 15) {
      fail(start, "a float in bits needs " + std::to_string(digits) + " hexadecimal digits");
    }
    bits = bits << 4 | static_cast<uint64_t>(digit);
  }
  Token token = make(kind, start, at_);
  token.bits = bits;
  return token;
}

bool Lexer::is_decimal_float() const {
  const char* p = at_;
  while (p < end_ && is_digit(*p)) ++p;
  if (p >= end_) return false;
  if (*p == '.') return true;
  if (*p != 'e' && *p != 'E') return false;
  ++p;
  if (p < end_ && (*p == '+' || *p == '-')) ++p;
  return p < end_ && is_digit(*p);
}

Token Lexer::decimal_float() {
  const char* start = at_;
  while (is_digit(peek())) ++at_;
  if (peek() == '.') ++at_;
  while (is_digit(peek())) ++at_;
  if (peek() == 'e' || peek() == 'E') {
    const int sign = peek(1) == '+' || peek(1) == '-' ? 1 : 0;
    if (is_digit(peek(1 + sign))) {
      at_ += 1 + sign;
      while (is_digit(peek())) ++at_;
    }
  }
  const std::string text(start, at_);
  Token token = make(Token::Kind::kFloat64, start, at_);
  token.bits = std::bit_cast<uint64_t>(std::strtod(text.c_str(), nullptr));
  return token;
}

Token Lexer::integer(unsigned base, int prefix) {
  const char* start = at_;
  at_ += prefix;
  uint64_t value = 0;
  int digits = 0;
  for (; static_cast<unsigned>(digit_value(peek())) < base; ++at_, ++digits) {
    const auto digit = static_cast<unsigned>(digit_value(*at_));
    if (value > (UINT64_MAX - digit) / base) fail(start, "this integer needs more than 64 bits");
    value = value * base + digit;
  }
  if (digits == 0) fail(start, "digits are missing in this number");
  Token token = make(Token::Kind::kInteger, start, at_);
  const bool has_suffix = peek() == 'U' || peek() == 'u';
  if (has_suffix) ++at_;
  token.bits = value;
  token.is_unsigned = has_suffix || value > INT64_MAX;
  return token;
}

void fail_at(std::string_view source, std::string_view name, const char* at,
             const std::string& message) {
  constexpr size_t kWidth = 120;  // characters of the line that are quoted
  const size_t position = std::min<size_t>(static_cast<size_t>(at - source.data()), source.size());
  const std::string_view before = source.substr(0, position);
  const size_t newline = before.rfind('\n');
  const size_t line_start = newline == std::string_view::npos ? 0 : newline + 1;
  const size_t line_end = std::min(source.find('\n', position), source.size());
  const size_t column = position - line_start;
  const auto line_number = std::count(before.begin(), before.end(), '\n') + 1;

  // A minified line is quoted around the column only.
  const size_t skip = column > kWidth - 40 ? column - (kWidth - 40) : 0;
  const size_t length = std::min(line_end - line_start - skip, kWidth);
  std::string quote(source.substr(line_start + skip, length));
  for (char& c : quote) {
    if (static_cast<unsigned char>(c) < 0x20 && c != '\t') c = ' ';
  }
  std::string caret;
  for (size_t i = 0; i < column - skip; ++i) {
    caret += i < quote.size() && quote[i] == '\t' ? '\t' : ' ';
  }
  throw ParseError(std::string(name) + ":" + std::to_string(line_number) + ":" +
                   std::to_string(column + 1) + ": " + message + "\n" + quote + "\n" + caret + "^");
}

}  // namespace warplings::sim::ptx
