#include "kit/scratch_folder.h"

#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "kit/kit.h"

namespace kit {

ScratchFolder::ScratchFolder() {
  std::error_code error;
  std::string name = (std::filesystem::temp_directory_path(error) / "warplings-XXXXXX").string();
  if (error || ::mkdtemp(name.data()) == nullptr) {
    fail("No temporary folder can be made: " + (error ? "TMPDIR names no folder." : name));
  } else {
    path_ = name;
  }
}

ScratchFolder::~ScratchFolder() {
  std::error_code error;
  if (!path_.empty()) std::filesystem::remove_all(path_, error);
}

std::string ScratchFolder::write(const std::string& name, std::string_view bytes) const {
  std::ofstream out(file(name), std::ios::binary);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!out.flush()) fail("Cannot write " + file(name) + ": is the disk full?");
  return file(name);
}

}  // namespace kit
