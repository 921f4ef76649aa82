#include "runtime/library_work.h"

#include <algorithm>
#include <utility>

#include "core/gpu_model.h"
#include "core/machine.h"
#include "exec/launch.h"
#include "memory/bit_range.h"
#include "memory/device_memory.h"
#include "memory/footprint.h"
#include "memory/payload.h"
#include "profile/counters.h"
#include "profile/timeline.h"
#include "profile/timeline_model.h"
#include "runtime/capture.h"
#include "runtime/device_state.h"
#include "runtime/pointer.h"
#include "warplings/script.h"

namespace warplings::sim {
namespace {

// Calls visit(offset, bytes) for every row, rows that touch joined to one.
template <class Visit>
void for_each_row(const LibraryOperand& operand, Visit visit) {
  size_t width = operand.width, height = operand.height, depth = operand.depth;
  size_t pitch = operand.pitch;
  if (height == 1 || pitch == width) {
    width *= height;
    height = 1;
  }
  if (height == 1 && (depth == 1 || operand.slice == width)) {
    width *= depth;
    depth = 1;
  }
  for (size_t z = 0; z < depth; ++z) {
    for (size_t y = 0; y < height; ++y) visit(z * operand.slice + y * pitch, width);
  }
}

// Memory of another device is out of reach unless the program has asked for access.
bool has_access(const ApiCall& call, const LibraryOperand& operand, int device) {
  const Allocation* allocation =
      DeviceMemory::instance().allocation_at(address_of(operand.pointer));
  if (allocation == nullptr || (allocation->access >> device & 1) != 0) return true;
  call.report("memcheck", "no-peer-access",
              call.description() + " was given as its " + operand.role + " " +
                  describe(*allocation) + ", memory of device " +
                  std::to_string(allocation->device) + ". The call runs on device " +
                  std::to_string(device) +
                  ", which has no access to it. Nothing was done. Allocate it on the device whose "
                  "handle or communicator uses it (cudaSetDevice before cudaMalloc).");
  return false;
}

cudaError_t check_operands(const LibraryWork& work, const std::vector<LibraryOperand>& operands) {
  for (const LibraryOperand& operand : operands) {
    if (operand.bytes() == 0) continue;
    const cudaError_t error = check_range(work.origin, operand.role.c_str(), operand.pointer,
                                          operand.extent(), /*needs_device=*/true);
    if (error != cudaSuccess) return error;
    if (!has_access(work.origin, operand, work.device)) return cudaErrorInvalidValue;
  }
  return cudaSuccess;
}

// One finding for each operand that holds bytes which nothing has written.
void check_written(const LibraryWork& work, const LibraryOperand& operand) {
  const DeviceMemory& memory = DeviceMemory::instance();
  const uint64_t start = address_of(operand.pointer);
  if (!engine_options().checks || memory.all_defined(start, operand.extent())) return;
  uint64_t count = 0, first = 0;
  for_each_row(operand, [&](size_t offset, size_t width) {
    const uint64_t bit = DeviceMemory::offset_of(start + offset), end = bit + width;
    uint64_t at = find_set_bit(memory.undefined_bits(), bit, width);
    if (at < end && count == 0) first = at + DeviceMemory::instance().base();
    for (; at < end; ++at) count += memory.undefined_bits()[at >> 6] >> (at & 63) & 1;
  });
  if (count == 0) return;
  const Allocation* allocation = memory.allocation_at(first);
  work.origin.report("initcheck", "unwritten-operand",
                     work.origin.description() + " reads " + std::to_string(count) + " of " +
                         std::to_string(operand.bytes()) + " bytes of its " + operand.role +
                         " that nothing has written, the first at byte " +
                         std::to_string(first - payload(*allocation).first) + " of " +
                         describe(*allocation) +
                         ". On a GPU they hold whatever was there before. Was it filled, and are "
                         "the sizes, the leading dimension and the stride right?");
}

// Looks at what the operands hold before the work is done, and counts them.
void begin_use(const LibraryWork& work, const std::vector<LibraryOperand>& operands) {
  uint64_t read = 0, written = 0;
  for (const LibraryOperand& operand : operands) {
    if (operand.bytes() == 0) continue;
    if (operand.reads) check_written(work, operand);
    read += operand.reads ? operand.bytes() : 0;
    written += operand.writes ? operand.bytes() : 0;
  }
  CounterStore::instance().record_library(work.name, work.origin.where(), read, written);
}

// What the operands hold when the work is done.
void end_use(const std::vector<LibraryOperand>& operands) {
  for (const LibraryOperand& operand : operands) {
    if (operand.bytes() == 0 || !(operand.writes || operand.spoils)) continue;
    for_each_row(operand, [&](size_t offset, size_t width) {
      const uint64_t address = address_of(operand.pointer) + offset;
      if (operand.spoils) {
        DeviceMemory::instance().mark_undefined(address, width);
      } else {
        DeviceMemory::instance().mark_defined(address, width);
      }
    });
  }
}

const LibraryWork*& running_work() {
  struct Running {
    const LibraryWork* work = nullptr;
  };
  return Machine::get<Running>().work;
}

void run(const LibraryWork& work) {
  for (const LibraryOperand& operand : work.operands) {
    const bool usable = operand.bytes() == 0 || still_there(work.origin, operand.role.c_str(),
                                                            operand.pointer, operand.extent());
    if (!usable) return;
  }
  begin_use(work, work.operands);
  running_work() = &work;
  work.run();
  running_work() = nullptr;
  end_use(work.operands);
}

// A lower bound that needs no knowledge of the library: see TIMELINE.md.
KernelTime time_of(const LibraryWork& work) {
  const GpuModel& card = gpu_model();
  double bytes = 0;
  for (const LibraryOperand& operand : work.operands) {
    const auto size = static_cast<double>(operand.bytes());
    bytes += (operand.reads ? size : 0) + (operand.writes ? size : 0);
  }
  const double moving = bytes / card.dram_bytes_per_second;
  const double computing =
      work.operations / (2.0 * card.fp32_lanes * card.multiprocessors * card.clock_hz);
  const double sending = work.link_bytes / timeline_model().peer_rate;
  KernelTime time;
  time.seconds = timeline_model().kernel_least + std::max({moving, computing, sending});
  time.demand.issue = std::min(1.0, computing / time.seconds);
  time.demand.memory = std::min(1.0, moving / time.seconds);
  return time;
}

}  // namespace

WorkItem work_item(const std::shared_ptr<const LibraryWork>& work) {
  WorkItem item;
  item.about = std::make_shared<Work>();
  item.about->kind = WorkKind::kLibrary;
  item.about->name = work->name;
  item.about->where = work->origin.where();
  item.about->bytes = static_cast<uint64_t>(work->link_bytes);
  for (const LibraryOperand& operand : work->operands) {
    if (operand.bytes() == 0) continue;
    for_each_row(operand, [&](size_t offset, size_t width) {
      const uint64_t address = address_of(operand.pointer) + offset;
      if (operand.reads) item.about->ranges.push_back({address, width, false});
      if (operand.writes || operand.spoils) item.about->ranges.push_back({address, width, true});
    });
  }
  item.run = [work] {
    run(*work);
    Timeline::instance().kernel_took(time_of(*work));
    return cudaSuccess;
  };
  return item;
}

cudaError_t use_operands(const std::vector<LibraryOperand>& operands) {
  const LibraryWork& work = *running_work();
  const cudaError_t error = check_operands(work, operands);
  if (error != cudaSuccess) return error;
  begin_use(work, operands);
  Footprint* footprint = Footprint::recording();
  for (const LibraryOperand& operand : operands) {
    if (footprint == nullptr || operand.bytes() == 0) continue;
    for_each_row(operand, [&](size_t offset, size_t width) {
      const uint64_t address = address_of(operand.pointer) + offset;
      if (operand.reads) footprint->add(address, width, false);
      if (operand.writes || operand.spoils) footprint->add(address, width, true);
    });
  }
  end_use(operands);
  return cudaSuccess;
}

}  // namespace warplings::sim

using namespace warplings::sim;

namespace {

LibraryOperand operand_of(const wsim_operand& from) {
  LibraryOperand operand;
  operand.role = from.role;
  operand.pointer = from.pointer;
  operand.width = from.width;
  operand.height = from.height;
  operand.pitch = from.pitch;
  operand.depth = from.depth;
  operand.slice = from.slice;
  operand.reads = (from.access & WSIM_READ) != 0;
  operand.writes = (from.access & WSIM_WRITE) != 0;
  operand.spoils = (from.access & WSIM_SPOIL) != 0;
  return operand;
}

std::vector<LibraryOperand> operands_of(const wsim_operand* from, size_t count) {
  std::vector<LibraryOperand> operands;
  for (size_t i = 0; i < count; ++i) operands.push_back(operand_of(from[i]));
  return operands;
}

std::shared_ptr<LibraryWork> work_of(const wsim_library_work& from) {
  auto work = std::make_shared<LibraryWork>(ApiCall(from.site.name, from.site.return_address));
  work->name = from.site.name;
  work->device = from.device;
  work->operands = operands_of(from.operands, from.operand_count);
  work->operations = from.operations;
  work->link_bytes = from.link_bytes;
  const std::shared_ptr<void> state(from.state, from.release);
  work->run = [state, run = from.run] { run(state.get()); };
  return work;
}

// As with an event of each stream that all others wait for.
cudaError_t join_streams(const wsim_device_stream* streams, size_t count) {
  std::vector<std::shared_ptr<StreamState>> states;
  std::vector<CUevent_st> events(count);
  for (size_t i = 0; i < count; ++i) {
    const DeviceScope scope(streams[i].device);
    std::shared_ptr<StreamState> state;
    const cudaError_t error = find_target(static_cast<cudaStream_t>(streams[i].stream), &state);
    if (error != cudaSuccess) return error;
    if (state->device != streams[i].device) return cudaErrorInvalidResourceHandle;
    if (state->capture != nullptr) {
      capture_record(&events[i], *state);
    } else {
      Streams::instance().record(&events[i], state);
    }
    states.push_back(std::move(state));
  }
  for (size_t i = 0; i < count; ++i) {
    for (size_t j = 0; j < count; ++j) {
      if (states[i] == states[j]) continue;
      const EventRecord& record = *events[j].record;
      if (states[i]->capture == nullptr && record.captured == nullptr) {
        Streams::instance().wait(states[i], record);
      } else if (const cudaError_t error = capture_wait(states[i], record); error != cudaSuccess) {
        return error;
      }
    }
  }
  return cudaSuccess;
}

// Of wsim_script_algorithms and wsim_script_turned_lists.
struct ScriptedAlgorithms {
  std::vector<size_t> workspaces{0};
  int used = -1;
  bool turned = false;
};
std::vector<size_t>& scripted_workspaces() { return Machine::get<ScriptedAlgorithms>().workspaces; }
bool& lists_are_turned() { return Machine::get<ScriptedAlgorithms>().turned; }
int& used_algorithm() { return Machine::get<ScriptedAlgorithms>().used; }

}  // namespace

extern "C" {

int wsim_library_enqueue(const wsim_library_work* request) {
  const std::shared_ptr<LibraryWork> work = work_of(*request);
  return run_api(
      request->site.name, request->site.return_address, OnFault::kRefuse, [&](const ApiCall&) {
        const DeviceScope scope(work->device);
        std::shared_ptr<StreamState> stream;
        cudaError_t error = find_target(static_cast<cudaStream_t>(request->stream), &stream);
        if (error != cudaSuccess) return error;
        if (stream->device != work->device) return cudaErrorInvalidResourceHandle;
        error = check_operands(*work, work->operands);
        if (error != cudaSuccess) return error;
        Timeline::instance().host_call("__cudaLaunchKernel");
        if (stream->capture != nullptr) {
          // A result that the host waits for cannot come from a graph.
          if (request->wait != 0) return cudaErrorStreamCaptureUnsupported;
          capture_node(*stream, LibraryNodeWork{work});
          return cudaSuccess;
        }
        WorkItem item = work_item(work);
        item.about->blocking = request->wait != 0;
        Streams::instance().enqueue(stream, std::move(item));
        return request->wait != 0 ? Streams::instance().synchronize_last(stream) : cudaSuccess;
      });
}

int wsim_library_join(const wsim_device_stream* streams, size_t count) {
  const std::lock_guard lock(api_mutex());
  return join_streams(streams, count);
}

int wsim_library_use(const wsim_operand* operands, size_t operand_count) {
  return use_operands(operands_of(operands, operand_count));
}

void* wsim_view(const void* pointer) { return usable(const_cast<void*>(pointer)); }

int wsim_is_device_only(const void* pointer) { return host_can_use(memory_kind(pointer)) ? 0 : 1; }

void wsim_library_count(const char* name) {
  const std::lock_guard lock(api_mutex());
  count_api_call(name);
}

void wsim_script_algorithms(const size_t* workspaces, int count) {
  const std::lock_guard lock(api_mutex());
  scripted_workspaces() =
      count < 0 ? std::vector<size_t>{0} : std::vector<size_t>(workspaces, workspaces + count);
  used_algorithm() = -1;
}

int wsim_used_algorithm(void) { return used_algorithm(); }

int wsim_library_algorithms(const size_t** workspaces) {
  const std::lock_guard lock(api_mutex());
  *workspaces = scripted_workspaces().data();
  return static_cast<int>(scripted_workspaces().size());
}

void wsim_script_unreachable(int device, int peer) {
  const std::lock_guard lock(api_mutex());
  make_unreachable(device, peer);
}

void wsim_script_turned_lists(int on) {
  const std::lock_guard lock(api_mutex());
  lists_are_turned() = on != 0;
}
int wsim_library_lists_are_turned(void) {
  const std::lock_guard lock(api_mutex());
  return lists_are_turned() ? 1 : 0;
}

void wsim_library_uses_algorithm(int position) { used_algorithm() = position; }

int wsim_library_must_fail(wsim_call_site site) {
  const std::lock_guard lock(api_mutex());
  return has_to_fail(ApiCall(site.name, site.return_address)) ? 1 : 0;
}

void wsim_library_report(wsim_call_site site, const char* kind, const char* what, int is_note) {
  const std::lock_guard lock(api_mutex());
  const ApiCall call(site.name, site.return_address);
  call.report("api", kind, call.description() + " " + what, is_note != 0);
}

}  // extern "C"
