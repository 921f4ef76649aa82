// What the pictures are drawn from: sectors, passes through the banks, names of pictures, the page.
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>

#include "cli/view/page.h"
#include "cli/view/picture.h"
#include "course/error.h"
#include "course/manifest.h"

namespace grade::view {
namespace {

Site site_of(const std::string& kind, int bytes) {
  Site site;
  site.kind = kind;
  site.bytes = bytes;
  site.element = 4;
  site.line = 12;
  return site;
}

// Lane i of `mask` at offset first + i * distance.
Sample sample_of(int64_t first, int64_t distance, uint32_t mask = 0xffffffffu) {
  Sample sample;
  sample.mask = mask;
  for (int lane = 0; lane < kWarp; ++lane) {
    if ((mask >> lane) & 1) sample.offsets[static_cast<size_t>(lane)] = first + lane * distance;
  }
  return sample;
}

TEST(ViewSectors, NeighboursFillFourSectors) {
  const Sectors sectors = sectors_of(site_of("global load", 4), sample_of(0, 4), 0);
  EXPECT_EQ(sectors.moved.size(), 4u);
  EXPECT_EQ(sectors.wanted, 128);
  EXPECT_EQ(sectors.lines.size(), 1u);
}

TEST(ViewSectors, OneElementFurtherTakesAFifthSector) {
  const Sectors sectors = sectors_of(site_of("global load", 4), sample_of(4, 4), 0);
  EXPECT_EQ(sectors.moved.size(), 5u);
  EXPECT_EQ(sectors.wanted, 128);
}

TEST(ViewSectors, AnArrayThatBeginsInsideALineIsMovedBySkew) {
  EXPECT_EQ(sectors_of(site_of("global load", 4), sample_of(0, 4), 16).moved.size(), 5u);
}

TEST(ViewSectors, AColumnMovesASectorForEachLane) {
  const Sectors sectors = sectors_of(site_of("global load", 4), sample_of(0, 4096), 0);
  EXPECT_EQ(sectors.moved.size(), 32u);
  EXPECT_EQ(sectors.wanted, 128);
}

TEST(ViewSectors, OffsetsBeforeTheArrayLieInTheLineBefore) {
  const Sectors sectors = sectors_of(site_of("global load", 4), sample_of(-4, 4), 0);
  EXPECT_EQ(sectors.moved.size(), 5u);
  EXPECT_EQ(sectors.lines.begin()->first, -1);
}

TEST(ViewSectors, TheSameVariableOfAllThreadsIsOneLineOfLocalMemory) {
  EXPECT_EQ(sectors_of(site_of("local load", 4), sample_of(8, 0), 0).moved.size(), 4u);
}

TEST(ViewBanks, ARowTakesOnePassAndAColumn32) {
  const Site site = site_of("shared load", 4);
  EXPECT_EQ(passes_of(site, sample_of(0, 4)).size(), 1u);
  EXPECT_EQ(passes_of(site, sample_of(0, 128)).size(), 32u);
  EXPECT_EQ(passes_of(site, sample_of(0, 132)).size(), 1u);  // padded
  EXPECT_EQ(passes_of(site, sample_of(0, 8)).size(), 2u);
  EXPECT_EQ(passes_of(site, sample_of(64, 0)).size(), 1u);  // all want one word
}

TEST(ViewBanks, WideAccessesAreServedInHalvesAndQuarters) {
  EXPECT_EQ(passes_of(site_of("shared load", 8), sample_of(0, 8)).size(), 2u);
  EXPECT_EQ(passes_of(site_of("shared load", 16), sample_of(0, 16)).size(), 4u);
  EXPECT_EQ(passes_of(site_of("shared load", 16), sample_of(0, 0)).size(), 2u);
}

TEST(ViewPictureNames, AreReadOrRefused) {
  EXPECT_EQ(picture_name("lens:12").line, 12);
  EXPECT_EQ(picture_name("banks:7.3").number, 3);
  EXPECT_EQ(picture_name("time").kind, PictureName::Kind::kTime);
  EXPECT_EQ(picture_name("shared:tile").what, "tile");
  EXPECT_EQ(picture_name("map:9.2,cols=8").crop_or("cols", 16), 8);
  EXPECT_EQ(picture_name("pipeline,to=9").kind, PictureName::Kind::kPipeline);
  EXPECT_EQ(picture_name("block,from=4").crop_or("to", 7), 7);
  for (const char* wrong : {"", "lens", "lens:", "lens:x", "banks:3.x", "block:2", "tree", "map",
                            "shared", "bars:", "time:3", "block,to", "block,to=x"}) {
    EXPECT_THROW(picture_name(wrong), course::Error) << wrong;
  }
}

// Eight words of shared memory that one warp fills and then halves.
Launch launch_of_a_sum() {
  Launch launch;
  launch.kernel = "sum";
  launch.block = {8, 1, 1};
  launch.variables = {{"words", 0, 32, 0}};
  launch.stores = {{4, 0, 7, "sum.cu", {{0, "11"}, {4, "12"}}}, {9, 0, 9, "sum.cu", {{0, "23"}}}};
  launch.steps = {{Step::kRuns, 0, 0, 6, 7, 0xff, "sum.cu"},
                  {Step::kWaits, 0, 6, 2, 8, 0x0f, "sum.cu"},
                  {Step::kRuns, 0, 8, 2, 9, 0x01, "sum.cu"}};
  return launch;
}

TEST(ViewPictures, ShowSharedMemoryAfterEachLineThatWritesIt) {
  const auto source = [](const std::string&, int line) { return "of " + std::to_string(line); };
  const std::string svg = shared_svg(launch_of_a_sum(), picture_name("shared:words"), source);
  for (const char* text : {">11<", ">23<", ">line 7<", ">line 9<", ">of 7<", ">·<"}) {
    EXPECT_NE(svg.find(text), std::string::npos) << text << "\n" << svg;
  }
  EXPECT_THROW(shared_svg(launch_of_a_sum(), picture_name("shared:other"), source), course::Error);
}

// A solution's lines are for those who have passed.
TEST(ViewPictures, ShowNoCodeWhereThereIsNone) {
  const std::string svg = block_svg(launch_of_a_sum(), picture_name("block"), nullptr);
  EXPECT_EQ(svg.find("monospace"), std::string::npos);
  EXPECT_NE(svg.find("thread 7"), std::string::npos);
  EXPECT_NE(svg.find("waits at a barrier"), std::string::npos);
}

// Warp 1 fills two stages and waits until the first is empty; warp 0 multiplies what has come.
Launch launch_of_a_pipeline() {
  Launch launch;
  launch.kernel = "ring";
  launch.block = {64, 1, 1};
  launch.variables = {{"full", 64, 16, 0}, {"empty", 80, 8, 0}};
  launch.steps = {{Step::kRuns, 1, 0, 10, 7, 1, "ring.cu"},
                  {Step::kRuns, 0, 0, 4, 9, 0xffffffff, "ring.cu"},
                  {Step::kWaits, 0, 4, 8, 9, 0xffffffff, "ring.cu"},
                  {Step::kRuns, 0, 12, 28, 9, 0xffffffff, "ring.cu"}};
  launch.pipeline.phases = {{64, 0, 0, 12}, {64, 1, 12, -1}, {72, 0, 0, 30}, {80, 0, 0, 34}};
  launch.pipeline.flights = {
      {Flight::kIn, 1, 2, 12, 1024, 4096, 64, 0, 1, 7, "ring.cu"},
      {Flight::kIn, 1, 3, 12, 5120, 4096, 64, 0, 1, 7, "ring.cu"},
      {Flight::kIn, 1, 6, 30, 9216, 100, 72, 0, 1, 7, "ring.cu"},
      {Flight::kProduct, 0, 14, 34, 0, 0, 0, 0, 4, 9, "ring.cu"},
  };
  launch.pipeline.waits = {{0, 0xffffffff, 4, 12, 64, 0, 9, "ring.cu"},
                           {1, 1, 10, 34, 80, 0, 6, "ring.cu"},
                           {1, 1, 36, -1, 80, 1, 6, "ring.cu"}};
  return launch;
}

TEST(ViewPipeline, NamesMbarriersAndAddsUpWhatAPhaseCounts) {
  const Launch launch = launch_of_a_pipeline();
  EXPECT_EQ(launch.object_name(72), "full[1]");
  EXPECT_EQ(launch.object_name(80), "empty");
  EXPECT_EQ(launch.object_name(4000), "byte 4000");
  const std::string svg = pipeline_svg(launch, picture_name("pipeline"));
  for (const char* text :
       {">full[0]<", ">full[1]<", ">empty<", ">8 KiB<", ">100 bytes<",
        "warp 1 waits for empty for ever; warp 1 waits for empty 1 time, 24 steps in all"}) {
    EXPECT_NE(svg.find(text), std::string::npos) << text << "\n" << svg;
  }
  EXPECT_EQ(pipeline_svg(launch, picture_name("pipeline,from=13")).find("8 KiB"),
            std::string::npos);  // it has come by then
  EXPECT_THROW(pipeline_svg(launch_of_a_sum(), picture_name("pipeline")), course::Error);
}

TEST(ViewPipeline, IsDrawnInTheTerminal) {
  const std::string text = pipeline_text(launch_of_a_pipeline());
  const auto row_after = [&](const std::string& name) {
    const size_t at = text.find(name + " ▏");
    return at == std::string::npos ? "no " + name + " in\n" + text
                                   : text.substr(at, text.find('\n', at) - at);
  };
  // 40 steps on 66 columns: the copies go from step 2 to 12.
  EXPECT_EQ(row_after("copies to"), "copies to ▏   ================");
  EXPECT_EQ(row_after("full[0]"), "full[0] ▏" + std::string(19, '0') + std::string(66 - 19, '1'));
  EXPECT_NE(row_after("warp 0").find("█-"), std::string::npos) << text;
  EXPECT_NE(row_after("wgmma").find("####"), std::string::npos) << text;
  EXPECT_NE(text.find("warp 0 waits for full[0] 1 time, 8 steps in all\n"), std::string::npos)
      << text;
}

TEST(ViewPictures, SayWhichThreadTouchesWhichElement) {
  Launch launch = launch_of_a_sum();
  launch.arrays = {{"in", 0, 16, 0}};
  Site site = site_of("global load", 4);
  site.line = 3;
  site.samples = {sample_of(12, -4)};
  site.samples[0].mask = 0xf;
  site.samples[0].array = 0;
  for (size_t lane = 4; lane < kWarp; ++lane) site.samples[0].offsets[lane].reset();
  launch.sites = {site};
  const std::string svg = map_svg(launch, picture_name("map:3,cols=4"), nullptr);
  std::vector<size_t> places;  // element 0 is read by lane 3, element 3 by lane 0
  for (const char* lane : {">3<", ">2<", ">1<", ">0<"}) places.push_back(svg.find(lane));
  EXPECT_TRUE(std::is_sorted(places.begin(), places.end())) << svg;
  EXPECT_NE(places.back(), std::string::npos);
}

// A recording of one kernel that was never run, with a source that would end a script.
constexpr const char* kRecording = R"json({"format": 1, "kind": "view", "label": "modelled (H200)",
  "limits": {}, "findings": [], "findings_left_out": 0, "wrong": [],
  "profile": {"kernels": [{"name": "</script><b>", "launches": 1, "launch": {}, "cost": {},
    "totals": {"warp_instructions": 5}, "lines": [], "view": {"grid": [1, 1, 1],
    "block": [32, 1, 1], "shared_bytes": 0, "numbers": [], "arrays": [], "variables": [],
    "sites": [], "code": [], "files": []}}]}})json";

TEST(ViewPage, NothingInItEndsTheScript) {
  PageContent content;
  content.title = "a < b & c";
  content.recording = kRecording;
  const std::string page = page_html(PROJECT_ROOT, content);
  const std::regex end("</script>");
  EXPECT_EQ(std::distance(std::sregex_iterator(page.begin(), page.end(), end), {}), 2);
  EXPECT_NE(page.find("<title>a &lt; b &amp; c</title>"), std::string::npos);
  for (const char* place : {"{{title}}", "{{style}}", "{{script}}", "{{data}}"}) {
    EXPECT_EQ(page.find(place), std::string::npos) << place;
  }
}

// The page is one script: modules lose their imports and exports, so names must not meet.
TEST(ViewPage, NoTwoModulesDeclareOneName) {
  PageContent content;
  content.recording = kRecording;
  const std::string page = page_html(PROJECT_ROOT, content);
  EXPECT_EQ(page.find("\nimport "), std::string::npos);
  EXPECT_EQ(page.find("\nexport "), std::string::npos);
  const std::regex declared("\n(?:async )?(?:function|const|let|class) ([A-Za-z_$][\\w$]*)");
  std::map<std::string, int> times;
  for (auto at = std::sregex_iterator(page.begin(), page.end(), declared);
       at != std::sregex_iterator(); ++at) {
    EXPECT_EQ(++times[(*at)[1]], 1) << (*at)[1];
  }
  EXPECT_GT(times.size(), 60u);
}

TEST(ViewPage, ASummaryKeepsWhatComparisonsNeed) {
  const course::Json short_one =
      course::parse_json(summary(course::parse_json(kRecording, "recording")), "summary");
  const course::Json& kernel = short_one.find("kernels")->items.at(0);
  EXPECT_EQ(kernel.find("totals")->number_or("warp_instructions"), 5);
  EXPECT_EQ(kernel.find("view"), nullptr);
}

}  // namespace
}  // namespace grade::view
