#include "kit/who_did_the_work.h"

#include <algorithm>

#include "kit/allocation.h"
#include "kit/context.h"

namespace kit {
namespace {

// A start value or a count may come from the host, or go there.
constexpr uint64_t kFewBytes = 64;
// So many elements are no work for one thread.
constexpr size_t kManyElements = 4096;

const internal::Allocation* buffer_at(const void* address) {
  for (const internal::Allocation* allocation : context().allocations) {
    const auto* begin = allocation->payload();
    const auto* at = static_cast<const unsigned char*>(address);
    if (begin != nullptr && at >= begin && at < begin + allocation->size()) return allocation;
  }
  return nullptr;
}

std::string place_of(const wsim_timeline_item& item) {
  const std::string file = item.file;
  return item.name +
         (file.empty() ? "" : " at " + base_name(file) + ":" + std::to_string(item.line));
}

std::string copied(const wsim_timeline_item& item) {
  const std::string kind = item.kind;
  if (item.bytes < kFewBytes || is_test_file(item.file)) return "";
  if (kind == "copy to device") {
    const internal::Allocation* to = buffer_at(item.written);
    if (to == nullptr || to->is_input()) return "";
    return "Who did the work? " + place_of(item) + " copies " + std::to_string(item.bytes) +
           " bytes from the host into " + to->name() +
           ". Results are computed on the device: let a kernel write them.";
  }
  if (kind == "copy to host") {
    const internal::Allocation* from = buffer_at(item.read);
    if (from == nullptr || from->is_output()) return "";
    return "Who did the work? " + place_of(item) + " copies " + std::to_string(item.bytes) +
           " bytes of " + from->name() +
           " to the host. What is computed from them is computed on the device, where they are.";
  }
  return "";
}

// Everything in the hands of one thread.
std::string lonely(const Run& run) {
  uint64_t most_threads = 0;
  for (const Launch& launch : run.launches()) {
    most_threads = std::max(most_threads, launch.threads());
  }
  const internal::Allocation* largest = nullptr;
  for (const internal::Allocation* allocation : context().allocations) {
    if (largest == nullptr || allocation->count() > largest->count()) largest = allocation;
  }
  if (most_threads != 1 || largest == nullptr || largest->count() < kManyElements ||
      run.counters().thread_instructions < largest->count()) {
    return "";
  }
  return "Who did the work? No launch has more than 1 thread, and " + largest->name() + " has " +
         std::to_string(largest->count()) +
         " elements. Share them among as many threads as there are elements, or nearly so.";
}

}  // namespace

std::string who_did_the_work(const Run& run) {
  const int count = wsim_timeline_count();
  bool library = false;
  std::string result;  // brought by the host, and nothing worked on it since
  for (int i = 0; i < count; ++i) {
    wsim_timeline_item item;
    if (wsim_get_timeline_item(i, &item) != 0) break;
    const std::string kind = item.kind;
    library = library || kind == "library call";
    // An input may be brought to where the result shall be, for kernels to work on it there.
    if (kind == "kernel" || kind == "library call") result.clear();
    const std::string text = copied(item);
    if (text.empty()) continue;
    if (kind == "copy to host") return text;
    result = text;
  }
  if (!result.empty()) return result;
  return library ? "" : lonely(run);
}

}  // namespace kit
