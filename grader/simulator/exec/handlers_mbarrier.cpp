// mbarrier instructions, and cp.async.mbarrier.arrive. Lanes take their turns in order.
#include <cstring>

#include "decode/handlers.h"
#include "exec/cluster.h"
#include "exec/fault.h"
#include "exec/lanes.h"
#include "exec/observer.h"
#include "exec/reports.h"
#include "exec/request.h"

namespace warplings::sim {
namespace {

using namespace baseline;  // NOLINT: lanes.h lives in the namespace of its build

constexpr uint32_t kObjectBytes = 8;

void check_object_operands(Warp& w, const Instr& in, uint32_t mask) {
  if (!w.any_undefined) return;
  for (const int k : {1, 4}) {
    if (in.ops[k] == kNoPlace || !is_register(in.ops[k])) continue;
    const uint32_t lanes = w.undefined_lanes(in.ops[k]) & mask;
    if (lanes == 0) continue;
    report_undefined(w, in.ops[k], lanes,
                     k == 4 ? "is used as an address" : "is used by an mbarrier");
    w.undefined_lanes(in.ops[k]) &= ~lanes;
  }
  if (in.destinations == 1 && in.ops[0] != kNoPlace) w.undefined_lanes(in.ops[0]) &= ~mask;
}

// One event for all lanes of an instruction that do the same to one object.
class Tell {
 public:
  explicit Tell(Warp& w) : w_(w) {}
  ~Tell() { flush(); }
  Tell(const Tell&) = delete;
  Tell& operator=(const Tell&) = delete;
  void operator()(PipelineEvent::Kind kind, int lane, const Block& home, uint32_t offset,
                  uint32_t phase) {
    if (w_.watch_instructions == nullptr) return;
    const bool same = event_.lanes != 0 && event_.kind == kind && event_.home == &home &&
                      event_.offset == offset && event_.number == phase;
    if (!same) flush();
    const uint32_t lanes = (same ? event_.lanes : 0) | 1u << lane;
    event_ = {.kind = kind, .lanes = lanes, .home = &home, .offset = offset, .number = phase};
  }

 private:
  void flush() {
    if (event_.lanes != 0) tell(w_, event_);
    event_.lanes = 0;
  }
  Warp& w_;
  PipelineEvent event_;
};

// Where the objects of the lanes lie in the shared memory of the cluster.
Request objects(Warp& w, const Instr& in, uint32_t mask, bool write) {
  check_object_operands(w, in, mask);
  Request request = make_request(w, in, mask, write);
  request.atomic = true;
  if (in.space != Space::kGeneric) return request;
  each_lane(mask, [&](int lane) {
    if (space_of(request.address[lane]) != Space::kShared) {
      report_mbarrier(w, lane, MBarrierProblem::kNotShared);
      throw LaunchFault{LaunchStatus::kIllegalAddress};
    }
    request.address[lane] -= kSharedWindow;
  });
  request.contiguous = false;
  request.low -= kSharedWindow;
  request.high -= kSharedWindow;
  return request;
}

[[noreturn]] void fail(Warp& w, int lane, MBarrierProblem problem) {
  report_mbarrier(w, lane, problem);
  throw LaunchFault{LaunchStatus::kTrap};
}

// The object that a lane uses.
MBarrier& object_of(Warp& w, Block& home, int lane, uint32_t offset) {
  MBarrier* barrier = home.mbarriers.find(offset);
  if (barrier == nullptr) fail(w, lane, MBarrierProblem::kNotInitialised);
  uint64_t image = 0;
  std::memcpy(&image, home.shared.data() + offset, sizeof image);
  if (image != barrier->image()) fail(w, lane, MBarrierProblem::kOverwritten);
  return *barrier;
}

// Calls use(lane, home, offset, object) for every lane, after the checks that they have in common.
template <class Use>
void each_object(Warp& w, const Instr& in, uint32_t mask, Use use) {
  const Request request = objects(w, in, mask, true);
  each_home(w, request, [&](Block& home, const Request& part) {
    check_shared(w, in, part, home);
    if (&home == w.block) race_sync_object(w, part);
    each_lane(part.mask, [&](int lane) {
      const uint32_t offset = static_cast<uint32_t>(part.address[lane]);
      use(lane, home, offset, object_of(w, home, lane, offset));
    });
  });
}

// What init and inval need: the block's own.
Request own_objects(Warp& w, const Instr& in, uint32_t mask) {
  const Request request = objects(w, in, mask, true);
  check_shared(w, in, request, *w.block);
  return request;
}

// Bytes that nobody expects, when nobody is left who could expect them.
void check_transactions(Warp& w, int lane, const MBarrier& barrier) {
  if (barrier.transactions > kMostTransactions || barrier.transactions < -kMostTransactions) {
    fail(w, lane, MBarrierProblem::kTransactionRange);
  }
  if (!barrier.has_all_arrivals() || barrier.incoming.empty()) return;
  if (barrier.incoming_bytes() <= barrier.transactions) return;
  report_excess_bytes(w, lane, barrier);
  throw LaunchFault{LaunchStatus::kTrap};
}

// Threads that initialise one object with the same count: a note, as for other writes of one value.
void race_init(Warp& w, const Request& request, const uint32_t* counts) {
  bool same = true;
  each_lane(request.mask, [&](int lane) {
    const MBarrier* known = w.block->mbarriers.find(static_cast<uint32_t>(request.address[lane]));
    const bool fresh = known == nullptr || (known->phase == 0 && known->pending == counts[lane]);
    same = same && fresh && counts[lane] == counts[std::countr_zero(request.mask)];
  });
  race_object_init(w, request, same);
}

void op_init(Warp& w, const Instr& in, uint32_t m) {
  const Request request = own_objects(w, in, m);
  const uint32_t* counts = w.in<uint32_t>(in.ops[1]);
  race_init(w, request, counts);
  Tell says(w);
  each_lane(m, [&](int lane) {
    if (counts[lane] == 0 || counts[lane] > kMostArrivals) fail(w, lane, MBarrierProblem::kCount);
    const uint32_t offset = static_cast<uint32_t>(request.address[lane]);
    if (w.checks) object_begins(*w.block, offset);
    settle(*w.block, offset, w.block->mbarriers.initialise(offset, counts[lane]));
    says(PipelineEvent::Kind::kBegins, lane, *w.block, offset, 0);
  });
}

void op_inval(Warp& w, const Instr& in, uint32_t m) {
  const Request request = own_objects(w, in, m);
  race_shared(w, in, request);
  each_lane(m, [&](int lane) {
    const uint32_t offset = static_cast<uint32_t>(request.address[lane]);
    end_phase(*w.block, offset, object_of(w, *w.block, lane, offset));
    w.block->mbarriers.remove(offset);
  });
}

// Arrivals that this phase still has room for: the others belong to copies under way.
uint32_t room(const MBarrier& barrier) {
  const uint32_t promised = static_cast<uint32_t>(barrier.after_copies.size());
  return barrier.pending > promised ? barrier.pending - promised : 0;
}

template <bool kDrop, bool kNoComplete>
void op_arrive(Warp& w, const Instr& in, uint32_t m) {
  const uint32_t* operand = in.ops[1] == kNoPlace ? nullptr : w.in<uint32_t>(in.ops[1]);
  const bool expects = (in.target & kMBarrierExpectTx) != 0;
  uint64_t states[32];
  Tell says(w);
  each_object(w, in, m, [&](int lane, Block& home, uint32_t offset, MBarrier& barrier) {
    end_phase(home, offset, barrier);
    says(PipelineEvent::Kind::kArrives, lane, home, offset, barrier.phase);
    const uint32_t count = operand == nullptr || expects ? 1 : operand[lane];
    if (count == 0) fail(w, lane, MBarrierProblem::kCount);
    if (count > room(barrier)) fail(w, lane, MBarrierProblem::kTooManyArrivals);
    if (kNoComplete && count == barrier.pending) fail(w, lane, MBarrierProblem::kCompletes);
    states[lane] = barrier.image();
    if (expects) barrier.transactions += operand[lane];
    if (w.checks && (in.target & kMBarrierRelaxed) == 0) {
      arrived_at_object(w, 1u << lane, home, offset);
    }
    if (kDrop) barrier.expected -= count;
    barrier.pending -= count;
    check_transactions(w, lane, barrier);
    settle(home, offset, barrier);
  });
  if (w.checks) moment_passes(w);
  if (in.destinations == 0 || in.ops[0] == kNoPlace) return;
  uint64_t* d = w.out<uint64_t>(in.ops[0]);
  each_lane(m, [&](int lane) { d[lane] = states[lane]; });
}

// test_wait and try_wait: a hardware wait may give up early at any time, so both answer at once.
template <bool kParity>
void op_test_wait(Warp& w, const Instr& in, uint32_t m) {
  uint32_t done = 0;
  uint32_t from = 0;  // the object that the lanes in `waited` have waited for
  uint32_t waited = 0;
  const auto acquire = [&] {
    if (waited == 0 || !w.checks || (in.target & kMBarrierRelaxed) != 0) return;
    waited_for_object(w, waited, from);
  };
  const auto is_complete = [&](int lane, const MBarrier& barrier) {
    if (kParity) return (barrier.phase & 1) != (w.in<uint32_t>(in.ops[1])[lane] & 1);
    const uint32_t phase = phase_of_state(w.in<uint64_t>(in.ops[1])[lane]);
    const uint32_t behind = (barrier.phase - phase) & 0xffffffu;
    if (behind > 1) fail(w, lane, MBarrierProblem::kOldState);
    return behind == 1;
  };
  w.awaited.waits = false;
  Tell says(w);
  each_object(w, in, m, [&](int lane, Block& home, uint32_t offset, MBarrier& barrier) {
    bool complete = is_complete(lane, barrier);
    if (!complete) {  // copies arrive when somebody waits for them
      end_phase(home, offset, barrier);
      complete = is_complete(lane, barrier);
    }
    says(complete ? PipelineEvent::Kind::kPasses : PipelineEvent::Kind::kMisses, lane, home, offset,
         complete ? barrier.phase - 1 : barrier.phase);
    if (!complete) w.awaited = {true, offset, w.pc};
    if (!complete) return;
    done |= 1u << lane;
    if (from != offset) {
      acquire();
      from = offset;
      waited = 0;
    }
    waited |= 1u << lane;
  });
  acquire();
  if (done != m) w.spun = true;
  write_predicate(w, in.ops[0], m, done);
}

template <bool kExpect>
void op_transactions(Warp& w, const Instr& in, uint32_t m) {
  const uint32_t* bytes = w.in<uint32_t>(in.ops[1]);
  Tell says(w);
  each_object(w, in, m, [&](int lane, Block& home, uint32_t offset, MBarrier& barrier) {
    if (kExpect) end_phase(home, offset, barrier);
    if (!kExpect) says(PipelineEvent::Kind::kArrives, lane, home, offset, barrier.phase);
    barrier.transactions += kExpect ? int64_t{bytes[lane]} : -int64_t{bytes[lane]};
    check_transactions(w, lane, barrier);
    settle(home, offset, barrier);
  });
}

// The arrival happens when the copies that the lane has issued are done. Without .noinc it is one
// more than the barrier expects.
template <bool kNoinc>
void op_arrive_after_copies(Warp& w, const Instr& in, uint32_t m) {
  Tell says(w);
  each_object(w, in, m, [&](int lane, Block& home, uint32_t offset, MBarrier& barrier) {
    end_phase(home, offset, barrier);
    says(PipelineEvent::Kind::kArrivesBehind, lane, home, offset, barrier.phase);
    if (kNoinc && room(barrier) == 0) fail(w, lane, MBarrierProblem::kTooManyArrivals);
    if (!kNoinc) ++barrier.pending;
    const uint32_t warp = static_cast<uint32_t>(w.index);
    barrier.after_copies.push_back(
        {warp, static_cast<uint32_t>(lane), w.async_copies.issued(), w.checks ? moment_of(w) : 0});
    if (w.checks) arrived_at_object(w, 1u << lane, home, offset);
    settle(home, offset, barrier);
  });
  if (w.checks) moment_passes(w);
}

void op_pending_count(Warp& w, const Instr& in, uint32_t m) {
  const uint64_t* states = w.in<uint64_t>(in.ops[1]);
  uint32_t* d = w.out<uint32_t>(in.ops[0]);
  for_lanes(d, m, [=](int i) { return pending_of_state(states[i]); });
}

}  // namespace

Handler handler_mbarrier(MBarrierOp op) {
  switch (op) {
    case MBarrierOp::kInit:
      return op_init;
    case MBarrierOp::kInval:
      return op_inval;
    case MBarrierOp::kArrive:
      return op_arrive<false, false>;
    case MBarrierOp::kArriveNoComplete:
      return op_arrive<false, true>;
    case MBarrierOp::kArriveDrop:
      return op_arrive<true, false>;
    case MBarrierOp::kArriveDropNoComplete:
      return op_arrive<true, true>;
    case MBarrierOp::kTestWait:
      return op_test_wait<false>;
    case MBarrierOp::kTestWaitParity:
      return op_test_wait<true>;
    case MBarrierOp::kExpectTx:
      return op_transactions<true>;
    case MBarrierOp::kCompleteTx:
      return op_transactions<false>;
    case MBarrierOp::kArriveAfterCopies:
      return op_arrive_after_copies<false>;
    case MBarrierOp::kArriveAfterCopiesNoinc:
      return op_arrive_after_copies<true>;
    case MBarrierOp::kPendingCount:
      return op_pending_count;
  }
  return nullptr;
}

}  // namespace warplings::sim
