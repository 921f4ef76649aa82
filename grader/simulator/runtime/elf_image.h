// The sections of an ELF file on disk, mapped read-only: where debug information lives.
#ifndef WARPLINGS_SIMULATOR_RUNTIME_ELF_IMAGE_H_
#define WARPLINGS_SIMULATOR_RUNTIME_ELF_IMAGE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace warplings::sim {

class ElfImage {
 public:
  explicit ElfImage(const std::string& path);
  ~ElfImage();
  ElfImage(const ElfImage&) = delete;
  ElfImage& operator=(const ElfImage&) = delete;

  // The bytes of a section such as ".debug_line"; empty if there is none (or if it is compressed).
  std::string_view section(const std::string& name) const;

 private:
  void read_sections();

  const char* data_ = nullptr;
  size_t size_ = 0;
  std::map<std::string, std::string_view> sections_;
};

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_RUNTIME_ELF_IMAGE_H_
