// What a program under test is kept from, by the kernel alone and without any privilege: writing
// outside of the folders that it is given (Landlock), leaving its process group, and reaching the
// grader (seccomp). What the kernel does not have is left out: docs/integrity.md says what stands
// then.
#ifndef WARPLINGS_CLI_PROCESS_CONFINEMENT_H_
#define WARPLINGS_CLI_PROCESS_CONFINEMENT_H_

#include <linux/filter.h>

#include <filesystem>
#include <vector>

#include "cli/process/stream.h"

namespace grade {

class Confinement {
 public:
  // Prepared by the grader, which is who must not be reached.
  explicit Confinement(const std::vector<std::filesystem::path>& writable);

  // Between fork and exec: only async-signal-safe calls.
  void apply() const;

  // The kernel keeps the program from writing there.
  bool protects(const std::filesystem::path& file) const;

 private:
  void allow(const std::filesystem::path& folder);
  void write_filter();

  Descriptor rules_;  // not open: this kernel has no Landlock
  std::vector<std::filesystem::path> writable_;
  std::vector<sock_filter> filter_;
};

}  // namespace grade
#endif  // WARPLINGS_CLI_PROCESS_CONFINEMENT_H_
