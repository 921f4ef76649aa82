// What a code block gives away of an answer, and how much of a solution its learner writes.
#include "cli/gates/giveaway.h"

#include <gtest/gtest.h>

#include <random>

#include "cli/gates/fading_table.h"

namespace grade {
namespace {

const char kAnswer[] =
    "const int i = blockIdx.x * blockDim.x + threadIdx.x;\nif (i < n) {\n  c[i] = a[i] + "
    "b[i];\n}\n";

double share(const std::string& answer, const std::string& block) {
  return share_given(tokens_of(answer), tokens_of(block));
}

TEST(Giveaway, OtherNamesNumbersSpacesAndCommentsHideNothing) {
  EXPECT_DOUBLE_EQ(share(kAnswer, kAnswer), 1.0);
  EXPECT_DOUBLE_EQ(share(kAnswer,
                         "const int at=blockIdx.x*blockDim.x+threadIdx.x;  // where\n"
                         "if (at < count) { out[at] = left[at] + right[at]; }"),
                   1.0);
  EXPECT_DOUBLE_EQ(share("x = y * 2.5f + 17;", "a = b * 1 + 0x20;"), 1.0);
}

TEST(Giveaway, AnotherProblemGivesLittle) {
  EXPECT_LT(share(kAnswer, "for (int k = threadIdx.x; k < n; k += blockDim.x) sum += x[k];"), 0.5);
  EXPECT_DOUBLE_EQ(share(kAnswer, ""), 0.0);
  EXPECT_DOUBLE_EQ(share(kAnswer, "cudaMalloc(&d_x, n);"), 0.0);
}

TEST(Giveaway, PiecesAddUpInAnyOrderAndCountOnce) {
  const std::string first = "const int i = blockIdx.x * blockDim.x + threadIdx.x;\n";
  const std::string rest = "if (i < n) {\n  c[i] = a[i] + b[i];\n}\n";
  EXPECT_DOUBLE_EQ(share(kAnswer, rest + "return;\n" + first), 1.0);
  EXPECT_DOUBLE_EQ(share(kAnswer, first + first + first), share(kAnswer, first));
  EXPECT_GT(share(kAnswer, first), 0.3);
  EXPECT_LT(share(kAnswer, first), 0.6);
}

TEST(Giveaway, AnUpperBoundIsNeverBelowTheShare) {
  std::mt19937 random(7);
  int tight = 0;
  for (int i = 0; i < 400; ++i) {
    std::vector<std::string> answer(random() % 40), block(random() % 60);
    for (std::string& token : answer) token = random() % 3 == 0 ? "x" : "y";
    for (std::string& token : block) token = random() % 3 == 0 ? "x" : "y";
    const std::vector<size_t> pieces = pieces_of(block);
    const double most = most_given(pieces_of(answer), {pieces.begin(), pieces.end()});
    const double share = share_given(answer, block);
    EXPECT_GE(most, share);
    if (answer.size() >= 8 && most == share) ++tight;
  }
  EXPECT_GT(tight, 40);
}

TEST(Fading, CountsLinesOfCodeOfBothKinds) {
  const Written written = written_of(
      "// title\n#include \"x.h\"\n\nvoid f() {\n  //~ // TODO(1): set it.\n  //~begin 1\n"
      "  // why\n  int a = 1;\n  use(a);\n  //~end\n}\n",
      "x.cu");
  EXPECT_EQ(written.by_learner, 2);
  EXPECT_EQ(written.all, 4);
  EXPECT_DOUBLE_EQ(written.percent(), 50);
}

}  // namespace
}  // namespace grade
