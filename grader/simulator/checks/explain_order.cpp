// What streamcheck found, in words.
#include <string>

#include "checks/node_order.h"
#include "checks/stream_order.h"
#include "checks/words.h"
#include "memory/device_memory.h"
#include "memory/payload.h"

namespace warplings::sim {
namespace {

std::string at(const Position& where) { return where.known() ? " at " + where.short_name() : ""; }

std::string name_of(const Work& work) {
  switch (work.kind) {
    case WorkKind::kKernel:
      return "the kernel " + readable(work.name) +
             (work.where.known() ? " launched" + at(work.where) : "");
    case WorkKind::kLibrary:
      return work.name + at(work.where);
    case WorkKind::kCopy:
      return "the copy" + at(work.where);
    case WorkKind::kFill:
      return "the memset" + at(work.where);
    case WorkKind::kGraph:
      return "the graph launched" + at(work.where);
    case WorkKind::kAllocate:
      return "the allocation" + at(work.where);
    case WorkKind::kFree:
      return "the release" + at(work.where);
    default:
      return "the work enqueued" + at(work.where);
  }
}

std::string short_name_of(const OrderEntry& entry) {
  switch (entry.work->kind) {
    case WorkKind::kKernel:
      return "the kernel";
    case WorkKind::kLibrary:
      return entry.work->name;
    case WorkKind::kCopy:
      return "the copy";
    case WorkKind::kFill:
      return "the memset";
    case WorkKind::kGraph:
      return "the graph";
    case WorkKind::kAllocate:
      return "the allocation";
    default:
      return "it";
  }
}

std::string with_stream(const OrderEntry& entry) {
  return name_of(*entry.work) + " (" + entry.stream.name + ")";
}

std::string capitalised(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] += 'A' - 'a';
  return text;
}

// `second` waits for something in the stream of `first` that came too early.
bool waits_for_too_little(const OrderEntry& first, const OrderEntry& second) {
  const uint64_t waits_for = second.before.of(first.id.stream);
  return waits_for > second.host_at_call.of(first.id.stream) && first.id.stream != second.id.stream;
}

std::string remedy(const OrderEntry& first, const OrderEntry& second) {
  const std::string event = "record an event in " + first.stream.name + " after " +
                            short_name_of(first) + " and let " + second.stream.name +
                            " wait for it (cudaEventRecord, cudaStreamWaitEvent)";
  if (waits_for_too_little(first, second)) {
    return capitalised(second.stream.name) + " does wait for " + first.stream.name +
           ", but only for what was there before " + short_name_of(first) +
           ": move the cudaEventRecord behind it.";
  }
  const OrderEntry* other = first.stream.is_default    ? &second
                            : second.stream.is_default ? &first
                                                       : nullptr;
  if (other != nullptr && !other->stream.is_blocking && !other->stream.is_default) {
    return capitalised(other->stream.name) +
           " is non-blocking, so the default stream and it do not wait for each other: " + event +
           ", or make it without cudaStreamNonBlocking.";
  }
  return capitalised(event) + ", or put both into one stream.";
}

Finding finding_for(const Work& first, const Work& second, const char* kind) {
  Finding finding;
  finding.check = "streamcheck";
  finding.kind = kind;
  finding.where = second.where;
  finding.other = first.where;
  for (const Work* work : {&second, &first}) {
    if (work->kind == WorkKind::kKernel && finding.kernel.empty()) finding.kernel = work->name;
  }
  return finding;
}

// `other` belongs to the function that the caller has called, `caller` lies before or behind it.
void report_unordered_with_caller(const OrderEntry& caller, const OrderEntry& other,
                                  uint64_t address, bool before) {
  const std::string& stream = caller.stream.name;
  Finding finding = finding_for(*caller.work, *other.work, "unordered-with-caller");
  finding.where = other.work->where;
  finding.other = Position();
  finding.message =
      "Out of the caller's order: " + with_stream(other) + " uses " + place_of(address);
  finding.message +=
      before ? ", and does not wait for what the caller has put into " + stream +
                   " before the call: on a GPU it may begin while its input is still being written."
             : ", and what the caller puts into " + stream +
                   " after the call does not wait for it: on a GPU the caller may read a result "
                   "that is not complete.";
  finding.message += " Put the work into " + stream + ", or order the two with an event " +
                     (before ? "that is recorded there at the beginning"
                             : "that " + stream + " waits for at the end") +
                     " (cudaEventRecord, cudaStreamWaitEvent).";
  FindingLog::instance().report(std::move(finding));
}

}  // namespace

std::string place_of(uint64_t address) {
  const DeviceMemory& memory = DeviceMemory::instance();
  const Allocation* allocation = memory.in_arena(address) ? memory.allocation_at(address) : nullptr;
  if (allocation == nullptr) return "host memory";
  const auto [low, high] = payload(*allocation);
  std::string text = "byte " + std::to_string(address - low) + " of " +
                     (allocation->name.empty() ? "an allocation" : "`" + allocation->name + "`") +
                     " (" + std::to_string(high - low) + " bytes";
  if (!allocation->has_red_zones && !allocation->allocated_at.empty()) {
    text += ", allocated at " + allocation->allocated_at;
  }
  return text + ")";
}

void report_unordered(const OrderEntry& first, const OrderEntry& second, const Conflict& conflict) {
  if (first.work->kind == WorkKind::kCaller) {
    return report_unordered_with_caller(first, second, conflict.address, true);
  }
  if (second.work->kind == WorkKind::kCaller) {
    return report_unordered_with_caller(second, first, conflict.address, false);
  }
  const bool frees = first.work->kind == WorkKind::kFree || second.work->kind == WorkKind::kFree;
  const bool allocates =
      first.work->kind == WorkKind::kAllocate || second.work->kind == WorkKind::kAllocate;
  Finding finding = finding_for(*first.work, *second.work,
                                frees       ? "freed-in-use"
                                : allocates ? "used-before-allocated"
                                            : "unordered-streams");
  const std::string bytes = place_of(conflict.address);
  if (frees) {
    const OrderEntry& free = first.work->kind == WorkKind::kFree ? first : second;
    const OrderEntry& user = &free == &first ? second : first;
    finding.message = capitalised(with_stream(free)) + " frees memory that " + with_stream(user) +
                      " uses, " + bytes +
                      ", and nothing orders them: it may be gone, or belong to somebody else, "
                      "while it is used. ";
  } else {
    const auto verb = [](bool writes) { return writes ? " writes" : " reads"; };
    finding.message = capitalised(with_stream(first)) + verb(conflict.first_writes) + " and " +
                      with_stream(second) + verb(conflict.second_writes) +
                      " the same bytes, the first is " + bytes +
                      ", and nothing orders them: on a GPU they may run in either order or at "
                      "the same time. ";
  }
  finding.is_note = first.work->staged;
  if (first.work->staged) {
    finding.message +=
        "The copy comes from pageable memory: the call returns when the bytes have "
        "been staged, before they have arrived. ";
  }
  finding.message += remedy(first, second);
  FindingLog::instance().report(std::move(finding));
}

void report_unordered_nodes(const Work& first, const Work& second, const Conflict& conflict) {
  const auto verb = [](bool writes) { return writes ? " writes" : " reads"; };
  Finding finding = finding_for(first, second, "unordered-nodes");
  finding.message = capitalised(name_of(first)) + verb(conflict.first_writes) + " and " +
                    name_of(second) + verb(conflict.second_writes) +
                    " the same bytes, the first is " + place_of(conflict.address) +
                    ". Both are nodes of one graph, and no path of its edges leads from one to the "
                    "other: on a GPU they may run in either order or at the same time. Give each "
                    "branch memory of its own, or make one node depend on the other (in a capture: "
                    "cudaEventRecord behind the first, cudaStreamWaitEvent before the second).";
  FindingLog::instance().report(std::move(finding));
}

void report_host_access(const OrderEntry& entry, const HostAccess& access,
                        const Conflict& conflict) {
  Finding finding;
  finding.check = "streamcheck";
  finding.kind = access.write ? "host-write-too-early" : "host-read-too-early";
  finding.where = access.where;
  finding.other = entry.work->where;
  if (entry.work->kind == WorkKind::kKernel) finding.kernel = entry.work->name;
  const std::string who = access.in_host_function ? "A host function" : "The program";
  finding.message = who + at(access.where) + (access.write ? " writes " : " reads ") +
                    place_of(access.address) + " while " + with_stream(entry) + " may still be " +
                    (conflict.first_writes ? "writing" : "reading") +
                    " it: nothing between them waits. ";
  if (access.in_host_function) {
    finding.message += "Put the host function into the same stream behind " + short_name_of(entry) +
                       ", or let its stream wait for an event that is recorded there.";
  } else {
    finding.message +=
        "Wait first: cudaStreamSynchronize, or cudaEventSynchronize on an event "
        "that is recorded behind " +
        short_name_of(entry) + ".";
  }
  FindingLog::instance().report(std::move(finding));
}

void report_given_back(const OrderEntry& entry, const char* call, const Position& where) {
  Finding finding;
  finding.check = "streamcheck";
  finding.kind = "host-memory-in-use";
  finding.where = where;
  finding.other = entry.work->where;
  finding.message = std::string(call) + at(where) + " gives back pinned memory that " +
                    with_stream(entry) +
                    " may still be using: nothing between them waits, and the pages may be moved "
                    "or belong to somebody else by then. Wait first: cudaStreamSynchronize, or "
                    "cudaEventSynchronize on an event that is recorded behind " +
                    short_name_of(entry) + ".";
  FindingLog::instance().report(std::move(finding));
}

}  // namespace warplings::sim
