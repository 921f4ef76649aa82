// From parsed PTX to decoded code.
#ifndef WARPLINGS_SIMULATOR_DECODE_DECODER_H_
#define WARPLINGS_SIMULATOR_DECODE_DECODER_H_

#include <map>
#include <memory>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "decode/allocate.h"
#include "decode/program.h"
#include "decode/spec.h"

namespace warplings::sim {

// Number of leading operands that an instruction writes; 0 for an unknown opcode.
int destinations_of(const ptx::Instruction& instruction);

// A form that is not supported: becomes an instruction that stops the launch when it is reached.
struct Unsupported {
  std::string reason;
};

class FunctionDecoder {
 public:
  FunctionDecoder(LoadedModule& module, const ptx::Function& source, Function& out,
                  const std::unordered_map<std::string, uint32_t>& shared_offsets);
  void run();

 private:
  using Family = void (FunctionDecoder::*)(const ptx::Instruction&, Spec&, Instr&);
  struct Row {
    Family family;
    int destinations;
  };
  static const std::unordered_map<std::string, Row>& table();

  void decode_arithmetic(const ptx::Instruction&, Spec&, Instr&);
  void decode_logic(const ptx::Instruction&, Spec&, Instr&);
  void decode_compare(const ptx::Instruction&, Spec&, Instr&);
  void decode_select(const ptx::Instruction&, Spec&, Instr&);
  void decode_testp(const ptx::Instruction&, Spec&, Instr&);
  void decode_mov(const ptx::Instruction&, Spec&, Instr&);
  void decode_cvt(const ptx::Instruction&, Spec&, Instr&);
  void decode_cvta(const ptx::Instruction&, Spec&, Instr&);
  void decode_isspacep(const ptx::Instruction&, Spec&, Instr&);
  void decode_ld(const ptx::Instruction&, Spec&, Instr&);
  void decode_st(const ptx::Instruction&, Spec&, Instr&);
  void decode_atom(const ptx::Instruction&, Spec&, Instr&);
  void decode_fence(const ptx::Instruction&, Spec&, Instr&);
  void decode_nop(const ptx::Instruction&, Spec&, Instr&);
  void decode_sleep(const ptx::Instruction&, Spec&, Instr&);
  void decode_createpolicy(const ptx::Instruction&, Spec&, Instr&);
  void decode_bra(const ptx::Instruction&, Spec&, Instr&);
  void decode_brx(const ptx::Instruction&, Spec&, Instr&);
  void decode_call(const ptx::Instruction&, Spec&, Instr&);
  void decode_ret(const ptx::Instruction&, Spec&, Instr&);
  void decode_stack(const ptx::Instruction&, Spec&, Instr&);
  void decode_exit(const ptx::Instruction&, Spec&, Instr&);
  void decode_trap(const ptx::Instruction&, Spec&, Instr&);
  void decode_barrier(const ptx::Instruction&, Spec&, Instr&);
  void decode_collective(const ptx::Instruction&, Spec&, Instr&);
  void decode_cp(const ptx::Instruction&, Spec&, Instr&);
  void decode_tex(const ptx::Instruction&, Spec&, Instr&);
  void decode_surface(const ptx::Instruction&, Spec&, Instr&);
  void decode_image_query(const ptx::Instruction&, Spec&, Instr&);
  void decode_mbarrier(const ptx::Instruction&, Spec&, Instr&);
  void decode_activemask(const ptx::Instruction&, Spec&, Instr&);
  void decode_wmma(const ptx::Instruction&, Spec&, Instr&);
  void decode_mma(const ptx::Instruction&, Spec&, Instr&);
  void decode_ldmatrix(const ptx::Instruction&, Spec&, Instr&);
  void decode_movmatrix(const ptx::Instruction&, Spec&, Instr&);
  void decode_wgmma(const ptx::Instruction&, Spec&, Instr&);
  void decode_wgmma_product(const ptx::Instruction&, Spec&, Instr&);
  void decode_setmaxnreg(const ptx::Instruction&, Spec&, Instr&);
  void decode_video(const ptx::Instruction&, Spec&, Instr&);
  void decode_fns(const ptx::Instruction&, Spec&, Instr&);
  void decode_elect(const ptx::Instruction&, Spec&, Instr&);
  void decode_cluster_address(const ptx::Instruction&, Spec&, Instr&);
  void decode_cluster_barrier(const ptx::Instruction&, Spec&, Instr&);
  void decode_bulk(const ptx::Instruction&, Spec&, Instr&);
  void decode_async_store(const ptx::Instruction&, Spec&, Instr&);
  void decode_tensormap(const ptx::Instruction&, Spec&, Instr&);

  void decode_one(const ptx::Instruction& instruction);
  void lay_out_frame();
  uint32_t label(const std::string& name) const;

  // Operands. `bytes` is how a lane is stored: 4 or 8. A register of another width is an error, as
  // it is to ptxas: handlers rely on it.
  Place source(const ptx::Operand& operand, int bytes, ptx::Type type);
  Place destination(const ptx::Operand& operand, int bytes);
  // Of any width, or `_`: for handlers that look at register_size and at kNoPlace.
  Place any_destination(const ptx::Operand& operand);
  Place predicate_destination(const ptx::Operand& operand);  // or `_`
  Place place_of(const ptx::Operand& reg) const;
  Place predicate(const ptx::Operand& operand);
  Place constant(uint64_t bits, int bytes);
  Place special(const std::string& name);
  ptx::Type register_type(const ptx::Operand& operand) const;
  uint8_t stored_size(const ptx::Operand& operand) const;
  uint64_t immediate(const ptx::Operand& operand, ptx::Type type) const;
  // Value of a symbol: address of a variable or function, offset in shared memory.
  bool symbol_value(const std::string& name, uint64_t* value) const;
  void memory_address(const ptx::Operand& operand, Space space, Instr& in);
  Space take_space(Spec& spec) const;
  void take_strength(Spec& spec, Instr& in) const;
  Scope take_scope(Spec& spec, Scope otherwise) const;
  bool decode_special_mov(const ptx::Operand& source_operand, Instr& in);
  void decode_lop3_test(const ptx::Instruction&, Spec&, Instr&);
  void decode_cvt_pack(const ptx::Instruction&, Spec&, Instr&);
  void decode_vector_mov(const ptx::Instruction&, Spec&, Instr&);
  void decode_async_copy(const ptx::Instruction&, Spec&, Instr&);
  void image_operand(const ptx::Operand& operand, ImageOp& op, ptx::Type coordinate);
  void image_values(const ptx::Operand& operand, ImageOp& op, bool written, ptx::Type type);
  void add_image(const ImageOp& op, Instr& in);
  BulkAddress bulk_address(const ptx::Operand& operand, Space space);
  void tensor_operand(const ptx::Operand& operand, BulkForm& form);
  void offset_operand(const ptx::Operand& operand, BulkForm& form);
  void add_bulk(const BulkForm& form, Instr& in);
  void mbarrier_object(const ptx::Operand& operand, Spec& spec, Instr& in);
  void decode_warp_barrier(const ptx::Instruction&, Spec&, Instr&);
  void matrix_product(const ptx::Instruction&, Spec&, Instr&, bool is_wmma);
  void sparse_operands(const ptx::Operand& metadata, const ptx::Operand& selector, MatrixType type,
                       int k, SparseA* sparse);
  void fragment_registers(const ptx::Operand& operand, bool written, Fragment& fragment);
  void whole_warp(Spec& spec, Instr& in);
  bool is_aggregated(const ptx::Instruction&, int bytes) const;
  bool is_entry_param(const std::string& name) const;
  std::pair<uint32_t, uint32_t> frame_param(const std::string& name) const;
  void sources(const ptx::Instruction&, Instr&, size_t first, int bytes, ptx::Type type);

  LoadedModule& module_;
  const ptx::Function& source_;
  Function& out_;
  const std::unordered_map<std::string, uint32_t>& shared_offsets_;
  RegisterAllocation registers_;
  std::unordered_map<std::string, ptx::Type> register_types_;
  std::unordered_map<std::string, std::pair<uint32_t, uint32_t>> params_;  // name -> offset, size
  std::unordered_map<std::string, uint32_t> locals_;                       // name -> offset
  std::map<std::pair<uint64_t, int>, Place> constants_;
  std::unordered_set<std::string> uniform_;  // registers, where atomics ask for it
};

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_DECODE_DECODER_H_
