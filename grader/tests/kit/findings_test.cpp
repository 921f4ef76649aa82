// What the kit tells the simulator about its bytes, and what it makes of findings. Each test of the
// first group fails when the wsim_mark_* call that it is about is removed from the kit.
#include "failure_of.h"
#include "kernels.h"
#include "kit/context.h"
#include "kit/kit.h"

using kit_tests::failure_of;

namespace {
using kit_tests::contains;

// What kit::run says when one thread reads p[offset] and branches on it.
std::string read_at(const kit::DeviceBuffer<float>& p, int offset) {
  const auto out = kit::DeviceBuffer<float>::output(1, "out");
  return failure_of([&] { kit::run([&] { launch_branch_on(p.get(), offset, out.get()); }); });
}

}  // namespace

TEST(KitFindings, DeclarePoisonAsUnwritten) {
  const auto y = kit::DeviceBuffer<float>::output(8, "y");
  EXPECT_NE(read_at(y, 3), "") << "wsim_mark_unwritten is missing: poison hides the read";
}

TEST(KitFindings, DeclarePoisonAgainAfterADownload) {
  const auto y = kit::DeviceBuffer<float>::output(8, "y");
  y.download();
  EXPECT_NE(read_at(y, 3), "") << "a download must not count as writing";
}

TEST(KitFindings, DeclareRedZonesOutOfBounds) {
  const auto x = kit::DeviceBuffer<float>::input(std::vector<float>(8, 1.0f), "x");
  EXPECT_EQ(read_at(x, 7), "");
  EXPECT_NE(read_at(x, 8), "") << "wsim_mark_red_zone is missing: the pattern hides the read";
}

TEST(KitFindings, DeclareTheRedZoneBeforeABuffer) {
  const auto x = kit::DeviceBuffer<float>::input(std::vector<float>(8, 1.0f), "x");
  EXPECT_NE(read_at(x, -1), "") << "wsim_mark_red_zone is missing: the pattern hides the read";
}

TEST(KitFindings, SeeReadsPastABufferAtTheEndOfItsAllocation) {
  const std::vector<float> values(8, 1.0f);
  const auto x = kit::DeviceBuffer<float>::input(values, "x", kit::Placement::kAtEnd);
  EXPECT_EQ(read_at(x, 7), "");
  EXPECT_NE(read_at(x, 8), "");
}

TEST(KitFindings, MayBeExpected) {
  kit::expect_finding("initcheck");
  const auto y = kit::DeviceBuffer<float>::output(8, "y");
  const auto out = kit::DeviceBuffer<float>::output(1, "out");
  EXPECT_TRUE(kit::run([&] { launch_branch_on(y.get(), 0, out.get()); }).ok());
}

TEST(KitFindings, MustComeWhenExpected) {
  kit::expect_finding("racecheck");
  const std::string message = failure_of([] { kit::check_expected_findings(); });
  kit::context().expected_findings.clear();
  EXPECT_TRUE(contains(message, "racecheck found nothing")) << message;
}

TEST(KitFindings, ThatAreNotExpectedStillFail) {
  kit::expect_finding("memcheck");
  const auto y = kit::DeviceBuffer<float>::output(8, "y");
  EXPECT_NE(read_at(y, 0), "");
  kit::context().expected_findings.clear();
}

// The other warp has not written yet when a value is read: the missing barrier is the cause, and it
// is seen later than its effect.
TEST(KitFindings, TellTheRaceBeforeTheUnwrittenValueThatItCauses) {
  const auto x = kit::DeviceBuffer<float>::input(std::vector<float>(64, 1.0f), "x");
  const auto y = kit::DeviceBuffer<float>::output(64, "y");
  const std::string message =
      failure_of([&] { kit::run([&] { launch_reversed_without_barrier(x.get(), y.get(), 64); }); });
  EXPECT_TRUE(contains(message, "A __syncthreads() between the two accesses orders them"))
      << message;
  EXPECT_FALSE(contains(message, "nothing has written")) << message;
}
