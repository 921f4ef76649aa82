#include <warplings/sim.h>

#include "kit/classes.h"
#include "kit/context.h"
#include "kit/kit.h"

namespace kit {

namespace {

const char* name_of(BlockOrder order) {
  if (order == BlockOrder::kReversed) return "reversed";
  if (order == BlockOrder::kFew) return "few";
  return order == BlockOrder::kTurns ? "turns" : "forward";
}

}  // namespace

void in_block_order(BlockOrder order, const std::function<void()>& body) {
  struct Restore {
    ~Restore() {
      cudaDeviceSynchronize();  // what is queued belongs to the order that it was meant for
      wsim_select_order("");
      context().order_chosen = false;
    }
  } restore;
  cudaDeviceSynchronize();
  context().order_chosen = true;
  wsim_select_order(name_of(order));  // refused on a GPU, where chance decides
  body();
}

void for_each_block_order(const std::function<void()>& body) {
  Cases cases;
  for (const BlockOrder order :
       {BlockOrder::kForward, BlockOrder::kReversed, BlockOrder::kTurns, BlockOrder::kFew}) {
    if (order == BlockOrder::kFew && !is_asked("few_blocks")) continue;
    cases.run(std::string("blocks = ") + name_of(order), [&] { in_block_order(order, body); });
  }
}

}  // namespace kit
