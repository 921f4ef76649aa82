#include "kit/channel.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
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
  EXPECT_EQ(std::strtod(kit::json_number(1e-310).c_str(), nullptr),
            1e-310);  // below normal numbers
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

// The grader's end and the program's, with `key` in it.
struct Ends {
  explicit Ends(const std::string& key) {
    int both[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, both), 0);
    ours = both[0];
    its = both[1];
    EXPECT_EQ(::write(ours, key.data(), key.size()), static_cast<ssize_t>(key.size()));
  }
  ~Ends() { ::close(ours); }
  int ours = -1, its = -1;
};

TEST(KitChannel, SealsOneLinePerEventAndHidesItself) {
  const Ends ends(kHex);
  ::setenv("GRADE_CHANNEL", std::to_string(ends.its).c_str(), 1);
  kit::Channel channel = kit::Channel::from_environment();
  EXPECT_EQ(std::getenv("GRADE_CHANNEL"), nullptr);
  ASSERT_TRUE(channel.open());
  char byte = 0;
  EXPECT_LT(::recv(ends.its, &byte, 1, MSG_DONTWAIT), 0) << "the key must be gone";
  channel.send("test_start", kit::JsonObject().text("test", "A.B"));
  channel.send("done", kit::JsonObject());
  ::close(ends.its);
  EXPECT_EQ(read_everything(ends.ours), sealed(0, "{\"event\":\"test_start\",\"test\":\"A.B\"}\n") +
                                            sealed(1, "{\"event\":\"done\"}\n"));
}

TEST(KitChannel, IsClosedWithoutADescriptorOrAKey) {
  EXPECT_FALSE(kit::Channel::from_environment().open());
  const Ends none(""), few("77"), odd(std::string(31, '0') + "g");
  for (const std::string& setting :
       {std::string("999"), std::string("rubbish"), std::to_string(none.its),
        std::to_string(few.its), std::to_string(odd.its), std::string("1")}) {
    ::setenv("GRADE_CHANNEL", setting.c_str(), 1);
    EXPECT_FALSE(kit::Channel::from_environment().open()) << setting;
  }
}
