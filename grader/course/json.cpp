#include "course/json.h"

#include <charconv>
#include <cstdint>
#include <utility>

#include "course/error.h"
#include "kit/json.h"

namespace course {
namespace {

constexpr int kDeepest = 100;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

void append_utf8(std::string& out, uint32_t code) {
  const auto more = [&](unsigned shift) {
    out += static_cast<char>(0x80 | ((code >> shift) & 0x3F));
  };
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xC0 | code >> 6);
    more(0);
  } else if (code < 0x10000) {
    out += static_cast<char>(0xE0 | code >> 12);
    more(6), more(0);
  } else {
    out += static_cast<char>(0xF0 | code >> 18);
    more(12), more(6), more(0);
  }
}

class JsonReader {
 public:
  JsonReader(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  Json document() {
    if (text_.substr(0, 3) == "\xEF\xBB\xBF") at_ = 3;  // what some editors begin a file with
    Json json = value(0);
    skip_space();
    if (at_ < text_.size()) refuse("the end of the text");
    return json;
  }

 private:
  // '\0' at the end, which no rule accepts.
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool take(char c) {
    if (peek() != c || at_ == text_.size()) return false;
    ++at_;
    return true;
  }
  void skip_space() {
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '\n') {
        ++line_;
      } else if (c != ' ' && c != '\t' && c != '\r') {
        return;
      }
    }
  }

  [[noreturn]] void refuse(const std::string& wanted) const {
    std::string found = "the text ends";
    if (at_ < text_.size()) {
      const std::string_view rest = text_.substr(at_, 20);
      found =
          "there is " + kit::json_string(rest.substr(0, rest.find_first_of(" \t\r\n,:[]{}\"", 1)));
    }
    throw Error(file_, line_, "this is not JSON: where " + wanted + " should be, " + found + ".");
  }

  Json value(int depth) {
    skip_space();
    if (depth > kDeepest) throw Error(file_, line_, "this is nested too deeply to be read.");
    Json json;
    json.line = line_;
    const char c = peek();
    if (c == '{') {
      object(json, depth);
    } else if (c == '[') {
      array(json, depth);
    } else if (c == '"') {
      json.type = Json::Type::kString;
      json.text = string();
    } else if (c == '-' || is_digit(c)) {
      number(json);
    } else {
      word(json);
    }
    return json;
  }

  void object(Json& json, int depth) {
    json.type = Json::Type::kObject;
    ++at_;
    skip_space();
    if (take('}')) return;
    do {
      skip_space();
      if (peek() != '"') refuse("a name in quotes");
      const int line = line_;
      std::string key = string();
      if (const JsonMember* first = member(json, key)) {
        throw Error(file_, line,
                    "\"" + key + "\" is given twice in one object (first at line " +
                        std::to_string(first->line) + "); remove one of them.");
      }
      skip_space();
      if (!take(':')) refuse("\":\"");
      json.members.push_back({std::move(key), line, value(depth + 1)});
      skip_space();
    } while (take(','));
    if (!take('}')) refuse("\",\" or \"}\"");
  }

  static const JsonMember* member(const Json& json, std::string_view key) {
    for (const JsonMember& known : json.members) {
      if (known.key == key) return &known;
    }
    return nullptr;
  }

  void array(Json& json, int depth) {
    json.type = Json::Type::kArray;
    ++at_;
    skip_space();
    if (take(']')) return;
    do {
      json.items.push_back(value(depth + 1));
      skip_space();
    } while (take(','));
    if (!take(']')) refuse("\",\" or \"]\"");
  }

  void word(Json& json) {
    const auto is_next = [&](std::string_view name) {
      if (text_.substr(at_, name.size()) != name) return false;
      at_ += name.size();
      return true;
    };
    if (is_next("true") || is_next("false")) {
      json.type = Json::Type::kBool;
      json.boolean = text_[at_ - 2] == 'u';
    } else if (!is_next("null")) {
      refuse("a value");
    }
  }

  void digits() {
    if (!is_digit(peek())) refuse("a digit");
    while (is_digit(peek())) ++at_;
  }

  void number(Json& json) {
    const size_t begin = at_;
    json.type = Json::Type::kNumber;
    json.is_integer = true;
    take('-');
    if (!take('0')) digits();
    if (take('.')) {
      json.is_integer = false;
      digits();
    }
    if (take('e') || take('E')) {
      json.is_integer = false;
      if (!take('+')) take('-');
      digits();
    }
    const char* end = text_.data() + at_;
    if (std::from_chars(text_.data() + begin, end, json.number).ec != std::errc()) {
      at_ = begin;
      refuse("a number that fits a double");
    }
  }

  std::string string() {
    std::string out;
    ++at_;
    while (!take('"')) {
      const size_t begin = at_;
      while (at_ < text_.size() && is_plain(text_[at_])) ++at_;
      out += text_.substr(begin, at_ - begin);
      if (take('\\')) {
        escape(out);
      } else if (peek() != '"') {
        const size_t length = at_ < text_.size() ? kit::utf8_length(text_, at_) : 0;
        if (length < 2) refuse("a closing quote");
        out += text_.substr(at_, length);
        at_ += length;
      }
    }
    return out;
  }
  // Stands for itself: no control character, no part of a longer sequence.
  static bool is_plain(char c) {
    const unsigned byte = static_cast<unsigned char>(c);
    return byte >= 0x20 && byte < 0x80 && c != '"' && c != '\\';
  }

  void escape(std::string& out) {
    constexpr std::string_view kNames = "\"\\/bfnrt", kMeanings = "\"\\/\b\f\n\r\t";
    const size_t known = at_ < text_.size() ? kNames.find(peek()) : std::string_view::npos;
    if (known != std::string_view::npos) {
      out += kMeanings[known];
      ++at_;
      return;
    }
    uint32_t code = unit();
    if (code >= 0xDC00 && code < 0xE000) refuse("the other half of a surrogate pair");
    if (code >= 0xD800 && code < 0xDC00) {
      const uint32_t low = take('\\') ? unit() : 0;
      if (low < 0xDC00 || low >= 0xE000) refuse("the other half of a surrogate pair");
      code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    }
    append_utf8(out, code);
  }
  // "u" and four hexadecimal digits, behind a backslash.
  uint32_t unit() {
    uint32_t code = 0;
    const std::string_view hex = take('u') ? text_.substr(at_, 4) : std::string_view();
    const auto end = std::from_chars(hex.data(), hex.data() + hex.size(), code, 16).ptr;
    if (hex.size() != 4 || end != hex.data() + 4) refuse("an escape sequence of JSON");
    at_ += 4;
    return code;
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
  return JsonReader(text, file).document();
}

}  // namespace course
