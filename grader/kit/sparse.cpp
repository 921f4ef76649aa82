#include "kit/sparse.h"

#include <algorithm>

#include "kit/context.h"

namespace kit {
namespace internal {

SparseMemory::SparseMemory(size_t size, const char* name)
    : base_(static_cast<unsigned char*>(wsim_allocate_sparse(size))), size_(size), name_(name) {
  enter();
}

SparseMemory::SparseMemory(size_t size, const void* pattern, size_t period, const char* name)
    : base_(static_cast<unsigned char*>(wsim_allocate_repeated(size, pattern, period))),
      size_(size),
      name_(name) {
  enter();
}

void SparseMemory::enter() {
  context().sparse.insert(this);
  uses_device(current_device());
  if (base_ == nullptr) {
    fail("There are no addresses left for " + name_ + ". Is the test for the simulator alone?");
    return;
  }
  wsim_name_allocation(base_, name_.c_str());
}

SparseMemory::~SparseMemory() {
  context().sparse.erase(this);
  cudaFree(base_);
}

void SparseMemory::write(size_t at, const void* bytes, size_t size) const {
  if (base_ != nullptr) cudaMemcpy(base_ + at, bytes, size, cudaMemcpyHostToDevice);
}

bool SparseMemory::peek(size_t at, void* bytes, size_t size, uint8_t* written) const {
  if (base_ == nullptr || synchronize_devices() != cudaSuccess) return false;
  wsim_peek(base_ + at, size, bytes, written);
  return true;
}

bool SparseMemory::read(size_t at, void* bytes, size_t size) const {
  if (base_ == nullptr || synchronize_devices() != cudaSuccess) return false;
  std::vector<uint8_t> written(size);
  wsim_query_written(base_ + at, size, written.data());
  if (std::find(written.begin(), written.end(), 0) != written.end()) return false;
  return cudaMemcpy(bytes, base_ + at, size, cudaMemcpyDeviceToHost) == cudaSuccess;
}

size_t SparseMemory::first_written(size_t begin, size_t end) const {
  return base_ == nullptr ? end : begin + wsim_find_written(base_ + begin, end - begin);
}

std::string grouped(size_t number) {
  std::string digits = std::to_string(number);
  for (size_t at = digits.size(); at > 3;) digits.insert(at -= 3, ",");
  return digits;
}

bool fail_part(const std::string& name, size_t index, const std::string& what, Site site) {
  return fail("Beyond 2^31 elements: " + name + "[" + grouped(index) + "]" + what, site);
}

}  // namespace internal
}  // namespace kit
