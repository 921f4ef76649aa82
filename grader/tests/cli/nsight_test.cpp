// What Nsight Compute prints, read and set beside the simulator's counters. The lines have the form
// that ncu 2025 gave on an H200 with --csv --print-units base.
#include "cli/nsight.h"

#include <gtest/gtest.h>

namespace grade {
namespace {

constexpr char kOutput[] =
    "==PROF== Connected to process 4711\n"
    "hello, \"ID\"entical twin\n"
    "==PROF== Disconnected\n"
    "\"ID\",\"Process ID\",\"Kernel Name\",\"Block Size\",\"Metric Name\",\"Metric Unit\",\"Metric "
    "Value\"\n"
    "\"0\",\"4711\",\"add(const float *, float *, int)\",\"(32, 1, "
    "1)\",\"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum\",\"sector\",\"1,024\"\n"
    "\"0\",\"4711\",\"add(const float *, float *, int)\",\"(32, 1, "
    "1)\",\"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum\",\"request\",\"n/a\"\n"
    "\"0\",\"4711\",\"add(const float *, float *, int)\",\"(32, 1, "
    "1)\",\"gpu__time_duration.sum\",\"nsecond\",\"2,500\"\n"
    "\"1\",\"4711\",\"void tiled<(int)32>(float *)\",\"(32, 1, "
    "1)\",\"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum\",\"sector\",\"8\"\n"
    "\"0\",\"4711\",\"add(const float *, float *, int)\",\"(32, 1, "
    "1)\",\"smsp__inst_executed.sum\",\"inst\",\"80\"\n"
    "\"2\",\"4711\",\"add(const float *, float *, int)\",\"(32, 1, "
    "1)\",\"smsp__inst_executed.sum\",\"inst\",\"9\"\n"
    "\"2\",\"4711\",\"add(const float *, float *, int)\",\"(32, 1, "
    "1)\",\"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum\",\"sector\",\"6\"\n";

TEST(Nsight, TakesTheLargestLaunchOfAKernel) {
  const CountersByKernel kernels = parse_nsight(kOutput);
  ASSERT_EQ(kernels.size(), 2u);
  const KernelCounters& add = kernels.at("add");
  EXPECT_EQ(add.launches, 2);
  EXPECT_EQ(add.metrics.at("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"), 1024);
  EXPECT_EQ(add.metrics.count("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"), 0u);  // n/a
  EXPECT_EQ(kernels.at("tiled").launches, 1);
}

TEST(Nsight, ShowsBothSidesOfTheKernelsThatBothSaw) {
  const course::Json profile = course::parse_json(
      "{\"kernels\": [{\"name\": \"add\", \"totals\": {\"global_load_sectors\": 1024,"
      " \"warp_instructions\": 77}}]}",
      "profile");
  Terminal terminal;
  EXPECT_EQ(nsight_table(parse_nsight(kOutput), simulated_counters(profile), terminal),
            "                                     hardware        simulator\n"
            "add  the largest of 2 launches\n"
            "  global load sectors                    1024             1024\n"
            "  warp instructions                        80               77\n"
            "  time                                 2.5 us                 \n");
}

TEST(Nsight, SaysWhyThereAreNoCounters) {
  EXPECT_EQ(nsight_problem(kOutput), "");
  EXPECT_NE(nsight_problem("==ERROR== ERR_NVGPUCTRPERM - The user does not have permission")
                .find("NVreg_RestrictProfilingToAdminUsers=0"),
            std::string::npos);
  EXPECT_EQ(nsight_problem("==ERROR== Failed to connect\nmore"),
            "Nsight Compute gave no counters: ==ERROR== Failed to connect");
  EXPECT_TRUE(parse_nsight("nothing").empty());
}

}  // namespace
}  // namespace grade
