// NCCL on virtual devices of one process: collectives, transfers, groups, threads, mistakes.
#include <nccl.h>

#include <thread>

#include "library_fixture.h"

namespace {

constexpr int kRanks = 4;
constexpr size_t kCount = 32;

class NcclTest : public LibraryTest {
 protected:
  void SetUp() override {
    LibraryTest::SetUp();
    int devices = 0;
    ASSERT_EQ(cudaGetDeviceCount(&devices), cudaSuccess);
    ASSERT_GE(devices, kRanks) << "run with GRADE_SIM_DEVICES=4";
    ASSERT_EQ(ncclCommInitAll(comms_, kRanks, nullptr), ncclSuccess);
    on_each([this](int rank) {
      cudaDeviceReset();
      streams_[rank] = stream();
      // Rank r holds r + 1, r + 2, ...
      std::vector<float> values;
      for (size_t i = 0; i < kRanks * kCount; ++i)
        values.push_back(static_cast<float>(rank + 1 + i));
      from_[rank] = device(values);
      to_[rank] = device<float>(kRanks * kCount);
      cudaDeviceSynchronize();
    });
  }
  void TearDown() override {
    for (ncclComm_t comm : comms_) ncclCommDestroy(comm);
    on_each([](int) { cudaDeviceReset(); });
  }
  template <class Body>
  static void on_each(Body body) {
    for (int rank = 0; rank < kRanks; ++rank) {
      cudaSetDevice(rank);
      body(rank);
    }
    cudaSetDevice(0);
  }
  // One call of each rank, in a group.
  template <class Body>
  ncclResult_t grouped(Body body) {
    EXPECT_EQ(ncclGroupStart(), ncclSuccess);
    for (int rank = 0; rank < kRanks; ++rank) body(rank);
    return ncclGroupEnd();
  }
  void wait() {
    on_each([this](int rank) { EXPECT_EQ(cudaStreamSynchronize(streams_[rank]), cudaSuccess); });
  }
  ncclResult_t all_reduce(int rank, const float* send, float* receive,
                          ncclRedOp_t reduction = ncclSum) {
    return ncclAllReduce(send, receive, kCount, ncclFloat, reduction, comms_[rank], streams_[rank]);
  }
  std::vector<float> result(int rank, size_t count) {
    cudaSetDevice(rank);
    return host(to_[rank], count);
  }
  // The sum over ranks of what they hold at i.
  static float sum_at(size_t i) {
    return static_cast<float>(kRanks * (kRanks + 1) / 2 + kRanks * static_cast<int>(i));
  }

  ncclComm_t comms_[kRanks] = {};
  cudaStream_t streams_[kRanks] = {};
  float *from_[kRanks] = {}, *to_[kRanks] = {};
};

// What wsim_holding_count() says of groups that have begun and not ended.
int64_t open_groups() {
  for (int i = wsim_holding_count() - 1; i >= 0; --i) {
    wsim_holding holding;
    if (wsim_get_holding(i, &holding) != 0) continue;
    if (std::string(holding.what).find("group of NCCL calls") == 0) return holding.value;
  }
  return 0;
}

TEST_F(NcclTest, AGroupIsHeldUntilItsOutermostEnd) {
  EXPECT_EQ(open_groups(), 0);
  EXPECT_EQ(ncclGroupStart(), ncclSuccess);
  EXPECT_EQ(ncclGroupStart(), ncclSuccess);
  EXPECT_EQ(open_groups(), 1);
  EXPECT_EQ(ncclGroupEnd(), ncclSuccess);
  EXPECT_EQ(open_groups(), 1);
  EXPECT_EQ(ncclGroupEnd(), ncclSuccess);
  EXPECT_EQ(open_groups(), 0);
}

// Each collective fails where it is called, within a group too, and its group with it.
TEST_F(NcclTest, ACallOfAGroupCanBeMadeToFail) {
  wsim_fail_call(2, "nccl", ".cpp");
  std::vector<ncclResult_t> results;
  const ncclResult_t ended =
      grouped([&](int rank) { results.push_back(all_reduce(rank, from_[rank], to_[rank])); });
  EXPECT_EQ(std::string(wsim_failed_call()).find("ncclAllReduce at nccl_test.cpp:"), 0u);
  wsim_fail_call(0, "", "");
  EXPECT_EQ(results,
            (std::vector<ncclResult_t>{ncclSuccess, ncclSystemError, ncclSuccess, ncclSuccess}));
  EXPECT_EQ(ended, ncclSystemError);
  EXPECT_EQ(open_groups(), 0);
  EXPECT_EQ(grouped([&](int rank) { all_reduce(rank, from_[rank], to_[rank]); }), ncclSuccess);
  wait();
  EXPECT_EQ(result(1, 1)[0], sum_at(0));
}

TEST_F(NcclTest, ReducesToAllRanks) {
  ASSERT_EQ(grouped([this](int rank) { all_reduce(rank, from_[rank], to_[rank]); }), ncclSuccess);
  wait();
  for (int rank = 0; rank < kRanks; ++rank) {
    for (size_t i = 0; i < kCount; ++i) EXPECT_EQ(result(rank, kCount)[i], sum_at(i));
  }
  ASSERT_EQ(grouped([this](int rank) { all_reduce(rank, from_[rank], to_[rank], ncclAvg); }),
            ncclSuccess);
  wait();
  EXPECT_EQ(result(3, kCount)[5], sum_at(5) / kRanks);
  ASSERT_EQ(grouped([this](int rank) { all_reduce(rank, from_[rank], to_[rank], ncclMax); }),
            ncclSuccess);
  wait();
  EXPECT_EQ(result(0, kCount)[5], kRanks + 5);
  EXPECT_EQ(findings(), Kinds{});
}

TEST_F(NcclTest, WorksInPlace) {
  ASSERT_EQ(grouped([this](int rank) { all_reduce(rank, from_[rank], from_[rank]); }), ncclSuccess);
  wait();
  cudaSetDevice(2);
  EXPECT_EQ(host(from_[2], kCount)[7], sum_at(7));
  // All-gather and reduce-scatter: the small buffer is this rank's part of the large one.
  ASSERT_EQ(grouped([this](int rank) {
              ncclAllGather(from_[rank] + rank * kCount, from_[rank], kCount, ncclFloat,
                            comms_[rank], streams_[rank]);
            }),
            ncclSuccess);
  ASSERT_EQ(grouped([this](int rank) {
              ncclReduceScatter(from_[rank], from_[rank] + rank * kCount, kCount, ncclFloat,
                                ncclSum, comms_[rank], streams_[rank]);
            }),
            ncclSuccess);
  wait();
  EXPECT_EQ(findings(), Kinds{});
}

TEST_F(NcclTest, BroadcastsGathersAndScatters) {
  ASSERT_EQ(grouped([this](int rank) {
              ncclBroadcast(from_[rank], to_[rank], kCount, ncclFloat, 2, comms_[rank],
                            streams_[rank]);
            }),
            ncclSuccess);
  wait();
  EXPECT_EQ(result(0, kCount)[4], 3 + 4);
  ASSERT_EQ(grouped([this](int rank) {
              ncclAllGather(from_[rank], to_[rank], kCount, ncclFloat, comms_[rank],
                            streams_[rank]);
            }),
            ncclSuccess);
  wait();
  EXPECT_EQ(result(1, kRanks * kCount)[3 * kCount + 9], 4 + 9);
  ASSERT_EQ(grouped([this](int rank) {
              ncclReduceScatter(from_[rank], to_[rank], kCount, ncclFloat, ncclSum, comms_[rank],
                                streams_[rank]);
            }),
            ncclSuccess);
  wait();
  EXPECT_EQ(result(3, kCount)[1], sum_at(3 * kCount + 1));
  ASSERT_EQ(grouped([this](int rank) {
              ncclReduce(from_[rank], rank == 1 ? to_[rank] : nullptr, kCount, ncclFloat, ncclMin,
                         1, comms_[rank], streams_[rank]);
            }),
            ncclSuccess);
  wait();
  EXPECT_EQ(result(1, kCount)[2], 1 + 2);
  EXPECT_EQ(findings(), Kinds{});
}

TEST_F(NcclTest, SendsRoundARing) {
  ASSERT_EQ(grouped([this](int rank) {
              ncclSend(from_[rank], kCount, ncclFloat, (rank + 1) % kRanks, comms_[rank],
                       streams_[rank]);
              ncclRecv(to_[rank], kCount, ncclFloat, (rank + kRanks - 1) % kRanks, comms_[rank],
                       streams_[rank]);
            }),
            ncclSuccess);
  wait();
  EXPECT_EQ(result(1, kCount)[0], 1);
  EXPECT_EQ(result(0, kCount)[0], kRanks);
  EXPECT_EQ(findings(), Kinds{});
}

TEST_F(NcclTest, WaitsForEarlierWorkOfAllStreams) {
  // What rank 3 contributes is written by work that its stream has not done yet.
  cudaSetDevice(3);
  ASSERT_EQ(cudaMemsetAsync(from_[3], 0, kCount * sizeof(float), streams_[3]), cudaSuccess);
  ASSERT_EQ(grouped([this](int rank) { all_reduce(rank, from_[rank], to_[rank]); }), ncclSuccess);
  // And overwritten afterwards.
  cudaSetDevice(2);
  ASSERT_EQ(cudaMemsetAsync(from_[2], 0, kCount * sizeof(float), streams_[2]), cudaSuccess);
  cudaSetDevice(0);
  ASSERT_EQ(cudaStreamSynchronize(streams_[0]), cudaSuccess);
  EXPECT_EQ(result(0, kCount)[0], 1 + 2 + 3);
  wait();
  EXPECT_EQ(findings(), Kinds{});
}

TEST_F(NcclTest, ALoopWithoutAGroupIsADeadlock) {
  EXPECT_EQ(all_reduce(0, from_[0], to_[0]), ncclInternalError);
  EXPECT_EQ(findings(), Kinds{"api/nccl-deadlock"});
  EXPECT_NE(last_message().find("waits for ranks 1, 2, 3 of 4"), std::string::npos)
      << last_message();
  // Nothing is left behind.
  EXPECT_EQ(grouped([this](int rank) { all_reduce(rank, from_[rank], to_[rank]); }), ncclSuccess);
}

TEST_F(NcclTest, ASendThatNobodyReceivesIsADeadlock) {
  EXPECT_EQ(ncclSend(from_[0], kCount, ncclFloat, 1, comms_[0], streams_[0]), ncclInternalError);
  EXPECT_EQ(findings(), Kinds{"api/nccl-deadlock"});
  EXPECT_NE(last_message().find("waits for rank 1 to receive"), std::string::npos);
}

TEST_F(NcclTest, AThreadForEachRankNeedsNoGroup) {
  ncclUniqueId id;
  ASSERT_EQ(ncclGetUniqueId(&id), ncclSuccess);
  std::vector<std::thread> threads;
  ncclResult_t results[kRanks] = {};
  for (int rank = 0; rank < kRanks; ++rank) {
    threads.emplace_back([this, rank, id, &results] {
      cudaSetDevice(rank);
      ncclComm_t comm = nullptr;
      results[rank] = ncclCommInitRank(&comm, kRanks, id, rank);
      if (results[rank] != ncclSuccess) return;
      results[rank] =
          ncclAllReduce(from_[rank], to_[rank], kCount, ncclFloat, ncclSum, comm, streams_[rank]);
      cudaStreamSynchronize(streams_[rank]);
      ncclCommDestroy(comm);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int rank = 0; rank < kRanks; ++rank) {
    EXPECT_EQ(results[rank], ncclSuccess);
    EXPECT_EQ(result(rank, kCount)[3], sum_at(3));
  }
  EXPECT_EQ(findings(), Kinds{});
}

TEST_F(NcclTest, RanksJoinInAGroup) {
  ncclUniqueId id;
  ncclGetUniqueId(&id);
  ncclComm_t comms[2] = {};
  ASSERT_EQ(ncclGroupStart(), ncclSuccess);
  for (int rank = 0; rank < 2; ++rank) {
    cudaSetDevice(rank);
    EXPECT_EQ(ncclCommInitRank(&comms[rank], 2, id, rank), ncclSuccess);
  }
  ASSERT_EQ(ncclGroupEnd(), ncclSuccess);
  int count = 0;
  EXPECT_EQ(ncclCommCount(comms[1], &count), ncclSuccess);
  EXPECT_EQ(count, 2);
  for (ncclComm_t comm : comms) EXPECT_EQ(ncclCommDestroy(comm), ncclSuccess);
  // Without one, the first never returns.
  ncclGetUniqueId(&id);
  EXPECT_EQ(ncclCommInitRank(&comms[0], 2, id, 0), ncclInternalError);
  EXPECT_EQ(findings(), Kinds{"api/nccl-deadlock"});
}

TEST_F(NcclTest, AnIdThatWasNeverMadeIsExplained) {
  ncclComm_t comm = nullptr;
  EXPECT_EQ(ncclCommInitRank(&comm, 1, ncclUniqueId{}, 0), ncclInvalidArgument);
  EXPECT_NE(last_message().find("ncclGetUniqueId has not made"), std::string::npos);
}

TEST_F(NcclTest, DifferentCallsOfTheRanksAreFound) {
  EXPECT_EQ(grouped([this](int rank) {
              ncclAllReduce(from_[rank], to_[rank], rank == 2 ? kCount / 2 : kCount, ncclFloat,
                            ncclSum, comms_[rank], streams_[rank]);
            }),
            ncclInvalidUsage);
  EXPECT_EQ(findings(), Kinds{"api/nccl-mismatch"});
  EXPECT_NE(last_message().find("of rank 2 has 16 elements, not 32"), std::string::npos)
      << last_message();
}

TEST_F(NcclTest, MemoryOfAnotherDeviceIsFound) {
  EXPECT_EQ(grouped([this](int rank) {
              all_reduce(rank, from_[rank], rank == 1 ? to_[0] + kCount : to_[rank]);
            }),
            ncclUnhandledCudaError);
  EXPECT_EQ(findings(), Kinds{"memcheck/no-peer-access"});
}

TEST_F(NcclTest, BuffersThatOverlapHalfAreFound) {
  EXPECT_EQ(grouped([this](int rank) { all_reduce(rank, from_[rank], from_[rank] + 1); }),
            ncclInvalidArgument);
  EXPECT_EQ(findings()[0], "api/nccl-overlap");
}

TEST_F(NcclTest, UnwrittenInputsAndResultsReadTooEarlyAreFound) {
  cudaSetDevice(1);
  float* unwritten = device<float>(kCount);
  ASSERT_EQ(
      grouped([&](int rank) { all_reduce(rank, rank == 1 ? unwritten : from_[rank], to_[rank]); }),
      ncclSuccess);
  wait();
  EXPECT_EQ(findings(), Kinds{"initcheck/unwritten-operand"});
  wsim_clear_findings();
  ASSERT_EQ(grouped([this](int rank) { all_reduce(rank, from_[rank], to_[rank]); }), ncclSuccess);
  cudaSetDevice(1);
  cudaStream_t other = stream();
  cudaMemsetAsync(to_[1], 0, kCount * sizeof(float), other);
  wait();
  cudaSetDevice(1);
  cudaDeviceSynchronize();
  EXPECT_EQ(findings(), Kinds{"streamcheck/unordered-streams"});
}

TEST_F(NcclTest, TakesTheTimeOfARingOnTheLink) {
  constexpr size_t kMany = 1 << 20;
  float* large[kRanks] = {};
  on_each([&](int rank) {
    large[rank] = device<float>(kMany);
    cudaMemset(large[rank], 0, kMany * sizeof(float));
    cudaDeviceSynchronize();
  });
  wsim_reset_counters();
  ASSERT_EQ(grouped([&](int rank) {
              ncclAllReduce(large[rank], large[rank], kMany, ncclFloat, ncclSum, comms_[rank],
                            streams_[rank]);
            }),
            ncclSuccess);
  wait();
  const int count = wsim_timeline_count();
  ASSERT_EQ(count, kRanks);
  for (int i = 0; i < count; ++i) {
    wsim_timeline_item item{};
    ASSERT_EQ(wsim_get_timeline_item(i, &item), 0);
    EXPECT_STREQ(item.name, "ncclAllReduce");
    // 2 (n - 1) / n of 4 MiB at 370 GB/s, and the least of a kernel.
    EXPECT_NEAR(item.end - item.start, 1.5 * kMany * sizeof(float) / 370e9, 1e-6);
    EXPECT_EQ(item.bytes, 1.5 * kMany * sizeof(float));
  }
  // A link carries what a rank sends and what it receives at the same time.
  wsim_reset_counters();
  ASSERT_EQ(grouped([&](int rank) {
              ncclSend(large[rank], kMany / 2, ncclFloat, (rank + 1) % kRanks, comms_[rank],
                       streams_[rank]);
              ncclRecv(large[rank] + kMany / 2, kMany / 2, ncclFloat, (rank + kRanks - 1) % kRanks,
                       comms_[rank], streams_[rank]);
            }),
            ncclSuccess);
  wait();
  ASSERT_EQ(wsim_timeline_count(), kRanks);
  wsim_timeline_item item{};
  ASSERT_EQ(wsim_get_timeline_item(0, &item), 0);
  EXPECT_NEAR(item.end - item.start, 0.5 * kMany * sizeof(float) / 370e9, 1e-6);
  EXPECT_EQ(item.bytes, 0.5 * kMany * sizeof(float));
}

}  // namespace
