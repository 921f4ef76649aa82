// NCCL with one process per rank: results, and every wait has an end. This program makes no call of
// CUDA itself: each rank is a fork of it.
#include <cuda_runtime.h>
#include <gtest/gtest.h>
#include <nccl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <warplings/sim.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

namespace {

constexpr size_t kCount = 40000;  // floats: more than a socket holds

// What a rank is and has.
struct Rank {
  int rank, ranks;
  ncclUniqueId id;
  ncclComm_t comm = nullptr;
  cudaStream_t stream = nullptr;
  float *from = nullptr, *to = nullptr;  // ranks * kCount floats; from[i] = rank + 1 + i % 5

  ncclResult_t join() { return ncclCommInitRank(&comm, ranks, id, rank); }
  void allocate() {
    const size_t n = ranks * kCount;
    std::vector<float> values(n);
    for (size_t i = 0; i < n; ++i) values[i] = static_cast<float>(rank + 1 + i % 5);
    cudaStreamCreate(&stream);
    cudaMalloc(reinterpret_cast<void**>(&from), n * sizeof(float));
    cudaMalloc(reinterpret_cast<void**>(&to), n * sizeof(float));
    cudaMemcpy(from, values.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemset(to, 0, n * sizeof(float));
    cudaDeviceSynchronize();
  }
  float at(size_t i) {
    float value = 0;
    cudaMemcpyAsync(&value, to + i, sizeof value, cudaMemcpyDeviceToHost, stream);
    cudaStreamSynchronize(stream);
    return value;
  }
};

// The kinds of what was found, one after the other, and the last message.
std::string findings() {
  std::string text;
  for (int i = 0; i < wsim_finding_count(); ++i) {
    wsim_finding finding;
    if (wsim_get_finding(i, &finding) == 0)
      text += std::string(finding.kind) + ": " + finding.message;
  }
  return text;
}

// What joining returned, and what was found.
std::string joined(Rank& r) {
  const ncclResult_t result = r.join();
  return std::to_string(result) + findings();
}

// What each rank says, in the order of the ranks.
std::vector<std::string> in_processes(int ranks, const std::function<std::string(Rank&)>& body,
                                      const char* seconds = "5") {
  ::setenv("GRADE_SIM_NCCL_SECONDS", seconds, 1);
  ncclUniqueId id;
  EXPECT_EQ(ncclGetUniqueId(&id), ncclSuccess);
  std::vector<pid_t> children;
  std::vector<int> pipes;
  for (int rank = 0; rank < ranks; ++rank) {
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(60);
      Rank mine{rank, ranks, id};
      const std::string text = body(mine);
      static_cast<void>(!::write(ends[1], text.data(), text.size()));
      ::_exit(0);
    }
    ::close(ends[1]);
    children.push_back(child);
    pipes.push_back(ends[0]);
  }
  std::vector<std::string> said;
  for (int rank = 0; rank < ranks; ++rank) {
    std::string text;
    char bytes[512];
    for (ssize_t n; (n = ::read(pipes[rank], bytes, sizeof bytes)) > 0;) text.append(bytes, n);
    ::close(pipes[rank]);
    ::waitpid(children[rank], nullptr, 0);
    said.push_back(text);
  }
  return said;
}

bool has(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos;
}

TEST(NcclProcesses, CollectivesGiveTheirResults) {
  const auto said = in_processes(3, [](Rank& r) {
    if (r.join() != ncclSuccess) return "did not join: " + findings();
    r.allocate();
    std::string wrong;
    const auto expect = [&](const char* what, size_t i, float value) {
      const float got = r.at(i);
      if (got != value) wrong += std::string(what) + ": " + std::to_string(got) + " ";
    };
    ncclAllReduce(r.from, r.to, kCount, ncclFloat, ncclSum, r.comm, r.stream);
    expect("all-reduce", kCount - 1, 1 + 2 + 3 + 3 * ((kCount - 1) % 5));
    ncclBroadcast(r.from, r.to, kCount, ncclFloat, 2, r.comm, r.stream);
    expect("broadcast", 4, 3 + 4);
    ncclAllGather(r.from, r.to, kCount, ncclFloat, r.comm, r.stream);
    expect("all-gather", kCount + 1, 2 + 1);
    ncclReduceScatter(r.from, r.to, kCount, ncclFloat, ncclMax, r.comm, r.stream);
    expect("reduce-scatter", 0, 3 + r.rank * kCount % 5);
    ncclReduce(r.from, r.to, kCount, ncclFloat, ncclMin, 1, r.comm, r.stream);
    if (r.rank == 1) expect("reduce", 2, 1 + 2);
    ncclGroupStart();
    ncclSend(r.from, kCount, ncclFloat, (r.rank + 1) % 3, r.comm, r.stream);
    ncclRecv(r.to, kCount, ncclFloat, (r.rank + 2) % 3, r.comm, r.stream);
    ncclSend(r.from, 1, ncclFloat, r.rank, r.comm, r.stream);
    ncclRecv(r.to + kCount, 1, ncclFloat, r.rank, r.comm, r.stream);
    ncclGroupEnd();
    expect("ring", 3, (r.rank + 2) % 3 + 1 + 3);
    expect("to itself", kCount, r.rank + 1);
    ncclCommDestroy(r.comm);
    return wrong + findings();
  });
  EXPECT_EQ(said, std::vector<std::string>(3, ""));
}

TEST(NcclProcesses, CallsWaitInTheirStreamAndNotOnTheHost) {
  // Each rank queues two calls before the other one can have made its own.
  const auto said = in_processes(2, [](Rank& r) {
    if (r.join() != ncclSuccess) return "did not join: " + findings();
    r.allocate();
    for (int i = 0; i < 2; ++i) {
      ncclAllReduce(r.from, r.from, kCount, ncclFloat, ncclSum, r.comm, r.stream);
    }
    cudaMemcpyAsync(r.to, r.from, sizeof(float), cudaMemcpyDeviceToDevice, r.stream);
    return std::to_string(r.at(0)) + findings();
  });
  EXPECT_EQ(said, std::vector<std::string>(2, std::to_string(6.0f)));
}

TEST(NcclProcesses, DifferentSizesAreToldToAllRanks) {
  const auto said = in_processes(2, [](Rank& r) {
    r.join();
    r.allocate();
    ncclAllReduce(r.from, r.to, r.rank == 0 ? 8 : 9, ncclFloat, ncclSum, r.comm, r.stream);
    cudaStreamSynchronize(r.stream);
    ncclResult_t after = ncclSuccess;
    ncclCommGetAsyncError(r.comm, &after);
    return std::to_string(after) + findings();
  });
  for (const std::string& text : said) {
    EXPECT_EQ(text.substr(0, 15), "5nccl-mismatch:") << text;
    EXPECT_TRUE(has(text, "elements, not")) << text;
  }
}

TEST(NcclProcesses, ARankThatEndsIsNoticedAtOnce) {
  const auto begin = std::chrono::steady_clock::now();
  const auto said = in_processes(
      2,
      [](Rank& r) {
        r.join();
        if (r.rank == 1) return std::string();
        r.allocate();
        ncclAllReduce(r.from, r.to, kCount, ncclFloat, ncclSum, r.comm, r.stream);
        cudaStreamSynchronize(r.stream);
        const ncclResult_t next =
            ncclAllReduce(r.from, r.to, 1, ncclFloat, ncclSum, r.comm, r.stream);
        return std::to_string(next) + findings();
      },
      "30");
  EXPECT_TRUE(has(said[0], "6nccl-rank-gone")) << said[0];
  EXPECT_TRUE(has(said[0], "rank 1 (process ")) << said[0];
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

TEST(NcclProcesses, AMissingCallIsADeadlock) {
  const auto said = in_processes(
      2,
      [](Rank& r) {
        r.join();
        r.allocate();
        if (r.rank == 1) {  // waits for something else, until rank 0 has given up
          ::setenv("GRADE_SIM_NCCL_SECONDS", "30", 1);
          ncclRecv(r.to, 8, ncclFloat, 0, r.comm, r.stream);
          cudaStreamSynchronize(r.stream);
          return findings();
        }
        ncclBroadcast(r.from, r.to, 8, ncclFloat, 0, r.comm, r.stream);
        cudaStreamSynchronize(r.stream);
        return findings();
      },
      "1");
  EXPECT_TRUE(has(said[0], "nccl-deadlock")) << said[0];
  EXPECT_TRUE(has(said[0], "has not made this call within 1 s")) << said[0];
  EXPECT_TRUE(has(said[1], "nccl-rank-gone")) << said[1];
}

TEST(NcclProcesses, SendsThatCrossWithoutAGroupAreADeadlock) {
  const auto said = in_processes(
      2,
      [](Rank& r) {
        r.join();
        r.allocate();
        ncclSend(r.from, 8, ncclFloat, 1 - r.rank, r.comm, r.stream);
        ncclRecv(r.to, 8, ncclFloat, 1 - r.rank, r.comm, r.stream);
        cudaStreamSynchronize(r.stream);
        return findings();
      },
      "1");
  // Whoever has waited longer reports first, and ends.
  EXPECT_TRUE(has(said[0] + said[1], "nccl-deadlock: ncclSend")) << said[0] << said[1];
  for (const std::string& text : said) EXPECT_TRUE(has(text, "waits in vain: rank ")) << text;
}

TEST(NcclProcesses, ARankThatNeverJoinsIsNamed) {
  const auto said = in_processes(
      3,
      [](Rank& r) {
        if (r.rank == 1) return std::string();
        return joined(r);
      },
      "1");
  EXPECT_TRUE(has(said[0], "3nccl-deadlock")) << said[0];
  EXPECT_TRUE(has(said[0], "waits for rank 1 of 3 to join")) << said[0];
  EXPECT_TRUE(has(said[2], "waits for rank 1 of 3 to join")) << said[2];
}

TEST(NcclProcesses, AnotherNumberOfRanksIsFound) {
  const auto said = in_processes(
      2,
      [](Rank& r) {
        r.ranks = 2 + r.rank;
        return joined(r);
      },
      "2");
  EXPECT_TRUE(has(said[0], "5nccl-mismatch")) << said[0];
  EXPECT_TRUE(has(said[0], "joins 2 ranks, and rank 1")) << said[0];
  EXPECT_TRUE(has(said[1], "5nccl-mismatch")) << said[1];
}

TEST(NcclProcesses, TwoProcessesWithOneRankAreFound) {
  const auto said = in_processes(
      2,
      [](Rank& r) {
        r.rank = 0;
        return joined(r);
      },
      "1");
  EXPECT_TRUE(has(said[0] + said[1], "another process has joined as that rank already"))
      << said[0] << said[1];
}

}  // namespace
