// Contents of buffers in the simulator: taken out, put back, exchanged for others, beside the
// runtime, so that no call, copy or check is seen.
#include <algorithm>
#include <cstring>

#include "kit/allocation.h"
#include "kit/context.h"

namespace kit {
namespace internal {
namespace {

template <class T>
std::vector<T> elements(const std::vector<unsigned char>& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return values;
}

template <class T>
void halve(std::vector<unsigned char>* bytes) {
  std::vector<T> values = elements<T>(*bytes);
  for (T& value : values) value = static_cast<T>(value / 2);
  std::memcpy(bytes->data(), values.data(), values.size() * sizeof(T));
}

// Offsets and sorted keys are in ascending order, and have to be.
template <class T>
bool is_ascending(const std::vector<unsigned char>& bytes) {
  const std::vector<T> values = elements<T>(bytes);
  return std::is_sorted(values.begin(), values.end());
}

// Calls `body` with a value of the signed integer type of that size.
template <class Body>
void with_integer(size_t size, Body body) {
  if (size == 1) body(int8_t{});
  if (size == 2) body(int16_t{});
  if (size == 4) body(int32_t{});
  if (size == 8) body(int64_t{});
}

bool integers_ascend(const std::vector<unsigned char>& bytes, size_t size) {
  bool ascend = false;
  with_integer(size, [&](auto zero) { ascend = is_ascending<decltype(zero)>(bytes); });
  return ascend;
}

// Negative integers may be marks, which half of them is not.
void halve_integers(std::vector<unsigned char>* bytes, size_t size) {
  with_integer(size, [&](auto zero) {
    using T = decltype(zero);
    const std::vector<T> values = elements<T>(*bytes);
    if (*std::min_element(values.begin(), values.end()) >= 0) halve<T>(bytes);
  });
}

}  // namespace

Allocation::Image Allocation::image() const {
  Image now;
  if (base_ == nullptr) return now;
  now.bytes.resize(bytes_);
  now.written.resize(bytes_);
  wsim_peek(payload(), bytes_, now.bytes.data(), now.written.data());
  return now;
}

void Allocation::put(const Image& image) const {
  if (base_ == nullptr || image.bytes.size() != bytes_) return;
  wsim_poke(payload(), bytes_, image.bytes.data(), image.written.data());
}

Allocation::Image Allocation::decoy(const Image& now, bool halved) const {
  if (now.bytes.empty()) return now;  // of no size, or gone with its device
  const size_t n = bytes_ / element_size_;
  const bool all_written =
      std::find(now.written.begin(), now.written.end(), 0) == now.written.end();
  if (is_output() || element_ == ElementKind::kPointer || n < 2 || !all_written) return now;
  if (element_ == ElementKind::kInteger && integers_ascend(now.bytes, element_size_)) return now;
  Image other = now;
  for (size_t i = 0; i < n; ++i) {
    std::memcpy(other.bytes.data() + i * element_size_,
                now.bytes.data() + (n - 1 - i) * element_size_, element_size_);
  }
  if (halved && element_ == ElementKind::kFloat) halve<float>(&other.bytes);
  if (halved && element_ == ElementKind::kDouble) halve<double>(&other.bytes);
  if (halved && element_ == ElementKind::kInteger) halve_integers(&other.bytes, element_size_);
  return other;
}

bool Allocation::move() {
  if (base_ == nullptr) return true;
  const OnDevice scope(device_);
  void* memory = nullptr;
  if (cudaMalloc(&memory, total()) != cudaSuccess) {
    cudaGetLastError();
    return false;
  }
  const Image now = image();
  other_ = base_;
  base_ = static_cast<unsigned char*>(memory);
  wsim_name_allocation(base_, name_.c_str());
  const std::vector<unsigned char> whole = surroundings();
  wsim_poke(base_, total(), whole.data(), std::vector<uint8_t>(total(), 1).data());
  put(now);
  protect();
  return true;
}

void Allocation::move_back() {
  if (other_ != nullptr) std::swap(base_, other_);
}

Allocation::Image Allocation::image_elsewhere() {
  if (other_ == nullptr) return {};
  move_back();
  Image there = image();
  move_back();
  return there;
}

void Allocation::release_other() {
  if (other_ == nullptr) return;
  std::swap(base_, other_);
  expose();
  cudaFree(base_);
  base_ = other_;
  other_ = nullptr;
}

}  // namespace internal
}  // namespace kit
