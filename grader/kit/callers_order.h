// Classes "streams" and "waits": the work of a launcher lies between what its caller gives the
// stream before the call and after it, and the call returns while that work is still to be done.
#ifndef WARPLINGS_KIT_CALLERS_ORDER_H_
#define WARPLINGS_KIT_CALLERS_ORDER_H_

#include <string>

namespace kit {

// The caller works on every buffer, in the streams that there are on its device (those of the test,
// then) or in the default stream where there are none. What a launcher does without an order with
// that is a finding.
void caller_works();

// What waited for the device since the counters were reset, other than the test itself: "" or the
// message of the class. "" too for a function that pins, or has managed, memory of its own: it must
// wait before it reads that memory or gives it back.
std::string waited();
// A copy to the host that its caller wants to see, blocking or into memory that is not pinned: such
// a function returns when all is done.
bool hands_a_result_to_the_host();

}  // namespace kit

#endif  // WARPLINGS_KIT_CALLERS_ORDER_H_
