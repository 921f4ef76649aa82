// PTX text to tokens. Comments and white space vanish; numbers arrive as bit patterns.
#ifndef WARPLINGS_SIMULATOR_PTX_LEXER_H_
#define WARPLINGS_SIMULATOR_PTX_LEXER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

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

// All tokens of `source`, which must outlive them; the last one is kEnd. Throws ParseError.
std::vector<Token> tokenize(std::string_view source, std::string_view name);

}  // namespace warplings::sim::ptx

#endif  // WARPLINGS_SIMULATOR_PTX_LEXER_H_
