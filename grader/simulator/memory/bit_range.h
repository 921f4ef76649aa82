// Operations on ranges of bits in an array of 64-bit words, a word at a time.
#ifndef WARPLINGS_SIMULATOR_MEMORY_BIT_RANGE_H_
#define WARPLINGS_SIMULATOR_MEMORY_BIT_RANGE_H_

#include <cstdint>

namespace warplings::sim {

// The bits [first, first + count) of one word; count is 1..64 and does not leave the word.
inline uint64_t bit_mask(unsigned first, unsigned count) {
  return (count == 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1) << first;
}

// Calls visit(word index, mask) for every word that holds bits of [first, first + count).
template <class Visit>
inline void for_each_word(uint64_t first, uint64_t count, Visit visit) {
  while (count > 0) {
    const unsigned offset = static_cast<unsigned>(first % 64);
    const unsigned take = static_cast<unsigned>(count < 64 - offset ? count : 64 - offset);
    visit(first / 64, bit_mask(offset, take));
    first += take;
    count -= take;
  }
}

inline void set_bits(uint64_t* words, uint64_t first, uint64_t count) {
  for_each_word(first, count, [=](uint64_t word, uint64_t mask) { words[word] |= mask; });
}

// Leaves words alone that are clear already: a page of the shadow that was never written stays
// unallocated.
inline void clear_bits(uint64_t* words, uint64_t first, uint64_t count) {
  for_each_word(first, count, [=](uint64_t word, uint64_t mask) {
    if ((words[word] & mask) != 0) words[word] &= ~mask;
  });
}

// The first set bit of the range, or first + count if there is none.
inline uint64_t find_set_bit(const uint64_t* words, uint64_t first, uint64_t count) {
  const uint64_t end = first + count;
  while (first < end) {
    const unsigned offset = static_cast<unsigned>(first % 64);
    const uint64_t rest = words[first / 64] >> offset;
    if (rest != 0) {
      const uint64_t found = first + static_cast<unsigned>(__builtin_ctzll(rest));
      return found < end ? found : end;
    }
    first += 64 - offset;
  }
  return end;
}

// The first clear bit of the range, or first + count if there is none.
inline uint64_t find_clear_bit(const uint64_t* words, uint64_t first, uint64_t count) {
  const uint64_t end = first + count;
  while (first < end) {
    const unsigned offset = static_cast<unsigned>(first % 64);
    const uint64_t rest = ~words[first / 64] >> offset;
    if (rest != 0) {
      const uint64_t found = first + static_cast<unsigned>(__builtin_ctzll(rest));
      return found < end ? found : end;
    }
    first += 64 - offset;
  }
  return end;
}

// Up to 64 bits that may straddle two words.
inline uint64_t read_bits(const uint64_t* words, uint64_t first, unsigned count) {
  const unsigned offset = static_cast<unsigned>(first % 64);
  uint64_t bits = words[first / 64] >> offset;
  if (offset + count > 64) bits |= words[first / 64 + 1] << (64 - offset);
  return bits & bit_mask(0, count);
}

inline void write_bits(uint64_t* words, uint64_t first, unsigned count, uint64_t bits) {
  const unsigned offset = static_cast<unsigned>(first % 64);
  const unsigned low = count < 64 - offset ? count : 64 - offset;
  uint64_t& word = words[first / 64];
  word = (word & ~bit_mask(offset, low)) | ((bits << offset) & bit_mask(offset, low));
  if (count > low) {
    uint64_t& next = words[first / 64 + 1];
    next = (next & ~bit_mask(0, count - low)) | ((bits >> low) & bit_mask(0, count - low));
  }
}

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_MEMORY_BIT_RANGE_H_
