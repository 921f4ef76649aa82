#include "profile/trace_values.h"

#include <cxxabi.h>

#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "memory/payload.h"

namespace warplings::sim {
namespace {

std::string indexed(const std::string& name, uint64_t offset, uint32_t element_bytes) {
  const std::string index = std::to_string(offset / element_bytes);
  const uint64_t rest = offset % element_bytes;
  return name + "[" + index + (rest == 0 ? "" : " + " + std::to_string(rest) + " bytes") + "]";
}

const Function& kernel_of(const Warp& warp) {
  return warp.module->functions[static_cast<size_t>(warp.frames.front().function)];
}

}  // namespace

std::string plain_name(const std::string& mangled) {
  if (mangled.rfind("_Z", 0) != 0) return mangled;
  int status = 0;
  char* text = abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status);
  std::string name = status == 0 && text != nullptr ? text : mangled;
  std::free(text);
  const size_t at = name.rfind("::");
  return at == std::string::npos ? name : name.substr(at + 2);
}

const ptx::Instruction& instruction_at(const LoadedModule& module, uint32_t pc) {
  static const auto* const none = new ptx::Instruction();
  const Function& function = module.functions[static_cast<size_t>(module.function_at(pc))];
  for (const ptx::Function& source : module.source->functions) {
    if (source.name != function.name || source.is_declaration) continue;
    const size_t index = pc - function.entry;
    return index < source.body.size() ? source.body[index] : *none;
  }
  return *none;
}

ptx::Type type_of(const ptx::Instruction& instruction) {
  for (auto word = instruction.modifiers.rbegin(); word != instruction.modifiers.rend(); ++word) {
    const ptx::Type type = ptx::type_from_name(*word);
    if (type != ptx::Type::kNone) return type;
  }
  return ptx::Type::kB32;
}

std::string value_text(uint64_t bits, ptx::Type type) {
  char text[40];
  switch (type) {
    case ptx::Type::kF32:
      std::snprintf(text, sizeof text, "%.7g", std::bit_cast<float>(static_cast<uint32_t>(bits)));
      return text;
    case ptx::Type::kF64:
      std::snprintf(text, sizeof text, "%.12g", std::bit_cast<double>(bits));
      return text;
    case ptx::Type::kS8:
      return std::to_string(static_cast<int8_t>(bits));
    case ptx::Type::kS16:
      return std::to_string(static_cast<int16_t>(bits));
    // nvcc loads plain integers without a sign; a large one was most likely negative.
    case ptx::Type::kS32:
    case ptx::Type::kU32:
    case ptx::Type::kB32:
      return std::to_string(static_cast<int32_t>(bits));
    case ptx::Type::kS64:
    case ptx::Type::kU64:
    case ptx::Type::kB64:
      return std::to_string(static_cast<int64_t>(bits));
    case ptx::Type::kU8:
    case ptx::Type::kB8:
      return std::to_string(bits & 0xff);
    case ptx::Type::kU16:
      return std::to_string(bits & 0xffff);
    default:
      std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(bits));
      return text;
  }
}

uint64_t register_bits(const Warp& warp, const Instr& in, int part, int lane) {
  const Place at = in.ops[part];
  if (at == kNoPlace) return 0;
  return in.register_size == 8 ? warp.in<uint64_t>(at)[lane] : warp.in<uint32_t>(at)[lane];
}

std::string lanes_text(uint32_t lanes, const char* one_does, const char* many_do) {
  std::string out;
  for (int lane = 0; lane < 32;) {
    if (!((lanes >> lane) & 1)) {
      ++lane;
      continue;
    }
    int last = lane;
    while (last < 31 && ((lanes >> (last + 1)) & 1)) ++last;
    out += (out.empty() ? "" : ", ") + std::to_string(lane);
    if (last > lane) out += "-" + std::to_string(last);
    lane = last + 1;
  }
  const bool one = std::has_single_bit(lanes);
  return (one ? "lane " : "lanes ") + out + " " + (one ? one_does : many_do);
}

std::string global_place(uint64_t address, uint32_t element_bytes) {
  const DeviceMemory& memory = DeviceMemory::instance();
  const Allocation* allocation = memory.in_arena(address) ? memory.allocation_at(address) : nullptr;
  if (allocation == nullptr) return "an address outside of all allocations";
  const std::string name = allocation->name.empty() ? "allocation " + std::to_string(allocation->id)
                                                    : plain_name(allocation->name);
  const uint64_t first = payload(*allocation).first;  // red zones are not the program's
  if (address < first) return name + ", before its first element";
  return indexed(name, address - first, element_bytes);
}

const SharedVariable* shared_variable_at(const Warp& warp, uint64_t offset) {
  for (const SharedVariable& variable : kernel_of(warp).shared_variables) {
    if (offset >= variable.offset && offset < variable.offset + variable.size) return &variable;
  }
  return nullptr;
}

std::string shared_value(const Block& block, uint64_t offset, uint32_t element_bytes,
                         ptx::Type type) {
  uint64_t bits = 0;
  if (element_bytes > sizeof bits || offset + element_bytes > block.shared.size()) return "?";
  for (uint64_t at = offset; at < offset + element_bytes; ++at) {
    if (at < block.shared_undefined.size() && block.shared_undefined[at] != 0) return "?";
  }
  std::memcpy(&bits, block.shared.data() + offset, element_bytes);
  return value_text(bits, type);
}

std::string shared_place(const Warp& warp, uint64_t offset, uint32_t element_bytes) {
  if (const SharedVariable* variable = shared_variable_at(warp, offset)) {
    return indexed(plain_name(variable->name), offset - variable->offset, element_bytes);
  }
  const Function& function = kernel_of(warp);
  if (offset >= function.shared_dynamic_at) {
    return indexed("dynamic shared", offset - function.shared_dynamic_at, element_bytes);
  }
  return indexed("shared", offset, element_bytes);
}

}  // namespace warplings::sim
