#include "runtime/decompress.h"

#include <dlfcn.h>

namespace warplings::sim {
namespace {

// Lengths beyond 14 go on in bytes of up to 255.
bool read_length(std::string_view input, size_t* at, size_t* length) {
  if (*length < 15) return true;
  for (;;) {
    if (*at >= input.size()) return false;
    const auto byte = static_cast<unsigned char>(input[(*at)++]);
    *length += byte;
    if (byte != 255) return true;
  }
}

}  // namespace

bool decompress_lz4(std::string_view input, size_t size, std::string* output) {
  output->clear();
  output->reserve(size);
  size_t at = 0;
  while (at < input.size()) {
    const auto token = static_cast<unsigned char>(input[at++]);
    size_t literals = token >> 4;
    if (!read_length(input, &at, &literals) || literals > input.size() - at) return false;
    if (literals > size - output->size()) return false;
    output->append(input.substr(at, literals));
    at += literals;
    if (at == input.size()) break;  // a block ends with literals
    if (input.size() - at < 2) return false;
    const size_t distance = static_cast<unsigned char>(input[at]) |
                            static_cast<size_t>(static_cast<unsigned char>(input[at + 1])) << 8;
    at += 2;
    size_t match = token & 15;
    if (!read_length(input, &at, &match)) return false;
    match += 4;
    if (distance == 0 || distance > output->size() || match > size - output->size()) return false;
    // Byte by byte: a match may overlap what it is producing.
    for (size_t i = 0; i < match; ++i) output->push_back((*output)[output->size() - distance]);
  }
  return output->size() == size;
}

bool decompress_zstd(std::string_view input, size_t size, std::string* output) {
  using Decompress = size_t (*)(void*, size_t, const void*, size_t);
  // Loaded on demand: programs built with --no-compress must run where the library is missing.
  static const auto decompress = []() -> Decompress {
    void* library = dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL);
    return library == nullptr ? nullptr
                              : reinterpret_cast<Decompress>(dlsym(library, "ZSTD_decompress"));
  }();
  if (decompress == nullptr) return false;
  output->resize(size);
  return decompress(output->data(), size, input.data(), input.size()) == size;
}

}  // namespace warplings::sim
