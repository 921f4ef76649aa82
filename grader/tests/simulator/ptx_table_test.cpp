// Tables of fixtures: what a row expands to, and what is said of one that cannot be read.
#include "tools/ptx_table.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "tools/ptx_fixture.h"

namespace warplings::sim {
namespace {

constexpr const char* kShells =
    "shell kernel\n"
    "  $module\n"
    "  $entry {\n"
    "    .reg .b32 thread;\n"
    "    .reg .b64 in, out, at;\n"
    "    $declarations\n"
    "    $parameters\n"
    "    mov.u32 thread, %tid.x;\n"
    "    $loads\n"
    "    $code\n"
    "    $stores\n"
    "    ret;\n"
    "  }\n";

// The text of the first row.
std::string text_of(const std::string& table) {
  return expand_table("t.table", table, kShells).at(0).text;
}

std::string error_of(const std::string& table) {
  try {
    expand_table("t.table", table, kShells);
  } catch (const FixtureError& error) {
    return error.what();
  }
  return "";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(PtxTable, ARowBecomesAFixture) {
  const std::string table =
      "# What comes first.\n\nptx 7.1 sm_80\n\nadd_s32: add wraps\n    around.\n"
      "  add.s32 d, a, b;\n  input a s32 1 -2\n  input b s32 3\n    4\n  expect d s32 4 2\n";
  const std::vector<FixtureText> rows = expand_table("t.table", table, kShells);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].path, "t.table:5: add_s32");
  EXPECT_EQ(rows[0].text,
            "// add wraps around.\n// input: s32 1, -2\n// input: s32 3, 4\n// expect: s32 4, 2\n"
            "// launch: block 2\n.version 7.1\n.target sm_80\n.address_size 64\n\n"
            ".visible .entry add_s32(.param .u64 input, .param .u64 output) {\n"
            "  .reg .b32 thread;\n  .reg .b64 in, out, at;\n"
            "  .reg .b32 a;\n  .reg .b32 b;\n  .reg .b32 d;\n"
            "  ld.param.u64 in, [input];\n  ld.param.u64 out, [output];\n"
            "  mov.u32 thread, %tid.x;\n"
            "  mad.wide.u32 at, thread, 4, in;\n  ld.global.b32 a, [at];\n"
            "  mad.wide.u32 at, thread, 4, in;\n  ld.global.b32 b, [at+8];\n"
            "  add.s32 d, a, b;\n"
            "  mad.wide.u32 at, thread, 4, out;\n  st.global.b32 [at], d;\n  ret;\n}\n");
}

TEST(PtxTable, RegistersHaveTheTypeOfTheirValuesAndFloatsStayFloats) {
  const std::string text = text_of(
      "r:\n  neg.f64 d, a;\n  cvt.s32.s8 c, b;\n  input a f64 1\n  input b s8 -1\n"
      "  expect d f64 -1\n  expect e b16 7\n");
  EXPECT_TRUE(contains(text, ".reg .f64 a;\n  .reg .b32 b;\n  .reg .f64 d;\n  .reg .b16 e;\n"));
  EXPECT_TRUE(contains(text, "ld.global.b64 a, [at];\n"));
  EXPECT_TRUE(contains(text, "ld.global.s8 b, [at+8];\n"));
  EXPECT_TRUE(contains(text, "st.global.b16 [at+8], e;\n"));
}

TEST(PtxTable, VectorsOfRegisters) {
  const std::string text = text_of(
      "r:\n  mma {d<2>}, {a<3>}, {b<1>};\n  input a<3> b32 1 2 3 4 5 6\n  expect d<2> b32 0*4\n");
  EXPECT_TRUE(contains(text, "  mma {d0, d1}, {a0, a1, a2}, {b0};\n"));
  EXPECT_TRUE(contains(text, "// launch: block 2\n"));
  EXPECT_TRUE(contains(text, "ld.global.b32 a2, [at+16];\n"));
  EXPECT_TRUE(contains(text, "st.global.b32 [at+8], d1;\n"));
}

TEST(PtxTable, ARegisterMayHoldValuesOfAnotherType) {
  const std::string text =
      text_of("r:\n  x d, a;\n  input a b32 f16 1 2 3 4\n  expect d u32 0 0\n");
  EXPECT_TRUE(contains(text, "// input: f16 1, 2, 3, 4\n"));
  EXPECT_TRUE(contains(text, ".reg .b32 a;\n"));
  EXPECT_TRUE(contains(text, "// launch: block 2\n"));
}

TEST(PtxTable, ValuesRepeatAndRun) {
  EXPECT_TRUE(contains(text_of("r:\n  expect u32 7*3 4..6 0..1*2\n"),
                       "// expect: u32 7, 7, 7, 4, 5, 6, 0, 1, 0, 1\n"));
}

TEST(PtxTable, DeclaredInputsAndBuffers) {
  const std::string text = text_of(
      "inputs some\n  a u32 1 2\n  u8 3\n\nr:\n  launch grid 2 block 2\n  shared 64\n"
      "  tolerance ulp 1\n  input some\n  expect f32 1\n");
  EXPECT_TRUE(contains(text, "// input: u32 1, 2\n// input: u8 3\n// expect: f32 1\n"));
  EXPECT_TRUE(contains(text, "// launch: grid 2 block 2\n// shared: 64\n// tolerance: ulp 1\n"));
  EXPECT_FALSE(contains(text, "// launch: block"));
}

TEST(PtxTable, LinesWithADotStandWhereTheyBelong) {
  const std::string text = text_of(
      "r:\n  .func f() {\n    ret;\n  }\n  .maxntid 32, 1, 1\n  .shared .b8 box[4];\n"
      "  {\n  .param .b32 x;\n  call f;\n  }\n  expect u32 1\n");
  EXPECT_TRUE(contains(text, ".address_size 64\n\n.func f() {\n  ret;\n}\n.visible .entry r("));
  EXPECT_TRUE(contains(text, ".param .u64 output)\n.maxntid 32, 1, 1 {\n"));
  EXPECT_TRUE(contains(text, "  .shared .b8 box[4];\n  ld.param.u64 out, [output];\n"));
  EXPECT_TRUE(contains(text, "  {\n  .param .b32 x;\n  call f;\n  }\n  ret;\n"));
}

TEST(PtxTable, ShellsTakeWords) {
  const std::string text = text_of(
      "shell mine\n  $entry {\n    mov.b$1 x, $2;\n    $code\n  }\n\nuse mine 32 5\n\n"
      "r:\n  ret;\n  expect u32 1\n");
  EXPECT_TRUE(contains(text, "{\n  mov.b32 x, 5;\n  ret;\n}\n"));
}

TEST(PtxTable, MistakesNameTheirLine) {
  EXPECT_EQ(error_of("r:\n  input a f31 1\n"),
            "t.table:2: values are written as: input a f32 1 2, or input f32 1 2, or input and the "
            "name of inputs that are declared");
  EXPECT_EQ(error_of("r:\n  expect d f32\n"),
            "t.table:2: values are written as: expect d f32 1 2, or expect f32 1 2");
  EXPECT_EQ(error_of("r:\n  input a u32 1 2 3\n  input b u32 1 2\n"),
            "t.table:3: b has 2 values, but there are 3 threads: as many as the first register has "
            "values");
  EXPECT_EQ(error_of("r:\n  use nothing\n"), "t.table:1: there is no shell nothing");
  EXPECT_EQ(error_of("r:\n  ptx 8.0\n"),
            "t.table:1: version and target are written as: ptx 8.0 sm_80");
  EXPECT_EQ(error_of("r:\n  expect u32 1\nr:\n"), "t.table:3: there is a fixture r already");
  EXPECT_EQ(error_of("add\n"),
            "t.table:1: a line in the first column is a fixture (name: what it shows) or one of: "
            "ptx 8.0 sm_80, use SHELL, shell NAME, inputs NAME");
  EXPECT_EQ(error_of("  add.s32 d, a;\n"), "t.table:1: this belongs to no fixture");
  EXPECT_EQ(error_of("shell mine\n  $entry {\n    $code\n  }\n\nr:\n  use mine\n  expect d u8 1\n"),
            "t.table:6: the shell mine has no $declarations, where this would stand: .reg .b32 d;");
  EXPECT_TRUE(contains(error_of("inputs some\n  some\n\nr:\n  input some\n"), "t.table:2: values"));
}

// A table in a folder, with the shells beside it.
class PtxTableFile : public testing::Test {
 protected:
  PtxTableFile() {
    std::filesystem::create_directories(folder_);
    std::ofstream(folder_ / "shells.table") << kShells;
    std::ofstream(folder_ / "t.table") << "right:\n  mov.u32 d, thread;\n  expect d u32 0..3\n\n"
                                          "wrong:\n  mov.u32 d, 7;\n  expect d u32 8\n";
  }
  ~PtxTableFile() override { std::filesystem::remove_all(folder_); }
  std::string printed(const std::string& path, int status) {
    std::ostringstream out;
    EXPECT_EQ(run_ptx_fixtures({path}, out), status);
    return out.str();
  }

  const std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) /
      testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(PtxTableFile, AFailureShowsNameLineAndPtx) {
  const std::string text = printed(folder_.string(), 1);
  EXPECT_TRUE(contains(text,
                       "t.table:5: wrong: the output differs\n"
                       "  output[0] is 0x00000007, expected 0x00000008\n"))
      << text;
  EXPECT_TRUE(contains(text, "\t  mov.u32 d, 7;\n")) << text;
  EXPECT_TRUE(contains(text, "1 passed, 1 failed\n")) << text;
}

TEST_F(PtxTableFile, OneRowRunsByItsName) {
  const std::string table = (folder_ / "t.table").string();
  EXPECT_EQ(printed(table + ":right", 0), "1 passed, 0 failed\n");
  EXPECT_TRUE(contains(printed(table + ":absent", 2), "there is no fixture here"));
}

TEST_F(PtxTableFile, ABrokenTableFailsWithItsLine) {
  std::ofstream(folder_ / "t.table") << "nonsense\n";
  EXPECT_TRUE(contains(printed(folder_.string(), 1), "t.table:1: a line in the first column"));
}

}  // namespace
}  // namespace warplings::sim
