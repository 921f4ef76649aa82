#include "cli/commands.h"

#include <algorithm>

#include "cli/app.h"
#include "course/text.h"

namespace grade {
namespace {

constexpr char kOptions[] =
    "Options of every command:\n"
    "  --device auto|gpu|sim   where to grade (auto: the simulator, then the GPU)\n"
    "  --solution              grade the reference instead of your file\n"
    "  --jail                  for strangers' files: nothing of yours is in sight\n"
    "  --json                  results for programs: grader/cli/schema\n"
    "  --no-color              plain text (also NO_COLOR, and into a pipe)\n"
    "EX is any unique part of a name, such as saxpy. Without it: the current one.\n"
    "Exit status: 0 pass, 1 fail, 2 usage or set-up, 3 no verdict.\n";

constexpr char kRunOptions[] =
    "  --output                nothing is cut: whole messages, all that was printed\n"
    "  --problems              FILE:LINE: error: ..., one line each, as editors read it\n\n";

constexpr char kProfileOptions[] =
    "Also for programs: ./grade profile -- PROGRAM ...\n"
    "  --kernel NAME           only kernels with NAME in their name\n"
    "  --case NAME             only tests with NAME in their name\n"
    "  --advice                what cures the cause, too: it may be the next exercise\n"
    "  --model h200|rtx3070|t4 the card whose time is modelled\n\n";

constexpr char kTraceOptions[] =
    "The first launch that has the block. Also for programs: ./grade trace -- PROGRAM ...\n"
    "  --block X[,Y[,Z]]       which block (0)\n"
    "  --warp W                which of its warps (0)\n"
    "  --thread T              the warp of this thread, and only its values\n"
    "  --lines A:B             only these source lines\n"
    "  --case NAME             only tests with NAME in their name\n\n";

constexpr char kViewOptions[] =
    "Writes one HTML file and opens it where there is a browser. Also for programs:\n"
    "./grade view -- PROGRAM ...\n"
    "  --text                  in the terminal: block characters, then step by step,\n"
    "                          of the thread that failed or --block, --warp, --thread\n"
    "  --svg PICTURE           one picture, on stdout: lens:LINE, banks:LINE, map:LINE,\n"
    "                          shared:NAME, block, pipeline, time, bars:COUNTER,\n"
    "                          finding\n"
    "  --png PICTURE           the same as a PNG file (needs chromium)\n"
    "  --serve                 on 127.0.0.1, made again at every save\n"
    "  --chrome-trace FILE     the modelled timeline, for Perfetto\n"
    "  --kernel NAME           of the kernel with NAME in its name\n"
    "  --case NAME             only tests with NAME in their name\n"
    "  --model h200|rtx3070|t4 the card whose time is modelled\n\n";

constexpr char kExecOptions[] =
    "PROGRAM is a file.cu, which is compiled first, or what nvcc made with\n"
    "-cudart shared --no-compress -lineinfo. Its exit status is its own, or 99\n"
    "where something was found.\n"
    "  --check NAME,...        report only memcheck, initcheck, racecheck, synccheck,\n"
    "                          streamcheck, launch, api or leak\n"
    "  --suppress FILE         findings that are known: CHECK/KIND FILE:LINE KERNEL\n"
    "  --json FILE             one JSON object per finding, added to the file\n"
    "  --status N              this exit status instead of 99\n"
    "  --timeline FILE         the modelled timeline, for trace viewers\n"
    "  --ptx PATH              run PTX fixtures instead of a program\n\n";

}  // namespace

const std::vector<Command>& commands() {
  static const std::vector<Command> all = {
      {"run", "[EX]", "build and grade one exercise", Binary::kGrade, 1, false, true, kRunOptions},
      {"watch", "[EX]", "grade at every save", Binary::kGrade, 1},
      {"read", "[EX]", "the lesson of an exercise", Binary::kGrade, 1},
      {"predict", "[EX]", "what its lesson asks, before a run tells", Binary::kGrade, 1},
      {"list", "", "all exercises and their states; --predictions"},
      {"check-all", "", "grade every exercise that is not passed"},
      {"hint", "[EX]", "one step further at each call", Binary::kGrade, 1},
      {"reset", "EX [--yes]", "a fresh starter instead of your file", Binary::kGrade, 1},
      {"restore", "[EX [N]]", "copies of your files that were kept; one back", Binary::kGrade, 2},
      {"solution", "EX [--spoil]", "where the solution is, once you passed", Binary::kGrade, 1},
      {"compare", "[EX]", "after a pass: yours beside the reference", Binary::kMore, 1},
      {"sanitize", "[EX]", "memory, race, init and sync findings in full", Binary::kMore, 1},
      {"explain", "[KIND]", "what a finding means and how to mend it", Binary::kGrade, 1},
      {"bench", "[EX]", "times of yours, the solution and all baselines", Binary::kMore, 1},
      {"profile", "[EX]", "counters by source line, modelled time", Binary::kMore, 1, false, true,
       kProfileOptions},
      {"trace", "[EX]", "one warp step by step, with its values", Binary::kMore, 1, false, true,
       kTraceOptions},
      {"view", "[EX]", "a run as pictures: memory, block, time", Binary::kMore, 1, false, true,
       kViewOptions},
      {"exec", "PROGRAM ...", "any CUDA program or .cu file, checks on", Binary::kMore, 0, false,
       true, kExecOptions},
      {"class", "new|run|pack ...", "for teachers: assignments and many submissions", Binary::kMore,
       0, true},
      {"update", "", "a new version of the course; keeps your files", Binary::kMore},
      {"clean", "[PART]", "disk space; removes build, toolkit or data", Binary::kGrade, 1},
      {"doctor", "", "tools, devices, and a kernel that really runs", Binary::kMore},
      {"selftest", "[--all]", "tests of the course itself", Binary::kDev, 0, true},
      {"dev", "new|sync|check", "for people who write exercises", Binary::kDev, 0, true},
      {"help", "[COMMAND]", "this text", Binary::kGrade, 1, false, false},
  };
  return all;
}

const Command* find_command(const std::string& name) {
  for (const Command& command : commands()) {
    if (name == command.name) return &command;
  }
  return nullptr;
}

std::string unknown_command(const std::string& name) {
  constexpr size_t kFurthest = 3;  // edits
  std::string best;
  size_t distance = kFurthest;
  for (const Command& command : commands()) {
    const size_t edits = course::edit_distance(name, command.name);
    if (edits < distance) {
      distance = edits;
      best = command.name;
    }
  }
  std::string text = "there is no command \"" + harmless(name) + "\".";
  if (!best.empty()) text += " Did you mean ./grade " + best + "?";
  return text + " ./grade --help lists all.";
}

std::string help_text() {
  std::string text =
      "Warplings: learn CUDA by making kernels pass.\n\n"
      "  ./grade                         open the course: watch the current exercise\n";
  for (const Command& command : commands()) {
    if (!command.listed) continue;
    const std::string usage = std::string(command.name) + " " + command.arguments;
    text += "  ./grade " + pad(usage, 23) + " " + command.summary + "\n";
  }
  return text + "\n" + kOptions;
}

std::string help_of(const Command& command) {
  if (std::string("help") == command.name) return help_text();
  return std::string("./grade ") + command.name + " " + command.arguments + "\n  " +
         command.summary + "\n\n" + command.options + kOptions;
}

int help_command(App& app) {
  if (app.options().operands.empty()) {
    print(help_text());
    return kPass;
  }
  const Command* command = find_command(app.options().operands.front());
  if (command == nullptr) throw UsageError(unknown_command(app.options().operands.front()));
  print(help_of(*command));
  return kPass;
}

}  // namespace grade
