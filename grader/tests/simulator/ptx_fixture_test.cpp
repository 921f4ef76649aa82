// The runner of PTX fixtures: what it reads, how it compares, what it says.
#include "tools/ptx_fixture.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace warplings::sim {
namespace {

std::string error_of(const std::string& text) {
  try {
    read_fixture("f.ptx", text);
  } catch (const FixtureError& error) {
    return error.what();
  }
  return "";
}

using Bytes = std::vector<uint8_t>;

// A kernel that stores `value` in its output.
std::string store_kernel(const std::string& comments, const std::string& value) {
  return comments +
         ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 o) {\n"
         ".reg .b64 %rd<1>;\nld.param.u64 %rd0, [o];\nst.global.u32 [%rd0], " +
         value + ";\nret;\n}\n";
}

class FixtureFiles : public testing::Test {
 protected:
  FixtureFiles() { std::filesystem::create_directories(folder_); }
  ~FixtureFiles() override { std::filesystem::remove_all(folder_); }
  void write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
  }
  // Status and everything printed.
  int run(std::string* printed) {
    std::ostringstream out;
    const int status = run_ptx_fixtures({folder_.string()}, out);
    *printed = out.str();
    return status;
  }

  const std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) /
      testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST(PtxFixture, JoinsLinesOfValues) {
  const Fixture fixture = read_fixture("f.ptx",
                                       "// input: u8 1, 2\n// input: u16 3\n// expect: b8 0xff\n"
                                       "// expect: b16 0x1234\n");
  EXPECT_EQ(fixture.input, (Bytes{1, 2, 3, 0}));
}

TEST(PtxFixture, ReadsFloatsAndSpecialValues) {
  const Fixture fixture = read_fixture("f.ptx", "// expect: f32 1.5, -0.0, 2, inf, -inf, nan\n");
  EXPECT_EQ(fixture.expected, (Bytes{0, 0, 0xc0, 0x3f, 0, 0, 0,    0x80, 0,    0,    0,    0x40,
                                     0, 0, 0x80, 0x7f, 0, 0, 0x80, 0xff, 0xff, 0xff, 0xff, 0x7f}));
}

TEST(PtxFixture, ReadsLaunchAndSharedMemory) {
  const Fixture fixture =
      read_fixture("f.ptx", "// expect: u32 0\n// launch: grid 2 3 block 32 4 2\n// shared: 512\n");
  EXPECT_EQ(fixture.grid[1], 3u);
  EXPECT_EQ(fixture.grid[2], 1u);
  EXPECT_EQ(fixture.block[0], 32u);
  EXPECT_EQ(fixture.block[2], 2u);
  EXPECT_EQ(fixture.shared_bytes, 512u);
}

TEST(PtxFixture, MistakesNameTheirLine) {
  EXPECT_EQ(error_of("// input: u32 1\n// expect: u33 1\n"),
            "f.ptx:2: 'u33' is not a type such as f32, u32 or b32");
  EXPECT_EQ(error_of("// expect: u32\n"), "f.ptx:1: values are missing after u32");
  EXPECT_EQ(error_of("// expect: u32 1, x y\n"),
            "f.ptx:1: this is not a list of u32 values, separated by commas:  1, x y");
  EXPECT_EQ(error_of("// expect: f32 0x3f800000\n"),
            "f.ptx:1: bits have a type such as b32; write 0f and 0d constants for floats");
  EXPECT_EQ(error_of("// expect: u32 1\n// launch: block 0\n"),
            "f.ptx:2: a launch is written as: // launch: grid 1 block 64, with numbers from 1");
  EXPECT_EQ(error_of("// expect: u32 1\n// shared: lots\n"),
            "f.ptx:2: 'lots' is not a number from 0 to 233472");
  EXPECT_EQ(
      error_of("// expect: u32 1\n// tolerance: 1e-6\n"),
      "f.ptx:2: a tolerance is written as: // tolerance: relative 1e-6 (or absolute 1e-7, ulp 2)");
}

TEST(PtxFixture, NeedsAnExpectation) {
  EXPECT_EQ(error_of("// input: u32 1\n"),
            "f.ptx: no line says what is expected: // expect: u32 1, 2");
}

TEST(PtxFixture, ComparesBitForBit) {
  const Fixture fixture = read_fixture("f.ptx", "// expect: f32 0.0, 1.0\n");
  EXPECT_EQ(compare(fixture, {0, 0, 0, 0, 0, 0, 0x80, 0x3f}), "");
  EXPECT_EQ(compare(fixture, {0, 0, 0, 0x80, 0, 0, 0x80, 0x3f}),
            "f.ptx: the output differs\n"
            "  output[0] is 0x80000000 (-0), expected 0x00000000 (0)\n");
}

TEST(PtxFixture, ShowsTheFirstFiveDifferences) {
  const Fixture fixture = read_fixture("f.ptx", "// expect: u8 1, 1, 1, 1, 1, 1, 1\n");
  const std::string text = compare(fixture, Bytes(7));
  EXPECT_NE(text.find("output[4]"), std::string::npos);
  EXPECT_EQ(text.find("output[5]"), std::string::npos);
  EXPECT_NE(text.find("and 2 more"), std::string::npos);
}

TEST(PtxFixture, TolerancesBoundTheDifference) {
  const std::string one = "// expect: f32 1.0\n// tolerance: ";
  const Bytes two_units_off = {2, 0, 0x80, 0x3f};  // 1 + 2^-22
  EXPECT_EQ(compare(read_fixture("f", one + "ulp 2\n"), two_units_off), "");
  EXPECT_NE(compare(read_fixture("f", one + "ulp 1\n"), two_units_off), "");
  EXPECT_EQ(compare(read_fixture("f", one + "relative 3e-7\n"), two_units_off), "");
  EXPECT_NE(compare(read_fixture("f", one + "relative 2e-7\n"), two_units_off), "");
  EXPECT_EQ(compare(read_fixture("f", one + "absolute 3e-7\n"), two_units_off), "");
  EXPECT_NE(compare(read_fixture("f", one + "absolute 2e-7\n"), two_units_off), "");
}

TEST(PtxFixture, NoToleranceCoversNan) {
  const Fixture fixture = read_fixture("f", "// expect: f32 1.0\n// tolerance: absolute 1e9\n");
  EXPECT_NE(compare(fixture, {0xff, 0xff, 0xff, 0x7f}), "");
}

TEST_F(FixtureFiles, CountsPassedAndFailed) {
  write("a.ptx", store_kernel("// expect: u32 7\n", "7"));
  write("b.ptx", store_kernel("// expect: u32 8\n", "7"));
  write("c.txt", "not a fixture");
  std::string printed;
  EXPECT_EQ(run(&printed), 1);
  EXPECT_NE(printed.find("output[0] is 0x00000007, expected 0x00000008"), std::string::npos);
  EXPECT_NE(printed.find("1 passed, 1 failed\n"), std::string::npos) << printed;
}

TEST_F(FixtureFiles, AllPassedIsStatusZero) {
  write("a.ptx", store_kernel("// expect: u32 7\n", "7"));
  std::string printed;
  EXPECT_EQ(run(&printed), 0);
  EXPECT_EQ(printed, "1 passed, 0 failed\n");
}

TEST_F(FixtureFiles, EmptyFolderIsAnError) {
  std::string printed;
  EXPECT_EQ(run(&printed), 2);
  EXPECT_NE(printed.find("there is no fixture here, neither .ptx nor .table"), std::string::npos);
}

TEST_F(FixtureFiles, BrokenPtxFailsWithItsPlace) {
  write("a.ptx", store_kernel("// expect: u32 7\n", "%r9"));
  std::string printed;
  EXPECT_EQ(run(&printed), 1);
  EXPECT_NE(printed.find("a.ptx:8:23: register '%r9' is not declared here"), std::string::npos)
      << printed;
}

TEST_F(FixtureFiles, WriteBehindTheOutputFails) {
  write("a.ptx", store_kernel("// expect: u8 7\n", "7"));
  std::string printed;
  EXPECT_EQ(run(&printed), 1);
  EXPECT_NE(printed.find("memcheck: "), std::string::npos) << printed;
}

TEST_F(FixtureFiles, ParametersMustFitTheComments) {
  write("a.ptx", store_kernel("// input: u32 1\n// expect: u32 7\n", "7"));
  std::string printed;
  EXPECT_EQ(run(&printed), 1);
  EXPECT_NE(printed.find("the kernel has 1 parameters, needs 2: input, output"), std::string::npos)
      << printed;
}

TEST_F(FixtureFiles, AccessesOutsideOfParametersAreRefused) {
  std::string text = store_kernel("// expect: u32 1\n", "1");
  text.replace(text.find("[o]"), 3, "[o+-8]");
  write("kernel.ptx", text);
  std::string printed;
  EXPECT_NE(run(&printed), 0);
  EXPECT_NE(printed.find("a kernel parameter is read outside of it"), std::string::npos) << printed;

  text.replace(text.find("[o+-8]"), 6, "[o]");
  text.insert(text.find("ret;"), ".param .b32 v;\nst.param.b32 [v+0x80000000], 1;\n");
  write("kernel.ptx", text);
  EXPECT_NE(run(&printed), 0);
  EXPECT_NE(printed.find("outside of the parameter v"), std::string::npos) << printed;
}

}  // namespace
}  // namespace warplings::sim
