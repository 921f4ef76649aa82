// Tests of 12/01 Data loader. Their files lie in a folder of their own, which is removed.
#include "01_data_loader.h"

#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "01_data_loader_support.h"
#include "12_mnist_cnn/test/digits.h"
#include "kit/kit.h"
#include "kit/scratch_folder.h"
#include "kit/stream.h"

namespace {

using Bytes = std::vector<uint8_t>;

// A folder with files of images and labels.
struct Folder : kit::ScratchFolder {
  std::string write(const std::string& name, const Bytes& bytes) const {
    return ScratchFolder::write(name, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }
  std::string write_gz(const std::string& name, const Bytes& bytes) const {
    const gzFile out = gzopen(file(name).c_str(), "wb");
    gzwrite(out, bytes.data(), static_cast<unsigned>(bytes.size()));
    gzclose(out);
    return file(name);
  }
};

// A dataset that is freed with its scope.
struct Loaded : Dataset {
  ~Loaded() { free_dataset(this); }
};

// Mean and deviation of the bytes, and the pixels that follow from them.
void expect_pixels(const Dataset& got, const kit::DigitSet& digits, double mean, double deviation) {
  std::vector<double> expected;
  for (const uint8_t byte : digits.images) expected.push_back((byte - mean) / deviation);
  const size_t pixels = digits.images.size();
  if (static_cast<size_t>(got.count) * got.rows * got.cols != pixels || got.images == nullptr) {
    kit::fail("The set has " + std::to_string(got.count) + " images, expected " +
              std::to_string(digits.count) + ".");
    return;
  }
  kit::expect_near("images", {got.images, got.images + pixels}, expected,
                   kit::Tolerance::absolute(2e-6));
  kit::expect_equal("labels", Bytes(got.labels, got.labels + got.count), digits.labels);
}

void mean_and_deviation(const kit::DigitSet& digits, double* mean, double* deviation) {
  const double size = static_cast<double>(digits.images.size());
  *mean = std::accumulate(digits.images.begin(), digits.images.end(), 0.0) / size;
  double squares = 0;
  for (const uint8_t byte : digits.images) squares += (byte - *mean) * (byte - *mean);
  *deviation = std::sqrt(squares / size);
}

void expect_loads(const std::string& problem) {
  if (!problem.empty())
    kit::fail("load_dataset says that a file is wrong, but it is not: " + problem);
}

// Loading must fail and name the file and all words.
void expect_problem(const std::string& images, const std::string& labels, const std::string& file,
                    const std::vector<std::string>& words, const Dataset* train = nullptr) {
  Loaded set;
  std::string problem;
  const kit::Run run = kit::run([&] { problem = load_dataset(images, labels, train, &set); });
  if (problem.empty()) kit::fail("load_dataset reports no problem with " + file + ".");
  std::vector<std::string> all = words;
  all.push_back(file);
  for (const std::string& word : all) {
    if (problem.find(word) == std::string::npos) {
      kit::fail("load_dataset says \"" + problem + "\", which does not contain " + word + ".");
    }
  }
  if (set.images != nullptr || set.count != 0) kit::fail("A set that is not whole was returned.");
  kit::expect_no_leak(run);
}

Bytes changed(Bytes bytes, size_t at, uint8_t value) {
  bytes.at(at) = value;
  return bytes;
}
Bytes cut(Bytes bytes, size_t size) {
  bytes.resize(size);
  return bytes;
}

std::string bytes_text(const Bytes& bytes) { return std::to_string(bytes.size()); }

// What print_image must write of 12 x 12 bytes.
std::string printed(const uint8_t* bytes) {
  std::string text;
  for (int i = 0; i < 144; ++i) {
    text.append(2, " .:-=+*#%@"[bytes[i] * 10 / 256]);
    if (i % 12 == 11) text += '\n';
  }
  return text;
}
void expect_printed(const std::string& got, const std::string& expected) {
  if (got != expected) kit::fail("print_image returned\n" + got + "expected\n" + expected);
}

}  // namespace

TEST(DataLoader, ReadsAndNormalisesATrainingSet) {
  RecordProperty("todo", 1);
  const Folder folder;
  kit::Cases cases;
  for (const char* kind : {"plain", "gz"}) {
    cases.run(std::string("file = ") + kind, [&] {
      const kit::DigitSet digits = kit::random_digits(23, 12, 1);
      const bool gz = std::string(kind) == "gz";
      const auto write = [&](const char* name, const Bytes& bytes) {
        return gz ? folder.write_gz(std::string(name) + ".gz", bytes) : folder.write(name, bytes);
      };
      const std::string images = write("images", kit::idx_images(digits));
      const std::string labels = write("labels", kit::idx_labels(digits));
      Loaded set;
      const std::string problem = load_dataset(images, labels, nullptr, &set);
      expect_loads(problem);
      if (problem.empty()) RecordProperty("todo", 2);  // the files were understood
      double mean = 0, deviation = 0;
      mean_and_deviation(digits, &mean, &deviation);
      expect_pixels(set, digits, mean, deviation);
    });
  }
}

TEST(DataLoader, NormalisesATestSetAsTheTrainingSet) {
  RecordProperty("todo", 2);
  const Folder folder;
  const kit::DigitSet digits = kit::random_digits(40, 12, 1), test = kit::random_digits(7, 12, 2);
  const std::string images = folder.write("images", kit::idx_images(digits));
  const std::string labels = folder.write("labels", kit::idx_labels(digits));
  Loaded train, set;
  expect_loads(load_dataset(images, labels, nullptr, &train));
  expect_loads(load_dataset(folder.write("test_images", kit::idx_images(test)),
                            folder.write("test_labels", kit::idx_labels(test)), &train, &set));
  double mean = 0, deviation = 0;
  mean_and_deviation(digits, &mean, &deviation);
  expect_pixels(set, test, mean, deviation);
}

// Each allocation fails once: it has to be said, and nothing may be left.
TEST(DataLoader, LeavesNothingWhereMemoryCannotBeHad) {
  RecordProperty("todo", 2);
  const Folder folder;
  const kit::DigitSet digits = kit::random_digits(5, 12, 3);
  const std::string images = folder.write("images", kit::idx_images(digits));
  const std::string labels = folder.write("labels", kit::idx_labels(digits));
  Loaded set;
  std::string problem;
  kit::run([&] {
    problem = load_dataset(images, labels, nullptr, &set);
    if (problem.empty()) free_dataset(&set);
    return problem.empty();
  });
  expect_loads(problem);
}

TEST(DataLoader, KeepsImagesAndLabelsInPinnedMemory) {
  RecordProperty("todo", 2);
  const Folder folder;
  const kit::DigitSet digits = kit::random_digits(5, 12, 3);
  Loaded set;
  expect_loads(load_dataset(folder.write("images", kit::idx_images(digits)),
                            folder.write("labels", kit::idx_labels(digits)), nullptr, &set));
  for (const void* pointer : {static_cast<void*>(set.images), static_cast<void*>(set.labels)}) {
    cudaPointerAttributes attributes = {};
    if (cudaPointerGetAttributes(&attributes, pointer) != cudaSuccess ||
        attributes.type != cudaMemoryTypeHost) {
      kit::fail("The arrays of a set do not lie in pinned memory: see 06/01.");
    }
  }
}

TEST(DataLoader, TellsWhatIsWrongWithAFile) {
  RecordProperty("todo", 1);
  const Folder folder;
  const kit::DigitSet digits = kit::random_digits(9, 12, 4);
  const Bytes images = kit::idx_images(digits), labels = kit::idx_labels(digits);
  const std::string good = folder.write("images", images),
                    good_labels = folder.write("labels", labels);
  kit::Cases cases;
  const auto bad_images = [&](const char* what, const Bytes& bytes,
                              const std::vector<std::string>& words) {
    cases.run(std::string("file = ") + what, [&] {
      expect_problem(folder.write("bad_images", bytes), good_labels, "bad_images", words);
    });
  };
  bad_images("of labels for images", labels, {"0x00000801", "0x00000803"});
  bad_images("one byte short", cut(images, images.size() - 1),
             {bytes_text(images), std::to_string(images.size() - 1)});
  bad_images("one byte long", cut(images, images.size() + 1),
             {bytes_text(images), std::to_string(images.size() + 1)});
  bad_images("empty", {}, {"0"});
  bad_images("nothing but a header", cut(images, 16), {"16", bytes_text(images)});
  bad_images("half a header", cut(images, 10), {"10"});
  bad_images("little-endian", changed(changed(images, 0, 3), 3, 0), {"0x03000800"});
  // 2^32 - 1 images of 2^32 - 1 by 144: more bytes than 64 bits can count.
  Bytes absurd = images;
  for (size_t at = 4; at < 12; ++at) absurd[at] = 0xff;
  bad_images("of absurd sizes", absurd, {bytes_text(images)});
  // 2^24 + 9 images of 2^8 bytes each: in 32 bits that is as many bytes as 9 images have.
  const Bytes square = kit::idx_images(kit::random_digits(9, 16, 4));
  bad_images("of a count with a wrong first byte", changed(square, 4, 1), {bytes_text(square)});
  // 2^22 images of 2^21 by 2^21: 2^64 bytes, in 64 bits none.
  Bytes huge = cut(images, 16);
  std::fill(huge.begin() + 4, huge.end(), uint8_t{0});
  huge[5] = 0x40, huge[9] = 0x20, huge[13] = 0x20;
  bad_images("of sizes whose product is 2^64", huge, {"16"});
  cases.run("file = not there",
            [&] { expect_problem(folder.file("nobody"), good_labels, "nobody", {}); });
  cases.run("file = labels with a wrong magic number", [&] {
    expect_problem(good, folder.write("bad_labels", images), "bad_labels",
                   {"0x00000803", "0x00000801"});
  });
  cases.run("file = labels with one past 9", [&] {
    expect_problem(good, folder.write("bad_labels", changed(labels, 8 + 4, 10)), "bad_labels",
                   {"10", "4"});
  });
}

TEST(DataLoader, TellsWhichSetsDoNotFit) {
  RecordProperty("todo", 1);
  const Folder folder;
  const kit::DigitSet nine = kit::random_digits(9, 12, 4), eight = kit::random_digits(8, 12, 4);
  const kit::DigitSet large = kit::random_digits(2, 16, 4);
  const Bytes images_of_nine = kit::idx_images(nine);
  const std::string images = folder.write("images", images_of_nine);
  const std::string labels = folder.write("labels", kit::idx_labels(nine));
  kit::Cases cases;
  cases.run("images = none, and no labels", [&] {
    const Bytes none = changed(cut(images_of_nine, 16), 7, 0);
    expect_problem(folder.write("none", none),
                   folder.write("none_of_labels", changed(cut(kit::idx_labels(nine), 8), 7, 0)),
                   "none", {});
  });
  cases.run("labels = one too few", [&] {
    expect_problem(images, folder.write("eight", kit::idx_labels(eight)), "eight", {"9", "8"});
  });
  cases.run("images = larger than in training", [&] {
    Loaded train;
    expect_loads(load_dataset(images, labels, nullptr, &train));
    expect_problem(folder.write("large", kit::idx_images(large)),
                   folder.write("large_labels", kit::idx_labels(large)), "large", {"16", "12"},
                   &train);
  });
  cases.run("images = of as many pixels, 9 x 16", [&] {
    Loaded train;
    expect_loads(load_dataset(images, labels, nullptr, &train));
    const Bytes wide = changed(changed(kit::idx_images(nine), 11, 9), 15, 16);
    expect_problem(folder.write("wide", wide), labels, "wide", {"9", "12"}, &train);
  });
}

TEST(DataLoader, AFailureLeavesTheSetAsItWas) {
  RecordProperty("todo", 2);
  const Folder folder;
  const kit::DigitSet digits = kit::random_digits(9, 12, 4);
  const Bytes images = kit::idx_images(digits);
  const std::string labels = folder.write("labels", kit::idx_labels(digits));
  Loaded set;
  expect_loads(load_dataset(folder.write("images", images), labels, nullptr, &set));
  const Dataset before = set;
  const std::string problem =
      load_dataset(folder.write("short", cut(images, images.size() - 1)), labels, nullptr, &set);
  if (problem.empty()) kit::fail("load_dataset reports no problem with a file that is too short.");
  if (set.images != before.images || set.labels != before.labels || set.count != before.count) {
    kit::fail("A file was wrong, and *set is not as it was: its images are lost to the caller.");
  }
}

TEST(DataLoader, ADeviationOfZeroCountsAsOne) {
  RecordProperty("todo", 2);
  const Folder folder;
  kit::DigitSet digits = kit::random_digits(2, 12, 4);
  std::fill(digits.images.begin(), digits.images.end(), uint8_t{7});
  Loaded set;
  expect_loads(load_dataset(folder.write("images", kit::idx_images(digits)),
                            folder.write("labels", kit::idx_labels(digits)), nullptr, &set));
  expect_pixels(set, digits, 7, 1);
}

TEST(DataLoader, ShufflesEachEpochInItsOwnWay) {
  RecordProperty("todo", 3);
  constexpr int kCount = 1000;
  std::set<std::vector<int>> orders;
  for (int epoch = 0; epoch < 3; ++epoch) {
    std::vector<int> order(kCount, -1), again(kCount, -1);
    shuffle(order.data(), kCount, 7, epoch);
    shuffle(again.data(), kCount, 7, epoch);
    if (order != again) kit::fail("The same seed and epoch gave another order.");
    int stayed = 0;
    for (int i = 0; i < kCount; ++i) stayed += order[i] == i;
    // Of any number of elements one stays in its place on average.
    if (stayed > 10) {
      kit::fail(std::to_string(stayed) + " of 1000 images stayed in their place: 1 is usual.");
    }
    orders.insert(order);
    std::sort(order.begin(), order.end());
    for (int i = 0; i < kCount; ++i) {
      if (order[i] != i) {
        kit::fail("Image " + std::to_string(i) + " is not in the order exactly once.");
        return;
      }
    }
  }
  if (orders.size() != 3) kit::fail("Two epochs have the same order.");
}

TEST(DataLoader, EveryOrderIsEquallyLikely) {
  RecordProperty("todo", 3);
  // Three elements have 6 orders. 30000 draws give 5000 of each, within 5 standard deviations
  // of 65. Exchanges with any place, three times, are off by 556: 27 ways for 6 orders.
  std::vector<int> counts(6);
  for (int seed = 0; seed < 30000; ++seed) {
    int order[3];
    shuffle(order, 3, static_cast<unsigned long long>(seed), 1);
    ++counts[order[0] * 2 + (order[1] > order[2])];
  }
  for (const int count : counts) {
    if (count < 4680 || count > 5320) {
      kit::fail("Of 30000 shuffles of three elements one order came up " + std::to_string(count) +
                " times; 5000 would be fair.");
    }
  }
}

TEST(DataLoader, StagesBatchesOneBehindTheOther) {
  RecordProperty("todo", 4);
  const Folder folder;
  const kit::DigitSet digits = kit::random_digits(40, 12, 5);
  Loaded set;
  expect_loads(load_dataset(folder.write("images", kit::idx_images(digits)),
                            folder.write("labels", kit::idx_labels(digits)), nullptr, &set));
  if (set.images == nullptr) {
    kit::fail("There are no images to make batches of: see TODO(2).");
    return;
  }
  constexpr int kBatch = 16, kPixels = 144;
  std::vector<int> order(40);
  for (int i = 0; i < 40; ++i) order[i] = (i * 7 + 3) % 40;
  Staging staging;
  cudaStream_t stream = nullptr;
  ASSERT_EQ(make_staging(kBatch, kPixels, &staging), cudaSuccess);
  ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  const auto d_images = kit::DeviceBuffer<float>::output(40 * kPixels, "staged images");
  const auto d_labels = kit::DeviceBuffer<uint8_t>::output(40, "staged labels");
  kit::run([&] {
    for (int first = 0; first < 40; first += kBatch) {
      const int n = std::min(kBatch, 40 - first);  // 16, 16, 8
      const cudaError_t error = stage_batch(set, order.data() + first, n, staging, stream);
      if (error != cudaSuccess) {
        kit::fail(std::string("stage_batch returned ") + cudaGetErrorName(error) + ".");
      }
      cudaMemcpyAsync(d_images.get() + first * kPixels, staging.d_images,
                      n * kPixels * sizeof(float), cudaMemcpyDeviceToDevice, stream);
      cudaMemcpyAsync(d_labels.get() + first, staging.d_labels, n, cudaMemcpyDeviceToDevice,
                      stream);
    }
    cudaStreamSynchronize(stream);
  });
  std::vector<float> images;
  Bytes labels;
  for (const int i : order) {
    images.insert(images.end(), set.images + i * kPixels, set.images + (i + 1) * kPixels);
    labels.push_back(set.labels[i]);
  }
  kit::expect_equal(d_images, images, kit::Shape(40, kPixels));
  kit::expect_equal(d_labels, labels);
  cudaStreamDestroy(stream);
  free_staging(&staging);
}

TEST(DataLoader, TheFirstBatchIsNotWaitedFor) {
  RecordProperty("todo", 4);
  if (!kit::simulated()) return;  // a GPU does not tell
  const Folder folder;
  const kit::DigitSet digits = kit::random_digits(8, 12, 5);
  Loaded set;
  expect_loads(load_dataset(folder.write("images", kit::idx_images(digits)),
                            folder.write("labels", kit::idx_labels(digits)), nullptr, &set));
  if (set.images == nullptr) {
    kit::fail("There are no images to make batches of: see TODO(2).");
    return;
  }
  const int order[] = {3, 1, 7, 0, 2, 6, 5, 4};
  kit::run([&] {
    Staging staging;
    cudaStream_t stream = nullptr;
    make_staging(8, 144, &staging);
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    const uint64_t before = wsim_host_waits();
    stage_batch(set, order, 8, staging, stream);
    const uint64_t waits = wsim_host_waits() - before;
    cudaStreamSynchronize(stream);
    cudaStreamDestroy(stream);
    free_staging(&staging);
    if (waits > 0) {
      kit::fail(
          "Nothing has been copied from these buffers yet, and stage_batch waits. Only who fills "
          "them again has to wait for the copies, so wait before you fill, not behind the copies.");
    }
  });
}

// Each call of stage_batch fails once: a batch that is not there has to be said.
TEST(DataLoader, SaysThatABatchCouldNotBeStaged) {
  RecordProperty("todo", 4);
  const Folder folder;
  const kit::DigitSet digits = kit::random_digits(8, 12, 5);
  Loaded set;
  expect_loads(load_dataset(folder.write("images", kit::idx_images(digits)),
                            folder.write("labels", kit::idx_labels(digits)), nullptr, &set));
  if (set.images == nullptr) {
    kit::fail("There are no images to make batches of: see TODO(2).");
    return;
  }
  const int order[] = {3, 1, 7, 0, 2, 6, 5, 4};
  Staging staging;
  const kit::Stream stream;
  ASSERT_EQ(make_staging(8, 144, &staging), cudaSuccess);
  kit::run([&] { return stage_batch(set, order, 8, staging, stream.get()); });
  cudaStreamSynchronize(stream.get());
  free_staging(&staging);
}

TEST(DataLoader, PrintsAnImage) {
  RecordProperty("todo", 5);
  const Folder folder;
  kit::DigitSet digits = kit::random_digits(3, 12, 6);
  // Any grey value, also those at which the character changes.
  for (uint8_t& byte : digits.images) byte = static_cast<uint8_t>(kit::random_ints(1, 0, 255)[0]);
  Loaded set;
  expect_loads(load_dataset(folder.write("images", kit::idx_images(digits)),
                            folder.write("labels", kit::idx_labels(digits)), nullptr, &set));
  if (set.images == nullptr) {
    kit::fail("There is no image to print: see TODO(2).");
    return;
  }
  expect_printed(print_image(set, 2), printed(&digits.images[2 * 144]));
}

TEST(DataLoader, PrintsRowsThatAreLongerThanColumns) {
  RecordProperty("todo", 5);
  std::vector<float> pixels = {0, 30, 60, 90, 120, 150, 180, 210, 240, 255};
  Dataset set;
  set.count = 1, set.rows = 2, set.cols = 5;
  set.images = pixels.data();
  expect_printed(print_image(set, 0), "  ..::--==\n++##%%@@@@\n");
}

TEST(DataLoader, PrintsBytesThatNormalisingHasRoundedDown) {
  RecordProperty("todo", 5);
  // The first byte of each character but the first, with the next mean for which one of them,
  // normalised and back, ends below itself: cut off, it would have the character before.
  Bytes bytes(144);
  for (int i = 0; i < 144; ++i) bytes[i] = static_cast<uint8_t>(((i % 9 + 1) * 256 + 9) / 10);
  std::vector<float> pixels(144);
  Dataset set;
  set.count = 1;
  set.rows = set.cols = 12;
  set.deviation = 61.7f;
  set.images = pixels.data();
  bool is_below = false;
  for (set.mean = 30.1f; set.mean < 200; set.mean += 0.5f) {
    for (int i = 0; i < 144; ++i) {
      pixels[i] = (static_cast<float>(bytes[i]) - set.mean) / set.deviation;
      const float distance = pixels[i] * set.deviation;
      is_below |= distance + set.mean < static_cast<float>(bytes[i]);
    }
    if (is_below) break;
  }
  EXPECT_TRUE(is_below);
  expect_printed(print_image(set, 0), printed(bytes.data()));
}
