#include "runtime/host_lines.h"

#include <link.h>
#include <unwind.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "core/machine.h"
#include "runtime/dwarf_unit.h"
#include "runtime/elf_image.h"

namespace warplings::sim {
namespace {

struct Loaded {
  std::string path;
  uint64_t bias = 0;
  bool found = false;
};

struct Search {
  uint64_t address;
  Loaded* loaded;
};

// Which file an address of this process was loaded from.
Loaded object_of(uint64_t address) {
  Loaded loaded;
  Search search{address, &loaded};
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* data) {
        auto* wanted = static_cast<Search*>(data);
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& segment = info->dlpi_phdr[i];
          if (segment.p_type != PT_LOAD) continue;
          if (wanted->address - (info->dlpi_addr + segment.p_vaddr) >= segment.p_memsz) continue;
          wanted->loaded->found = true;
          wanted->loaded->bias = info->dlpi_addr;
          wanted->loaded->path = info->dlpi_name;
          return 1;
        }
        return 0;
      },
      &search);
  // The program itself has no name in that list.
  if (loaded.found && loaded.path.empty()) loaded.path = "/proc/self/exe";
  return loaded;
}

// Debug information of one loaded file, read unit by unit as addresses ask for it.
class DebugInformation {
 public:
  explicit DebugInformation(const std::string& path) : image_(path) {}

  const DwarfUnit* unit_of(uint64_t address) {
    uint64_t offset = 0;
    if (!find_unit(image_, address, &offset)) return nullptr;
    auto& unit = units_[offset];
    if (unit == nullptr) unit = std::make_unique<DwarfUnit>(image_, offset);
    return unit.get();
  }

 private:
  ElfImage image_;
  std::map<uint64_t, std::unique_ptr<DwarfUnit>> units_;
};

// What the table knows about one address.
struct Line {
  Position position;
  bool in_library = false;  // inside a header of others, and not inlined into the program
};

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

// Headers of the toolkit that wrap the runtime, the stub file that nvcc writes per kernel, and the
// standard library: std::copy into a buffer is the line that calls std::copy.
bool is_library_file(const std::string& file) {
  for (const char* end : {"/cuda_runtime.h", "/cuda_runtime_api.h", "/device_functions.h",
                          "/device_functions.hpp", "/host_runtime.h", ".cudafe1.stub.c"}) {
    if (ends_with(file, end)) return true;
  }
  return file.find("/cooperative_groups") != std::string::npos ||
         file.find("/include/c++/") != std::string::npos;
}

class HostLines {
 public:
  static HostLines& instance() { return Machine::get<HostLines>(); }

  // `address` lies inside the instruction, not behind it.
  Line line_of(uint64_t address) {
    std::lock_guard lock(mutex_);
    const auto cached = lines_.find(address);
    if (cached != lines_.end()) return cached->second;
    return lines_[address] = resolve(address);
  }

 private:
  Line resolve(uint64_t address) {
    const Loaded loaded = object_of(address);
    if (!loaded.found) return {};
    auto& information = files_[loaded.path];
    if (information == nullptr) information = std::make_unique<DebugInformation>(loaded.path);
    const uint64_t linked = address - loaded.bias;
    const DwarfUnit* unit = information->unit_of(linked);
    if (unit == nullptr) return {};
    const Position innermost = unit->line_of(linked);
    if (!is_library_file(innermost.file)) return {innermost, false};
    for (const Position& caller : unit->inlined_at(linked)) {
      if (caller.known() && !is_library_file(caller.file)) return {caller, false};
    }
    return {innermost, true};
  }

  std::mutex mutex_;
  std::unordered_map<uint64_t, Line> lines_;
  std::map<std::string, std::unique_ptr<DebugInformation>> files_;
};

uint64_t number(const void* address) { return reinterpret_cast<uint64_t>(address); }

struct Walk {
  const void* from;  // frames before this address are the simulator's own
  bool started;
  std::vector<const void*> addresses;
};

constexpr size_t kMaxFrames = 24;

std::vector<const void*> walk_stack(const void* from) {
  Walk walk{from, from == nullptr, {}};
  _Unwind_Backtrace(
      [](_Unwind_Context* context, void* data) {
        auto* state = static_cast<Walk*>(data);
        const void* address = reinterpret_cast<const void*>(_Unwind_GetIP(context));
        if (address == nullptr) return _URC_END_OF_STACK;
        if (address == state->from) state->started = true;
        if (state->started) state->addresses.push_back(address);
        return state->addresses.size() < kMaxFrames ? _URC_NO_REASON : _URC_END_OF_STACK;
      },
      &walk);
  return walk.addresses;
}

}  // namespace

Position host_call_position(const void* return_address) {
  if (return_address == nullptr) return {};
  // The call lies before the address that it returns to.
  const Line direct = HostLines::instance().line_of(number(return_address) - 1);
  if (!direct.in_library) return direct.position;
  for (const void* address : walk_stack(return_address)) {
    const Line line = HostLines::instance().line_of(number(address) - 1);
    if (line.position.known() && !line.in_library) return line.position;
  }
  return direct.position;
}

Position host_fault_position(const void* instruction) {
  const Line direct = HostLines::instance().line_of(number(instruction));
  if (direct.position.known() && !direct.in_library) return direct.position;
  for (const void* address : walk_stack(instruction)) {
    if (address == instruction) continue;
    const Line line = HostLines::instance().line_of(number(address) - 1);
    if (line.position.known() && !line.in_library) return line.position;
  }
  return {};
}

}  // namespace warplings::sim
