#include "cli/gates/giveaway.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <functional>
#include <set>

#include "cli/gates/documents.h"
#include "course/starter.h"
#include "course/text.h"

namespace grade {

namespace fs = std::filesystem;

namespace {

constexpr size_t kPiece = 8;        // tokens: a shorter piece is an idiom of the language
constexpr size_t kExemptLines = 2;  // an answer that is no longer cannot be written about otherwise
constexpr double kPageLimit = 0.5, kHintLimit = 0.75;

bool is_word_char(unsigned char c) { return std::isalnum(c) || c == '_'; }

bool stays(const std::string& word) {
  static const std::set<std::string> kKept = {
      "threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize", "dim3",   "float4",
      "for",       "while",    "if",       "else",    "return",   "do",     "break",
      "continue",  "const",    "int",      "float",   "double",   "bool",   "unsigned",
      "void",      "size_t",   "char",     "short",   "long",     "auto",   "template",
      "constexpr", "struct",   "sizeof",   "extern",  "pragma",   "unroll", "define",
      "def",       "in",       "range",    "import",  "lambda",   "not",    "and"};
  return kKept.count(word) != 0 || course::starts_with(word, "__") ||
         course::starts_with(word, "cuda") || course::starts_with(word, "atomic") ||
         course::starts_with(word, "reinterpret_cast") || course::starts_with(word, "static_cast");
}

struct Answer {
  Answer(std::string its_name, const std::string& code)
      : name(std::move(its_name)), tokens(tokens_of(code)), pieces(pieces_of(tokens)) {}

  std::string name;  // "03_memory_model/05_transpose_tile, TODO 2"
  std::vector<std::string> tokens;
  std::vector<size_t> pieces;
};

struct Block {
  Block(std::string place, const std::string& code, double most = kPageLimit)
      : where(std::move(place)), tokens(tokens_of(code)), limit(most) {
    for (const size_t piece : pieces_of(tokens)) pieces.insert(piece);
  }

  std::string where;  // "FILE:LINE"
  std::vector<std::string> tokens;
  std::unordered_set<size_t> pieces;
  double limit;
};

std::vector<Answer> answers_of(const GateContext& context, const course::Chapter& chapter) {
  std::vector<Answer> answers;
  for (const course::Exercise& exercise : context.course->exercises) {
    if (exercise.chapter != chapter.id) continue;
    const fs::path file = course::files_of(context.paths->root, exercise).solution;
    const course::MarkedSource source =
        course::parse_marked(course::read_text(file), file.string());
    for (int todo = 1; todo <= source.todos; ++todo) {
      std::string code;
      size_t lines = 0;
      for (const course::MarkedLine& line : source.lines) {
        if (line.part != course::Part::kSolutionOnly || line.todo != todo) continue;
        code += line.text + "\n";
        lines += tokens_of(line.text).empty() ? 0 : 1;
      }
      if (lines <= kExemptLines) continue;
      answers.emplace_back(exercise.id + ", TODO " + std::to_string(todo), code);
    }
  }
  return answers;
}

void add_page(const GateContext& context, const fs::path& page, double limit,
              std::vector<Block>* blocks) {
  if (!fs::exists(page)) return;
  for (const FencedBlock& block : fenced_blocks_of(course::read_text(page))) {
    if (block.language == "console") continue;
    blocks->emplace_back(shown(context, page) + ":" + std::to_string(block.line), block.body,
                         limit);
  }
}

// Comments of the starter, with the code that they quote.
void add_comments(const GateContext& context, const fs::path& solution,
                  std::vector<Block>* blocks) {
  const course::MarkedSource source =
      course::parse_marked(course::read_text(solution), solution.string());
  std::string comment;
  int begin = 0, number = 0;
  const auto finish = [&] {
    if (comment.empty()) return;
    blocks->emplace_back(shown(context, solution) + ":" + std::to_string(begin), comment);
    comment.clear();
  };
  for (const course::MarkedLine& line : source.lines) {
    ++number;
    const std::string text = course::trim(line.text);
    const bool is_comment = course::starts_with(text, "//") || course::starts_with(text, "# ");
    if (line.part != course::Part::kStarterOnly || !is_comment) {
      finish();
      continue;
    }
    if (comment.empty()) begin = number;
    comment += text.substr(2) + "\n";
  }
  finish();
}

}  // namespace

std::vector<std::string> tokens_of(const std::string& code) {
  std::vector<std::string> tokens;
  for (const std::string& line : course::split_lines(code)) {
    for (size_t at = 0; at < line.size();) {
      const unsigned char c = static_cast<unsigned char>(line[at]);
      size_t end = at + 1;
      if (std::isspace(c)) {
      } else if (line.compare(at, 2, "//") == 0) {
        end = line.size();
      } else if (c == '"' || c == '\'') {
        end = std::min(line.find(line[at], at + 1), line.size() - 1) + 1;
        tokens.push_back("0");
      } else if (std::isdigit(c)) {
        while (end < line.size() &&
               (is_word_char(static_cast<unsigned char>(line[end])) || line[end] == '.')) {
          ++end;
        }
        tokens.push_back("0");
      } else if (is_word_char(c)) {
        while (end < line.size() && is_word_char(static_cast<unsigned char>(line[end]))) ++end;
        const std::string word = line.substr(at, end - at);
        tokens.push_back(stays(word) ? word : "x");
      } else {
        tokens.push_back(std::string(1, line[at]));
      }
      at = end;
    }
  }
  return tokens;
}

double share_given(const std::vector<std::string>& answer, const std::vector<std::string>& block) {
  std::vector<bool> in_answer(answer.size()), in_block(block.size());
  size_t covered = 0;
  if (answer.empty()) return 0;
  for (;;) {  // the longest common piece first, none of its tokens twice
    size_t longest = 0, a_begin = 0, b_begin = 0;
    std::vector<size_t> above(block.size() + 1), here(block.size() + 1);
    for (size_t a = 0; a < answer.size(); ++a) {
      for (size_t b = 0; b < block.size(); ++b) {
        const bool same = !in_answer[a] && !in_block[b] && answer[a] == block[b];
        here[b + 1] = same ? above[b] + 1 : 0;
        if (here[b + 1] <= longest) continue;
        longest = here[b + 1];
        a_begin = a + 1 - longest;
        b_begin = b + 1 - longest;
      }
      std::swap(above, here);
    }
    if (longest < std::min(kPiece, answer.size())) break;
    covered += longest;
    for (size_t i = 0; i < longest; ++i) in_answer[a_begin + i] = in_block[b_begin + i] = true;
  }
  return static_cast<double>(covered) / static_cast<double>(answer.size());
}

std::vector<size_t> pieces_of(const std::vector<std::string>& tokens) {
  std::vector<size_t> pieces;
  for (size_t begin = 0; begin + kPiece <= tokens.size(); ++begin) {
    std::string piece;
    for (size_t i = begin; i < begin + kPiece; ++i) piece += tokens[i] + ' ';
    pieces.push_back(std::hash<std::string>()(piece));
  }
  return pieces;
}

double most_given(const std::vector<size_t>& answer, const std::unordered_set<size_t>& block) {
  if (answer.empty()) return 1;
  size_t covered = 0, counted = 0;  // tokens; those that are counted lie in front of `counted`
  for (size_t begin = 0; begin < answer.size(); ++begin) {
    if (block.count(answer[begin]) == 0) continue;
    covered += begin + kPiece - std::max(counted, begin);
    counted = begin + kPiece;
  }
  return static_cast<double>(covered) / static_cast<double>(answer.size() + kPiece - 1);
}

std::vector<std::string> giveaways(const GateContext& context, const course::Chapter& chapter) {
  std::vector<Block> blocks;
  add_page(context, context.paths->root / "chapters" / chapter.id / "README.md", kPageLimit,
           &blocks);
  for (const course::Exercise& exercise : context.course->exercises) {
    if (exercise.chapter != chapter.id) continue;
    const course::ExerciseFiles files = course::files_of(context.paths->root, exercise);
    add_page(context, files.lesson, kPageLimit, &blocks);
    add_page(context, files.hints, kHintLimit, &blocks);
    add_comments(context, files.solution, &blocks);
  }
  std::vector<std::string> problems;
  for (const Answer& answer : answers_of(context, chapter)) {
    for (const Block& block : blocks) {
      if (most_given(answer.pieces, block.pieces) <= block.limit) continue;
      const double share = share_given(answer.tokens, block.tokens);
      if (share <= block.limit) continue;
      problems.push_back(block.where + " holds " + std::to_string(std::lround(100 * share)) +
                         " % of the answer to " + answer.name + "; at most " +
                         std::to_string(std::lround(100 * block.limit)) +
                         ". Show the idea on another problem.");
    }
  }
  return problems;
}

}  // namespace grade
