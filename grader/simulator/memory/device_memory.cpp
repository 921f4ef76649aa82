#include "memory/device_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "core/machine.h"
#include "memory/bit_range.h"

namespace warplings::sim {
namespace {

[[noreturn]] void cannot_start(const char* step) {
  std::fprintf(stderr,
               "warplings simulator: cannot reserve the memory of the simulated device (%s: %s). "
               "Check `ulimit -v` (it must be unlimited) and that memfd_create is allowed here.\n",
               step, std::strerror(errno));
  std::_Exit(98);
}

// One word more than needed: ranges of up to 64 bits read the word after the one they start in.
constexpr uint64_t kShadowBytes = DeviceMemory::kSize / 8 + 64;
constexpr uint64_t kTableBytes = DeviceMemory::kSize / DeviceMemory::kPage * sizeof(void*);

// Bytes of memory from which on its shadow is shown in place of being written.
constexpr uint64_t kLarge = uint64_t{64} << 20;

// Pages appear when they are touched: addresses cost nothing until they are used.
void* reserve_zeroed(uint64_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) cannot_start("shadow");
  return memory;
}

void map_arena(int fd, uint64_t address, int protection, const char* step) {
  void* wanted = reinterpret_cast<void*>(address);
  void* got = mmap(wanted, DeviceMemory::kSize, protection,
                   MAP_SHARED | MAP_FIXED_NOREPLACE | MAP_NORESERVE, fd, 0);
  if (got == MAP_FAILED) cannot_start(step);
  if (got != wanted) {  // a kernel that does not know MAP_FIXED_NOREPLACE
    errno = EEXIST;
    cannot_start(step);
  }
}

// Clears the bits of pages of a shadow, whatever they show, without taking memory for them.
void show_zeros(uint64_t* words, uint64_t first, uint64_t count) {
  if (mmap(reinterpret_cast<uint8_t*>(words) + first / 8, count / 8, PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) == MAP_FAILED) {
    cannot_start("shadow");
  }
}

// Clears the pages of a shadow that reserve_zeroed made: they go back to the system.
void drop_pages(uint64_t* words, uint64_t first, uint64_t count) {
  madvise(words + first / 64, count / 8, MADV_DONTNEED);
}

// Clears bits of a shadow, whole pages of them by `clear_pages` instead of being written.
template <class ClearPages>
void release_bits(uint64_t* words, uint64_t first, uint64_t count, ClearPages clear_pages) {
  static const uint64_t kBitsPerPage = static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) * 8;
  const uint64_t end = first + count;
  const uint64_t inner = (first + kBitsPerPage - 1) / kBitsPerPage * kBitsPerPage;
  const uint64_t inner_end = end / kBitsPerPage * kBitsPerPage;
  if (inner >= inner_end) {
    clear_bits(words, first, count);
    return;
  }
  clear_bits(words, first, inner - first);
  clear_bits(words, inner_end, end - inner_end);
  clear_pages(words, inner, inner_end - inner);
}

// Sets all bits of a range of the shadow without taking memory for them: its pages show those of
// one small file of ones until they are written. The range begins and ends with pages.
void show_ones(uint64_t* words, uint64_t first, uint64_t count) {
  constexpr uint64_t kFileBytes = 8 << 20;
  static const int file = [] {
    const int fd = memfd_create("warplings-ones", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, kFileBytes) != 0) cannot_start("memfd_create");
    void* ones = mmap(nullptr, kFileBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (ones == MAP_FAILED) cannot_start("shadow");
    std::memset(ones, 0xff, kFileBytes);
    munmap(ones, kFileBytes);
    return fd;
  }();
  auto* begin = reinterpret_cast<uint8_t*>(words) + first / 8;
  for (uint64_t done = 0; done < count / 8; done += kFileBytes) {
    if (mmap(begin + done, std::min(kFileBytes, count / 8 - done), PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, file, 0) == MAP_FAILED) {
      cannot_start("shadow");
    }
  }
}

uint64_t round_up(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }

}  // namespace

DeviceMemory& DeviceMemory::instance() { return Machine::get<DeviceMemory>(); }

// Arenas lie side by side, one for each machine that lives.
std::array<std::atomic<bool>, DeviceMemory::kMostArenas>& arenas() {
  static constinit std::array<std::atomic<bool>, DeviceMemory::kMostArenas> taken{};
  return taken;
}

uint64_t take_arena() {
  for (size_t i = 0; i < arenas().size(); ++i) {
    if (!arenas()[i].exchange(true)) return DeviceMemory::kBase + i * DeviceMemory::kSize;
  }
  errno = ENOMEM;
  cannot_start("more machines than arenas");
}

DeviceMemory::DeviceMemory() : base_(take_arena()), next_(base_ + kPage), limit_(0) {
  sell(Machine::current().options().memory);
  const int fd = memfd_create("warplings-device", MFD_CLOEXEC);
  if (fd < 0) cannot_start("memfd_create");
  if (ftruncate(fd, static_cast<off_t>(kSize)) != 0) cannot_start("ftruncate");
  map_arena(fd, base_, PROT_NONE, "program's view");
  map_arena(fd, base_ + kViewOffset, PROT_READ | PROT_WRITE, "simulator's view");
  fd_ = fd;
  undefined_ = static_cast<uint64_t*>(reserve_zeroed(kShadowBytes));
  red_ = static_cast<uint64_t*>(reserve_zeroed(kShadowBytes));
  page_table_ = static_cast<Allocation**>(reserve_zeroed(kTableBytes));
}

DeviceMemory::~DeviceMemory() {
  close(fd_);
  munmap(reinterpret_cast<void*>(base_), kSize);
  munmap(reinterpret_cast<void*>(base_ + kViewOffset), kSize);
  munmap(undefined_, kShadowBytes);
  munmap(red_, kShadowBytes);
  munmap(page_table_, kTableBytes);
  arenas()[(base_ - kBase) / kSize] = false;
}

uint64_t DeviceMemory::allocate(uint64_t size, AllocationKind kind, const std::string& name,
                                int device) {
  std::lock_guard lock(mutex_);
  ++version_;
  uint64_t& in_use = in_use_[static_cast<size_t>(device)];
  if (size > limit_ - std::min(in_use, limit_)) return 0;
  const uint64_t pages = round_up(std::max<uint64_t>(size, 1), kPage);
  const uint64_t start = find_addresses(pages + kPage);
  if (start == 0) return 0;

  Allocation allocation;
  allocation.start = start;
  allocation.size = size;
  allocation.kind = kind;
  allocation.track_undefined = kind == AllocationKind::kDevice;
  allocation.large = allocation.track_undefined && size >= kLarge;
  allocation.name = name;
  allocation.device = device;
  allocation.access = kind == AllocationKind::kDevice || kind == AllocationKind::kModule
                          ? 1u << device
                          : kEveryDevice;
  enter(allocation);
  in_use += size;
  if (allocation.large) {
    show_ones(undefined_, offset_of(start), pages);
  } else if (allocation.track_undefined) {
    set_bits(undefined_, offset_of(start), size);
  }
  if (kind == AllocationKind::kManaged || kind == AllocationKind::kHostPinned) {
    mprotect(reinterpret_cast<void*>(start), pages, PROT_READ | PROT_WRITE);
  }
  return start;
}

Allocation* DeviceMemory::enter(Allocation allocation) {
  allocation.id = next_id_++;
  const uint64_t pages = round_up(std::max<uint64_t>(allocation.size, 1), kPage) / kPage;
  Allocation* stored = &(allocations_[allocation.start] = allocation);
  std::fill_n(page_table_ + (offset_of(allocation.start)) / kPage, pages, stored);
  return stored;
}

uint64_t DeviceMemory::allocate_sparse(uint64_t size, int device) {
  // 2^31 elements of 8 bytes on both sides.
  constexpr uint64_t kGuard = uint64_t{1} << 34;
  std::lock_guard lock(mutex_);
  ++version_;
  const uint64_t whole = round_up(std::max<uint64_t>(size, 1), kPage);
  if (whole > kSize) return 0;
  const uint64_t addresses = find_addresses(whole + 2 * kGuard);
  if (addresses == 0) return 0;
  Allocation allocation;
  allocation.start = addresses + kGuard;
  allocation.size = size;
  allocation.sparse = true;
  allocation.device = device;
  allocation.access = 1u << device;
  enter(allocation);
  ++sparse_;
  show_ones(undefined_, offset_of(allocation.start), whole);
  return allocation.start;
}

uint64_t DeviceMemory::allocate_repeated(uint64_t size, const void* pattern, uint64_t period,
                                         int device) {
  const uint64_t start = allocate_sparse(size, device);
  if (start == 0) return 0;
  std::lock_guard lock(mutex_);
  Allocation& allocation = allocations_.at(start);
  allocation.repeats = true;
  show_zeros(undefined_, offset_of(start), round_up(std::max<uint64_t>(size, 1), kPage));
  if (show_repeated(allocation, pattern, period)) return start;
  retire(&allocation);
  return 0;
}

// The simulator's view of the allocation shows the same file again and again. Pages that are
// written become its own.
bool DeviceMemory::show_repeated(const Allocation& allocation, const void* pattern,
                                 uint64_t period) {
  const int file = memfd_create("warplings-repeated", MFD_CLOEXEC);
  if (file < 0) return false;
  bool shown = period > 0 && write(file, pattern, period) == static_cast<ssize_t>(period);
  const uint64_t whole = round_up(std::max<uint64_t>(allocation.size, 1), kPage);
  for (uint64_t done = 0; shown && done < whole; done += period) {
    shown =
        mmap(view(allocation.start) + done, std::min(period, whole - done), PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, file, 0) != MAP_FAILED;
  }
  close(file);
  return shown;
}

// Addresses are not used twice while there are fresh ones, so that a pointer that outlives its
// memory stays recognisable.
uint64_t DeviceMemory::find_addresses(uint64_t bytes) {
  const uint64_t end = base_ + kSize;
  if (bytes <= end - next_) return std::exchange(next_, next_ + bytes);
  forget_freed();
  uint64_t candidate = base_ + kPage;
  for (const auto& [start, allocation] : allocations_) {
    if (bytes <= start - candidate) return candidate;
    candidate = start + round_up(std::max<uint64_t>(allocation.size, 1), kPage) + kPage;
  }
  return bytes <= end - candidate ? candidate : 0;
}

void DeviceMemory::forget_freed() {
  for (auto it = allocations_.begin(); it != allocations_.end();) {
    if (it->second.state != AllocationState::kFreed || it->second.reserved) {
      ++it;
      continue;
    }
    const uint64_t pages = round_up(std::max<uint64_t>(it->second.size, 1), kPage) / kPage;
    std::fill_n(page_table_ + offset_of(it->first) / kPage, pages, nullptr);
    it = allocations_.erase(it);
  }
}

void DeviceMemory::retire(Allocation* allocation) {
  ++version_;
  const uint64_t pages = round_up(std::max<uint64_t>(allocation->size, 1), kPage);
  void* program = reinterpret_cast<void*>(allocation->start);
  allocation->freed = true;
  allocation->state = AllocationState::kFreed;
  if (allocation->sparse) {
    --sparse_;
  } else {
    in_use_[static_cast<size_t>(allocation->device)] -= allocation->size;
  }
  mprotect(program, pages, PROT_NONE);
  if (allocation->repeats && mmap(view(allocation->start), pages, PROT_READ | PROT_WRITE,
                                  MAP_SHARED | MAP_FIXED | MAP_NORESERVE, fd_,
                                  static_cast<off_t>(offset_of(allocation->start))) == MAP_FAILED) {
    cannot_start("arena");
  }
  // Gives the pages of the memfd back to the system; the addresses stay reserved.
  madvise(view(allocation->start), pages, MADV_REMOVE);
  if (allocation->sparse || allocation->large) {
    show_zeros(undefined_, offset_of(allocation->start), pages);
  } else {
    release_bits(undefined_, offset_of(allocation->start), allocation->size, drop_pages);
  }
  if (allocation->has_red_zones) {
    clear_bits(red_, offset_of(allocation->start), allocation->size);
  }
}

DeviceMemory::FreeResult DeviceMemory::free(uint64_t address) {
  std::lock_guard lock(mutex_);
  auto* allocation = const_cast<Allocation*>(lookup(address));
  if (allocation == nullptr || allocation->kind == AllocationKind::kModule) {
    return FreeResult::kNotAnAllocation;
  }
  if (allocation->start != address) return FreeResult::kInterior;
  if (allocation->state == AllocationState::kFreed) return FreeResult::kDoubleFree;
  retire(allocation);
  return FreeResult::kOk;
}

void* DeviceMemory::another_view(uint64_t address, uint64_t bytes) const {
  return mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd_,
              static_cast<off_t>(offset_of(address)));
}

void DeviceMemory::make_constant(uint64_t address) {
  std::lock_guard lock(mutex_);
  const_cast<Allocation*>(lookup(address))->constant = true;
}

void DeviceMemory::make_host_visible(uint64_t address) {
  std::lock_guard lock(mutex_);
  ++version_;
  auto* allocation = const_cast<Allocation*>(lookup(address));
  if (allocation == nullptr || allocation->freed) return;
  allocation->kind = AllocationKind::kModule;
  allocation->access = kEveryDevice;
  allocation->track_undefined = false;
  clear_bits(undefined_, offset_of(allocation->start), allocation->size);
  mprotect(reinterpret_cast<void*>(allocation->start),
           round_up(std::max<uint64_t>(allocation->size, 1), kPage), PROT_READ | PROT_WRITE);
}

void DeviceMemory::reset(int device) {
  std::lock_guard lock(mutex_);
  ++version_;
  for (auto& [start, allocation] : allocations_) {
    if (allocation.state != AllocationState::kFreed && allocation.device == device &&
        allocation.kind != AllocationKind::kModule) {
      retire(&allocation);
    }
  }
}

void DeviceMemory::promise(uint64_t address) {
  std::lock_guard lock(mutex_);
  ++version_;
  auto* allocation = const_cast<Allocation*>(lookup(address));
  allocation->freed = true;
  allocation->state = AllocationState::kPromised;
  allocation->reserved = true;
}

void DeviceMemory::abandon(uint64_t address) {
  std::lock_guard lock(mutex_);
  auto* allocation = const_cast<Allocation*>(lookup(address));
  if (allocation == nullptr) return;
  if (allocation->state == AllocationState::kPromised) retire(allocation);
  allocation->reserved = false;
}

void DeviceMemory::fulfil(uint64_t address) {
  std::lock_guard lock(mutex_);
  ++version_;
  auto* allocation = const_cast<Allocation*>(lookup(address));
  if (allocation->state == AllocationState::kFreed) {
    in_use_[static_cast<size_t>(allocation->device)] += allocation->size;
  }
  allocation->freed = false;
  allocation->state = AllocationState::kLive;
  set_bits(undefined_, offset_of(allocation->start), allocation->size);
}

bool DeviceMemory::is_promised_or_live(uint64_t address, uint64_t size) const {
  const Allocation* allocation = lookup(address);
  return allocation != nullptr && allocation->state != AllocationState::kFreed &&
         address >= allocation->start && size <= allocation->size &&
         address - allocation->start <= allocation->size - size;
}

void DeviceMemory::set_access(uint64_t address, uint32_t devices) {
  std::lock_guard lock(mutex_);
  ++version_;
  auto* allocation = const_cast<Allocation*>(lookup(address));
  allocation->access = devices;
  allocation->own_access = true;
}

// Pinned and managed memory belongs to all devices.
void DeviceMemory::set_access_of_device(int owner, uint32_t devices) {
  std::lock_guard lock(mutex_);
  ++version_;
  for (auto& [start, allocation] : allocations_) {
    if (allocation.device != owner || allocation.own_access) continue;
    if (allocation.kind == AllocationKind::kDevice) allocation.access = devices;
  }
}

const Allocation* DeviceMemory::lookup(uint64_t address) const {
  return in_arena(address) ? page_table_[offset_of(address) / kPage] : nullptr;
}

const Allocation* DeviceMemory::allocation_at(uint64_t address) const { return lookup(address); }

const Allocation* DeviceMemory::nearest(uint64_t address) const {
  std::lock_guard lock(mutex_);
  const Allocation* best = nullptr;
  uint64_t best_distance = ~uint64_t{0};
  const auto consider = [&](const Allocation& allocation) {
    const uint64_t distance = address < allocation.start   ? allocation.start - address
                              : address < allocation.end() ? 0
                                                           : address - allocation.end();
    if (distance < best_distance) {
      best = &allocation;
      best_distance = distance;
    }
  };
  const auto above = allocations_.upper_bound(address);
  for (auto it = above; it != allocations_.end(); ++it) {
    if (it->second.freed) continue;
    consider(it->second);
    break;
  }
  for (auto it = above; it != allocations_.begin();) {
    if ((--it)->second.freed) continue;
    consider(it->second);
    break;
  }
  return best;
}

bool DeviceMemory::in_live_allocation(uint64_t address, uint64_t size) const {
  const Allocation* allocation = lookup(address);
  return allocation != nullptr && !allocation->freed && address >= allocation->start &&
         size <= allocation->size && address - allocation->start <= allocation->size - size;
}

bool DeviceMemory::accessible(uint64_t address, uint64_t size) const {
  if (!in_live_allocation(address, size)) return false;
  if (!lookup(address)->has_red_zones) return true;
  const uint64_t first = offset_of(address);
  return find_set_bit(red_, first, size) == first + size;
}

void DeviceMemory::mark_undefined(uint64_t address, uint64_t size) {
  ++version_;
  const Allocation* allocation = lookup(address);
  if (allocation == nullptr || !in_live_allocation(address, size)) return;
  if (allocation->track_undefined) set_bits(undefined_, offset_of(address), size);
}

void DeviceMemory::mark_defined(uint64_t address, uint64_t size) {
  ++version_;
  if (!in_live_allocation(address, size)) return;
  if (size >= kLarge) {
    release_bits(undefined_, offset_of(address), size, show_zeros);
  } else {
    clear_bits(undefined_, offset_of(address), size);
  }
}

bool DeviceMemory::all_defined(uint64_t address, uint64_t size) const {
  if (!in_live_allocation(address, size)) return true;
  const uint64_t first = offset_of(address);
  return find_set_bit(undefined_, first, size) == first + size;
}

uint64_t DeviceMemory::find_defined(uint64_t address, uint64_t size) const {
  if (!in_live_allocation(address, size)) return size;
  constexpr uint64_t kStep = 1 << 20;
  const uint64_t begin = offset_of(address), end = begin + size;
  for (uint64_t at = begin; at < end;) {
    const off_t data = lseek(fd_, static_cast<off_t>(at), SEEK_DATA);
    if (data < 0 || static_cast<uint64_t>(data) >= end) break;
    at = std::max(at, static_cast<uint64_t>(data));
    // Where the data ends would cost a walk through all of it.
    const uint64_t stop = std::min(end, at + kStep);
    const uint64_t found = find_clear_bit(undefined_, at, stop - at);
    if (found < stop) return found - begin;
    at = stop;
  }
  return size;
}

uint32_t DeviceMemory::undefined_bytes(uint64_t address, unsigned size) const {
  if (!in_arena(address)) return 0;
  return static_cast<uint32_t>(read_bits(undefined_, offset_of(address), size));
}

void DeviceMemory::set_undefined_bytes(uint64_t address, unsigned size, uint32_t mask) {
  ++version_;
  if (!in_live_allocation(address, size) || !lookup(address)->track_undefined) return;
  write_bits(undefined_, offset_of(address), size, mask);
}

void DeviceMemory::copy_definedness(uint64_t to, uint64_t from, uint64_t size) {
  ++version_;
  if (!in_live_allocation(to, size) || !in_live_allocation(from, size)) return;
  if (!lookup(to)->track_undefined) return;
  const uint64_t target = offset_of(to), source = offset_of(from);
  // Overlapping ranges copy like memmove: from the end when the target lies above the source.
  const bool backwards = target > source && target < source + size;
  for (uint64_t done = 0; done < size;) {
    const unsigned step = static_cast<unsigned>(std::min<uint64_t>(64, size - done));
    const uint64_t at = backwards ? size - done - step : done;
    write_bits(undefined_, target + at, step, read_bits(undefined_, source + at, step));
    done += step;
  }
}

void DeviceMemory::mark_red_zone(uint64_t address, uint64_t size, bool on) {
  std::lock_guard lock(mutex_);
  ++version_;
  if (!in_live_allocation(address, size)) return;
  if (on) {
    const_cast<Allocation*>(lookup(address))->has_red_zones = true;
    set_bits(red_, offset_of(address), size);
  } else {
    clear_bits(red_, offset_of(address), size);
  }
}

void DeviceMemory::set_name(uint64_t address, const std::string& name) {
  std::lock_guard lock(mutex_);
  if (auto* allocation = const_cast<Allocation*>(lookup(address))) allocation->name = name;
}

void DeviceMemory::set_allocated_at(uint64_t address, const std::string& where) {
  std::lock_guard lock(mutex_);
  if (auto* allocation = const_cast<Allocation*>(lookup(address))) allocation->allocated_at = where;
}

void DeviceMemory::set_freed_at(uint64_t address, const std::string& where) {
  std::lock_guard lock(mutex_);
  if (auto* allocation = const_cast<Allocation*>(lookup(address))) allocation->freed_at = where;
}

std::vector<Allocation> DeviceMemory::live() const {
  std::lock_guard lock(mutex_);
  std::vector<Allocation> result;
  for (const auto& [start, allocation] : allocations_) {
    if (!allocation.freed && allocation.kind != AllocationKind::kModule) {
      result.push_back(allocation);
    }
  }
  return result;
}

std::vector<Allocation> DeviceMemory::module_variables() const {
  std::lock_guard lock(mutex_);
  std::vector<Allocation> result;
  for (const auto& [start, allocation] : allocations_) {
    if (allocation.kind == AllocationKind::kModule) result.push_back(allocation);
  }
  return result;
}

}  // namespace warplings::sim
