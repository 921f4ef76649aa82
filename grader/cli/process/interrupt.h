// SIGINT, SIGTERM, SIGHUP and SIGWINCH as bytes on a pipe, so that one poll() sees them like any
// input.
#ifndef WARPLINGS_CLI_PROCESS_INTERRUPT_H_
#define WARPLINGS_CLI_PROCESS_INTERRUPT_H_

namespace grade {

class Interrupts {
 public:
  // Installs the handlers for the rest of the process; the first call decides.
  static Interrupts& instance();

  int fd() const { return read_; }
  // Empties the pipe. True once a signal that means "end" has arrived.
  bool ended();
  int signal() const { return signal_; }  // which one, 0: none
  // True if the window changed its size since the last call.
  bool resized();

 private:
  Interrupts();
  void drain();
  int read_ = -1;
  int signal_ = 0;
  bool resized_ = false;
};

}  // namespace grade
#endif  // WARPLINGS_CLI_PROCESS_INTERRUPT_H_
