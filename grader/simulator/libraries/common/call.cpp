#include "common/call.h"

#include <cstdlib>
#include <utility>

namespace warplings::libraries {
namespace {

// Levels that continue each other become one; elements that touch become one long row.
std::vector<Level> joined(size_t* width, const std::vector<Level>& levels) {
  std::vector<Level> kept;
  for (const Level& level : levels) {
    if (level.count == 1) continue;
    const int64_t covered =
        kept.empty() ? static_cast<int64_t>(*width) : kept.back().count * kept.back().stride;
    if (level.stride != covered) {
      kept.push_back(level);
    } else if (kept.empty()) {
      *width *= static_cast<size_t>(level.count);
    } else {
      kept.back().count *= level.count;
    }
  }
  return kept;
}

}  // namespace

void Operands::add(std::string role, const void* pointer, size_t element, std::vector<Level> levels,
                   Access access) {
  size_t width = element;
  for (Level& level : levels) {
    if (level.count <= 0) return;
    if (level.stride == 0) level.count = 1;  // the same bytes again
    level.stride = std::llabs(level.stride);
  }
  levels = joined(&width, levels);
  // An operand has rows and slices; what lies outside of them becomes several operands.
  if (levels.size() > 2) {
    const Level outer = levels.back();
    levels.pop_back();
    levels.insert(levels.begin(),
                  {static_cast<int64_t>(width / element), static_cast<int64_t>(element)});
    for (int64_t i = 0; i < outer.count; ++i) {
      add(role, static_cast<const char*>(pointer) + i * outer.stride, element, levels, access);
    }
    return;
  }
  wsim_operand operand{};
  operand.pointer = pointer;
  operand.width = width;
  operand.height = levels.empty() ? 1 : static_cast<size_t>(levels[0].count);
  operand.pitch = levels.empty() ? width : static_cast<size_t>(levels[0].stride);
  operand.depth = levels.size() < 2 ? 1 : static_cast<size_t>(levels[1].count);
  operand.slice = levels.size() < 2 ? 0 : static_cast<size_t>(levels[1].stride);
  operand.access = access == Access::kRead        ? WSIM_READ
                   : access == Access::kWrite     ? WSIM_WRITE
                   : access == Access::kReadWrite ? WSIM_READ | WSIM_WRITE
                                                  : WSIM_READ | WSIM_SPOIL;
  entries_.push_back({std::move(role), operand});
}

std::vector<wsim_operand> Operands::list() const {
  std::vector<wsim_operand> all;
  for (const Entry& entry : entries_) {
    all.push_back(entry.operand);
    all.back().role = entry.role.c_str();
  }
  return all;
}

cudaError_t Call::enqueue(const Placement& placement, const Operands& operands,
                          std::function<void()> run) const {
  const std::vector<wsim_operand> list = operands.list();
  wsim_library_work work{};
  work.site = site_;
  work.device = placement.device;
  work.stream = placement.stream;
  work.operands = list.data();
  work.operand_count = list.size();
  work.operations = placement.operations;
  work.link_bytes = placement.link_bytes;
  work.wait = placement.wait ? 1 : 0;
  work.run = [](void* state) { (*static_cast<std::function<void()>*>(state))(); };
  work.release = [](void* state) { delete static_cast<std::function<void()>*>(state); };
  work.state = new std::function<void()>(std::move(run));
  return static_cast<cudaError_t>(wsim_library_enqueue(&work));
}

void Call::not_simulated(const std::string& what) const {
  const std::string text = "asks for " + what +
                           ", which the simulator does not have. It returned its status for "
                           "\"not supported\". Run this program on a GPU.";
  wsim_library_report(site_, "not-simulated", text.c_str(), 0);
}

void Call::not_there() const {
  wsim_library_report(site_, "not-simulated",
                      "is a part of its library that the simulator does not have. It did nothing "
                      "and returned a status. Run this program on a GPU.",
                      0);
}

void Call::explain(const char* kind, const std::string& what) const {
  wsim_library_report(site_, kind, what.c_str(), 1);
}

void Call::report(const char* kind, const std::string& what) const {
  wsim_library_report(site_, kind, what.c_str(), 0);
}

bool use(const Operands& operands) {
  const std::vector<wsim_operand> list = operands.list();
  return wsim_library_use(list.data(), list.size()) == cudaSuccess;
}

int current_device() {
  int device = 0;
  cudaGetDevice(&device);
  return device;
}

}  // namespace warplings::libraries
