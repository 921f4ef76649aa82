#include "kit/callers_order.h"

#include <map>
#include <vector>

#include "kit/allocation.h"
#include "kit/context.h"

namespace kit {

void caller_works() {
  std::map<int, std::vector<wsim_range>> used;
  for (const internal::Allocation* buffer : context().allocations) {
    if (buffer->payload() == nullptr || buffer->size() == 0) continue;
    used[buffer->device()].push_back({buffer->payload(), buffer->size()});
  }
  for (const auto& [device, ranges] : used) {
    const OnDevice scope(device);
    wsim_caller_works(ranges.data(), static_cast<int>(ranges.size()));
  }
}

// Calls that need a result on the host, or memory that nobody uses any more, wait by their nature:
// class "who_did_the_work" looks at the copies.
static bool waits_by_nature(const std::string& call) {
  for (const char* begin : {"cudaMemcpy", "cudaMemset", "cudaFree", "cudaMalloc", "cudaHost"}) {
    if (call.rfind(begin, 0) == 0) return true;
  }
  return false;
}

// Code of the kit and of the test, and code that is given.
static bool is_given(const std::string& path) {
  for (const std::string end : {".h", "_test.cpp", "_support.cu", "_forward.cu", "_backward.cu"}) {
    const bool ends =
        path.size() > end.size() && path.compare(path.size() - end.size(), end.size(), end) == 0;
    if (ends) return true;
  }
  return path.empty() || path.find("/grader/kit/") != std::string::npos;
}

// Memory of the host that kernels reach directly, or that copies fill in the background, may be
// used or given back by the function only when the device has done with it.
static bool shares_memory_with_the_host() {
  for (const char* call : {"cudaHostUnregister", "cudaFreeHost", "cudaMallocManaged"}) {
    if (wsim_api_calls(call) > 0) return true;
  }
  return false;
}

std::string waited() {
  if (shares_memory_with_the_host()) return "";
  wsim_host_wait wait;
  for (uint64_t i = 0; wsim_get_host_wait(i, &wait) == 0; ++i) {
    const std::string call = wait.call, file = wait.file;
    if (is_given(file) || waits_by_nature(call)) continue;
    const std::string place = call + " at " + base_name(file) + ":" + std::to_string(wait.line);
    const bool asks = call.find("Query") != std::string::npos;
    return "It waits: " + place +
           (asks ? " is asked until the work is done" : " keeps the host until the work is done") +
           ", and the header does not say that the function returns only then. Its caller waits, "
           "when it needs the result; until then it has more for the device to do. Put the work "
           "into its stream and return.";
  }
  return "";
}

bool hands_a_result_to_the_host() {
  const int count = wsim_timeline_count();
  wsim_timeline_item item;
  for (int i = 0; i < count && wsim_get_timeline_item(i, &item) == 0; ++i) {
    const std::string kind = item.kind, name = item.name;
    const bool is_pinned = item.written != nullptr;
    const bool returns_early = is_pinned && name.find("Async") != std::string::npos;
    if (kind == "copy to host" && !returns_early && !is_test_file(item.file)) return true;
  }
  return false;
}

}  // namespace kit
