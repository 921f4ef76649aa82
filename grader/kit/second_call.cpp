#include "kit/second_call.h"

#include <algorithm>
#include <cstdlib>

#include "kit/classes.h"
#include "kit/context.h"

namespace kit {
namespace {

// Calls from a line of a test that has not been reached yet are bounded by the size of the buffers,
// later ones by what the last one did.
constexpr size_t kMostBytes = 1 << 20;
constexpr uint64_t kMostSteps = 2'000'000;  // of threads
constexpr int kMostTimes = 4;               // per line and test

struct SiteHistory {
  int times = 0;
  bool known = false;
  uint64_t instructions = 0;
};

SiteHistory& history(Site site) {
  static auto* const all = new std::map<std::string, SiteHistory>;
  return (*all)[context().test + " " + site.file + ":" + std::to_string(site.line)];
}

}  // namespace

bool is_watched() {
  return std::getenv("GRADE_SIM_TRACE") != nullptr || std::getenv("GRADE_SIM_PROFILE") != nullptr ||
         std::getenv("GRADE_SIM_VIEW") != nullptr;
}

EarlierCalls::~EarlierCalls() {
  context().earlier_calls = nullptr;
  for (const Known& known : buffers_) known.allocation->release_other();
}

bool EarlierCalls::wanted() const {
  const Context& now = context();
  if (!simulated() || is_watched() || !is_asked("second_call")) return false;
  const bool special = now.output_captured || now.order_chosen || now.only_edges ||
                       !now.expected_findings.empty() || now.expected_error != cudaSuccess ||
                       wsim_finding_count() > 0;
  if (special) return false;
  size_t bytes = 0;
  bool writes = false;
  for (const internal::Allocation* allocation : now.allocations) {
    bytes += allocation->size();
    writes = writes || (!allocation->is_input() && allocation->size() > 0);
  }
  const SiteHistory& before = history(site_);
  return writes && bytes <= kMostBytes && before.times < kMostTimes &&
         (!before.known || before.instructions <= kMostSteps);
}

cudaError_t EarlierCalls::call(const std::function<void()>& launch) const {
  const OnDevice scope(current_device());
  count_afresh();  // a launcher of a test may look at counts
  context().in_launcher = true;
  try {
    launch();
  } catch (...) {
    // The call that counts says so.
  }
  context().in_launcher = false;
  cudaGetLastError();
  return synchronize_devices();
}

void EarlierCalls::fill(bool halved) {
  for (Known& known : buffers_) {
    const internal::Allocation::Image other = known.allocation->decoy(known.before, halved);
    known.other_values = known.other_values || !(other == known.before);
    known.allocation->put(other);
  }
}

void EarlierCalls::make(const std::function<void()>& launch) {
  ++history(site_).times;
  for (internal::Allocation* allocation : context().allocations) {
    if (allocation->payload() == nullptr) continue;  // gone with its device
    buffers_.push_back({allocation, allocation->image(), {}, {}, false});
  }
  // One order is enough here; the checks try others with the call that counts.
  wsim_select_order("forward");
  bool moved = true;
  for (const Known& known : buffers_) moved = moved && known.allocation->move();
  cudaError_t error = cudaSuccess;
  if (moved) {
    fill(false);
    ++calls_;
    error = call(launch);
    for (Known& known : buffers_) {
      // Who still writes there shows.
      if (!known.allocation->is_input()) known.allocation->put(known.before);
      known.elsewhere = known.allocation->image();
    }
  }
  for (const Known& known : buffers_) known.allocation->move_back();
  if (error == cudaSuccess) {
    fill(true);
    ++calls_;
    error = call(launch);
    for (Known& known : buffers_) known.earlier = known.allocation->image();
  }
  wsim_select_order(context().other_order ? order_of_another_run() : "");
  if (error != cudaSuccess) {
    // Other values may not suit it: two accounts that are one lock each other. The call that counts
    // decides, with what it finds here.
    wsim_forgive_faults();
    history(site_).times = kMostTimes;
    for (const Known& known : buffers_) known.allocation->put(known.before);
    for (const Known& known : buffers_) known.allocation->release_other();
    buffers_.clear();
  }
  for (const Known& known : buffers_) known.allocation->put(known.before);
  if (error == cudaSuccess) context().earlier_calls = this;
  wsim_clear_findings();
}

// Every element alike: nothing was computed, in this call or an earlier one.
static bool is_uniform(const std::vector<unsigned char>& bytes) {
  constexpr size_t kLargestElement = 8;
  return std::equal(bytes.begin() + std::min(kLargestElement, bytes.size()), bytes.end(),
                    bytes.begin());
}

std::string EarlierCalls::suspicion(Known& known, bool other_values) const {
  internal::Allocation& buffer = *known.allocation;
  if (buffer.is_input() || buffer.size() == 0) return "";
  const internal::Allocation::Image now = buffer.image();
  const bool wrote_now = !(now == known.before);
  const bool wrote_then = wrote_now || !(known.earlier == buffer.decoy(known.before, true));
  if (!known.elsewhere.bytes.empty() && !(buffer.image_elsewhere() == known.elsewhere)) {
    return "Called again with other arrays, it wrote into " + buffer.name() +
           " of an earlier call. Addresses differ from call to call: take them from the arguments "
           "each time.";
  }
  if (wrote_then && !wrote_now) {
    return "Called again, it wrote nothing into " + buffer.name() +
           ", though the call before did. Each call has to do its work, whatever earlier calls "
           "have done.";
  }
  // The first call had yet other values, elsewhere: with its answer too, this is no memory of a
  // call.
  const bool whatever_comes = now.bytes == known.elsewhere.bytes || is_uniform(now.bytes);
  if (other_values && wrote_now && now == known.earlier && !whatever_comes) {
    return "Called again with other values in the same arrays, it gave the answer of the call "
           "before: " +
           buffer.name() +
           " is the same, bit by bit. Compute it from what the arrays hold at each call, and keep "
           "nothing from an earlier one.";
  }
  return "";
}

std::map<std::string, std::string> EarlierCalls::finish() {
  std::map<std::string, std::string> texts;
  bool other_values = std::any_of(buffers_.begin(), buffers_.end(),
                                  [](const Known& known) { return known.other_values; });
  for (const Known& known : buffers_) {
    // What an earlier run has made is what this one begins with, and it was the same each time.
    const std::vector<uint8_t>& written = known.before.written;
    const bool is_made = known.allocation->is_output() && !written.empty() &&
                         std::find(written.begin(), written.end(), 0) == written.end();
    if (is_made && !known.other_values && known.allocation->image() == known.before) {
      other_values = false;
    }
  }
  for (Known& known : buffers_) {
    const std::string text = suspicion(known, other_values);
    if (!text.empty()) texts[known.allocation->name()] = text;
    known.allocation->release_other();
  }
  buffers_.clear();
  return texts;
}

void EarlierCalls::repeat() const {
  for (const Known& known : buffers_) {
    if (!known.allocation->is_input()) known.allocation->put(known.earlier);
  }
}

void EarlierCalls::remember_cost(uint64_t thread_instructions) const {
  SiteHistory& now = history(site_);
  now.known = true;
  now.instructions = thread_instructions;
}

}  // namespace kit
