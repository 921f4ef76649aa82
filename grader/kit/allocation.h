// The device memory behind a DeviceBuffer: its red zones, what a run may do to it, and what the kit
// needs in order to call a launcher again (kit/second_call.h).
#ifndef WARPLINGS_KIT_ALLOCATION_H_
#define WARPLINGS_KIT_ALLOCATION_H_

#include <string>
#include <vector>

#include "kit/kit.h"

namespace kit {
namespace internal {

class Allocation {
 public:
  Allocation(Role role, ElementKind element, const void* host, size_t bytes, size_t element_size,
             const char* name, Placement placement);
  ~Allocation();
  Allocation(const Allocation&) = delete;
  Allocation& operator=(const Allocation&) = delete;

  // What the payload holds, and which of its bytes something has written. Simulator only.
  struct Image {
    std::vector<unsigned char> bytes;
    std::vector<uint8_t> written;
    bool operator==(const Image& other) const {
      return bytes == other.bytes && written == other.written;
    }
  };

  unsigned char* payload() const { return base_ == nullptr ? nullptr : base_ + lead_; }
  size_t size() const { return bytes_; }
  size_t count() const { return bytes_ / element_size_; }
  const std::string& name() const { return name_; }
  int device() const { return device_; }
  bool is_input() const { return role_ == Role::kInput; }
  bool is_output() const { return role_ == Role::kOutput; }

  bool download(void* host, std::vector<uint8_t>* written) const;
  // All bytes, and which of them hold a value; and back again.
  void save(std::vector<unsigned char>* bytes, std::vector<uint8_t>* written) const;
  void put_back(const std::vector<unsigned char>& bytes, const std::vector<uint8_t>& written) const;
  std::string check_red_zones() const;
  std::string check_unchanged() const;
  void abandon() { base_ = other_ = nullptr; }

  Image image() const;
  void put(const Image& image) const;
  // `now` with other values that the same launcher may be given: the same ones in another order,
  // numbers halved where `halved`. Indices in ascending order and pointers stay as they are.
  Image decoy(const Image& now, bool halved) const;
  // From now on the buffer is elsewhere, with the same contents; false if there is no memory.
  bool move();
  void move_back();
  // Memory that it was moved to stays until here, for those who still write there.
  Image image_elsewhere();
  void release_other();

 private:
  static constexpr size_t kRedZone = 4096;  // bytes; a multiple of 256: the payload stays aligned

  size_t tail_size() const { return placement_ == Placement::kMiddle ? kRedZone : 0; }
  size_t total() const { return lead_ + bytes_ + tail_size(); }
  unsigned char* tail() const { return payload() + bytes_; }
  std::vector<unsigned char> surroundings() const;
  bool read(void* host, std::vector<uint8_t>* written) const;  // of bytes
  void mark_unwritten(const std::vector<uint8_t>& written) const;
  void protect() const;
  void expose() const;
  std::string check_zone(const unsigned char* zone, size_t size, bool before) const;

  Role role_;
  ElementKind element_;
  size_t bytes_, element_size_;
  std::string name_;
  Placement placement_;
  size_t lead_;  // bytes in front of the payload
  int device_;
  unsigned char* base_ = nullptr;
  unsigned char* other_ = nullptr;  // where it was moved to, or from
  uint64_t key_;
  std::vector<unsigned char> original_;  // of an input
};

}  // namespace internal
}  // namespace kit

#endif  // WARPLINGS_KIT_ALLOCATION_H_
