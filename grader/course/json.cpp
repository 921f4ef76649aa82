// A reader of its own: a header-only library costs 2 s of everybody's first build, forgets on which
// line a value stood, and would be one more package to install.
#include "course/json.h"

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "course/error.h"

namespace course {
namespace {

// Length of the valid UTF-8 sequence at text[i], or 0. Overlong forms and surrogates are not valid.
size_t utf8_length(std::string_view text, size_t i) {
  const auto byte = [&](size_t k) { return static_cast<unsigned char>(text[k]); };
  const unsigned first = byte(i);
  if (first < 0x80) return 1;
  if (first < 0xC2 || first > 0xF4) return 0;
  const size_t length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  if (i + length > text.size()) return 0;
  for (size_t k = 1; k < length; ++k) {
    if ((byte(i + k) & 0xC0) != 0x80) return 0;
  }
  const unsigned second = byte(i + 1);
  const bool wrong = (first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F) ||
                     (first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F);
  return wrong ? 0 : length;
}

std::string utf8_of(uint32_t code) {
  std::string bytes;
  const auto tail = [&](int shift) { bytes += static_cast<char>(0x80 | (code >> shift & 0x3F)); };
  if (code < 0x80) {
    bytes += static_cast<char>(code);
  } else if (code < 0x800) {
    bytes += static_cast<char>(0xC0 | code >> 6);
    tail(0);
  } else if (code < 0x10000) {
    bytes += static_cast<char>(0xE0 | code >> 12);
    tail(6), tail(0);
  } else {
    bytes += static_cast<char>(0xF0 | code >> 18);
    tail(12), tail(6), tail(0);
  }
  return bytes;
}

class Reader {
 public:
  Reader(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  Json document() {
    Json json = value(0);
    skip_space();
    if (at_ < text_.size()) fail("the end of the file was expected");
    return json;
  }

 private:
  [[noreturn]] void fail(const std::string& why) const {
    std::string found = "the end of the file";
    if (at_ < text_.size()) {
      const char c = text_[at_];
      found = static_cast<unsigned char>(c) < 0x20 ? "a control character"
              : static_cast<signed char>(c) < 0    ? "a byte above 127"
                                                   : "'" + std::string(1, c) + "'";
    }
    throw Error(file_, line_, "this is not JSON: " + why + ", not " + found + ".");
  }

  void skip_space() {
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '\n') ++line_;
      if (c != ' ' && c != '\t' && c != '\n' && c != '\r') return;
    }
  }

  bool take(char c) {
    skip_space();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  bool take_word(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  Json value(int depth) {
    constexpr int kDeepest = 200;  // a program's message must not exhaust our stack
    if (depth == kDeepest) fail("at most 200 containers in each other were expected");
    skip_space();
    Json json;
    json.line = line_;
    const char c = at_ < text_.size() ? text_[at_] : '\0';
    if (c == '{') {
      json.type = Json::Type::kObject;
      members(depth, &json);
    } else if (c == '[') {
      json.type = Json::Type::kArray;
      items(depth, &json);
    } else if (c == '"') {
      json.type = Json::Type::kString;
      json.text = string();
    } else if (c == '-' || (c >= '0' && c <= '9')) {
      number(&json);
    } else if (take_word("true") || take_word("false")) {
      json.type = Json::Type::kBool;
      json.boolean = c == 't';
    } else if (!take_word("null")) {
      fail("a value was expected");
    }
    return json;
  }

  void members(int depth, Json* object) {
    ++at_;
    if (take('}')) return;
    do {
      skip_space();
      if (at_ == text_.size() || text_[at_] != '"') fail("a name in quotes was expected");
      const int line = line_;
      std::string name = string();
      for (const JsonMember& member : object->members) {
        if (member.key != name) continue;
        throw Error(file_, line,
                    "\"" + name + "\" is given twice in one object (first at line " +
                        std::to_string(member.line) + "); remove one of them.");
      }
      if (!take(':')) fail("':' was expected after \"" + name + "\"");
      object->members.push_back({std::move(name), line, value(depth + 1)});
    } while (take(','));
    if (!take('}')) fail("',' or '}' was expected");
  }

  void items(int depth, Json* array) {
    ++at_;
    if (take(']')) return;
    do {
      array->items.push_back(value(depth + 1));
    } while (take(','));
    if (!take(']')) fail("',' or ']' was expected");
  }

  size_t digits() {
    const size_t begin = at_;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') ++at_;
    return at_ - begin;
  }

  void number(Json* json) {
    const size_t begin = at_;
    if (text_[at_] == '-') ++at_;
    const bool zero = at_ < text_.size() && text_[at_] == '0';
    const size_t whole = digits();
    if (whole == 0 || (zero && whole > 1)) fail("a number without leading zeros was expected");
    json->type = Json::Type::kNumber;
    json->is_integer = true;
    if (at_ < text_.size() && text_[at_] == '.') {
      ++at_;
      json->is_integer = false;
      if (digits() == 0) fail("a digit was expected after the point");
    }
    if (at_ < text_.size() && (text_[at_] == 'e' || text_[at_] == 'E')) {
      ++at_;
      json->is_integer = false;
      if (at_ < text_.size() && (text_[at_] == '+' || text_[at_] == '-')) ++at_;
      if (digits() == 0) fail("a digit was expected in the exponent");
    }
    json->number = std::strtod(std::string(text_.substr(begin, at_ - begin)).c_str(), nullptr);
    if (!std::isfinite(json->number)) fail("a number that a double can hold was expected");
  }

  uint32_t hexadecimal() {
    uint32_t code = 0;
    for (int i = 0; i < 4; ++i, ++at_) {
      const char c = at_ < text_.size() ? text_[at_] : '\0';
      const int digit = c >= '0' && c <= '9'   ? c - '0'
                        : c >= 'a' && c <= 'f' ? c - 'a' + 10
                        : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                               : -1;
      if (digit < 0) fail("four hexadecimal digits were expected after \\u");
      code = code << 4 | static_cast<uint32_t>(digit);
    }
    return code;
  }

  std::string escaped() {
    const char c = at_ < text_.size() ? text_[at_] : '\0';
    constexpr std::string_view kNames = "\"\\/bfnrt", kMeanings = "\"\\/\b\f\n\r\t";
    const size_t known = c == '\0' ? std::string_view::npos : kNames.find(c);
    if (known == std::string_view::npos && c != 'u') fail("an escape such as \\n was expected");
    ++at_;
    if (known != std::string_view::npos) return std::string(1, kMeanings[known]);
    uint32_t code = hexadecimal();
    if (code >= 0xD800 && code < 0xDC00) {  // the first half of a pair
      if (!take_word("\\u")) fail("the second half of a surrogate pair was expected");
      const uint32_t low = hexadecimal();
      if (low < 0xDC00 || low > 0xDFFF) fail("the second half of a surrogate pair was expected");
      code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    } else if (code >= 0xDC00 && code < 0xE000) {
      fail("the first half of a surrogate pair was expected");
    }
    return utf8_of(code);
  }

  std::string string() {
    std::string out;
    for (++at_; at_ < text_.size() && text_[at_] != '"';) {
      if (text_[at_] == '\\') {
        ++at_;
        out += escaped();
        continue;
      }
      const size_t length = utf8_length(text_, at_);
      if (length == 0) fail("UTF-8 was expected");
      if (static_cast<unsigned char>(text_[at_]) < 0x20) fail("the end of a string was expected");
      out.append(text_, at_, length);
      at_ += length;
    }
    if (at_ == text_.size()) fail("the end of a string was expected");
    ++at_;
    return out;
  }

  std::string_view text_;
  const std::string& file_;
  size_t at_ = 0;
  int line_ = 1;
};

}  // namespace

const Json* Json::find(std::string_view key) const {
  for (const JsonMember& member : members) {
    if (member.key == key) return &member.value;
  }
  return nullptr;
}

std::string Json::string_or(std::string_view key, std::string fallback) const {
  const Json* value = find(key);
  return value != nullptr && value->is_string() ? value->text : fallback;
}

double Json::number_or(std::string_view key, double fallback) const {
  const Json* value = find(key);
  return value != nullptr && value->is_number() ? value->number : fallback;
}

bool Json::bool_or(std::string_view key, bool fallback) const {
  const Json* value = find(key);
  return value != nullptr && value->is_bool() ? value->boolean : fallback;
}

Json parse_json(const std::string& text, const std::string& file) {
  return Reader(text, file).document();
}

std::string json_quote(std::string_view text) {
  std::string out = "\"";
  for (size_t i = 0; i < text.size();) {
    const size_t length = utf8_length(text, i);
    const unsigned char c = static_cast<unsigned char>(text[i]);
    if (length == 0) {
      out += "\xEF\xBF\xBD";
    } else if (c == '"' || c == '\\') {
      out += {'\\', text[i]};
    } else if (c == '\n' || c == '\t') {
      out += c == '\n' ? "\\n" : "\\t";
    } else if (c < 0x20) {
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", c);
      out += code;
    } else {
      out.append(text, i, length);
    }
    i += length == 0 ? 1 : length;
  }
  return out + "\"";
}

}  // namespace course
