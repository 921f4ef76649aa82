#include "checks/global_race.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>

#include "checks/stored_values.h"
#include "checks/watch.h"
#include "core/machine.h"
#include "exec/memory_access.h"

namespace warplings::sim {

struct GlobalRace::Check {
  const Warp& warp;
  RaceSearch search;
  Page* page = nullptr;  // of the last access
  uint64_t page_number = ~uint64_t{0};
};

namespace {

constexpr size_t kChunkWords = 16 * 1024;  // that are allocated at a time
constexpr uint16_t kAllQuiet = 0xffff;

const Function& function_of(const Warp& warp, uint32_t pc) {
  return warp.module->functions[static_cast<size_t>(warp.module->function_at(pc))];
}

// Whether the value of a store comes from a strong read: `x = x + 1`, and not a flag that goes from
// one state to the next. By the instructions above it, whatever the branches are.
bool stores_what_was_read(const Warp& warp, uint32_t pc) {
  const std::vector<Instr>& code = warp.module->code;
  const uint32_t entry = function_of(warp, pc).entry;
  std::vector<Place> from(code[pc].ops, code[pc].ops + code[pc].vector);
  for (uint32_t at = pc; at > entry && !from.empty(); --at) {
    const Instr& in = code[at - 1];
    for (int d = 0; d < in.destinations; ++d) {
      const auto made = std::find(from.begin(), from.end(), in.ops[d]);
      if (made == from.end() || !is_register(*made)) continue;
      if (in.strong) return true;
      from.erase(made);
      from.insert(from.end(), in.ops + in.destinations, in.ops + in.destinations + in.sources);
    }
  }
  return false;
}

// Whether what is read soon decides a branch: `while (*turn != mine)`, a word that threads wait for
// or hand on, and each knows which value it has seen.
bool decides_a_branch(const Warp& warp, uint32_t pc) {
  constexpr uint32_t kSoon = 32;  // instructions
  const std::vector<Instr>& code = warp.module->code;
  const uint32_t end = std::min(function_of(warp, pc).end, pc + kSoon);
  std::vector<Place> made(code[pc].ops, code[pc].ops + code[pc].destinations);
  const auto is_made = [&](Place place) {
    return std::find(made.begin(), made.end(), place) != made.end();
  };
  for (uint32_t at = pc + 1; at < end; ++at) {
    const Instr& in = code[at];
    if (in.kind == Kind::kBranch && is_made(in.guard)) return true;
    const Place* const sources = in.ops + in.destinations;
    if (std::any_of(sources, sources + in.sources, is_made)) {
      made.insert(made.end(), in.ops, in.ops + in.destinations);
    }
  }
  return false;
}

}  // namespace

GlobalRace& GlobalRace::instance() { return Machine::get<GlobalRace>(); }

GlobalRace::GlobalRace() {
  // A table for the whole arena; the system gives memory for the parts that are used.
  void* memory = mmap(nullptr, kTableBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    std::perror("warplings simulator: cannot reserve the table of racecheck");
    std::_Exit(98);
  }
  pages_ = static_cast<Page**>(memory);
  lists_.resize(1);
}

GlobalRace::~GlobalRace() { munmap(pages_, kTableBytes); }

void GlobalRace::begin(InnerOrder inner_order, bool across) {
  ++launch_;
  waits_.clear();
  rules_ = {inner_order, across};
  chunks_used_ = words_used_ = 0;
  lists_used_ = 1;
  if (used_.size() <= kKeptPages) return;
  for (const auto& [number, page] : used_) pages_[number] = nullptr;
  used_.clear();
  chunks_.clear();
}

GlobalRace::Page& GlobalRace::page_of(uint64_t address) {
  Page*& page = pages_[page_number(address)];
  if (page == nullptr) {
    used_.emplace_back(page_number(address), std::make_unique<Page>());
    page = used_.back().second.get();
  }
  if (page->launch != launch_) {
    *page = Page();
    page->launch = launch_;
  }
  return *page;
}

GlobalRace::Word* GlobalRace::detail(Page& page, uint32_t segment) {
  Word*& words = page.words[segment];
  if (words != nullptr) return words;
  if (chunks_used_ * kChunkWords * sizeof(Word) >= kMostDetail) forget_detail();
  if (chunks_used_ == 0 || words_used_ + kWords > kChunkWords) {
    if (chunks_used_ == chunks_.size()) chunks_.push_back(std::make_unique<Word[]>(kChunkWords));
    ++chunks_used_;
    words_used_ = 0;
  }
  words = chunks_[chunks_used_ - 1].get() + words_used_;
  words_used_ += kWords;
  const Entry& whole = page.segment[segment];
  const auto part = [](Access access, uint32_t k) {
    access.thread = static_cast<uint16_t>(access.thread + (k >> access.shift));
    return access;
  };
  for (uint32_t k = 0; k < kWords; ++k) {
    words[k] = Word();
    words[k].write = part(whole.write, k);
    for (int i = 0; i < 2; ++i) words[k].read[i] = part(whole.read[i], k);
  }
  return words;
}

// Memory is bounded: what was remembered word by word so far is given up, and races with it go
// unseen.
void GlobalRace::forget_detail() {
  for (const auto& [number, owned] : used_) {
    Page& page = *owned;
    if (page.launch != launch_) continue;
    for (uint32_t i = 0; i < kSegments; ++i) {
      if (page.words[i] == nullptr) continue;
      page.words[i] = nullptr;
      page.segment[i] = Entry();
      page.quiet[i] = 0;
    }
  }
  chunks_used_ = words_used_ = 0;
  lists_used_ = 1;
}

bool GlobalRace::is_quiet(const Request& request) const {
  uint64_t number = ~uint64_t{0};
  const Page* page = nullptr;
  for (uint32_t rest = request.mask; rest != 0; rest &= rest - 1) {
    const uint64_t address = request.address[std::countr_zero(rest)];
    if (page_number(address) != number) {
      number = page_number(address);
      page = pages_[number];
      if (page == nullptr || page->launch != launch_) return false;
    }
    const uint32_t offset = static_cast<uint32_t>(address % kPageBytes);
    const uint32_t quiet = page->quiet[offset / kSegmentBytes];
    const uint32_t first = offset % kSegmentBytes / 4;
    const uint32_t words = (1u << ((request.bytes + 3) / 4)) - 1;
    if ((quiet >> first & words) != words) return false;
  }
  return true;
}

bool GlobalRace::replaceable(const Check& check, const Access& old, const Access& access) const {
  if (!old.exists()) return true;
  if ((old.bytes & ~access.bytes) != 0) return false;
  if (old.same_thread(access)) return true;
  return standing_of(check.warp, access.thread % 32, old.block, old.thread, old.clock) ==
         Standing::kOrdered;
}

bool GlobalRace::is_read_only(const Entry& entry) const {
  return !rules_.across && !entry.write.exists() && entry.read[0].exists() &&
         entry.read[1].exists() && entry.read[0].block != entry.read[1].block &&
         entry.read[0].bytes == 0xf && entry.read[1].bytes == 0xf;
}

// ---- whole segments

// No race between two entries for a segment, and the later may take the place of the earlier.
bool GlobalRace::fits(const Check& check, const Access& earlier, const Access& later) const {
  if (!earlier.exists() || earlier.block != later.block) return !earlier.exists();
  return (earlier.thread == later.thread && earlier.shift == later.shift) ||
         earlier.clock <= order_of(check.warp).before;
}

void GlobalRace::whole_segment(Check& check, uint64_t address, Access access) {
  Page& page = *check.page;
  const uint32_t segment = static_cast<uint32_t>(address % kPageBytes / kSegmentBytes);
  const bool plain_read = access.is_plain_read();
  if (plain_read && page.quiet[segment] == kAllQuiet) return;
  if (access.write) page.written |= uint64_t{1} << segment;
  Entry& entry = page.segment[segment];
  const bool free0 = fits(check, entry.read[0], access);
  const bool free1 = fits(check, entry.read[1], access);
  const bool clean = fits(check, entry.write, access) && (plain_read || (free0 && free1));
  if (page.words[segment] == nullptr && clean && !access.strong) {
    if (access.write) {
      entry.write = access;
      page.quiet[segment] = 0;
      return;
    }
    const bool covered = rules_.covered(entry.read[0], entry.read[1], access);
    if (free0 || free1 || covered || rules_.across || entry.read[0].block != access.block ||
        rules_.replaces_second(entry, access)) {
      keep_read(entry, access, free0, free1);
      if (is_read_only(entry)) page.quiet[segment] = kAllQuiet;
      return;
    }
  }
  for (uint32_t k = 0; k < kWords; ++k) {
    Access part = access;
    part.thread = static_cast<uint16_t>(access.thread + (k >> access.shift));
    part.shift = 0;
    one_word(check, address + 4 * k, part);
  }
}

// The first reader stays, so that a second one of another block is known beside it. Where blocks
// can be ordered the latest replaces the second: a race with the one it replaces may go unseen.
void GlobalRace::keep_read(Entry& entry, const Access& access, bool free0, bool free1) const {
  if (free0) {
    entry.read[0] = access;
  } else if (free1 || rules_.across || rules_.replaces_second(entry, access)) {
    entry.read[1] = access;
  }
}

// ---- single words

void GlobalRace::one_word(Check& check, uint64_t address, const Access& access) {
  Page& page = *check.page;
  const uint32_t segment = static_cast<uint32_t>(address % kPageBytes / kSegmentBytes);
  const uint32_t k = static_cast<uint32_t>(address % kSegmentBytes / 4);
  if (access.is_plain_read() && ((page.quiet[segment] >> k) & 1) != 0) return;
  if (access.write) page.written |= uint64_t{1} << segment;
  Word& word = detail(page, segment)[k];
  Access here = access;
  here.updates = updates(check, word, access);
  compare(check, word, address & ~uint64_t{3}, here);
  remember(check, word, access);
  const uint16_t bit = static_cast<uint16_t>(1u << k);
  page.quiet[segment] = static_cast<uint16_t>(page.quiet[segment] & ~bit);
  if (word.list == 0 && is_read_only(word)) {
    page.quiet[segment] = static_cast<uint16_t>(page.quiet[segment] | bit);
  }
}

// The latest strong access read what the strong ones before it had written, and lies in the past of
// this one: so do they (causality order in the memory model of the PTX ISA).
bool GlobalRace::observed(const Check& check, const Word& word, const Access& access) const {
  const Access& latest = lists_[word.list][kLatestStrong];
  if (!latest.exists() || (latest.write && !latest.atomic)) return false;
  if (latest.same_thread(access)) return true;
  return standing_of(check.warp, access.thread % 32, latest.block, latest.thread, latest.clock) ==
         Standing::kOrdered;
}

bool GlobalRace::updates(const Check& check, const Word& word, const Access& access) const {
  if (!access.strong || !access.write || access.atomic || word.list == 0) return false;
  const Access& latest = lists_[word.list][kLatestStrong];
  return latest.exists() && !latest.write && !latest.atomic && latest.same_thread(access) &&
         word.awaited == 0 && stores_what_was_read(check.warp, access.pc);
}

void GlobalRace::compare(Check& check, const Word& word, uint64_t address,
                         const Access& access) const {
  const auto look = [&](const Access& earlier) {
    check.search.look(earlier, access, address, [&](const Access& one) {
      return standing_of(check.warp, access.thread % 32, one.block, one.thread, one.clock);
    });
  };
  look(word.write);
  look(word.read[0]);
  look(word.read[1]);
  if (word.list == 0) return;
  const bool past_strong = !access.strong && observed(check, word, access);
  for (const Access& earlier : lists_[word.list]) {
    if (!earlier.strong || !past_strong) look(earlier);
  }
}

void GlobalRace::remember(const Check& check, Word& word, const Access& access) {
  const auto replaceable = [&](const Access& old) { return this->replaceable(check, old, access); };
  if (!rules_.keep(word, access, replaceable)) remember_in_list(check, word, access);
}

bool GlobalRace::is_wait(const Check& check, const Access& access) {
  if (access.write || access.atomic || !access.strong) return false;
  const auto [known, is_new] = waits_.try_emplace(access.pc, false);
  if (is_new) known->second = decides_a_branch(check.warp, access.pc);
  return known->second;
}

void GlobalRace::remember_in_list(const Check& check, Word& word, const Access& access) {
  if (word.list == 0) {
    if (lists_used_ == lists_.size()) lists_.emplace_back();
    word.list = static_cast<uint32_t>(lists_used_++);
    lists_[word.list].assign(kLatestStrong + 1, Access());
  }
  std::vector<Access>& list = lists_[word.list];
  if (access.strong) list[kLatestStrong] = access;
  if (is_wait(check, access)) word.awaited = 1;
  const Access* first = nullptr;
  for (size_t i = kLatestStrong + 1; i < list.size(); ++i) {
    Access& old = list[i];
    if (!old.same_kind(access)) continue;
    if (replaceable(check, old, access)) {
      old = access;
      return;
    }
    if (first != nullptr && rules_.covered(*first, old, access)) return;
    if (first == nullptr || first->block == access.block) first = &old;
  }
  if (list.size() >= kMostListed) list.erase(list.begin() + kLatestStrong + 1);
  list.push_back(access);
}

// ---- requests

bool GlobalRace::access(const Warp& warp, const Request& request, Access access,
                        const StoredValues& stored, Race* race) {
  Check check{warp, {false, &stored, race}};
  uint32_t lanes = request.mask;
  const bool one_address = request.high - request.low == request.bytes;
  if (one_address && access.is_plain_read() && rules_.inner_order < InnerOrder::kLanes &&
      lanes != 0) {
    // Readers of one word: two of them stand for all.
    const uint32_t others = lanes & (lanes - 1);
    lanes = (lanes ^ others) | (others & (0 - others));
  }
  const bool whole_words = request.bytes >= 4;
  const uint32_t per_segment = kSegmentBytes / request.bytes;  // lanes
  while (lanes != 0) {
    const uint32_t lane = static_cast<uint32_t>(std::countr_zero(lanes));
    uint64_t address = request.address[lane];
    if (page_number(address) != check.page_number) {
      check.page_number = page_number(address);
      check.page = &page_of(address);
    }
    access.thread = static_cast<uint16_t>(warp.index * 32 + static_cast<int>(lane));
    if (whole_words && address % kSegmentBytes == 0 && lane + per_segment <= 32) {
      const uint32_t part = per_segment == 32 ? ~0u : ((1u << per_segment) - 1) << lane;
      bool whole = (lanes & part) == part;
      for (uint32_t i = 1; whole && i < per_segment; ++i) {
        whole = request.address[lane + i] == address + uint64_t{i} * request.bytes;
      }
      if (whole) {
        access.bytes = 0xf;
        access.shift = static_cast<uint8_t>(std::countr_zero(request.bytes / 4)) & 3;
        whole_segment(check, address, access);
        access.shift = 0;
        lanes &= ~part;
        continue;
      }
    }
    for (uint32_t left = request.bytes; left > 0;) {
      const uint32_t offset = address & 3, n = std::min(4 - offset, left);
      access.bytes = (((1u << n) - 1) << offset) & 0xf;
      one_word(check, address, access);
      address += n;
      left -= n;
    }
    lanes &= lanes - 1;
  }
  return check.search.found;
}

// ---- writes of the launch

// Most reads are of arrays that nobody writes: a bit per segment says so.
bool GlobalRace::has_written_segment(uint64_t low, uint64_t high) const {
  for (uint64_t at = low - low % kSegmentBytes; at < high; at += kSegmentBytes) {
    const Page* page = pages_[page_number(at)];
    if (page == nullptr || page->launch != launch_) continue;
    if ((page->written >> (at % kPageBytes / kSegmentBytes) & 1) != 0) return true;
  }
  return false;
}

// The write of these bytes of a word that is known; none exists where there was none.
GlobalRace::Access GlobalRace::write_of(const Page& page, uint64_t address, uint8_t bytes) const {
  const uint32_t segment = static_cast<uint32_t>(address % kPageBytes / kSegmentBytes);
  const uint32_t k = static_cast<uint32_t>(address % kSegmentBytes / 4);
  if (page.words[segment] == nullptr) {
    Access whole = page.segment[segment].write;
    whole.thread = static_cast<uint16_t>(whole.thread + (k >> whole.shift));
    return whole;
  }
  const Word& word = page.words[segment][k];
  const auto fits = [&](const Access& one) { return one.write && (one.bytes & bytes) != 0; };
  if (fits(word.write)) return word.write;
  if (word.list == 0) return Access();
  const std::vector<Access>& list = lists_[word.list];
  const auto latest = std::find_if(list.rbegin(), list.rend(), fits);
  return latest == list.rend() ? Access() : *latest;
}

bool GlobalRace::written(const Warp& warp, const Request& request, Access read, Race* found) const {
  const bool close = request.high - request.low <= 32 * 16;
  if (close && !has_written_segment(request.low, request.high)) return false;
  for (uint32_t lanes = request.mask; lanes != 0; lanes &= lanes - 1) {
    const int lane = std::countr_zero(lanes);
    const uint64_t first = request.address[lane], end = first + request.bytes;
    if (!close && !has_written_segment(first, end)) continue;
    for (uint64_t word = first - first % 4; word < end; word += 4) {
      const Page* page = pages_[page_number(word)];
      if (page == nullptr || page->launch != launch_) continue;
      read.bytes = 0;
      for (uint32_t k = 0; k < 4; ++k) {
        read.bytes |= static_cast<uint8_t>((word + k >= first && word + k < end) << k) & 0xf;
      }
      const Access write = write_of(*page, word, read.bytes);
      if (!write.exists()) continue;
      read.thread = static_cast<uint16_t>(warp.index * 32 + lane);
      *found = {write, read, word, false, false, Standing::kOrdered, false};
      return true;
    }
  }
  return false;
}

}  // namespace warplings::sim
