// alloca, stacksave, stackrestore: what a function takes of the thread's local memory while it
// runs. It lies above the variables of the frame, and goes when the function returns.
#include <algorithm>

#include "decode/handlers.h"
#include "exec/fault.h"
#include "exec/lanes.h"
#include "exec/memory_access.h"
#include "exec/reports.h"

namespace warplings::sim {
namespace {

using namespace baseline;  // NOLINT: lanes.h lives in the namespace of its build

// Where lane's next bytes would begin.
uint32_t top_of(const Warp& w, int lane) {
  const Frame& frame = w.frames[static_cast<size_t>(w.current_frame)];
  const Function& function = w.module->functions[static_cast<size_t>(frame.function)];
  return std::max(w.stack_top[static_cast<size_t>(lane)], frame.local + function.local_bytes);
}

uint64_t value_of(const Warp& w, Place source, uint8_t bytes, int lane) {
  return bytes == 8 ? w.in<uint64_t>(source)[lane] : w.in<uint32_t>(source)[lane];
}

void set_result(Warp& w, const Instr& in, int lane, uint32_t value) {
  if (in.register_size == 8) {
    w.out<uint64_t>(in.ops[0])[lane] = value;
  } else {
    w.out<uint32_t>(in.ops[0])[lane] = value;
  }
}

void set_top(Warp& w, int lane, uint64_t top) {
  if (top > kMostLocal) {
    report_unsupported(w, "the stack of a thread is full: it has at most 512 KiB");
    throw LaunchFault{LaunchStatus::kIllegalAddress};
  }
  w.stack_top[static_cast<size_t>(lane)] = static_cast<uint32_t>(top);
  w.takes_stack = true;
}

// ops: [0] result, [1] bytes; imm: alignment
void op_alloca(Warp& w, const Instr& in, uint32_t mask) {
  const auto alignment = static_cast<uint64_t>(in.imm);
  each_lane(mask, [&](int lane) {
    const uint64_t start = (top_of(w, lane) + alignment - 1) / alignment * alignment;
    const uint64_t bytes = value_of(w, in.ops[1], in.register_size, lane);
    const uint64_t end = start + std::min<uint64_t>(bytes, kMostLocal + 1);
    set_top(w, lane, end);
    ensure_local(w, static_cast<uint32_t>(end));
    const size_t first = static_cast<size_t>(lane) * w.local_size + start;
    std::fill_n(w.local_undefined.begin() + static_cast<long>(first), end - start, uint8_t{1});
    set_result(w, in, lane, static_cast<uint32_t>(start));
  });
}

void op_stacksave(Warp& w, const Instr& in, uint32_t mask) {
  each_lane(mask, [&](int lane) { set_result(w, in, lane, top_of(w, lane)); });
}

void op_stackrestore(Warp& w, const Instr& in, uint32_t mask) {
  each_lane(mask,
            [&](int lane) { set_top(w, lane, value_of(w, in.ops[1], in.source_size, lane)); });
}

}  // namespace

Handler handler_alloca() { return op_alloca; }
Handler handler_stacksave() { return op_stacksave; }
Handler handler_stackrestore() { return op_stackrestore; }

}  // namespace warplings::sim
