// Buffers with more elements than there is memory for: a few parts of them are used, far apart. For
// cases in which an index does not fit into 32 bits. Simulator only: a test returns where
// kit::simulated() is false.
//
//   const auto d_x = kit::SparseBuffer<float>::input(size_t{3} << 30, {{0, first}, {far, second}},
//   "x"); const auto d_y = kit::SparseBuffer<float>::output(size_t{3} << 30, "y"); kit::run([&] {
//   launch_twice(d_x.get(), d_y.get(), 2, cols, far); }); kit::expect_parts(d_y, {{0,
//   twice(first)}, {far, twice(second)}});
#ifndef WARPLINGS_KIT_SPARSE_H_
#define WARPLINGS_KIT_SPARSE_H_

#include <utility>
#include <vector>

#include "kit/kit.h"
#include "kit/sparse_memory.h"

namespace kit {

namespace internal {

bool fail_part(const std::string& name, size_t index, const std::string& what, Site site);

}  // namespace internal

// Elements that follow each other, and the index of the first.
template <class T>
using Part = std::pair<size_t, std::vector<T>>;

template <class T>
class SparseBuffer {
 public:
  // Reading anything else than the parts is a finding.
  static SparseBuffer input(size_t n, const std::vector<Part<T>>& parts, const char* name) {
    SparseBuffer buffer(n, name);
    for (const Part<T>& part : parts) {
      buffer.memory_->write(part.first * sizeof(T), part.second.data(),
                            part.second.size() * sizeof(T));
    }
    return buffer;
  }
  static SparseBuffer output(size_t n, const char* name) { return SparseBuffer(n, name); }

  T* get() const { return static_cast<T*>(memory_->get()); }
  size_t size() const { return size_; }
  const internal::SparseMemory& memory() const { return *memory_; }

 private:
  SparseBuffer(size_t n, const char* name)
      : size_(n), memory_(std::make_shared<internal::SparseMemory>(n * sizeof(T), name)) {}

  size_t size_;
  std::shared_ptr<internal::SparseMemory> memory_;
};

// Fails unless these elements, in the order of their indices, are exactly so, and nothing else in
// the buffer has been written.
template <class T>
bool expect_parts(const SparseBuffer<T>& got, const std::vector<Part<T>>& expected,
                  Site site = Site::here()) {
  if (internal::case_failed()) return false;
  const std::string& name = got.memory().name();
  const auto nothing_between = [&](size_t begin, size_t end) {
    const size_t written = got.memory().first_written(begin * sizeof(T), end * sizeof(T));
    if (written == end * sizeof(T)) return true;
    return internal::fail_part(name, written / sizeof(T),
                               " was written, and is no element of the result: an index that does "
                               "not fit into 32 bits leads elsewhere. Compute it in 64 bits.",
                               site);
  };
  size_t end = 0;
  for (const Part<T>& part : expected) {
    if (!nothing_between(end, part.first)) return false;
    std::vector<T> values(part.second.size());
    if (!got.memory().read(part.first * sizeof(T), values.data(), values.size() * sizeof(T))) {
      return internal::fail_part(name, part.first, " or an element behind it was never written.",
                                 site);
    }
    for (size_t i = 0; i < values.size(); ++i) {
      if (internal::same(values[i], part.second[i])) continue;
      std::ostringstream text;
      text << " is " << values[i] << ", expected " << part.second[i] << ".";
      return internal::fail_part(name, part.first + i, text.str(), site);
    }
    end = part.first + values.size();
  }
  return nothing_between(end, got.size());
}

}  // namespace kit

#endif  // WARPLINGS_KIT_SPARSE_H_
