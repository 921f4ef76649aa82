// grade update: a new version of the course. A learner's edited files stay as they are.
#include <map>
#include <set>

#include "cli/app.h"
#include "cli/commands.h"
#include "cli/kept.h"
#include "cli/tool.h"
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
      complain(std::string("your files could not be put back; copies are in .kept: ") +
               error.what());
    }
  }

 private:
  const Git& git_;
  const Paths& paths_;
  std::map<std::string, std::string> texts_;
};

// Files of the learner's commits that the new version changes as well.
std::set<std::string> both_changed(const Git& git, const std::string& base, const std::string& own,
                                   const std::set<std::string>& changed) {
  std::set<std::string> both;
  for (const std::string& name : git.paths({"diff", "--name-only", base, own})) {
    if (changed.count(name) != 0) both.insert(name);
  }
  return both;
}

bool is_learners(const std::string& name) {
  return course::starts_with(name, "chapters/") &&
         (course::ends_with(name, ".cu") || course::ends_with(name, ".py"));
}

// Merges `after` into a clone with commits of its own. An exercise that both changed stays whole as
// the learner committed it: half of each would be neither. Anything else that both changed is for
// git, and where git cannot do it, nothing happens.
void merge(const Git& git, const std::string& after, const std::set<std::string>& both) {
  const ChildResult merged = git.run({"merge", "--no-commit", "--no-ff", "--quiet", after});
  try {
    for (const std::string& name : both) {
      if (!is_learners(name)) continue;
      git.must({"checkout", "HEAD", "--", name});
    }
    const std::set<std::string> open = git.paths({"diff", "--name-only", "--diff-filter=U"});
    if (!open.empty()) {
      throw UsageError(
          "your commits and the new version both change " + *open.begin() +
          (open.size() > 1 ? " and " + course::plural(open.size() - 1, "other file") : "") +
          ", which is no exercise. Nothing was changed. Merge by hand: git merge " +
          after.substr(0, 10));
    }
    if (!git.run({"rev-parse", "--quiet", "--verify", "MERGE_HEAD"}).ok()) {
      throw UsageError("git merge failed: " + harmless(course::trim(merged.err.text())) +
                       "\nNothing of yours was changed.");
    }
    git.must({"commit", "--quiet", "--no-edit"});
  } catch (const UsageError&) {
    git.run({"merge", "--abort"});
    throw;
  }
}

std::string report(const std::set<std::string>& changed, const std::set<std::string>& edited) {
  std::string text;
  for (const std::string& name : changed) {
    if (!is_learners(name)) continue;
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
  const bool own_commits = !git.run({"merge-base", "--is-ancestor", before, after}).ok();
  const std::string base = course::trim(git.must({"merge-base", before, after}));
  const std::set<std::string> changed = git.paths({"diff", "--name-only", base, after});
  // What is staged would stop a merge; the files themselves stay as they are.
  if (own_commits) git.must({"reset", "--quiet"});
  std::set<std::string> edited = git.paths({"diff", "--name-only", "HEAD"});
  std::set<std::string> both;
  for (const std::string& name : edited) {
    if (changed.count(name) != 0) both.insert(name);
  }
  {
    EditedFiles files(git, app.paths());
    files.set_aside(both);
    if (own_commits) {
      merge(git, after, both_changed(git, base, before, changed));
    } else {
      git.must({"merge", "--ff-only", "--quiet", after});
    }
    files.put_back();
  }
  if (own_commits) {
    for (const std::string& name : git.paths({"diff", "--name-only", base, before})) {
      edited.insert(name);
    }
  }
  print("The course is now at " + after.substr(0, 10) +
        (own_commits ? ", merged with your own commits (" : " (") +
        course::plural(changed.size(), "file") + " changed).\n" + report(changed, edited));
  return kPass;
}

}  // namespace grade
