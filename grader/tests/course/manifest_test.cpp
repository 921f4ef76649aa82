#include "course/manifest.h"

#include <gtest/gtest.h>

#include "course/json.h"

namespace course {
namespace {

std::string course_with(const std::string& exercise) {
  return "{ \"format\": 1, \"title\": \"T\",\n"
         "  \"chapters\": [ {\"id\": \"01_a\", \"title\": \"A\"} ],\n"
         "  \"exercises\": [\n" +
         exercise + "\n  ] }\n";
}

const char kGood[] =
    "{\"id\": \"01_a/01_first\", \"title\": \"F\", \"minutes\": 5, \"kind\": \"fix\", \"todos\": "
    "2}";

std::string error_of_manifest(const std::string& text) {
  try {
    parse_course(text, "course.json");
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Manifest, ReadsAnExercise) {
  const Course course = parse_course(
      course_with(
          "{\"id\": \"01_a/02_x\", \"title\": \"X\", \"minutes\": 15, \"kind\": \"host\",\n"
          "\"todos\": 1, \"teaches\": [\"p\", \"q\"], \"speed\": true, \"device\": \"gpu\",\n"
          "\"gpus\": 2, \"simulated_gpus\": 4, \"arch\": 90, \"judge\": \"simulator\"}"),
      "course.json");
  ASSERT_EQ(course.exercises.size(), 1u);
  const Exercise& e = course.exercises[0];
  EXPECT_EQ(e.chapter, "01_a");
  EXPECT_EQ(e.name, "02_x");
  EXPECT_EQ(e.target(), "01_a.02_x");
  EXPECT_EQ(e.kind, Kind::kHost);
  EXPECT_EQ(e.teaches, (std::vector<std::string>{"p", "q"}));
  EXPECT_TRUE(e.speed && e.gpu_only && e.judged_by_simulator_only);
  EXPECT_EQ(e.gpus, 2);
  EXPECT_EQ(e.simulated_gpus, 4);
  EXPECT_EQ(e.arch, 90);
  EXPECT_EQ(e.line, 4);
}

TEST(Manifest, ReadsWhatIsNotAsked) {
  std::string exercise = kGood;
  exercise.insert(exercise.size() - 1,
                  ", \"not_asked\": {\"second_call\": \"Each call adds to a counter.\",\n"
                  "\"left_behind Plan.IsKept\": \"The next test uses the plan.\"}");
  const Course course = parse_course(course_with(exercise), "course.json");
  const Exercise& e = course.exercises.at(0);
  ASSERT_EQ(e.not_asked.size(), 2u);
  EXPECT_EQ(e.not_asked[1].key, "left_behind");
  EXPECT_EQ(e.not_asked[1].test, "Plan.IsKept");
  EXPECT_EQ(e.not_asked[1].reason, "The next test uses the plan.");
  ASSERT_NE(e.exempt("second_call"), nullptr);
  EXPECT_EQ(e.exempt("second_call")->reason, "Each call adds to a counter.");
  EXPECT_EQ(e.exempt("left_behind"), nullptr);  // one test alone
}

TEST(Manifest, NamesAWrongClassATestThatIsNoneAndAMissingReason) {
  const auto error = [](const std::string& entry) {
    std::string exercise = kGood;
    exercise.insert(exercise.size() - 1, ", \"not_asked\": {" + entry + "}");
    return error_of_manifest(course_with(exercise));
  };
  EXPECT_NE(
      error("\"third_call\": \"Because it is like that.\"")
          .find("course.json:4: there is no class \"third_call\"; the classes are second_call"),
      std::string::npos);
  EXPECT_NE(error("\"streams a test\": \"Because it is like that.\"")
                .find("must be a class, or a class and a test: \"streams Suite.Name\""),
            std::string::npos);
  EXPECT_NE(error("\"streams\": \"no\"").find("needs a reason"), std::string::npos);
  EXPECT_NE(error("\"streams\": true").find("needs a reason"), std::string::npos);
}

TEST(Manifest, ReadsAnArchitectureThatNoOtherCardHas) {
  std::string exercise = kGood;
  exercise.insert(exercise.size() - 1, ", \"device\": \"gpu\", \"arch\": \"90a\"");
  const Course course = parse_course(course_with(exercise), "course.json");
  EXPECT_EQ(course.exercises.at(0).arch, 90);
  EXPECT_TRUE(course.exercises.at(0).only_arch);
  exercise.replace(exercise.find("90a"), 3, "a90");
  EXPECT_NE(error_of_manifest(course_with(exercise)).find("\"arch\" must be a number like 80"),
            std::string::npos);
}

TEST(Manifest, TakesALibraryForABaseline) {
  std::string timed = kGood;
  timed.insert(timed.size() - 1, ", \"baselines\": [\"cub\"]");
  const Course course = parse_course(course_with(timed), "course.json");
  EXPECT_EQ(course.exercises.at(0).baselines, std::vector<std::string>{"cub"});
  timed.replace(timed.find("cub"), 3, "cup");
  EXPECT_NE(
      error_of_manifest(course_with(timed)).find("uses cup, which is not an earlier exercise"),
      std::string::npos);
}

TEST(Manifest, ReadsTheModulesOfPython) {
  std::string python = kGood;
  python.insert(python.size() - 1, ", \"python\": [\"numpy\", \"numba\"]");
  EXPECT_NE(error_of_manifest(course_with(python)).find("\"kind\" says this is none"),
            std::string::npos);
  const size_t kind = python.find("\"kind\": \"") + 9;
  python.replace(kind, python.find('"', kind) - kind, "python");
  const Course course = parse_course(course_with(python), "course.json");
  EXPECT_EQ(course.exercises.at(0).python, (std::vector<std::string>{"numpy", "numba"}));
}

TEST(ManifestErrors, UnknownKeyNamesLineAndKnownKeys) {
  std::string bad = kGood;
  bad.insert(1, "\"colour\": 1,\n");
  const std::string error = error_of_manifest(course_with(bad));
  EXPECT_EQ(
      error.rfind("course.json:4: unknown key \"colour\" in exercise 01_a/01_first; the known "
                  "keys are id, title,",
                  0),
      0u)
      << error;
}

TEST(ManifestErrors, MissingKeyNamesLine) {
  EXPECT_EQ(error_of_manifest(
                course_with("{\"id\": \"01_a/01_first\", \"title\": \"F\", \"kind\": \"fix\", "
                            "\"todos\": 2}")),
            "course.json:4: exercise 01_a/01_first has no \"minutes\"; add it.");
}

TEST(ManifestErrors, WrongTypesNameTheLineOfTheValue) {
  std::string bad = kGood;
  bad.replace(bad.find("5,"), 2, "\"5\",");
  EXPECT_EQ(error_of_manifest(course_with(bad)),
            "course.json:4: \"minutes\" must be a whole number from 1 to 600.");
}

TEST(ManifestErrors, SyntaxErrorNamesTheLine) {
  const std::string error = error_of_manifest("{\n\"format\": 1,\n\"title\": oops\n}\n");
  EXPECT_EQ(error.rfind("course.json:3: this is not JSON: syntax error", 0), 0u) << error;
  const std::string cut = error_of_manifest("{\n\"format\": 1,\n");
  EXPECT_EQ(cut.rfind("course.json:", 0), 0u) << cut;
}

TEST(ManifestErrors, IdsAreUniqueAndWellFormed) {
  const std::string twice = error_of_manifest(course_with(std::string(kGood) + ",\n" + kGood));
  EXPECT_EQ(twice,
            "course.json:5: exercise id 01_a/01_first is used twice (first at line 4); ids are "
            "unique.");
  std::string bad = kGood;
  bad.replace(bad.find("01_first"), 8, "First");
  EXPECT_NE(error_of_manifest(course_with(bad)).find("must read NN_topic/MM_name"),
            std::string::npos);
}

TEST(ManifestErrors, ZeroExercisesIsAnError) {
  EXPECT_EQ(error_of_manifest(course_with("")), "course.json:3: the course has no exercises.");
}

TEST(ManifestErrors, AKeyGivenTwice) {
  EXPECT_EQ(error_of_manifest("{\"format\": 1,\n\"format\": 1}"),
            "course.json:2: \"format\" is given twice in one object (first at line 1); remove one "
            "of them.");
}

TEST(Match, PrefersExactThenPrefixThenSubstring) {
  Course course;
  for (const char* id : {"01_a/01_add", "01_a/02_add_more", "02_b/01_sub"}) {
    Exercise e;
    e.id = id;
    e.name = e.id.substr(5);
    course.exercises.push_back(e);
  }
  EXPECT_EQ(course.match("01_a/01_add").size(), 1u);
  EXPECT_EQ(course.match("02").size(), 1u);
  EXPECT_EQ(course.match("add").size(), 2u);
  EXPECT_TRUE(course.match("nothing").empty());
  EXPECT_EQ(course.near("01_a/01_ad").front(), "01_a/01_add");
  EXPECT_TRUE(course.near("nothing").empty());  // a guess that has nothing in common helps nobody
}

TEST(Json, QuotesAndParsesBack) {
  const std::string text = "a\"b\\c\n\xff";
  EXPECT_EQ(parse_json(json_quote(text), "x").text, "a\"b\\c\n\xEF\xBF\xBD");
}

TEST(Hints, ThreeParagraphsForEachTodo) {
  const auto hints = parse_hints(
      "# Hints\n\n## TODO 1\n\nLook\nhere.\n\nIdea.\n\nAlmost:\n\n```cuda\nint i;\n\nint j;\n```\n",
      "h.md", 1);
  ASSERT_EQ(hints.size(), 1u);
  ASSERT_EQ(hints[0].size(), 3u);
  EXPECT_EQ(hints[0][0], "Look\nhere.");
  EXPECT_NE(hints[0][2].find("int j;"), std::string::npos);
}

TEST(Hints, MissingStepsNameTheHeading) {
  try {
    parse_hints("## TODO 1\na\n\nb\n", "h.md", 1);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()),
              "h.md:1: TODO 1 has 2 hint steps, expected 3 paragraphs: where to look, the idea, "
              "almost the code.");
  }
}

}  // namespace
}  // namespace course
