#include <warplings/sim.h>

#include "kit/kit.h"

namespace kit {

void for_each_card(const std::function<void()>& body) {
  if (!simulated()) {
    body();
    return;
  }
  struct Restore {
    ~Restore() { wsim_select_model(""); }
  } restore;
  Cases cases;
  for (const char* key : {"h200", "rtx3070", "t4"}) {
    cudaDeviceSynchronize();  // what is queued belongs to the card that it was meant for
    wsim_select_model(key);
    cases.run(std::string("card = ") + wsim_model_name(), body);
  }
}

CacheTraffic cache_traffic(const std::function<void()>& launch) {
  cudaDeviceSynchronize();
  wsim_model_start(1);
  const uint64_t mark = wsim_model_mark();
  launch();
  cudaDeviceSynchronize();
  wsim_traffic traffic = {};
  wsim_modelled_traffic(mark, &traffic);
  wsim_model_stop();
  return {static_cast<double>(traffic.l1), static_cast<double>(traffic.l2),
          static_cast<double>(traffic.dram)};
}

}  // namespace kit
