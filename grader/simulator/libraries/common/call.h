// What the libraries share: a call in progress, and the memory that it uses.
#ifndef WARPLINGS_SIMULATOR_LIBRARIES_COMMON_CALL_H_
#define WARPLINGS_SIMULATOR_LIBRARIES_COMMON_CALL_H_

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "warplings/library.h"

namespace warplings::libraries {

// One level of a layout: `count` items, `stride` bytes from one to the next. A negative stride is
// taken for its size: the items then lie the other way round in the same bytes.
struct Level {
  int64_t count = 0;
  int64_t stride = 0;
};

enum class Access { kRead, kWrite, kReadWrite, kSpoil };

// The memory that a call uses. Levels go from the innermost to the outermost.
class Operands {
 public:
  void add(std::string role, const void* pointer, size_t element, std::vector<Level> levels,
           Access access);
  std::vector<wsim_operand> list() const;

 private:
  struct Entry {
    std::string role;
    wsim_operand operand;
  };
  std::vector<Entry> entries_;
};

// Where and how a call runs.
struct Placement {
  int device = 0;
  cudaStream_t stream = nullptr;
  double operations = 0;  // of fp32; for the modelled time
  double link_bytes = 0;  // that go to other devices
  bool wait = false;      // the call returns a result to the host
};

// A call of the program in progress.
class Call {
 public:
  Call(const char* name, const void* return_address) : site_{name, return_address} {}

  // Work for the stream; `run` reads and writes through view().
  cudaError_t enqueue(const Placement& placement, const Operands& operands,
                      std::function<void()> run) const;
  // Something that the vendor's library has and this one has not: "... is not simulated".
  void not_simulated(const std::string& what) const;
  // The function itself: the vendor's library has it and this one has not.
  void not_there() const;
  // A note that explains a status code.
  void explain(const char* kind, const std::string& what) const;
  // A mistake that the vendor's library does not report.
  void report(const char* kind, const std::string& what) const;

 private:
  wsim_call_site site_;
};

// The name that the program writes: "cublasSgemm_v2" is the linker's.
#define WARPLINGS_LIBRARY_CALL(name) \
  const ::warplings::libraries::Call call(#name, __builtin_return_address(0))

// The same for a call that has no work for a stream: it returns `status` where it has to fail.
#define WARPLINGS_MAY_FAIL(name, status) \
  if (wsim_library_must_fail({#name, __builtin_return_address(0)}) != 0) return status

// Where the library reads and writes what a pointer of the program refers to.
template <class T>
T* view(T* pointer) {
  return static_cast<T*>(wsim_view(pointer));
}

// Within `run`: operands that are known only now. False, with a finding, if they cannot be used.
bool use(const Operands& operands);

int current_device();

}  // namespace warplings::libraries

#endif  // WARPLINGS_SIMULATOR_LIBRARIES_COMMON_CALL_H_
