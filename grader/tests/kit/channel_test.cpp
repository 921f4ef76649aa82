#include "kit/channel.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>

namespace {

std::string read_everything(int fd) {
  std::string text;
  char buffer[256];
  for (ssize_t n; (n = ::read(fd, buffer, sizeof buffer)) > 0;) {
    text.append(buffer, static_cast<size_t>(n));
  }
  return text;
}

}  // namespace

TEST(KitJson, EscapesWhatJsonCannotHold) {
  EXPECT_EQ(kit::json_string("a \"b\" \\ \n\t\x01"), "\"a \\\"b\\\" \\\\ \\n\\t\\u0001\"");
  EXPECT_EQ(kit::json_string("µ → 𝄞"), "\"µ → 𝄞\"");
}

TEST(KitJson, ReplacesBytesThatAreNotUtf8) {
  EXPECT_EQ(kit::json_string("a\xFF"
                             "b"),
            "\"a\\ufffdb\"");
  EXPECT_EQ(kit::json_string("\xC0\x80"), "\"\\ufffd\\ufffd\"") << "overlong";
  EXPECT_EQ(kit::json_string("\xE2\x82"), "\"\\ufffd\\ufffd\"") << "cut off";
  EXPECT_EQ(kit::json_string("\xED\xA0\x80"), "\"\\ufffd\\ufffd\\ufffd\"") << "surrogate";
}

TEST(KitJson, WritesNumbersThatReadBackTheSame) {
  EXPECT_EQ(kit::json_number(5.2), "5.2");
  EXPECT_EQ(kit::json_number(4), "4");
  EXPECT_EQ(std::stod(kit::json_number(1.0 / 3)), 1.0 / 3);
  EXPECT_EQ(kit::json_number(std::nan("")), "\"nan\"");
}

constexpr char kHex[] = "0f0e0d0c0b0a09080706050403020100";

// What a grader with this key reads as line `number`.
std::string sealed(uint64_t number, const std::string& text) {
  kit::SealKey key;
  EXPECT_TRUE(kit::read_key(kHex, &key));
  char digits[kit::kSealDigits];
  kit::write_seal(kit::seal_of(key, number, text), digits);
  return std::string(digits, sizeof digits) + " " + text;
}

// The vectors of SipHash's authors: the key 00 01 ... 0f, the messages 00 01 ... of 8, 9 and 16
// bytes.
TEST(KitSeal, IsSipHash) {
  kit::SealKey key;
  ASSERT_TRUE(kit::read_key(kHex, &key));
  constexpr uint64_t kFirst =
      0x0706050403020100;  // the number of the line is the first eight bytes
  EXPECT_EQ(kit::seal_of(key, kFirst, ""), 0x93f5f5799a932462u);
  EXPECT_EQ(kit::seal_of(key, kFirst, "\x08"), 0x9e0082df0ba9e4b0u);
  EXPECT_EQ(kit::seal_of(key, kFirst, "\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f"), 0x3f2acc7f57c29bdbu);
}

TEST(KitSeal, ChangesWithTheNumberAndTheText) {
  EXPECT_NE(sealed(0, "{}\n"), sealed(1, "{}\n"));
  EXPECT_NE(sealed(0, "{}\n").substr(0, 16), sealed(0, "[]\n").substr(0, 16));
}

TEST(KitChannel, SealsOneLinePerEventAndHidesItself) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ::setenv("GRADE_CHANNEL", (std::to_string(ends[1]) + ":" + kHex).c_str(), 1);
  const char* const setting = std::getenv("GRADE_CHANNEL");
  kit::Channel channel = kit::Channel::from_environment();
  EXPECT_EQ(std::getenv("GRADE_CHANNEL"), nullptr);
  EXPECT_STREQ(setting, "") << "the text itself must be gone";
  ASSERT_TRUE(channel.open());
  channel.send("test_start", kit::JsonObject().text("test", "A.B"));
  channel.send("done", kit::JsonObject());
  ::close(ends[1]);
  EXPECT_EQ(read_everything(ends[0]), sealed(0, "{\"event\":\"test_start\",\"test\":\"A.B\"}\n") +
                                          sealed(1, "{\"event\":\"done\"}\n"));
  ::close(ends[0]);
}

TEST(KitChannel, IsClosedWithoutADescriptorOrAKey) {
  EXPECT_FALSE(kit::Channel::from_environment().open());
  const std::string key = kHex;
  for (const std::string& setting : {"999:" + key, std::string("rubbish"), std::string("1:77"),
                                    ":" + key, "1:" + key + "0", "1:" + key.substr(1) + "g"}) {
    ::setenv("GRADE_CHANNEL", setting.c_str(), 1);
    EXPECT_FALSE(kit::Channel::from_environment().open()) << setting;
  }
}
