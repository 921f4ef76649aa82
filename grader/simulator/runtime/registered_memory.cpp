#include "runtime/registered_memory.h"

#include <sys/mman.h>

#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <memory>

#include "core/machine.h"
#include "memory/device_memory.h"
#include "runtime/pointer.h"

namespace warplings::sim {
namespace {

constexpr uint64_t kHostPage = 4096;

uint64_t first_page(uint64_t start) { return start / kHostPage * kHostPage; }
uint64_t bytes_of_pages(uint64_t start, uint64_t end) {
  return (end + kHostPage - 1) / kHostPage * kHostPage - first_page(start);
}

// Asks `problem(access, name)` of every mapping that has pages of [begin, end): what it says first
// that is not "". All of them must be mapped.
template <class Problem>
std::string first_problem(uint64_t begin, uint64_t end, Problem problem) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> maps(std::fopen("/proc/self/maps", "re"),
                                                             std::fclose);
  if (maps == nullptr) return "/proc/self/maps cannot be read";
  char line[512];
  for (uint64_t known = begin; known < end;) {
    if (std::fgets(line, sizeof line, maps.get()) == nullptr) return "a part of it is not mapped";
    uint64_t from = 0, to = 0;
    char access[8] = "";
    if (std::sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s", &from, &to, access) != 3) continue;
    if (to <= known) continue;
    if (from > known) return "a part of it is not mapped";
    if (std::string said = problem(from, to, access, line); !said.empty()) return said;
    known = to;
  }
  return "";
}

// Why these pages cannot become pages of device memory; "" if they can. Only private, writable ones
// can: others are shared with a file or a process already. Not the stack, on which we stand.
std::string unshareable(uint64_t begin, uint64_t end) {
  const auto here = reinterpret_cast<uint64_t>(__builtin_frame_address(0));
  return first_problem(
      begin, end,
      [here](uint64_t from, uint64_t to, const char* access, const char* line) -> std::string {
        if (std::strncmp(access, "rw", 2) != 0 || access[3] != 'p') {
          return "its pages are read-only, or shared with a file, a process or another such range";
        }
        const bool stack = std::strstr(line, "[stack]") != nullptr || (from <= here && here < to);
        return stack ? "it lies on the stack" : "";
      });
}

bool still_shared(uint64_t begin, uint64_t end) {
  const auto problem = [](uint64_t, uint64_t, const char*, const char* line) -> std::string {
    return std::strstr(line, "warplings-device") == nullptr ? "other pages" : "";
  };
  return first_problem(begin, end, problem).empty();
}

// Whole pages, whatever objects lie on them and between them: word by word, because sanitizers look
// into std::memcpy.
[[gnu::no_sanitize("address", "thread")]] void copy_pages(void* to, const void* from,
                                                          uint64_t bytes) {
  auto* const words = static_cast<volatile uint64_t*>(to);
  const auto* const source = static_cast<const volatile uint64_t*>(from);
  for (uint64_t i = 0; i < bytes / sizeof(uint64_t); ++i) words[i] = source[i];
}

// `from` takes the place of `to` in one step.
bool move_pages(void* from, uint64_t to, uint64_t bytes) {
  void* const wanted = reinterpret_cast<void*>(to);
  if (from == MAP_FAILED) return false;
  if (mremap(from, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, wanted) == wanted) return true;
  munmap(from, bytes);
  return false;
}

}  // namespace

RegisteredMemory& RegisteredMemory::instance() { return Machine::get<RegisteredMemory>(); }

bool RegisteredMemory::add(const void* pointer, size_t size) {
  const uint64_t start = address_of(pointer), end = start + size;
  const auto after = ranges_.lower_bound(end);
  if (after != ranges_.begin() && std::prev(after)->second.end > start) return false;
  ranges_[start] = {end, 0};
  return true;
}

bool RegisteredMemory::remove(const void* pointer) {
  const auto found = ranges_.find(address_of(pointer));
  if (found == ranges_.end()) return false;
  unmap(found->first, &found->second);
  ranges_.erase(found);
  return true;
}

void RegisteredMemory::unmap_all() {
  for (auto& [start, range] : ranges_) unmap(start, &range);
}

bool RegisteredMemory::covers(uint64_t address) const {
  const auto after = ranges_.upper_bound(address);
  return after != ranges_.begin() && address < std::prev(after)->second.end;
}

size_t RegisteredMemory::size_at(const void* pointer) const {
  const auto found = ranges_.find(address_of(pointer));
  return found == ranges_.end() ? 0 : found->second.end - found->first;
}

uint64_t RegisteredMemory::device_address(uint64_t address, std::string* reason) {
  auto& [start, range] = *std::prev(ranges_.upper_bound(address));
  const uint64_t page = first_page(start), bytes = bytes_of_pages(start, range.end);
  if (range.mapped == 0) {
    *reason = unshareable(page, page + bytes);
    if (!reason->empty()) return 0;
    DeviceMemory& memory = DeviceMemory::instance();
    const uint64_t mapped = memory.allocate(range.end - page, AllocationKind::kHostPinned,
                                            "memory of cudaHostRegister");
    if (mapped == 0) {
      *reason = "device memory is spent";
      return 0;
    }
    // The program may write to the last bytes of the first and last page meanwhile, where they are
    // not of this range: a program with threads of its own takes that risk.
    copy_pages(memory.view(mapped), reinterpret_cast<const void*>(page), bytes);
    if (!move_pages(memory.another_view(mapped, bytes), page, bytes)) {
      memory.free(mapped);
      *reason = "the system does not move its pages";
      return 0;
    }
    if (start > page) memory.mark_red_zone(mapped, start - page, true);
    range.mapped = mapped;
  }
  return range.mapped + (address - page);
}

void RegisteredMemory::unmap(uint64_t start, Range* range) {
  if (range->mapped == 0) return;
  const uint64_t page = first_page(start), bytes = bytes_of_pages(start, range->end);
  DeviceMemory& memory = DeviceMemory::instance();
  // The program may have given pages back in the meantime, and others may lie there now.
  if (!still_shared(page, page + bytes)) return;
  void* const own =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (own != MAP_FAILED) copy_pages(own, memory.view(range->mapped), bytes);
  if (!move_pages(own, page, bytes)) return;  // they stay shared, and device memory keeps them
  memory.free(range->mapped);
  range->mapped = 0;
}

}  // namespace warplings::sim
