#include "runtime/fat_binary.h"

#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>

#include "runtime/decompress.h"

namespace warplings::sim {
namespace {

constexpr uint16_t kKindPtx = 1;
constexpr uint64_t kFlagLz4 = 0x2000;
constexpr uint64_t kFlagZstd = 0x8000;
constexpr uint32_t kDeviceArchitecture = 90;

struct Wrapper {
  uint32_t magic;
  uint32_t version;  // 2: linked device code (-rdc=true); the parts hang off `parts`
  const char* data;
  const char* const* parts;  // ends with nullptr
};

struct Header {
  uint32_t magic;
  uint16_t version;
  uint16_t header_size;
  uint64_t size;  // of the entries that follow
};

struct Entry {
  uint16_t kind;
  uint16_t version;
  uint32_t header_size;
  uint64_t payload_size;     // padded
  uint32_t compressed_size;  // 0 if it is not compressed
  uint32_t reserved;
  uint16_t minor, major;
  uint32_t architecture;
  uint32_t name_offset, name_size;
  uint64_t flags;
  uint64_t zero;
  uint64_t uncompressed_size;
};
static_assert(sizeof(Entry) == 64);

struct Candidate {
  Entry entry{};
  const char* payload = nullptr;
};

// A newer architecture than the device's is taken only when there is nothing else: the simulator
// runs it as far as it knows the instructions.
bool is_better(uint32_t architecture, uint32_t than) {
  const bool fits = architecture <= kDeviceArchitecture, other_fits = than <= kDeviceArchitecture;
  if (fits != other_fits) return fits;
  return fits ? architecture > than : architecture < than;
}

std::string text_of(const Candidate& candidate, std::string* problem) {
  const Entry& entry = candidate.entry;
  std::string text;
  if ((entry.flags & (kFlagLz4 | kFlagZstd)) == 0) {
    text.assign(candidate.payload, entry.payload_size);
  } else {
    const std::string_view packed(candidate.payload, entry.compressed_size);
    const bool lz4 = (entry.flags & kFlagLz4) != 0;
    const bool done = lz4 ? decompress_lz4(packed, entry.uncompressed_size, &text)
                          : decompress_zstd(packed, entry.uncompressed_size, &text);
    if (!done) {
      *problem = std::string("The device code is compressed with ") + (lz4 ? "LZ4" : "Zstandard") +
                 " and cannot be unpacked here. Build the program with `nvcc --no-compress`.";
      return {};
    }
  }
  text.resize(std::strlen(text.c_str()));  // padding
  return text;
}

// The device run-time library that -rdc=true links in carries PTX of its own for newer cards. No
// program calls into it here: the simulator provides those functions itself.
bool is_device_runtime(const Candidate& best) {
  return best.entry.architecture > 120 && (best.entry.flags & (kFlagLz4 | kFlagZstd)) != 0 &&
         best.entry.uncompressed_size > 500'000;
}

void read_part(const char* data, FatBinaryContents* contents) {
  Header header;
  std::memcpy(&header, data, sizeof header);
  if (header.magic != kFatBinaryMagic) {
    contents->problem =
        "The device code is in a format that the simulator does not know. It reads "
        "programs built with nvcc 13.";
    return;
  }
  const char* at = data + header.header_size;
  const char* const end = at + header.size;
  Candidate best;
  bool machine_code = false;
  while (at + sizeof(Entry) <= end) {
    Candidate candidate;
    std::memcpy(&candidate.entry, at, sizeof(Entry));
    candidate.payload = at + candidate.entry.header_size;
    if (candidate.entry.kind != kKindPtx) {
      machine_code = true;
    } else if (best.payload == nullptr ||
               is_better(candidate.entry.architecture, best.entry.architecture)) {
      best = candidate;
    }
    at = candidate.payload + candidate.entry.payload_size;
  }
  if (best.payload != nullptr && machine_code && is_device_runtime(best)) return;
  contents->has_machine_code |= machine_code;
  if (best.payload == nullptr) return;
  std::string text = text_of(best, &contents->problem);
  if (!text.empty()) contents->ptx.push_back(std::move(text));
}

}  // namespace

std::shared_ptr<const void> wrap_fat_binary(const void* binary) {
  struct Owned {
    Wrapper wrapper;
    std::vector<char> bytes;
  };
  Header header;
  std::memcpy(&header, binary, sizeof header);
  const auto* const first = static_cast<const char*>(binary);
  auto owned = std::make_shared<Owned>();
  owned->bytes.assign(first, first + header.header_size + header.size);
  owned->wrapper = {kFatBinaryWrapperMagic, 1, owned->bytes.data(), nullptr};
  return {owned, &owned->wrapper};
}

FatBinaryContents read_fat_binary(const void* wrapper_address) {
  FatBinaryContents contents;
  Wrapper wrapper;
  std::memcpy(&wrapper, wrapper_address, sizeof wrapper);
  if (wrapper.magic != kFatBinaryWrapperMagic) {
    contents.problem = "The program registered device code in a format that is not nvcc's.";
    return contents;
  }
  read_part(wrapper.data, &contents);
  if (wrapper.version >= 2 && wrapper.parts != nullptr) {
    contents.linked = true;
    for (const char* const* part = wrapper.parts; *part != nullptr; ++part) {
      read_part(*part, &contents);
    }
  }
  if (contents.ptx.empty() && contents.problem.empty()) {
    contents.problem =
        contents.has_machine_code
            ? "The program holds machine code only, and the simulator runs PTX. Build it "
              "with `-gencode arch=compute_80,code=compute_80`."
            : "The program holds no device code.";
  }
  return contents;
}

}  // namespace warplings::sim
