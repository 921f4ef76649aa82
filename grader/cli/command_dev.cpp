// grade dev NAME: commands for people who write exercises.
#include <algorithm>
#include <chrono>

#include "cli/app.h"
#include "cli/commands.h"
#include "cli/dev/dev.h"
#include "cli/gates/gate.h"
#include "cli/gates/report.h"
#include "cli/progress_line.h"

namespace grade {
namespace {

struct DevCommand {
  const char* name;
  const char* usage;
  const char* summary;
  const char* details;  // what the options mean, as --help prints it
  int (*run)(App&, const DevArguments&);
  std::vector<std::string> flags, options;
  bool listed = true;
  size_t most_operands = 1;
};

const std::vector<DevCommand>& dev_commands() {
  static const std::vector<DevCommand> all = {
      {"new",
       "NN_topic/MM_name",
       "a small exercise that passes every gate, to rewrite",
       "",
       dev_new,
       {},
       {}},
      {"sync",
       "[EX | PAGE.md] [--check] [--force] [--no-figures]",
       "starters from solutions, figures into pages (--no-figures: no runs)",
       "  --check       writes nothing; fails where something would be written\n"
       "  --force       replaces starters that somebody has edited, too\n"
       "  --no-figures  no figure whose value or picture needs a run\n",
       dev_sync,
       {"--check", "--force", "--no-figures"},
       {}},
      {"check",
       "[EX | CHAPTER] [--files-only] [--no-reuse] [--device gpu]",
       "the nine gates; --files-only: what builds nothing",
       "  --files-only  the gates that build nothing\n"
       "  --no-reuse    runs again what an earlier check of the same programs has shown\n"
       "  --device gpu  runs on the GPU, the exercises that need one included\n",
       dev_check,
       {"--no-reuse", "--files-only"},
       {"--device"}},
      {"renumber",
       "OLD NEW",
       "another id for an exercise: files, pages, tests, .progress",
       "",
       dev_renumber,
       {},
       {},
       true,
       2},
      {"classes",
       "[EX | CHAPTER] [--class KEY] [--share N/M]",
       "wrong answers planted into solutions: does the kit refuse each by its class?",
       "  --class KEY  the answers of one class\n"
       "  --share N/M  every M-th exercise, from the N-th on (0 is the first)\n",
       dev_classes,
       {},
       {"--class", "--share"}},
      {"plant",
       "EX --test-object F --kernels-object F --out F --options F",
       "called by the build: the ways into a planted program, and its linker's options",
       "",
       dev_plant,
       {},
       {"--test-object", "--kernels-object", "--out", "--options"},
       false},
      {"site",
       "[--browser chromium]",
       "the pages as a site, checked",
       "  --browser NAME  reads every page in this browser, too\n",
       dev_site,
       {},
       {"--browser"}},
      {"derive",
       "EX --out FILE [--starter]",
       "called by the build: the derived texts of an exercise as one CUDA file",
       "  --starter  the starter alone\n",
       dev_derive,
       {"--starter"},
       {"--out"},
       false},
      {"dispatch",
       "EX --test-object F --kernels-object F --out FILE",
       "called by the build: the jumps into the derived texts",
       "",
       dev_dispatch,
       {},
       {"--test-object", "--kernels-object", "--out"},
       false},
  };
  return all;
}

std::string dev_help() {
  std::string text = "For people who write exercises (CONTRIBUTING.md):\n";
  for (const DevCommand& command : dev_commands()) {
    if (!command.listed) continue;
    text += std::string("  ./grade dev ") + command.name + " " + command.usage + "\n      " +
            command.summary + "\n";
  }
  return text;
}

std::string help_of(const DevCommand& command) {
  return std::string("./grade dev ") + command.name + " " + command.usage + "\n  " +
         command.summary + "\n" + (*command.details != '\0' ? "\n" : "") + command.details;
}

bool asks_for_help(const std::string& argument) { return argument == "--help" || argument == "-h"; }

bool contains(const std::vector<std::string>& list, const std::string& text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

DevArguments parse(const DevCommand& command, const std::vector<std::string>& rest) {
  DevArguments parsed;
  for (size_t i = 1; i < rest.size(); ++i) {
    if (contains(command.options, rest[i])) {
      if (i + 1 == rest.size()) throw UsageError(rest[i] + " needs a value.");
      parsed.options[rest[i]] = rest[i + 1];
      ++i;
    } else if (contains(command.flags, rest[i])) {
      parsed.options[rest[i]] = "";
    } else if (rest[i] == "--no-color") {
    } else if (rest[i].size() > 1 && rest[i][0] == '-') {
      throw UsageError("unknown option " + rest[i] + ". ./grade dev " + command.name + " " +
                       command.usage);
    } else {
      parsed.operands.push_back(rest[i]);
    }
  }
  if (parsed.operands.size() > command.most_operands) {
    throw UsageError("\"" + parsed.operands.back() + "\" is one argument too many.");
  }
  return parsed;
}

}  // namespace

std::vector<const course::Exercise*> chosen(App& app, const std::string& text) {
  std::vector<const course::Exercise*> of_chapter;
  for (const course::Exercise& exercise : app.course().exercises) {
    if (exercise.chapter == text || exercise.chapter.substr(0, exercise.chapter.find('_')) == text)
      of_chapter.push_back(&exercise);
  }
  return of_chapter.empty() ? std::vector{&app.named(text)} : of_chapter;
}

std::string DevArguments::need(const std::string& name) const {
  const auto found = options.find(name);
  if (found == options.end() || found->second.empty()) throw UsageError(name + " is missing.");
  return found->second;
}

int dev_check(App& app, const DevArguments& arguments) {
  const auto start = std::chrono::steady_clock::now();
  GateContext context;
  context.paths = &app.paths();
  context.course = &app.course();
  context.reuse = !arguments.has("--no-reuse");
  ProgressLine line(app.terminal());
  context.progress = [&](const std::string& text) {
    line.clear();
    print(text + "\n");
  };
  context.how_far = [&](const std::string& text) { line.show(text); };
  if (arguments.has("--device") && arguments.need("--device") == "gpu")
    context.device = Device::kGpu;
  for (const course::Exercise& exercise : app.course().exercises)
    context.exercises.push_back(&exercise);
  if (!arguments.operands.empty()) {
    context.exercises = chosen(app, arguments.operands.front());
    context.whole_course = false;
  }
  const std::vector<Item> items =
      arguments.has("--files-only") ? check_files(context) : check_all_gates(context);
  line.clear();
  print(gate_table(items, app.terminal()) + failures_text(items, app.terminal()));
  if (context.whole_course) print(slowest_text(items, 10));
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  print("in " + seconds_text(seconds) + ": " + last_line(items));
  return all_well(items) ? kPass : kFail;
}

int dev_command(App& app) {
  const std::vector<std::string>& rest = app.options().rest;
  if (rest.empty() || asks_for_help(rest[0])) {
    print(dev_help());
    return rest.empty() ? kUsage : kPass;
  }
  for (const DevCommand& command : dev_commands()) {
    if (rest[0] != command.name) continue;
    if (std::any_of(rest.begin() + 1, rest.end(), asks_for_help)) {
      print(help_of(command));
      return kPass;
    }
    return command.run(app, parse(command, rest));
  }
  throw UsageError("there is no command \"dev " + harmless(rest[0]) + "\".\n" + dev_help());
}

}  // namespace grade
