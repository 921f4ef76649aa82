// cp.async and mbarrier.
#include "decode/decoder.h"
#include "decode/handlers.h"

namespace warplings::sim {

using ptx::Instruction;
using ptx::Operand;
using ptx::Type;

namespace {

// Shared memory, for cp.async the block's own; a generic address where no space is named.
void take_shared(Spec& spec, Instr& in, bool of_cluster) {
  const bool shared = spec.take("shared") || spec.take("shared::cta");
  const bool cluster = of_cluster && spec.take("shared::cluster");
  in.space = shared || cluster ? Space::kShared : Space::kGeneric;
}

}  // namespace

// ops: [1] base of the destination (its offset in target), [2] bytes to read, [3] ignore-src,
// [4] source.
void FunctionDecoder::decode_async_copy(const Instruction& instruction, Spec& spec, Instr& in) {
  const std::vector<Operand>& operands = instruction.operands;
  const bool all_levels = spec.take("ca");
  if (!all_levels && !spec.take("cg")) throw Unsupported{".ca or .cg is expected"};
  const bool has_policy = spec.take("L2::cache_hint");
  spec.take_cache_hints();
  take_shared(spec, in, false);
  if (in.space != Space::kShared || !spec.take("global")) {
    throw Unsupported{"a copy from .global to .shared is expected"};
  }
  if (operands.size() < 3 || operands[2].kind != Operand::Kind::kInteger) {
    throw Unsupported{"the number of bytes is missing"};
  }
  const uint64_t bytes = operands[2].bits;
  if (bytes != 16 && (!all_levels || (bytes != 4 && bytes != 8))) {
    throw Unsupported{".ca copies 4, 8 or 16 bytes and .cg 16"};
  }
  in.size = static_cast<uint8_t>(bytes);
  memory_address(operands[0], Space::kShared, in);
  in.ops[1] = in.ops[4];
  in.target = static_cast<uint32_t>(in.imm);
  in.register_size = in.address_is_32bit || in.ops[1] == kNoPlace ? 4 : 8;
  in.ops[4] = kNoPlace;
  in.address_is_32bit = false;
  memory_address(operands[1], Space::kGlobal, in);
  const size_t end = operands.size() - (has_policy ? 1 : 0);
  if (end > 3) {
    const Operand& operand = operands[3];
    const bool ignore =
        operand.kind == Operand::Kind::kRegister && register_type(operand) == Type::kPred;
    in.ops[ignore ? 3 : 2] = ignore ? predicate(operand) : source(operand, 4, Type::kU32);
  }
  in.fn = handler_async_copy();
}

void FunctionDecoder::decode_cp(const Instruction& instruction, Spec& spec, Instr& in) {
  if (!spec.take("async")) throw Unsupported{"cp.async is expected"};
  if (spec.take("bulk")) return decode_bulk(instruction, spec, in);
  if (spec.take("commit_group")) {
    in.fn = handler_async_commit();
  } else if (spec.take("wait_all")) {
    in.fn = handler_async_wait(true);
  } else if (spec.take("wait_group")) {
    const Operand& groups = instruction.operands.at(0);
    if (groups.kind != Operand::Kind::kInteger) throw Unsupported{"a constant is expected"};
    in.imm = static_cast<int64_t>(groups.bits);
    in.fn = handler_async_wait(false);
  } else if (spec.take("mbarrier")) {
    spec.take("arrive");
    const bool noinc = spec.take("noinc");
    mbarrier_object(instruction.operands.at(0), spec, in);
    in.fn = handler_mbarrier(noinc ? MBarrierOp::kArriveAfterCopiesNoinc
                                   : MBarrierOp::kArriveAfterCopies);
  } else {
    decode_async_copy(instruction, spec, in);
  }
}

void FunctionDecoder::mbarrier_object(const Operand& operand, Spec& spec, Instr& in) {
  take_shared(spec, in, true);
  const Space space = in.space;
  memory_address(operand, space, in);
  in.space = space;
  in.size = 8;
  in.vector = 1;
  out_.inner_order = InnerOrder::kAny;
}

// ops: [0] state or predicate, [1] count, bytes, state or parity, [4] object.
void FunctionDecoder::decode_mbarrier(const Instruction& instruction, Spec& spec, Instr& in) {
  const std::vector<Operand>& operands = instruction.operands;
  if (operands.empty()) throw Unsupported{"operands are missing"};
  const size_t object = in.destinations;
  const auto operand = [&](int bytes, Type type) {
    if (operands.size() <= object + 1) throw Unsupported{"operands are missing"};
    in.ops[1] = source(operands[object + 1], bytes, type);
  };
  if (spec.take("pending_count")) {
    if (operands.size() != 2) throw Unsupported{"two operands are expected"};
    in.ops[0] = destination(operands[0], 4);
    in.ops[1] = source(operands.at(1), 8, Type::kB64);
    in.sources = 1;
    in.undefined_rule = UndefinedRule::kReport;
    in.fn = handler_mbarrier(MBarrierOp::kPendingCount);
    return;
  }
  const bool init = spec.take("init"), inval = spec.take("inval");
  const bool drop = spec.take("arrive_drop"), arrive = spec.take("arrive") || drop;
  const bool wait = spec.take("test_wait") || spec.take("try_wait");
  if (in.destinations == 1) {
    in.ops[0] = wait ? predicate_destination(operands[0]) : any_destination(operands[0]);
    if (!wait && in.ops[0] != kNoPlace && stored_size(operands[0]) != 8) {
      throw Unsupported{"the state of an mbarrier has 64 bits"};
    }
  }
  const bool expect = spec.take("expect_tx"), complete = spec.take("complete_tx");
  if (spec.take_one_of({"relaxed", "acquire", "release"}) == 0) in.target |= kMBarrierRelaxed;
  spec.take("cta");
  spec.take("cluster");
  if (operands.size() <= object) throw Unsupported{"the barrier object is missing"};
  mbarrier_object(operands[object], spec, in);
  if (init || inval) {
    if (init) operand(4, Type::kU32);
    in.fn = handler_mbarrier(init ? MBarrierOp::kInit : MBarrierOp::kInval);
  } else if (arrive) {
    if (operands.size() > object + 1) operand(4, Type::kU32);
    if (expect) in.target |= kMBarrierExpectTx;
    const bool open = spec.take("noComplete");
    in.fn =
        handler_mbarrier(drop ? (open ? MBarrierOp::kArriveDropNoComplete : MBarrierOp::kArriveDrop)
                              : (open ? MBarrierOp::kArriveNoComplete : MBarrierOp::kArrive));
  } else if (wait) {
    const bool parity = spec.take("parity");
    operand(parity ? 4 : 8, parity ? Type::kU32 : Type::kB64);
    in.fn = handler_mbarrier(parity ? MBarrierOp::kTestWaitParity : MBarrierOp::kTestWait);
  } else if (expect || complete) {
    operand(4, Type::kU32);
    in.fn = handler_mbarrier(expect ? MBarrierOp::kExpectTx : MBarrierOp::kCompleteTx);
  }
  const bool needs_operand = init || wait || (expect || complete);
  if (needs_operand && in.ops[1] == kNoPlace) throw Unsupported{"an operand is missing"};
}

}  // namespace warplings::sim
