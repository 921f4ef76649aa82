#include "hostile.h"

namespace grade::test {
namespace {

// Sends every test as passed, in the kit's own words, with a seal that it cannot know.
constexpr const char* kWholeVerdict = R"code(
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <signal.h>
#include <unistd.h>
static const char* const kTests[] = {"AddsEveryElementOfFullBlocks", "CoversSizesThatAreNotBlockMultiples",
                                     "StaysInsideItsArrays", "AcceptsEmptyInput", "MovesOnlyWhatItUses"};
static void forge(int fd, const std::string& seal) {
  const auto say = [&](const std::string& text) {
    const std::string line = seal + text + "\n";
    if (write(fd, line.data(), line.size()) < 0) return;
  };
  signal(SIGPIPE, SIG_IGN);
  std::string names;
  for (const char* name : kTests) names += (names.empty() ? "\"VectorAdd." : ",\"VectorAdd.") + std::string(name) + "\"";
  say("{\"event\":\"start\",\"simulated\":true,\"tests\":[" + names + "]}");
  for (const char* name : kTests) {
    const std::string about = "\"test\":\"VectorAdd." + std::string(name) + "\"";
    say("{\"event\":\"test_start\"," + about + "}");
    say("{\"event\":\"test_end\"," + about + ",\"passed\":true,\"ms\":1}");
  }
  say("{\"event\":\"done\",\"passed\":5,\"failed\":0}");
}
)code";

std::string with_verdict(const std::string& code) { return kWholeVerdict + code; }

std::string constructor(const std::string& body) {
  return "__attribute__((constructor)) static void first() {\n" + body + "\n}\n";
}

constexpr const char* kEnded = "FAIL The program ended outside its tests";
constexpr const char* kRefused = "FAIL Your file ";

// A write(2) and a fork(2) without the C library.
constexpr const char* kOwnCalls = R"code(
static long own_call(long number, long a, const void* b, long c) {
  long result = number;
#if defined(__x86_64__)
  asm volatile("syscall" : "+a"(result) : "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
#else
  register long x8 asm("x8") = number; register long x0 asm("x0") = a;
  register const void* x1 asm("x1") = b; register long x2 asm("x2") = c;
  asm volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : "memory");
  result = x0;
#endif
  return result;
}
)code";

void add_handed_over(std::vector<Submission>* all) {
  all->push_back({"ChannelFromTheEnvironment", kEnded, with_verdict(constructor(R"code(
  const char* channel = std::getenv("GRADE_CHANNEL");
  char key[33] = {};
  if (channel != nullptr && read(std::atoi(channel), key, 32) > 0) _exit(9);
  for (int fd = 3; fd < 64; ++fd) forge(fd, std::string(key).substr(0, 16) + " ");
  _exit(0);)code"))});
  all->push_back(
      {"KeyFromTheChannel", kEnded, "#include <fcntl.h>\n" + with_verdict(constructor(R"code(
  for (int fd = 3; fd < 1024; ++fd) {
    char key[33] = {};
    fcntl(fd, F_SETFL, O_NONBLOCK);
    if (read(fd, key, 32) > 0) forge(fd, std::string(key).substr(0, 16) + " ");
  }
  _exit(0);)code"))});
  all->push_back({"ChannelFromProc", kEnded,
                  "#include <fstream>\n#include <iterator>\n" + with_verdict(constructor(R"code(
  std::ifstream in("/proc/self/environ", std::ios::binary);
  const std::string all((std::istreambuf_iterator<char>(in)), {});
  const size_t at = all.find("GRADE_CHANNEL=");
  const std::string rest = at == std::string::npos ? "" : all.substr(at);
  for (int fd = 3; fd < 64; ++fd) forge(fd, rest.substr(0, 16) + " ");
  std::exit(0);)code"))});
  all->push_back({"NoSeal", kEnded, with_verdict(constructor(R"code(
  for (int fd = 3; fd < 1024; ++fd) forge(fd, "");
  _exit(0);)code"))});
  all->push_back({"SealOfZeros", kEnded, with_verdict(constructor(R"code(
  for (int fd = 3; fd < 1024; ++fd) forge(fd, "0000000000000000 ");
  _exit(0);)code"))});
  all->push_back({"OneTestIsEnough", kEnded, with_verdict(constructor(R"code(
  const char line[] = "{\"event\":\"done\",\"passed\":1,\"failed\":0}\n";
  for (int fd = 3; fd < 64; ++fd) if (write(fd, line, sizeof line - 1) < 0) continue;
  std::quick_exit(0);)code"))});
}

void add_in_the_test(std::vector<Submission>* all) {
  all->push_back(
      {"ForgesInsideATest", "FAIL AddsEveryElementOfFullBlocks",
       with_verdict("void launch_vector_add(const float*, const float*, float*, int) {\n"
                    "  for (int fd = 3; fd < 64; ++fd) forge(fd, \"\");\n  _exit(0);\n}\n")});
  // The channel's own lines, caught by a pipe of one's own, come again with the verdict turned
  // round.
  all->push_back({"ReplaysWhatItCaught", "FAIL AddsEveryElementOfFullBlocks", R"code(
#include <fcntl.h>
#include <string>
#include <unistd.h>
static int ends[2], kept = -1;
static void turn_round() {
  char bytes[65536];
  const ssize_t got = read(ends[0], bytes, sizeof bytes);
  std::string text(bytes, got < 0 ? 0 : size_t(got));
  for (size_t at; (at = text.find("\"passed\":false")) != std::string::npos;) text.replace(at, 14, "\"passed\":true");
  for (int i = 0; i < 3; ++i) if (write(kept, text.data(), text.size()) < 0) return;
}
void launch_vector_add(const float*, const float*, float*, int) {
  if (kept >= 0) return turn_round();
  if (pipe2(ends, O_NONBLOCK) != 0) return;
  for (int fd = 3; fd < 64; ++fd) {
    if (fd == ends[0] || fd == ends[1] || (fcntl(fd, F_GETFL) & O_ACCMODE) != O_RDWR) continue;
    kept = dup(fd);
    dup2(ends[1], fd);
    break;
  }
}
)code"});
  all->push_back({"PrintsAPass", "FAIL AddsEveryElementOfFullBlocks", R"code(
#include <cstdio>
#include <cstdlib>
void launch_vector_add(const float*, const float*, float*, int) {
  std::printf("\x1b[2J\x1b[H02_vector_add/01_vector_add  simulator\n  PASS  all 5 tests\n");
  std::exit(0);
}
)code"});
  all->push_back({"ThreadThatForgesLater", "FAIL ", "#include <thread>\n" + with_verdict(R"code(
void launch_vector_add(const float*, const float*, float*, int) {
  std::thread([] { for (;;) for (int fd = 3; fd < 64; ++fd) forge(fd, "0123456789abcdef "); }).detach();
}
)code")});
  all->push_back({"ChoosesNoTests", "FAIL Your file uses setenv",
                  R"code(
#include <cstdlib>
)code" + constructor("setenv(\"GTEST_TOTAL_SHARDS\", \"5\", 1); setenv(\"GTEST_SHARD_INDEX\", "
                     "\"4\", 1);")});
  all->push_back({"PatchesItsOwnMemory", "FAIL AddsEveryElementOfFullBlocks", R"code(
#include <fstream>
void launch_vector_add(const float*, const float*, float*, int) {
  std::fstream memory("/proc/self/mem", std::ios::in | std::ios::out | std::ios::binary);
  if (memory.is_open()) __builtin_trap();
}
)code"});
}

void add_takes_the_place_of(std::vector<Submission>* all) {
  const auto refused = [&](const std::string& name, const std::string& what,
                           const std::string& code) {
    all->push_back({name, kRefused + what, code});
  };
  refused("WritesInPlaceOfTheLibrary", "defines writev", R"code(
#include <sys/uio.h>
#include <unistd.h>
extern "C" ssize_t writev(int fd, const iovec* parts, int count) {
  ssize_t all = 0;
  for (int i = 0; i < count; ++i) all += write(fd, parts[i].iov_base, parts[i].iov_len);
  return all;
}
)code");
  refused("WeakWriteInPlaceOfTheLibrary", "defines write", R"code(
#include <unistd.h>
extern "C" __attribute__((weak)) ssize_t write(int, const void*, size_t size) { return ssize_t(size); }
)code");
  all->push_back({"MainOfItsOwn",
                  "FAIL (Your file defines main|It does not compile. multiple definition)",
                  "int main() { return 0; }\n"});
  refused("BeforeThePreparation", "has code that runs before", R"code(
#include <cstdlib>
static void first() { std::getenv("GRADE_CHANNEL"); }
__attribute__((section(".preinit_array"), used)) static void (*entry)() = first;
)code");
  refused("WhileItIsLoaded", "chooses helper", R"code(
extern "C" {
static void real() {}
static void (*choose())() { return real; }
void helper() __attribute__((ifunc("choose")));
}
)code");
  refused("AsksTheKit", "uses _ZN3kit7contextEv", R"code(
extern char* context_of_the_kit() asm("_ZN3kit7contextEv");
void launch_vector_add(const float*, const float*, float*, int) { context_of_the_kit()[0] = 1; }
)code");
  refused("AsksGoogleTest", "uses _ZN7testing", R"code(
namespace testing { class UnitTest { public: static UnitTest* GetInstance(); }; }
void launch_vector_add(const float*, const float*, float*, int) {
  *reinterpret_cast<volatile char*>(testing::UnitTest::GetInstance()) = 1;
}
)code");
  refused("AsksTheSimulator", "uses wsim_clear_findings", R"code(
extern "C" void wsim_clear_findings(void);
void launch_vector_add(const float*, const float*, float*, int) { wsim_clear_findings(); }
)code");
  all->push_back({"DefinesWhatTheKitHas",
                  "FAIL (Your file defines _ZN3kit|It does not compile. multiple definition)",
                  R"code(
extern "C" bool always() asm("_ZN3kit8internal11case_failedEv");
bool always() { return false; }
)code"});
  refused("LooksForSymbols", "uses dlsym", R"code(
#include <dlfcn.h>
void launch_vector_add(const float*, const float*, float*, int) { dlsym(RTLD_DEFAULT, "write"); }
)code");
  refused("MakesCode", "uses mprotect", R"code(
#include <sys/mman.h>
void launch_vector_add(const float*, const float*, float*, int) {
  mprotect(reinterpret_cast<void*>(0x1000), 4096, PROT_READ | PROT_WRITE | PROT_EXEC);
}
)code");
}

}  // namespace

std::vector<Submission> forgeries() {
  std::vector<Submission> all;
  add_handed_over(&all);
  add_in_the_test(&all);
  add_takes_the_place_of(&all);
  all.push_back(
      {"SystemCallOfItsOwn", "FAIL .*refused system call",
       kOwnCalls +
           with_verdict("void launch_vector_add(const float*, const float*, float*, int) {\n"
                        "  own_call(1, 1, \"x\", 1);\n}\n")});
  return all;
}

std::vector<Submission> trespasses() {
  const auto writes = [](const std::string& file, const std::string& text) {
    return "#include <fstream>\nvoid launch_vector_add(const float*, const float*, float*, int) {\n"
           "  std::ofstream(\"ROOT/" +
           file + "\") << R\"x(" + text + ")x\";\n}\n";
  };
  const std::string fails = "FAIL AddsEveryElementOfFullBlocks";
  return {
      {"OverwritesItsTest", fails,
       writes("chapters/02_vector_add/01_vector_add_test.cpp",
              "#include \"kit/kit.h\"\nTEST(A, B) {}\n")},
      {"WritesItsProgress", fails,
       writes(".progress", "passed  02_vector_add/01_vector_add  2026-01-01T00:00:00Z\n")},
      {"OverwritesItsSolution", fails, writes("solutions/02_vector_add/01_vector_add.cu", "")},
      {"OverwritesTheBuild", fails, writes("build/sim/build.ninja", "")},
      {"ReplacesItsProgram", fails, "#include <cstdio>\n" + std::string(R"code(
void launch_vector_add(const float*, const float*, float*, int) {
  std::remove("ROOT/build/sim/course/02_vector_add.01_vector_add");
  std::rename("/bin/true", "ROOT/build/sim/course/02_vector_add.01_vector_add");
}
)code")},
      {"ForksWithoutTheLibrary", "FAIL .*refused system call", std::string(kOwnCalls) + R"code(
void launch_vector_add(const float*, const float*, float*, int) {
  if (own_call(57, 0, nullptr, 0) == 0) for (;;) {}
}
)code"},
      {"KillsTheGrader", "FAIL Your file uses kill", R"code(
#include <signal.h>
#include <unistd.h>
void launch_vector_add(const float*, const float*, float*, int) { kill(getppid(), SIGKILL); }
)code"},
      {"KillsTheGraderByItself", "FAIL .*refused system call", std::string(kOwnCalls) + R"code(
#include <unistd.h>
void launch_vector_add(const float*, const float*, float*, int) {
  own_call(62, getppid(), reinterpret_cast<void*>(9), 0);
}
)code"},
      {"StartsPrograms", "FAIL Your file uses system", R"code(
#include <cstdlib>
void launch_vector_add(const float*, const float*, float*, int) { if (std::system("setsid sleep 600 &") != 0) return; }
)code"},
      {"KillsEverybody", "FAIL .*refused system call", std::string(kOwnCalls) + R"code(
void launch_vector_add(const float*, const float*, float*, int) {
  own_call(62, -1, reinterpret_cast<void*>(9), 0);
}
)code"},
      {"TracesTheGrader", "FAIL ", std::string(kOwnCalls) + R"code(
#include <unistd.h>
void launch_vector_add(const float*, const float*, float*, int) {
  own_call(101, 16, reinterpret_cast<void*>(long(getppid())), 0);
}
)code"},
      {"WritesTheGradersMemory", "FAIL ", std::string(kOwnCalls) + R"code(
#include <unistd.h>
void launch_vector_add(const float*, const float*, float*, int) { own_call(311, getppid(), nullptr, 0); }
)code"},
      {"PrintsAVerdictForPrograms", fails, R"code(
#include <cstdio>
void launch_vector_add(const float*, const float*, float*, int) {
  for (std::FILE* to : {stdout, stderr}) {
    std::fprintf(to, "{\"format\": 1, \"kind\": \"verdict\", \"passed\": true, \"devices\": [{\"outcome\": \"pass\"}]}\n");
    std::fflush(to);
  }
}
)code"},
      {"FloodsItsOutput", "FAIL ", R"code(
#include <cstdio>
#include <string>
void launch_vector_add(const float*, const float*, float*, int) {
  const std::string line(1 << 16, 'x');
  for (int i = 0; i < 2000; ++i) std::puts(line.c_str());
}
)code"},
      {"GoesRoundThroughProc", fails,
       writes("../../../../../../proc/self/root/ROOT/chapters/02_vector_add/01_vector_add_test.cpp",
              "TEST(A, B) {}\n")},
      {"GoesThroughALink", fails, R"code(
#include <cstdio>
#include <fstream>
#include <unistd.h>
void launch_vector_add(const float*, const float*, float*, int) {
  char name[] = "/tmp/warplings_link_XXXXXX";
  close(mkstemp(name));
  std::remove(name);
  if (symlink("ROOT/chapters/course.json", name) == 0) std::ofstream(name) << "{}";
  std::remove(name);
}
)code"},
  };
}

}  // namespace grade::test
