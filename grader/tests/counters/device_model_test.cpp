// Limits and occupancy of every card, against the rules of the CUDA programming guide.
#include <gtest/gtest.h>

#include "core/gpu_model.h"
#include "profile/resources.h"
#include "ptx/select_kernels.h"

namespace warplings::sim {
namespace {

TEST(DeviceModel, AllFourAreThere) {
  ASSERT_NE(find_gpu_model("h200"), nullptr);
  ASSERT_NE(find_gpu_model("h100"), nullptr);
  ASSERT_NE(find_gpu_model("rtx3070"), nullptr);
  ASSERT_NE(find_gpu_model("t4"), nullptr);
  EXPECT_EQ(find_gpu_model("gtx480"), nullptr);
  EXPECT_EQ(find_gpu_model("h200")->compute_major, 9);
}

// A profile of a real kernel on compute capability 8.6: 128 threads, 122 registers, 12.8 KB of
// shared memory and 1 KB for the system.
TEST(Occupancy, WorkedExampleOnComputeCapability86) {
  const GpuModel& model = *find_gpu_model("rtx3070");
  const Occupancy occupancy = occupancy_of(model, 128, 122, 12800);
  EXPECT_EQ(occupancy.by_blocks, 16);
  EXPECT_EQ(occupancy.by_registers, 4);
  EXPECT_EQ(occupancy.by_shared, 4);
  EXPECT_EQ(occupancy.by_warps, 12);
  EXPECT_EQ(occupancy.blocks, 4);
  EXPECT_EQ(occupancy.shared_configuration, 65536u);
  EXPECT_NEAR(occupancy.fraction, 0.333, 0.001);
  EXPECT_NEAR(waves_of(model, occupancy, 1536), 8.35, 0.005);
}

TEST(Occupancy, EachLimitOnItsOwn) {
  const GpuModel& h200 = *find_gpu_model("h200");
  EXPECT_EQ(occupancy_of(h200, 32, 16, 0).blocks, 32);   // blocks
  EXPECT_EQ(occupancy_of(h200, 1024, 32, 0).blocks, 2);  // warps
  EXPECT_EQ(occupancy_of(h200, 256, 255, 0).blocks, 1);  // registers: 8192 per warp, 8 warps
  EXPECT_EQ(occupancy_of(h200, 128, 32, 100 * 1024).blocks, 2);  // shared: 101 of 228 KB
  EXPECT_EQ(occupancy_of(h200, 128, 32, 228 * 1024).blocks, 0);  // more than a block can have
  EXPECT_EQ(occupancy_of(h200, 1024, 65, 0).blocks, 0);          // 72 registers for 1024 threads
  const GpuModel& t4 = *find_gpu_model("t4");
  EXPECT_EQ(occupancy_of(t4, 256, 32, 0).blocks, 4);         // 1024 threads
  EXPECT_EQ(occupancy_of(t4, 64, 32, 16 * 1024).blocks, 4);  // 64 KB, nothing reserved
  EXPECT_EQ(occupancy_of(t4, 0, 32, 0).blocks, 0);
}

TEST(Occupancy, RegistersAreGivenToQuartersOfAMultiprocessor) {
  // 168 registers: 5376 per warp, 3 warps in each quarter of 16384.
  EXPECT_EQ(occupancy_of(*find_gpu_model("h200"), 32, 168, 0).by_registers, 12);
}

TEST(Resources, ReportOfPtxasIsRead) {
  const auto kernels = parse_ptxas_report(
      "ptxas info    : 0 bytes gmem\n"
      "ptxas info    : Compiling entry function '_Z3addPf' for 'sm_90'\n"
      "ptxas info    : Function properties for _Z3addPf\n"
      "    16 bytes stack frame, 24 bytes spill stores, 40 bytes spill loads\n"
      "ptxas info    : Used 122 registers, used 1 barriers, 16 bytes cumulative stack size\n");
  ASSERT_EQ(kernels.count("_Z3addPf"), 1u);
  const KernelResources& add = kernels.at("_Z3addPf");
  EXPECT_EQ(add.registers, 122);
  EXPECT_EQ(add.spill_store_bytes, 24);
  EXPECT_EQ(add.spill_load_bytes, 40);
  EXPECT_FALSE(add.estimated);
  EXPECT_TRUE(parse_ptxas_report("ptxas fatal : no such file").empty());
}

TEST(Resources, AreAskedForWithoutTheOtherKernelsOfTheModule) {
  const std::string head = ".version 9.0\n.extern .shared .align 16 .b8 pool[];\n";
  const std::string helper = ".func helper(\n)\n{\n\tret;\n}\n";
  const std::string one = ".visible .entry one(\n\t.param .u64 p\n)\n{\n\t{\n\t}\n\tret;\n}\n";
  // The call of printf: its braces are at the margin.
  const std::string other =
      ".weak .entry one_more(\n)\n;\n.weak .entry one_more(\n)\n{\n{ // callseq 0, 0\n\tcall\n} // "
      "callseq "
      "0\n\tret;\n}\n";
  const std::string tail = "\t.section .debug_str\n\t{\n\t}";
  const std::string module = head + helper + one + other + tail;
  EXPECT_EQ(ptx_of_kernel(module, "one"), head + helper + one + tail);
  EXPECT_EQ(ptx_of_kernel(module, "one_more"), head + helper + other + tail);
  EXPECT_EQ(ptx_of_kernel(module, "on"), "");
  EXPECT_EQ(ptx_of_kernel("", "one"), "");
  EXPECT_EQ(ptx::select_kernels(module, [](std::string_view) { return true; }), module);
  EXPECT_EQ(ptx::select_kernels(module, [](std::string_view) { return false; }),
            head + helper + tail);
}

TEST(Resources, ConstantsThatNothingUsesAreLeftOut) {
  const std::string mine = ".const .align 4 .b8 mine[4096];\n";
  const std::string used = ".visible .const .align 4 .u32 used = 7;\n";
  const std::string other = ".const .align 4 .b8 other[4096];\n.visible .const .f32 pi;\n";
  const std::string rest = ".global .b8 place[8];\n.entry one(\n)\n{\n\tmov.u64 %rd1, used;\n}\n";
  const auto unwanted = [](std::string_view name) { return name != "mine"; };
  EXPECT_EQ(ptx::leave_out_constants(mine + other + used + rest, unwanted), mine + used + rest);
  EXPECT_EQ(ptx::leave_out_constants("", unwanted), "");
}

}  // namespace
}  // namespace warplings::sim
