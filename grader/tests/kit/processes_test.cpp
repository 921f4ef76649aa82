#include "kit/processes.h"

#include <cuda_runtime_api.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>

#include "failure_of.h"
#include "kit/kit.h"
#include "kit/scratch_folder.h"

using kit_tests::failure_of;

namespace {

bool has(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos;
}

std::string failure_in(const char* name, int ranks, const std::string& text = "") {
  return failure_of([&] { kit::run_processes(name, ranks, text); });
}

}  // namespace

KIT_PROCESS(write_own_file) {
  std::ofstream(me.text + "/" + std::to_string(me.rank)) << me.rank << " of " << me.ranks;
  return "";
}
KIT_PROCESS(last_complains) {
  return me.rank == me.ranks - 1 ? "does not like " + me.text + "." : std::string();
}
KIT_PROCESS(first_crashes) {
  if (me.rank == 0) ::raise(SIGKILL);
  return "";
}
KIT_PROCESS(first_exits) {
  if (me.rank == 0) std::exit(0);
  return "";
}
KIT_PROCESS(frees_twice) {
  void* memory = nullptr;
  cudaMalloc(&memory, 16);
  cudaFree(memory);
  cudaFree(memory);
  return "";
}
KIT_PROCESS(one_waits_for_ever) {
  if (me.rank == 0) return "gives up.";
  while (true) ::pause();
}

TEST(KitProcesses, EachKnowsItsRank) {
  const kit::ScratchFolder folder;
  EXPECT_EQ(failure_in("write_own_file", 3, folder.path()), "");
  for (int rank = 0; rank < 3; ++rank) {
    std::ifstream file(folder.path() + "/" + std::to_string(rank));
    std::string text;
    std::getline(file, text);
    EXPECT_EQ(text, std::to_string(rank) + " of 3");
  }
}

TEST(KitProcesses, WhatOneSaysIsTheFailure) {
  EXPECT_TRUE(
      has(failure_in("last_complains", 2, "this, that"), "Rank 1 does not like this, that."))
      << failure_in("last_complains", 2, "this, that");
}

TEST(KitProcesses, EarlyEndsAreFailures) {
  EXPECT_TRUE(has(failure_in("first_crashes", 2), "Rank 0 crashed (signal 9)"));
  EXPECT_TRUE(has(failure_in("first_exits", 2), "Rank 0 ended with status 1"));
  EXPECT_TRUE(has(failure_in("nobody_is_called_so", 1), "Rank 0 cannot begin: there is no"));
}

TEST(KitProcesses, AFindingIsAFailure) {
  EXPECT_TRUE(has(failure_in("frees_twice", 1), "Rank 0 has a finding:"));
}

TEST(KitProcesses, WhoeverIsLeftWaitingIsStopped) {
  const std::string message = failure_in("one_waits_for_ever", 2);
  EXPECT_TRUE(has(message, "Rank 0 gives up.")) << message;
}

TEST(KitProcesses, AScratchFolderGoesWithItsScope) {
  std::string path;
  {
    const kit::ScratchFolder folder;
    path = folder.path();
    EXPECT_EQ(::access(path.c_str(), F_OK), 0);
  }
  EXPECT_NE(::access(path.c_str(), F_OK), 0);
}
