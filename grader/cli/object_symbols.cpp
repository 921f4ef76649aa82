#include "cli/object_symbols.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>

namespace grade {
namespace {

constexpr const char* kBanned[] = {
    "dlopen",
    "dlmopen",
    "dlsym",
    "dlvsym",
    "dl_iterate_phdr",
    "fork",
    "vfork",
    "execve",
    "execv",
    "execvp",
    "system",
    "popen",
    "posix_spawn",
    "ptrace",
    "process_vm_readv",
    "process_vm_writev",
    "mprotect",
    "syscall",
};

// Reads structures out of the bytes of a file; what lies outside of it is not there.
class Image {
 public:
  explicit Image(std::string bytes) : bytes_(std::move(bytes)) {}
  template <class T>
  bool read(uint64_t offset, T* out) const {
    if (offset > bytes_.size() || bytes_.size() - offset < sizeof(T)) return false;
    std::memcpy(out, bytes_.data() + offset, sizeof(T));
    return true;
  }
  std::string text(uint64_t offset) const {
    return offset < bytes_.size() ? std::string(bytes_.c_str() + offset) : "";
  }

 private:
  std::string bytes_;
};

void read_table(const Image& image, const Elf64_Shdr& table, const Elf64_Shdr& strings,
                std::vector<std::string>* names) {
  for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= table.sh_size; at += sizeof(Elf64_Sym)) {
    Elf64_Sym symbol;
    if (!image.read(table.sh_offset + at, &symbol)) return;
    if (symbol.st_shndx != SHN_UNDEF || symbol.st_name == 0) continue;
    names->push_back(image.text(strings.sh_offset + symbol.st_name));
  }
}

bool starts_with(const std::string& text, const char* prefix) {
  return text.compare(0, std::strlen(prefix), prefix) == 0;
}

}  // namespace

std::vector<std::string> undefined_symbols(const std::filesystem::path& object) {
  std::ifstream file(object, std::ios::binary);
  const Image image(std::string(std::istreambuf_iterator<char>(file), {}));
  std::vector<std::string> names;
  Elf64_Ehdr header;
  if (!image.read(0, &header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64) {
    return names;
  }
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section, strings;
    if (!image.read(header.e_shoff + uint64_t{i} * sizeof section, &section)) break;
    if (section.sh_type != SHT_SYMTAB) continue;
    if (image.read(header.e_shoff + uint64_t{section.sh_link} * sizeof strings, &strings)) {
      read_table(image, section, strings, &names);
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string banned_symbol(const std::filesystem::path& object) {
  for (const std::string& name : undefined_symbols(object)) {
    const bool is_ours = starts_with(name, "wsim_") || starts_with(name, "_ZN3kit") ||
                         starts_with(name, "_ZNK3kit") || starts_with(name, "grade_");
    const bool is_banned =
        std::find(std::begin(kBanned), std::end(kBanned), name) != std::end(kBanned);
    if (is_ours || is_banned) return name;
  }
  return "";
}

}  // namespace grade
