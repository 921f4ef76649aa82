// Several processes of the running program at a time, for tests of programs that are started once
// per GPU.
//
//   KIT_PROCESS(join) {  // at namespace scope
//     ...
//     return "";  // or what is wrong
//   }
//   kit::run_processes("join", 3, folder);  // in a test: rank 0, 1 and 2
//
// A process that ends badly, reports a problem, or has a finding of the simulator is a failure of
// the running case. All have ended when run_processes returns: the others are given some seconds
// after the first failure, and the time limit in any case.
#ifndef WARPLINGS_KIT_PROCESSES_H_
#define WARPLINGS_KIT_PROCESSES_H_

#include <string>

#include "kit/kit.h"

namespace kit {

// What a process knows about itself.
struct Process {
  int rank, ranks;
  std::string text;  // what run_processes was given for all of them
};

using ProcessBody = std::string (*)(const Process& me);

bool run_processes(const std::string& name, int ranks, const std::string& text,
                   Site site = Site::here());

namespace internal {

struct RegisterProcess {
  RegisterProcess(const char* name, ProcessBody body);
};
// For main(): the process that the arguments ask for. Its exit status, or -1 if they ask for none.
int run_as_process(int argc, char** argv);
// For main(): run_processes passes it on, so that a program of variants runs the same one.
void remember_variant(const std::string& name);

}  // namespace internal
}  // namespace kit

#define KIT_PROCESS(name)                                                               \
  static std::string process_##name([[maybe_unused]] const ::kit::Process& me);         \
  static const ::kit::internal::RegisterProcess register_##name(#name, process_##name); \
  static std::string process_##name([[maybe_unused]] const ::kit::Process& me)

#endif  // WARPLINGS_KIT_PROCESSES_H_
