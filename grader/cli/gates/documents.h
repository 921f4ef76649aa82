// The words that pages avoid; the pages below docs/: where they are, and what their fenced blocks
// say of themselves.
//
// A fenced block of a page below docs/, and of the two that say how to start, is preceded by a
// comment that says what keeps it true:
//   <!-- from: SOURCE -->       it is made from SOURCE (figures.h)
//   <!-- saved as: FILE -->     a whole program that blocks below compile and run
//   <!-- run -->                "$ " begins a command, the rest is its output: a test runs it
//   <!-- not run: REASON -->    nothing checks it here, and why: "needs a GPU"
#ifndef WARPLINGS_CLI_GATES_DOCUMENTS_H_
#define WARPLINGS_CLI_GATES_DOCUMENTS_H_

#include <filesystem>
#include <string>
#include <vector>

namespace grade {

// Every docs/**/*.md, in the order of their names; none where there is no docs/.
std::vector<std::filesystem::path> document_pages(const std::filesystem::path& root);

struct FencedBlock {
  int line = 0;          // of the opening fence, from 1
  std::string language;  // after the fence: "cuda", "console"
  std::string mark;      // "run", "not run: needs a GPU", "from: file ..."; "" if none
  std::string body;      // ends with a line feed unless empty
};
std::vector<FencedBlock> fenced_blocks_of(const std::string& page);

// A command of a block that is run, and what it prints.
struct ShownCommand {
  std::string command;
  std::string output;
  int status = 0;  // "(exit status 99)" is its last line
};
std::vector<ShownCommand> commands_of(const FencedBlock& block);

// "FILE:LINE: what is wrong", one per word to avoid: for every page.
std::vector<std::string> prose_problems(const std::string& page, const std::string& name);

// For a page below docs/: the same, and one per block without a mark.
std::vector<std::string> document_problems(const std::string& page, const std::string& name);

}  // namespace grade
#endif  // WARPLINGS_CLI_GATES_DOCUMENTS_H_
