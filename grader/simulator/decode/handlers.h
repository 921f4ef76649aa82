// Choosing the handler of an instruction. Each function belongs to one family of opcodes (see
// decode/opcodes.def) and returns nullptr for a form that is not supported.
#ifndef WARPLINGS_SIMULATOR_DECODE_HANDLERS_H_
#define WARPLINGS_SIMULATOR_DECODE_HANDLERS_H_

#include <string_view>

#include "decode/program.h"
#include "decode/spec.h"
#include "ptx/module.h"

namespace warplings::sim {

// Those whose lane loops are compiled once per instruction set are in decode/lane_build.h. The
// rest: too seldom or too scalar for several builds.
Handler pick_carry(Spec& spec, ptx::Type type);       // add.cc addc sub.cc subc mad.cc madc
Handler pick_half(Spec& spec, ptx::Type type);        // f16, f16x2, bf16, bf16x2
Handler pick_compare_pair(bool set, ptx::Type type);  // setp, set of f16x2, bf16x2
Handler handler_video(const VideoOp& op);             // Instr::extra is an index of a VideoOp
Handler handler_fns();
Handler handler_cvt_pack();
Handler pick_convert(Spec& spec, ptx::Type to, ptx::Type from);  // cvt
Handler pick_testp(Spec& spec, ptx::Type type);

Handler pick_atomic(Spec& spec, ptx::Type type);
Handler handler_pack();    // mov.b64 %rd, {%r1, %r2}
Handler handler_unpack();  // mov.b64 {%r1, %r2}, %rd

Handler pick_collective(Spec& spec, ptx::Type type);  // shfl vote match redux
Handler handler_activemask();
Handler handler_elect();

// Matrices: Instr::extra is an index into LoadedModule::matrices.
Handler handler_mma_float();  // A and B of at most 32 bits
Handler handler_mma_double();
Handler handler_mma_integer();
Handler handler_wmma_load();
Handler handler_wmma_store();
Handler handler_ldmatrix();
Handler handler_stmatrix();
Handler handler_movmatrix();
bool is_matrix_handler(Handler handler);  // of those above but movmatrix: they have a MatrixOp

Handler handler_wgmma_fence();
Handler handler_wgmma_commit();
Handler handler_wgmma_wait();  // imm: groups that may still be under way
Handler handler_setmaxnreg();  // imm: registers of a thread; extra: 1 for more of them

Handler handler_alloca();  // imm: alignment
Handler handler_stacksave();
Handler handler_stackrestore();

Handler handler_nop();
Handler handler_map_replace();
Handler handler_map_copy();
Handler handler_map_fence(bool acquires);
Handler handler_grid_wait();
Handler handler_fence();

Handler handler_bulk();                // Instr::extra is an index into LoadedModule::bulks
Handler handler_bulk_commit();         // cp.async.bulk.commit_group
Handler handler_bulk_wait(bool read);  // imm: groups
Handler handler_proxy_fence();         // fence.proxy.async
Handler handler_cluster_arrive();      // imm: 1 releases
Handler handler_mapa();                // imm: 1 generic addresses
Handler handler_getctarank();
Handler handler_async_copy();          // cp.async
Handler handler_async_commit();        // cp.async.commit_group
Handler handler_async_wait(bool all);  // cp.async.wait_group (imm: groups), wait_all
enum class MBarrierOp {
  kInit,
  kInval,
  kArrive,
  kArriveNoComplete,
  kArriveDrop,
  kArriveDropNoComplete,
  kTestWait,
  kTestWaitParity,
  kExpectTx,
  kCompleteTx,
  kArriveAfterCopies,
  kArriveAfterCopiesNoinc,
  kPendingCount,
};
inline constexpr uint32_t kMBarrierRelaxed = 1;   // in Instr::target: orders nothing
inline constexpr uint32_t kMBarrierExpectTx = 2;  // the operand is a number of bytes, not a count
Handler handler_mbarrier(MBarrierOp op);

// Textures and surfaces; operands in LoadedModule::images.
Handler handler_texture(bool gather);  // tex, tld4
enum class SurfaceAccess { kLoad, kStore, kReduce };
Handler handler_surface(SurfaceAccess access);
Handler handler_image_query(bool texture);  // txq, suq

Handler handler_clock();  // imm: bits to shift right
Handler handler_globaltimer();
Handler handler_sleep();

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_DECODE_HANDLERS_H_
