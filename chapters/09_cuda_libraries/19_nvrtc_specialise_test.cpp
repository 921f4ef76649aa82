// Tests of 09/19 NVRTC.
#include "19_nvrtc_specialise.h"

#include "07_tiled_matmul/test/matmul.h"
#include "19_nvrtc_specialise_support.h"
#include "kit/kit.h"
#include "kit/stream.h"
#include "support.h"

namespace {

using kit::MatmulSizes;

struct Capability {
  int major = 0, minor = 0;
};
Capability capability_of_this_card() {
  Capability card;
  cudaDeviceGetAttribute(&card.major, cudaDevAttrComputeCapabilityMajor, 0);
  cudaDeviceGetAttribute(&card.minor, cudaDevAttrComputeCapabilityMinor, 0);
  return card;
}

void expect_success(const std::string& function, CUresult status) {
  if (status == CUDA_SUCCESS) return;
  const char* name = "an unknown CUresult";
  cuGetErrorName(status, &name);
  kit::fail(function + " returned " + name + ".");
}

// Machine code of the kernel for one width; "" with a failure if there is none.
std::string compiled(int tile) {
  const Capability card = capability_of_this_card();
  std::string code, log;
  const nvrtcResult status = compile_for(kMatmulTile, tile, card.major, card.minor, &code, &log);
  if (status != NVRTC_SUCCESS) {
    kit::fail("compile_for returned " + std::string(nvrtcGetErrorString(status)) +
              ". Its log begins: " + log.substr(0, 300));
    return "";
  }
  if (code.empty()) {
    kit::fail(
        "compile_for gave no machine code. NVRTC makes it for a real architecture, such as "
        "sm_90; for a virtual one, such as compute_90, it makes PTX only.");
  }
  return code;
}

// Loaded for one width, as long as it is in scope.
class Kernel {
 public:
  explicit Kernel(int tile) : tile_(tile) {
    const std::string code = compiled(tile);
    if (code.empty()) return;
    cudaFree(nullptr);  // the runtime's context is the driver's current one from here on
    expect_success("load", load(code, "matmul_tile", &loaded_));
    if (loaded_.function == nullptr) kit::fail("load left no function in loaded->function.");
  }
  ~Kernel() {
    if (loaded_.module != nullptr) cuModuleUnload(loaded_.module);
  }
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;
  bool usable() const { return loaded_.function != nullptr; }
  const Specialised& get() const { return loaded_; }
  void launch(const float* a, const float* b, float* c, int m, int n, int k) const {
    expect_success("launch_specialised",
                   launch_specialised(loaded_, tile_, a, b, c, m, n, k, stream_.get()));
  }

 private:
  int tile_;
  Specialised loaded_;
  kit::Stream stream_;
};

}  // namespace

TEST(NvrtcSpecialise, CompilesForTheWidthAndTheCard) {
  RecordProperty("todo", 1);
  kit::for_each("tile", std::vector<int>{8, 16, 32, 11}, [](int tile) { compiled(tile); });
}

TEST(NvrtcSpecialise, HandsOnWhatTheCompilerSays) {
  RecordProperty("todo", 1);
  const Capability card = capability_of_this_card();
  std::string code = "untouched", log;
  // Refuses a width of 7, so that the text shows which width was defined.
  const char* const source =
      "static_assert(TILE != 7, \"a tile of seven\");\n"
      "extern \"C\" __global__ void nothing() {}\n";
  const nvrtcResult refused = compile_for(source, 7, card.major, card.minor, &code, &log);
  if (refused != NVRTC_ERROR_COMPILATION || log.find("a tile of seven") == std::string::npos) {
    kit::fail("A source that refuses TILE = 7 gave " + std::string(nvrtcGetErrorString(refused)) +
              ", and this log: \"" + log.substr(0, 200) +
              "\". Expected a failure of compilation with the text of its static_assert.");
  }
  if (log.find('\0') != std::string::npos) {
    kit::fail(
        "*log holds a 0. nvrtcGetProgramLogSize counts the 0 at the end of the text, which is no "
        "part of a std::string.");
  }
  if (code != "untouched") kit::fail("compile_for changed *code, although nothing was compiled.");
  const nvrtcResult taken = compile_for(source, 8, card.major, card.minor, &code, &log);
  if (taken != NVRTC_SUCCESS) {
    kit::fail("The same source with TILE = 8 gave " + std::string(nvrtcGetErrorString(taken)) +
              ".");
  }
  if (!log.empty()) {
    kit::fail("The compiler had nothing to say, and *log is not \"\". It begins: \"" +
              log.substr(0, 200) + "\"");
  }
}

TEST(NvrtcSpecialise, HandsOnWarnings) {
  RecordProperty("todo", 1);
  const Capability card = capability_of_this_card();
  std::string code, log;
  const char* const source = "extern \"C\" __global__ void nothing() { int never_read; }\n";
  const nvrtcResult status = compile_for(source, 8, card.major, card.minor, &code, &log);
  if (status == NVRTC_SUCCESS && log.find("never_read") != std::string::npos) return;
  kit::fail(
      "A kernel with a variable never_read, which nobody reads, gave " +
      std::string(nvrtcGetErrorString(status)) + ", and this log: \"" + log.substr(0, 200) +
      "\". Expected a success, and the compiler's warning about the variable: it has something to "
      "say of sources that it takes as well.");
}

TEST(NvrtcSpecialise, CompilesTheSourceThatItIsGiven) {
  RecordProperty("todo", 1);
  // Of the same length, for the same width and card; only the second refuses the width.
  const char* const taken =
      "static_assert(TILE == 9, \"another source\");\n"
      "extern \"C\" __global__ void nothing() {}\n";
  const char* const refused =
      "static_assert(TILE != 9, \"another source\");\n"
      "extern \"C\" __global__ void nothing() {}\n";
  const Capability card = capability_of_this_card();
  std::string code, log;
  const nvrtcResult first = compile_for(taken, 9, card.major, card.minor, &code, &log);
  if (first != NVRTC_SUCCESS) {
    kit::fail("A source that takes only TILE = 9 gave " + std::string(nvrtcGetErrorString(first)) +
              " for a tile of 9.");
    return;
  }
  const nvrtcResult second = compile_for(refused, 9, card.major, card.minor, &code, &log);
  if (second != NVRTC_ERROR_COMPILATION || log.find("another source") == std::string::npos) {
    kit::fail(
        "compile_for was called twice for the same tile and card. The first source could be "
        "compiled, the second refuses this tile, and its call gave " +
        std::string(nvrtcGetErrorString(second)) + ", and this log: \"" + log.substr(0, 200) +
        "\". What is kept of an earlier call says nothing about another `source`.");
  }
}

TEST(NvrtcSpecialise, CompilesForTheCardThatWasAskedFor) {
  RecordProperty("todo", 1);
  const char* const source =
      "static_assert(__CUDA_ARCH__ == 860, \"another card\");\n"
      "extern \"C\" __global__ void nothing() {}\n";
  std::string code, log;
  if (compile_for(source, 8, 8, 6, &code, &log) != NVRTC_SUCCESS) {
    kit::fail("For compute capability 8.6, __CUDA_ARCH__ is 860. The log begins: " +
              log.substr(0, 200));
  }
}

TEST(NvrtcSpecialise, LoadsTheKernelByItsName) {
  RecordProperty("todo", 2);
  const Kernel kernel(16);
  if (!kernel.usable()) return;
  int threads = 0;
  expect_success(
      "cuFuncGetAttribute",
      cuFuncGetAttribute(&threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, kernel.get().function));
  Specialised none;
  if (load(compiled(16), "matmul_tail", &none) == CUDA_SUCCESS) {
    kit::fail("load returned a success for the name matmul_tail, which is not in the module.");
  }
  if (none.module != nullptr) cuModuleUnload(none.module);
}

TEST(NvrtcSpecialise, SaysWhatTheDriverRefuses) {
  RecordProperty("todo", 3);
  Specialised none;
  if (load("this is no machine code, and a module cannot be made of it", "matmul_tile", &none) ==
      CUDA_SUCCESS) {
    kit::fail("load returned a success for a text that is no machine code.");
  }
  const Kernel kernel(16);
  if (!kernel.usable()) return;
  const auto d_x = kit::DeviceBuffer<float>::input(kit::random_floats(64), "a and b");
  const auto d_c = kit::DeviceBuffer<float>::output(64, "c");
  // A block of 64 x 64 threads is more than any card takes.
  const CUresult status =
      launch_specialised(kernel.get(), 64, d_x.get(), d_x.get(), d_c.get(), 8, 8, 8, nullptr);
  cudaGetLastError();
  if (status == CUDA_SUCCESS) {
    kit::fail(
        "launch_specialised returned a success for blocks of 64 x 64 threads, which the driver "
        "refuses: what cuLaunchKernel returns is the only place that says so.");
  }
}

TEST(NvrtcSpecialise, MultipliesWithEveryWidth) {
  RecordProperty("todo", 3);
  for (const int tile : {8, 16, 32, 11}) {
    const Kernel kernel(tile);
    if (!kernel.usable()) return;
    kit::for_each("c",
                  std::vector<MatmulSizes>{{2, 3, 4},
                                           {33, 65, 17},
                                           {1, 1, 1},
                                           {64, 96, 32},
                                           {31, 200, 129},
                                           {5, 7, 0},
                                           {0, 7, 5},
                                           {7, 0, 5}},
                  [&](const MatmulSizes& s) {
                    kit::check_matmul_exact([&](const float* a, const float* b, float* c, int m,
                                                int n, int k) { kernel.launch(a, b, c, m, n, k); },
                                            s);
                    expect_no_wait("launch_specialised");
                  });
  }
}
