#include "cli/watch/file_watcher.h"

#include <poll.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <system_error>

namespace grade {
namespace {

// File systems whose changes made elsewhere raise no event here.
bool is_remote(const std::filesystem::path& folder) {
  const char* forced = std::getenv("GRADE_WATCH");
  if (forced != nullptr && std::strcmp(forced, "poll") == 0) return true;
  struct statfs facts = {};
  if (::statfs(folder.c_str(), &facts) != 0) return false;
  switch (static_cast<unsigned long>(facts.f_type) & 0xFFFFFFFFul) {
    case 0x6969:      // NFS
    case 0x517B:      // SMB
    case 0xFE534D42:  // SMB 2
    case 0xFF534D42:  // CIFS
    case 0x01021997:  // 9p: WSL2 mounts of Windows drives
    case 0x65735546:  // FUSE: sshfs and others
    case 0x786F4256:  // VirtualBox shared folders
    case 0x6A656A63:  // Docker Desktop
    case 0x5346414F:  // AFS
    case 0x00C36400:  // Ceph
    case 0x0BD00BD0:  // Lustre
      return true;
    default:
      return false;
  }
}

Descriptor start_timer() {
  Descriptor timer(::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC));
  constexpr long kPeriod = 300'000'000;  // ns
  const itimerspec period = {{0, kPeriod}, {0, kPeriod}};
  if (!timer.open() || ::timerfd_settime(timer.get(), 0, &period, nullptr) != 0) {
    throw std::system_error(errno, std::generic_category(), "cannot watch files");
  }
  return timer;
}

}  // namespace

FileWatcher::FileWatcher(std::filesystem::path file) : file_(std::move(file)) {
  const std::filesystem::path folder = file_.parent_path();
  last_facts_ = facts();
  polls_ = is_remote(folder);
  if (!polls_) {
    fd_ = Descriptor(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
    polls_ = !fd_.open() ||
             ::inotify_add_watch(fd_.get(), folder.c_str(), IN_CLOSE_WRITE | IN_MOVED_TO) < 0;
  }
  // Also where the system's limit of watches is used up.
  if (polls_) fd_ = start_timer();
}

std::string FileWatcher::facts() const {
  struct stat now = {};
  if (::stat(file_.c_str(), &now) != 0) return "";  // between an editor's delete and its write
  return std::to_string(now.st_ino) + "/" + std::to_string(now.st_size) + "/" +
         std::to_string(now.st_mtim.tv_sec) + "." + std::to_string(now.st_mtim.tv_nsec);
}

bool FileWatcher::changed() { return polls_ ? changed_by_look() : changed_by_events(); }

bool FileWatcher::changed_by_look() {
  uint64_t ticks = 0;
  while (::read(fd_.get(), &ticks, sizeof ticks) == sizeof ticks) {
  }
  const std::string now = facts();
  if (now.empty() || now == last_facts_) return false;
  last_facts_ = now;
  return true;
}

bool FileWatcher::changed_by_events() {
  bool found = false;
  alignas(inotify_event) char buffer[4096];
  for (ssize_t size; (size = ::read(fd_.get(), buffer, sizeof buffer)) > 0;) {
    for (const char* at = buffer; at < buffer + size;) {
      const auto* event = reinterpret_cast<const inotify_event*>(at);
      // An overflow lost events: one of them may have been ours.
      if ((event->mask & IN_Q_OVERFLOW) != 0) found = true;
      if (event->len > 0 && file_.filename() == event->name) found = true;
      at += sizeof(inotify_event) + event->len;
    }
  }
  return found;
}

void FileWatcher::settle() {
  constexpr int kQuiet = 50;  // ms
  pollfd polled = {fd_.get(), POLLIN, 0};
  constexpr int kMost = 20;  // a program that writes without end must not keep us here
  for (int i = 0; i<kMost&& ::poll(&polled, 1, kQuiet)> 0; ++i) changed();
}

}  // namespace grade
