// Findings of bulk copies, their mbarriers and clusters in learner words.
#include "checks/explain_race.h"
#include "checks/words.h"
#include "exec/interpreter.h"
#include "exec/reports.h"

namespace warplings::sim {
namespace {

std::string lane_name(const Warp& warp, int lane) { return thread_name(warp, lane); }

std::string thread_of_block(const Warp& warp, uint32_t block, uint32_t thread) {
  const Dim3 b = warp.block->grid->config->block, g = warp.block->grid->config->grid;
  return "thread " + dims(thread % b.x, thread / b.x % b.y, thread / b.x / b.y, b) + " of block " +
         dims(block % g.x, block / g.x % g.y, block / g.x / g.y, g);
}

}  // namespace

void report_missing_proxy_fence(const Warp& warp, int lane, uint32_t offset, uint32_t thread,
                                uint32_t pc) {
  if (repeated(warp, Report::kProxy, pc)) return;
  Finding finding = make(warp, "racecheck", "missing-proxy-fence", warp.pc);
  finding.other = warp.module->position_of(pc).user;
  const uint32_t block = static_cast<uint32_t>(warp.block->linear);
  finding.message =
      "In " + kernel_name(warp) + ", " + thread_of_block(warp, block, thread) +
      " writes the shared-memory word at byte " + number(offset) + " " + at(warp, pc) +
      " with an ordinary store, and the operation that " + lane_name(warp, lane) + " starts " +
      at(warp, warp.pc) +
      " reads it through the asynchronous proxy, which may not see it yet. A barrier alone does "
      "not help: the thread that wrote must execute fence.proxy.async (in CUDA C++ "
      "cde::fence_proxy_async_shared_cta()) after its stores and before that barrier.";
  FindingLog::instance().report(std::move(finding));
}

void report_excess_bytes(const Warp& warp, int lane, const MBarrier& barrier) {
  const uint32_t pc = barrier.incoming.back().issuer.pc;
  Finding finding = make(warp, "synccheck", "transaction-count", warp.pc);
  finding.other = warp.module->position_of(pc).user;
  finding.message =
      "In " + kernel_name(warp) + ", " + lane_name(warp, lane) + " brings the last arrival or " +
      "copy of a phase of an mbarrier " + at(warp, warp.pc) + ", and copies bring " +
      number(static_cast<uint64_t>(barrier.incoming_bytes())) + " bytes while " +
      (barrier.transactions > 0
           ? "the phase expects " + number(static_cast<uint64_t>(barrier.transactions))
           : std::string("the phase expects none")) +
      ": it can end before all of them are there, and the rest upsets the next phase. Let "
      "mbarrier.arrive.expect_tx (cuda::device::barrier_arrive_tx) name the sum of the bytes of "
      "all copies of the phase.";
  FindingLog::instance().report(std::move(finding));
}

void report_unread_bulk(const Warp& warp, int lane, uint32_t pc) {
  if (repeated_at(warp, pc, Report::kUnreadBulk, 0)) return;
  Finding finding = make(warp, "synccheck", "bulk-copy-at-exit", pc);
  finding.message =
      "In " + kernel_name(warp) + ", " + lane_name(warp, lane) +
      " starts a copy out of shared "
      "memory " +
      at(warp, pc) +
      ", and its block ends while the copy may still be reading: the shared memory then belongs to "
      "another block. The thread that started it must wait with cp.async.bulk.commit_group and "
      "cp.async.bulk.wait_group.read 0 before it leaves the kernel.";
  FindingLog::instance().report(std::move(finding));
}

void report_bulk_operand(const Warp& warp, int lane, const std::string& problem) {
  Finding finding = make(warp, "memcheck", "bulk-operand", warp.pc);
  finding.message = "In " + kernel_name(warp) + ", " + lane_name(warp, lane) +
                    " starts an asynchronous copy " + at(warp, warp.pc) + ": " + problem;
  FindingLog::instance().report(std::move(finding));
}

void report_remote(const Warp& warp, int lane, uint32_t rank, RemoteProblem problem) {
  if (repeated(warp, Report::kRemote, static_cast<uint64_t>(problem))) return;
  const char* kind = problem == RemoteProblem::kNoBlock ? "no-such-block"
                     : problem == RemoteProblem::kLeft  ? "remote-after-exit"
                                                        : "remote-before-start";
  Finding finding =
      make(warp, problem == RemoteProblem::kNoBlock ? "memcheck" : "synccheck", kind, warp.pc);
  const std::string what = "In " + kernel_name(warp) + ", " + lane_name(warp, lane) +
                           " touches the shared memory of the block of rank " + number(rank) + " " +
                           at(warp, warp.pc);
  switch (problem) {
    case RemoteProblem::kNoBlock:
      finding.message = what +
                        ", and its cluster has no such block. The address is not one that "
                        "map_shared_rank (mapa) makes for a rank of this cluster.";
      break;
    case RemoteProblem::kLeft:
      finding.message = what +
                        ", and that block has left the kernel: its shared memory may belong to "
                        "another one. All blocks must meet at a cluster.sync() after the last "
                        "access to each other's shared memory.";
      break;
    case RemoteProblem::kNotStarted:
      finding.message = what +
                        ", and nothing says that it has started. All blocks must meet at a "
                        "cluster.sync() before the first access to each other's shared memory.";
      break;
  }
  FindingLog::instance().report(std::move(finding));
}

void report_early_leave(const Block& block, uint32_t other, uint32_t thread, uint32_t pc) {
  const Warp& warp = block.warps[0];
  if (repeated_at(warp, pc, Report::kRemote, 7)) return;
  Finding finding = make(warp, "synccheck", "remote-after-exit", pc);
  finding.message =
      "In " + kernel_name(warp) + ", " + thread_of_block(warp, other, thread) +
      " touches the shared memory of block " + number(block.linear) + " " + at(warp, pc) +
      ", and nothing keeps that block from leaving the kernel before: its shared memory may then "
      "belong to another one. All blocks must meet at a cluster.sync() after the last access to "
      "each other's shared memory.";
  FindingLog::instance().report(std::move(finding));
}

}  // namespace warplings::sim
