// Marks of pictures that come from runs: where the link stands, and which file it names.
#include "cli/gates/view_picture.h"

#include <gtest/gtest.h>

#include "course/error.h"

namespace grade {
namespace {

constexpr const char* kPage =
    "Look:\n\n<!-- from: view 03/05@mutant_1 banks:39 -->\n\n![One "
    "bank](../pictures/one.svg)\n\nso.\n";

TEST(ViewMark, TakesTheLinkBelowIt) {
  const std::vector<Mark> marks = find_marks(kPage, "page.md");
  ASSERT_EQ(marks.size(), 1u);
  EXPECT_TRUE(is_picture(marks[0]));
  EXPECT_EQ(std::string(kPage).substr(marks[0].begin, marks[0].end - marks[0].begin),
            "![One bank](../pictures/one.svg)");
}

TEST(ViewMark, NeedsALink) {
  EXPECT_THROW(find_marks("<!-- from: view 03/05 block -->\n\nNo picture.\n", "page.md"),
               course::Error);
}

TEST(ViewMark, NamesAFileBesideThePage) {
  const Mark mark = find_marks(kPage, "page.md").front();
  EXPECT_EQ(picture_file("/course/chapters/page.md", mark, "![a](../pictures/one.svg)"),
            "/course/pictures/one.svg");
  EXPECT_THROW(picture_file("/course/page.md", mark, "![a](one.png)"), course::Error);
  EXPECT_THROW(picture_file("/course/page.md", mark, "a picture"), course::Error);
}

}  // namespace
}  // namespace grade
