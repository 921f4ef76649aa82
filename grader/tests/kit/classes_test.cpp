// What the kit asks of every launcher (grader/tests/classes): each question with an answer that
// fails it, and with right ones that it must leave alone.
#include "kit/classes.h"

#include <cuda_runtime_api.h>

#include <map>

#include "failure_of.h"
#include "kernels.h"
#include "kit/context.h"
#include "kit/kit.h"
#include "kit/stream.h"

using kit_tests::failure_of;

namespace {
using kit_tests::contains;

using Launcher = std::function<void(const float* x, float* y, int n)>;

// y = 2 x by `launch`, as a test of an exercise does it: "" or how it fails.
std::string answer_of(const Launcher& launch, int n = 100) {
  return failure_of([&] {
    const std::vector<float> x = kit::random_floats(n);
    std::vector<float> expected;
    for (const float value : x) expected.push_back(2 * value);
    const auto d_x = kit::DeviceBuffer<float>::input(x, "x");
    const auto d_y = kit::DeviceBuffer<float>::output(x.size(), "y");
    kit::run([&] { launch(d_x.get(), d_y.get(), n); });
    kit::expect_equal(d_y, expected);
  });
}

}  // namespace

TEST(KitClasses, NameTheExerciseOfATest) {
  EXPECT_EQ(kit::exercise_of("/course/chapters/02_vector_add/04_saxpy_test.cpp"),
            "02_vector_add/04_saxpy");
  EXPECT_EQ(kit::exercise_of(__FILE__), "");
}

TEST(KitClasses, AreAskedWhereNothingSaysOtherwise) {
  EXPECT_TRUE(kit::is_asked("second_call"));
  EXPECT_EQ(answer_of(launch_twice), "");
}

TEST(KitSecondCall, FindsAnAnswerThatIsKeptByItsAddress) {
  std::map<float*, std::vector<float>> answers;
  const std::string message = answer_of([&](const float* x, float* y, int n) {
    std::vector<float>& answer = answers[y];
    const size_t bytes = static_cast<size_t>(n) * sizeof(float);
    if (answer.empty()) {
      launch_twice(x, y, n);
      answer.resize(static_cast<size_t>(n));
      cudaMemcpy(answer.data(), y, bytes, cudaMemcpyDeviceToHost);
    } else {
      cudaMemcpy(y, answer.data(), bytes, cudaMemcpyHostToDevice);
    }
  });
  EXPECT_TRUE(contains(message,
                       "Called again with other values in the same arrays, it gave the "
                       "answer of the call before: y is the same"))
      << message;
}

TEST(KitSecondCall, FindsWorkThatIsDoneOnce) {
  bool done = false;
  const std::string message = answer_of([&](const float* x, float* y, int n) {
    if (!done) launch_twice(x, y, n);
    done = true;
  });
  EXPECT_TRUE(contains(message, "No element of y was ever written")) << message;
}

TEST(KitSecondCall, FindsASkippedRepetition) {
  std::map<float*, bool> done;
  const std::string message = answer_of([&](const float* x, float* y, int n) {
    if (!done[y]) launch_twice(x, y, n);
    done[y] = true;
  });
  EXPECT_TRUE(
      contains(message, "Called again, it wrote nothing into y, though the call before did"))
      << message;
}

TEST(KitSecondCall, FindsAddressesOfAnEarlierCall) {
  const float* kept_x = nullptr;
  float* kept_y = nullptr;
  const std::string message = answer_of([&](const float* x, float* y, int n) {
    if (kept_y == nullptr) {
      kept_x = x;
      kept_y = y;
    }
    launch_twice(kept_x, kept_y, n);
  });
  EXPECT_TRUE(
      contains(message, "Called again with other arrays, it wrote into y of an earlier call"))
      << message;
}

TEST(KitSecondCall, CountsTheLastCallAlone) {
  const std::vector<float> x = kit::random_floats(100);
  const auto d_x = kit::DeviceBuffer<float>::input(x, "x");
  const auto d_y = kit::DeviceBuffer<float>::output(x.size(), "y");
  int calls = 0;
  const kit::Run run = kit::run([&] {
    ++calls;
    launch_twice(d_x.get(), d_y.get(), 100);
  });
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(run.launches().size(), 1u);
  EXPECT_EQ(run.counters().global_load_bytes, 400u);
  EXPECT_EQ(kit::api_calls("cudaMemcpy"), 0u);
}

TEST(KitSecondCall, PutsBackWhatACallChanges) {
  const auto d_next = kit::DeviceBuffer<int>::inout({5}, "next");
  const auto d_block = kit::DeviceBuffer<int>::output(40, "block");
  kit::run([&] { launch_tickets(d_next.get(), d_block.get() + 0, 3); });
  EXPECT_EQ(d_next.download()[0], 8);
}

TEST(KitSecondCall, LeavesOffsetsInTheirOrder) {
  const std::vector<int> offsets = {0, 2, 2, 7};
  const auto d_offsets = kit::DeviceBuffer<int>::input(offsets, "offsets");
  const auto d_y = kit::DeviceBuffer<float>::output(1, "y");
  kit::run([&] {
    EXPECT_EQ(d_offsets.download(), offsets);
    launch_store(d_y.get(), 0, 1.0f);
  });
}

TEST(KitSecondCall, IsNoSecondPrint) {
  int calls = 0;
  const auto d_y = kit::DeviceBuffer<float>::output(1, "y");
  kit::captured_output([&] {
    kit::run([&] {
      ++calls;
      launch_store(d_y.get(), 0, 1.0f);
    });
  });
  EXPECT_EQ(calls, 1);
}

TEST(KitLeftBehind, FindsMemoryStreamsAndEvents) {
  const auto with = [](const std::function<void()>& more) {
    return answer_of([&](const float* x, float* y, int n) {
      launch_twice(x, y, n);
      more();
    });
  };
  void* memory = nullptr;
  EXPECT_TRUE(contains(with([&] { cudaMalloc(&memory, 100); }),
                       "Left behind: 1 allocation of device memory, which each call made"));
  cudaStream_t stream = nullptr;
  EXPECT_TRUE(contains(with([&] {
                         if (stream == nullptr) cudaStreamCreate(&stream);
                       }),
                       "Left behind: 1 stream, which the call made"));
  EXPECT_TRUE(contains(with([&] {
                         if (stream != nullptr) cudaStreamDestroy(stream);
                         stream = nullptr;
                       }),
                       "Left behind: there is 1 stream less than before the call"));
  cudaEvent_t event = nullptr;
  EXPECT_TRUE(contains(with([&] {
                         if (event == nullptr) cudaEventCreate(&event);
                       }),
                       "Left behind: 1 event, which the call made"));
  cudaEventDestroy(event);
  const std::string pages = with([] {
    void* pinned = nullptr;
    cudaMallocHost(&pinned, 10);
  });
  EXPECT_TRUE(contains(pages, "Left behind: 1 allocation of pinned memory")) << pages;
  EXPECT_TRUE(contains(with([] { cudaDeviceSetLimit(cudaLimitStackSize, 4096); }),
                       "Left behind: the device limit 0 is another than before the call (4096, it "
                       "was 1024)"));
  cudaDeviceSetLimit(cudaLimitStackSize, 1024);
}

TEST(KitLeftBehind, SaysWrongValuesFirst) {
  const std::string message = answer_of([](const float*, float* y, int) {
    void* memory = nullptr;
    cudaMalloc(&memory, 100);
    launch_store(y, 0, 1.0f);
  });
  EXPECT_FALSE(contains(message, "Left behind")) << message;
  EXPECT_TRUE(contains(message, "elements of y are wrong")) << message;
}

TEST(KitLeftBehind, AllowsWhatIsGivenBack) {
  EXPECT_EQ(
      answer_of([](const float* x, float* y, int n) {
        float* scratch = nullptr;
        cudaStream_t stream = nullptr;
        cudaMalloc(reinterpret_cast<void**>(&scratch), static_cast<size_t>(n) * sizeof(float));
        cudaStreamCreate(&stream);
        launch_twice(x, scratch, n);
        cudaMemcpy(y, scratch, static_cast<size_t>(n) * sizeof(float), cudaMemcpyDeviceToDevice);
        cudaStreamDestroy(stream);
        cudaFree(scratch);
      }),
      "");
}

TEST(KitWhoDidTheWork, FindsResultsOfTheHost) {
  const std::string message = answer_of(launch_twice_on_the_host);
  EXPECT_TRUE(contains(message, "Who did the work? cudaMemcpy")) << message;
  EXPECT_TRUE(contains(message, "copies 400 bytes of x to the host")) << message;
}

TEST(KitWhoDidTheWork, AllowsAStartValueOfTheHost) {
  EXPECT_EQ(answer_of([](const float* x, float* y, int n) {
              const float zero = 0;
              cudaMemcpy(y, &zero, sizeof zero, cudaMemcpyHostToDevice);
              launch_twice(x, y, n);
            }),
            "");
}

TEST(KitWhoDidTheWork, FindsOneThreadThatDoesEverything) {
  const std::string message = answer_of(launch_twice_by_one_thread, 5000);
  EXPECT_TRUE(contains(message,
                       "Who did the work? No launch has more than 1 thread, and x has 5000 "
                       "elements.") ||
              contains(message, "and y has 5000 elements."))
      << message;
  EXPECT_EQ(answer_of(launch_twice_by_one_thread, 100), "") << "few elements are nobody's business";
}

namespace {

// Some work that reads x in a stream that waits for no other, ordered with the default stream or
// not.
void read_aside(const float* x, bool begins_after_the_caller, bool ends_before_the_caller) {
  cudaStream_t aside = nullptr;
  cudaEvent_t event = nullptr;
  void* scratch = nullptr;
  cudaStreamCreateWithFlags(&aside, cudaStreamNonBlocking);
  cudaEventCreate(&event);
  if (begins_after_the_caller) {
    cudaEventRecord(event, nullptr);
    cudaStreamWaitEvent(aside, event, 0);
  }
  cudaMallocAsync(&scratch, 16, aside);
  cudaMemcpyAsync(scratch, x, 16, cudaMemcpyDeviceToDevice, aside);
  cudaFreeAsync(scratch, aside);
  if (ends_before_the_caller) {
    cudaEventRecord(event, aside);
    cudaStreamWaitEvent(nullptr, event, 0);
  }
  cudaEventDestroy(event);
  cudaStreamDestroy(aside);
}

std::string answer_with_work_aside(bool begins_after_the_caller, bool ends_before_the_caller) {
  return answer_of([&](const float* x, float* y, int n) {
    launch_twice(x, y, n);
    read_aside(x, begins_after_the_caller, ends_before_the_caller);
  });
}

}  // namespace

TEST(KitStreams, FindsWorkThatBeginsTooEarly) {
  const std::string message = answer_with_work_aside(false, true);
  EXPECT_TRUE(contains(message, "Out of the caller's order: the copy at classes_test.cpp:"))
      << message;
  EXPECT_TRUE(contains(message,
                       "uses byte 0 of `x` (400 bytes), and does not wait for what the caller has "
                       "put into the default stream before the call"))
      << message;
}

TEST(KitStreams, FindsWorkThatEndsTooLate) {
  const std::string message = answer_with_work_aside(true, false);
  EXPECT_TRUE(contains(message,
                       "and what the caller puts into the default stream after the call does not "
                       "wait for it"))
      << message;
}

TEST(KitStreams, AllowsWorkAsideThatIsInOrder) {
  EXPECT_EQ(answer_with_work_aside(true, true), "");
}

TEST(KitStreams, AreThoseOfTheTestWhereItHasSome) {
  const kit::Stream stream;
  const std::string message = answer_of(launch_twice);
  EXPECT_TRUE(contains(message, "Out of the caller's order: the kernel twice launched at"))
      << message;
  EXPECT_TRUE(contains(message, "(the default stream) uses byte 0 of `x`")) << message;
}

TEST(KitWaits, FindsAWaitThatNobodyAskedFor) {
  const auto waiting = [](Wait how) {
    return answer_of(
        [how](const float* x, float* y, int n) { launch_twice_and_wait(x, y, n, how); });
  };
  EXPECT_TRUE(
      contains(waiting(Wait::kSynchronize), "It waits: cudaDeviceSynchronize at kernels.cu:"));
  const std::string asks = waiting(Wait::kQuery);
  EXPECT_TRUE(contains(asks, "It waits: cudaStreamQuery at kernels.cu:")) << asks;
  EXPECT_TRUE(contains(asks, "is asked until the work is done")) << asks;
  EXPECT_EQ(waiting(Wait::kForResult), "") << "a result on the host is there when it returns";
  EXPECT_EQ(waiting(Wait::kForResultInAStream), "") << "the same, by an asynchronous copy";
  EXPECT_EQ(waiting(Wait::kForMappedInput), "") << "kernels read memory that is given back";
  EXPECT_EQ(waiting(Wait::kForManaged), "") << "the host reads it next";
}
