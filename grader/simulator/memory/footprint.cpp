#include "memory/footprint.h"

#include <algorithm>
#include <bit>

#include "core/request.h"
#include "memory/bit_range.h"
#include "memory/device_memory.h"

namespace warplings::sim {

void ByteSet::add(uint64_t address, uint64_t size) {
  while (size > 0) {
    const uint64_t page = address / kPage, first = address % kPage;
    const uint64_t count = std::min(size, kPage - first);
    add_in_page(page, first, count);
    address += count;
    size -= count;
  }
}

void ByteSet::add_in_page(uint64_t page, uint64_t first, uint64_t count) {
  if (page != last_page_) {
    last_ = &pages_[page];  // stays where it is when the table grows
    last_page_ = page;
  }
  if (last_->full) return;
  if (count == kPage) {
    last_->full = true;
    last_->bits = {};
    return;
  }
  if (last_->bits.empty()) last_->bits.resize(kPage / 64);
  set_bits(last_->bits.data(), first, count);
}

bool ByteSet::contains(uint64_t address) const {
  const auto at = pages_.find(address / kPage);
  if (at == pages_.end()) return false;
  const uint64_t bit = address % kPage;
  return at->second.full || ((at->second.bits[bit / 64] >> (bit % 64)) & 1) != 0;
}

std::optional<uint64_t> ByteSet::first_common(const Page& a, const Page& b) {
  for (uint64_t word = 0; word < kPage / 64; ++word) {
    const uint64_t both =
        (a.full ? ~uint64_t{0} : a.bits[word]) & (b.full ? ~uint64_t{0} : b.bits[word]);
    if (both != 0) return word * 64 + static_cast<uint64_t>(std::countr_zero(both));
  }
  return std::nullopt;
}

std::optional<uint64_t> ByteSet::first_common(const ByteSet& other) const {
  if (pages_.size() > other.pages_.size()) return other.first_common(*this);
  std::optional<uint64_t> lowest;
  for (const auto& [page, content] : pages_) {
    if (lowest && page * kPage > *lowest) continue;
    const auto match = other.pages_.find(page);
    if (match == other.pages_.end()) continue;
    const std::optional<uint64_t> found = first_common(content, match->second);
    if (found && (!lowest || page * kPage + *found < *lowest)) lowest = page * kPage + *found;
  }
  return lowest;
}

void Footprint::add(const Request& request, bool strong) {
  strong = strong || request.atomic;
  ByteSet& set =
      request.write ? (strong ? strong_writes_ : writes_) : (strong ? strong_reads_ : reads_);
  const DeviceMemory& memory = DeviceMemory::instance();
  if (request.contiguous) {
    if (memory.in_arena(request.low)) set.add(request.low, request.high - request.low);
    return;
  }
  for (uint32_t rest = request.mask; rest != 0; rest &= rest - 1) {
    const uint64_t address = request.address[std::countr_zero(rest)];
    if (memory.in_arena(address)) set.add(address, request.bytes);
  }
}

std::optional<Conflict> Footprint::conflict_with(const Footprint& other) const {
  std::optional<Conflict> lowest;
  const auto compare = [&](const ByteSet& mine, bool write, const ByteSet& theirs,
                           bool other_write) {
    const std::optional<uint64_t> found = mine.first_common(theirs);
    if (found && (!lowest || *found < lowest->address)) lowest = {*found, write, other_write};
  };
  compare(writes_, true, other.writes_, true);
  compare(writes_, true, other.reads_, false);
  compare(reads_, false, other.writes_, true);
  compare(writes_, true, other.strong_writes_, true);
  compare(strong_writes_, true, other.writes_, true);
  compare(writes_, true, other.strong_reads_, false);
  compare(strong_reads_, false, other.writes_, true);
  compare(reads_, false, other.strong_writes_, true);
  compare(strong_writes_, true, other.reads_, false);
  return lowest;
}

std::optional<Conflict> Footprint::conflict_with_host(uint64_t address, bool write) const {
  if (writes_.contains(address)) return Conflict{address, true, write};
  if (write && reads_.contains(address)) return Conflict{address, false, true};
  return std::nullopt;
}

}  // namespace warplings::sim
