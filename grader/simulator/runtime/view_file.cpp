#include "runtime/view_file.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "core/machine.h"
#include "profile/profile_log.h"
#include "profile/view_log.h"
#include "runtime/api.h"

namespace warplings::sim {
namespace {

struct ViewFile {
  bool is_started = false;
};

void write() {
  std::lock_guard lock(api_mutex());
  const std::string& path = Machine::current().options().view;
  std::ofstream file(path);
  file << ViewLog::instance().json();
  if (!file.flush()) std::fprintf(stderr, "GRADE_SIM_VIEW: cannot write %s\n", path.c_str());
}

}  // namespace

void start_view() {
  ViewFile& file = Machine::get<ViewFile>();
  if (file.is_started || Machine::current().options().view.empty()) return;
  file.is_started = true;
  ProfileLog::start();
  std::atexit(write);
}

}  // namespace warplings::sim
