#include "decode/lane_build.h"

#define WARPLINGS_TEXT_OF(name) #name
#define WARPLINGS_TEXT(name) WARPLINGS_TEXT_OF(name)

namespace warplings::sim::WARPLINGS_ISA {

extern const LaneBuild build;
const LaneBuild build = {
    .isa = WARPLINGS_TEXT(WARPLINGS_ISA),
    .pick_integer = pick_integer,
    .pick_float = pick_float,
    .pick_logic = pick_logic,
    .pick_compare = pick_compare,
    .pick_select = pick_select,
    .pick_move = pick_move,
    .handler_load = handler_load,
    .handler_store = handler_store,
    .handler_local_address = handler_local_address,
    .handler_isspacep = handler_isspacep,
};

}  // namespace warplings::sim::WARPLINGS_ISA
