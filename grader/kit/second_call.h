// Class "second_call": before the call that is compared and counted, the launcher is called with
// other values in its buffers: once with the buffers elsewhere, once where they are. Answers,
// weights or filters that are kept from an earlier call then show in the one that counts.
#ifndef WARPLINGS_KIT_SECOND_CALL_H_
#define WARPLINGS_KIT_SECOND_CALL_H_

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "kit/allocation.h"
#include "kit/kit.h"

namespace kit {

// Somebody looks at the launches one by one: they see those of the test.
bool is_watched();

class EarlierCalls {
 public:
  explicit EarlierCalls(Site site) : site_(site) {}
  ~EarlierCalls();
  EarlierCalls(const EarlierCalls&) = delete;
  EarlierCalls& operator=(const EarlierCalls&) = delete;

  // Whether the launcher of the run that is about to begin is called more than once: it has a
  // buffer to write to, the call is small, and the test does not ask for something special.
  bool wanted() const;
  // Makes them, and puts everything back as it was. What they find is forgotten.
  void make(const std::function<void()>& launch);
  // After the call that counts: what to say if a comparison fails, by the name of a buffer. Gives
  // back the memory of the earlier calls.
  std::map<std::string, std::string> finish();
  int calls() const { return calls_; }  // with the one that counts
  // Puts the results of the last of them back, for planted answers that do so.
  void repeat() const;
  // What that call did, so that a site whose calls are large is asked once.
  void remember_cost(uint64_t thread_instructions) const;

 private:
  struct Known {
    internal::Allocation* allocation;
    internal::Allocation::Image before, earlier, elsewhere;
    bool other_values = false;
  };

  cudaError_t call(const std::function<void()>& launch) const;
  void fill(bool halved);
  std::string suspicion(Known& known, bool other_values) const;

  Site site_;
  int calls_ = 1;
  std::vector<Known> buffers_;
};

}  // namespace kit

#endif  // WARPLINGS_KIT_SECOND_CALL_H_
