// Tests of 09/12 cuRAND from the host.
#include "12_curand_host.h"

#include <cmath>
#include <cstring>

#include "kit/kit.h"
#include "kit/largest.h"

namespace {

constexpr unsigned long long kSeed = 20261121;
constexpr char kDestroyedTwice[] =
    "An option was refused, and when the caller destroyed the generator, as the header says, it "
    "had "
    "been destroyed already: whoever owns a handle destroys it, and nobody else.";

struct Kind {
  curandRngType_t type;
  const char* name;
};
std::ostream& operator<<(std::ostream& out, const Kind& kind) { return out << kind.name; }

std::vector<Kind> kinds() {
  return {{CURAND_RNG_PSEUDO_XORWOW, "XORWOW"}, {CURAND_RNG_PSEUDO_PHILOX4_32_10, "Philox"}};
}

void expect_success(const std::string& function, curandStatus_t status) {
  if (status == CURAND_STATUS_SUCCESS) return;
  kit::fail(function + " returned the curandStatus_t " + std::to_string(static_cast<int>(status)) +
            (status == CURAND_STATUS_LENGTH_NOT_MULTIPLE
                 ? ", CURAND_STATUS_LENGTH_NOT_MULTIPLE: normal values come in pairs."
                 : ". curand.h lists them."));
}

// Reference: the first values of a sequence, from a generator that computes on the host.
std::vector<float> uniform_on_cpu(const Kind& kind, unsigned long long seed, size_t n) {
  std::vector<float> values(n);
  curandGenerator_t generator = nullptr;
  expect_success("curandCreateGeneratorHost", curandCreateGeneratorHost(&generator, kind.type));
  curandSetPseudoRandomGeneratorSeed(generator, seed);
  if (n > 0) expect_success("the reference", curandGenerateUniform(generator, values.data(), n));
  curandDestroyGenerator(generator);
  return values;
}

// The same, normal; an even number is drawn, n are kept.
std::vector<double> normal_on_cpu(const Kind& kind, size_t n, float mean, float deviation) {
  std::vector<float> values((n + 1) / 2 * 2);
  curandGenerator_t generator = nullptr;
  expect_success("curandCreateGeneratorHost", curandCreateGeneratorHost(&generator, kind.type));
  curandSetPseudoRandomGeneratorSeed(generator, kSeed);
  if (n > 0) {
    expect_success("the reference",
                   curandGenerateNormal(generator, values.data(), values.size(), mean, deviation));
  }
  curandDestroyGenerator(generator);
  return {values.begin(), values.begin() + n};
}

// Simulator only: fails if what the last kit::run ran has waited for the device.
void expect_no_wait(const std::string& function) {
  for (const char* wait :
       {"cudaDeviceSynchronize", "cudaStreamSynchronize", "cudaEventSynchronize", "cudaMemcpy"}) {
    if (kit::api_calls(wait) == 0) continue;
    kit::fail(function + " waits for the device, by " + wait +
              ". Draws, copies and kernels of one stream keep their order without the host.");
    return;
  }
}

// Fails if `function` has returned a success although it was given no generator.
void expect_refusal(const std::string& function, curandStatus_t status) {
  if (status != CURAND_STATUS_SUCCESS) return;
  kit::fail(function +
            " returned a success, and its generator is a nullptr: hand on what cuRAND returns.");
}

// A generator of the test's own, with a stream that waits for no other.
class Generator {
 public:
  explicit Generator(const Kind& kind) {
    cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking);
    expect_success("curandCreateGenerator", curandCreateGenerator(&generator_, kind.type));
    expect_success("curandSetStream", curandSetStream(generator_, stream_));
    begin_again();
  }
  ~Generator() {
    curandDestroyGenerator(generator_);
    cudaStreamDestroy(stream_);
  }
  Generator(const Generator&) = delete;
  Generator& operator=(const Generator&) = delete;
  void begin_again() const {
    expect_success("the seed", curandSetPseudoRandomGeneratorSeed(generator_, kSeed));
  }
  curandGenerator_t get() const { return generator_; }
  cudaStream_t stream() const { return stream_; }

 private:
  curandGenerator_t generator_ = nullptr;
  cudaStream_t stream_ = nullptr;
};

// Simulator only: a call becomes a part of the graph if it goes to the captured stream.
bool works_in(curandGenerator_t generator, cudaStream_t stream, float* d_x) {
  if (!kit::simulated()) return true;
  cudaGraph_t graph = nullptr;
  size_t nodes = 0;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
  curandGenerateUniform(generator, d_x, 1);
  cudaStreamEndCapture(stream, &graph);
  cudaGraphGetNodes(graph, nullptr, &nodes);
  cudaGraphDestroy(graph);
  return nodes == 1;
}

// What a generator of create_generator draws first; a copy in the same stream reads it.
std::vector<float> drawn(const Kind& kind, unsigned long long seed, size_t n) {
  cudaStream_t stream = nullptr;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  const auto d_x = kit::DeviceBuffer<float>::output(n, "x");
  const auto d_copy = kit::DeviceBuffer<float>::output(n, "a copy of x");
  curandStatus_t status = CURAND_STATUS_SUCCESS;
  bool in_stream = true, was_there = true;
  kit::run([&] {
    curandGenerator_t generator = nullptr;
    status = create_generator(kind.type, seed, CURAND_ORDERING_PSEUDO_LEGACY, stream, &generator);
    if (status == CURAND_STATUS_SUCCESS) {
      status = curandGenerateUniform(generator, d_x.get(), n);
      in_stream = works_in(generator, stream, d_copy.get());
      if (in_stream) {
        cudaMemcpyAsync(d_copy.get(), d_x.get(), n * sizeof(float), cudaMemcpyDeviceToDevice,
                        stream);
      }
      cudaStreamSynchronize(stream);
    }
    if (generator != nullptr && curandDestroyGenerator(generator) != CURAND_STATUS_SUCCESS) {
      was_there = false;
    }
    return status;
  });
  if (!was_there) kit::fail(kDestroyedTwice);
  if (!in_stream) {
    kit::fail(
        "The generator draws in another stream than create_generator was given. Call "
        "curandSetStream: a new generator works in the default stream, and what follows in "
        "our stream does not wait for that.");
  }
  expect_success("create_generator, or a draw from its generator,", status);
  cudaStreamDestroy(stream);
  return d_copy.download();
}

kit::Run check_normal(const Kind& kind, size_t n, float mean, float deviation) {
  const auto d_x = kit::DeviceBuffer<float>::output(n, "x", kit::Placement::kAtEnd);
  const auto d_pair = kit::DeviceBuffer<float>::output(2, "pair", kit::Placement::kAtEnd);
  const Generator generator(kind);
  curandStatus_t status = CURAND_STATUS_SUCCESS;
  const kit::Run run = kit::run([&] {
    generator.begin_again();
    return status = launch_normal(generator.get(), generator.stream(), d_x.get(), n, mean,
                                  deviation, d_pair.get());
  });
  expect_success("launch_normal", status);
  expect_no_wait("launch_normal");
  kit::expect_near(d_x, normal_on_cpu(kind, n, mean, deviation),
                   kit::Tolerance::absolute(1e-5 * (std::fabs(mean) + 4 * deviation)));
  return run;
}

struct Layer {
  int fan_out, fan_in;
};
std::ostream& operator<<(std::ostream& out, const Layer& l) {
  return out << l.fan_out << " x " << l.fan_in;
}

void check_weights(const Kind& kind, const Layer& layer) {
  const size_t count = static_cast<size_t>(layer.fan_out) * layer.fan_in;
  const auto d_w = kit::DeviceBuffer<float>::output(count, "w", kit::Placement::kAtEnd);
  const Generator generator(kind);
  curandStatus_t status = CURAND_STATUS_SUCCESS;
  kit::run([&] {
    generator.begin_again();
    return status = launch_weights(generator.get(), generator.stream(), d_w.get(), layer.fan_out,
                                   layer.fan_in);
  });
  expect_success("launch_weights", status);
  expect_no_wait("launch_weights");
  const double bound = layer.fan_in > 0 ? 1 / std::sqrt(1.0 * layer.fan_in) : 0;
  std::vector<double> expected;
  for (const float u : uniform_on_cpu(kind, kSeed, count))
    expected.push_back(bound * (2.0 * u - 1));
  kit::expect_near(d_w, expected, kit::Tolerance::units(8, std::vector<double>(count, bound)));
}

}  // namespace

TEST(CurandHost, TheSameSeedGivesTheSameNumbers) {
  RecordProperty("todo", 1);
  kit::for_each("kind", kinds(), [](const Kind& kind) {
    kit::expect_equal("the first values of a seed", drawn(kind, kSeed, 1000),
                      uniform_on_cpu(kind, kSeed, 1000));
    kit::expect_equal("the first values of a large seed", drawn(kind, kSeed << 32, 100),
                      uniform_on_cpu(kind, kSeed << 32, 100));
  });
}

TEST(CurandHost, SaysWhichOptionsAreRefused) {
  RecordProperty("todo", 1);
  curandGenerator_t generator = nullptr;
  const curandStatus_t status = create_generator(
      CURAND_RNG_PSEUDO_XORWOW, kSeed, CURAND_ORDERING_QUASI_DEFAULT, nullptr, &generator);
  if (generator != nullptr) curandDestroyGenerator(generator);
  if (status == CURAND_STATUS_SUCCESS) {
    kit::fail(
        "create_generator returned a success for an order that belongs to quasi-random "
        "generators, which cuRAND refuses. Set the order, and return the first status that "
        "is no success: nobody else reads it.");
  }
}

TEST(CurandHost, DrawsAPartOfTheSequenceTwice) {
  RecordProperty("todo", 2);
  kit::for_each("kind", kinds(), [](const Kind& kind) {
    constexpr size_t kFirst = 4100, kCount = 333, kAll = kFirst + kCount;
    const Generator generator(kind);
    const auto d_all = kit::DeviceBuffer<float>::output(kAll, "values from 0 on");
    const auto d_part = kit::DeviceBuffer<float>::output(kCount, "values from 4100 on");
    const auto d_again = kit::DeviceBuffer<float>::output(kCount, "the same values again");
    curandStatus_t status = CURAND_STATUS_SUCCESS;
    kit::run([&] {
      status = launch_part(generator.get(), kFirst, d_part.get(), kCount);
      if (status != CURAND_STATUS_SUCCESS) return status;
      status = launch_part(generator.get(), 0, d_all.get(), kAll);
      if (status != CURAND_STATUS_SUCCESS) return status;
      return status = launch_part(generator.get(), kFirst, d_again.get(), kCount);
    });
    expect_success("launch_part", status);
    const std::vector<float> all = uniform_on_cpu(kind, kSeed, kAll);
    kit::expect_equal(d_all, all);
    kit::expect_equal(d_part, {all.begin() + kFirst, all.end()});
    kit::expect_equal(d_again, {all.begin() + kFirst, all.end()});
  });
}

TEST(CurandHost, TheCallerDestroysAGeneratorWhoseOptionWasRefused) {
  RecordProperty("todo", 1);
  cudaStream_t stream = nullptr;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  curandGenerator_t generator = nullptr;
  // An order of quasirandom numbers, which these are not.
  create_generator(CURAND_RNG_PSEUDO_PHILOX4_32_10, 5, CURAND_ORDERING_QUASI_DEFAULT, stream,
                   &generator);
  if (generator != nullptr && curandDestroyGenerator(generator) != CURAND_STATUS_SUCCESS) {
    kit::fail(kDestroyedTwice);
  }
  cudaStreamDestroy(stream);
}

TEST(CurandHost, ReturnsWhatWasRefused) {
  RecordProperty("todo", 2);
  const auto d_x = kit::DeviceBuffer<float>::inout(std::vector<float>(8, 0.5f), "x");
  curandStatus_t status = CURAND_STATUS_SUCCESS;
  kit::run([&] { return status = launch_part(nullptr, 0, d_x.get(), 8); });
  expect_refusal("launch_part", status);
}

TEST(CurandHost, NormalValuesOfAnyNumber) {
  RecordProperty("todo", 3);
  for (const Kind& kind : kinds()) {
    kit::for_each("n", std::vector<size_t>{1, 2, 3, 33, 1000, 1001, 0},
                  [&](size_t n) { check_normal(kind, n, 0, 1); });
  }
  check_normal(kinds()[0], 501, 3, 0.5f);
}

TEST(CurandHost, TheNextNormalValuesGoOn) {
  RecordProperty("todo", 3);
  kit::for_each("kind", kinds(), [](const Kind& kind) {
    constexpr size_t kEach = 100;
    const auto d_x = kit::DeviceBuffer<float>::output(2 * kEach, "x of two calls");
    const auto d_y = kit::DeviceBuffer<float>::output(2 * kEach, "two draws");
    const auto d_pair = kit::DeviceBuffer<float>::inout({0, 0}, "pair");
    const Generator generator(kind), other(kind);
    for (const size_t first : {size_t{0}, kEach}) {
      curandGenerateNormal(other.get(), d_y.get() + first, kEach, 0, 1);
    }
    cudaStreamSynchronize(other.stream());
    curandStatus_t status = CURAND_STATUS_SUCCESS;
    kit::run([&] {
      generator.begin_again();
      for (const size_t first : {size_t{0}, kEach}) {
        status = launch_normal(generator.get(), generator.stream(), d_x.get() + first, kEach, 0, 1,
                               d_pair.get());
        if (status != CURAND_STATUS_SUCCESS) break;
      }
      return status;
    });
    expect_success("launch_normal", status);
    kit::expect_equal(d_x, d_y.download());
  });
}

TEST(CurandHost, ReturnsWhatWasRefusedOfNormalValues) {
  RecordProperty("todo", 3);
  const auto d_x = kit::DeviceBuffer<float>::inout(std::vector<float>(8, 0.5f), "x");
  const auto d_pair = kit::DeviceBuffer<float>::inout({0.5f, 0.5f}, "pair");
  for (const size_t n : {size_t{1}, size_t{8}}) {
    curandStatus_t status = CURAND_STATUS_SUCCESS;
    kit::run(
        [&] { return status = launch_normal(nullptr, nullptr, d_x.get(), n, 0, 1, d_pair.get()); });
    expect_refusal("launch_normal", status);
  }
}

TEST(CurandHost, WeightsOfEveryLayer) {
  RecordProperty("todo", 4);
  for (const Kind& kind : kinds()) {
    kit::for_each("w", std::vector<Layer>{{10, 128}, {128, 9}, {1, 1}, {33, 31}, {0, 5}, {5, 0}},
                  [&](const Layer& layer) { check_weights(kind, layer); });
  }
}

TEST(CurandHost, ReturnsWhatWasRefusedOfWeights) {
  RecordProperty("todo", 4);
  const auto d_w = kit::DeviceBuffer<float>::inout(std::vector<float>(6, 0.5f), "w");
  curandStatus_t status = CURAND_STATUS_SUCCESS;
  kit::run([&] { return status = launch_weights(nullptr, nullptr, d_w.get(), 2, 3); });
  expect_refusal("launch_weights", status);
}

// Their number does not fit into 32 bits: what is left of it there is 0, and for no weights at all
// no generator is needed.
TEST(CurandHost, CountsTheWeightsOfTheWidestLayers) {
  RecordProperty("todo", 4);
  kit::at_largest("w of 65,536 x 65,536", [] {
    constexpr int kWide = 1 << 16;
    const auto w = kit::LargeArray<float>::output(size_t{kWide} * kWide, "w");
    curandStatus_t status = CURAND_STATUS_SUCCESS;
    kit::run([&] { status = launch_weights(nullptr, nullptr, w.get(), kWide, kWide); });
    if (status != CURAND_STATUS_SUCCESS) return;
    kit::fail(
        "launch_weights returned a success for a w of 65,536 x 65,536, and its generator is a "
        "nullptr: nothing was drawn. fan_out * fan_in is 2^32 here, which no int holds; of a "
        "product in 32 bits 0 is left.");
  });
}
