// Device memory with watched surroundings:
//
//   | red zone, >= 4 KiB | payload | red zone |      Placement::kMiddle
//   | red zone, >= 4 KiB | payload |                 Placement::kAtEnd
//
// Where a case asks for arrays that begin at any element, the red zone in front is longer by one
// element.
//
// The red zones hold a pattern that is checked after every run. In the simulator they are declared
// not to be the learner's, so that *reading* them is found too, and a poisoned payload is declared
// unwritten.
#include <algorithm>
#include <cstring>

#include "kit/allocation.h"
#include "kit/context.h"
#include "kit/kit.h"
#include "kit/sparse_memory.h"

namespace kit {
namespace internal {
namespace {

// Differs from byte to byte and from buffer to buffer, so a copied red zone is noticed as well.
unsigned char pattern(uint64_t key, size_t i) {
  const uint64_t x = (key + i) * 0x9E3779B97F4A7C15u;
  return static_cast<unsigned char>(x >> 56 ^ x >> 24);
}

}  // namespace

Allocation::Allocation(Role role, ElementKind element, const void* host, size_t bytes,
                       size_t element_size, const char* name, Placement placement)
    : role_(role),
      element_(element),
      bytes_(bytes),
      element_size_(element_size),
      name_(name[0] == '\0' ? "the buffer" : name),
      placement_(placement),
      lead_(kRedZone + (context().any_begin ? element_size : 0)),
      device_(current_device()),
      key_(seed() + context().allocations.size() * 0x10001) {
  context().allocations.insert(this);
  // Bytes in which whole words lie wherever the array begins. Of wider elements an answer may take
  // several at a time where they come to whole vectors.
  constexpr size_t kWords = 64, kVector = 16;
  const bool in_words = element_size <= 2 || bytes % kVector == 0;
  if (element_size < kVector && bytes >= kWords && in_words) context().has_words = true;
  if (role != Role::kOutput && bytes > 0) {
    context().input_bytes += bytes;
    if (bytes < kVector) context().has_short_input = true;
  }
  uses_device(device_);
  if (context().device_lost) return;
  void* memory = nullptr;
  const cudaError_t error = cudaMalloc(&memory, total());
  if (error != cudaSuccess) {
    cudaGetLastError();
    fail("cudaMalloc of " + std::to_string(total()) + " bytes for " + name_ +
         " failed: " + cudaGetErrorString(error) + ".");
    return;
  }
  base_ = static_cast<unsigned char*>(memory);
  wsim_name_allocation(base_, name[0] == '\0' ? "" : name_.c_str());

  std::vector<unsigned char> image = surroundings();
  if (bytes_ > 0 && role_ != Role::kOutput) std::memcpy(image.data() + lead_, host, bytes_);
  cudaMemcpy(base_, image.data(), total(), cudaMemcpyHostToDevice);
  if (role_ == Role::kInput) {
    original_.assign(image.data() + lead_, image.data() + lead_ + bytes_);
  } else if (role_ == Role::kOutput && bytes_ > 0) {
    wsim_mark_unwritten(payload(), bytes_);
  }
  protect();
}

Allocation::~Allocation() {
  context().allocations.erase(this);
  release_other();
  if (base_ == nullptr) return;
  expose();
  cudaFree(base_);
}

// The whole memory, with the payload poisoned.
std::vector<unsigned char> Allocation::surroundings() const {
  std::vector<unsigned char> image(total(), 0xFF);
  for (size_t i = 0; i < lead_; ++i) image[i] = pattern(key_, i);
  for (size_t i = lead_ + bytes_; i < total(); ++i) image[i] = pattern(key_, i);
  return image;
}

void Allocation::protect() const {
  wsim_mark_red_zone(base_, lead_);
  if (tail_size() > 0) wsim_mark_red_zone(tail(), tail_size());
}

void Allocation::expose() const {
  wsim_clear_red_zone(base_, lead_);
  if (tail_size() > 0) wsim_clear_red_zone(tail(), tail_size());
}

void Allocation::save(std::vector<unsigned char>* bytes, std::vector<uint8_t>* written) const {
  if (base_ == nullptr || bytes_ == 0) return;
  bytes->resize(bytes_);
  read(bytes->data(), written);
}

void Allocation::put_back(const std::vector<unsigned char>& bytes,
                          const std::vector<uint8_t>& written) const {
  if (base_ == nullptr || bytes.empty()) return;
  cudaMemcpy(payload(), bytes.data(), bytes_, cudaMemcpyHostToDevice);
  mark_unwritten(written);
}

bool Allocation::read(void* host, std::vector<uint8_t>* written) const {
  written->clear();
  if (!simulated()) {
    return cudaMemcpy(host, payload(), bytes_, cudaMemcpyDeviceToHost) == cudaSuccess;
  }
  written->resize(bytes_);
  wsim_peek(payload(), bytes_, host, written->data());
  return true;
}

void Allocation::mark_unwritten(const std::vector<uint8_t>& written) const {
  for (size_t begin = 0; begin < written.size();) {
    const auto end =
        std::find(written.begin() + static_cast<long>(begin), written.end(), !written[begin]);
    const size_t stop = static_cast<size_t>(end - written.begin());
    if (!written[begin]) wsim_mark_unwritten(payload() + begin, stop - begin);
    begin = stop;
  }
}

bool Allocation::download(void* host, std::vector<uint8_t>* written) const {
  const size_t n = bytes_ / element_size_;
  // Nothing is known to be written where the device has failed; a test may still look at each.
  if (written != nullptr) written->assign(simulated() ? n : 0, 0);
  if (base_ == nullptr || synchronize_devices() != cudaSuccess) return false;
  if (bytes_ == 0) return true;
  std::vector<uint8_t> mask;
  const bool ok = read(host, &mask);
  if (written != nullptr) written->clear();
  if (written != nullptr && !mask.empty()) {
    written->assign(n, 1);
    for (size_t i = 0; i < bytes_; ++i) {
      if (!mask[i]) (*written)[i / element_size_] = 0;
    }
  }
  return ok;
}

std::string Allocation::check_zone(const unsigned char* zone, size_t size, bool before) const {
  if (size == 0) return "";
  std::vector<unsigned char> now(size);
  if (cudaMemcpy(now.data(), zone, size, cudaMemcpyDeviceToHost) != cudaSuccess) return "";
  const size_t offset = static_cast<size_t>(zone - base_);
  // The byte nearest to the payload is where most overruns start.
  for (size_t k = 0; k < size; ++k) {
    const size_t i = before ? size - 1 - k : k;
    if (now[i] == pattern(key_, offset + i)) continue;
    const size_t n = bytes_ / element_size_;
    const size_t away = before ? (size - i + element_size_ - 1) / element_size_ : i / element_size_;
    const std::string index = before ? "-" + std::to_string(away) : std::to_string(n + away);
    return name_ + "[" + index + "] was written, but " + name_ + " has " + std::to_string(n) +
           (n == 1 ? " element: " : " elements: ") + "the kernel wrote past its " +
           (before ? "start" : "end") + ".";
  }
  return "";
}

std::string Allocation::check_red_zones() const {
  if (base_ == nullptr) return "";
  expose();
  std::string problem = check_zone(base_, lead_, true);
  if (problem.empty()) problem = check_zone(tail(), tail_size(), false);
  protect();
  return problem;
}

std::string Allocation::check_unchanged() const {
  if (role_ != Role::kInput || base_ == nullptr || bytes_ == 0) return "";
  std::vector<unsigned char> now(bytes_);
  if (!download(now.data(), nullptr) || now == original_) return "";
  const auto found = std::mismatch(now.begin(), now.end(), original_.begin()).first;
  const size_t i = static_cast<size_t>(found - now.begin()) / element_size_;
  return name_ + "[" + std::to_string(i) + "] was changed. " + name_ +
         " is an input: the kernel must leave it as it is.";
}

std::shared_ptr<Allocation> allocate(Role role, ElementKind element, const void* host, size_t bytes,
                                     size_t element_size, const char* name, Placement placement) {
  return std::make_shared<Allocation>(role, element, host, bytes, element_size, name, placement);
}

void* address(const Allocation& allocation) { return allocation.payload(); }

bool download(const Allocation& allocation, void* host, std::vector<uint8_t>* written) {
  return allocation.download(host, written);
}

const std::string& name(const Allocation& allocation) { return allocation.name(); }

}  // namespace internal

std::string check_buffers() {
  std::string problem;
  for (const internal::Allocation* allocation : context().allocations) {
    if (problem.empty()) problem = allocation->check_red_zones();
    if (problem.empty()) problem = allocation->check_unchanged();
  }
  return problem;
}

BuffersBefore::BuffersBefore() {
  for (const internal::Allocation* allocation : context().allocations) {
    Copy copy = {allocation, {}, {}};
    allocation->save(&copy.bytes, &copy.written);
    copies_.push_back(std::move(copy));
  }
}

void BuffersBefore::restore() const {
  for (const Copy& copy : copies_) copy.allocation->put_back(copy.bytes, copy.written);
}

void abandon_buffers() {
  for (internal::Allocation* allocation : context().allocations) allocation->abandon();
  for (internal::SparseMemory* memory : context().sparse) memory->abandon();
}

}  // namespace kit
