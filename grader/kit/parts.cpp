#include "kit/parts.h"

#include "kit/context.h"
#include "kit/kit.h"

namespace kit {

double device_seconds(const std::function<void()>& launch, double slice) {
  if (simulated()) {
    wsim_model_start(slice);
    const uint64_t mark = wsim_model_mark();
    launch();
    cudaDeviceSynchronize();
    const double seconds = wsim_modelled_seconds(mark);
    wsim_model_stop();
    return seconds;
  }
  constexpr int kTimes = 20;  // launches queue up behind each other: the host's part is hidden
  launch();                   // the first launch of a kernel loads its code
  return 1e-3 / kTimes * milliseconds([&] {
           for (int i = 0; i < kTimes; ++i) launch();
         });
}

void report_parts(const std::vector<StepPart>& parts, double own) {
  double all = 0;
  for (const StepPart& part : parts) all += part.seconds;
  for (const StepPart& part : parts) {
    context().channel.send("part", JsonObject()
                                       .text("test", context().test)
                                       .text("exercise", part.exercise)
                                       .number("share", ratio(part.seconds, all)));
  }
  context().channel.send("own_parts",
                         JsonObject().text("test", context().test).number("needed", own));
}

}  // namespace kit
