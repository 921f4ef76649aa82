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

TEST(KitChannel, SendsOneLinePerEventAndHidesItself) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ::setenv("GRADE_CHANNEL", (std::to_string(ends[1]) + ":77").c_str(), 1);
  const kit::Channel channel = kit::Channel::from_environment();
  EXPECT_EQ(std::getenv("GRADE_CHANNEL"), nullptr);
  ASSERT_TRUE(channel.open());
  channel.send("test_start", kit::JsonObject().text("test", "A.B"));
  channel.send("done", kit::JsonObject());
  ::close(ends[1]);
  EXPECT_EQ(read_everything(ends[0]),
            "{\"nonce\":77,\"event\":\"test_start\",\"test\":\"A.B\"}\n"
            "{\"nonce\":77,\"event\":\"done\"}\n");
  ::close(ends[0]);
}

TEST(KitChannel, KeepsANonceThatIsNoNumberAsText) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ::setenv("GRADE_CHANNEL", (std::to_string(ends[1]) + ":0f3a").c_str(), 1);
  kit::Channel::from_environment().send("done", kit::JsonObject());
  ::close(ends[1]);
  EXPECT_EQ(read_everything(ends[0]), "{\"nonce\":\"0f3a\",\"event\":\"done\"}\n");
  ::close(ends[0]);
}

TEST(KitChannel, IsClosedWithoutADescriptor) {
  EXPECT_FALSE(kit::Channel::from_environment().open());
  ::setenv("GRADE_CHANNEL", "999:1", 1);
  EXPECT_FALSE(kit::Channel::from_environment().open());
  ::setenv("GRADE_CHANNEL", "rubbish", 1);
  EXPECT_FALSE(kit::Channel::from_environment().open());
}
