// What the program's own code may not do while it is graded.
#ifndef WARPLINGS_KIT_OWN_CODE_H_
#define WARPLINGS_KIT_OWN_CODE_H_

namespace kit {

// From here on a system call ends the program (SIGSYS) unless an instruction of a shared library
// makes it: no honest code has one of its own, and the file under test is linked into the program.
// With the simulator, memory cannot be made executable afterwards either. Needs no library.
void refuse_own_system_calls();

}  // namespace kit
#endif  // WARPLINGS_KIT_OWN_CODE_H_
