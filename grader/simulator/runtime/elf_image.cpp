#include "runtime/elf_image.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

namespace warplings::sim {

ElfImage::ElfImage(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  struct stat status {};
  if (fstat(fd, &status) == 0 && status.st_size > 0) {
    void* mapped =
        mmap(nullptr, static_cast<size_t>(status.st_size), PROT_READ, MAP_PRIVATE, fd, 0);
    if (mapped != MAP_FAILED) {
      data_ = static_cast<const char*>(mapped);
      size_ = static_cast<size_t>(status.st_size);
    }
  }
  close(fd);
  if (data_ != nullptr) read_sections();
}

ElfImage::~ElfImage() {
  if (data_ != nullptr) munmap(const_cast<char*>(data_), size_);
}

void ElfImage::read_sections() {
  Elf64_Ehdr header;
  if (size_ < sizeof header) return;
  std::memcpy(&header, data_, sizeof header);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64) {
    return;
  }
  const auto read_header = [&](unsigned index, Elf64_Shdr* out) {
    const uint64_t at = header.e_shoff + uint64_t{index} * header.e_shentsize;
    if (at > size_ || size_ - at < sizeof *out) return false;
    std::memcpy(out, data_ + at, sizeof *out);
    return out->sh_type == SHT_NOBITS ||
           (out->sh_offset <= size_ && out->sh_size <= size_ - out->sh_offset);
  };
  Elf64_Shdr names;
  if (!read_header(header.e_shstrndx, &names)) return;
  const std::string_view table(data_ + names.sh_offset, names.sh_size);
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    if (!read_header(i, &section) || section.sh_type == SHT_NOBITS) continue;
    if ((section.sh_flags & SHF_COMPRESSED) != 0 || section.sh_name >= table.size()) continue;
    const std::string_view name = table.substr(section.sh_name);
    sections_[std::string(name.substr(0, name.find('\0')))] =
        std::string_view(data_ + section.sh_offset, section.sh_size);
  }
}

std::string_view ElfImage::section(const std::string& name) const {
  const auto found = sections_.find(name);
  return found == sections_.end() ? std::string_view() : found->second;
}

}  // namespace warplings::sim
