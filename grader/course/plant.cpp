// The ways into the functions of a planted program.
#include "course/mutants.h"

namespace course {

std::string plant_source(const std::vector<std::string>& functions) {
  std::string text =
      "// Made by ./grade dev plant; do not edit.\n"
      "#if !defined(__x86_64__)\n"
      "#error \"planted answers are made on x86-64\"\n"
      "#endif\n\n"
      "#define ENTRY(symbol, number) \\\n"
      "  asm(\".pushsection .text\\n.globl __wrap_\" symbol \"\\n.type __wrap_\" symbol \\\n"
      "      \",@function\\n__wrap_\" symbol \":\\npushq $\" number \"\\n\" \\\n"
      "      \"jmp grade_plant_entry\\n.size __wrap_\" symbol \",.-__wrap_\" symbol \\\n"
      "      \"\\n.popsection\\n\")\n\n";
  std::string targets;
  for (size_t i = 0; i < functions.size(); ++i) {
    const std::string number = std::to_string(i);
    text += "ENTRY(\"" + functions[i] + "\", \"" + number + "\");\n";
    text +=
        "extern \"C\" void grade_planted_" + number + "() asm(\"__real_" + functions[i] + "\");\n";
    targets += "    grade_planted_" + number + ",\n";
  }
  return text + "\nextern \"C\" {\nextern void (*const grade_planted_targets[])();\n" +
         "void (*const grade_planted_targets[])() = {\n" + targets + "    nullptr};\n}\n";
}

std::string plant_options(const std::vector<std::string>& functions) {
  std::string text;
  for (const std::string& function : functions) text += "-Wl,--wrap=" + function + "\n";
  return text;
}

}  // namespace course
