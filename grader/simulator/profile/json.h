// Writes JSON, one member at a time.
#ifndef WARPLINGS_SIMULATOR_PROFILE_JSON_H_
#define WARPLINGS_SIMULATOR_PROFILE_JSON_H_

#include <cstdint>
#include <cstdio>
#include <string>
#include <type_traits>
#include <vector>

namespace warplings::sim {

// Control characters become spaces: what is written is for people and their tools.
inline std::string json_string(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 0x20) {
      out += ' ';
    } else {
      out += c;
    }
  }
  return out + '"';
}

class JsonObject {
 public:
  JsonObject& text(const char* key, const std::string& value) {
    return raw(key, json_string(value));
  }
  JsonObject& number(const char* key, double value) {
    char digits[32];
    std::snprintf(digits, sizeof digits, "%.9g", value);
    return raw(key, digits);
  }
  JsonObject& count(const char* key, uint64_t value) { return raw(key, std::to_string(value)); }
  JsonObject& flag(const char* key, bool value) { return raw(key, value ? "true" : "false"); }
  JsonObject& raw(const char* key, const std::string& json) {
    body_ += (body_.empty() ? "" : ", ") + json_string(key) + ": " + json;
    return *this;
  }
  std::string str() const { return "{" + body_ + "}"; }

 private:
  std::string body_;
};

// Items that are strings are JSON already.
template <class T>
std::string json_array(const std::vector<T>& items) {
  std::string out;
  for (const T& item : items) {
    if (!out.empty()) out += ", ";
    if constexpr (std::is_same_v<T, std::string>) {
      out += item;
    } else {
      out += std::to_string(item);
    }
  }
  return "[" + out + "]";
}

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_PROFILE_JSON_H_
