#include "kit/libraries/script.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "kit/context.h"

namespace kit {

namespace fs = std::filesystem;

namespace {

// The folder of a source file of this program. The compiler names it as it was called: from the
// build folder, in whose subfolders (bin, course) the programs lie.
fs::path folder_of(const char* source) {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  return (program.parent_path().parent_path() / source).lexically_normal().parent_path();
}

std::string python_of(const fs::path& chapter) {
  if (const char* named = std::getenv("GRADE_PYTHON")) return named;
  const fs::path own =
      chapter.parent_path().parent_path() / ".toolkit" / "python" / "bin" / "python3";
  std::error_code error;
  return fs::exists(own, error) ? own.string() : "python3";
}

// What follows `word` and a space, if the line starts with them.
bool rest_after(const std::string& line, const std::string& word, std::string* rest) {
  if (line.compare(0, word.size() + 1, word + " ") != 0) return false;
  *rest = line.substr(word.size() + 1);
  return true;
}

}  // namespace

// The child and the two ends of its pipes that are ours.
class Script::Process {
 public:
  explicit Process(std::vector<std::string> words) {
    int to_child[2], from_child[2];
    if (pipe2(to_child, O_CLOEXEC) != 0) return;
    if (pipe2(from_child, O_CLOEXEC) != 0) {
      close(to_child[0]);
      close(to_child[1]);
      return;
    }
    child_ = fork();
    if (child_ == 0) {
      dup2(to_child[0], STDIN_FILENO);
      dup2(from_child[1], STDOUT_FILENO);
      become(std::move(words));
    }
    close(to_child[0]);
    close(from_child[1]);
    requests_ = fdopen(to_child[1], "w");
    answers_ = from_child[0];
  }

  ~Process() {
    // The end of its input ends it; one that works on regardless is stopped.
    if (requests_ != nullptr) fclose(requests_);
    if (answers_ >= 0) close(answers_);
    if (child_ <= 0) return;
    for (int i = 0; i < 50; ++i) {
      if (waitpid(child_, nullptr, WNOHANG) != 0) return;
      usleep(100 * 1000);
    }
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
  }

  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  bool send(const std::string& line) {
    return requests_ != nullptr && std::fprintf(requests_, "%s\n", line.c_str()) > 0 &&
           std::fflush(requests_) == 0;
  }

  // The next line without its end; false if there is none any more. A compiler may need a minute:
  // the grader is told that something is waited for, or it would take the silence for a hang.
  bool receive(std::string* line) {
    for (;;) {
      const size_t end = received_.find('\n');
      if (end != std::string::npos) {
        *line = received_.substr(0, end);
        received_.erase(0, end + 1);
        return true;
      }
      pollfd ready = {answers_, POLLIN, 0};
      constexpr int kMilliseconds = 5000;
      if (poll(&ready, 1, kMilliseconds) == 0) {
        Context& now = context();
        now.channel.send("waiting", JsonObject().text("test", now.test));
        continue;
      }
      char buffer[4096];
      const ssize_t count = read(answers_, buffer, sizeof buffer);
      if (count <= 0) return false;
      received_.append(buffer, static_cast<size_t>(count));
    }
  }

 private:
  [[noreturn]] static void become(std::vector<std::string> words) {
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    execvp(argv[0], argv.data());
    _exit(127);
  }

  pid_t child_ = -1;
  FILE* requests_ = nullptr;
  int answers_ = -1;
  std::string received_;  // and not yet returned
};

Script::Script(const std::string& file, const std::vector<std::string>& arguments, Site site) {
  const fs::path chapter = folder_of(site.file);
  std::vector<std::string> words = {python_of(chapter), (chapter / file).string()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  signal(SIGPIPE, SIG_IGN);  // a program that has ended is a message, not the end of this one
  process_ = std::make_unique<Process>(words);
  std::string line;
  missing_ = words[0] + " did not start " + file;
  while (process_->receive(&line)) {
    if (line == "ready") {
      missing_.clear();
      return;
    }
    if (rest_after(line, "missing", &missing_)) break;
    // What it prepares is shown, and tells the grader that the time is well spent.
    std::string progress;
    if (rest_after(line, "#", &progress)) {
      std::printf("%s: %s\n", file.c_str(), progress.c_str());
      std::fflush(stdout);
    }
  }
  process_.reset();
}

Script::~Script() = default;

const std::string& Script::missing() const { return missing_; }

void Script::ask(const std::string& line) {
  std::string answer = "it has ended", reason;
  const bool answered = process_ != nullptr && process_->send(line) && process_->receive(&answer);
  if (answered && answer == "done") return;
  if (rest_after(answer, "failed", &reason)) answer = reason;
  std::fprintf(stderr, "The baseline was asked for \"%s\": %s\n", line.c_str(), answer.c_str());
  std::abort();
}

Baseline script(const std::string& name, Script& program, const std::string& request) {
  return {Baseline::Kind::kLibrary, name, [&program, request] { program.ask(request); }, true,
          program.missing()};
}

}  // namespace kit
