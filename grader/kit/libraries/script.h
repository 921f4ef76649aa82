// A baseline from a framework: a Python program that does the same work on the same card, in a
// process of its own, so that the learner's program needs nothing of it.
//
//   kit::Script pytorch("16_faster_than_pytorch_baseline.py", {"--serve", "--batch", "64"});
//   speed.whole_call();
//   speed.against(kit::script("PyTorch eager", pytorch, "eager 100"), kit::Bars(1.0));
//
// The program writes lines to its standard output: any number of "# TEXT" while it prepares, then
// "ready" or "missing REASON". From then on it reads lines; after doing what a line asks for,
// device idle again, it writes "done", or "failed REASON". At the end of its input it ends.
#ifndef WARPLINGS_KIT_LIBRARIES_SCRIPT_H_
#define WARPLINGS_KIT_LIBRARIES_SCRIPT_H_

#include <memory>
#include <string>
#include <vector>

#include "kit/speed/speed.h"

namespace kit {

class Script {
 public:
  // Starts a file that lies beside the test and waits until it is ready. Python is $GRADE_PYTHON,
  // else .toolkit/python of the course, else python3.
  Script(const std::string& file, const std::vector<std::string>& arguments,
         Site site = Site::here());
  ~Script();
  Script(const Script&) = delete;
  Script& operator=(const Script&) = delete;

  const std::string& missing() const;  // why it cannot be asked; "" if it can
  // Sends a line and waits for the answer. A failure ends the test program with its reason.
  void ask(const std::string& line);

 private:
  class Process;
  std::unique_ptr<Process> process_;
  std::string missing_;
};

// One request as a baseline, on a GPU only; `program` must live as long as the Speed.
Baseline script(const std::string& name, Script& program, const std::string& request);

}  // namespace kit

#endif  // WARPLINGS_KIT_LIBRARIES_SCRIPT_H_
