#include "runtime/host_fault.h"

#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <mutex>
#include <string>
#include <utility>

#include "checks/stream_order.h"
#include "core/finding.h"
#include "core/machine.h"
#include "memory/device_memory.h"
#include "memory/payload.h"
#include "runtime/api.h"
#include "runtime/host_lines.h"
#include "runtime/pointer.h"

namespace warplings::sim {
namespace {

// Signals belong to the process.
struct sigaction& previous_handler() {
  static struct sigaction previous {};
  return previous;
}

void (*&fatal_hook())() {
  struct FatalHook {
    void (*call)() = nullptr;
  };
  return Machine::get<FatalHook>().call;
}

const void* faulting_instruction(const void* context) {
  const auto* user = static_cast<const ucontext_t*>(context);
#if defined(__x86_64__)
  return reinterpret_cast<const void*>(user->uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return reinterpret_cast<const void*>(user->uc_mcontext.pc);
#else
#error "the simulator runs on x86-64 and aarch64"
#endif
}

// Whether the access stores. x86-64 says so; on aarch64 the instruction does (its record of the
// fault, ESR, is not in every kernel's signal frame, nor in QEMU's).
bool is_write(const void* context) {
#if defined(__x86_64__)
  constexpr long kWriteBit = 2;  // of the page fault's error code
  const auto* user = static_cast<const ucontext_t*>(context);
  return (user->uc_mcontext.gregs[REG_ERR] & kWriteBit) != 0;
#else
  const uint32_t code = *static_cast<const uint32_t*>(faulting_instruction(context));
  const auto is = [code](uint32_t mask, uint32_t value) { return (code & mask) == value; };
  if (is(0x3b000000, 0x18000000)) return false;               // LDR of a literal
  if (is(0x3fa00000, 0x08a00000)) return true;                // CAS
  if (!is(0x38000000, 0x38000000)) return is(0x00400000, 0);  // pairs, exclusives, structures
  if (is(0x3f200c00, 0x38200000)) return true;                // LDADD, SWP and their like
  return is(0x00c00000, 0) || is(0x04c00000, 0x04800000);     // one register; 128 bits of a vector
#endif
}

Finding host_access(uint64_t address, const void* context) {
  const bool write = is_write(context);
  Finding finding;
  finding.check = "memcheck";
  finding.kind = write ? "host-write-of-device-memory" : "host-read-of-device-memory";
  finding.where = host_fault_position(faulting_instruction(context));
  const Allocation* allocation = DeviceMemory::instance().allocation_at(address);
  std::string what = "device memory";
  if (allocation != nullptr) {
    const uint64_t start = payload(*allocation).first;
    what = "byte " + std::to_string(address - start) + " of " + describe(*allocation) +
           (allocation->freed ? ", which has been freed" : ", which is device memory");
  }
  finding.message = "Host code at " + finding.where.short_name() +
                    (write ? " writes " : " reads ") + what +
                    ". The host cannot reach it: copy with cudaMemcpy, or touch it in a "
                    "kernel. The program ends here, as it would with a segmentation fault.";
  return finding;
}

// Memory that the host may touch, but that pending work uses: streamcheck has its say.
bool was_guarded(uint64_t address, const void* context) {
  std::lock_guard lock(api_mutex());  // another thread may be running work
  StreamOrder& order = StreamOrder::instance();
  if (!order.guards(address)) return false;
  order.host_touched(address, is_write(context),
                     host_fault_position(faulting_instruction(context)));
  return true;
}

void call_previous(int number, siginfo_t* info, void* context) {
  const struct sigaction& previous = previous_handler();
  if ((previous.sa_flags & SA_SIGINFO) != 0) {
    previous.sa_sigaction(number, info, context);
    return;
  }
  if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) {
    previous.sa_handler(number);
    return;
  }
  // Returning repeats the access, which then ends the process in the ordinary way.
  signal(number, SIG_DFL);
}

// The fault is synchronous, in code of the program: no lock of ours or of the C library is held
// (unless the program handed a device pointer to the library itself), so ordinary code may run
// here.
void on_fault(int number, siginfo_t* info, void* context) {
  const auto address = reinterpret_cast<uint64_t>(info->si_addr);
  if (!DeviceMemory::instance().in_arena(address)) {
    call_previous(number, info, context);
    return;
  }
  if (was_guarded(address, context)) return;  // the access is repeated, on an open page
  const Finding finding = host_access(address, context);
  FindingLog::instance().report(finding);
  if (fatal_hook() != nullptr) {
    fatal_hook()();
  } else {
    std::fprintf(stderr, "%s\n", finding.message.c_str());
  }
  std::fflush(nullptr);
  _exit(kFindingStatus);
}

constexpr size_t kStackBytes = 512 * 1024;  // reading debug information needs room

void use_alternate_stack() {
  stack_t current{};
  if (sigaltstack(nullptr, &current) != 0 || (current.ss_flags & SS_DISABLE) == 0) return;
  void* memory =
      mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return;
  stack_t stack{};
  stack.ss_sp = memory;
  stack.ss_size = kStackBytes;
  sigaltstack(&stack, nullptr);
}

}  // namespace

void catch_host_access() {
  static std::once_flag once;
  std::call_once(once, [] {
    DeviceMemory::instance();  // in_arena() must work in the handler
    use_alternate_stack();
    struct sigaction action {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    sigemptyset(&action.sa_mask);
    sigaction(SIGSEGV, &action, &previous_handler());
  });
}

void set_fatal_hook(void (*hook)()) { fatal_hook() = hook; }

}  // namespace warplings::sim
