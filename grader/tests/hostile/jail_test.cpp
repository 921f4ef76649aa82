// ./grade run --jail: an honest kernel beside code that looks around. It passes where that code
// reaches nothing; the same file without a jail shows that it would.
#include "cli/process/jail.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <memory>
#include <regex>

#include "course/text.h"
#include "hostile.h"

namespace grade::test {
namespace {

// Each function is true if it got what it is after.
constexpr const char* kLooksAround = R"code(
#include <arpa/inet.h>
#include <dirent.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

static bool reads(const std::string& file) { return std::ifstream(file).get() != EOF; }
static bool writes(const std::string& file) { return bool(std::ofstream(file) << "x" << std::flush); }
static int entries(const char* folder) {
  DIR* open = opendir(folder);
  int count = 0;
  while (open != nullptr && readdir(open) != nullptr) ++count;
  if (open != nullptr) closedir(open);
  return count;
}
static bool connects() {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in to = {};
  to.sin_family = AF_INET;
  to.sin_port = htons(PORT);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const bool done = connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0;
  close(fd);
  return done;
}
static bool fills_temporary_folder() {
  const std::string name = "/tmp/warplings_fill";
  std::FILE* file = std::fopen(name.c_str(), "wb");
  const std::vector<char> block(1 << 20, 'x');
  int written = 0;
  while (file != nullptr && written < 400 && std::fwrite(block.data(), 1, block.size(), file) == block.size()) ++written;
  if (file != nullptr) std::fclose(file);
  std::remove(name.c_str());
  return written == 400;
}
static bool starts_many_threads() {
  std::vector<std::thread> threads;
  volatile bool stop = false;
  bool all = true;
  try {
    while (threads.size() < 700) threads.emplace_back([&] { while (!stop) usleep(1000); });
  } catch (const std::system_error&) {
    all = false;
  }
  stop = true;
  for (std::thread& one : threads) one.join();
  return all;
}
static void look_around() {
  static bool done = false;
  if (done) return;
  done = true;
  const struct { const char* what; bool got; } deeds[] = {
      {"solution", reads("ROOT/solutions/02_vector_add/01_vector_add.cu")},
      {"test", reads("ROOT/chapters/02_vector_add/01_vector_add_test.cpp")},
      {"progress", reads("ROOT/.progress")},
      {"users", reads("/etc/passwd")},
      {"other-processes", entries("/proc/2/task") > 0 && reads("/proc/" + std::to_string(PARENT) + "/cmdline")},
      {"secret", std::getenv("SECRET_OF_THE_USER") != nullptr},
      {"network", connects()},
      {"temporary", fills_temporary_folder()},
      {"threads", !UNCOUNTED && starts_many_threads()},
      {"root", writes("/mine")},
      {"device", writes("/dev/mine")},
  };
  writes("ROOT/mine");  // below /tmp it may seem to succeed, in a /tmp of its own
  for (const auto& deed : deeds) if (deed.got) std::printf("got %s\n", deed.what);
  for (const auto& deed : deeds) if (deed.got) std::exit(1);
}
)code";

class Jail : public testing::Test {
 protected:
  void SetUp() override {
    const std::string problem = why_no_jail();
    if (!problem.empty()) GTEST_SKIP() << problem;
    fs::create_directories(HOSTILE_PLACE);
    course_ = std::make_unique<RealCourse>(HOSTILE_PLACE);
    course_->set("TMPDIR", "/tmp");
    course_->set("SECRET_OF_THE_USER", "1");
    course_->set("GRADE_TIME_LIMIT", "60");
  }

  Ran grades(const std::string& code, bool jailed) {
    course_->save(code, RealCourse::kVectorAdd);
    std::vector<std::string> arguments = {"run", RealCourse::kVectorAdd, "--device", "sim"};
    if (jailed) arguments.emplace_back("--jail");
    return course_->grade(arguments);
  }

  std::unique_ptr<RealCourse> course_;
};

// Listens on a port of this machine while it lives.
class Listener {
 public:
  Listener() : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in here = {};
    here.sin_family = AF_INET;
    here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof here;
    EXPECT_EQ(::bind(fd_, reinterpret_cast<sockaddr*>(&here), size), 0);
    EXPECT_EQ(::listen(fd_, 8), 0);
    EXPECT_EQ(::getsockname(fd_, reinterpret_cast<sockaddr*>(&here), &size), 0);
    port_ = ntohs(here.sin_port);
  }
  ~Listener() { ::close(fd_); }
  int port() const { return port_; }

 private:
  int fd_, port_ = 0;
};

TEST_F(Jail, ShowsNothingOfTheUser) {
  const Listener listener;
  std::string code =
      kLooksAround + RealCourse::solution_with("  constexpr int kBlock = 256;",
                                               "  look_around();\n  constexpr int kBlock = 256;");
  code = course::replace_all(code, "ROOT", course_->root().string());
  code = course::replace_all(code, "PORT", std::to_string(listener.port()));
  code = course::replace_all(code, "PARENT", std::to_string(::getpid()));
  // The kernel counts nobody's processes but those of users.
  code = course::replace_all(code, "UNCOUNTED", ::getuid() == 0 ? "true" : "false");
  const Ran jailed = grades(code, true);
  EXPECT_EQ(jailed.status, 0) << jailed.out << jailed.err;
  EXPECT_NE(jailed.out.find("PASS  all 7 tests"), std::string::npos) << jailed.out;
  EXPECT_FALSE(fs::exists(course_->root() / "mine"));
  const Ran free = grades(code, false);
  EXPECT_EQ(free.status, 1) << "the file must find something where there is no jail";
  EXPECT_NE(free.out.find("got temporary"), std::string::npos) << free.out;
  EXPECT_TRUE(processes_with(course_->root().string()).empty());
}

TEST_F(Jail, CrashesAndLimitsAreNamedAsElsewhere) {
  course_->set("GRADE_MEMORY_LIMIT_MB", "600");
  const auto with_launch = [](const std::string& code) {
    return "#include <cstdlib>\n#include <cstring>\n" +
           RealCourse::solution_with("  constexpr int kBlock = 256;",
                                     code + "\n  constexpr int kBlock = 256;");
  };
  const Ran crash = grades(with_launch("  *(volatile int*)nullptr = 1;"), true);
  EXPECT_NE(crash.out.find("segmentation fault"), std::string::npos) << crash.out;
  const Ran memory =
      grades(with_launch("  for (;;) std::memset(std::malloc(1 << 24), 1, 1 << 24);"), true);
  const std::string said = std::regex_replace(memory.out, std::regex("\\s+"), " ");
  EXPECT_NE(said.find("MB of memory."), std::string::npos) << memory.out;
  EXPECT_TRUE(processes_with(course_->root().string()).empty());
}

// What a program in the jail says of its /dev; GPUS is the root whose cards are let in, "" for
// none.
std::string devices_in_jail(const fs::path& gpus, const std::string& command) {
  ChildOptions options;
  options.argv = {"sh", "-c", command};
  options.own_seconds = 20;
  jail(&options, {}, gpus);
  const ChildResult child = run_child(options);
  EXPECT_TRUE(child.ok()) << child.err.text();
  return course::trim(child.out.text());
}

// A machine whose cards are /dev/zero and /dev/null by another name.
class JailWithGpu : public Jail {
 protected:
  void SetUp() override {
    Jail::SetUp();
    if (IsSkipped()) return;
    root_ = course_->root() / "machine";
    fs::create_directories(root_ / "dev/nvidia-caps");
    for (const char* card : {"nvidia0", "nvidia12", "nvidia-uvm"}) {
      fs::create_symlink("/dev/zero", root_ / "dev" / card);
    }
    for (const char* other : {"nvidiactl", "nvidia-modeset", "nvidia3x", "kvm", "sda"}) {
      fs::create_symlink("/dev/null", root_ / "dev" / other);
    }
    std::ofstream(root_ / "dev/nvidia1") << "no device";
    fs::create_symlink("/nowhere", root_ / "dev/nvidia2");
  }
  void TearDown() override { ::unsetenv("LD_LIBRARY_PATH"); }

  fs::path root_;
};

TEST_F(JailWithGpu, LetsInTheDevicesThatAreThereAndNoOthers) {
  const std::string look =
      "cd /dev && for name in nvidia* kvm sda; do [ -e $name ] && echo $name; done; true";
  EXPECT_EQ(devices_in_jail(root_, look), "nvidia-uvm\nnvidia0\nnvidia12\nnvidiactl");
  EXPECT_EQ(devices_in_jail({}, look), "") << "a run in the simulator needs none";
}

TEST_F(JailWithGpu, DevicesAreOpenedForReadingAndWriting) {
  const std::string used =
      "exec 3<>/dev/nvidia0 && echo order >&3 && head -c 3 <&3 | od -An -tx1; "
      "echo 2>&1 >/dev/nvidia13 | grep -c 'Read-only'";
  EXPECT_EQ(devices_in_jail(root_, used), "00 00 00\n1") << "and /dev itself stays closed";
}

TEST_F(JailWithGpu, ShowsTheDriverWhereTheLoaderWasToldOfIt) {
  const fs::path driver = course_->root() / "driver", other = course_->root() / "other";
  fs::create_directories(driver);
  fs::create_directories(other);
  std::ofstream(driver / "libcuda.so.1") << "the driver";
  std::ofstream(other / "secret") << "x";
  ::setenv("LD_LIBRARY_PATH", (other.string() + ":" + driver.string() + "::.").c_str(), 1);
  const std::string look = "echo $LD_LIBRARY_PATH; cat " + driver.string() + "/libcuda.so.1; ls " +
                           other.string() + " 2>/dev/null; true";
  EXPECT_EQ(devices_in_jail(root_, look), driver.string() + "\nthe driver");
  EXPECT_EQ(devices_in_jail({}, look), "") << "a run in the simulator needs none";
}

TEST_F(Jail, WithoutACardTheGpuIsRefused) {
  if (!gpu_nodes("/").empty()) GTEST_SKIP() << "this machine has a card";
  course_->save(RealCourse::solution_with("kBlock = 256", "kBlock = 128"), RealCourse::kVectorAdd);
  const Ran ran = course_->grade({"run", RealCourse::kVectorAdd, "--device", "gpu", "--jail"});
  EXPECT_EQ(ran.status, 2) << ran.out;
  EXPECT_NE(ran.err.find("/dev/nvidia0"), std::string::npos) << ran.err;
  EXPECT_EQ(ran.out.find("PASS"), std::string::npos) << ran.out;
}

TEST_F(Jail, IsNeverLeftOutInSilence) {
  course_->set("PATH", "/nonexistent");
  const Ran ran = grades(RealCourse::solution_with("kBlock = 256", "kBlock = 128"), true);
  EXPECT_EQ(ran.status, 2) << ran.out;
  EXPECT_NE(ran.err.find("bubblewrap"), std::string::npos) << ran.err;
  EXPECT_EQ(ran.out.find("PASS"), std::string::npos) << ran.out;
}

}  // namespace
}  // namespace grade::test
