// Device memory: allocations, the two views, and the shadow.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include "memory/bit_range.h"
#include "memory/device_memory.h"

namespace warplings::sim {
namespace {

DeviceMemory& memory() { return DeviceMemory::instance(); }

uint64_t allocate(uint64_t size) { return memory().allocate(size, AllocationKind::kDevice); }

TEST(BitRange, AgreesWithOneBitAtATime) {
  std::mt19937 random(1);
  std::vector<uint64_t> words(9);
  std::vector<bool> expected(512);
  for (int round = 0; round < 2000; ++round) {
    const unsigned first = random() % 500;
    const unsigned count = random() % (512 - first) + 1;
    const bool set = random() % 2 == 0;
    if (set)
      set_bits(words.data(), first, count);
    else
      clear_bits(words.data(), first, count);
    std::fill_n(expected.begin() + first, count, set);
    const unsigned from = random() % 512;
    const auto found = std::find(expected.begin() + from, expected.end(), true);
    ASSERT_EQ(find_set_bit(words.data(), from, 512 - from),
              static_cast<uint64_t>(found - expected.begin()));
  }
}

TEST(BitRange, FindsTheFirstClearBit) {
  std::vector<uint64_t> words(3, ~uint64_t{0});
  EXPECT_EQ(find_clear_bit(words.data(), 5, 180), 185u);
  for (const uint64_t bit : {170u, 128u, 64u, 63u, 9u}) {
    words[bit / 64] &= ~(uint64_t{1} << bit % 64);
    EXPECT_EQ(find_clear_bit(words.data(), 9, 170), bit);
  }
}

TEST(DeviceMemory, SparseAllocationsHoldWhatIsTouched) {
  constexpr uint64_t kBytes = uint64_t{24} << 30;
  const uint64_t in_use = memory().bytes_in_use();
  const uint64_t start = memory().allocate_sparse(kBytes, 0);
  ASSERT_NE(start, 0u);
  EXPECT_EQ(memory().bytes_in_use(), in_use);
  EXPECT_TRUE(memory().has_sparse());
  EXPECT_EQ(memory().allocation_at(start - (uint64_t{1} << 33)), nullptr);
  EXPECT_EQ(memory().find_defined(start, kBytes), kBytes);
  for (const uint64_t at : {kBytes - 4, kBytes / 2, uint64_t{12345}}) {
    EXPECT_FALSE(memory().all_defined(start + at, 4));
    *memory().view(start + at) = 1;
    memory().mark_defined(start + at, 4);
    EXPECT_TRUE(memory().all_defined(start + at, 4));
    EXPECT_FALSE(memory().all_defined(start + at - 1, 4));
    EXPECT_EQ(memory().find_defined(start, kBytes), at);
  }
  EXPECT_EQ(memory().find_defined(start + 20000, kBytes - 20000), kBytes / 2 - 20000);
  EXPECT_EQ(memory().free(start), DeviceMemory::FreeResult::kOk);
  EXPECT_FALSE(memory().has_sparse());
  EXPECT_EQ(memory().bytes_in_use(), in_use);
}

TEST(BitRange, WritesAndReadsAcrossWords) {
  std::vector<uint64_t> words(3, 0x5555555555555555ull);
  write_bits(words.data(), 60, 16, 0xabcd);
  EXPECT_EQ(read_bits(words.data(), 60, 16), 0xabcdu);
  EXPECT_EQ(read_bits(words.data(), 56, 4), 0x5u);
  EXPECT_EQ(read_bits(words.data(), 76, 4), 0x5u);
}

TEST(DeviceMemory, AlignsAllocationsAndKeepsThemApart) {
  const uint64_t a = allocate(1000), b = allocate(1);
  EXPECT_EQ(a % DeviceMemory::kAlignment, 0u);
  EXPECT_EQ(b % DeviceMemory::kAlignment, 0u);
  EXPECT_GE(b - (a + 1000), DeviceMemory::kPage);
  EXPECT_EQ(memory().free(a), DeviceMemory::FreeResult::kOk);
  EXPECT_EQ(memory().free(b), DeviceMemory::FreeResult::kOk);
}

TEST(DeviceMemory, NeverHandsOutAnAddressTwice) {
  const uint64_t a = allocate(64);
  memory().free(a);
  const uint64_t b = allocate(64);
  EXPECT_NE(a, b);
  memory().free(b);
}

TEST(DeviceMemory, AccessIsBoundedByTheAllocation) {
  const uint64_t a = allocate(100);
  EXPECT_TRUE(memory().accessible(a, 100));
  EXPECT_TRUE(memory().accessible(a + 99, 1));
  EXPECT_FALSE(memory().accessible(a, 101));
  EXPECT_FALSE(memory().accessible(a + 100, 1));
  EXPECT_FALSE(memory().accessible(a - 1, 1));
  EXPECT_FALSE(memory().accessible(16, 4));
  memory().free(a);
  EXPECT_FALSE(memory().accessible(a, 1));
  ASSERT_NE(memory().allocation_at(a), nullptr);
  EXPECT_TRUE(memory().allocation_at(a)->freed);
}

TEST(DeviceMemory, RedZonesAreNotAccessible) {
  const uint64_t a = allocate(4096);
  memory().mark_red_zone(a, 256, true);
  memory().mark_red_zone(a + 3840, 256, true);
  EXPECT_FALSE(memory().accessible(a + 255, 1));
  EXPECT_TRUE(memory().accessible(a + 256, 3584));
  EXPECT_FALSE(memory().accessible(a + 256, 3585));
  memory().mark_red_zone(a, 256, false);
  EXPECT_TRUE(memory().accessible(a, 256));
  memory().free(a);
}

TEST(DeviceMemory, TellsTheKindsOfBadFreeApart) {
  const uint64_t a = allocate(128);
  EXPECT_EQ(memory().free(a + 8), DeviceMemory::FreeResult::kInterior);
  EXPECT_EQ(memory().free(a), DeviceMemory::FreeResult::kOk);
  EXPECT_EQ(memory().free(a), DeviceMemory::FreeResult::kDoubleFree);
  EXPECT_EQ(memory().free(0x1234), DeviceMemory::FreeResult::kNotAnAllocation);
}

TEST(DeviceMemory, NewMemoryIsUnwrittenAndBytesAreTrackedApart) {
  const uint64_t a = allocate(1000);
  EXPECT_FALSE(memory().all_defined(a, 1));
  memory().mark_defined(a + 3, 500);
  EXPECT_TRUE(memory().all_defined(a + 3, 500));
  EXPECT_EQ(memory().undefined_bytes(a, 8), 0x07u);
  EXPECT_EQ(memory().undefined_bytes(a + 500, 8), 0xf8u);
  memory().set_undefined_bytes(a + 64, 4, 0x5);
  EXPECT_EQ(memory().undefined_bytes(a + 62, 8), 0x14u);
  memory().free(a);
}

TEST(DeviceMemory, ManagedMemoryCountsAsWritten) {
  const uint64_t a = memory().allocate(64, AllocationKind::kManaged);
  EXPECT_TRUE(memory().all_defined(a, 64));
  memory().mark_undefined(a, 64);
  EXPECT_TRUE(memory().all_defined(a, 64));
  // Both views are the same bytes.
  std::memset(reinterpret_cast<void*>(a), 7, 64);
  EXPECT_EQ(memory().view(a)[63], 7);
  memory().free(a);
}

TEST(DeviceMemory, CopiesDefinednessOfOverlappingRanges) {
  std::mt19937 random(2);
  for (const int shift : {-200, -64, -3, 3, 64, 200}) {
    const uint64_t a = allocate(2048);
    std::vector<bool> expected(2048, true);
    for (int i = 0; i < 2048; ++i) {
      if (random() % 2 == 0) continue;
      memory().mark_defined(a + static_cast<uint64_t>(i), 1);
      expected[static_cast<size_t>(i)] = false;
    }
    const uint64_t from = 500, to = from + static_cast<uint64_t>(shift), size = 1000;
    const std::vector<bool> before = expected;
    std::copy_n(before.begin() + static_cast<long>(from), size,
                expected.begin() + static_cast<long>(to));
    memory().copy_definedness(a + to, a + from, size);
    for (uint64_t i = 0; i < 2048; ++i) {
      ASSERT_EQ(memory().undefined_bytes(a + i, 1) != 0, expected[i]) << shift << " at " << i;
    }
    memory().free(a);
  }
}

TEST(DeviceMemory, FindsTheNearestLiveAllocation) {
  const uint64_t a = allocate(100), b = allocate(100), c = allocate(100);
  memory().free(b);
  EXPECT_EQ(memory().nearest(a + 150)->start, a);
  EXPECT_EQ(memory().nearest(c - 8)->start, c);
  memory().free(a);
  memory().free(c);
}

TEST(DeviceMemory, UsesAddressesAgainWhenAllAreSpent) {
  const uint64_t kept = allocate(100);
  std::memset(memory().view(kept), 9, 100);
  constexpr uint64_t kBig = 4ull << 30;
  for (int i = 0; i < 40; ++i) {  // 160 GiB in an arena of 64
    const uint64_t a = memory().allocate(kBig, AllocationKind::kManaged);
    ASSERT_NE(a, 0u) << i;
    EXPECT_TRUE(a + kBig <= kept || a >= kept + 100);
    EXPECT_EQ(memory().view(a)[kBig - 1], 0);
    memory().view(a)[kBig - 1] = 1;
    EXPECT_EQ(memory().free(a), DeviceMemory::FreeResult::kOk);
  }
  EXPECT_EQ(memory().view(kept)[99], 9);
  memory().free(kept);
}

TEST(DeviceMemory, FreedMemoryLeavesNoMarksBehind) {
  constexpr uint64_t kSize = 3 << 20;
  const uint64_t a = allocate(kSize);
  memory().mark_red_zone(a, 4096, true);
  memory().free(a);
  EXPECT_EQ(find_set_bit(memory().undefined_bits(), a - DeviceMemory::kBase, kSize),
            a - DeviceMemory::kBase + kSize);
  EXPECT_EQ(find_set_bit(memory().red_bits(), a - DeviceMemory::kBase, kSize),
            a - DeviceMemory::kBase + kSize);
}

TEST(DeviceMemory, ForgetsBytesOfFreedMemory) {
  const uint64_t a = allocate(1 << 20);
  std::memset(memory().view(a), 1, 1 << 20);
  memory().free(a);
  EXPECT_EQ(memory().view(a)[12345], 0) << "the pages were not given back";
}

}  // namespace
}  // namespace warplings::sim
