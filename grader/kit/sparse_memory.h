// Device memory of the simulator that takes no room before it is used, for kit/sparse.h and
// kit/largest.h.
#ifndef WARPLINGS_KIT_SPARSE_MEMORY_H_
#define WARPLINGS_KIT_SPARSE_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <string>

namespace kit {
namespace internal {

// Device memory that holds only what is touched; bytes throughout.
class SparseMemory {
 public:
  SparseMemory(size_t size, const char* name);
  // It holds these bytes again and again; `period` is a multiple of 4096.
  SparseMemory(size_t size, const void* pattern, size_t period, const char* name);
  ~SparseMemory();
  SparseMemory(const SparseMemory&) = delete;
  SparseMemory& operator=(const SparseMemory&) = delete;

  void abandon() { base_ = nullptr; }  // a device reset has taken it
  void* get() const { return base_; }
  const std::string& name() const { return name_; }
  void write(size_t at, const void* bytes, size_t size) const;
  // What is there, and for each byte whether it has been written.
  bool peek(size_t at, void* bytes, size_t size, uint8_t* written) const;
  // False if not all of them have been written.
  bool read(size_t at, void* bytes, size_t size) const;
  // Offset of the first byte in [begin, end) that holds a value, or end.
  size_t first_written(size_t begin, size_t end) const;

 private:
  void enter();

  unsigned char* base_;
  size_t size_;
  std::string name_;
};

std::string grouped(size_t number);  // "1,073,741,823"

}  // namespace internal
}  // namespace kit

#endif  // WARPLINGS_KIT_SPARSE_MEMORY_H_
