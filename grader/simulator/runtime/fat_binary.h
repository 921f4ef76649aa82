// The fat binary that nvcc embeds in an object: finds the PTX in it.
#ifndef WARPLINGS_SIMULATOR_RUNTIME_FAT_BINARY_H_
#define WARPLINGS_SIMULATOR_RUNTIME_FAT_BINARY_H_

#include <string>
#include <vector>

namespace warplings::sim {

struct FatBinaryContents {
  std::vector<std::string> ptx;  // one per translation unit
  bool has_machine_code = false;
  // Why there is no PTX although an entry exists ("compressed with ..."); a sentence, or empty.
  std::string problem;
};

// `wrapper` is the argument of __cudaRegisterFatBinary. Of several PTX versions of one translation
// unit (-gencode for several architectures) the highest that the simulated device (9.0) takes is
// used.
FatBinaryContents read_fat_binary(const void* wrapper);

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_RUNTIME_FAT_BINARY_H_
