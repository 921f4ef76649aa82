// Calls of libraries (warplings/library.h) as work of a stream.
#ifndef WARPLINGS_SIMULATOR_RUNTIME_LIBRARY_WORK_H_
#define WARPLINGS_SIMULATOR_RUNTIME_LIBRARY_WORK_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/api.h"
#include "runtime/stream.h"
#include "warplings/library.h"

namespace warplings::sim {

struct LibraryOperand {
  std::string role;
  const void* pointer = nullptr;
  size_t width = 0, height = 1, pitch = 0, depth = 1, slice = 0;
  bool reads = false, writes = false;
  bool spoils = false;  // what it held is lost

  size_t bytes() const { return width * height * depth; }
  // Bytes from the first to one past the last.
  size_t extent() const {
    return bytes() == 0 ? 0 : (depth - 1) * slice + (height - 1) * pitch + width;
  }
};

// All that a call needs when its stream gets there; graphs hold it too.
struct LibraryWork {
  explicit LibraryWork(const ApiCall& call) : origin(call) {}

  std::string name;
  ApiCall origin;
  int device = 0;
  std::vector<LibraryOperand> operands;
  double operations = 0, link_bytes = 0;
  std::function<void()> run;
};

WorkItem work_item(const std::shared_ptr<const LibraryWork>& work);

// Operands that the work which runs has found in device memory (wsim_library_use).
cudaError_t use_operands(const std::vector<LibraryOperand>& operands);

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_RUNTIME_LIBRARY_WORK_H_
