// The jumps that let one test object call any of the derived texts.
#include <cxxabi.h>

#include <cstdlib>
#include <map>
#include <memory>

#include "course/mutants.h"
#include "course/text.h"

namespace course {
namespace {

std::string demangle(const std::string& symbol) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 ? text.get() : symbol;
}

}  // namespace

std::vector<Launcher> match_launchers(const std::vector<std::string>& undefined,
                                      const std::vector<std::string>& defined,
                                      const std::vector<Derived>& derived) {
  std::map<std::string, std::string> symbol_of;  // "mutant_1::launch(int)" -> mangled
  for (const std::string& symbol : defined) symbol_of[demangle(symbol)] = symbol;
  std::vector<Launcher> launchers;
  for (const std::string& symbol : undefined) {
    Launcher launcher{symbol, demangle(symbol), {}};
    const Derived* lacking = nullptr;
    bool found = false;
    for (const Derived& one : derived) {
      const auto at = symbol_of.find(one.name + "::" + launcher.name);
      if (at == symbol_of.end()) {
        lacking = &one;
        continue;
      }
      found = true;
      launcher.targets.push_back(at->second);
    }
    if (!found) continue;  // the kit's, the library's
    if (lacking != nullptr) {
      throw Error(lacking->file, 0,
                  "\"" + lacking->title + "\" does not define " + launcher.name +
                      ", which the test calls; define it as the solution does.");
    }
    launchers.push_back(std::move(launcher));
  }
  return launchers;
}

std::string dispatch_source(const std::vector<Launcher>& launchers,
                            const std::vector<Derived>& derived) {
  std::string text =
      "// Made by ./grade dev dispatch; do not edit.\n"
      "#include <cstdio>\n#include <cstdlib>\n#include <cstring>\n\n"
      "#if defined(__x86_64__)\n"
      "#define JUMP(symbol, slot) \\\n"
      "  asm(\".pushsection .text\\n.globl \" symbol \"\\n.type \" symbol \",@function\\n\" symbol "
      "\":\\n\" \\\n"
      "      \"jmp *\" slot \"(%rip)\\n.size \" symbol \",.-\" symbol \"\\n.popsection\\n\")\n"
      "#elif defined(__aarch64__)\n"
      "#define JUMP(symbol, slot) \\\n"
      "  asm(\".pushsection .text\\n.globl \" symbol \"\\n.type \" symbol \",%function\\n\" symbol "
      "\":\\n\" \\\n"
      "      \"adrp x16, \" slot \"\\nldr x16, [x16, :lo12:\" slot \"]\\nbr x16\\n\" \\\n"
      "      \".size \" symbol \",.-\" symbol \"\\n.popsection\\n\")\n"
      "#else\n#error \"the gates run on x86-64 and aarch64\"\n#endif\n\n"
      "using Function = void (*)();\n\n"
      "static void no_variant() {\n"
      "  std::fputs(\"This program holds variants only: choose one with --variant=NAME.\\n\", "
      "stderr);\n"
      "  std::_Exit(2);\n"
      "}\n\n"
      "extern \"C\" {\n";
  for (size_t i = 0; i < launchers.size(); ++i) {
    text += "// " + launchers[i].name + "\n";
    const std::string slot = "grade_slot_" + std::to_string(i);
    text += "extern __attribute__((visibility(\"hidden\"))) Function " + slot + ";\nFunction " +
            slot + " = no_variant;\n";
    text += "JUMP(\"" + launchers[i].symbol + "\", \"" + slot + "\");\n";
    for (size_t v = 0; v < derived.size(); ++v) {
      text += "void grade_target_" + std::to_string(i) + "_" + std::to_string(v) + "() asm(\"" +
              launchers[i].targets[v] + "\");\n";
    }
  }
  text += "}\n\nextern \"C\" int grade_select_variant(const char* name) {\n";
  for (size_t v = 0; v < derived.size(); ++v) {
    text += "  if (std::strcmp(name, \"" + derived[v].name + "\") == 0) {\n";
    for (size_t i = 0; i < launchers.size(); ++i) {
      const std::string number = std::to_string(i);
      text += "    grade_slot_" + number + " = grade_target_" + number + "_" + std::to_string(v) +
              ";\n";
    }
    text += "    return 0;\n  }\n";
  }
  return text + "  return 1;\n}\n";
}

}  // namespace course
