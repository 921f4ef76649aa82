// Marks in the pages of the course that say where a piece of the page comes from.
//
//   <!-- from: SOURCE -->          before a fenced block: the block is what SOURCE gives
//   <!-- from: SOURCE -->1,536<!-- end -->   in a line: the text between is what SOURCE gives
//
// Sources:
//   region FILE TODO N             the lines of a region of a solution, without its markers
//   region FILE NAME               the definition of NAME, to its closing brace
//   file FILE                      the whole file
//   opcodes FILE                   the simulator's list of opcodes as a table, up to a line
//                                  <!-- end -->
//   speeds FILE CHAPTER            what a GPU gave for the solutions of a chapter, from a file of
//                                  assets/benchmarks, as a table, up to a line <!-- end -->
//   index concepts | calls | classes   the course by what it teaches, by the calls of its
//                                  solutions, by what the kit asks of it, as a table, up to a line
//                                  <!-- end -->
//   route NN/MM NN/* ...           these exercises with their minutes, as a table, likewise
//   counter EX TEST CASE KEY [/ KEY]   a counter of the solution's run, CASE in quotes ("" any);
//                                  with a second key: the ratio, one decimal
//   finding EX                     the checks that report something, "none" otherwise
//   result EX [TEST]               "passes" or "fails", the run or one test
//   modelled EX NAME               how many times the speed of NAME it has in the model
//     EX@starter, EX@mutant_2, EX@variant_NAME: of another program of the exercise
//   view EX PICTURE [TEST [KERNEL]]   before a link to a picture, whose file is what the run draws
//                                  (view_picture.h)
//   fading course                  how much of the code learners write, by chapter, as a table, up
//                                  to a line <!-- end -->
//   screen EX NAME                 what ./grade shows for NAME: solution, starter, mutant_1, ...
//   benchmark FILE KEY...          a value of assets/benchmarks/FILE, by its path of keys
//   ratio FILE EX NAME [N]         how many times the speed of NAME the solution of EX has there,
//                                  two decimals; of several comparisons with NAME the N-th
//   changed EX BEFORE MOST         lines of code of EX's solution that BEFORE's does not have; an
//                                  error if there are more than MOST
#ifndef WARPLINGS_CLI_GATES_FIGURES_H_
#define WARPLINGS_CLI_GATES_FIGURES_H_

#include <string>
#include <vector>

#include "cli/gates/gate.h"

namespace grade {

struct Mark {
  int line = 0;                     // of "<!-- from:"
  std::vector<std::string> source;  // words; quoted ones are whole
  size_t begin = 0, end = 0;        // of the marked text in the page
  bool is_block = false;
  // Taken from a file: nothing has to run.
  bool is_text() const { return source[0] == "region" || source[0] == "file" || is_table(); }
  bool is_table() const {
    return source[0] == "opcodes" || source[0] == "speeds" || source[0] == "table" ||
           source[0] == "fading" || is_way();
  }
  bool is_way() const { return source[0] == "index" || source[0] == "route"; }
  // A program has to run for it: a counter, a screen, a picture.
  bool needs_a_run() const {
    return !is_text() && source[0] != "benchmark" && source[0] != "ratio" && source[0] != "changed";
  }
};

// "counter EX ..." of a question in a lesson. Throws course::Error: an unknown source.
Mark mark_of(const std::string& source, int line, const std::string& file);

// Throws course::Error: a mark that nothing follows, an unknown source.
std::vector<Mark> find_marks(const std::string& page, const std::string& file);

// What a mark with is_text() names. Throws course::Error.
std::string source_text(const std::filesystem::path& root, const Mark& mark,
                        const std::string& file);

// The text of opcodes.def as a Markdown table.
std::string opcode_table(const std::string& list);

// What the source of `mark` gives now. Runs programs; throws course::Error.
std::string value_of(const GateContext& context, const Mark& mark, const std::string& file);

// Times of a screen differ from run to run: "1.8 s" counts as equal to "2.0 s".
std::string without_times(const std::string& text);

struct FilledPage {
  std::string text;
  std::vector<std::pair<std::filesystem::path, std::string>> pictures;  // files that differ
  std::vector<std::string> problems;
};
enum class Marks { kAll, kThatNeedNoRun };
FilledPage fill_figures(const GateContext& context, const std::filesystem::path& file,
                        const std::string& page, Marks which = Marks::kAll);

}  // namespace grade
#endif  // WARPLINGS_CLI_GATES_FIGURES_H_
