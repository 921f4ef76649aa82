// The words of `grade profile`, from profiles written by hand.
#include "cli/profile_text.h"

#include <gtest/gtest.h>

#include "scratch_course.h"

namespace grade::test {
namespace {

std::string access(const std::string& kind, int requests, int transactions, int excess,
                   const std::string& more) {
  return R"({"kind": ")" + kind + R"(", "requests": )" + std::to_string(requests) +
         R"(, "transactions": )" + std::to_string(transactions) + R"(, "excess": )" +
         std::to_string(excess) + more + "}";
}

// One kernel: line 3 does nothing remarkable, line 4 has the access.
std::string profile_json(const std::string& one_access, int lanes, double stalled) {
  return
      R"({"format": 1, "kind": "profile", "model": "H200", "kernels": [{"name": "scale",
      "launches": 3, "launch": {"grid": [8, 2, 1], "block": [128, 1, 1], "shared": 512,
      "file": "none.cu", "line": 9},
      "cost": {"seconds": 2.5e-6, "limiter": "dram", "limiter_words": "DRAM bandwidth", "slice": 66,
      "multiprocessors": 2, "waves": 1, "registers": 16, "registers_estimated": true,
      "spill_bytes": 0, "occupancy": {"blocks": 16, "fraction": 1, "by_blocks": 32,
      "by_registers": 32, "by_shared": 100, "by_warps": 16}, "busy": {"dram": 0.9},
      "l1_hit_rate": 0.5, "l2_hit_rate": 0.25, "dram_bytes": 4096},
      "totals": {"warp_instructions": 200, "thread_instructions": 6400},
      "lines": [{"file": "none.cu", "line": 3, "stalled": 0.1,
      "counters": {"warp_instructions": 100, "thread_instructions": 3200}, "accesses": []},
      {"file": "none.cu", "line": 4, "stalled": )" +
      std::to_string(stalled) + R"(, "counters": {"warp_instructions": 100,
      "thread_instructions": )" +
      std::to_string(100 * lanes) + R"(}, "accesses": [)" + one_access + "]}]}]}";
}

course::Json profile_of(const std::string& one_access, int lanes = 32, double stalled = 0.2) {
  return course::parse_json(profile_json(one_access, lanes, stalled), "profile");
}

std::string reason(const course::Json& profile) {
  const WorstLine worst = worst_line(profile.find("kernels")->items.front());
  return std::to_string(worst.line) + " " + worst.reason;
}

TEST(WorstLine, StridedLoadNamesSectorsAndDistance) {
  const std::string words =
      reason(profile_of(access("global load", 100, 3200, 0,
                               R"(, "bytes": 12800, "unique_bytes": 12800, "distance": 4096)")));
  EXPECT_TRUE(has(words, "4 Each request touches 32 sectors of 32 bytes, 4 would do")) << words;
  EXPECT_TRUE(has(words, "neighbouring threads read addresses 4096 bytes apart")) << words;
}

TEST(WorstLine, MisalignedStoreIsNotCalledStrided) {
  const std::string words = reason(profile_of(access(
      "global store", 100, 500, 0, R"(, "bytes": 12800, "unique_bytes": 12800, "distance": 4)")));
  EXPECT_TRUE(has(words, "touches 5 sectors of 32 bytes, 4 would do")) << words;
  EXPECT_TRUE(has(words, "do not begin where a sector does")) << words;
}

TEST(WorstLine, BankConflictNamesPasses) {
  const std::string words = reason(
      profile_of(access("shared load", 100, 3200, 3100, R"(, "bytes": 12800, "distance": 128)")));
  EXPECT_TRUE(has(words, "takes 32 passes through shared memory, 1 would do")) << words;
}

TEST(WorstLine, AtomicsLocalMemoryAndDivergenceHaveTheirOwnWords) {
  EXPECT_TRUE(has(reason(profile_of(access("global atomic", 100, 100, 3100, ""))), "32 steps"));
  EXPECT_TRUE(has(reason(profile_of(access("local load", 100, 400, 0, ""))), "local memory"));
  EXPECT_TRUE(has(reason(profile_of("", 8)), "On average 8 of 32 lanes"));
}

TEST(WorstLine, WithoutWasteItIsWhereWarpsWait) {
  const std::string clean = access("global load", 100, 400, 0,
                                   R"(, "bytes": 12800, "unique_bytes": 12800, "distance": 4)");
  EXPECT_TRUE(has(reason(profile_of(clean, 32, 0.6)), "4 60 % of the waiting"));
  EXPECT_EQ(reason(profile_of(clean, 32, 0.1)), "0 ");
}

TEST(ProfileText, FitsInEightyColumnsAndLabelsWhatIsModelled) {
  Terminal plain;
  const course::Json profile = profile_of(access(
      "global load", 100, 3200, 0, R"(, "bytes": 12800, "unique_bytes": 12800, "distance": 4096)"));
  const std::string text = profile_text(profile, "01_begin/01_first", "", false, plain);
  EXPECT_LE(widest(text), 80u) << text;
  EXPECT_TRUE(has(text, "the largest of 3 launches: 16 blocks of 128 threads")) << text;
  EXPECT_TRUE(has(text, ">     4     100  32.0")) << text;
  EXPECT_TRUE(has(text, "modelled (H200) 2.5 us on 2 multiprocessors")) << text;
  EXPECT_TRUE(has(text, "16 registers, estimated")) << text;
  EXPECT_TRUE(
      has(profile_text(profile, "x", "nothing", false, plain), "No kernel with \"nothing\""));
}

TEST(ProfileText, SourceLinesAreAsWideAsTheTerminal) {
  const fs::path file = fs::temp_directory_path() / "wide_source_of_profile_text.cu";
  const std::string source = "  c[i] = " + std::string(120, 'x') + ";";
  write_file(file, "\n\n\n" + source + "\n");
  std::string json = profile_json("", 32, 0.2);
  for (size_t at = json.find("\"none.cu\""); at != std::string::npos;
       at = json.find("\"none.cu\"")) {
    json.replace(at, 9, "\"" + file.string() + "\"");
  }
  const course::Json profile = course::parse_json(json, "profile");
  Terminal terminal;
  EXPECT_TRUE(has(profile_text(profile, "x", "", false, terminal), source)) << "whole in a pipe";
  for (const int width : {60, 120}) {
    terminal.width = width;
    const std::string text = profile_text(profile, "x", "", false, terminal);
    const size_t at = text.find("  c[i] = "), end = text.find('\n', at);
    EXPECT_EQ(end - text.rfind('\n', at) - 1, static_cast<size_t>(std::max(width, 61))) << text;
  }
  fs::remove(file);
}

TEST(ProfileText, TellsTheCauseAndTheCureOnlyToWhoAsks) {
  const course::Json profile =
      profile_of(access("shared load", 100, 3200, 3100, R"(, "bytes": 12800, "distance": 128)"));
  const std::string cause = profile_text(profile, "x", "", false, Terminal());
  EXPECT_TRUE(has(cause, "--advice")) << cause;
  EXPECT_FALSE(has(cause, "moves them apart")) << cause;
  const std::string cure = profile_text(profile, "x", "", true, Terminal());
  EXPECT_TRUE(has(cure, "moves them apart")) << cure;
}

TEST(ProfileText, AKernelWithoutSharedMemoryIsNotLimitedByIt) {
  std::string json = profile_json("", 32, 0.2);
  const std::string limits = R"("by_registers": 32, "by_shared": 100, "by_warps": 16)";
  ASSERT_TRUE(has(json, limits));
  // Small blocks: the card chooses the share for shared memory so that it costs no block.
  json.replace(json.find(limits), limits.size(),
               R"("by_registers": 64, "by_shared": 32, "by_warps": 64)");
  json.replace(json.find(R"("blocks": 16)"), 12, R"("blocks": 32)");
  const std::string text =
      profile_text(course::parse_json(json, "profile"), "x", "", false, Terminal());
  EXPECT_TRUE(has(text, "limited by the number of blocks")) << text;
}

TEST(ProfileText, TensorOperationsHaveAColumnWhereThereAreSome) {
  Terminal terminal;
  const auto text = [&](const std::string& json) {
    return profile_text(course::parse_json(json, "profile"), "title", "", false, terminal);
  };
  std::string json = profile_json("", 32, 0.2);
  EXPECT_FALSE(has(text(json), "tensor")) << text(json);
  const auto add = [&](const std::string& after, const std::string& more) {
    json.insert(json.find(after) + after.size(), more);
  };
  add(R"("totals": {)", R"("tensor_operations": 8388608, )");
  add(R"("line": 4, "stalled": 0.200000, "counters": {)", R"("tensor_operations": 8388608, )");
  EXPECT_TRUE(has(text(json), "wave  tensor  wait  source")) << text(json);
  EXPECT_TRUE(has(text(json), "8.4M   20%")) << text(json);
  EXPECT_TRUE(has(text(json), "tensor cores  8.4M operations")) << text(json);
}

}  // namespace
}  // namespace grade::test
