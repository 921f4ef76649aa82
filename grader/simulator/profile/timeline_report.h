// The timeline for people: a picture in text, and a file for trace viewers.
#ifndef WARPLINGS_SIMULATOR_PROFILE_TIMELINE_REPORT_H_
#define WARPLINGS_SIMULATOR_PROFILE_TIMELINE_REPORT_H_

#include <string>
#include <vector>

#include "profile/timeline.h"

namespace warplings::sim {

// "kernel", "copy to device", ...
const char* kind_name(const Work& work);

// Work that has been placed, without events and the like, in the order of the calls.
std::vector<TimelineItem> finished_work(Timeline& timeline);
// The same in `work`, which an earlier call has filled. What is placed does not change, so only
// what is new is copied: a caller may ask in every turn of a loop.
void add_finished_work(Timeline& timeline, std::vector<TimelineItem>* work);

// At most 80 columns: a line for each stream, how busy each part of the device is, and a legend.
std::string timeline_picture(Timeline& timeline);

// The trace event format that chrome://tracing and Perfetto read.
std::string timeline_trace(Timeline& timeline);

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_PROFILE_TIMELINE_REPORT_H_
