// Words for measured and modelled speeds.
#ifndef WARPLINGS_CLI_SPEED_TEXT_H_
#define WARPLINGS_CLI_SPEED_TEXT_H_

#include <string>

#include "cli/exercise_run.h"

namespace grade {

// "1.23 ms", "85 us"
std::string time_text(double seconds);
// "4.38 TB/s", "51.2 TFLOP/s": what the call of a speed measurement moves or computes per second.
std::string rate_text(double amount, double seconds, const char* unit);
// "104 % of the copy rate", "12.3 times the speed of one block"
std::string ratio_text(const SpeedRatio& ratio);
// "pass 45 %, gold 90 %": the bars that there are.
std::string bars_text(const SpeedRatio& ratio);
// The ratio that gave the level: the best one.
const SpeedRatio* best_ratio(const SpeedReport& speed);

}  // namespace grade
#endif  // WARPLINGS_CLI_SPEED_TEXT_H_
