// Tests of 06/04 stream race. The results are right on most cards even with the race: streamcheck
// of the simulator decides.
#include "04_stream_race.h"

#include <algorithm>
#include <cmath>

#include "kit/kit.h"
#include "kit/special_values.h"

namespace {

// Reference: n elements. One float product has one correct result.
std::vector<float> signed_squares_on_cpu(const std::vector<float>& x) {
  std::vector<float> y;
  for (const float value : x) y.push_back(value * std::fabs(value));
  return y;
}

class Lanes {
 public:
  explicit Lanes(int length) {
    for (Lane& lane : lanes_) {
      void* host = nullptr;
      void* device = nullptr;
      cudaMallocHost(&host, length * sizeof(float));
      cudaMalloc(&device, length * sizeof(float));
      wsim_name_allocation(device, "lane.d_x");
      lane.h_x = static_cast<float*>(host);
      lane.d_x = static_cast<float*>(device);
      cudaEventCreateWithFlags(&lane.copied, cudaEventDisableTiming);
      cudaEventCreateWithFlags(&lane.computed, cudaEventDisableTiming);
    }
    cudaStreamCreateWithFlags(&copy, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&compute, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&callers, cudaStreamNonBlocking);
  }
  ~Lanes() {
    cudaDeviceSynchronize();
    for (const Lane& lane : lanes_) {
      cudaFreeHost(lane.h_x);
      cudaFree(lane.d_x);
      cudaEventDestroy(lane.copied);
      cudaEventDestroy(lane.computed);
    }
    cudaStreamDestroy(copy);
    cudaStreamDestroy(compute);
    cudaStreamDestroy(callers);
  }
  Lanes(const Lanes&) = delete;
  Lanes& operator=(const Lanes&) = delete;
  const Lane* get() const { return lanes_; }

  cudaStream_t copy = nullptr, compute = nullptr, callers = nullptr;

 private:
  Lane lanes_[2];
};

struct Pieces {
  int n, length;
  int count() const { return (n + length - 1) / length; }
};
std::ostream& operator<<(std::ostream& out, const Pieces& p) {
  return out << p.n << ", in pieces of " << p.length;
}

// Waits that the host made during the call, of every kind.
struct Waits {
  uint64_t events = 0, more = 0;
};

Waits check_elements(const Pieces& pieces, const std::vector<float>& x) {
  const auto d_y = kit::DeviceBuffer<float>::output(pieces.n, "d_y");
  const Lanes lanes(pieces.length);
  Waits waits;
  cudaError_t error = cudaSuccess;
  kit::run([&] {
    error = signed_squares_streamed(x.data(), d_y.get(), pieces.n, lanes.get(), pieces.length,
                                    lanes.copy, lanes.compute);
    waits.events = wsim_api_calls("cudaEventSynchronize");
    // Whoever asks a stream until it has nothing left waits for it as well.
    waits.more = wsim_api_calls("cudaDeviceSynchronize") + wsim_api_calls("cudaStreamSynchronize") +
                 wsim_api_calls("cudaStreamQuery");
    cudaStreamSynchronize(lanes.compute);
    return error;
  });
  if (error != cudaSuccess) {
    kit::fail(std::string("signed_squares_streamed returned ") + cudaGetErrorName(error) + ".");
  }
  const std::vector<float> y = signed_squares_on_cpu(x);
  kit::expect_near_or_nan(d_y, {y.begin(), y.end()}, kit::Tolerance::absolute(0), {},
                          "NaN times its size is NaN, and no other element has such a product: a "
                          "piece goes through its lane whole, whatever its elements are.");
  return waits;
}

Waits check(const Pieces& pieces) { return check_elements(pieces, kit::random_floats(pieces.n)); }

}  // namespace

TEST(StreamRace, TwoPiecesFitIntoTwoLanes) {
  RecordProperty("todo", 2);
  kit::for_each("n", std::vector<Pieces>{{256, 128}, {129, 128}, {1, 128}}, check);
}

// Lanes hold what an earlier piece has left there. Zeros and what is no number replace it, too.
TEST(StreamRace, ElementsMayBeAnyFloat) {
  RecordProperty("todo", 1);
  kit::for_each("n", std::vector<Pieces>{{1000, 128}, {7, 1}}, [](const Pieces& pieces) {
    check_elements(pieces, kit::special_floats_and_nans(pieces.n));
  });
}

TEST(StreamRace, TheStagingMemoryIsRefilledAfterItsCopy) {
  RecordProperty("todo", 1);
  check({3 * 128, 128});
}

TEST(StreamRace, TheDeviceMemoryIsOverwrittenAfterItsKernel) {
  RecordProperty("todo", 2);
  kit::for_each(
      "n", std::vector<Pieces>{{1000, 128}, {1025, 256}, {kit::work_scale(4000, 1 << 24), 1000}},
      check);
}

TEST(StreamRace, TheHostWaitsForCopiesAlone) {
  RecordProperty("todo", 2);
  const Pieces pieces{2000, 200};
  const Waits waits = check(pieces);
  if (waits.more > 0) {
    kit::fail(
        "The call waited for a whole stream or the whole device, or asked a stream whether it "
        "is done, " +
        std::to_string(waits.more) +
        " times. That ends the race, and the overlap with it: "
        "wait for the one event that matters.");
  }
  kit::budget("waits of the host per piece",
              kit::ratio(static_cast<double>(waits.events), pieces.count()), kit::at_most(1),
              "The host waits for the copy that reads its staging memory; the order of the two "
              "streams is the device's own affair (cudaStreamWaitEvent)");
}

// The header says what the events of a lane stand for when the call has returned. Who waits for
// them may use the lane: its h_x on the host, its d_x in a stream of his own.
TEST(StreamRace, AfterTheCallTheEventsSpeakForTheLanes) {
  RecordProperty("todo", 2);
  constexpr int kLength = 128;
  kit::for_each("n", std::vector<Pieces>{{kLength, kLength}, {700, kLength}}, [](const Pieces& p) {
    const std::vector<float> x = kit::random_floats(p.n);
    const auto d_y = kit::DeviceBuffer<float>::output(p.n, "d_y");
    const Lanes lanes(p.length);
    kit::run([&] {
      signed_squares_streamed(x.data(), d_y.get(), p.n, lanes.get(), p.length, lanes.copy,
                              lanes.compute);
      for (int i = 0; i < std::min(2, p.count()); ++i) {
        const Lane& lane = lanes.get()[i];
        cudaStreamWaitEvent(lanes.callers, lane.computed, 0);
        cudaMemsetAsync(lane.d_x, 0xFF, p.length * sizeof(float), lanes.callers);
        cudaEventSynchronize(lane.copied);
        std::fill(lane.h_x, lane.h_x + p.length, NAN);
      }
      cudaDeviceSynchronize();
    });
    kit::expect_equal(d_y, signed_squares_on_cpu(x));
  });
}
