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
#include "decode/opcodes.h"
#include "decode/program.h"
#include "decode/spec.h"

namespace warplings::sim {

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
  // One for each family of opcodes.def, and what they share or leave to another.
  using Decode = void(const ptx::Instruction&, Spec&, Instr&);
  Decode decode_arithmetic, decode_logic, decode_compare, decode_select, decode_testp, decode_mov,
      decode_cvt, decode_cvta, decode_isspacep, decode_ld, decode_st, decode_atom, decode_fence,
      decode_nop, decode_sleep, decode_createpolicy, decode_bra, decode_brx, decode_call,
      decode_ret, decode_stack, decode_exit, decode_trap, decode_barrier, decode_collective,
      decode_cp, decode_tex, decode_surface, decode_image_query, decode_mbarrier, decode_activemask,
      decode_wmma, decode_mma, decode_ldmatrix, decode_movmatrix, decode_wgmma, decode_setmaxnreg,
      decode_video, decode_fns, decode_elect, decode_cluster_address, decode_tensormap;
  Decode decode_wgmma_product, decode_cluster_barrier, decode_bulk, decode_async_store,
      decode_lop3_test, decode_cvt_pack, decode_vector_mov, decode_async_copy, decode_warp_barrier;
  using Family = Decode FunctionDecoder::*;
  static Family family_of(Opcode opcode);

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
  void image_operand(const ptx::Operand& operand, ImageOp& op, ptx::Type coordinate);
  void image_values(const ptx::Operand& operand, ImageOp& op, bool written, ptx::Type type);
  void add_image(const ImageOp& op, Instr& in);
  BulkAddress bulk_address(const ptx::Operand& operand, Space space);
  void tensor_operand(const ptx::Operand& operand, BulkForm& form);
  void offset_operand(const ptx::Operand& operand, BulkForm& form);
  void add_bulk(const BulkForm& form, Instr& in);
  void mbarrier_object(const ptx::Operand& operand, Spec& spec, Instr& in);
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
