// Reading JSON: what RFC 8259 allows, what it does not, and where each value was.
#include "course/json.h"

#include <gtest/gtest.h>

#include <string>

#include "course/error.h"
#include "kit/json.h"

namespace course {
namespace {

Json parsed(const std::string& text) { return parse_json(text, "x.json"); }

// Behind the file's name; "" where the text is accepted.
std::string refused(const std::string& text) {
  try {
    parsed(text);
  } catch (const Error& error) {
    return std::string(error.what()).substr(7);
  }
  return "";
}

std::string misses(const std::string& line, const std::string& wanted, const std::string& found) {
  return line + ": this is not JSON: where " + wanted + " should be, " + found + ".";
}

TEST(Json, ReadsEveryKindOfValueWithItsLine) {
  const Json json = parsed(
      "\xEF\xBB\xBF { \"a\" : [ 1 , -2.5e+1, true,\r\n\tfalse, null ],\n"
      "\"b\": {},\"\": \"\",\"c\":[]}\n ");
  ASSERT_TRUE(json.is_object());
  const Json& list = *json.find("a");
  ASSERT_EQ(list.items.size(), 5u);
  EXPECT_EQ(list.items[0].number, 1);
  EXPECT_TRUE(list.items[0].is_integer);
  EXPECT_EQ(list.items[1].number, -25);
  EXPECT_FALSE(list.items[1].is_integer);
  EXPECT_TRUE(list.items[2].boolean);
  EXPECT_TRUE(list.items[3].is_bool());
  EXPECT_FALSE(list.items[3].boolean);
  EXPECT_EQ(list.items[4].type, Json::Type::kNull);
  EXPECT_EQ(list.items[2].line, 1);
  EXPECT_EQ(list.items[4].line, 2);
  EXPECT_EQ(json.find("b")->line, 3);
  EXPECT_EQ(json.members[2].key, "");
  EXPECT_TRUE(json.find("c")->is_array());
  EXPECT_EQ(json.find("d"), nullptr);
}

TEST(Json, ReadsNumbersAsTheyAreWritten) {
  for (const char* text :
       {"0", "-0", "10", "0.5", "1E3", "1e-3", "123456789012345678901", "-7.25"}) {
    EXPECT_EQ(parsed(text).number, std::stod(text)) << text;
  }
  EXPECT_EQ(refused("01"), misses("1", "the end of the text", "there is \"1\""));
  EXPECT_EQ(refused("1."), misses("1", "a digit", "the text ends"));
  EXPECT_EQ(refused("-x"), misses("1", "a digit", "there is \"x\""));
  EXPECT_EQ(refused("1e"), misses("1", "a digit", "the text ends"));
  EXPECT_EQ(refused("1e999"), misses("1", "a number that fits a double", "there is \"1e999\""));
  EXPECT_EQ(refused("+1"), misses("1", "a value", "there is \"+1\""));
  EXPECT_EQ(refused("nan"), misses("1", "a value", "there is \"nan\""));
}

TEST(Json, ReadsWhatIsInQuotes) {
  EXPECT_EQ(parsed(R"("\"\\\/\b\f\n\r\t")").text, "\"\\/\b\f\n\r\t");
  EXPECT_EQ(parsed(R"("\u0041\u00e9\u20AC\uD83D\ude00")").text, "Aé€😀");
  EXPECT_EQ(parsed("\"é€😀\x7F\"").text, "é€😀\x7F");
  EXPECT_EQ(parsed(std::string(R"("a\u0000b")")).text, std::string("a\0b", 3));
  EXPECT_EQ(refused("\"a"), misses("1", "a closing quote", "the text ends"));
  EXPECT_EQ(refused("[\n\"a\n\"]"), misses("2", "a closing quote", R"(there is "\n")"));
  EXPECT_NE(refused("\"a\xff\""), "");
  EXPECT_NE(refused("\"\xC3\""), "");
  EXPECT_EQ(refused(R"("\x")"), misses("1", "an escape sequence of JSON", "there is \"x\""));
  EXPECT_NE(refused(R"("\u12g4")"), "");
  EXPECT_NE(refused(R"("\u12)"), "");
  EXPECT_NE(refused(R"("\ud83d")"), "");
  EXPECT_NE(refused(R"("\ud83d\u0041")"), "");
  EXPECT_NE(refused(R"("\ude00")"), "");
}

TEST(Json, NamesWhatIsMissing) {
  EXPECT_EQ(refused(""), misses("1", "a value", "the text ends"));
  EXPECT_EQ(refused("{\n\"a\": 1,\n"), misses("3", "a name in quotes", "the text ends"));
  EXPECT_EQ(refused("{\"a\": 1\n\"b\": 2}"), misses("2", "\",\" or \"}\"", "there is \"\\\"b\""));
  EXPECT_EQ(refused("{\"a\" 1}"), misses("1", "\":\"", "there is \"1\""));
  EXPECT_EQ(refused("[1,]"), misses("1", "a value", "there is \"]\""));
  EXPECT_EQ(refused("[1 2]"), misses("1", "\",\" or \"]\"", "there is \"2\""));
  EXPECT_EQ(refused("[1] // why"), misses("1", "the end of the text", "there is \"//\""));
  EXPECT_NE(refused(std::string("[\0]", 3)), "");
  EXPECT_EQ(refused("{\"a\": 1,\n\"a\": 2}"),
            "2: \"a\" is given twice in one object (first at line 1); remove one of them.");
}

TEST(Json, RefusesBottomlessNesting) {
  EXPECT_EQ(refused(std::string(100, '[') + std::string(100, ']')), "");
  EXPECT_EQ(refused(std::string(1'000'000, '[')), "1: this is nested too deeply to be read.");
}

TEST(Json, ReadsWhatTheKitWrites) {
  std::string text;
  for (int c = 0; c < 128; ++c) text += static_cast<char>(c);
  EXPECT_EQ(parsed(kit::json_string(text + "é€😀")).text, text + "é€😀");
  EXPECT_EQ(parsed(kit::json_string("a\xff")).text, "a\xEF\xBF\xBD");
  for (const double value : {0.1, 1e300, -5e-324, 3.0}) {
    EXPECT_EQ(parsed(kit::json_number(value)).number, value);
  }
}

}  // namespace
}  // namespace course
