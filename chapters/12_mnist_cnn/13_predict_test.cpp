// Tests of 12/13 Predict.
#include "13_predict.h"

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <numeric>

#include "12_mnist_cnn/test/digits.h"
#include "12_mnist_cnn/test/network.h"
#include "12_train_support.h"
#include "kit/kit.h"
#include "kit/scratch_folder.h"

namespace {

constexpr Network kNet = {12, 3, 4, 10, 10};

// A network that nobody has trained, with statistics that are not those of any batch.
Weights random_weights(int classes = 10) {
  Weights weights;
  weights.network = kNet;
  weights.network.classes = classes;
  weights.parameters =
      kit::random_parameters({kNet.image, kNet.channels1, kNet.channels2, kNet.hidden, classes});
  for (const int channels : {kNet.channels1, kNet.channels2}) {
    for (const float low : {-0.2f, 0.3f}) {  // means, then variances
      const std::vector<float> part = kit::random_floats(channels, low, low + 0.5f);
      weights.statistics.insert(weights.statistics.end(), part.begin(), part.end());
    }
  }
  weights.mean = 33;
  weights.deviation = 77;
  return weights;
}

// Probabilities of grey values, by the kernels of 12, with the softmax in double.
std::vector<double> probabilities_of(const Weights& weights, const std::vector<float>& pixels) {
  std::vector<float> image = pixels;
  for (float& pixel : image) pixel = (pixel - weights.mean) / weights.deviation;
  const auto d_image = kit::DeviceBuffer<float>::input(image, "image");
  const auto d_weights = kit::DeviceBuffer<float>::input(weights.parameters, "parameters");
  const auto d_statistics =
      kit::DeviceBuffer<float>::input(with_inv_std(kNet, weights.statistics), "statistics");
  const Network& net = weights.network;
  const auto d_work = kit::DeviceBuffer<float>::output(workspace_size(net, 1), "workspace");
  const auto d_logits = kit::DeviceBuffer<float>::output(net.classes, "logits");
  kit::run([&] {
    launch_inference(net, d_weights.get(), d_statistics.get(), d_image.get(), 1, d_work.get(),
                     d_logits.get());
  });
  const std::vector<float> logits = d_logits.download();
  std::vector<double> p;
  double sum = 0;
  for (const float logit : logits) sum += std::exp(static_cast<double>(logit));
  for (const float logit : logits) p.push_back(std::exp(static_cast<double>(logit)) / sum);
  return p;
}

std::string pgm_of(const kit::DigitSet& set) {
  return "P5\n# drawn\n12 12\n255\n" + std::string(set.images.begin(), set.images.end());
}

// The picture as print_image writes it, and the grey values that stand for its characters.
std::string text_of(const kit::DigitSet& set, std::vector<float>* pixels) {
  std::string text;
  for (int i = 0; i < 144; ++i) {
    const int level = set.images[i] * 10 / 256;
    text.append(2, " .:-=+*#%@"[level]);
    if (i % 12 == 11) text += '\n';
    pixels->push_back(255.0f * static_cast<float>(level) / 9);
  }
  return text;
}

void expect_picture(const std::string& file, int rows, int cols, const std::vector<float>& pixels) {
  Picture picture;
  const std::string problem = read_picture(file, &picture);
  if (!problem.empty()) kit::fail("read_picture returned: " + problem);
  if (picture.rows != rows || picture.cols != cols) {
    kit::fail("The picture has " + std::to_string(picture.rows) + " rows and " +
              std::to_string(picture.cols) + " columns, expected " + std::to_string(rows) +
              " and " + std::to_string(cols) + ".");
  }
  kit::expect_near("pixels", picture.pixels, {pixels.begin(), pixels.end()},
                   kit::Tolerance::absolute(1e-4), kit::Shape(rows, cols));
}

void expect_no_picture(const kit::ScratchFolder& folder, const std::string& text) {
  Picture picture;
  const std::string problem = read_picture(folder.write("bad", text), &picture);
  if (problem.find(folder.file("bad")) == std::string::npos) {
    kit::fail("read_picture returned \"" + problem + "\" for a file that is no picture.");
  }
}

// A softmax that is missing is another TODO than the one that asks the network.
void expect_sum_of_one(const Prediction& got) {
  const double sum = std::accumulate(got.probabilities.begin(), got.probabilities.end(), 0.0);
  if (std::fabs(sum - 1) <= 1e-5) return;
  ::testing::Test::RecordProperty("todo", 4);
  kit::fail("The probabilities add up to " + std::to_string(sum) + ", expected 1.");
}

// A drawn digit, asked about through files.
Prediction prediction_of(const Weights& weights, uint64_t seed) {
  const kit::ScratchFolder folder;
  const std::string file = folder.file("weights");
  const std::string saved = save_weights(file, weights);
  if (!saved.empty()) kit::fail(saved);
  Prediction got;
  const std::string problem =
      predict(file, folder.write("digit.pgm", pgm_of(kit::random_digits(1, 12, seed))), &got);
  if (!problem.empty()) kit::fail("predict returned: " + problem);
  return got;
}

}  // namespace

TEST(Predict, ReadsPgm) {
  RecordProperty("todo", 1);
  const kit::ScratchFolder folder;
  kit::Cases cases;
  const std::string values = {'\0', '\x7f', '\x40', '\xff', '\x20', '\x09'};
  const std::vector<float> pixels = {0, 127, 64, 255, 32, 9};
  cases.run("file = binary",
            [&] { expect_picture(folder.write("a.pgm", "P5 3 2 255\n" + values), 2, 3, pixels); });
  cases.run("file = binary, of pixels that are white space to a reader of text", [&] {
    expect_picture(folder.write("a.pgm", "P5 3 2 255\n \t\n\v\f\r"), 2, 3, {32, 9, 10, 11, 12, 13});
  });
  cases.run("file = with comments", [&] {
    expect_picture(folder.write("a.pgm", "P5\n# made by 7 hands\n3 # wide\n2\n255\n" + values), 2,
                   3, pixels);
  });
  cases.run("file = with tabs and carriage returns", [&] {
    expect_picture(folder.write("a.pgm", "P5\r\n3\t2\r\n255\n" + values), 2, 3, pixels);
  });
  cases.run("file = numbers", [&] {
    expect_picture(folder.write("a.pgm", "P2\n3 2\n255\n0 127 64\n255 32\n9\n"), 2, 3, pixels);
  });
  cases.run("file = numbers with comments between them", [&] {
    expect_picture(folder.write("a.pgm", "P2 3 1 255\n0 # black\n127\n# 9 9\n64"), 1, 3,
                   {0, 127, 64});
  });
  cases.run("file = values up to 15", [&] {
    expect_picture(folder.write("a.pgm", "P2 2 1 15 0 15"), 1, 2, {0, 255});
  });
  cases.run("file = binary, of values up to 15", [&] {
    expect_picture(folder.write("a.pgm", std::string("P5 3 1 15\n\0\x0f\x03", 13)), 1, 3,
                   {0, 255, 51});
  });
  cases.run("file = binary, with more bytes behind the last pixel", [&] {
    expect_picture(folder.write("a.pgm", "P5 3 2 255\n" + values + "\nP5 1 1"), 2, 3, pixels);
  });
  cases.run("file = numbers, with words behind the last pixel", [&] {
    expect_picture(folder.write("a.pgm", "P2 2 1 255\n7 8\nmade by hand"), 1, 2, {7, 8});
  });
}

TEST(Predict, ReadsTextThatPrintImageHasWritten) {
  RecordProperty("todo", 2);
  const kit::ScratchFolder folder;
  std::vector<float> pixels;
  const std::string text = text_of(kit::random_digits(1, 12, 3), &pixels);
  expect_picture(folder.write("a.txt", text), 12, 12, pixels);
  expect_picture(folder.write("b.txt", "@@  ::\n  ..@@\n"), 2, 3,
                 {255, 0, 255.0f * 2 / 9, 0, 255.0f / 9, 255});
}

TEST(Predict, RefusesWhatIsNoPicture) {
  RecordProperty("todo", 2);
  const kit::ScratchFolder folder;
  kit::Cases cases;
  const std::pair<const char*, std::string> files[] = {
      {"empty", ""},
      {"lines of different length", "@@@@\n@@\n"},
      {"pairs that differ", "@.@@\n"},
      {"pairs of another character", "@@xx\n"},
      {"an odd number of characters", "@@.\n@@.\n"},
      {"prose", "what digit is this?!\n"},
  };
  for (const auto& [what, text] : files) {
    cases.run(std::string("file = ") + what,
              [&, &words = text] { expect_no_picture(folder, words); });
  }
}

TEST(Predict, RefusesDamagedPgm) {
  RecordProperty("todo", 1);
  const kit::ScratchFolder folder;
  kit::Cases cases;
  const std::pair<const char*, std::string> files[] = {
      {"cut off", "P5 4 4 255\nabc"},
      {"of 16 bits", "P5 1 1 65535\nab"},
      {"without a height", "P5 4 "},
      {"of a height with 11 digits", "P5 4 99999999999 255\nabcd"},
      {"of a width of 2^32 + 2", "P5 4294967298 1 255\nab"},
      {"of 2^32 pixels", "P5 65536 65536 255\n"},
      {"of 2^32 + 65536 pixels, as numbers", "P2 65536 65537 255\n7 8"},
      {"with a letter for a number", "P2 2 1 255\n7 x"},
      {"of a value past its largest", "P2 2 1 15\n7 16"},
      {"of a byte past its largest", "P5 2 1 15\n\x07\x10"},
  };
  for (const auto& [what, text] : files) {
    cases.run(std::string("file = ") + what,
              [&, &words = text] { expect_no_picture(folder, words); });
  }
}

TEST(Predict, LargeLogitsOverflowNothing) {
  RecordProperty("todo", 4);
  Weights weights = random_weights();
  weights.parameters[parameters_of(kNet).linear2_b.offset + 3] = 1000;  // of class 3
  const Prediction got = prediction_of(weights, 5);
  std::vector<double> expected(10);
  expected[3] = 1;
  kit::expect_near("probabilities", got.probabilities, expected, kit::Tolerance::absolute(1e-5));
  if (got.answer != 3) kit::fail("The answer is " + std::to_string(got.answer) + ", expected 3.");
}

TEST(Predict, ANetworkMayHaveOtherClassesThanTen) {
  RecordProperty("todo", 4);
  kit::for_each("classes", std::vector<int>{2, 7}, [](int classes) {
    const Weights weights = random_weights(classes);
    const kit::DigitSet digit = kit::random_digits(1, 12, 5);
    const Prediction got = prediction_of(weights, 5);
    kit::expect_near("probabilities", got.probabilities,
                     probabilities_of(weights, {digit.images.begin(), digit.images.end()}),
                     kit::Tolerance::absolute(1e-5));
    const auto lines = std::count(got.shown.begin(), got.shown.end(), '\n');
    if (lines != classes) {
      kit::fail("shown has " + std::to_string(lines) + " lines, and the network has " +
                std::to_string(classes) + " classes.");
    }
  });
}

TEST(Predict, OfEqualProbabilitiesTheFirstIsTheAnswer) {
  RecordProperty("todo", 4);
  Weights weights = random_weights();  // but all logits are 0
  const size_t last_layer = parameters_of(kNet).linear2_w.offset;
  std::fill(weights.parameters.begin() + static_cast<std::ptrdiff_t>(last_layer),
            weights.parameters.end(), 0.0f);
  const Prediction got = prediction_of(weights, 5);
  kit::expect_near("probabilities", got.probabilities, std::vector<double>(10, 0.1),
                   kit::Tolerance::absolute(1e-6));
  if (got.answer != 0) kit::fail("The answer is " + std::to_string(got.answer) + ", expected 0.");
}

TEST(Predict, AsksTheNetworkWithTheNormalisationOfItsTraining) {
  RecordProperty("todo", 3);
  const kit::ScratchFolder folder;
  const Weights weights = random_weights();
  const std::string file = folder.file("weights");
  ASSERT_EQ(save_weights(file, weights), "");
  kit::Cases cases;
  for (const char* kind : {"pgm", "text"}) {
    cases.run(std::string("picture = ") + kind, [&] {
      const kit::DigitSet digit = kit::random_digits(1, 12, 5);
      std::vector<float> pixels;
      std::string text = text_of(digit, &pixels);
      if (std::string(kind) == "pgm") {
        text = pgm_of(digit);
        pixels.assign(digit.images.begin(), digit.images.end());
      }
      const std::vector<double> expected = probabilities_of(weights, pixels);
      Prediction got;
      std::string problem;
      const kit::Run run =
          kit::run([&] { problem = predict(file, folder.write("digit", text), &got); });
      if (!problem.empty()) kit::fail("predict returned: " + problem);
      expect_sum_of_one(got);
      kit::expect_near("probabilities", got.probabilities, expected,
                       kit::Tolerance::absolute(1e-5));
      kit::expect_no_leak(run);
    });
  }
}

TEST(Predict, ReadsBothFilesAnewInEveryCall) {
  RecordProperty("todo", 3);
  const kit::ScratchFolder folder;
  const std::string file = folder.file("weights");
  kit::for_each("call", std::vector<int>{1, 2}, [&](int call) {
    const Weights weights = random_weights();
    ASSERT_EQ(save_weights(file, weights), "");
    const kit::DigitSet digit = kit::random_digits(1, 12, call);
    const std::vector<double> expected =
        probabilities_of(weights, {digit.images.begin(), digit.images.end()});
    Prediction got;
    const std::string problem = predict(file, folder.write("digit.pgm", pgm_of(digit)), &got);
    if (!problem.empty()) kit::fail("predict returned: " + problem);
    expect_sum_of_one(got);
    kit::expect_near("probabilities", got.probabilities, expected, kit::Tolerance::absolute(1e-5));
  });
}

TEST(Predict, ShowsTheTenProbabilities) {
  RecordProperty("todo", 4);
  const kit::ScratchFolder folder;
  const Weights weights = random_weights();
  const std::string file = folder.file("weights");
  ASSERT_EQ(save_weights(file, weights), "");
  const kit::DigitSet digit = kit::random_digits(1, 12, 6);
  const std::vector<double> p =
      probabilities_of(weights, {digit.images.begin(), digit.images.end()});
  Prediction got;
  const std::string problem = predict(file, folder.write("digit.pgm", pgm_of(digit)), &got);
  if (!problem.empty()) kit::fail("predict returned: " + problem);
  std::string expected;
  for (int c = 0; c < 10; ++c) {
    char line[64];
    std::snprintf(line, sizeof line, "%d  %5.1f %%  %s\n", c, 100 * p[c],
                  std::string(static_cast<size_t>(std::lround(20 * p[c])), '#').c_str());
    expected += line;
  }
  if (got.shown != expected) kit::fail("shown is\n" + got.shown + "expected\n" + expected);
  const auto best = static_cast<int>(std::max_element(p.begin(), p.end()) - p.begin());
  if (got.answer != best) {
    kit::fail("The answer is " + std::to_string(got.answer) + ", but " + std::to_string(best) +
              " has the largest probability.");
  }
}

TEST(Predict, TellsThatAPictureHasAnotherSize) {
  RecordProperty("todo", 2);
  const kit::ScratchFolder folder;
  const std::string file = folder.file("weights");
  ASSERT_EQ(save_weights(file, random_weights()), "");
  Prediction got;
  std::string problem = predict(file, folder.write("b.txt", "@@  ::\n  ..@@\n"), &got);
  if (problem.find("2 x 3") == std::string::npos || problem.find("12 x 12") == std::string::npos) {
    kit::fail("predict returned \"" + problem + "\" for a picture of 2 x 3 pixels.");
  }
  problem = predict(folder.write("no_weights", "WARPNET1"), folder.file("b.txt"), &got);
  if (problem.find("no_weights") == std::string::npos) {
    kit::fail("predict returned \"" + problem + "\" for a damaged weight file.");
  }
}
