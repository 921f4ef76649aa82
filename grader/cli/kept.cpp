#include "cli/kept.h"

#include <algorithm>

#include "course/text.h"

namespace grade {

namespace fs = std::filesystem;

namespace {

constexpr char kFolder[] = ".kept";

// Where copy `number` of a file of the course lies, from the root.
fs::path place_of(const fs::path& name, int number) {
  const std::string text = name.generic_string();
  constexpr std::string_view kChapters = "chapters/";
  const fs::path inside = text.starts_with(kChapters) ? text.substr(kChapters.size()) : text;
  fs::path place = fs::path(kFolder) / inside;
  return place.replace_extension(std::to_string(number) + name.extension().string());
}

}  // namespace

fs::path keep_copy(const Paths& paths, const fs::path& file) {
  const fs::path name = file.lexically_relative(paths.root);
  int number = 1;
  while (fs::exists(paths.root / place_of(name, number))) ++number;
  const fs::path copy = place_of(name, number);
  std::error_code error;
  fs::create_directories((paths.root / copy).parent_path(), error);
  course::write_text(paths.root / copy, course::read_text(file));
  return copy;
}

std::vector<KeptCopy> copies_of(const Paths& paths, const course::Exercise& exercise) {
  const fs::path name = course::files_of("", exercise).starter;
  std::vector<KeptCopy> copies;
  for (int number = 1; fs::exists(paths.root / place_of(name, number)); ++number) {
    copies.push_back({place_of(name, number), number});
  }
  std::reverse(copies.begin(), copies.end());
  return copies;
}

fs::path run_list_of(const Paths& paths, const course::Exercise& exercise) {
  return paths.root / kFolder / (exercise.id + ".runs");
}

}  // namespace grade
