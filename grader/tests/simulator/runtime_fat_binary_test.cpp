// Fat binaries: which PTX is taken, and what is said when there is none.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "runtime/decompress.h"
#include "runtime/fat_binary.h"

namespace warplings::sim {
namespace {

struct Entry {
  uint16_t kind;
  uint32_t architecture;
  std::string payload;
  uint64_t flags = 0x11;
  uint64_t uncompressed = 0;
};

template <class T>
void append(std::string* bytes, T value) {
  bytes->append(reinterpret_cast<const char*>(&value), sizeof value);
}

// Builds what nvcc would embed.
class FatBinary {
 public:
  explicit FatBinary(const std::vector<Entry>& entries) {
    std::string body;
    for (const Entry& entry : entries) {
      const std::string payload = entry.payload + std::string(8 - entry.payload.size() % 8, '\0');
      append<uint16_t>(&body, entry.kind);
      append<uint16_t>(&body, 0x101);
      append<uint32_t>(&body, 64);
      append<uint64_t>(&body, payload.size());
      append<uint32_t>(&body, static_cast<uint32_t>(entry.uncompressed ? entry.payload.size() : 0));
      append<uint32_t>(&body, 0);
      append<uint32_t>(&body, 9u << 16);
      append<uint32_t>(&body, entry.architecture);
      append<uint64_t>(&body, 0);
      append<uint64_t>(&body, entry.flags);
      append<uint64_t>(&body, 0);
      append<uint64_t>(&body, entry.uncompressed);
      body += payload;
    }
    append<uint32_t>(&data_, 0xba55ed50);
    append<uint16_t>(&data_, 1);
    append<uint16_t>(&data_, 16);
    append<uint64_t>(&data_, body.size());
    data_ += body;
    wrapper_ = {0x466243b1, 1, data_.data(), nullptr};
  }
  FatBinaryContents read() const { return read_fat_binary(&wrapper_); }

 private:
  struct Wrapper {
    uint32_t magic, version;
    const char* data;
    const void* parts;
  };
  std::string data_;
  Wrapper wrapper_{};
};

TEST(FatBinaryReader, TakesTheHighestPtxThatTheDeviceRuns) {
  const FatBinary binary(
      {{1, 75, "ptx 75"}, {2, 90, "ELF"}, {1, 80, "ptx 80"}, {1, 100, "ptx 100"}});
  EXPECT_EQ(binary.read().ptx, std::vector<std::string>{"ptx 80"});
}

TEST(FatBinaryReader, TakesANewerOneWhenThereIsNothingElse) {
  const FatBinary binary({{1, 120, "ptx 120"}, {1, 100, "ptx 100"}});
  EXPECT_EQ(binary.read().ptx, std::vector<std::string>{"ptx 100"});
}

TEST(FatBinaryReader, SaysHowToBuildWhenThereIsNoPtx) {
  const FatBinaryContents contents = FatBinary({{2, 90, "ELF"}}).read();
  EXPECT_TRUE(contents.ptx.empty());
  EXPECT_NE(contents.problem.find("code=compute_80"), std::string::npos) << contents.problem;
}

TEST(FatBinaryReader, SaysWhichFlagLeavesPtxReadable) {
  const FatBinaryContents contents = FatBinary({{1, 80, "garbage", 0x2011, 100}}).read();
  EXPECT_NE(contents.problem.find("--no-compress"), std::string::npos) << contents.problem;
}

TEST(FatBinaryReader, ReadsLz4) {
  // "abcabcabcabcabc!": literals "abc", a match of 12 bytes 3 back, then the literal "!".
  const std::string packed = std::string("\x38") + "abc" + std::string("\x03\x00", 2) + "\x10!";
  const FatBinary binary({{1, 80, packed, 0x2011, 16}});
  EXPECT_EQ(binary.read().ptx, std::vector<std::string>{"abcabcabcabcabc!"});
}

TEST(Lz4, RefusesDamagedInput) {
  std::string out;
  EXPECT_FALSE(decompress_lz4(std::string("\x38") + "abc" + std::string("\x09\x00", 2), 15, &out));
  EXPECT_FALSE(decompress_lz4("\xf0", 15, &out));
  EXPECT_FALSE(decompress_lz4(std::string("\x10!"), 2, &out));
}

}  // namespace
}  // namespace warplings::sim
