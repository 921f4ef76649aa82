// The only file that includes nlohmann-json. Its parser reports byte positions of syntax errors but
// forgets where values were; the SAX interface fed through an iterator that counts lines does not.
#include "course/json.h"

#include <iterator>
#include <nlohmann/json.hpp>

#include "course/error.h"

namespace course {
namespace {

class LineCountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  LineCountingIterator(const char* at, int* line) : at_(at), line_(line) {}
  reference operator*() const { return *at_; }
  LineCountingIterator& operator++() {
    if (*at_ == '\n') ++*line_;
    ++at_;
    return *this;
  }
  bool operator==(const LineCountingIterator& other) const { return at_ == other.at_; }
  bool operator!=(const LineCountingIterator& other) const { return at_ != other.at_; }

 private:
  const char* at_;
  int* line_;
};

class TreeBuilder : public nlohmann::json_sax<nlohmann::json> {
 public:
  TreeBuilder(const std::string& file, const int& line) : file_(file), line_(line) {}

  bool null() override {
    add(Json::Type::kNull);
    return true;
  }
  bool boolean(bool value) override {
    add(Json::Type::kBool).boolean = value;
    return true;
  }
  bool number_integer(number_integer_t value) override {
    return integer(static_cast<double>(value));
  }
  bool number_unsigned(number_unsigned_t value) override {
    return integer(static_cast<double>(value));
  }
  bool number_float(number_float_t value, const string_t&) override {
    add(Json::Type::kNumber).number = value;
    return true;
  }
  bool string(string_t& value) override {
    add(Json::Type::kString).text = value;
    return true;
  }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(Json::Type::kObject); }
  bool start_array(std::size_t) override { return open(Json::Type::kArray); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& name) override {
    Json& object = *open_.back();
    for (const JsonMember& member : object.members) {
      if (member.key == name) {
        throw Error(file_, line_,
                    "\"" + name + "\" is given twice in one object (first at line " +
                        std::to_string(member.line) + "); remove one of them.");
      }
    }
    object.members.push_back({name, line_, {}});
    return true;
  }
  bool parse_error(std::size_t, const std::string& last_token,
                   const nlohmann::detail::exception& error) override {
    std::string reason = error.what();
    // "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error ...": the
    // position is of nlohmann's own counting and is replaced by ours.
    const size_t colon = reason.find(": ");
    if (colon != std::string::npos) reason = reason.substr(colon + 2);
    // A token that ends in a line break was read past it.
    const int line = !last_token.empty() && last_token.back() == '\n' ? line_ - 1 : line_;
    throw Error(file_, line, "this is not JSON: " + reason + ".");
  }

  Json take() { return std::move(root_); }

 private:
  bool integer(double value) {
    Json& json = add(Json::Type::kNumber);
    json.number = value;
    json.is_integer = true;
    return true;
  }
  Json& add(Json::Type type) {
    Json* slot = &root_;
    if (!open_.empty()) {
      Json& parent = *open_.back();
      slot = parent.is_object() ? &parent.members.back().value : &parent.items.emplace_back();
    }
    slot->type = type;
    slot->line = line_;
    return *slot;
  }
  bool open(Json::Type type) {
    open_.push_back(&add(type));
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  const std::string& file_;
  const int& line_;
  Json root_;
  // Pointers stay valid: a container grows only while it is the innermost open one.
  std::vector<Json*> open_;
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
  int line = 1;
  TreeBuilder builder(file, line);
  const char* begin = text.data();
  nlohmann::json::sax_parse(LineCountingIterator(begin, &line),
                            LineCountingIterator(begin + text.size(), &line), &builder);
  return builder.take();
}

std::string json_quote(std::string_view text) {
  return nlohmann::json(std::string(text))
      .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace course
