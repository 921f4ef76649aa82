// Writes JSON text. The kit only ever writes small objects, so it needs no JSON library.
#ifndef WARPLINGS_KIT_JSON_H_
#define WARPLINGS_KIT_JSON_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kit {

// A JSON string with its quotes. Bytes that are not UTF-8 become U+FFFD: what a learner prints or
// names must never make a line unreadable.
std::string json_string(std::string_view text);
// A JSON number; infinities and NaN, which JSON has not, become strings.
std::string json_number(double value);
// "[a,b,c]" of values that are JSON already.
std::string json_array(const std::vector<std::string>& values);

// {"key":value,...} in the order of the calls.
class JsonObject {
 public:
  JsonObject& text(std::string_view key, std::string_view value);
  JsonObject& number(std::string_view key, double value);
  JsonObject& integer(std::string_view key, uint64_t value);
  JsonObject& boolean(std::string_view key, bool value);
  JsonObject& raw(std::string_view key, std::string_view json);
  std::string str() const { return "{" + body_ + "}"; }
  const std::string& body() const { return body_; }

 private:
  std::string body_;
};

}  // namespace kit

#endif  // WARPLINGS_KIT_JSON_H_
