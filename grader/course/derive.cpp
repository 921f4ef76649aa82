// Starter, ablations, mutants and variants: from the files of an exercise to one CUDA file.
#include <algorithm>
#include <set>

#include "course/mutants.h"
#include "course/starter.h"
#include "course/text.h"

namespace course {

namespace fs = std::filesystem;

namespace {

// The file's own name stays, for __FILE__ in kernels; the folder says which text it is.
std::string file_in_messages(const fs::path& solution, const std::string& name) {
  return (solution.parent_path() / name / solution.filename()).string();
}

std::vector<fs::path> variant_files(const fs::path& folder, const std::string& extension) {
  std::vector<fs::path> files;
  if (!fs::is_directory(folder)) return files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (starts_with(name, "variant_") && ends_with(name, extension)) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

bool is_directive(const std::string& line, std::string_view name, std::string* rest) {
  const std::string text = trim(line);
  if (text.empty() || text[0] != '#') return false;
  const std::string word = trim(std::string_view(text).substr(1));
  if (!starts_with(word, name)) return false;
  *rest = trim(std::string_view(word).substr(name.size()));
  return true;
}

class Combiner {
 public:
  std::string combine(const std::vector<Derived>& derived) {
    // The first one, the starter, sees what it includes itself and nothing else; those behind it
    // see what any of them includes.
    const Parts first = add(derived, 0, std::min<size_t>(1, derived.size()));
    const Parts others = add(derived, std::min<size_t>(1, derived.size()), derived.size());
    return "// Made by ./grade dev derive; do not edit.\n" + first.includes + first.bodies +
           others.includes + others.bodies;
  }

 private:
  struct Parts {
    std::string includes, bodies;
  };

  Parts add(const std::vector<Derived>& derived, size_t begin, size_t end) {
    Parts parts;
    for (size_t i = begin; i < end; ++i) add(derived[i], &parts);
    return parts;
  }

  void add(const Derived& one, Parts* parts) {
    std::set<std::string> macros;
    parts->bodies += "namespace " + one.name + " {\n#line 1 \"" + one.file + "\"\n";
    for (const std::string& line : split_lines(one.text)) {
      std::string rest;
      if (is_directive(line, "include", &rest)) {
        if (included_.insert(rest).second) parts->includes += "#include " + rest + "\n";
        parts->bodies += "\n";
        continue;
      }
      if (is_directive(line, "define", &rest))
        macros.insert(rest.substr(0, rest.find_first_of(" (\t")));
      parts->bodies += line + "\n";
    }
    parts->bodies += "}  // namespace " + one.name + "\n";
    for (const std::string& macro : macros) parts->bodies += "#undef " + macro + "\n";
  }

  std::set<std::string> included_;
};

}  // namespace

std::vector<Derived> derive(const fs::path& root, const Exercise& exercise) {
  const ExerciseFiles files = files_of(root, exercise);
  const MarkedSource source = parse_marked(read_text(files.solution), files.solution.string());
  std::vector<Derived> all;
  const auto add = [&](Derived::What what, const std::string& name, const std::string& title,
                       const std::string& text) -> Derived& {
    Derived& one = all.emplace_back();
    one.what = what;
    one.name = name;
    one.title = title;
    one.text = text;
    one.file = file_in_messages(files.solution, name);
    return one;
  };
  if (exercise.extension() == ".cu") {  // a starter in Python is a file of its own
    add(Derived::What::kStarter, "starter", "the starter", starter_text(source));
  }
  for (int todo = 1; todo <= source.todos; ++todo) {
    const std::string number = std::to_string(todo);
    add(Derived::What::kAblation, "ablation_" + number, "TODO " + number + " reverted",
        ablation_text(source, todo))
        .todo = todo;
  }
  const fs::path mutants_file = files.gates / "mutants.txt";
  if (fs::exists(mutants_file)) {
    const std::string solution = solution_text(source);
    int number = 0;
    for (const Mutant& mutant : parse_mutants(read_text(mutants_file), mutants_file.string())) {
      add(Derived::What::kMutant, "mutant_" + std::to_string(++number), mutant.sentence,
          mutate(solution, mutant, mutants_file.string()))
          .mutant = mutant;
    }
  }
  for (const fs::path& file : variant_files(files.gates, exercise.extension())) {
    add(Derived::What::kVariant, file.stem().string(), file.filename().string(), read_text(file))
        .file = file.string();
  }
  return all;
}

std::string combine(const std::vector<Derived>& derived) { return Combiner().combine(derived); }

}  // namespace course
