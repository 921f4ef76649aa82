#include <fstream>
#include <map>
#include <mutex>

#include "cli/gates/gate.h"
#include "course/text.h"

namespace grade {

namespace fs = std::filesystem;

namespace {

// Changes whenever what the gates ask of a program changes.
constexpr char kRules[] = "gates 1";

// A program holds kernels, test, kit and simulator, so its bytes stand for all of them.
std::string hash_of(const fs::path& program) {
  static std::mutex mutex;
  static std::map<std::string, std::string> known;
  std::error_code error;
  const std::string state =
      program.string() + "@" +
      std::to_string(fs::last_write_time(program, error).time_since_epoch().count());
  {
    const std::lock_guard<std::mutex> lock(mutex);
    const auto found = known.find(state);
    if (found != known.end()) return found->second;
  }
  const std::string hash = course::Hash().add(course::read_text(program)).hex();
  const std::lock_guard<std::mutex> lock(mutex);
  return known.emplace(state, hash).first->second;
}

}  // namespace

VerdictCache::VerdictCache(const GateContext& context)
    : folder_(context.paths->build(context.device) / "verdicts"), enabled_(context.reuse) {
  std::error_code error;
  fs::create_directories(folder_, error);
}

std::string VerdictCache::key(const std::vector<fs::path>& files, const Job& job) {
  std::string hashes;
  for (const fs::path& file : files) hashes += hash_of(file);
  return course::Hash()
      .add(kRules)
      .add(hashes)
      .add(std::to_string(job.gate))
      .add(job.variant)
      .add(job.expectation)
      .hex();
}

bool VerdictCache::passed(const std::string& key) const {
  return enabled_ && fs::exists(folder_ / key);
}

void VerdictCache::remember(const std::string& key) const {
  // A cache that cannot be written only costs time.
  std::ofstream(folder_ / key) << "passed\n";
}

}  // namespace grade
