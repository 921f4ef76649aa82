// grade update: a new version of the course. A learner's edited files stay as they are.
#include <map>
#include <set>

#include "cli/app.h"
#include "cli/commands.h"
#include "cli/tool.h"
#include "cli/views.h"
#include "course/text.h"

namespace grade {

namespace fs = std::filesystem;

namespace {

constexpr double kNetworkSeconds = 300;

class Git {
 public:
  explicit Git(fs::path root) : root_(std::move(root)) {}

  ChildResult run(std::vector<std::string> arguments, double seconds = 60) const {
    arguments.insert(arguments.begin(), "git");
    return ask(arguments, root_, seconds);
  }

  // Throws UsageError with git's own words.
  std::string must(const std::vector<std::string>& arguments, double seconds = 60) const {
    const ChildResult result = run(arguments, seconds);
    if (result.ok()) return result.out.text();
    std::string words = course::trim(result.err.text());
    if (words.empty()) words = result.error;
    throw UsageError("git " + course::join(arguments, " ") + " failed: " + harmless(words) +
                     "\nNothing of yours was changed.");
  }

  std::set<std::string> paths(const std::vector<std::string>& arguments) const {
    std::set<std::string> names;
    for (const std::string& name : course::split_lines(must(arguments))) names.insert(name);
    return names;
  }

 private:
  fs::path root_;
};

void require_branch(const Git& git, const fs::path& root) {
  // Of a clone that another user made, or a damaged one, git itself says what is the matter.
  if (fs::exists(root / ".git")) git.must({"rev-parse", "--git-dir"});
  if (!git.run({"rev-parse", "--git-dir"}).ok()) {
    throw UsageError(
        "this copy of the course is not a git clone, so there is nothing to pull. Clone it, and "
        "copy your chapters folder and .progress over.");
  }
  if (!git.run({"rev-parse", "--abbrev-ref", "@{upstream}"}).ok()) {
    throw UsageError(
        "this branch follows no remote one. Set it once: git branch --set-upstream-to=origin/main");
  }
}

// Edited files that the new version changes as well: put aside, then put back.
class EditedFiles {
 public:
  EditedFiles(const Git& git, const Paths& paths) : git_(git), paths_(paths) {}

  void set_aside(const std::set<std::string>& names) {
    for (const std::string& name : names) {
      const fs::path file = paths_.root / name;
      if (!fs::exists(file)) continue;  // deleted by the learner: the new version brings it back
      texts_[name] = course::read_text(file);
      keep_copy(paths_, file);  // should this process die in between
    }
    if (names.empty()) return;
    std::vector<std::string> arguments = {"checkout", "HEAD", "--"};
    arguments.insert(arguments.end(), names.begin(), names.end());
    git_.must(arguments);
  }

  void put_back() {
    for (const auto& [name, text] : texts_) {
      std::error_code error;
      fs::create_directories((paths_.root / name).parent_path(), error);
      course::write_text(paths_.root / name, text);
    }
    texts_.clear();
  }

  ~EditedFiles() {
    try {
      put_back();
    } catch (const std::exception& error) {
      complain(std::string("your files could not be put back; they are in build/kept: ") +
               error.what());
    }
  }

 private:
  const Git& git_;
  const Paths& paths_;
  std::map<std::string, std::string> texts_;
};

std::string report(const std::set<std::string>& changed, const std::set<std::string>& edited) {
  std::string text;
  for (const std::string& name : changed) {
    const bool starter = course::starts_with(name, "chapters/") &&
                         (course::ends_with(name, ".cu") || course::ends_with(name, ".py"));
    if (!starter) continue;
    text += "  " + name + "\n";
    if (edited.count(name) == 0) continue;
    const std::string id = name.substr(9, name.rfind('.') - 9);
    text += "    yours is kept; ./grade reset " + id + "\n    takes the new one\n";
  }
  return text.empty() ? "No starter changed.\n" : "Starters that changed:\n" + text;
}

}  // namespace

int update_command(App& app) {
  const Git git(app.paths().root);
  require_branch(git, app.paths().root);
  print("Asking for a new version ...\n");
  git.must({"fetch", "--quiet"}, kNetworkSeconds);
  const std::string before = course::trim(git.must({"rev-parse", "HEAD"}));
  const std::string after = course::trim(git.must({"rev-parse", "@{upstream}"}));
  if (git.run({"merge-base", "--is-ancestor", after, before}).ok()) {
    print("The course is up to date.\n");
    return kPass;
  }
  if (!git.run({"merge-base", "--is-ancestor", before, after}).ok()) {
    throw UsageError(
        "this clone has commits of its own, so it cannot be moved forward. Merge by "
        "hand: git pull --rebase");
  }
  const std::set<std::string> edited = git.paths({"diff", "--name-only", "HEAD"});
  const std::set<std::string> changed = git.paths({"diff", "--name-only", before, after});
  std::set<std::string> both;
  for (const std::string& name : edited) {
    if (changed.count(name) != 0) both.insert(name);
  }
  {
    EditedFiles files(git, app.paths());
    files.set_aside(both);
    git.must({"merge", "--ff-only", "--quiet", after});
    files.put_back();
  }
  print("The course is now at " + after.substr(0, 10) + " (" +
        course::plural(changed.size(), "file") + " changed).\n" + report(changed, edited));
  return kPass;
}

}  // namespace grade
