// grade profile and grade trace on a real kernel: nvcc, the kit, the simulator.
#include <gtest/gtest.h>

#include "course/json.h"
#include "pty_session.h"
#include "real_course.h"

namespace grade::test {
namespace {

constexpr const char* kSum = "    c[i] = a[i] + b[i];\n";

class LookInside : public testing::Test {
 protected:
  Ran grade(const std::vector<std::string>& arguments, const std::string& sum = kSum) {
    course_.save(RealCourse::solution_with(kSum, sum), RealCourse::kVectorAdd);
    const Ran ran = course_.grade(arguments);
    // In a pipe, source lines are whole.
    if (arguments[0] != "profile") {
      EXPECT_LE(widest(ran.out), 80u) << ran.out;
    }
    return ran;
  }

  RealCourse course_;
};

TEST_F(LookInside, ProfileShowsCountersBesideTheSource) {
  const Ran ran = grade({"profile", "vector_add/01"});
  EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
  EXPECT_TRUE(has(ran.out, "vector_add  the largest of")) << ran.out;
  EXPECT_TRUE(has(ran.out, "c[i] = a[i] + b[i];")) << ran.out;
  EXPECT_TRUE(has(ran.out, "modelled (H200)")) << ran.out;
}

TEST_F(LookInside, ProfileNamesTheCardThatWasChosenAndRefusesOthers) {
  EXPECT_TRUE(has(grade({"profile", "vector_add/01", "--model", "t4"}).out, "modelled (T4)"));
  const Ran wrong = grade({"profile", "vector_add/01", "--model", "voodoo"});
  EXPECT_EQ(wrong.status, 2);
  EXPECT_TRUE(has(wrong.err, "h200, rtx3070 or t4")) << wrong.err;
}

TEST_F(LookInside, ProfileAsJsonIsVersioned) {
  course_.save(RealCourse::solution_with(kSum, kSum), RealCourse::kVectorAdd);
  const Ran ran = course_.grade({"profile", "vector_add/01", "--json"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  const course::Json json = course::parse_json(ran.out, "out");
  EXPECT_EQ(json.number_or("format"), 1);
  EXPECT_EQ(json.string_or("kind"), "profile");
  EXPECT_EQ(json.string_or("exercise"), RealCourse::kVectorAdd);
}

TEST_F(LookInside, TraceShowsTheValuesOfAThread) {
  const Ran ran = grade({"trace", "vector_add/01", "--thread", "1"});
  EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
  EXPECT_TRUE(has(ran.out, "block (0, 0, 0), warp 0 of 8: threads 0 to 31")) << ran.out;
  EXPECT_TRUE(has(ran.out, "a[1] -> ")) << ran.out;
  EXPECT_TRUE(has(ran.out, "c[1] <- ")) << ran.out;
  EXPECT_FALSE(has(ran.out, "thread 0:")) << ran.out;
}

TEST_F(LookInside, TraceShowsASmallSharedArrayBehindTheBarrier) {
  const Ran ran = grade({"trace", "vector_add/01", "--thread", "1"},
                        "    __shared__ int tile[6];\n"
                        "    if (threadIdx.x < 5) tile[threadIdx.x] = 10 * threadIdx.x;\n"
                        "    __syncthreads();\n"
                        "    c[i] = a[i] + b[i] + tile[2];\n");
  EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
  const size_t barrier = ran.out.find("arrives at the barrier");
  const size_t tile = ran.out.find("tile[0]  0 10 20 30 40  ?\n");
  ASSERT_NE(tile, std::string::npos) << ran.out;
  EXPECT_LT(barrier, tile) << ran.out;
  EXPECT_GT(ran.out.find("c[1] <- "), tile) << ran.out;
}

// There the program that is traced may write nowhere but where it is told to.
TEST(LookInsideElsewhere, TraceAndProfileWorkOutsideOfTheTemporaryFolder) {
  const RealCourse course(fs::path(GRADE_BUILD) / "course");
  course.save(RealCourse::solution_with(kSum, kSum), RealCourse::kVectorAdd);
  const Ran trace = course.grade({"trace", "vector_add/01", "--thread", "1"});
  EXPECT_EQ(trace.status, 0) << trace.out << trace.err;
  EXPECT_TRUE(has(trace.out, "c[1] <- ")) << trace.out;
  const Ran profile = course.grade({"profile", "vector_add/01"});
  EXPECT_EQ(profile.status, 0) << profile.out << profile.err;
}

TEST_F(LookInside, TraceRefusesWhatIsNoBlockOrLine) {
  const Ran ran = grade({"trace", "vector_add/01", "--block", "first"});
  EXPECT_EQ(ran.status, 2);
  EXPECT_TRUE(has(ran.err, "--block does not take \"first\"")) << ran.err;
  const Ran none = grade({"trace", "vector_add/01", "--block", "999999999"});
  EXPECT_EQ(none.status, 1);
  EXPECT_TRUE(has(none.err, "launched no kernel, or none that has this")) << none.err;
}

}  // namespace
}  // namespace grade::test
