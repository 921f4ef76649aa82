// The fat binary that nvcc embeds in an object: finds the PTX in it.
#ifndef WARPLINGS_SIMULATOR_RUNTIME_FAT_BINARY_H_
#define WARPLINGS_SIMULATOR_RUNTIME_FAT_BINARY_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace warplings::sim {

struct FatBinaryContents {
  std::vector<std::string> ptx;  // one per translation unit
  bool linked = false;           // by nvcc -rdc=true: names are shared between them
  bool has_machine_code = false;
  // Why there is no PTX although an entry exists ("compressed with ..."); a sentence, or empty.
  std::string problem;
};

// `wrapper` is the argument of __cudaRegisterFatBinary. Of several PTX versions of one translation
// unit (-gencode for several architectures) the highest that the simulated device (9.0) takes is
// used.
// First words of a wrapper, and of what it points to.
inline constexpr uint32_t kFatBinaryWrapperMagic = 0x466243b1;
inline constexpr uint32_t kFatBinaryMagic = 0xba55ed50;
// A wrapper for a fat binary that has none, with a copy of it.
std::shared_ptr<const void> wrap_fat_binary(const void* binary);

FatBinaryContents read_fat_binary(const void* wrapper);

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_RUNTIME_FAT_BINARY_H_
