// Initcheck in registers: where an undefined value starts to matter.
#include <bit>

#include "checks/watch.h"
#include "checks/words.h"
#include "exec/events.h"
#include "exec/interpreter.h"
#include "exec/reports.h"

namespace warplings::sim {
namespace {

uint32_t undefined_lanes_of(Warp& warp, Place p) {
  return p == kNoPlace || !is_register(p) ? 0 : warp.undefined_lanes(p);
}

uint8_t undefined_bytes_of(Warp& warp, Place p, int lane) {
  return ((undefined_lanes_of(warp, p) >> lane) & 1) ? warp.undefined_bytes(p)[lane] : 0;
}

void set_lane(Warp& warp, Place p, int lane, uint8_t bytes) {
  uint32_t& lanes = warp.undefined_lanes(p);
  if (bytes == 0) {
    lanes &= ~(1u << lane);
  } else {
    lanes |= 1u << lane;
    warp.undefined_bytes(p)[lane] = bytes;
  }
}

// The lanes of `mask` become undefined where `lanes` says so, and defined elsewhere.
void set_lanes(Warp& warp, Place p, uint32_t mask, uint32_t lanes) {
  if (p == kNoPlace) return;
  for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    set_lane(warp, p, lane, ((lanes >> lane) & 1) != 0 ? 0xff : 0);
  }
}

// Arithmetic is no use yet: the result may be thrown away. Vector and table operations, which have
// no single result, use their sources.
void compute(Warp& warp, const Instr& in, uint32_t mask, bool has_result) {
  uint32_t lanes = 0;
  for (int k = in.destinations; k < in.destinations + in.sources && k < 6; ++k) {
    const uint32_t here = undefined_lanes_of(warp, in.ops[k]) & mask;
    if (here != 0 && !has_result) {
      report_undefined(warp, in.ops[k], here, "is used");
      warp.undefined_lanes(in.ops[k]) &= ~here;  // once is enough: later uses follow from this one
    }
    lanes |= here;
  }
  for (int k = 0; k < in.destinations && k < 6; ++k) {
    if (in.ops[k] == kNoPlace || !is_register(in.ops[k])) continue;
    for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
      const int lane = std::countr_zero(rest);
      set_lane(warp, in.ops[k], lane, has_result && ((lanes >> lane) & 1) != 0 ? 0xff : 0);
    }
  }
}

uint32_t undefined_carry_in(const Warp& warp, const Instr& in) {
  return in.undefined_rule == UndefinedRule::kCarry && (in.imm & 1) != 0 ? warp.undefined_carry : 0;
}

// The carry is as undefined as the sum that it belongs to.
void carry(Warp& warp, const Instr& in, uint32_t mask) {
  uint32_t lanes = undefined_carry_in(warp, in);
  for (int k = 0; k < in.sources; ++k) lanes |= undefined_lanes_of(warp, in.ops[1 + k]);
  set_lanes(warp, in.ops[0], mask, lanes);
  if ((in.imm & 2) != 0) warp.undefined_carry = (warp.undefined_carry & ~mask) | (lanes & mask);
}

// The arithmetic that the result of an instruction goes back to: that of a source, or, if the
// sources come straight from memory, this instruction.
uint8_t origin_of_result(Warp& warp, const Instr& in, uint32_t mask, bool computes) {
  uint32_t lanes = undefined_carry_in(warp, in) & mask;
  if (lanes != 0) return warp.carry_origin;  // never straight from memory
  for (int k = in.destinations; k < 6; ++k) {
    const uint32_t here = undefined_lanes_of(warp, in.ops[k]) & mask;
    if (here != 0 && warp.origin(in.ops[k]) != 0) return warp.origin(in.ops[k]);
    lanes |= here;
  }
  if (lanes == 0 || !computes) return 0;
  std::vector<Computed>& known = warp.block->grid->watch->computed;
  for (size_t i = 0; i < known.size(); ++i) {
    if (known[i].pc == warp.pc) return static_cast<uint8_t>(i + 1);
  }
  if (known.size() == GridWatch::kMostOrigins) return static_cast<uint8_t>(known.size());
  known.push_back({warp.pc, false, describe_discarded(warp, lanes)});
  return static_cast<uint8_t>(known.size());
}

// Packing and unpacking move whole parts; in.size is the bytes of a part.
bool move_parts(Warp& warp, const Instr& in, uint32_t mask) {
  const bool unpack = in.destinations > 1;
  const bool pack = in.destinations == 1 && in.sources > 1;
  if (!pack && !unpack) return false;
  const uint8_t part = static_cast<uint8_t>((1u << in.size) - 1);
  for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    uint32_t whole = 0;
    if (pack) {
      for (int k = 0; k < in.sources; ++k) {
        whole |= (undefined_bytes_of(warp, in.ops[1 + k], lane) & part) << (k * in.size);
      }
      set_lane(warp, in.ops[0], lane, static_cast<uint8_t>(whole));
    } else {
      whole = undefined_bytes_of(warp, in.ops[in.destinations], lane);
      for (int k = 0; k < in.destinations; ++k) {
        if (in.ops[k] == kNoPlace) continue;
        set_lane(warp, in.ops[k], lane, static_cast<uint8_t>((whole >> (k * in.size)) & part));
      }
    }
  }
  return true;
}

void move(Warp& warp, const Instr& in, uint32_t mask) {
  if (move_parts(warp, in, mask)) return;
  for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    set_lane(warp, in.ops[0], lane, undefined_bytes_of(warp, in.ops[1], lane));
  }
}

// Logic, shifts, slct, integer conversions. Where bytes keep their place (or are moved by
// whole bytes), so does undefinedness; elsewhere one undefined byte makes the result undefined. A
// constant operand may take bytes away (x & 0xff, x >> 8, narrowing).
void bitwise(Warp& warp, const Instr& in, uint32_t mask) {
  for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    uint8_t bytes = 0;
    for (int k = in.destinations; k < in.destinations + in.sources && k < 6; ++k) {
      uint8_t from = undefined_bytes_of(warp, in.ops[k], lane);
      if (from != 0 && in.mask_constant != 0) from &= in.mask_constant;
      bytes |= from;
    }
    if (bytes != 0 && !in.bytes_keep_place) bytes = 0xff;
    const uint32_t moved =
        in.byte_shift >= 0 ? uint32_t{bytes} << in.byte_shift : uint32_t{bytes} >> -in.byte_shift;
    set_lane(warp, in.ops[0], lane, static_cast<uint8_t>(moved));
  }
}

// A comparison decides nothing yet: its outcome may be thrown away, as by code that compares items
// past the end and then drops them.
void compare(Warp& warp, const Instr& in, uint32_t mask) {
  uint32_t lanes = undefined_lanes_of(warp, in.ops[2]) | undefined_lanes_of(warp, in.ops[3]);
  if (in.ops[4] != kNoPlace) {
    const uint32_t unknown = undefined_lanes_of(warp, in.ops[4]);
    const uint32_t value =
        (in.imm & 4) != 0 ? ~warp.predicate(in.ops[4]) : warp.predicate(in.ops[4]);
    // false and anything is false, true or anything is true
    const uint32_t decided = (in.imm & 3) == 1 ? ~value : (in.imm & 3) == 2 ? value : 0;
    lanes = (lanes & ~(decided & ~unknown)) | unknown;
  }
  set_lanes(warp, in.ops[0], mask, lanes);
  set_lanes(warp, in.ops[1], mask, lanes);
}

void predicates(Warp& warp, const Instr& in, uint32_t mask) {
  uint32_t lanes = undefined_lanes_of(warp, in.ops[1]);
  if (in.sources == 2) {
    const uint32_t other = undefined_lanes_of(warp, in.ops[2]);
    const uint32_t flip = in.target == 1 ? ~0u : 0u;
    const uint32_t decides = in.target == 0 ? 0u : ~0u;
    const uint32_t by_first = decides & ~lanes & (warp.predicate(in.ops[1]) ^ flip);
    const uint32_t by_second = decides & ~other & (warp.predicate(in.ops[2]) ^ flip);
    lanes = (lanes | other) & ~by_first & ~by_second;
  }
  set_lanes(warp, in.ops[0], mask, lanes);
}

// selp chooses by a predicate, slct by the sign of a register: both have the choice in ops[3].
void select(Warp& warp, const Instr& in, uint32_t mask) {
  const uint32_t unknown = undefined_lanes_of(warp, in.ops[3]);
  const bool by_predicate = in.source_size == kChoiceIsPredicate;
  for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const uint8_t a = undefined_bytes_of(warp, in.ops[1], lane);
    const uint8_t b = undefined_bytes_of(warp, in.ops[2], lane);
    uint8_t bytes = a | b;
    if (((unknown >> lane) & 1) != 0) {
      bytes = 0xff;
    } else if (by_predicate) {
      const bool first = (((warp.predicate(in.ops[3]) >> lane) & 1) != 0) != (in.imm != 0);
      bytes = first ? a : b;
    }
    set_lane(warp, in.ops[0], lane, bytes);
  }
}

// What the instruction makes of the definedness of its sources.
void pass_on(Warp& warp, const Instr& in, uint32_t mask, bool has_result) {
  switch (in.undefined_rule) {
    case UndefinedRule::kReport:
      compute(warp, in, mask, has_result);
      break;
    case UndefinedRule::kCarry:
      carry(warp, in, mask);
      break;
    case UndefinedRule::kCompare:
      compare(warp, in, mask);
      break;
    case UndefinedRule::kSelect:
      select(warp, in, mask);
      break;
    case UndefinedRule::kPredicates:
      predicates(warp, in, mask);
      break;
    case UndefinedRule::kMove:
      move(warp, in, mask);
      break;
    case UndefinedRule::kBitwise:
      bitwise(warp, in, mask);
      break;
    case UndefinedRule::kOwn:
      break;
  }
}

}  // namespace

void check_guard(Warp& warp, const Instr& in, uint32_t mask) {
  const uint32_t lanes = undefined_lanes_of(warp, in.guard) & mask;
  if (lanes == 0) return;
  report_undefined(warp, in.guard, lanes,
                   in.kind == Kind::kBranch ? "decides a branch" : "decides what is executed");
  warp.undefined_lanes(in.guard) &= ~lanes;
}

void before_instruction(Warp& warp, const Instr& in, uint32_t mask) {
  if (warp.wgmma.watches) watch_registers(warp, in);
  if (in.undefined_rule == UndefinedRule::kOwn) return;
  const bool has_result = in.kind == Kind::kStraight && in.destinations > 0;
  const bool carries = in.undefined_rule == UndefinedRule::kCarry;
  const bool computes = (in.undefined_rule == UndefinedRule::kReport || carries) && has_result;
  const uint8_t origin = origin_of_result(warp, in, mask, computes);
  pass_on(warp, in, mask, has_result);
  for (int k = 0; k < in.destinations && k < 6; ++k) {
    if ((undefined_lanes_of(warp, in.ops[k]) & mask) != 0) warp.origin(in.ops[k]) = origin;
  }
  if (carries && (warp.undefined_carry & mask) != 0) warp.carry_origin = origin;
}

}  // namespace warplings::sim
