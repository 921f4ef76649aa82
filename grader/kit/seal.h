// The seal of a line on the channel: SipHash-2-4 (Aumasson and Bernstein) of the line's number and
// its text, under a key that one run has. The grader counts along, so a line that was captured can
// be neither altered nor sent again, and one that is missing is noticed.
#ifndef WARPLINGS_KIT_SEAL_H_
#define WARPLINGS_KIT_SEAL_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kit {

struct SealKey {
  uint64_t low = 0, high = 0;
};

// Reads 32 hex digits, most significant first. False if they are not.
inline bool read_key(std::string_view hex, SealKey* key) {
  if (hex.size() != 32) return false;
  uint64_t halves[2] = {0, 0};
  for (size_t i = 0; i < hex.size(); ++i) {
    const char c = hex[i];
    const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
    if (digit < 0) return false;
    halves[i / 16] = halves[i / 16] << 4 | static_cast<uint64_t>(digit);
  }
  *key = {halves[1], halves[0]};
  return true;
}

namespace internal {

class SipHash {
 public:
  explicit SipHash(const SealKey& key)
      : v_{key.low ^ 0x736f6d6570736575, key.high ^ 0x646f72616e646f6d,
           key.low ^ 0x6c7967656e657261, key.high ^ 0x7465646279746573} {}

  void word(uint64_t m) {
    v_[3] ^= m;
    round();
    round();
    v_[0] ^= m;
  }

  uint64_t finish() {
    v_[2] ^= 0xff;
    for (int i = 0; i < 4; ++i) round();
    return v_[0] ^ v_[1] ^ v_[2] ^ v_[3];
  }

 private:
  static uint64_t turned(uint64_t x, int bits) { return x << bits | x >> (64 - bits); }
  void round() {
    v_[0] += v_[1], v_[2] += v_[3];
    v_[1] = turned(v_[1], 13) ^ v_[0], v_[3] = turned(v_[3], 16) ^ v_[2];
    v_[0] = turned(v_[0], 32);
    v_[2] += v_[1], v_[0] += v_[3];
    v_[1] = turned(v_[1], 17) ^ v_[2], v_[3] = turned(v_[3], 21) ^ v_[0];
    v_[2] = turned(v_[2], 32);
  }

  uint64_t v_[4];
};

}  // namespace internal

// Of the number (eight bytes, the least first) followed by the text.
inline uint64_t seal_of(const SealKey& key, uint64_t number, std::string_view text) {
  internal::SipHash hash(key);
  hash.word(number);
  uint64_t word = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    word |= uint64_t{static_cast<unsigned char>(text[i])} << (i % 8 * 8);
    if (i % 8 != 7) continue;
    hash.word(word);
    word = 0;
  }
  hash.word(word | (text.size() + sizeof number) << 56);
  return hash.finish();
}

constexpr size_t kSealDigits = 16;

inline void write_seal(uint64_t seal, char* digits) {
  for (size_t i = 0; i < kSealDigits; ++i) {
    digits[i] = "0123456789abcdef"[seal >> (60 - 4 * i) & 15];
  }
}

}  // namespace kit
#endif  // WARPLINGS_KIT_SEAL_H_
