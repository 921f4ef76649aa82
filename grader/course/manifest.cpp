#include "course/manifest.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "course/json.h"
#include "course/text.h"

namespace course {
namespace {

// Reads the members of one object through a table, so that the list of known keys exists once.
class ObjectReader {
 public:
  ObjectReader(const Json& object, const std::string& file, const std::string& what)
      : object_(object), file_(file), what_(what) {
    if (!object.is_object()) fail(object.line, what + " must be an object in braces");
  }

  void text(const char* key, std::string* out, bool required) {
    field(key, required, [=, this](const Json& value) {
      if (!value.is_string() || (required && trim(value.text).empty())) {
        fail(value.line, quoted(key) + " must be a text that is not empty");
      }
      *out = value.text;
    });
  }
  void integer(const char* key, int* out, int least, int most, bool required) {
    field(key, required, [=, this](const Json& value) {
      if (!value.is_number() || !value.is_integer || value.number < least || value.number > most) {
        fail(value.line, quoted(key) + " must be a whole number from " + std::to_string(least) +
                             " to " + std::to_string(most));
      }
      *out = static_cast<int>(value.number);
    });
  }
  // 80, or "90a" for what only cards of compute capability 9.0 can do.
  void architecture(const char* key, int* arch, bool* only) {
    const Json* value = object_.find(key);
    if (value == nullptr || !value->is_string()) return integer(key, arch, 75, 200, false);
    known_.push_back(key);
    const std::string digits = value->text.substr(0, value->text.size() - 1);
    if (value->text.size() < 3 || value->text.size() > 4 || value->text.back() != 'a' ||
        digits.find_first_not_of("0123456789") != std::string::npos) {
      fail(value->line, quoted(key) + " must be a number like 80, or a text like \"90a\"");
    }
    *arch = std::stoi(digits);
    *only = true;
  }
  void flag(const char* key, bool* out) {
    field(key, false, [=, this](const Json& value) {
      if (!value.is_bool()) fail(value.line, quoted(key) + " must be true or false");
      *out = value.boolean;
    });
  }
  void texts(const char* key, std::vector<std::string>* out) {
    field(key, false, [=, this](const Json& value) {
      if (!value.is_array()) fail(value.line, quoted(key) + " must be a list of texts");
      for (const Json& item : value.items) {
        if (!item.is_string() || item.text.empty()) {
          fail(item.line, quoted(key) + " must hold only texts that are not empty");
        }
        out->push_back(item.text);
      }
    });
  }
  // `set` receives the index in `choices`.
  void choice(const char* key, const std::vector<std::string>& choices, bool required,
              const std::function<void(size_t)>& set) {
    field(key, required, [=, this](const Json& value) {
      const auto at = std::find(choices.begin(), choices.end(), value.text);
      if (!value.is_string() || at == choices.end()) {
        fail(value.line, quoted(key) + " must be one of " + join(choices, ", "));
      }
      set(static_cast<size_t>(at - choices.begin()));
    });
  }
  // {"CLASS": "reason", "CLASS Suite.Test": "reason"}
  void not_asked(const char* key, std::vector<NotAsked>* out) {
    field(key, false, [=, this](const Json& value) {
      if (!value.is_object()) {
        fail(value.line, quoted(key) +
                             " must be an object: a class, or a class and a test, with "
                             "the reason in words");
      }
      for (const JsonMember& member : value.members) out->push_back(read_not_asked(member));
    });
  }
  void field(const char* key, bool required, std::function<void(const Json&)> read) {
    known_.push_back(key);
    const Json* value = object_.find(key);
    if (value != nullptr) {
      read(*value);
    } else if (required) {
      fail(object_.line, what_ + " has no " + quoted(key) + "; add it");
    }
  }
  // Call last.
  void reject_unknown() const {
    for (const JsonMember& member : object_.members) {
      if (std::find(known_.begin(), known_.end(), member.key) == known_.end()) {
        fail(member.line, "unknown key " + quoted(member.key) + " in " + what_ +
                              "; the known keys are " + join(known_, ", "));
      }
    }
  }
  [[noreturn]] void fail(int line, const std::string& message) const {
    throw Error(file_, line, message + ".");
  }

 private:
  static std::string quoted(const std::string& key) { return "\"" + key + "\""; }

  NotAsked read_not_asked(const JsonMember& member) const {
    constexpr size_t kShortest = 20;  // letters; a reason is a sentence
    NotAsked one;
    const size_t space = member.key.find(' ');
    one.key = member.key.substr(0, space);
    if (space != std::string::npos) one.test = member.key.substr(space + 1);
    std::vector<std::string> known;
    for (const AnswerClass& answer_class : answer_classes()) known.push_back(answer_class.key);
    if (std::find(known.begin(), known.end(), one.key) == known.end()) {
      fail(member.line,
           "there is no class " + quoted(one.key) + "; the classes are " + join(known, ", "));
    }
    if (space != std::string::npos &&
        (one.test.find('.') == std::string::npos || one.test.find(' ') != std::string::npos)) {
      fail(member.line, quoted(member.key) + " must be a class, or a class and a test: \"" +
                            one.key + " Suite.Name\"");
    }
    if (!member.value.is_string() || trim(member.value.text).size() < kShortest) {
      fail(member.line, quoted(member.key) +
                            " needs a reason: a sentence that says why this is "
                            "not asked");
    }
    one.reason = trim(member.value.text);
    return one;
  }
  const Json& object_;
  const std::string& file_;
  std::string what_;
  std::vector<std::string> known_;
};

// "02_vector_add": two digits, then snake_case.
bool is_numbered_name(const std::string& name) {
  if (name.size() < 4 || !std::isdigit(static_cast<unsigned char>(name[0])) ||
      !std::isdigit(static_cast<unsigned char>(name[1])) || name[2] != '_') {
    return false;
  }
  return std::all_of(name.begin() + 3, name.end(), [](unsigned char c) {
    return std::islower(c) || std::isdigit(c) || c == '_';
  });
}

Chapter read_chapter(const Json& json, const std::string& file) {
  Chapter chapter;
  chapter.line = json.line;
  ObjectReader reader(json, file, "a chapter");
  reader.text("id", &chapter.id, true);
  reader.text("title", &chapter.title, true);
  reader.flag("lessons", &chapter.lessons);
  reader.reject_unknown();
  if (!is_numbered_name(chapter.id)) {
    reader.fail(json.find("id")->line, "chapter id \"" + chapter.id +
                                           "\" must be two digits, '_' and a name in lower case");
  }
  return chapter;
}

Exercise read_exercise(const Json& json, const std::string& file) {
  Exercise e;
  e.line = json.line;
  // The id makes the other messages of this object readable.
  const std::string id = json.string_or("id");
  ObjectReader reader(json, file, id.empty() ? "an exercise" : "exercise " + id);
  reader.text("id", &e.id, true);
  reader.text("title", &e.title, true);
  reader.integer("minutes", &e.minutes, 1, 600, true);
  reader.choice("kind", {"kernel", "fix", "answer", "host", "python"}, true,
                [&e](size_t i) { e.kind = static_cast<Kind>(i); });
  reader.integer("todos", &e.todos, 1, 20, true);
  reader.texts("teaches", &e.teaches);
  reader.texts("needs", &e.needs);
  reader.flag("speed", &e.speed);
  reader.flag("bonus", &e.bonus);
  reader.flag("capstone", &e.capstone);
  reader.choice("device", {"any", "gpu"}, false, [&e](size_t i) { e.gpu_only = i == 1; });
  reader.integer("gpus", &e.gpus, 0, 64, false);
  e.simulated_gpus = e.gpus;
  reader.integer("simulated_gpus", &e.simulated_gpus, 1, 16, false);
  reader.architecture("arch", &e.arch, &e.only_arch);
  reader.texts("flags", &e.flags);
  reader.texts("libraries", &e.libraries);
  reader.choice("judge", {"both", "simulator"}, false,
                [&e](size_t i) { e.judged_by_simulator_only = i == 1; });
  reader.texts("links", &e.links);
  reader.texts("baselines", &e.baselines);
  reader.texts("python", &e.python);
  reader.not_asked("not_asked", &e.not_asked);
  reader.reject_unknown();
  if (!e.python.empty() && e.kind != Kind::kPython) {
    reader.fail(json.find("python")->line,
                "\"python\" names modules of a Python exercise; "
                "\"kind\" says this is none");
  }
  const size_t slash = e.id.find('/');
  if (slash != std::string::npos) {
    e.chapter = e.id.substr(0, slash);
    e.name = e.id.substr(slash + 1);
  }
  if (!is_numbered_name(e.chapter) || !is_numbered_name(e.name)) {
    reader.fail(json.find("id")->line, "exercise id \"" + e.id +
                                           "\" must read NN_topic/MM_name: two digits, '_' and a "
                                           "name in lower case on both sides");
  }
  return e;
}

// NVIDIA's libraries that the kit can time (grader/kit/libraries).
bool is_library_baseline(const std::string& entry) {
  static const std::set<std::string> kLibraries = {"cub", "cublas", "cudnn", "cufft", "nccl"};
  return kLibraries.count(entry) > 0;
}

void check_exercises(const Course& course, const std::string& file) {
  std::map<std::string, int> seen;
  std::set<std::string> chapters;
  for (const Chapter& chapter : course.chapters) {
    if (!chapters.insert(chapter.id).second) {
      throw Error(file, chapter.line, "chapter " + chapter.id + " is listed twice.");
    }
  }
  for (const Exercise& e : course.exercises) {
    const auto [at, is_new] = seen.emplace(e.id, e.line);
    if (!is_new) {
      throw Error(file, e.line,
                  "exercise id " + e.id + " is used twice (first at line " +
                      std::to_string(at->second) + "); ids are unique.");
    }
    if (chapters.count(e.chapter) == 0) {
      throw Error(file, e.line,
                  "exercise " + e.id + " belongs to chapter " + e.chapter +
                      ", which \"chapters\" does not list.");
    }
    for (const auto* earlier : {&e.links, &e.baselines}) {
      for (const std::string& id : *earlier) {
        if (earlier == &e.baselines && is_library_baseline(id)) continue;
        if (id == e.id || seen.count(id) == 0) {
          throw Error(file, e.line,
                      "exercise " + e.id + " uses " + id +
                          ", which is not an earlier exercise of this file.");
        }
      }
    }
  }
}

}  // namespace

std::string Exercise::number() const { return chapter.substr(0, 2) + "/" + name.substr(0, 2); }

std::string Exercise::target() const { return chapter + "." + name; }

std::string Exercise::extension() const { return kind == Kind::kPython ? ".py" : ".cu"; }

const NotAsked* Exercise::exempt(const std::string& key) const {
  for (const NotAsked& one : not_asked) {
    if (one.key == key && one.test.empty()) return &one;
  }
  return nullptr;
}

const Exercise* Course::find(const std::string& id) const {
  for (const Exercise& e : exercises) {
    if (e.id == id) return &e;
  }
  return nullptr;
}

std::vector<const Exercise*> Course::match(const std::string& text) const {
  if (const Exercise* exact = find(text)) return {exact};
  std::vector<const Exercise*> prefix;
  std::vector<const Exercise*> inside;
  for (const Exercise& e : exercises) {
    const size_t at = e.id.find(text);
    // "02/04" is short for 02_vector_add/04_saxpy.
    const size_t slash = text.find('/');
    const bool parts = slash != std::string::npos &&
                       e.chapter.rfind(text.substr(0, slash), 0) == 0 &&
                       e.name.rfind(text.substr(slash + 1), 0) == 0;
    if (at == 0 || parts) prefix.push_back(&e);
    if (at != std::string::npos) inside.push_back(&e);
  }
  return prefix.empty() ? inside : prefix;
}

std::vector<std::string> Course::near(const std::string& text, size_t most) const {
  std::vector<std::pair<size_t, std::string>> ranked;
  for (const Exercise& e : exercises) {
    // People type the whole id, the name, or the name without its number.
    const size_t distance = std::min({edit_distance(text, e.id), edit_distance(text, e.name),
                                      edit_distance(text, std::string_view(e.name).substr(3)) + 1});
    ranked.emplace_back(distance, e.id);
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> ids;
  for (const auto& [distance, id] : ranked) {
    if (ids.size() < most && 2 * distance <= text.size() + 2) ids.push_back(id);
  }
  return ids;
}

Course parse_course(const std::string& text, const std::string& file) {
  const Json json = parse_json(text, file);
  Course course;
  int format = 0;
  ObjectReader reader(json, file, "the course");
  reader.integer("format", &format, 1, 1, true);
  reader.text("title", &course.title, true);
  const auto list = [&](const char* key, const std::function<void(const Json&)>& add) {
    reader.field(key, true, [&, key](const Json& value) {
      if (!value.is_array()) reader.fail(value.line, std::string("\"") + key + "\" must be a list");
      for (const Json& item : value.items) add(item);
    });
  };
  list("chapters", [&](const Json& j) { course.chapters.push_back(read_chapter(j, file)); });
  list("exercises", [&](const Json& j) { course.exercises.push_back(read_exercise(j, file)); });
  reader.reject_unknown();
  if (course.exercises.empty()) {
    throw Error(file, json.find("exercises")->line, "the course has no exercises.");
  }
  check_exercises(course, file);
  return course;
}

Course load_course(const std::filesystem::path& root) {
  const std::filesystem::path file = root / "chapters" / "course.json";
  Course course = parse_course(read_text(file), file.string());
  course.root = root;
  return course;
}

}  // namespace course
