// The functions that compiled code calls for launches and streams of a kernel.
#include <bit>
#include <map>

#include "core/error_names.h"
#include "core/machine.h"
#include "exec/builtin_call.h"
#include "exec/device_launch.h"
#include "exec/fault.h"
#include "exec/interpreter.h"
#include "exec/reports.h"
#include "memory/device_memory.h"

namespace warplings::sim {
namespace {

// Values of cudaError_t.
constexpr int kMemoryAllocation = 2, kInvalidDeviceFunction = 98;

// Calls through which threads of one warp go one after the other.
struct Call {
  Warp& warp;
  const CallSite& site;
  int lane;
  DeviceLaunches& launches;

  uint64_t number(size_t index) const { return argument(warp, site, index, lane); }
  Dim3 size(size_t index) const {
    struct Sizes {
      unsigned x, y, z;
    };
    const auto sizes = argument_as<Sizes>(warp, site, index, lane);
    return {sizes.x, sizes.y, sizes.z};
  }
  uint64_t block() const { return warp.block->linear; }
  uint64_t thread() const {
    return block() * 1024 + static_cast<uint64_t>(warp.index) * 32 + static_cast<uint64_t>(lane);
  }
  // An error is remembered for cudaGetLastError.
  uint64_t done(int error) const { return static_cast<uint64_t>(launches.fail(thread(), error)); }
  uint64_t store(uint64_t address, uint64_t value, unsigned bytes) const {
    uint8_t* to = bytes_at(warp, lane, address, bytes);
    if (to == nullptr) return done(1);  // cudaErrorInvalidValue
    std::memcpy(to, &value, bytes);
    mark_written(warp, lane, address, bytes);
    return 0;
  }
};

const Kernel* kernel_at(const LoadedModule& module, uint64_t address) {
  const uint64_t index = (address - kFunctionAddressBase) / 16;
  if (address < kFunctionAddressBase || index >= module.functions.size()) return nullptr;
  return find_linked_kernel(module, module.functions[index].name);
}

uint64_t get_parameter_buffer(Call& call) {
  const Kernel* kernel = kernel_at(*call.warp.module, call.number(0));
  if (kernel == nullptr) {
    call.done(kInvalidDeviceFunction);
    return 0;
  }
  LaunchConfig config;
  config.grid = call.size(1);
  config.block = call.size(2);
  config.dynamic_shared = call.number(3);
  config.where = call.warp.module->position_of(call.warp.pc).user;
  const uint64_t buffer = call.launches.parameter_buffer(kernel, config);
  if (buffer == 0) call.done(kMemoryAllocation);
  return buffer;
}

uint64_t launch(Call& call) {
  return call.done(call.launches.launch(call.number(0), call.number(1), call.block()));
}

uint64_t get_last_error(Call& call) {
  return static_cast<uint64_t>(call.launches.last_error(call.thread(), true));
}
uint64_t peek_at_last_error(Call& call) {
  return static_cast<uint64_t>(call.launches.last_error(call.thread(), false));
}

// A text in device memory, made when it is first asked for.
uint64_t text_on_device(const std::string& text) {
  struct Texts {
    std::map<std::string, uint64_t> addresses;
  };
  uint64_t& address = Machine::get<Texts>().addresses[text];
  DeviceMemory& memory = DeviceMemory::instance();
  if (address == 0) {
    address = memory.allocate(text.size() + 1, AllocationKind::kModule, "error text");
    if (address == 0) return 0;
    memory.set_access(address, kEveryDevice);
    std::memcpy(memory.view(address), text.c_str(), text.size() + 1);
  }
  return address;
}
uint64_t get_error_string(Call& call) {
  return text_on_device(error_text(static_cast<cudaError_t>(call.number(0))));
}
uint64_t get_error_name(Call& call) {
  return text_on_device(error_name(static_cast<cudaError_t>(call.number(0))));
}

uint64_t create_handle(Call& call) {
  return call.store(call.number(0), call.launches.create_handle(), 8);
}
uint64_t succeed(Call&) { return 0; }
uint64_t event_record(Call& call) {
  call.launches.record(call.number(0), call.number(1), call.block());
  return 0;
}
uint64_t stream_wait_event(Call& call) {
  call.launches.wait(call.number(0), call.number(1), call.block());
  return 0;
}

// (destination, source, bytes, kind, stream)
uint64_t memcpy_async(Call& call) {
  return call.done(call.launches.copy(call.number(0), call.number(1), call.number(2),
                                      call.number(4), call.block()));
}
// (destination, value, bytes, stream)
uint64_t memset_async(Call& call) {
  return call.done(call.launches.fill(call.number(0), static_cast<int>(call.number(1)),
                                      call.number(2), call.number(3), call.block()));
}

uint64_t get_device(Call& call) {
  const auto device = static_cast<uint64_t>(call.warp.block->grid->config->device);
  return call.store(call.number(0), device, 4);
}

uint64_t allocate(Call& call) {
  const uint64_t address =
      DeviceMemory::instance().allocate(call.number(1), AllocationKind::kDevice, "device heap",
                                        call.warp.block->grid->config->device);
  return address == 0 ? call.done(kMemoryAllocation) : call.store(call.number(0), address, 8);
}
uint64_t release(Call& call) {
  if (call.number(0) != 0) DeviceMemory::instance().free(call.number(0));
  return 0;
}

struct Entry {
  const char* name;
  uint64_t (*function)(Call&);
};
constexpr Entry kEntries[] = {
    {"__cudaCDP2GetParameterBufferV2", get_parameter_buffer},
    {"__cudaCDP2LaunchDeviceV2", launch},
    {"__cudaCDP2LaunchDeviceV2_ptsz", launch},
    {"__cudaCDP2GetLastError", get_last_error},
    {"__cudaCDP2PeekAtLastError", peek_at_last_error},
    {"__cudaCDP2GetErrorString", get_error_string},
    {"__cudaCDP2GetErrorName", get_error_name},
    {"__cudaCDP2StreamCreateWithFlags", create_handle},
    {"__cudaCDP2StreamDestroy", succeed},
    {"__cudaCDP2StreamWaitEvent", stream_wait_event},
    {"__cudaCDP2EventCreateWithFlags", create_handle},
    {"__cudaCDP2EventRecord", event_record},
    {"__cudaCDP2EventDestroy", succeed},
    {"__cudaCDP2MemcpyAsync", memcpy_async},
    {"__cudaCDP2MemsetAsync", memset_async},
    {"__cudaCDP2GetDevice", get_device},
    {"__cudaCDP2Malloc", allocate},
    {"__cudaCDP2Free", release},
};

}  // namespace

int device_runtime_index(const std::string& name) {
  for (size_t i = 0; i < std::size(kEntries); ++i) {
    if (name == kEntries[i].name) return static_cast<int>(i);
  }
  return -1;
}

void call_device_runtime(Warp& warp, const CallSite& site, int index, uint32_t mask) {
  for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    Call call{warp, site, std::countr_zero(rest), *warp.block->grid->device_launches};
    set_result(warp, site, call.lane, kEntries[index].function(call));
  }
}

}  // namespace warplings::sim
