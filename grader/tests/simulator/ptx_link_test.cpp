// Modules linked into one: which names meet, and which stay apart.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "ptx/link.h"

namespace warplings::sim::ptx {
namespace {

constexpr const char* kHead = ".version 8.0\n.target sm_80\n.address_size 64\n";

std::unique_ptr<Module> linked(const std::vector<std::string>& texts) {
  std::vector<std::unique_ptr<Module>> modules;
  for (const std::string& text : texts) modules.push_back(parse(kHead + text, "test.ptx"));
  return link(std::move(modules));
}

std::vector<std::string> functions_of(const Module& module) {
  std::vector<std::string> names;
  for (const Function& function : module.functions) {
    if (!function.is_declaration) names.push_back(function.name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string callee_of(const Module& module, const std::string& caller) {
  for (const Function& function : module.functions) {
    if (function.name != caller) continue;
    for (const Instruction& instruction : function.body) {
      if (instruction.opcode == "call") return instruction.operands.at(0).name;
    }
  }
  return "";
}

std::string error_of(const std::vector<std::string>& texts) {
  try {
    linked(texts);
  } catch (const LinkError& error) {
    return error.what();
  }
  return "";
}

const std::string kCalls = ".extern .func f();\n.visible .entry k() {\ncall f, ();\nret;\n}\n";
const std::string kDefines = ".visible .func f() {\nret;\n}\n";

TEST(PtxLink, DeclarationsMeetDefinitionsInEitherOrder) {
  for (const auto& texts : {std::vector{kCalls, kDefines}, std::vector{kDefines, kCalls}}) {
    const auto module = linked(texts);
    EXPECT_EQ(functions_of(*module), (std::vector<std::string>{"f", "k"}));
    EXPECT_EQ(callee_of(*module, "k"), "f");
  }
}

TEST(PtxLink, InternalNamesStayApart) {
  const auto unit = [](const std::string& kernel) {
    return ".func f() {\nret;\n}\n.visible .entry " + kernel + "() {\ncall f, ();\nret;\n}\n";
  };
  const auto module = linked({unit("first"), unit("second"), kDefines});
  EXPECT_EQ(functions_of(*module).size(), 5u);
  const std::string one = callee_of(*module, "first"), two = callee_of(*module, "second");
  EXPECT_NE(one, two);
  EXPECT_NE(one, "f") << "the third unit's f is visible, and another";
  EXPECT_NE(two, "f");
}

TEST(PtxLink, InternalVariablesKeepTheirInitialAddresses) {
  const auto module = linked({".global .u32 x = 1;\n.global .u64 p = x;\n",
                              ".global .u32 x = 2;\n.global .u64 q = generic(x);\n"});
  ASSERT_EQ(module->variables.size(), 4u);
  EXPECT_EQ(module->variables[1].relocations.at(0).symbol, module->variables[0].name);
  EXPECT_EQ(module->variables[3].relocations.at(0).symbol, module->variables[2].name);
  EXPECT_NE(module->variables[0].name, module->variables[2].name);
}

TEST(PtxLink, WeakDefinitionsYield) {
  const std::string weak = ".weak .func f() {\nret;\n}\n";
  EXPECT_EQ(functions_of(*linked({weak, weak})).size(), 1u);
  const auto module = linked({weak, kDefines});
  EXPECT_EQ(module->functions.at(0).linkage, Linkage::kVisible);
}

TEST(PtxLink, RefusesTwoDefinitions) {
  EXPECT_NE(error_of({kDefines, kDefines}).find("\"f\" is defined in two files"),
            std::string::npos);
  const std::string variable = ".visible .global .u32 f;\n";
  EXPECT_NE(error_of({variable, variable}).find("\"f\" is defined in two files"),
            std::string::npos);
  EXPECT_NE(error_of({variable, kDefines}).find("variable in one file"), std::string::npos);
}

TEST(PtxLink, KeepsLinesAndFilesOfEachUnit) {
  const std::string unit =
      ".visible .entry k@() {\n.loc 1 @0 1\nbar.sync 0;\nret;\n}\n.file 1 \"@.cu\"\n";
  const auto named = [&](char name) {
    std::string text = unit;
    std::replace(text.begin(), text.end(), '@', name);
    return text;
  };
  const auto module = linked({named('1'), named('2')});
  const Instruction& last = module->functions.at(1).body.at(0);
  const SourceLocation& where = module->locations.at(static_cast<size_t>(last.location));
  EXPECT_EQ(where.line, 20);
  EXPECT_EQ(module->files.at(static_cast<size_t>(where.file)), "2.cu");
  EXPECT_EQ(module->text_of_line(last.text_line), "bar.sync 0;");
}

}  // namespace
}  // namespace warplings::sim::ptx
