// Tests of 10/08 multi-process. The test program starts itself once per rank.
#include "08_multi_process.h"

#include <cuda_runtime.h>

#include <chrono>
#include <cstring>
#include <exception>
#include <thread>

#include "08_multi_process_support.h"
#include "kit/kit.h"
#include "kit/processes.h"
#include "kit/scratch_folder.h"

namespace {

// As many processes as there are GPUs, one each; in the simulator every process has its own
// devices.
int most_ranks() { return kit::simulated() ? 3 : kit::device_count(); }

std::string text_of(const char* function, ncclResult_t result) {
  return std::string(function) + " returned " + std::to_string(result) + " (" +
         ncclGetErrorString(result) + ").";
}

// What a joined process does; "" or what is wrong.
using Work = std::string (*)(FileWorld& world, Member& member);

std::string as_member(const kit::Process& me, Work work) {
  FileWorld world(me.text, me.rank, me.ranks);
  Member member;
  std::string problem;
  try {
    const ncclResult_t joined = join(world, &member);
    if (joined != ncclSuccess) {
      problem = text_of("join", joined);
    } else if (member.comm == nullptr) {
      problem = "join returned a success, but member->comm is null.";
    } else {
      problem = work(world, member);
    }
  } catch (const std::exception& error) {
    problem = error.what();
  }
  leave(&member);
  return problem;
}

void in_processes(const char* name, int ranks) {
  const kit::ScratchFolder folder;
  kit::run_processes(name, ranks, folder.path());
}

// A world of this process alone, which notes what is asked of it.
class WorldOfOne : public World {
 public:
  int rank() const override { return 0; }
  int ranks() const override { return 1; }
  void broadcast(void*, size_t bytes, int) override { note("broadcast", bytes); }
  void all_gather(const void* mine, void* all, size_t bytes) override {
    std::memcpy(all, mine, bytes);
    note("all_gather", bytes);
  }
  const std::vector<std::string>& calls() const { return calls_; }

 private:
  void note(const char* call, size_t bytes) {
    calls_.push_back(call + (" of " + std::to_string(bytes) + " bytes"));
  }
  std::vector<std::string> calls_;
};

std::vector<float> values_of(int rank, size_t n) {
  std::vector<float> values;
  for (size_t i = 0; i < n; ++i) values.push_back(static_cast<float>(4 * rank) - 0.5f * (i % 17));
  return values;
}

// Device memory of n floats of one process.
class Floats {
 public:
  explicit Floats(const std::vector<float>& values) : size_(values.size()) {
    cudaMalloc(reinterpret_cast<void**>(&data_), size_ * sizeof(float));
    cudaMemcpy(data_, values.data(), size_ * sizeof(float), cudaMemcpyHostToDevice);
    cudaDeviceSynchronize();
  }
  ~Floats() { cudaFree(data_); }
  Floats(const Floats&) = delete;
  Floats& operator=(const Floats&) = delete;
  float* get() const { return data_; }
  std::vector<float> host() const {
    std::vector<float> values(size_);
    cudaMemcpy(values.data(), data_, size_ * sizeof(float), cudaMemcpyDeviceToHost);
    return values;
  }

 private:
  size_t size_;
  float* data_ = nullptr;
};

std::string check_membership(FileWorld& world, Member& member) {
  int rank = -1, count = -1, device = -1, current = -1;
  ncclCommUserRank(member.comm, &rank);
  ncclCommCount(member.comm, &count);
  ncclCommCuDevice(member.comm, &device);
  cudaGetDevice(&current);
  // All processes of the test are on one machine.
  if (rank != world.rank() || count != world.ranks() || device != world.rank()) {
    return "has joined as rank " + std::to_string(rank) + " of " + std::to_string(count) +
           " with device " + std::to_string(device) + "; it should be rank " +
           std::to_string(world.rank()) + " of " + std::to_string(world.ranks()) + " with device " +
           std::to_string(world.rank()) + ".";
  }
  unsigned flags = 0;
  cudaStreamGetFlags(member.stream, &flags);
  if ((flags & cudaStreamNonBlocking) == 0) {
    return "has a stream that waits for the default stream; it should wait for no other.";
  }
  return current == member.device ? "" : "has another current device than member->device.";
}

std::string check_mean(FileWorld& world, Member& member) {
  constexpr size_t kCount = 3000;
  const Floats x(values_of(world.rank(), kCount));
  ncclResult_t result = mean_over_ranks(member, x.get(), kCount);
  if (result != ncclSuccess) return text_of("mean_over_ranks", result);
  result = wait_or_abort(&member, 20);
  if (result != ncclSuccess) return text_of("wait_or_abort", result);
  const std::vector<float> got = x.host();
  for (size_t i = 0; i < kCount; ++i) {
    double mean = 0;
    for (int rank = 0; rank < world.ranks(); ++rank) {
      mean += static_cast<double>(values_of(rank, kCount)[i]) / world.ranks();
    }
    if (std::abs(got[i] - mean) <= 1e-5) continue;
    return "has " + std::to_string(got[i]) + " as element " + std::to_string(i) +
           " of the mean, expected " + std::to_string(mean) + ".";
  }
  return "";
}

// "" or what is wrong with a wait that has ended, which only the simulator can tell: the host may
// not wait without a deadline, and what NCCL has made for a communicator is to be given back.
std::string check_abort(ncclComm_t before, uint64_t waits) {
  if (!kit::simulated()) return "";
  if (wsim_api_calls("cudaStreamSynchronize") != waits) {
    return "called cudaStreamSynchronize in wait_or_abort: on a GPU it waits for the lost rank for "
           "ever. cudaStreamQuery returns at once.";
  }
  ncclResult_t state = ncclSuccess;
  if (ncclCommGetAsyncError(before, &state) == ncclSuccess) {
    return "has set member->comm to null, and the communicator is still there: ncclCommAbort ends "
           "it, and what waits on the device.";
  }
  return "";
}

// After a mean of all, the last rank does not take part in the next one. In the simulator its
// process ends; on a GPU it waits until the others have given up, so that its memory stays there.
std::string lose_a_rank(FileWorld& world, Member& member) {
  const std::string problem = check_mean(world, member);
  if (!problem.empty()) return problem;
  char over = 1;
  if (world.rank() == world.ranks() - 1) {
    if (!kit::simulated()) world.broadcast(&over, sizeof over, 0);
    return "";
  }
  kit::expect_finding("api", "nccl-rank-gone");
  const Floats x(values_of(world.rank(), 100));
  const ncclResult_t result = mean_over_ranks(member, x.get(), 100);
  if (result != ncclSuccess) return text_of("mean_over_ranks", result);
  const ncclComm_t comm = member.comm;
  const uint64_t waits = wsim_api_calls("cudaStreamSynchronize");
  const ncclResult_t waited = wait_or_abort(&member, 2);
  if (!kit::simulated()) world.broadcast(&over, sizeof over, 0);
  if (waited == ncclSuccess) {
    return "was told by wait_or_abort that the mean is there, and one rank never took part. Ask "
           "the communicator as well (ncclCommGetAsyncError).";
  }
  if (member.comm != nullptr) return "has not aborted the communicator that failed.";
  return check_abort(comm, waits);
}

// A rank that is all of its world; a test goes on only where it has joined.
struct RankAlone {
  RankAlone() {
    const ncclResult_t result = join(world, &member);
    has_joined = result == ncclSuccess;
    if (!has_joined) kit::fail(text_of("join", result));
  }
  ~RankAlone() { leave(&member); }
  RankAlone(const RankAlone&) = delete;
  RankAlone& operator=(const RankAlone&) = delete;

  WorldOfOne world;
  Member member;
  bool has_joined = false;
};

}  // namespace

KIT_PROCESS(membership) { return as_member(me, check_membership); }
KIT_PROCESS(mean) { return as_member(me, check_mean); }
KIT_PROCESS(lost) { return as_member(me, lose_a_rank); }

TEST(MultiProcess, CountsTheRanksOfItsMachine) {
  RecordProperty("todo", 1);
  // Four ranks on two machines, in two orders in which launchers number them.
  const std::vector<uint64_t> by_machine = {7, 7, 9, 9}, in_turns = {7, 9, 7, 9};
  std::vector<int> got;
  for (int rank = 0; rank < 4; ++rank) got.push_back(local_rank(by_machine.data(), rank));
  kit::expect_equal("local_rank on machines A A B B", got, {0, 1, 0, 1});
  got.clear();
  for (int rank = 0; rank < 4; ++rank) got.push_back(local_rank(in_turns.data(), rank));
  kit::expect_equal("local_rank on machines A B A B", got, {0, 0, 1, 1});
}

TEST(MultiProcess, EveryProcessIsARankWithItsOwnDevice) {
  RecordProperty("todo", 2);
  in_processes("membership", 2);
}

// Simulator only: a GPU has no calls that fail when they are asked to.
TEST(MultiProcess, ARankWithAnErrorTalksToTheOthersAllTheSame) {
  RecordProperty("todo", 3);
  std::vector<std::vector<std::string>> talks;  // of each run; in the last one nothing failed
  kit::run([&] {
    WorldOfOne world;
    Member member;
    const ncclResult_t result = join(world, &member);
    talks.push_back(world.calls());
    leave(&member);
    return result;
  });
  for (const std::vector<std::string>& talk : talks) {
    if (talk == talks.back()) continue;
    kit::fail("A call that fails: a rank had an error and made " + std::to_string(talk.size()) +
              " of the " + std::to_string(talks.back().size()) +
              " calls of World that it makes otherwise" +
              (talk.empty() ? "" : ", the last one a " + talk.back()) +
              ". The other ranks wait for the call that is missing. Keep the error, make the call, "
              "and return the error behind it.");
    return;
  }
}

TEST(MultiProcess, TheMeanOfARankAlone) {
  RecordProperty("todo", 3);
  const auto d_x = kit::DeviceBuffer<float>::inout(values_of(3, 500), "x");
  RankAlone rank;
  if (!rank.has_joined) return;
  kit::run([&] { return mean_over_ranks(rank.member, d_x.get(), 500); });
  kit::expect_equal(d_x, values_of(3, 500));
}

TEST(MultiProcess, WorkThatIsDoneNeedsNoTime) {
  RecordProperty("todo", 4);
  RankAlone rank;
  if (!rank.has_joined) return;
  cudaStreamSynchronize(rank.member.stream);
  const ncclResult_t waited = wait_or_abort(&rank.member, 0);
  if (waited != ncclSuccess || rank.member.comm == nullptr) {
    kit::fail(text_of("wait_or_abort", waited) +
              " All work of the stream was done, so it is a success also with `seconds` = 0.");
  }
}

// The work takes a twentieth of a second, and the time for it is less than a whole one.
TEST(MultiProcess, SecondsHaveFractions) {
  RecordProperty("todo", 4);
  RankAlone rank;
  if (!rank.has_joined) return;
  const cudaStream_t stream = rank.member.stream;
  const auto sleep = [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(50)); };
  cudaStreamSynchronize(stream);
  cudaLaunchHostFunc(stream, sleep, nullptr);
  const ncclResult_t waited = wait_or_abort(&rank.member, 0.9);
  if (waited != ncclSuccess || rank.member.comm == nullptr) {
    kit::fail(text_of("wait_or_abort", waited) +
              " The work of the stream was done after 0.05 s, and `seconds` was 0.9. Is the time "
              "counted in whole seconds?");
  }
  cudaStreamSynchronize(stream);
}

TEST(MultiProcess, TheMeanOverAllProcesses) {
  RecordProperty("todo", 3);
  in_processes("mean", most_ranks());
}

TEST(MultiProcess, ARankThatIsLostHoldsUpNobody) {
  RecordProperty("todo", 4);
  in_processes("lost", 2);
}
