// Every exercise of chapters 07 and 08 that computes in single precision has mutants that compute
// with the digits of tf32 and of bfloat16. That its tests catch them is what gate 7 shows.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <regex>
#include <set>

#include "course/manifest.h"
#include "course/mutants.h"
#include "course/text.h"

namespace {

// Products of bfloat16 (the copies and sums are what is checked there), and of bytes.
const std::set<std::string> kOtherNumbers = {"07_tiled_matmul/15_matmul_wmma",
                                             "07_tiled_matmul/16_matmul_wgmma",
                                             "07_tiled_matmul/20_matmul_int8"};

// Digits that are masked, or rounded away: 10 of the 23 behind the point stay, or 7.
const std::regex kTf32("0xFFFFE000u|~0x1fff|\\* (1024|2048)\\)"),
    kBfloat16("0xFFFF0000u|~0xffff\\b|\\* (128|256)\\)");

bool one_has(const std::vector<course::Mutant>& mutants, const std::regex& digits) {
  return std::any_of(mutants.begin(), mutants.end(), [&](const course::Mutant& mutant) {
    return std::regex_search(mutant.put, digits);
  });
}

TEST(Precision, ExercisesInFloatHaveMutantsWithFewerDigits) {
  const std::filesystem::path root = PROJECT_ROOT;
  int checked = 0;
  for (const course::Exercise& exercise : course::load_course(root).exercises) {
    const std::string chapter = exercise.id.substr(0, 2);
    if ((chapter != "07" && chapter != "08") || kOtherNumbers.count(exercise.id) > 0) continue;
    const std::filesystem::path file = course::files_of(root, exercise).gates / "mutants.txt";
    const auto mutants = course::parse_mutants(course::read_text(file), file.string());
    EXPECT_TRUE(one_has(mutants, kTf32)) << file << ": no mutant with the digits of tf32";
    EXPECT_TRUE(one_has(mutants, kBfloat16)) << file << ": no mutant with the digits of bfloat16";
    ++checked;
  }
  EXPECT_EQ(checked, 36);
}

}  // namespace
