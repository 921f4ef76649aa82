#include "kit/own_code.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <warplings/sim.h>

// Of the linker: where the program lies in memory.
extern "C" __attribute__((visibility("hidden"))) const char __executable_start[], _end[];

namespace kit {
namespace {

constexpr sock_filter load(size_t offset) {
  return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<uint32_t>(offset));
}
constexpr sock_filter jump(int how, uint64_t value, uint8_t yes, uint8_t no) {
  return BPF_JUMP(static_cast<uint16_t>(BPF_JMP | how | BPF_K), static_cast<uint32_t>(value), yes,
                  no);
}
constexpr sock_filter answer(uint32_t what) { return BPF_STMT(BPF_RET | BPF_K, what); }

void install(sock_filter* filter, size_t count) {
  const sock_fprog program = {static_cast<unsigned short>(count), filter};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return;
  // Where the kernel has no filters, the other layers stand alone (docs/integrity.md).
  ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &program);
}

constexpr size_t kNumber = offsetof(seccomp_data, nr);
constexpr size_t kPlace = offsetof(seccomp_data, instruction_pointer);  // low word first
constexpr size_t kThird = offsetof(seccomp_data, args) + 2 * sizeof(uint64_t);
constexpr size_t kFourth = offsetof(seccomp_data, args) + 3 * sizeof(uint64_t);

}  // namespace

void refuse_own_system_calls() {
  const auto begin = reinterpret_cast<uint64_t>(__executable_start);
  const auto end = reinterpret_cast<uint64_t>(_end);
  // A program at a fixed address would share it with the tools that it starts.
  constexpr uint64_t kLowest = uint64_t{1} << 32;
  if (begin < kLowest || begin >> 32 != end >> 32) return;
  sock_filter places[] = {
      load(kPlace + 4),
      jump(BPF_JEQ, begin >> 32, 0, 3),
      load(kPlace),
      jump(BPF_JGE, begin, 0, 1),
      jump(BPF_JGT, end, 0, 1),
      answer(SECCOMP_RET_ALLOW),
      answer(SECCOMP_RET_KILL_PROCESS),
  };
  install(places, sizeof places / sizeof *places);
  if (wsim_active() == 0) return;  // a driver compiles kernels for its card
  sock_filter memory[] = {
      load(kNumber),
      jump(BPF_JEQ, SYS_mprotect, 1, 0),
      jump(BPF_JEQ, SYS_mmap, 2, 6),
      load(kThird),
      jump(BPF_JSET, PROT_EXEC, 5, 4),
      load(kThird),
      jump(BPF_JSET, PROT_EXEC, 0, 2),
      load(kFourth),
      jump(BPF_JSET, MAP_ANONYMOUS, 1, 0),  // a library comes from a file
      answer(SECCOMP_RET_ALLOW),
      answer(SECCOMP_RET_KILL_PROCESS),
  };
  install(memory, sizeof memory / sizeof *memory);
}

}  // namespace kit
