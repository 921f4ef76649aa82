// Damaged PTX must end in a module or a ParseError, never in a crash. The mutations are the same on
// every run.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "ptx/module.h"

namespace warplings::sim::ptx {
namespace {

// One of everything.
constexpr std::string_view kSeed = R"(.version 8.0
.target sm_80
.address_size 64
.extern .func (.param .b32 func_retval0) vprintf (.param .b64 a, .param .b64 b);
.global .align 8 .u64 names[2] = {generic(text), text+1};
.global .align 1 .b8 text[] = {72, 105, 0x21, 0};
.global .b8 parts[2] = {0xFF(text), 0xFF00(generic(text))};
.const .align 4 .v2 .f32 pairs[2][2] = {{{1.5, 0f3f800000}}, {{-2.0}}};
.global .attribute(.managed) .align 4 .u32 counter = 7, other;
.extern .shared .align 16 .b8 dynamic[];
.global .texref image;
.func (.reg .f32 out) twice(.reg .f32 in) { add.rn.f32 out, in, in; ret; }
.visible .entry kernel(.param .u64 .ptr .global .align 8 p, .param .align 4 .b8 s[12])
.maxntid 256, 1, 1
.minnctapersm 2
{
  .local .align 8 .b8 __local_depot[96];
  .reg .pred %p<5>;
  .reg .b32 %r<10>;
  .reg .v4 .f32 v;
  .reg .b64 %rd<6>;
  .loc 1 18 0
  ld.param.u64 %rd1, [p];
  cvta.to.global.u64 %rd2, %rd1;
  mov.u32 %r1, %tid.x;
  .loc 1 8 73, function_name $L__info_string0, inlined_at 1 21 3
  setp.lt.and.s32 %p1|%p2, %r1, 5+(3<<2), !%p3;
  @!%p1 bra $L__BB0_2;
  ld.global.v4.f32 {v.x, v.y, _, v.w}, [%rd2+-16];
  { // callseq 0
    .reg .b32 temp;
    .param .b32 param0;
    st.param.b32 [param0+0], %r1;
    prototype_0 : .callprototype (.param .b32 _) _ (.param .b32 _) .noreturn;
    call (param0), %rd3, (param0), prototype_0;
    call.uni (v.x), twice, (0f40000000);
  }
$L__BB0_2:
  tex.2d.v4.f32.f32 v, [image, {v.x, v.y}];
  table: .branchtargets $L__BB0_2, done;
  brx.idx %r1, table;
  vadd.s32.u32.u32 %r2, %r3.b0, %r4.h1, WARP_SZ;
done:
  ret;
}
.file 1 "/src/a.cu", 12, 34
.section .debug_str
{
$L__info_string0:
.b8 95,90,0
}
)";

class Generator {
 public:
  explicit Generator(uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15u + 1) {}
  size_t below(size_t limit) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<size_t>(state_ >> 33) % limit;
  }

 private:
  uint64_t state_;
};

std::string mutate(std::string text, Generator& random) {
  constexpr std::string_view kBytes = "{}()[],;:@!|+-*/%<>=.\"$_ \n09afxUd\0\xff";
  constexpr std::string_view kWords[] = {
      ".reg ", ".param .b8 q[", "99999999999", "0x", "generic(",
      "%r1",   "{{{{{{{{",      "((((((((",    "?:", ".func f()",
      "/*",    "<4000000000>",  "-",           "]",  ".loc 1 2 3,"};
  const size_t changes = 1 + random.below(4);
  for (size_t i = 0; i < changes && !text.empty(); ++i) {
    const size_t at = random.below(text.size());
    const size_t length = std::min(random.below(40), text.size() - at);
    switch (random.below(6)) {
      case 0:
        text[at] = kBytes[random.below(kBytes.size())];
        break;
      case 1:
        text.erase(at, length);
        break;
      case 2:
        text.insert(at, text.substr(at, length));
        break;
      case 3:
        text.insert(at, text.substr(random.below(text.size()), 60));
        break;
      case 4:
        text.insert(at, kWords[random.below(std::size(kWords))]);
        break;
      default:
        text[at] = static_cast<char>(random.below(256));
    }
  }
  if (random.below(16) == 0) text.resize(random.below(text.size() + 1));
  return text;
}

TEST(PtxMutations, SeedItselfParses) {
  const auto module = parse(std::string(kSeed), "seed.ptx");
  EXPECT_EQ(module->functions.size(), 3u);
  EXPECT_EQ(module->functions[2].body.size(), 13u);
}

TEST(PtxMutations, DamagedTextIsAModuleOrAnError) {
  int errors = 0;
  constexpr int kCases = 5000;
  for (int i = 0; i < kCases; ++i) {
    Generator random(static_cast<uint64_t>(i));
    const std::string text = mutate(std::string(kSeed), random);
    try {
      parse(text, "mutant.ptx");
    } catch (const ParseError& error) {
      ++errors;
      EXPECT_EQ(std::string_view(error.what()).find("mutant.ptx:"), 0u);
    }
  }
  // Both outcomes are common, or the mutations test nothing.
  EXPECT_GT(errors, kCases / 2);
  EXPECT_LT(errors, kCases * 99 / 100);
}

TEST(PtxMutations, EveryPrefixIsAModuleOrAnError) {
  for (size_t length = 0; length < kSeed.size(); ++length) {
    try {
      parse(std::string(kSeed.substr(0, length)), "prefix.ptx");
    } catch (const ParseError&) {
    }
  }
}

}  // namespace
}  // namespace warplings::sim::ptx
