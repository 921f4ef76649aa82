// Reads the primitive encodings of DWARF; reading past the end yields zeros and sets `failed`.
#ifndef WARPLINGS_SIMULATOR_RUNTIME_DWARF_CURSOR_H_
#define WARPLINGS_SIMULATOR_RUNTIME_DWARF_CURSOR_H_

#include <cstdint>
#include <cstring>
#include <string_view>

namespace warplings::sim {

class DwarfCursor {
 public:
  DwarfCursor() = default;
  DwarfCursor(std::string_view bytes, uint64_t at) : bytes_(bytes), at_(at) {
    if (at > bytes.size()) fail();
  }

  bool failed() const { return failed_; }
  bool at_end() const { return failed_ || at_ >= bytes_.size(); }
  uint64_t position() const { return at_; }
  void seek(uint64_t at) { at <= bytes_.size() ? static_cast<void>(at_ = at) : fail(); }
  void skip(uint64_t count) {
    count <= bytes_.size() - at_ ? static_cast<void>(at_ += count) : fail();
  }
  // No read goes past `end` afterwards.
  void limit(uint64_t end) {
    if (end < bytes_.size()) bytes_ = bytes_.substr(0, end);
  }

  template <class T>
  T fixed() {
    T value{};
    if (failed_ || bytes_.size() - at_ < sizeof(T)) {
      fail();
      return value;
    }
    std::memcpy(&value, bytes_.data() + at_, sizeof(T));
    at_ += sizeof(T);
    return value;
  }
  uint8_t u8() { return fixed<uint8_t>(); }
  uint16_t u16() { return fixed<uint16_t>(); }
  uint32_t u32() { return fixed<uint32_t>(); }
  uint64_t u64() { return fixed<uint64_t>(); }

  uint64_t sized(unsigned bytes) {
    switch (bytes) {
      case 1:
        return u8();
      case 2:
        return u16();
      case 4:
        return u32();
      case 8:
        return u64();
      default:
        fail();
        return 0;
    }
  }
  uint64_t uleb() {
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const uint8_t byte = u8();
      if (shift < 64) value |= uint64_t{byte & 0x7fu} << shift;
      if ((byte & 0x80) == 0) return value;
    }
  }
  int64_t sleb() {
    uint64_t value = 0;
    unsigned shift = 0;
    uint8_t byte = 0;
    do {
      byte = u8();
      if (shift < 64) value |= uint64_t{byte & 0x7fu} << shift;
      shift += 7;
    } while ((byte & 0x80) != 0);
    if (shift < 64 && (byte & 0x40) != 0) value |= ~uint64_t{0} << shift;
    return static_cast<int64_t>(value);
  }
  std::string_view string() {
    if (failed_ || at_ >= bytes_.size()) {
      fail();
      return {};
    }
    const size_t end = bytes_.find('\0', at_);
    if (end == std::string_view::npos) {
      fail();
      return {};
    }
    const std::string_view text = bytes_.substr(at_, end - at_);
    at_ = end + 1;
    return text;
  }
  // The length that starts a unit; *wide is set for the 64-bit format.
  uint64_t unit_length(bool* wide) {
    const uint64_t length = u32();
    *wide = length == 0xffffffff;
    return *wide ? u64() : length;
  }

 private:
  void fail() {
    failed_ = true;
    at_ = bytes_.size();
  }

  std::string_view bytes_;
  uint64_t at_ = 0;
  bool failed_ = false;
};

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_RUNTIME_DWARF_CURSOR_H_
