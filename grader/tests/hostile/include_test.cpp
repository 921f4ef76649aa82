// What a learner's file may not take in, and that its text appears nowhere.
#include <gtest/gtest.h>

#include <memory>

#include "cli/integrity.h"
#include "course/text.h"
#include "hostile.h"

namespace grade::test {
namespace {

constexpr const char* kSecret = "the text of a file that is nobody's business";

class Includes : public testing::Test {
 protected:
  Includes() {
    write_file(root_ / "solutions/01_begin/01_first.cu", std::string(kSecret) + "\n");
    write_file(root_ / "chapters/01_begin/01_first.h", "#pragma once\n");
    write_file(root_ / "chapters/02_next/other.h", "\n");
    write_file(root_ / "grader/kit/kit.h", "\n");
  }

  // The line that is refused, 0 if none is.
  int refused(const std::string& text) {
    write_file(file_, text);
    const auto found = refused_include(root_, file_);
    if (!found) return 0;
    EXPECT_EQ(found->file, "chapters/01_begin/01_first.cu") << text;
    EXPECT_NE(found->message.find("refused"), std::string::npos) << found->message;
    return found->line;
  }

  ScratchCourse course_;
  const fs::path root_ = course_.root(), file_ = root_ / "chapters/01_begin/01_first.cu";
};

TEST_F(Includes, OfTheFolderTheKitAndTheToolkitAreAllowed) {
  EXPECT_EQ(refused("#include \"01_first.h\"\n#include <vector>\n#include \"cutlass/cutlass.h\"\n"
                    "#include \"../../grader/kit/kit.h\"\n// #include \"/etc/passwd\"\n"
                    "/*\n#include \"/etc/passwd\"\n*/\n"
                    "const char* text = R\"(\n#include \"/etc/passwd\"\n)\";\n"
                    "const int big = 1'000'000;  // '\n#define INCLUDED \"x.h\"\n#if 1\n#endif\n"),
            0);
}

TEST_F(Includes, OfOtherFilesAreRefusedWithTheirLine) {
  EXPECT_EQ(refused("\n#include \"../../solutions/01_begin/01_first.cu\"\n"), 2);
  EXPECT_EQ(refused("#include \"../02_next/other.h\"\n"), 1);
  EXPECT_EQ(refused("int x;\n\n  #  include \"/etc/passwd\"\n"), 3);
  EXPECT_EQ(refused("#include </etc/passwd>\n"), 1);
  EXPECT_EQ(refused("#include <../../../../../../../../etc/passwd>\n"), 1);
  EXPECT_EQ(refused("#import \"/etc/passwd\"\n"), 1);
  EXPECT_EQ(refused("#include_next \"/etc/passwd\"\n"), 1);
  EXPECT_EQ(refused("const char x[] = {\n#embed \"/etc/passwd\"\n};\n"), 2);
  EXPECT_EQ(refused("%: include \"/etc/passwd\"\n"), 1);
}

TEST_F(Includes, HiddenOnesAreFound) {
  EXPECT_EQ(refused("#inc\\\nlude \"/etc/passwd\"\n"), 1);
  EXPECT_EQ(refused("/* a\n b */ #include /* c */ \"/etc/passwd\"\n"), 1);
  EXPECT_EQ(refused("const char* a = R\"x(\n)x\";\n#include \"/etc/passwd\"\n"), 3);
  EXPECT_EQ(refused("// a comment \\\n#include \"x.h\"\n#include \"/etc/passwd\"\n"), 3);
  EXPECT_EQ(refused("#define WHAT \"/etc/passwd\"\n#include WHAT\n"), 2);
  EXPECT_EQ(refused("#include __FILE__\n"), 1);
  EXPECT_EQ(refused("#line 1 \"/etc/passwd\"\n"), 1);
  EXPECT_EQ(refused("# 1 \"/etc/passwd\"\n"), 1);
  EXPECT_EQ(refused("asm(\".incbin \\\"/etc/passwd\\\"\");\n"), 1);
  EXPECT_EQ(refused("asm(\".include \\\"/etc/passwd\\\"\");\n"), 1);
}

TEST_F(Includes, LinksAndHelpersAreFollowed) {
  fs::create_symlink("/etc/passwd", root_ / "chapters/01_begin/link.h");
  EXPECT_EQ(refused("#include \"link.h\"\n"), 1);
  write_file(root_ / "chapters/01_begin/helper.h", "#pragma once\n\n#include \"/etc/passwd\"\n");
  write_file(file_, "#include \"helper.h\"\n");
  const auto found = refused_include(root_, file_);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->file, "chapters/01_begin/helper.h");
  EXPECT_EQ(found->line, 3);
}

TEST_F(Includes, TheVerdictNamesTheLineAndShowsNothing) {
  course_.save("//! test Scratch.Adds 1\n#include \"../../solutions/01_begin/01_first.cu\"\n");
  const Ran ran = course_.grade({"run", "01_first"});
  EXPECT_EQ(ran.status, 1);
  EXPECT_NE(ran.out.find("01_first.cu:2: #include"), std::string::npos) << ran.out;
  EXPECT_EQ(ran.out.find("nobody's business"), std::string::npos) << ran.out;
}

}  // namespace
}  // namespace grade::test
