// Writes JSON for --json, one member at a time.
#ifndef WARPLINGS_CLI_JSON_OUT_H_
#define WARPLINGS_CLI_JSON_OUT_H_

#include <cmath>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "course/json.h"

namespace grade {

class JsonOut {
 public:
  JsonOut& text(std::string_view key, std::string_view value) {
    return raw(key, course::json_quote(value));
  }
  JsonOut& number(std::string_view key, double value) {
    char digits[32];
    std::snprintf(digits, sizeof digits, "%.15g", value);
    return raw(key, std::isfinite(value) ? digits : "null");  // JSON has no NaN
  }
  JsonOut& boolean(std::string_view key, bool value) { return raw(key, value ? "true" : "false"); }
  JsonOut& raw(std::string_view key, std::string_view json) {
    if (!body_.empty()) body_ += ", ";
    body_ += course::json_quote(key) + ": " + std::string(json);
    return *this;
  }
  std::string str() const { return "{" + body_ + "}"; }

 private:
  std::string body_;
};

// `items` are JSON already.
inline std::string json_array(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) text += (text.empty() ? "" : ", ") + item;
  return "[" + text + "]";
}

}  // namespace grade
#endif  // WARPLINGS_CLI_JSON_OUT_H_
