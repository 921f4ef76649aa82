// Marks of pictures that come from runs: where the link stands, and which file it names.
#include "cli/gates/view_picture.h"

#include <gtest/gtest.h>

#include "cli/gates/page_program.h"
#include "course/error.h"

namespace grade {
namespace {

constexpr const char* kPageWithPictures =
    "Look:\n\n<!-- from: view 03/05@mutant_1 banks:39 -->\n\n![One "
    "bank](../pictures/one.svg)\n\nso.\n";

TEST(ViewMark, TakesTheLinkBelowIt) {
  const std::vector<Mark> marks = find_marks(kPageWithPictures, "page.md");
  ASSERT_EQ(marks.size(), 1u);
  EXPECT_TRUE(is_picture(marks[0]));
  EXPECT_EQ(std::string(kPageWithPictures).substr(marks[0].begin, marks[0].end - marks[0].begin),
            "![One bank](../pictures/one.svg)");
}

TEST(ViewMark, NeedsALink) {
  EXPECT_THROW(find_marks("<!-- from: view 03/05 block -->\n\nNo picture.\n", "page.md"),
               course::Error);
}

TEST(ViewMark, NamesAFileBesideThePage) {
  const Mark mark = find_marks(kPageWithPictures, "page.md").front();
  EXPECT_EQ(picture_file("/course/chapters/page.md", mark, "![a](../pictures/one.svg)"),
            "/course/pictures/one.svg");
  EXPECT_THROW(picture_file("/course/page.md", mark, "![a](one.png)"), course::Error);
  EXPECT_THROW(picture_file("/course/page.md", mark, "a picture"), course::Error);
}

TEST(ViewMark, AReasonForNoPictureStandsOnALineOfItsOwn) {
  EXPECT_EQ(reason_for_no_picture("Words.\n\n<!-- no picture: it runs no kernel -->\n"),
            "it runs no kernel");
  EXPECT_EQ(reason_for_no_picture("Words.\n"), "");
  EXPECT_EQ(reason_for_no_picture("Say <!-- no picture: it runs no kernel --> in a line.\n"), "");
}

constexpr const char* kLessonWithPictures =
    "<!-- saved as: a.cu -->\n\n```cuda\nint main() {}\n```\n\n<!-- run -->\n\n```console\n"
    "$ ./grade trace -- a.cu\n$ ./grade exec a.cu 2>&1 | head -n 1\nout\n$ grep -v x a.cu > b.cu\n"
    "$ GRADE_SIM_DEVICES=2 ./grade exec b.cu\n$ nvcc -o tree tree.cu\n$ ./grade exec ./tree\n"
    "$ ./grade exec -- python3 loaded.py\n```\n";

// A picture of a page's program is of the run that the page shows.
TEST(PageProgram, RunsWhatLeadsToIt) {
  const std::vector<std::string> a = commands_leading_to(kLessonWithPictures, "a.cu");
  EXPECT_EQ(a, std::vector<std::string>{"./grade exec a.cu"});
  const std::vector<std::string> b = commands_leading_to(kLessonWithPictures, "b.cu");
  EXPECT_EQ(b, (std::vector<std::string>{"grep -v x a.cu > b.cu",
                                         "GRADE_SIM_DEVICES=2 ./grade exec b.cu"}));
  EXPECT_EQ(commands_leading_to(kLessonWithPictures, "tree.cu").back(), "./grade exec ./tree");
  EXPECT_EQ(commands_leading_to(kLessonWithPictures, "loaded.cu").back(),
            "./grade exec -- python3 loaded.py");
  EXPECT_EQ(commands_leading_to(kLessonWithPictures, "other.cu").back(), "./grade exec other.cu");
}

// What the verdict of a picture depends on: not on the page's prose.
TEST(PageProgram, IsJudgedAgainWhenTheProgramOrACommandChanges) {
  const std::string page = kLessonWithPictures;
  EXPECT_EQ(inputs_of_page(page), inputs_of_page("Some words.\n\n" + page));
  EXPECT_NE(inputs_of_page(page), inputs_of_page(std::string(page).replace(40, 3, "char")));
  EXPECT_NE(inputs_of_page(page),
            inputs_of_page(std::string(page).replace(page.find("DEVICES=2") + 8, 1, "3")));
}

TEST(PageProgram, IsNamedByItsFile) {
  EXPECT_TRUE(is_of_page(mark_of("view a.cu block", 1, "page.md")));
  EXPECT_FALSE(is_of_page(mark_of("view 03/05 block", 1, "page.md")));
}

}  // namespace
}  // namespace grade
