// The functions of warplings/sim.h.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "core/finding.h"
#include "core/machine.h"
#include "exec/edges.h"
#include "exec/schedule.h"
#include "memory/device_memory.h"
#include "profile/cost.h"
#include "profile/counters.h"
#include "profile/recorder.h"
#include "profile/timeline.h"
#include "profile/timeline_model.h"
#include "profile/timeline_report.h"
#include "runtime/api.h"
#include "runtime/call_failure.h"
#include "runtime/device_state.h"
#include "runtime/error_state.h"
#include "runtime/holdings.h"
#include "runtime/host_fault.h"
#include "runtime/pointer.h"
#include "runtime/registry.h"
#include "runtime/stream.h"
#include "warplings/sim.h"

using namespace warplings::sim;

namespace {

// Strings that were handed out live until the next call that replaces the list.
struct HandedOut {
  std::vector<Finding> findings;
  std::vector<CounterStore::Line> lines;
  std::vector<TimelineItem> items;
  std::vector<Holding> holdings;
  Position wait;
};
std::vector<Finding>& handed_out_findings() { return Machine::get<HandedOut>().findings; }
std::vector<CounterStore::Line>& handed_out_lines() { return Machine::get<HandedOut>().lines; }
std::vector<TimelineItem>& handed_out_items() { return Machine::get<HandedOut>().items; }
std::vector<Holding>& handed_out_holdings() { return Machine::get<HandedOut>().holdings; }
Position& handed_out_wait() { return Machine::get<HandedOut>().wait; }

void copy_size(const Dim3& from, unsigned* to) {
  to[0] = from.x;
  to[1] = from.y;
  to[2] = from.z;
}

}  // namespace

extern "C" {

int wsim_active(void) { return 1; }

void wsim_mark_unwritten(const void* ptr, size_t size) {
  DeviceMemory::instance().mark_undefined(address_of(ptr), size);
}

void wsim_mark_written(const void* ptr, size_t size) {
  DeviceMemory::instance().mark_defined(address_of(ptr), size);
}

void wsim_query_written(const void* ptr, size_t size, uint8_t* out) {
  const DeviceMemory& memory = DeviceMemory::instance();
  constexpr unsigned kStep = 16;
  for (size_t at = 0; at < size; at += kStep) {
    const auto count = static_cast<unsigned>(std::min<size_t>(kStep, size - at));
    const uint32_t undefined = memory.undefined_bytes(address_of(ptr) + at, count);
    if (undefined == 0) std::memset(out + at, 1, count);
    for (unsigned i = 0; undefined != 0 && i < count; ++i) {
      out[at + i] = (undefined >> i & 1) == 0 ? 1 : 0;
    }
  }
}

void* wsim_allocate_sparse(size_t size) {
  std::lock_guard lock(api_mutex());
  const int device = current_device();
  const uint64_t address = DeviceMemory::instance().allocate_sparse(size, device);
  if (address == 0) return nullptr;
  apply_peer_access(device);
  catch_host_access();
  return reinterpret_cast<void*>(address);
}

void* wsim_allocate_repeated(size_t size, const void* pattern, size_t period) {
  std::lock_guard lock(api_mutex());
  const int device = current_device();
  const uint64_t address =
      DeviceMemory::instance().allocate_repeated(size, pattern, period, device);
  if (address == 0) return nullptr;
  apply_peer_access(device);
  catch_host_access();
  return reinterpret_cast<void*>(address);
}

size_t wsim_find_written(const void* ptr, size_t size) {
  return DeviceMemory::instance().find_defined(address_of(ptr), size);
}

void wsim_peek(const void* ptr, size_t size, void* bytes, uint8_t* mask) {
  if (size == 0) return;
  std::memcpy(bytes, DeviceMemory::instance().view(address_of(ptr)), size);
  wsim_query_written(ptr, size, mask);
}

void wsim_poke(void* ptr, size_t size, const void* bytes, const uint8_t* mask) {
  if (size == 0) return;
  wsim_mark_written(ptr, size);
  std::memcpy(DeviceMemory::instance().view(address_of(ptr)), bytes, size);
  for (size_t begin = 0; begin < size;) {
    const void* const other = std::memchr(mask + begin, mask[begin] == 0 ? 1 : 0, size - begin);
    const size_t end =
        other == nullptr ? size : static_cast<size_t>(static_cast<const uint8_t*>(other) - mask);
    if (mask[begin] == 0) {
      DeviceMemory::instance().mark_undefined(address_of(ptr) + begin, end - begin);
    }
    begin = end;
  }
}

void wsim_forgive_faults(void) {
  std::lock_guard lock(api_mutex());
  for (int device = 0; device < device_count(); ++device) {
    if (sticky_error(device) == cudaSuccess) continue;
    Streams::instance().drop_pending(device);
    clear_sticky_error(device);
  }
  last_error() = cudaSuccess;
}

void wsim_mark_red_zone(const void* ptr, size_t size) {
  DeviceMemory::instance().mark_red_zone(address_of(ptr), size, true);
}

void wsim_clear_red_zone(const void* ptr, size_t size) {
  DeviceMemory::instance().mark_red_zone(address_of(ptr), size, false);
}

void wsim_name_allocation(const void* ptr, const char* name) {
  DeviceMemory::instance().set_name(address_of(ptr), name);
}

int wsim_finding_count(void) {
  handed_out_findings() = FindingLog::instance().snapshot();
  return static_cast<int>(handed_out_findings().size());
}

int wsim_get_finding(int index, wsim_finding* out) {
  const auto& findings = handed_out_findings();
  if (index < 0 || static_cast<size_t>(index) >= findings.size()) return -1;
  const Finding& finding = findings[static_cast<size_t>(index)];
  out->check = finding.check.c_str();
  out->kind = finding.kind.c_str();
  out->message = finding.message.c_str();
  out->file = finding.where.file.c_str();
  out->line = finding.where.line;
  out->other_file = finding.other.file.c_str();
  out->other_line = finding.other.line;
  out->kernel = finding.kernel.c_str();
  out->is_note = finding.is_note ? 1 : 0;
  out->count = finding.count;
  return 0;
}

void wsim_clear_findings(void) {
  FindingLog::instance().clear();
  handed_out_findings().clear();
}

void wsim_set_fatal_hook(void (*hook)(void)) { set_fatal_hook(hook); }

void wsim_reset_counters(void) {
  Edges::instance().cut = Edges::instance().unfinished = Edges::instance().ended = 0;
  CounterStore::instance().reset();
  reset_api_calls();
  handed_out_lines().clear();
  std::lock_guard lock(api_mutex());
  Timeline::instance().reset();
}

void wsim_read_counters(wsim_counters* out) { *out = CounterStore::instance().totals(); }

int wsim_line_count(void) {
  handed_out_lines() = CounterStore::instance().lines();
  return static_cast<int>(handed_out_lines().size());
}

int wsim_get_line(int index, wsim_line_counters* out) {
  const auto& lines = handed_out_lines();
  if (index < 0 || static_cast<size_t>(index) >= lines.size()) return -1;
  const CounterStore::Line& line = lines[static_cast<size_t>(index)];
  out->file = line.file.c_str();
  out->line = line.line;
  out->kernel = line.kernel.c_str();
  out->counters = line.counters;
  return 0;
}

int wsim_launch_count(void) { return static_cast<int>(CounterStore::instance().launches().size()); }

int wsim_get_launch(int index, wsim_launch* out) {
  const auto& launches = CounterStore::instance().launches();
  if (index < 0 || static_cast<size_t>(index) >= launches.size()) return -1;
  const LaunchRecord& launch = launches[static_cast<size_t>(index)];
  out->kernel = launch.kernel.c_str();
  out->file = launch.where.file.c_str();
  out->line = launch.where.line;
  copy_size(launch.grid, out->grid);
  copy_size(launch.block, out->block);
  out->dynamic_shared = launch.dynamic_shared;
  return 0;
}

uint64_t wsim_waiting_children(void) { return CounterStore::instance().waiting_children(); }

void wsim_slow_kernels(const double* seconds, int count) {
  std::lock_guard lock(api_mutex());
  Timeline::instance().slow_down({seconds, seconds + count});
}

void wsim_model_start(double slice) { Recorder::instance().start(slice); }
void wsim_model_stop(void) { Recorder::instance().stop(); }
uint64_t wsim_model_mark(void) { return CostLog::instance().mark(); }
double wsim_modelled_seconds(uint64_t mark) { return CostLog::instance().since(mark).seconds; }
void wsim_modelled_traffic(uint64_t mark, wsim_traffic* out) {
  const CostLog::Sum sum = CostLog::instance().since(mark);
  *out = {sum.l1_bytes, sum.l2_bytes, sum.dram_bytes};
}
int wsim_select_model(const char* key) {
  std::lock_guard lock(api_mutex());
  return select_gpu_model(key) ? 0 : -1;
}
void wsim_make_unlike(int device) {
  std::lock_guard lock(api_mutex());
  make_unlike(device);
}
int wsim_select_order(const char* name) {
  std::lock_guard lock(api_mutex());
  const bool usual = name[0] == '\0';
  const std::optional<Schedule> order =
      usual ? Machine::current().options().order : order_named(name);
  if (!usual && !order) return -1;
  engine_options().order = order;
  return 0;
}

void wsim_run_only_edges(int on) {
  constexpr uint64_t kWholeCard = uint64_t{80} << 30;  // bytes, of which few are touched
  std::lock_guard lock(api_mutex());
  Edges::instance() = {};
  Edges::instance().only = on != 0;
  Edges::instance().to_end = on == 2;
  const uint64_t usual = Machine::current().options().memory;
  DeviceMemory::instance().sell(on != 0 ? std::max(usual, kWholeCard) : usual);
}

int wsim_library_only_edges(void) {
  std::lock_guard lock(api_mutex());
  return Edges::instance().only ? 1 : 0;
}
uint64_t wsim_cut_launches(void) { return Edges::instance().cut; }
uint64_t wsim_unfinished_launches(void) { return Edges::instance().unfinished; }
uint64_t wsim_edge_blocks(void) { return Edges::instance().ended; }
void wsim_model_rates(double* copied, double* read, double* flops) {
  const SliceRates rates = slice_rates();
  *copied = rates.copied;
  *read = rates.read;
  *flops = rates.flops;
}
const char* wsim_model_name(void) { return gpu_model().name; }

void wsim_leave_out_kernels(int (*unwanted)(const char* name)) {
  std::lock_guard lock(api_mutex());
  Registry::instance().leave_out_kernels(unwanted);
}

void wsim_fail_call(uint64_t k, const char* names, const char* files) {
  std::lock_guard lock(api_mutex());
  CallFailure::instance().ask_for(k, names, files);
}

const char* wsim_last_failed_call(void) {
  thread_local std::string text;
  const FailedCall& call = last_failed_call();
  text =
      call.return_address == nullptr ? "" : ApiCall(call.name, call.return_address).description();
  return text.c_str();
}

const char* wsim_failed_call(void) {
  std::lock_guard lock(api_mutex());
  return CallFailure::instance().description().c_str();
}

int wsim_failed_call_error(void) {
  std::lock_guard lock(api_mutex());
  return CallFailure::instance().error();
}

uint64_t wsim_calls_that_could_fail(void) {
  std::lock_guard lock(api_mutex());
  return CallFailure::instance().seen();
}

uint64_t wsim_api_calls(const char* name) { return api_calls(name); }

const char* wsim_timeline_label(void) { return timeline_label(); }

double wsim_timeline_now(void) {
  std::lock_guard lock(api_mutex());
  return Timeline::instance().now();
}

int wsim_timeline_count(void) {
  std::lock_guard lock(api_mutex());
  add_finished_work(Timeline::instance(), &handed_out_items());
  return static_cast<int>(handed_out_items().size());
}

int wsim_get_timeline_item(int index, wsim_timeline_item* out) {
  const auto& items = handed_out_items();
  if (index < 0 || static_cast<size_t>(index) >= items.size()) return -1;
  const TimelineItem& item = items[static_cast<size_t>(index)];
  out->kind = kind_name(*item.work);
  out->name = item.work->name.c_str();
  out->file = item.work->where.file.c_str();
  out->line = item.work->where.line;
  out->stream = item.stream.name.c_str();
  out->device = item.stream.device;
  out->bytes = item.work->bytes;
  out->issued = item.issued;
  out->start = item.start;
  out->end = item.end;
  out->read = out->written = nullptr;
  if (item.work->kind == WorkKind::kCopy || item.work->kind == WorkKind::kFill) {
    for (const MemoryRange& range : item.work->ranges) {
      const void*& side = range.write ? out->written : out->read;
      if (side == nullptr) side = reinterpret_cast<const void*>(range.address);
    }
  }
  out->stream_number = item.stream.id;
  std::lock_guard lock(api_mutex());
  out->stream_handle = Streams::instance().handle_of(item.stream.id);
  return 0;
}

uint64_t wsim_last_stream(void) {
  std::lock_guard lock(api_mutex());
  return Streams::instance().last_id();
}

uint64_t wsim_host_waits(void) {
  std::lock_guard lock(api_mutex());
  return Timeline::instance().host_waits().size();
}

int wsim_get_host_wait(uint64_t index, wsim_host_wait* out) {
  std::lock_guard lock(api_mutex());
  const std::vector<HostWait>& waits = Timeline::instance().host_waits();
  if (index >= waits.size()) return -1;
  Position& where = handed_out_wait();
  where = host_call_position(waits[index].returns_to);
  *out = {waits[index].call, where.file.c_str(), where.line};
  return 0;
}

void wsim_caller_works(const wsim_range* ranges, int count) {
  std::lock_guard lock(api_mutex());
  std::vector<MemoryRange> written;
  for (int i = 0; i < count; ++i) {
    written.push_back({address_of(ranges[i].begin), ranges[i].size, true});
  }
  Streams::instance().caller_works(std::move(written));
}

int wsim_holding_count(void) {
  std::lock_guard lock(api_mutex());
  handed_out_holdings() = Holdings::instance().list();
  return static_cast<int>(handed_out_holdings().size());
}

int wsim_get_holding(int index, wsim_holding* out) {
  const auto& holdings = handed_out_holdings();
  if (index < 0 || static_cast<size_t>(index) >= holdings.size()) return -1;
  const Holding& holding = holdings[static_cast<size_t>(index)];
  *out = {holding.what.c_str(), holding.object, holding.value};
  return 0;
}

size_t wsim_live_allocations(size_t* bytes) {
  const auto live = DeviceMemory::instance().live();
  size_t sum = 0;
  for (const Allocation& allocation : live) sum += allocation.size;
  if (bytes != nullptr) *bytes = sum;
  return live.size();
}

}  // extern "C"
