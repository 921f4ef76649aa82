#include "cli/object_symbols.h"

#include <dlfcn.h>
#include <elf.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>

namespace grade {
namespace {

// They load libraries, start programs, reach other processes, make memory executable, or change the
// settings of the simulator (its environment).
constexpr const char* kBanned[] = {
    "dlopen",
    "dlmopen",
    "dlsym",
    "dlvsym",
    "dladdr",
    "dlinfo",
    "dl_iterate_phdr",
    "fork",
    "_Fork",
    "vfork",
    "clone",
    "daemon",
    "forkpty",
    "execl",
    "execle",
    "execlp",
    "execv",
    "execve",
    "execveat",
    "execvp",
    "execvpe",
    "fexecve",
    "system",
    "popen",
    "wordexp",
    "posix_spawn",
    "posix_spawnp",
    "ptrace",
    "process_vm_readv",
    "process_vm_writev",
    "mprotect",
    "pkey_mprotect",
    "mmap",
    "mmap64",
    "mremap",
    "syscall",
    "prctl",
    "seccomp",
    "kill",
    "killpg",
    "tgkill",
    "sigqueue",
    "pidfd_open",
    "pidfd_send_signal",
    "setsid",
    "setpgid",
    "setpgrp",
    "prlimit",
    "prlimit64",
    "unshare",
    "setns",
    "mount",
    "_r_debug",
    "_rtld_global",
    "_rtld_global_ro",
    "_DYNAMIC",
    "__ehdr_start",
    "__executable_start",
    "_end",
    "end",
    "_edata",
    "edata",
    "_etext",
    "etext",
    "__bss_start",
    "__data_start",
    "data_start",
    "__libc_start_main",
    "setenv",
    "putenv",
    "unsetenv",
    "clearenv",
};

// Of the grader and of what it is made with.
constexpr const char* kOurs[] = {"wsim_",         "grade_",        "_ZN3kit",
                                 "_ZNK3kit",      "_ZN7testing",   "_ZNK7testing",
                                 "_ZTVN7testing", "_ZTIN7testing", "_ZTVN3kit"};

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

bool starts_with(const std::string& text, const char* prefix) {
  return text.compare(0, std::strlen(prefix), prefix) == 0;
}

bool is_ours(const std::string& name) {
  return std::any_of(std::begin(kOurs), std::end(kOurs),
                     [&](const char* prefix) { return starts_with(name, prefix); });
}

struct Symbol {
  std::string name;
  bool defined = false;
  unsigned binding = 0, type = 0;
};

// Sections and symbols of a 64-bit ELF object; nothing of any other file.
struct Object {
  std::vector<std::string> sections;
  std::vector<Symbol> symbols;
};

void read_table(const Image& image, const Elf64_Shdr& table, const Elf64_Shdr& strings,
                Object* object) {
  for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= table.sh_size; at += sizeof(Elf64_Sym)) {
    Elf64_Sym raw;
    if (!image.read(table.sh_offset + at, &raw)) return;
    if (raw.st_name == 0) continue;
    Symbol symbol;
    symbol.name = image.text(strings.sh_offset + raw.st_name);
    symbol.defined = raw.st_shndx != SHN_UNDEF;
    symbol.binding = ELF64_ST_BIND(raw.st_info);
    symbol.type = ELF64_ST_TYPE(raw.st_info);
    object->symbols.push_back(std::move(symbol));
  }
}

Object read_object(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const Image image(std::string(std::istreambuf_iterator<char>(file), {}));
  Object object;
  Elf64_Ehdr header;
  if (!image.read(0, &header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64) {
    return object;
  }
  const auto section = [&](unsigned i, Elf64_Shdr* out) {
    return image.read(header.e_shoff + uint64_t{i} * sizeof *out, out);
  };
  Elf64_Shdr names, one, strings;
  if (!section(header.e_shstrndx, &names)) return object;
  for (unsigned i = 0; i < header.e_shnum && section(i, &one); ++i) {
    object.sections.push_back(image.text(names.sh_offset + one.sh_name));
    if (one.sh_type == SHT_SYMTAB && section(one.sh_link, &strings)) {
      read_table(image, one, strings, &object);
    }
  }
  return object;
}

// A function of the C or the C++ library, which the grader itself is linked with.
bool belongs_to_a_library(const Symbol& symbol) {
  if (symbol.type == STT_OBJECT || symbol.type == STT_TLS) return false;
  const bool mangled = starts_with(symbol.name, "_Z");
  if (symbol.binding == STB_WEAK && mangled)
    return false;  // templates and inline functions of its headers
  return ::dlsym(RTLD_DEFAULT, symbol.name.c_str()) != nullptr;
}

std::string refused_definition(const Symbol& symbol) {
  if (symbol.type == STT_GNU_IFUNC) {
    return "chooses " + symbol.name + " while the program is loaded (ifunc)";
  }
  if (symbol.binding == STB_LOCAL) return "";
  if (symbol.name == "main" || symbol.name == "_start" || symbol.name == "_init") {
    return "defines " + symbol.name + ", which the grader has";
  }
  if (symbol.binding != STB_WEAK && is_ours(symbol.name))
    return "defines " + symbol.name + " of the grader";
  if (belongs_to_a_library(symbol)) return "defines " + symbol.name + ", which a library has";
  return "";
}

}  // namespace

std::vector<std::string> undefined_symbols(const std::filesystem::path& object) {
  std::vector<std::string> names;
  for (const Symbol& symbol : read_object(object).symbols) {
    if (!symbol.defined) names.push_back(symbol.name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string refused_part(const std::filesystem::path& path) {
  const Object object = read_object(path);
  for (const std::string& section : object.sections) {
    if (starts_with(section, ".preinit_array") || starts_with(section, ".rela.preinit_array")) {
      return "has code that runs before the program (.preinit_array)";
    }
  }
  for (const Symbol& symbol : object.symbols) {
    const bool is_banned =
        std::find(std::begin(kBanned), std::end(kBanned), symbol.name) != std::end(kBanned);
    if (!symbol.defined && (is_banned || is_ours(symbol.name))) return "uses " + symbol.name;
    const std::string problem = symbol.defined ? refused_definition(symbol) : "";
    if (!problem.empty()) return problem;
  }
  return "";
}

}  // namespace grade
