// Payloads of fat binaries: nvcc compresses them with Zstandard (default) or LZ4
// (-compress-mode=speed).
#ifndef WARPLINGS_SIMULATOR_RUNTIME_DECOMPRESS_H_
#define WARPLINGS_SIMULATOR_RUNTIME_DECOMPRESS_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace warplings::sim {

// One LZ4 block. False if the input is malformed or does not yield exactly `size` bytes.
bool decompress_lz4(std::string_view input, size_t size, std::string* output);

// One Zstandard frame, through the system's libzstd.so.1. False if there is none, or on bad input.
bool decompress_zstd(std::string_view input, size_t size, std::string* output);

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_RUNTIME_DECOMPRESS_H_
