// PTX text to tokens. Comments and white space vanish; numbers arrive as bit patterns.
#ifndef WARPLINGS_SIMULATOR_PTX_LEXER_H_
#define WARPLINGS_SIMULATOR_PTX_LEXER_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace warplings::sim::ptx {

struct Token {
  enum class Kind : uint8_t {
    kEnd,
    kIdentifier,  // also "%r1", "$L__BB0_2" and "_"
    kDotWord,     // ".u32", ".shared::cta", ".2d"; `text` is without the leading dot
    kInteger,     // bits
    kFloat32,     // 0f...: bits
    kFloat64,     // 0d... or decimal: bits
    kString,      // `text` is what stands between the quotes, escapes included
    kPunctuation,
  };
  Kind kind = Kind::kEnd;
  char punctuation = 0;
  bool is_unsigned = false;  // written with U, or beyond the signed range
  int line = 0;              // 1-based
  std::string_view text;     // points into the source
  uint64_t bits = 0;
};

// Throws ParseError: "name:line:column: message", the line that holds `at`, a caret below it.
[[noreturn]] void fail_at(std::string_view source, std::string_view name, const char* at,
                          const std::string& message);

// Hands out the tokens of `source`, which must outlive them, one by one; at its end kEnd, again and
// again.
class Lexer {
 public:
  Lexer(std::string_view source, std::string_view name)
      : source_(source), name_(name), at_(source.data()), end_(source.data() + source.size()) {}

  Token next();  // throws ParseError

 private:
  [[noreturn]] void fail(const char* at, const std::string& message) const;
  char peek(int ahead = 0) const { return end_ - at_ > ahead ? at_[ahead] : '\0'; }
  Token make(Token::Kind kind, const char* from, const char* to) const;
  void skip_blanks();
  void skip_block_comment();
  Token dot_word();
  Token string();
  Token number();
  Token number_without_end();
  Token float_bits(Token::Kind kind, int digits);
  bool is_decimal_float() const;
  Token decimal_float();
  Token integer(unsigned base, int prefix);

  std::string_view source_, name_;
  const char* at_;
  const char* end_;
  int line_ = 1;
};

}  // namespace warplings::sim::ptx

#endif  // WARPLINGS_SIMULATOR_PTX_LEXER_H_
