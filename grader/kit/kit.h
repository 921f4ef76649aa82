// What exercise tests are written with. One include is enough: GoogleTest comes with it.
//
// A test makes random inputs, puts them into device buffers, runs a launcher and compares:
//
//   void check(int n) {
//     const std::vector<float> x = kit::random_floats(n);
//     const auto d_x = kit::DeviceBuffer<float>::input(x, "x");
//     const auto d_y = kit::DeviceBuffer<float>::output(n, "y");
//     kit::run([&] { launch_twice(d_x.get(), d_y.get(), n); });
//     kit::expect_equal(d_y, twice_on_cpu(x));
//   }
//   TEST(Twice, CoversSizesThatAreNotBlockMultiples) {
//     RecordProperty("todo", 1);
//     kit::for_each("n", kit::awkward_sizes(), check);
//   }
//
// Three rules hold everywhere:
//  - The first failure of a case is its only one: once kit::run or a comparison has failed, the
//    rest of that case is silent, so a test need not look at return values.
//  - Of several failing cases only the first is described; the others are counted and named.
//  - The same test object runs on a GPU and in the simulator. Checks that only the simulator can do
//    (findings, counters, budgets) do nothing on a GPU.
//
// Sizes of buffers are in elements unless a name says bytes. C++17.
#ifndef WARPLINGS_KIT_H_
#define WARPLINGS_KIT_H_

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>
#include <warplings/sim.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

namespace kit {

// Where in a test a check was called; filled in by the compiler, never passed by hand.
struct Site {
  const char* file;
  int line;
  static Site here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return {file, line};
  }
};

// ---- the machine -------------------------------------------------------------------------------

// True in the simulator, false on a GPU.
bool simulated();

// Picks a size for the machine that runs the test: a simulated one must stay small.
int work_scale(int in_simulator, int on_gpu);

// ---- inputs ------------------------------------------------------------------------------------

// The seed of this test's inputs. The environment variable GRADE_SEED sets the seed of a whole run;
// a failure message names it when it was not the usual one.
uint64_t seed();

// Random values; every call continues the sequence of the running test.
std::vector<float> random_floats(size_t n, float low = -1.0f, float high = 1.0f);
std::vector<double> random_doubles(size_t n, double low = -1.0, double high = 1.0);
std::vector<int> random_ints(size_t n, int low, int high);  // both ends included
// Floats that hold small integers: sums of up to 2^24 / max^2 products are exact in any order, so
// results can be compared bit by bit. For finding wrong indices.
std::vector<float> random_integer_floats(size_t n, int low = -8, int high = 8);
// Odd integers in [2049, 4095] with random sign: exact in float, not in tf32, half or bfloat16.
std::vector<float> precision_tripwire_floats(size_t n);

// Positions of a matrix (rows, cols) or a volume (depth, rows, cols), x fastest, for messages.
// Shape{} means one dimension.
struct Shape {
  int depth = 0, rows = 0, cols = 0;
  Shape() = default;
  Shape(int rows_, int cols_) : depth(1), rows(rows_), cols(cols_) {}
  Shape(int depth_, int rows_, int cols_) : depth(depth_), rows(rows_), cols(cols_) {}
  size_t size() const { return static_cast<size_t>(depth) * rows * cols; }
};
using Shape3 = Shape;
std::ostream& operator<<(std::ostream& out, const Shape& shape);

// Sizes around warps and blocks that expose wrong ends: 1, 31, 32, 33, 127, ... a prime, a
// multiple. 0 is left out: list it in the test where it means something.
const std::vector<int>& awkward_sizes();
// The same in two dimensions; never square only, never multiples only.
const std::vector<Shape>& awkward_shapes();

// ---- several devices ---------------------------------------------------------------------------

// Devices that programs see. An exercise says in course.json how many it needs ("gpus").
int device_count();
int current_device();

// Makes a device the current one in its scope. Buffers, and arrays of kit::Speed, lie on the device
// that is current when they are made; kit::run waits for all devices that have some.
class OnDevice {
 public:
  explicit OnDevice(int device);
  ~OnDevice();
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

 private:
  int before_;
};

// While it lives, this device is another card than the others, of the same architecture but with
// less of everything, on which managed memory moves as a whole. Nothing happens on a GPU.
class UnlikeDevice {
 public:
  explicit UnlikeDevice(int device);
  ~UnlikeDevice();
  UnlikeDevice(const UnlikeDevice&) = delete;
  UnlikeDevice& operator=(const UnlikeDevice&) = delete;
};

// ---- device buffers ----------------------------------------------------------------------------

// kMiddle: a red zone on both sides. kAtEnd: the last element ends with the allocation itself.
enum class Placement { kMiddle, kAtEnd };

namespace internal {

enum class Role { kInput, kOutput, kInOut };
// What the elements are, for calls with other values in the same arrays.
enum class ElementKind { kFloat, kDouble, kInteger, kPointer, kOther };
template <class T>
constexpr ElementKind kind_of_element() {
  if (std::is_same<T, float>::value) return ElementKind::kFloat;
  if (std::is_same<T, double>::value) return ElementKind::kDouble;
  if (std::is_pointer<T>::value) return ElementKind::kPointer;
  return std::is_integral<T>::value || std::is_enum<T>::value ? ElementKind::kInteger
                                                              : ElementKind::kOther;
}
class Allocation;  // device memory with red zones; known to kit::run, which checks it

std::shared_ptr<Allocation> allocate(Role role, ElementKind element, const void* host, size_t bytes,
                                     size_t element_size, const char* name, Placement placement);
void* address(const Allocation& allocation);
// Copies the payload to `host` (bytes of the allocation). `written[i]`, if asked for, says whether
// element i was ever written.
bool download(const Allocation& allocation, void* host, std::vector<uint8_t>* written);
const std::string& name(const Allocation& allocation);

}  // namespace internal

// Device memory of `size()` elements with at least 4 KiB of watched bytes on each side.
// Buffers are shared handles: a copy names the same memory, which is freed with the last one.
template <class T>
class DeviceBuffer {
  static_assert(std::is_trivially_copyable<T>::value, "device memory holds plain values");

 public:
  // Must hold the same values after kit::run.
  static DeviceBuffer input(const std::vector<T>& host, const char* name = "",
                            Placement placement = Placement::kMiddle) {
    return DeviceBuffer(internal::Role::kInput, host.data(), host.size(), name, placement);
  }
  // Filled with 0xFF bytes (NaN in every float type); reading it before writing is a finding.
  static DeviceBuffer output(size_t n, const char* name = "",
                             Placement placement = Placement::kMiddle) {
    return DeviceBuffer(internal::Role::kOutput, nullptr, n, name, placement);
  }
  // Starts with the values of `host` and may be changed.
  static DeviceBuffer inout(const std::vector<T>& host, const char* name = "",
                            Placement placement = Placement::kMiddle) {
    return DeviceBuffer(internal::Role::kInOut, host.data(), host.size(), name, placement);
  }

  // Device pointer, aligned to 256 bytes.
  T* get() const { return static_cast<T*>(internal::address(*allocation_)); }
  size_t size() const { return size_; }
  const std::string& name() const { return internal::name(*allocation_); }
  // Waits for the device, then copies. Zeros if the device has failed.
  std::vector<T> download(std::vector<uint8_t>* written = nullptr) const {
    std::unique_ptr<T[]> host(new T[size_ == 0 ? 1 : size_]());
    internal::download(*allocation_, host.get(), written);
    return std::vector<T>(host.get(), host.get() + size_);
  }

 private:
  DeviceBuffer(internal::Role role, const T* host, size_t n, const char* name, Placement placement)
      : size_(n),
        allocation_(internal::allocate(role, internal::kind_of_element<T>(), host, n * sizeof(T),
                                       sizeof(T), name, placement)) {}

  size_t size_;
  std::shared_ptr<internal::Allocation> allocation_;
};

// ---- running a launcher ------------------------------------------------------------------------

using Counters = wsim_counters;

struct Launch {
  std::string kernel;  // without parameters
  std::string file;    // of the <<<>>>; "" if unknown
  int line = 0;
  unsigned grid[3] = {1, 1, 1};
  unsigned block[3] = {1, 1, 1};
  size_t dynamic_shared = 0;  // bytes
  uint64_t blocks() const { return uint64_t{grid[0]} * grid[1] * grid[2]; }
  uint64_t threads() const { return blocks() * block[0] * block[1] * block[2]; }
};

// What one kit::run did.
class Run {
 public:
  bool ok() const { return ok_; }
  const Counters& counters() const { return counters_; }             // zeros on a GPU
  const std::vector<Launch>& launches() const { return launches_; }  // empty on a GPU; at most 64
  // Allocations that the launcher made and did not free, simulator only.
  size_t leaked_allocations() const { return leaked_allocations_; }
  size_t leaked_bytes() const { return leaked_bytes_; }

 private:
  friend class RunRecorder;
  bool ok_ = true;
  Counters counters_ = {};
  std::vector<Launch> launches_;
  size_t leaked_allocations_ = 0;
  size_t leaked_bytes_ = 0;
};

namespace internal {
void note_error(int error);  // the cudaError_t that the launcher has returned
// `launch` returns whether the launcher said that all went well.
// `status` is the name of its type as the compiler has it.
Run run_reporting(const std::string& what, const std::function<bool()>& launch, const char* status,
                  Site site);
}  // namespace internal

// Runs a launcher and waits for the device. A CUDA error, a finding of the simulator, a touched red
// zone or a changed input is a failure. `what` names the case in messages; without it the case of
// kit::for_each is named.
Run run(const std::function<void()>& launch, Site site = Site::here());
Run run(const std::string& what, const std::function<void()>& launch, Site site = Site::here());

// A launcher that returns a status (an enumeration whose 0 is success, or a bool that is true) is
// asked about it: in the simulator the first run of a test at this line is made again and again,
// while the first, the second, ... of the calls in its .cu file fails, of the calls whose errors
// such a status can hold (cublas... for a cublasStatus_t, all for a bool). It has to report that
// each time, a cudaError_t as the call has returned it, and to leave nothing behind. The buffers
// are then as they were, and the run in which nothing fails is the one that counts.
//
//   kit::run([&] { return status = launch_sgemm(...); });
template <class Launch, class Status = decltype(std::declval<const Launch&>()())>
std::enable_if_t<std::is_enum<Status>::value || std::is_same<Status, bool>::value, Run> run(
    const std::string& what, const Launch& launch, Site site = Site::here()) {
  return internal::run_reporting(
      what,
      [&launch] {
        const Status status = launch();
        if (std::is_same<Status, cudaError_t>::value)
          internal::note_error(static_cast<int>(status));
        return std::is_same<Status, bool>::value == static_cast<bool>(status);
      },
      typeid(Status).name(), site);
}
template <class Launch, class Status = decltype(std::declval<const Launch&>()())>
std::enable_if_t<std::is_enum<Status>::value || std::is_same<Status, bool>::value, Run> run(
    const Launch& launch, Site site = Site::here()) {
  return run("", launch, site);
}

// Everything that `body` and the kernels it launches print to stdout.
std::string captured_output(const std::function<void()>& body);

// Fails if the launcher of `run` left memory allocated. Always true on a GPU.
bool expect_no_leak(const Run& run, Site site = Site::here());

// Calls of one runtime function that the launcher of the last kit::run made, e.g. "cudaMemcpy"; the
// kit's own do not count. 0 on a GPU.
uint64_t api_calls(const char* function);
// The same for all counted functions whose names begin so: "cudaMemcpy" and cudaMemcpyAsync,
// cudaMemcpy2D, ..., since work that is not to be done must not be done by another name either.
uint64_t api_calls_like(const char* begin);

// Fails with what a class (grader/tests/classes) objects to, unless something else is wrong. The
// kit asks at the end of every case, since values say more; a test that is about to say less asks
// before.
void report_class_problem();

// Time of `launch` on the device, in milliseconds, by events. For display; never a verdict.
double milliseconds(const std::function<void()>& launch);

// ---- cards -------------------------------------------------------------------------------------

// Runs `body` on every card that the simulator can stand for (an H200, an RTX 3070, a T4), each a
// case called "card = T4": limits, occupancy and shared memory differ. On a GPU: once, on that GPU.
void for_each_card(const std::function<void()>& body);

// Bytes that a launch moves through the modelled caches of the simulator; both caches are empty
// when a launch begins. Zeros on a GPU.
struct CacheTraffic {
  double l1 = 0;    // loads
  double l2 = 0;    // loads that L1 does not have, stores, atomics
  double dram = 0;  // what L2 does not have, and what is written back
};
CacheTraffic cache_traffic(const std::function<void()>& launch);

// ---- orders of blocks --------------------------------------------------------------------------

// Which block of a launch begins first. kTurns: all blocks that fit on the card begin, and each has
// a few instructions before it is the turn of the next. kFew: the last one, and only half of the
// blocks run at a time, as where other work has the rest of the card.
enum class BlockOrder { kForward, kReversed, kTurns, kFew };

// Runs `body`; the blocks of its launches run in this order in the simulator, in any order on a
// GPU.
void in_block_order(BlockOrder order, const std::function<void()>& body);
// The same in each of these orders, each a case called "blocks = reversed". On a GPU: as often.
void for_each_block_order(const std::function<void()>& body);

// ---- cases -------------------------------------------------------------------------------------

// Runs bodies one after the other and reports when it is destroyed: the failure of the first
// failing case, and the names of the others. Stops early when the device no longer works.
class Cases {
 public:
  Cases();
  ~Cases();
  Cases(const Cases&) = delete;
  Cases& operator=(const Cases&) = delete;
  void run(const std::string& name, const std::function<void()>& body);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// One case per item, called "name = item": kit::for_each("n", kit::awkward_sizes(), [](int n)
// {...});
template <class Items, class Body>
void for_each(const char* name, const Items& items, const Body& body) {
  Cases cases;
  for (const auto& item : items) {
    std::ostringstream text;
    text << name << " = " << item;
    cases.run(text.str(), [&] { body(item); });
  }
}

// Adds a failure of the running case in the style of the kit: the case, the message, the launch.
// Silent (and false) if the case has failed before. Always returns false.
bool fail(const std::string& message, Site site = Site::here());

// ---- comparison --------------------------------------------------------------------------------

// Allowed distance of one element: absolute + relative * |expected| + units * 2^-24 * scale[i].
// `scale` holds what the rounding errors are proportional to, e.g. sum |a||b| of a dot product; an
// empty scale means |expected|.
struct Tolerance {
  double absolute_error = 0;
  double relative_error = 0;
  double unit_count = 0;
  std::vector<double> scale;

  static Tolerance absolute(double error) { return {error, 0, 0, {}}; }
  static Tolerance relative(double error) { return {0, error, 0, {}}; }
  static Tolerance units(double count, std::vector<double> scale = {}) {
    return {0, 0, count, std::move(scale)};
  }
  double allowed(size_t i, double expected) const;
};

namespace internal {

// Both sides as doubles, for messages and pattern guesses; `wrong` is decided on the exact values.
struct Comparison {
  std::string name;
  std::vector<double> got, expected;
  std::vector<uint8_t> wrong;
  std::vector<uint8_t> written;  // empty: unknown, guess from poison
  std::vector<uint8_t> poisoned;
  Shape shape;
  bool integral = false;
  std::string tolerance;  // how close was asked, for the message
};
bool report(const Comparison& comparison, Site site);
bool report_sizes(const std::string& name, size_t got, size_t expected, Site site);
bool close(float got, double expected, size_t i, const Tolerance& tolerance);
bool case_failed();  // the running case has failed: stay silent
bool compare_near(const std::string& name, const std::vector<float>& got,
                  const std::vector<uint8_t>& written, const std::vector<double>& expected,
                  const Tolerance& tolerance, Shape shape, Site site);

template <class T>
bool same(const T& a, const T& b) {
  if (std::is_floating_point<T>::value && a != a) return false;  // a NaN never passes
  return a == b;
}

template <class T>
bool is_poison(const T& value) {
  unsigned char bytes[sizeof(T)];
  __builtin_memcpy(bytes, &value, sizeof(T));
  for (unsigned char byte : bytes) {
    if (byte != 0xFF) return false;
  }
  return true;
}

template <class T>
bool compare_equal(const std::string& name, const std::vector<T>& got,
                   const std::vector<uint8_t>& written, const std::vector<T>& expected, Shape shape,
                   Site site) {
  static_assert(std::is_arithmetic<T>::value, "compare numbers; flatten structs first");
  if (case_failed()) return false;
  if (got.size() != expected.size()) return report_sizes(name, got.size(), expected.size(), site);
  bool equal = true;
  for (size_t i = 0; i < got.size() && equal; ++i) {
    equal = same(got[i], expected[i]) && (written.empty() || written[i] != 0);
  }
  if (equal) return true;
  Comparison comparison;
  comparison.name = name;
  comparison.shape = shape;
  comparison.written = written;
  comparison.integral = std::is_integral<T>::value;
  for (size_t i = 0; i < got.size(); ++i) {
    comparison.got.push_back(static_cast<double>(got[i]));
    comparison.expected.push_back(static_cast<double>(expected[i]));
    comparison.wrong.push_back(!same(got[i], expected[i]) || (!written.empty() && !written[i]));
    comparison.poisoned.push_back(is_poison(got[i]));
  }
  return report(comparison, site);
}

}  // namespace internal

// Every element exactly as expected (0.0 equals -0.0; a NaN equals nothing). False and one failure
// with up to five positions, both values and, where one is clear, the pattern of what is wrong.
template <class T>
bool expect_equal(const DeviceBuffer<T>& got, const std::vector<T>& expected, Shape shape = {},
                  Site site = Site::here()) {
  if (internal::case_failed()) return false;
  std::vector<uint8_t> written;
  const std::vector<T> values = got.download(&written);
  return internal::compare_equal(got.name(), values, written, expected, shape, site);
}
// The same for values on the host; `what` names them in the message.
template <class T>
bool expect_equal(const std::string& what, const std::vector<T>& got,
                  const std::vector<T>& expected, Shape shape = {}, Site site = Site::here()) {
  return internal::compare_equal(what, got, {}, expected, shape, site);
}

// Every element within its tolerance of a reference computed in double. Never true for a NaN;
// infinite only where the reference is the same infinity.
bool expect_near(const DeviceBuffer<float>& got, const std::vector<double>& expected,
                 const Tolerance& tolerance, Shape shape = {}, Site site = Site::here());
bool expect_near(const std::string& what, const std::vector<float>& got,
                 const std::vector<double>& expected, const Tolerance& tolerance, Shape shape = {},
                 Site site = Site::here());

// The error of the whole array, relative to its length: |got - expected| / |expected| <= limit (L2
// norm, which for a matrix is the Frobenius norm).
bool expect_norm_near(const std::string& what, const std::vector<float>& got,
                      const std::vector<double>& expected, double limit, Site site = Site::here());

// ---- findings and errors that a test is about --------------------------------------------------

// The running test provokes this finding on purpose: it does not fail the test, its absence does.
// `check` and `kind` as in warplings/sim.h; kind "" accepts every kind. Does nothing on a GPU.
void expect_finding(const char* check, const char* kind = "", Site site = Site::here());

// The next kit::run must end with this CUDA error, which is then cleared (by a device reset if it
// is sticky: buffers made before are gone).
void expect_cuda_error(cudaError_t error);

// ---- budgets -----------------------------------------------------------------------------------

struct Limit {
  double value;
  bool at_most;
};
inline Limit at_most(double value) { return {value, true}; }
inline Limit at_least(double value) { return {value, false}; }

// Fails if an exact count of the simulator exceeds its limit. `reason` says in words why the limit
// is what it is. `spent_on` names the counter whose most expensive source line the message shows.
// Silent if the test has failed already; does nothing on a GPU. A name is stable: mutants refer to
// it.
//   kit::budget("global load sectors per request", kit::ratio(c.global_load_sectors,
//               c.global_load_requests), kit::at_most(5), "neighbouring threads read neighbouring "
//               "elements", &kit::Counters::global_load_sectors);
bool budget(const std::string& name, double value, Limit limit, const std::string& reason,
            uint64_t Counters::*spent_on = nullptr, Site site = Site::here());

// a / b, and 0 for b = 0.
double ratio(double a, double b);

// Share of the bytes in moved 32-byte sectors that some thread asked for, in [0, 1]; 1 is ideal.
double useful_share(const Counters& counters);

}  // namespace kit

#endif  // WARPLINGS_KIT_H_
