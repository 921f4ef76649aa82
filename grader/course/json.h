// A parsed JSON value that knows its line. (Libraries forget where a value was, and the one
// that was here cost a first verdict two seconds of compilation.)
#ifndef WARPLINGS_COURSE_JSON_H_
#define WARPLINGS_COURSE_JSON_H_

#include <string>
#include <string_view>
#include <vector>

namespace course {

struct JsonMember;

struct Json {
  enum class Type { kNull, kBool, kNumber, kString, kArray, kObject };
  Type type = Type::kNull;
  int line = 0;  // where the value starts, 1-based
  bool boolean = false;
  double number = 0;
  bool is_integer = false;
  std::string text;
  std::vector<Json> items;          // of an array
  std::vector<JsonMember> members;  // of an object, in file order

  bool is_object() const { return type == Type::kObject; }
  bool is_array() const { return type == Type::kArray; }
  bool is_string() const { return type == Type::kString; }
  bool is_number() const { return type == Type::kNumber; }
  bool is_bool() const { return type == Type::kBool; }

  // The member's value, or nullptr.
  const Json* find(std::string_view key) const;
  // Lenient access for messages of our own programs: the fallback where the key is absent or of
  // another type.
  std::string string_or(std::string_view key, std::string fallback = "") const;
  double number_or(std::string_view key, double fallback = 0) const;
  bool bool_or(std::string_view key, bool fallback = false) const;
};

struct JsonMember {
  std::string key;
  int line = 0;
  Json value;
};

// Reads RFC 8259. Throws course::Error(file, line, ...) on a syntax error, a repeated key or
// nesting deeper than anything that we write.
Json parse_json(const std::string& text, const std::string& file);

}  // namespace course
#endif  // WARPLINGS_COURSE_JSON_H_
