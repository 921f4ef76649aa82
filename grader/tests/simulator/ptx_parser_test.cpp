// The PTX parser: one behaviour a test. Programs are short texts; what the decoder needs is
// checked.
#include <gtest/gtest.h>

#include <bit>
#include <memory>
#include <string>

#include "ptx/module.h"

namespace warplings::sim::ptx {
namespace {

constexpr const char* kHead = ".version 8.0\n.target sm_80\n.address_size 64\n";

std::unique_ptr<Module> parse_module(const std::string& text) {
  return parse(kHead + text, "test.ptx");
}

// The body of one kernel, with registers that most tests need.
std::unique_ptr<Module> parse_body(const std::string& body) {
  return parse_module(
      ".visible .entry k(.param .u64 p) {\n.reg .pred %p<4>;\n.reg .b32 %r<8>;\n"
      ".reg .b64 %rd<4>;\n.reg .f32 %f<4>;\n" +
      body + "\n}\n");
}

const Function& only_function(const std::unique_ptr<Module>& module) {
  return module->functions.at(0);
}

Operand operand_of(const std::string& instruction, size_t index) {
  return only_function(parse_body(instruction)).body.at(0).operands.at(index);
}

// The message of the ParseError that `text` must raise; empty if it parses.
std::string error_of(const std::string& text) {
  try {
    parse(text, "test.ptx");
  } catch (const ParseError& error) {
    return error.what();
  }
  return "";
}

std::string error_in_body(const std::string& body) {
  return error_of(std::string(kHead) + ".entry k() {\n.reg .pred %p<4>;\n.reg .b32 %r<8>;\n" +
                  body + "\n}\n");
}

Variable variable(const std::string& declaration) {
  return parse_module(declaration)->variables.at(0);
}

using Bytes = std::vector<uint8_t>;

// ---- module ----

TEST(PtxModule, ReadsVersionTargetAndAddressSize) {
  const auto module = parse(".version 9.1\n.target sm_90a, debug\n.address_size 64\n", "a.ptx");
  EXPECT_EQ(module->version_major, 9);
  EXPECT_EQ(module->version_minor, 1);
  EXPECT_EQ(module->target, "sm_90a");
  EXPECT_EQ(module->address_size, 64);
}

TEST(PtxModule, QuotesLinesOfItsText) {
  const auto module = parse(".version 8.0\r\n.target sm_80\n", "a.ptx");
  EXPECT_EQ(module->text_of_line(1), ".version 8.0");
  EXPECT_EQ(module->text_of_line(2), ".target sm_80");
  EXPECT_EQ(module->text_of_line(0), "");
  EXPECT_EQ(module->text_of_line(9), "");
}

TEST(PtxModule, SkipsComments) {
  EXPECT_EQ(parse_module("// .func x\n/* .func y\n*/ .func f() { ret; }")->functions.size(), 1u);
}

TEST(PtxModule, SkipsDebugSections) {
  const auto module =
      parse_module(".section .debug_str\n{\nL0:\n.b8 1,2\n.b32 L0+4\n}\n.func f() { ret; }\n");
  EXPECT_EQ(module->functions.size(), 1u);
}

TEST(PtxModule, NumbersFiles) {
  const auto module = parse_module(
      ".file 2 \"/a/b c.cu\"\n.file 1 \"x.cu\", 12, 34\n.file 3 \"K\\303\\274 \\\"\\\\.cu\"\n");
  ASSERT_EQ(module->files.size(), 4u);
  EXPECT_EQ(module->files[1], "x.cu");
  EXPECT_EQ(module->files[2], "/a/b c.cu");
  EXPECT_EQ(module->files[3], "K\xC3\xBC \"\\.cu");  // bytes beyond ASCII come in octal
}

TEST(PtxModule, KeepsAliases) {
  const auto module = parse_module(".func g() { ret; }\n.func f();\n.alias f, g;\n");
  EXPECT_EQ(module->aliases.at("f"), "g");
}

TEST(PtxTypes, HaveNamesAndSizes) {
  EXPECT_EQ(type_from_name("bf16x2"), Type::kBF16x2);
  EXPECT_EQ(type_from_name("b3"), Type::kNone);
  EXPECT_EQ(size_of(Type::kF64), 8);
  EXPECT_EQ(size_of(Type::kB128), 16);
  EXPECT_EQ(size_of(Type::kPred), 0);
}

// ---- variables ----

TEST(PtxVariables, HaveSpaceTypeAlignmentAndSize) {
  const Variable v = variable(".visible .global .align 16 .v4 .f32 points[3];");
  EXPECT_EQ(v.name, "points");
  EXPECT_EQ(v.space, Space::kGlobal);
  EXPECT_EQ(v.type, Type::kF32);
  EXPECT_EQ(v.vector_width, 4);
  EXPECT_EQ(v.alignment, 16u);
  EXPECT_EQ(v.size, 48u);
  EXPECT_TRUE(v.initial.empty());
}

TEST(PtxVariables, MayShareOneDeclaration) {
  const auto module = parse_module(".global .u32 a = 1, b, c[2];");
  ASSERT_EQ(module->variables.size(), 3u);
  EXPECT_EQ(module->variables[0].initial, (Bytes{1, 0, 0, 0}));
  EXPECT_EQ(module->variables[1].size, 4u);
  EXPECT_EQ(module->variables[2].size, 8u);
}

TEST(PtxVariables, PadShortLists) {
  EXPECT_EQ(variable(".const .align 4 .b8 t[6] = {1, 0xff, 3};").initial,
            (Bytes{1, 255, 3, 0, 0, 0}));
}

TEST(PtxVariables, PlaceNestedListsByRow) {
  EXPECT_EQ(variable(".global .u8 t[2][3] = {{1}, {2, 3}};").initial, (Bytes{1, 0, 0, 2, 3, 0}));
}

TEST(PtxVariables, TakeTheirLengthFromTheList) {
  const Variable v = variable(".global .u16 t[] = {1, 2, 3};");
  EXPECT_EQ(v.size, 6u);
  EXPECT_EQ(v.initial, (Bytes{1, 0, 2, 0, 3, 0}));
}

TEST(PtxVariables, TakeFloatsAsBitsAndAsDecimals) {
  EXPECT_EQ(variable(".global .f32 x = 0f3f800000;").initial, (Bytes{0, 0, 0x80, 0x3f}));
  EXPECT_EQ(variable(".global .f32 x = -2.5;").initial, (Bytes{0, 0, 0x20, 0xc0}));
  EXPECT_EQ(variable(".global .f64 x = 0d3ff8000000000000;").initial,
            (Bytes{0, 0, 0, 0, 0, 0, 0xf8, 0x3f}));
  EXPECT_EQ(variable(".global .f16 x = 1.5;").initial, (Bytes{0, 0x3e}));
  EXPECT_EQ(variable(".global .bf16 x = 1.5;").initial, (Bytes{0xc0, 0x3f}));
}

TEST(PtxVariables, RoundHalvesToNearestEven) {
  EXPECT_EQ(variable(".global .f16 x = 2049.0;").initial, (Bytes{0x00, 0x68}));   // 2048
  EXPECT_EQ(variable(".global .f16 x = 2051.0;").initial, (Bytes{0x02, 0x68}));   // 2052
  EXPECT_EQ(variable(".global .f16 x = 65520.0;").initial, (Bytes{0x00, 0x7c}));  // infinity
  EXPECT_EQ(variable(".global .f16 x = 6e-8;").initial, (Bytes{0x01, 0x00}));     // subnormal
}

TEST(PtxVariables, HoldAddressesOfSymbols) {
  const auto module =
      parse_module(".global .u32 x[4];\n.global .u64 p[3] = {x, generic(x)+8, x+4};");
  const Variable& p = module->variables.at(1);
  ASSERT_EQ(p.relocations.size(), 3u);
  EXPECT_FALSE(p.relocations[0].generic);
  EXPECT_EQ(p.relocations[0].symbol, "x");
  EXPECT_TRUE(p.relocations[1].generic);
  EXPECT_EQ(p.relocations[1].offset, 8u);
  EXPECT_EQ(p.relocations[1].addend, 8);
  EXPECT_EQ(p.relocations[1].width, 8);
  EXPECT_EQ(p.relocations[2].addend, 4);
}

TEST(PtxVariables, HoldMaskedBytesOfAddresses) {
  const auto module =
      parse_module(".global .u32 x;\n.global .b8 p[2] = {0xFF(generic(x)), 0xFF00(x)};");
  const auto& relocations = module->variables.at(1).relocations;
  ASSERT_EQ(relocations.size(), 2u);
  EXPECT_EQ(relocations[0].mask, 0xffu);
  EXPECT_EQ(relocations[0].width, 1);
  EXPECT_TRUE(relocations[0].generic);
  EXPECT_EQ(relocations[1].mask, 0xff00u);
  EXPECT_EQ(relocations[1].offset, 1u);
}

TEST(PtxVariables, KnowManagedMemory) {
  EXPECT_TRUE(variable(".global .attribute(.managed) .align 4 .u32 m;").is_managed);
  EXPECT_FALSE(variable(".global .attribute(.unified(1, 2)) .u32 m;").is_managed);
}

TEST(PtxVariables, DynamicSharedMemoryHasNoSize) {
  const Variable v = variable(".extern .shared .align 16 .b8 buffer[];");
  EXPECT_EQ(v.linkage, Linkage::kExtern);
  EXPECT_EQ(v.space, Space::kShared);
  EXPECT_EQ(v.size, 0u);
}

TEST(PtxVariables, DefinitionReplacesExternDeclaration) {
  const auto module = parse_module(".extern .global .u32 x;\n.global .u32 x = 5;\n");
  ASSERT_EQ(module->variables.size(), 1u);
  EXPECT_NE(module->variables[0].linkage, Linkage::kExtern);
  EXPECT_EQ(module->variables[0].initial.at(0), 5);
}

TEST(PtxVariables, TexturesAreHandles) {
  EXPECT_EQ(variable(".global .texref t;").type, Type::kTexRef);
  EXPECT_EQ(variable(".tex .u32 t;").type, Type::kTexRef);
  EXPECT_EQ(variable(".global .samplerref s = { addr_mode_0 = wrap };").type, Type::kSamplerRef);
}

// ---- functions ----

TEST(PtxFunctions, KernelHasParametersAndLimits) {
  const auto module = parse_module(
      ".visible .entry k(.param .u64 .ptr .global .align 8 p, .param .align 4 .b8 s[12])\n"
      ".maxntid 128, 2\n.reqntid 64, 1, 1\n.minnctapersm 3\n.maxnreg 40\n{ ret; }");
  const Function& k = only_function(module);
  EXPECT_TRUE(k.is_entry);
  ASSERT_EQ(k.params.size(), 2u);
  EXPECT_EQ(k.params[0].type, Type::kU64);
  EXPECT_EQ(k.params[0].alignment, 0u);
  EXPECT_EQ(k.params[1].size, 12u);
  EXPECT_EQ(k.params[1].alignment, 4u);
  EXPECT_EQ(k.max_threads[0], 128);
  EXPECT_EQ(k.max_threads[1], 2);
  EXPECT_EQ(k.max_threads[2], 1);
  EXPECT_EQ(k.required_threads[0], 64);
  EXPECT_EQ(k.min_blocks_per_sm, 3);
  EXPECT_EQ(k.max_registers, 40);
}

TEST(PtxFunctions, DefinitionReplacesDeclaration) {
  const auto module = parse_module(
      ".func (.param .b32 r) f(.param .b32 a);\n.func g() { ret; }\n"
      ".func (.param .b32 r) f(.param .b32 a) { ret; }");
  ASSERT_EQ(module->functions.size(), 2u);
  EXPECT_EQ(module->functions[0].name, "f");
  EXPECT_FALSE(module->functions[0].is_declaration);
  EXPECT_EQ(module->functions[0].returns.size(), 1u);
}

TEST(PtxFunctions, ExternFunctionIsDeclaration) {
  const auto module = parse_module(".extern .func abort() .noreturn;");
  EXPECT_TRUE(only_function(module).is_declaration);
  EXPECT_TRUE(only_function(module).is_noreturn);
}

TEST(PtxFunctions, RegisterParametersAreRegisters) {
  const auto module = parse_module(".func (.reg .f32 r) f(.reg .u32 a) { ret; }");
  EXPECT_EQ(only_function(module).params.at(0).space, Space::kReg);
  EXPECT_EQ(only_function(module).registers.size(), 2u);
}

TEST(PtxFunctions, ExpandRegisterRanges) {
  const auto module = parse_module(".entry k() { .reg .b32 %r<3>, x; .reg .pred %p<1>; ret; }");
  const auto& registers = only_function(module).registers;
  ASSERT_EQ(registers.size(), 5u);
  EXPECT_EQ(registers[0].name, "%r0");
  EXPECT_EQ(registers[2].name, "%r2");
  EXPECT_EQ(registers[3].name, "x");
  EXPECT_EQ(registers[4].type, Type::kPred);
}

TEST(PtxFunctions, VectorRegistersHaveComponents) {
  const auto module =
      parse_module(".entry k() { .reg .v2 .f32 v; .reg .f32 x; mov.f32 x, v.y; mov.v2.f32 v, v; }");
  const Function& k = only_function(module);
  EXPECT_EQ(k.registers.at(1).name, "v.y");
  EXPECT_EQ(k.body.at(0).operands.at(1).name, "v.y");
  EXPECT_EQ(k.body.at(1).operands.at(1).elements.size(), 2u);
}

// ---- scopes ----

TEST(PtxScopes, GiveLocalsUniqueNames) {
  const auto module = parse_body(
      "{ .param .b32 a; st.param.b32 [a+0], %r1; }\n{ .param .b32 a; st.param.b32 [a+0], %r2; }");
  const Function& k = only_function(module);
  ASSERT_EQ(k.variables.size(), 2u);
  EXPECT_NE(k.variables[0].name, k.variables[1].name);
  EXPECT_EQ(k.body[0].operands[0].elements[0].name, k.variables[0].name);
  EXPECT_EQ(k.body[1].operands[0].elements[0].name, k.variables[1].name);
}

TEST(PtxScopes, InnerRegisterHidesOuter) {
  const auto module = parse_body("{ .reg .b64 %r1; mov.b64 %r1, 0; }\nmov.b32 %r1, 0;");
  const Function& k = only_function(module);
  EXPECT_NE(k.body[0].operands[0].name, "%r1");
  EXPECT_EQ(k.body[1].operands[0].name, "%r1");
}

TEST(PtxScopes, InnerVariableHidesModuleVariable) {
  const auto module = parse_module(
      ".global .u32 x;\n.entry k() { .reg .u64 a; { .local .u32 x; mov.u64 a, x; }\n"
      "mov.u64 a, x; }");
  const Function& k = only_function(module);
  EXPECT_EQ(k.body[0].operands[1].name, k.variables.at(0).name);
  EXPECT_EQ(k.body[1].operands[1].name, "x");
  EXPECT_NE(k.variables[0].name, "x");
}

TEST(PtxScopes, SameLabelInTwoScopesIsTwoLabels) {
  const auto module = parse_body("{ again: bra again; }\n{ bra again; add.u32 %r1,%r1,1; again: }");
  const Function& k = only_function(module);
  EXPECT_EQ(k.labels.size(), 2u);
  EXPECT_EQ(k.labels.at(k.body[0].operands[0].name), 0);
  EXPECT_EQ(k.labels.at(k.body[1].operands[0].name), 3);
}

// ---- instructions ----

TEST(PtxInstructions, KeepModifiersInOrder) {
  const auto module = parse_body("ld.global.nc.L2::128B.v2.u32 {%r1, %r2}, [%rd1];");
  const Instruction& i = only_function(module).body.at(0);
  EXPECT_EQ(i.opcode, "ld");
  EXPECT_EQ(i.modifiers, (std::vector<std::string>{"global", "nc", "L2::128B", "v2", "u32"}));
  EXPECT_EQ(i.text_line, 9);
}

TEST(PtxInstructions, MayBeGuarded) {
  const auto module = parse_body("@%p1 ret;\n@!%p2 exit;");
  const auto& body = only_function(module).body;
  EXPECT_EQ(body[0].guard, "%p1");
  EXPECT_FALSE(body[0].guard_negated);
  EXPECT_EQ(body[1].guard, "%p2");
  EXPECT_TRUE(body[1].guard_negated);
}

TEST(PtxInstructions, LabelsPointAtTheNextInstruction) {
  const auto module = parse_body("bra $L__BB0_2;\n$L__BB0_1: ret;\n$L__BB0_2:");
  const auto& labels = only_function(module).labels;
  EXPECT_EQ(labels.at("$L__BB0_1"), 1);
  EXPECT_EQ(labels.at("$L__BB0_2"), 2);
}

TEST(PtxInstructions, BranchTableListsLabels) {
  const auto module = parse_body("a: b: ret;\ntable: .branchtargets a, b, a;\nbrx.idx %r1, table;");
  EXPECT_EQ(only_function(module).target_lists.at("table"),
            (std::vector<std::string>{"a", "b", "a"}));
}

TEST(PtxInstructions, CallHasResultsFunctionAndArguments) {
  const auto module = parse_module(
      ".func (.reg .u32 r) f(.reg .u32 a) { ret; }\n"
      ".entry k() { .reg .u32 x; call.uni (x), f, (x); call f; }");
  const auto& body = module->functions.at(1).body;
  ASSERT_EQ(body[0].operands.size(), 3u);
  EXPECT_EQ(body[0].operands[0].kind, Operand::Kind::kParenList);
  EXPECT_EQ(body[0].operands[1].name, "f");
  EXPECT_EQ(body[0].operands[2].elements.at(0).name, "x");
  EXPECT_EQ(body[1].operands.size(), 1u);
}

TEST(PtxInstructions, IndirectCallNamesItsPrototype) {
  const auto module = parse_body(
      "proto : .callprototype (.param .b32 _) _ (.param .b64 _, .param .align 4 .b8 _[8]);\n"
      "call (%r1), %rd1, (%rd2, %rd3), proto;");
  const auto& prototype = only_function(module).prototypes.at("proto");
  EXPECT_EQ(prototype.returns.size(), 1u);
  ASSERT_EQ(prototype.params.size(), 2u);
  EXPECT_EQ(prototype.params[1].size, 8u);
}

// ---- operands ----

TEST(PtxOperands, IntegersInEveryBase) {
  const std::pair<const char*, int64_t> cases[] = {{"42", 42},
                                                   {"-7", -7},
                                                   {"0x1F", 31},
                                                   {"0b101", 5},
                                                   {"017", 15},
                                                   {"10U", 10},
                                                   {"0xFFFFFFFF", 0xFFFFFFFF},
                                                   {"0", 0},
                                                   {"WARP_SZ", 32}};
  for (const auto& [text, value] : cases) {
    const Operand o = operand_of("mov.u32 %r1, " + std::string(text) + ";", 1);
    EXPECT_EQ(o.kind, Operand::Kind::kInteger) << text;
    EXPECT_EQ(static_cast<int64_t>(o.bits), value) << text;
    EXPECT_EQ(o.is_negative, value < 0) << text;
  }
}

TEST(PtxOperands, ConstantExpressionsFollowC) {
  const std::pair<const char*, int64_t> cases[] = {
      {"2+3*4", 14},     {"(2+3)*4", 20}, {"1<<4|1", 17},   {"~0", -1},      {"7/2 % 2", 1},
      {"5>4?10:20", 10}, {"-8>>1", -4},   {"6&3^1", 3},     {"!0+!5", 1},    {"2==2&&0!=1", 1},
      {"-7/2", -3},      {"10-3-2", 5},   {"(.u64)5>3", 1}, {"1<=1||1/1", 1}};
  for (const auto& [text, value] : cases) {
    const Operand o = operand_of("mov.u32 %r1, " + std::string(text) + ";", 1);
    EXPECT_EQ(static_cast<int64_t>(o.bits), value) << text;
  }
}

TEST(PtxOperands, FloatsKeepTheirBits) {
  const Operand single = operand_of("mov.f32 %f1, 0FBF800000;", 1);
  EXPECT_EQ(single.kind, Operand::Kind::kFloat32);
  EXPECT_EQ(single.bits, 0xbf800000u);
  const Operand wide = operand_of("mov.f32 %f1, 0d3FF0000000000000;", 1);
  EXPECT_EQ(wide.kind, Operand::Kind::kFloat64);
  const Operand decimal = operand_of("mov.f32 %f1, -1.5e1;", 1);
  EXPECT_EQ(decimal.kind, Operand::Kind::kFloat64);
  EXPECT_EQ(std::bit_cast<double>(decimal.bits), -15.0);
  EXPECT_EQ(operand_of("mov.f32 %f1, -0f3f800000;", 1).bits, 0xbf800000u);
}

TEST(PtxOperands, AddressesHaveBaseAndOffset) {
  const Operand plain = operand_of("ld.global.u32 %r1, [%rd1];", 1);
  EXPECT_EQ(plain.kind, Operand::Kind::kAddress);
  EXPECT_EQ(plain.elements.at(0).name, "%rd1");
  EXPECT_EQ(static_cast<int64_t>(operand_of("ld.global.u32 %r1, [%rd1+-4];", 1).bits), -4);
  EXPECT_EQ(static_cast<int64_t>(operand_of("ld.global.u32 %r1, [%rd1-12];", 1).bits), -12);
  const Operand symbol = operand_of("ld.param.u32 %r1, [p+4];", 1);
  EXPECT_EQ(symbol.elements.at(0).kind, Operand::Kind::kSymbol);
  EXPECT_EQ(symbol.elements.at(0).name, "p");
  EXPECT_EQ(symbol.bits, 4u);
  const Operand absolute = operand_of("ld.shared.u32 %r1, [12];", 1);
  EXPECT_TRUE(absolute.elements.empty());
  EXPECT_EQ(absolute.bits, 12u);
}

TEST(PtxOperands, TextureAddressHoldsItsCoordinates) {
  const Operand o = operand_of("tex.2d.v4.f32.f32 {%f0,%f1,%f2,%f3}, [%rd1, {%f1, %f2}];", 1);
  ASSERT_EQ(o.elements.size(), 2u);
  EXPECT_EQ(o.elements[1].kind, Operand::Kind::kVector);
  EXPECT_EQ(o.elements[1].elements.size(), 2u);
}

TEST(PtxOperands, IndexedVariableIsOffsetByElements) {
  const auto module = parse_module(
      ".global .u32 a[4];\n.entry k() { .reg .u64 x; mov.u64 x, a[2]; mov.u64 x, a+4; }");
  const auto& body = only_function(module).body;
  EXPECT_EQ(body[0].operands[1].bits, 8u);
  EXPECT_EQ(body[1].operands[1].bits, 4u);
}

TEST(PtxOperands, PairsNameTwoResults) {
  const Operand o = operand_of("setp.eq.u32 %p1|%p2, %r1, %r2;", 0);
  EXPECT_TRUE(o.is_pair);
  EXPECT_EQ(o.elements.at(1).name, "%p2");
  EXPECT_EQ(operand_of("setp.eq.u32 _|%p2, %r1, %r2;", 0).elements.at(0).kind,
            Operand::Kind::kSink);
}

TEST(PtxOperands, PredicatesMayBeNegated) {
  EXPECT_TRUE(operand_of("selp.b32 %r1, %r2, %r3, !%p1;", 3).negated);
}

TEST(PtxOperands, VectorsMayHoldSinksAndConstants) {
  const Operand o = operand_of("mov.b64 {%r1, _}, %rd1;", 0);
  EXPECT_EQ(o.kind, Operand::Kind::kVector);
  EXPECT_EQ(o.elements.at(1).kind, Operand::Kind::kSink);
  EXPECT_EQ(operand_of("st.global.v2.u32 [%rd1], {%r1, 7};", 1).elements.at(1).bits, 7u);
}

TEST(PtxOperands, VideoInstructionsSelectBytes) {
  EXPECT_EQ(operand_of("vadd.s32.u32.u32 %r1, %r2.b3, %r3.h1;", 1).selector, "b3");
}

TEST(PtxOperands, SpecialRegistersAreThoseThatAreNotDeclared) {
  EXPECT_EQ(operand_of("mov.u32 %r1, %tid.x;", 1).kind, Operand::Kind::kSpecial);
  EXPECT_EQ(operand_of("mov.u32 %r1, %tid.x;", 1).name, "%tid.x");
  EXPECT_EQ(operand_of("mov.u64 %rd1, %clock64;", 1).name, "%clock64");
  EXPECT_EQ(operand_of("mov.u32 %r1, %envreg31;", 1).kind, Operand::Kind::kSpecial);
  const auto declared = parse_body(".reg .b32 %laneid; mov.u32 %r1, %laneid;");
  EXPECT_EQ(only_function(declared).body[0].operands[1].kind, Operand::Kind::kRegister);
}

// ---- locations ----

TEST(PtxLocations, BelongToTheInstructionsThatFollow) {
  const auto module = parse_body("ret;\n.loc 1 12 3\nret;\nret;\n.loc 1 0 3\nret;");
  const auto& body = only_function(module).body;
  EXPECT_EQ(body[0].location, -1);
  EXPECT_EQ(module->locations.at(body[1].location).line, 12);
  EXPECT_EQ(body[2].location, body[1].location);
  EXPECT_EQ(module->locations.at(body[3].location).line, 0);
}

TEST(PtxLocations, DoNotCarryIntoTheNextFunction) {
  const auto module = parse_module(".func f() { .loc 1 2 3\nret; }\n.func g() { ret; }");
  EXPECT_EQ(module->functions.at(1).body.at(0).location, -1);
}

TEST(PtxLocations, AreStoredOnce) {
  EXPECT_EQ(parse_body(".loc 1 2 3\nret;\n.loc 1 4 5\nret;\n.loc 1 2 3\nret;")->locations.size(),
            2u);
}

TEST(PtxLocations, FollowTheChainOfInlinedCalls) {
  const auto module = parse_body(
      ".loc 1 20 3\n.loc 1 8 7, function_name $L0, inlined_at 1 20 3\n"
      ".loc 1 5 9, function_name $L0+4, inlined_at 1 8 7\nret;");
  const auto& locations = module->locations;
  const SourceLocation inner = locations.at(only_function(module).body[0].location);
  EXPECT_EQ(inner.line, 5);
  const SourceLocation middle = locations.at(inner.inlined_at);
  EXPECT_EQ(middle.line, 8);
  const SourceLocation outer = locations.at(middle.inlined_at);
  EXPECT_EQ(outer.line, 20);
  EXPECT_EQ(outer.inlined_at, -1);
}

TEST(PtxLocations, CallSiteWithoutARowOfItsOwnIsAdded) {
  const auto module = parse_body(".loc 1 5 9, function_name $L0, inlined_at 2 30 1\nret;");
  const SourceLocation inner = module->locations.at(only_function(module).body[0].location);
  EXPECT_EQ(module->locations.at(inner.inlined_at).file, 2);
  EXPECT_EQ(module->locations.at(inner.inlined_at).line, 30);
}

// ---- errors ----

TEST(PtxErrors, ShowLineColumnTextAndCaret) {
  EXPECT_EQ(error_of(".version 8.0\n.target sm_80\n.global .u33 x;\n"),
            "test.ptx:3:9: '.u33' is not a type\n"
            ".global .u33 x;\n"
            "        ^");
}

TEST(PtxErrors, CaretStandsBelowTextThatHasTabs) {
  EXPECT_EQ(error_in_body("\tmov.u32\t%r1, %x;"),
            "test.ptx:7:15: register '%x' is not declared here\n"
            "\tmov.u32\t%r1, %x;\n"
            "\t       \t     ^");
}

TEST(PtxErrors, QuoteOnlyPartOfALongLine) {
  const std::string error = error_in_body(std::string(5000, ' ') + "?" + std::string(5000, ' '));
  EXPECT_LT(error.size(), 400u);
  const size_t quote = error.find('\n') + 1;
  const size_t caret = error.find('\n', quote) + 1;
  EXPECT_EQ(error[quote + error.find('^', caret) - caret], '?');
}

struct BadText {
  const char* name;
  const char* body;
  const char* position;
  const char* message;
};

class PtxErrorsInBodies : public testing::TestWithParam<BadText> {};

TEST_P(PtxErrorsInBodies, NameTheMistake) {
  const std::string error = error_in_body(GetParam().body);
  EXPECT_NE(error.find(GetParam().message), std::string::npos) << error;
  EXPECT_EQ(error.find(std::string("test.ptx:") + GetParam().position + ": "), 0u) << error;
}

INSTANTIATE_TEST_SUITE_P(
    All, PtxErrorsInBodies,
    testing::Values(
        BadText{"MissingSemicolon", "mov.u32 %r1, %r2\nret;", "8:1", "expected ',' or ';'"},
        BadText{"MissingLabel", "bra nowhere;", "7:5", "there is no label 'nowhere'"},
        BadText{"TwoRegisters", ".reg .u32 %r1;", "7:11", "'%r1' is declared twice"},
        BadText{"TwoLabels", "a: a: ret;", "7:4", "'a' is declared twice"},
        BadText{"UndeclaredGuard", "@%q ret;", "7:2", "not a declared predicate register"},
        BadText{"LongNumber", "mov.u64 %r1, 0x11112222333344445;", "7:14", "more than 64 bits"},
        BadText{"ShortFloat", "mov.f32 %r1, 0f3f8;", "7:14", "needs 8 hexadecimal digits"},
        BadText{"NumberWithLetters", "mov.u32 %r1, 12q;", "7:16", "does not belong in a number"},
        BadText{"DivisionByZero", "mov.u32 %r1, 4/0;", "7:15", "divides by zero"},
        BadText{"OpenComment", "ret; /* no end", "7:6", "never closed"},
        BadText{"OpenAddress", "ld.u32 %r1, [%r1;", "7:17", "expected ']' after an address"},
        BadText{"TooManyRegisters", ".reg .b32 %q<99999999>;", "7:14", "too large"},
        BadText{"TooMuchArray", ".local .b8 x[99999999999999];", "7:14", "2^40"},
        BadText{"OddAlignment", ".local .align 3 .b8 x[4];", "7:15", "power of two"},
        BadText{"TooManyValues", ".local .b8 x[2] = {1,2,3};", "7:24", "more initial values"},
        BadText{"UnknownStatement", ".what 3;", "7:1", "'.what' is not a statement"},
        BadText{"BadComponent", "mov.u32 %r1, %tid.q;", "7:18", "expected .x, .y, .z or .w"}),
    [](const auto& test_case) { return std::string(test_case.param.name); });

TEST(PtxErrors, MissingVersionIsNamed) {
  EXPECT_NE(error_of("").find("starts with .version"), std::string::npos);
}

TEST(PtxErrors, FunctionDefinedTwiceIsNamed) {
  const std::string text = std::string(kHead) + ".func f() { ret; }\n.func f() { ret; }";
  EXPECT_EQ(error_of(text).find("test.ptx:5:7: function 'f' is defined twice"), 0u);
}

TEST(PtxErrors, UnclosedBodyPointsAtItsStart) {
  EXPECT_EQ(error_of(std::string(kHead) + ".entry k() {\nret;\n").find("test.ptx:4:12: "), 0u);
}

TEST(PtxErrors, ThirtyTwoBitAddressesAreRefused) {
  EXPECT_NE(
      error_of(".version 8.0\n.target sm_80\n.address_size 32\n").find("only .address_size 64"),
      std::string::npos);
}

TEST(PtxErrors, ConstantsOfAModuleAreAtMost64KiB) {
  const std::string head = kHead;
  EXPECT_NE(error_of(head + ".const .b32 a[0x80000000] = {1};").find("at most 65536 bytes"),
            std::string::npos);
  EXPECT_NE(error_of(head + ".const .b8 a[65535];\n.const .b8 b[2];").find("larger than 64 KiB"),
            std::string::npos);
  EXPECT_EQ(error_of(head + ".const .b8 a[65535];\n.const .b8 b[1];"), "");
}

TEST(PtxErrors, TheFirstOneIsReportedWhateverFollows) {
  const std::string text = std::string(kHead) + ".global .u33 x;\n\"never closed";
  EXPECT_EQ(error_of(text).find("test.ptx:4:9: "), 0u) << error_of(text);
}

TEST(PtxErrors, DeepNestingIsAnErrorAndNotAnOverflow) {
  EXPECT_NE(error_in_body(std::string(100000, '{')).find("nested too deep"), std::string::npos);
  EXPECT_NE(error_in_body("mov.u32 %r1, " + std::string(100000, '(')).find("nested too deep"),
            std::string::npos);
  EXPECT_NE(error_in_body("mov.u32 %r1, " + std::string(100000, '-')).find("nested too deep"),
            std::string::npos);
  EXPECT_NE(error_in_body("mov.u32 " + std::string(100000, '{')).find("nested too deep"),
            std::string::npos);
  EXPECT_NE(error_in_body("mov.u32 %r1, 1" + std::string(100000, '?')).find("expected an operand"),
            std::string::npos);
}

}  // namespace
}  // namespace warplings::sim::ptx
