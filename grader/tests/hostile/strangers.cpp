#include "course/text.h"
#include "hostile.h"

namespace grade::test {
namespace {

constexpr const char* kDoesNothing =
    "void launch_vector_add(const float*, const float*, float*, int) {}\n";

// A launcher that does this once, at its first call, and nothing else.
std::string deed(const std::string& headers, const std::string& body) {
  return headers +
         "\nstatic bool once = false;\n"
         "void launch_vector_add(const float*, const float*, float*, int) {\n"
         "  if (once) return;\n  once = true;\n" +
         body + "\n}\n";
}

constexpr const char* kFiles = R"code(
#include <dirent.h>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>
)code";

}  // namespace

std::string whole_file(const Submission& submission, const std::string& root) {
  std::string code = "#include \"01_vector_add.h\"\n" + submission.code;
  if (code.find("void launch_vector_add(") == std::string::npos) code += kDoesNothing;
  return course::replace_all(code, "ROOT", root);
}

std::vector<Submission> strangers() {
  return {
      {"BombOfMemory", "",
       deed("#include <cstdlib>\n#include <cstring>",
            "  for (;;) std::memset(std::malloc(1 << 24), 1, 1 << 24);")},
      {"BombOfThreads", "",
       deed("#include <thread>\n#include <unistd.h>",
            "  for (int i = 0; i < 20000; ++i) std::thread([] { sleep(1000); }).detach();")},
      {"BombOfFiles", "", deed(kFiles, R"code(
  const std::vector<char> block(1 << 20, 'x');
  for (const char* folder : {"/tmp", "/dev/shm", "/var/tmp", ".", "ROOT"}) {
    std::ofstream file(std::string(folder) + "/STRANGER");
    for (int i = 0; i < 4096 && file.write(block.data(), long(block.size())).flush(); ++i) {}
  })code")},
      {"WritesWhereItMay", "", deed(kFiles, R"code(
  for (const char* folder : {"/tmp", "/dev/shm", "/var/tmp", ".", "ROOT", "ROOT/build", "ROOT/chapters", "HOME",
                             "CLASS", "CLASS/submissions", "CLASS/assignment.graded/verdicts"}) {
    std::ofstream(std::string(folder) + "/STRANGER") << "x";
  })code")},
      {"ReadsTheSolution", "", deed(kFiles, R"code(
  std::ifstream file("ROOT/solutions/02_vector_add/01_vector_add.cu");
  for (std::string line; std::getline(file, line);) std::printf("GOT %s\n", line.c_str());)code")},
      {"ReadsTheClass", "", deed(kFiles, R"code(
  for (const char* folder : {"CLASS", "CLASS/submissions", "CLASS/assignment.graded/verdicts", "HOME"}) {
    DIR* open = opendir(folder);
    for (dirent* one; open != nullptr && (one = readdir(open)) != nullptr;) {
      if (one->d_name[0] != '.') std::printf("GOT %s\n", one->d_name);
    }
  })code")},
      {"ReadsTheUser", "", deed(std::string(kFiles) + "#include <cstdlib>", R"code(
  if (const char* secret = std::getenv("SECRET_OF_THE_TEACHER")) std::printf("GOT %s\n", secret);
  for (const char* name : {"/etc/passwd", "/etc/shadow", "HOME/.bashrc"}) {
    std::ifstream file(name);
    for (std::string line; std::getline(file, line);) std::printf("GOT %s\n", line.c_str());
  }
  for (int process = 1; process < 70000; ++process) {
    std::ifstream file("/proc/" + std::to_string(process) + "/environ", std::ios::binary);
    for (std::string line; std::getline(file, line, '\0');) {
      if (line.find("SECRET_OF_THE") == 0) std::printf("GOT %s\n", line.c_str());
    }
  })code")},
      {"CallsSomebody", "",
       deed("#include <arpa/inet.h>\n#include <sys/socket.h>\n#include <unistd.h>\n#include "
            "<cstdio>",
            R"code(
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in to = {};
  to.sin_family = AF_INET;
  to.sin_port = htons(PORT);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0) std::printf("GOT a connection\n");
  close(fd);)code")},
      {"WaitsForEver", "", deed("#include <unistd.h>", "  for (;;) sleep(1000);")},
      {"NeverEnds", "", deed("", "  for (volatile int i = 0;; i = i + 1) {}")},
  };
}

}  // namespace grade::test
