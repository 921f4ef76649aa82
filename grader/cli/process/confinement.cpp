#include "cli/process/confinement.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <system_error>

namespace grade {

namespace fs = std::filesystem;

namespace {

// ---- Landlock, as the kernel documents it: headers of many systems lack parts of it -----------

constexpr long kCreateRules = 444, kAddRule = 445, kRestrictSelf = 446;  // on every machine
constexpr uint32_t kAskVersion = 1;
constexpr int kBelowPath = 1;

struct RulesAbout {
  uint64_t files, network, scoped;
};
struct __attribute__((packed)) Rule {
  uint64_t allowed;
  int32_t folder;
};

// Writing to files, removing, making: bits 1 and 4 to 12. Version 2 adds moving between folders, 3
// cutting files short.
uint64_t writing(long version) {
  uint64_t bits = uint64_t{1} << 1;
  for (int bit = 4; bit <= 12; ++bit) bits |= uint64_t{1} << bit;
  if (version >= 2) bits |= uint64_t{1} << 13;
  if (version >= 3) bits |= uint64_t{1} << 14;
  return bits;
}

long landlock_version() { return ::syscall(kCreateRules, nullptr, 0, kAskVersion); }

Descriptor make_rules() {
  const long version = landlock_version();
  if (version < 1) return Descriptor();
  constexpr uint64_t kSignals = 2;  // to processes outside, version 6
  const RulesAbout about = {writing(version), 0, version >= 6 ? kSignals : 0};
  const size_t size = version >= 6 ? sizeof about : version >= 4 ? 16 : 8;
  return Descriptor(static_cast<int>(::syscall(kCreateRules, &about, size, 0)));
}

// ---- seccomp ----------------------------------------------------------------------------------

#if defined(__x86_64__)
constexpr uint32_t kMachine = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr uint32_t kMachine = AUDIT_ARCH_AARCH64;
#else
#error "cli/process/confinement.cpp: name the AUDIT_ARCH_ of this machine"
#endif

constexpr uint32_t kRefused = SECCOMP_RET_ERRNO | 1;  // EPERM
constexpr uint32_t kPretended = SECCOMP_RET_ERRNO;    // returns 0, and nothing has happened
constexpr uint32_t kAbsent = SECCOMP_RET_ERRNO | 38;  // ENOSYS

sock_filter load(size_t offset) {
  return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<uint32_t>(offset));
}
sock_filter answer(uint32_t what) { return BPF_STMT(BPF_RET | BPF_K, what); }
// Goes on if equal, else skips the next `skipped`.
sock_filter unless(uint32_t value, uint8_t skipped) {
  return BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, skipped);
}

// A program that root starts keeps what it takes to work with files of others, and nothing that
// reaches other processes.
void drop_capabilities() {
  __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct sets[2] = {};
  if (::syscall(SYS_capget, &head, sets) != 0) return;
  constexpr uint32_t kKept = 1u << CAP_CHOWN | 1u << CAP_DAC_OVERRIDE | 1u << CAP_DAC_READ_SEARCH |
                             1u << CAP_FOWNER | 1u << CAP_FSETID | 1u << CAP_IPC_LOCK |
                             1u << CAP_SYS_NICE | 1u << CAP_SYS_RESOURCE;
  sets[0].effective &= kKept;
  sets[0].permitted &= kKept;
  sets[0].inheritable = 0;
  sets[1] = {};
  // Without this, exec gives root all of them again.
  for (int capability = 0; ::prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0; ++capability) {
    if (capability < 32 && (kKept >> capability & 1) != 0) continue;
    ::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
  }
  ::syscall(SYS_capset, &head, sets);
}

bool is_inside(const fs::path& file, const fs::path& folder) {
  const fs::path from_there = file.lexically_relative(folder);
  return !from_there.empty() && *from_there.begin() != "..";
}

}  // namespace

Confinement::Confinement(const std::vector<fs::path>& writable) {
  // Memory, descriptors and environment of the grader are not for other programs of the same user.
  ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  rules_ = make_rules();
  for (const fs::path& folder : writable) allow(folder);
  write_filter();
}

void Confinement::allow(const fs::path& folder) {
  std::error_code error;
  const fs::path real = fs::canonical(folder, error);
  if (error) return;  // it is not there
  writable_.push_back(real);
  if (!rules_.open()) return;
  const Descriptor opened(::open(real.c_str(), O_PATH | O_CLOEXEC));
  const Rule rule = {writing(landlock_version()), opened.get()};
  if (opened.open()) ::syscall(kAddRule, rules_.get(), kBelowPath, &rule, 0);
}

void Confinement::write_filter() {
  const auto grader = static_cast<uint32_t>(::getpid());
  const auto group = static_cast<uint32_t>(-::getpgrp());
  constexpr size_t kNumber = offsetof(seccomp_data, nr), kArguments = offsetof(seccomp_data, args);
  filter_ = {load(offsetof(seccomp_data, arch)),
             BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kMachine, 1, 0), answer(SECCOMP_RET_KILL_PROCESS),
             load(kNumber)};
#if defined(__x86_64__)
  constexpr uint32_t kX32 = 0x40000000;  // the same calls under other numbers
  filter_.push_back(BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, kX32, 0, 1));
  filter_.push_back(answer(SECCOMP_RET_KILL_PROCESS));
#endif
  const auto whole = [&](long number, uint32_t what) {
    filter_.push_back(unless(static_cast<uint32_t>(number), 1));
    filter_.push_back(answer(what));
  };
  // What a program starts stays in its process group, which ends with it. Build tools give each
  // child a group of its own, and do not mind that it is none.
  whole(SYS_setsid, kPretended);
  whole(SYS_setpgid, kPretended);
  whole(SYS_ptrace, kRefused);
  whole(SYS_pidfd_send_signal, kAbsent);
  whole(SYS_io_uring_setup, kAbsent);  // it would do what is refused here
  const auto about = [&](long number, size_t argument, uint32_t value) {
    filter_.push_back(unless(static_cast<uint32_t>(number), 4));
    filter_.push_back(load(kArguments + argument * sizeof(uint64_t)));
    filter_.push_back(unless(value, 1));
    filter_.push_back(answer(kRefused));
    filter_.push_back(load(kNumber));
  };
  for (const uint32_t target : {grader, group, static_cast<uint32_t>(-1)}) {
    about(SYS_kill, 0, target);
  }
  for (const long call :
       {SYS_tkill, SYS_tgkill, SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo, SYS_pidfd_open,
        SYS_prlimit64, SYS_process_vm_readv, SYS_process_vm_writev}) {
    about(call, 0, grader);
  }
  filter_.push_back(answer(SECCOMP_RET_ALLOW));
}

void Confinement::apply() const {
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return;
  drop_capabilities();
  if (rules_.open()) ::syscall(kRestrictSelf, rules_.get(), 0);
  const sock_fprog program = {static_cast<unsigned short>(filter_.size()),
                              const_cast<sock_filter*>(filter_.data())};
  // Without the flag, older kernels slow the program down.
  ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &program);
}

bool Confinement::protects(const fs::path& file) const {
  if (!rules_.open()) return false;
  for (const fs::path& folder : writable_) {
    if (is_inside(file, folder)) return false;
  }
  return true;
}

}  // namespace grade
