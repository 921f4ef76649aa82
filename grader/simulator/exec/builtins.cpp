// vprintf, assertions and the device heap.
#include "decode/builtins.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>

#include "exec/builtin_call.h"
#include "exec/device_launch.h"
#include "exec/fault.h"
#include "exec/interpreter.h"
#include "exec/memory_access.h"
#include "exec/reports.h"
#include "memory/device_memory.h"

namespace warplings::sim {
namespace {

std::string string_at(const Warp& warp, int lane, uint64_t address) {
  std::string out;
  while (out.size() < 65536) {
    const uint8_t* c = bytes_at(warp, lane, address + out.size(), 1);
    if (c == nullptr || *c == 0) break;
    out.push_back(static_cast<char>(*c));
  }
  return out;
}

// One conversion of a format: "%-5.2f". Arguments lie one after the other, aligned to their size.
class Formatter {
 public:
  Formatter(const Warp& warp, int lane, uint64_t arguments)
      : warp_(warp), lane_(lane), at_(arguments) {}

  std::string format(const std::string& text) {
    std::string out;
    for (size_t i = 0; i < text.size();) {
      if (text[i] != '%') {
        out.push_back(text[i++]);
      } else if (i + 1 < text.size() && text[i + 1] == '%') {
        out.push_back('%');
        i += 2;
      } else {
        const size_t begin = i++;
        while (i < text.size() && std::strchr("-+ #0123456789.*hlLqjzt", text[i]) != nullptr) ++i;
        if (i >= text.size()) break;
        out += convert(text.substr(begin, i - begin), text[i]);
        ++i;
      }
    }
    return out;
  }
  // As Warp::local_undefined: 0 if all that was printed had been written.
  uint8_t undefined() const { return undefined_; }

 private:
  template <class T>
  T next() {
    at_ = (at_ + sizeof(T) - 1) / sizeof(T) * sizeof(T);
    note_undefined(sizeof(T));
    T value{};
    if (const uint8_t* bytes = bytes_at(warp_, lane_, at_, sizeof(T))) {
      std::memcpy(&value, bytes, sizeof(T));
    }
    at_ += sizeof(T);
    return value;
  }

  // The compiler puts arguments into local memory.
  void note_undefined(size_t size) {
    const uint64_t offset = at_ - kLocalWindow;
    if (!warp_.checks || space_of(at_) != Space::kLocal || offset + size > warp_.local_size) return;
    const auto first = warp_.local_undefined.begin() +
                       static_cast<long>(static_cast<size_t>(lane_) * warp_.local_size + offset);
    undefined_ = std::max(undefined_, *std::max_element(first, first + static_cast<long>(size)));
  }

  template <class T>
  static std::string print(const std::string& spec, T value) {
    char buffer[512];
    const int n = std::snprintf(buffer, sizeof(buffer), spec.c_str(), value);
    return n < 0 ? std::string() : std::string(buffer, std::min<size_t>(n, sizeof(buffer) - 1));
  }

  std::string convert(std::string spec, char type) {
    std::string flags;
    bool wide = false;
    for (char c : spec) {
      if (c == 'l' || c == 'j' || c == 'z' || c == 't' || c == 'q') {
        wide = true;
      } else if (c == '*') {
        flags += std::to_string(next<int32_t>());
      } else if (c != 'h' && c != 'L') {
        flags.push_back(c);
      }
    }
    switch (type) {
      case 'd':
      case 'i':
        return wide ? print(flags + "ll" + type, static_cast<long long>(next<int64_t>()))
                    : print(flags + type, next<int32_t>());
      case 'u':
      case 'x':
      case 'X':
      case 'o':
        return wide ? print(flags + "ll" + type, static_cast<unsigned long long>(next<uint64_t>()))
                    : print(flags + type, next<uint32_t>());
      case 'c':
        return print(flags + type, next<int32_t>());
      case 'p':
        return print(flags + type, reinterpret_cast<void*>(next<uint64_t>()));
      case 's':
        return print(flags + type, string_at(warp_, lane_, next<uint64_t>()).c_str());
      case 'f':
      case 'F':
      case 'e':
      case 'E':
      case 'g':
      case 'G':
      case 'a':
      case 'A':
        return print(flags + type, next<double>());
      default:
        return flags + type;
    }
  }

  const Warp& warp_;
  int lane_;
  uint64_t at_;
  uint8_t undefined_ = 0;
};

void print_from_device(Warp& warp, const CallSite& site, uint32_t mask) {
  for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const std::string format = string_at(warp, lane, argument(warp, site, 0, lane));
    Formatter formatter(warp, lane, argument(warp, site, 1, lane));
    const std::string text = formatter.format(format);
    if (!warp.block->grid->silent) std::fwrite(text.data(), 1, text.size(), stdout);
    set_result(warp, site, lane, text.size());
    if (const uint8_t code = formatter.undefined(); code != 0) {
      report_undefined_from(warp, static_cast<uint8_t>(code - 1), 1u << lane, "is printed");
    }
  }
}

// __assertfail(message, file, line, function, character size)
[[noreturn]] void fail_assertion(Warp& warp, const CallSite& site, uint32_t mask) {
  const int lane = std::countr_zero(mask);
  const std::string condition = string_at(warp, lane, argument(warp, site, 0, lane));
  const std::string file = string_at(warp, lane, argument(warp, site, 1, lane));
  const uint32_t line = static_cast<uint32_t>(argument(warp, site, 2, lane));
  std::fflush(stdout);
  std::fprintf(stderr, "%s:%u: %s: assertion `%s` failed.\n", file.c_str(), line,
               thread_name(warp, lane).c_str(), condition.c_str());
  report_assertion(warp, lane, condition, {file, static_cast<int>(line)});
  throw LaunchFault{LaunchStatus::kAssert};
}

constexpr const char* kHeap = "device heap";

// What a kernel may free is what a kernel has allocated.
void free_in_kernel(const Warp& warp, int lane, uint64_t address) {
  DeviceMemory& memory = DeviceMemory::instance();
  const Allocation* allocation = memory.allocation_at(address);
  const bool ours = allocation != nullptr && allocation->name == kHeap;
  const auto result = ours ? memory.free(address) : DeviceMemory::FreeResult::kNotAnAllocation;
  if (warp.checks && result != DeviceMemory::FreeResult::kOk) {
    report_device_free(warp, lane, address, result);
  }
}

}  // namespace

const uint8_t* bytes_at(const Warp& warp, int lane, uint64_t address, uint64_t size) {
  switch (space_of(address)) {
    case Space::kShared: {
      const uint64_t offset = address - kSharedWindow;
      const auto& shared = warp.block->shared;
      return offset + size <= shared.size() ? shared.data() + offset : nullptr;
    }
    case Space::kLocal: {
      const uint64_t offset = address - kLocalWindow;
      if (offset + size > warp.local_size) return nullptr;
      return warp.local.data() + static_cast<size_t>(lane) * warp.local_size + offset;
    }
    default: {
      const DeviceMemory& memory = DeviceMemory::instance();
      return memory.in_arena(address) && memory.accessible(address, size) ? memory.view(address)
                                                                          : nullptr;
    }
  }
}

uint8_t* bytes_at(Warp& warp, int lane, uint64_t address, uint64_t size) {
  return const_cast<uint8_t*>(bytes_at(static_cast<const Warp&>(warp), lane, address, size));
}

void mark_written(Warp& warp, int lane, uint64_t address, uint64_t size) {
  if (space_of(address) == Space::kLocal) {
    const size_t first =
        static_cast<size_t>(lane) * warp.local_size + static_cast<size_t>(address - kLocalWindow);
    std::fill_n(warp.local_undefined.begin() + static_cast<long>(first), size, uint8_t{0});
  } else if (space_of(address) == Space::kShared) {
    std::vector<uint8_t>& undefined = warp.block->shared_undefined;
    if (undefined.empty()) return;
    std::fill_n(undefined.begin() + static_cast<long>(address - kSharedWindow), size, uint8_t{0});
  } else {
    DeviceMemory::instance().mark_defined(address, size);
  }
}

int builtin_index(const std::string& name) {
  static const char* const kNames[] = {"vprintf", "__assertfail", "malloc", "free"};
  for (int i = 0; i < 4; ++i) {
    if (name == kNames[i]) return i;
  }
  const int device_runtime = device_runtime_index(name);
  return device_runtime < 0 ? -1 : kDeviceRuntime + device_runtime;
}

void call_builtin(Warp& warp, const CallSite& site, uint32_t mask) {
  DeviceMemory& memory = DeviceMemory::instance();
  switch (site.builtin) {
    case kVprintf:
      print_from_device(warp, site, mask);
      break;
    case kAssertFail:
      fail_assertion(warp, site, mask);
    case kMalloc:
      for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
        const int lane = std::countr_zero(rest);
        const uint64_t size = argument(warp, site, 0, lane);
        set_result(warp, site, lane,
                   size == 0 ? 0
                             : memory.allocate(size, AllocationKind::kDevice, kHeap,
                                               warp.block->grid->config->device));
      }
      break;
    case kFree:
      for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
        const int lane = std::countr_zero(rest);
        const uint64_t address = argument(warp, site, 0, lane);
        if (address != 0) free_in_kernel(warp, lane, address);
      }
      break;
    default:
      call_device_runtime(warp, site, site.builtin - kDeviceRuntime, mask);
      break;
  }
}

}  // namespace warplings::sim
