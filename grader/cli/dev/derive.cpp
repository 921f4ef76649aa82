// grade dev derive EX --out FILE [--starter], grade dev dispatch EX --test-object F
// --kernels-object F --out FILE, grade dev plant: what the build asks for. Files that would not
// change are not touched, so Ninja does not compile them again.
#include <algorithm>

#include "cli/dev/dev.h"
#include "cli/gates/gate.h"
#include "course/mutants.h"
#include "course/starter.h"
#include "course/text.h"

namespace grade {

namespace fs = std::filesystem;

namespace {

void write_if_changed(const fs::path& file, const std::string& text) {
  if (fs::exists(file) && course::read_text(file) == text) return;
  course::write_text(file, text);
}

// Mangled names of the functions that an object defines, or that it needs.
std::vector<std::string> symbols_of(const std::string& object, bool defined) {
  ChildOptions options;
  options.argv = {"nm", "-P", defined ? "--defined-only" : "-u", object};
  if (defined) options.argv.insert(options.argv.begin() + 2, "-g");
  options.own_seconds = 60;
  options.output_kept = 32 << 20;
  const ChildResult result = run_child(options);
  if (!result.ok()) {
    throw course::Error(object, 0,
                        "nm cannot read its symbols: " + result.error +
                            course::trim(result.err.text()) + ". nm is part of binutils.");
  }
  std::vector<std::string> symbols;
  for (const std::string& line : course::split_lines(result.out.text())) {
    symbols.push_back(line.substr(0, line.find(' ')));  // -P: "name type ..."
  }
  return symbols;
}

// Those of them that are code: nm says T or W.
std::vector<std::string> functions_of(const std::string& object) {
  ChildOptions options;
  options.argv = {"nm", "-P", "-g", "--defined-only", object};
  options.own_seconds = 60;
  options.output_kept = 32 << 20;
  std::vector<std::string> functions;
  for (const std::string& line : course::split_lines(run_child(options).out.text())) {
    const size_t space = line.find(' ');
    if (space != std::string::npos && line.compare(space, 2, " T") == 0) {
      functions.push_back(line.substr(0, space));
    }
  }
  return functions;
}

const course::Exercise& operand(App& app, const DevArguments& arguments) {
  if (arguments.operands.size() != 1) throw UsageError("name one exercise.");
  return app.named(arguments.operands.front());
}

}  // namespace

int dev_derive(App& app, const DevArguments& arguments) {
  const course::Exercise& exercise = operand(app, arguments);
  const fs::path out = arguments.need("--out");
  if (arguments.has("--starter")) {
    const fs::path solution = course::files_of(app.paths().root, exercise).solution;
    write_if_changed(out, course::starter_text(course::read_text(solution), solution.string()));
    return kPass;
  }
  std::vector<course::Derived> derived = course::derive(app.paths().root, exercise);
  for (course::Derived& one : derived) {
    if (one.what == course::Derived::What::kVariant) continue;
    // The files that #line names must exist: the compiler lists them as dependencies, and Ninja
    // takes a missing one for a change. They are also worth reading.
    const fs::path file = out.parent_path() / one.name / fs::path(one.file).filename();
    write_if_changed(file, one.text);
    one.file = file.string();
  }
  write_if_changed(out, course::combine(derived));
  return kPass;
}

int dev_dispatch(App& app, const DevArguments& arguments) {
  const course::Exercise& exercise = operand(app, arguments);
  const std::vector<course::Derived> derived = course::derive(app.paths().root, exercise);
  const auto launchers =
      course::match_launchers(symbols_of(arguments.need("--test-object"), false),
                              symbols_of(arguments.need("--kernels-object"), true), derived);
  if (launchers.empty()) {
    throw course::Error(exercise.id, 0, "its test calls nothing that its solution defines.");
  }
  write_if_changed(arguments.need("--out"), course::dispatch_source(launchers, derived));
  return kPass;
}

int dev_plant(App&, const DevArguments& arguments) {
  const std::vector<std::string> defined = functions_of(arguments.need("--kernels-object"));
  std::vector<std::string> functions;
  for (const std::string& symbol : symbols_of(arguments.need("--test-object"), false)) {
    if (std::find(defined.begin(), defined.end(), symbol) != defined.end()) {
      functions.push_back(symbol);
    }
  }
  write_if_changed(arguments.need("--out"), course::plant_source(functions));
  write_if_changed(arguments.need("--options"), course::plant_options(functions));
  return kPass;
}

}  // namespace grade
