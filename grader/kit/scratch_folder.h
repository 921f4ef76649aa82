// A folder for files of one test.
#ifndef WARPLINGS_KIT_SCRATCH_FOLDER_H_
#define WARPLINGS_KIT_SCRATCH_FOLDER_H_

#include <string>
#include <string_view>

namespace kit {

// Empty at first; removed with all it holds at the end of the scope. The running case fails where
// there can be none.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  // Writes these bytes to a file of that name, and returns file(name).
  std::string write(const std::string& name, std::string_view bytes) const;

 private:
  std::string path_;
};

}  // namespace kit

#endif  // WARPLINGS_KIT_SCRATCH_FOLDER_H_
