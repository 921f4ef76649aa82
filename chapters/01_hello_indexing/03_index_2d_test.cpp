// Tests of 01/03 index 2-D.
#include "03_index_2d.h"

#include "kit/kit.h"
#include "kit/largest.h"

namespace {

using Pixels = std::vector<unsigned char>;

// out(row, col) = in(row, width - 1 - col), row-major, rows x cols pixels.
Pixels mirror_on_cpu(const Pixels& in, const kit::Shape& shape) {
  Pixels out(in.size());
  for (int row = 0; row < shape.rows; ++row) {
    for (int col = 0; col < shape.cols; ++col) {
      out[row * shape.cols + col] = in[row * shape.cols + (shape.cols - 1 - col)];
    }
  }
  return out;
}

// Never 255: that is what a pixel that nobody wrote looks like.
Pixels random_picture(const kit::Shape& shape) {
  const std::vector<int> values = kit::random_ints(shape.size(), 0, 254);
  return Pixels(values.begin(), values.end());
}

struct Picture {
  explicit Picture(const kit::Shape& shape_)
      : shape(shape_),
        pixels(random_picture(shape_)),
        in(kit::DeviceBuffer<unsigned char>::input(pixels, "in")),
        out(kit::DeviceBuffer<unsigned char>::output(shape_.size(), "out")) {}

  kit::Run mirror() {
    return kit::run([&] { launch_mirror_image(in.get(), out.get(), shape.cols, shape.rows); });
  }
  void expect_mirrored() const { kit::expect_equal(out, mirror_on_cpu(pixels, shape), shape); }

  kit::Shape shape;  // rows x cols
  Pixels pixels;
  kit::DeviceBuffer<unsigned char> in, out;
};

// Whether the launch, whatever its block, spans the picture. Unknown (false) on a GPU.
bool grid_covers(const kit::Run& run, const kit::Shape& shape) {
  if (run.launches().size() != 1) return false;
  const kit::Launch& launch = run.launches()[0];
  return launch.grid[0] * launch.block[0] >= static_cast<unsigned>(shape.cols) &&
         launch.grid[1] * launch.block[1] >= static_cast<unsigned>(shape.rows);
}

TEST(Index2d, MirrorsAPictureOfOneBlock) {
  RecordProperty("todo", 1);
  Picture picture({8, 32});
  picture.mirror();
  picture.expect_mirrored();
}

TEST(Index2d, LeavesOutTheThreadsOutsideOfThePicture) {
  RecordProperty("todo", 1);
  const std::vector<kit::Shape> shapes = {{5, 32}, {8, 20}, {7, 31}, {1, 1}};
  kit::for_each("height x width", shapes, [](const kit::Shape& shape) {
    Picture picture(shape);
    picture.mirror();
    picture.expect_mirrored();
  });
}

TEST(Index2d, LaunchesEnoughBlocksAlongBothAxes) {
  RecordProperty("todo", 2);
  const std::vector<kit::Shape> shapes = {{8, 100}, {50, 32}, {49, 70}};
  kit::for_each("height x width", shapes, [](const kit::Shape& shape) {
    Picture picture(shape);
    // With a grid that covers the picture the launch is right, and the other tests look at the
    // rest.
    if (grid_covers(picture.mirror(), shape)) return;
    picture.expect_mirrored();
  });
}

TEST(Index2d, MirrorsPicturesThatAreNotBlockMultiples) {
  RecordProperty("todo", 1);
  std::vector<kit::Shape> shapes = {{1, 1}, {1, 200}, {200, 1}, {7, 31}, {9, 33}, {65, 127}};
  for (const kit::Shape& shape : kit::awkward_shapes()) {
    if (shape.size() <= 100000) shapes.push_back(shape);
  }
  shapes.push_back({kit::work_scale(63, 2161), kit::work_scale(95, 3839)});
  kit::for_each("height x width", shapes, [](const kit::Shape& shape) {
    Picture picture(shape);
    picture.mirror();
    picture.expect_mirrored();
  });
}

TEST(Index2d, MirrorsHighAndWidePictures) {
  RecordProperty("todo", 2);
  const std::vector<kit::Shape> shapes = {{65'535, 1}, {1, 65'535}};
  kit::for_each("height x width", shapes, [](const kit::Shape& shape) {
    Picture picture(shape);
    picture.mirror();
    picture.expect_mirrored();
  });
}

TEST(Index2d, ReadsAlongTheRows) {
  RecordProperty("todo", 1);
  Picture picture({64, 256});
  const kit::Counters c = picture.mirror().counters();
  picture.expect_mirrored();
  kit::budget("global load sectors per request",
              kit::ratio(c.global_load_sectors, c.global_load_requests), kit::at_most(5),
              "A warp whose threads follow each other along x reads neighbouring bytes; along y "
              "each of its threads needs a 32-byte sector of its own",
              &kit::Counters::global_load_sectors);
}

TEST(Index2d, MirrorsTheLargestPictures) {
  RecordProperty("todo", 1);
  std::vector<unsigned char> pixels;
  for (const int value : kit::random_ints(kit::kPeriod, 1, 250)) {
    pixels.push_back(static_cast<unsigned char>(value));
  }
  const auto check_large = [&](int width, int height) {
    const size_t n = static_cast<size_t>(width) * height;
    const auto in = kit::LargeArray<unsigned char>::input(n, "in", pixels);
    const auto out = kit::LargeArray<unsigned char>::output(n, "out");
    kit::run([&] { launch_mirror_image(in.get(), out.get(), width, height); });
    kit::expect_at_ends(out,
                        [&](size_t i) { return in.at(i / width * width + width - 1 - i % width); });
  };
  kit::at_largest("65535 x 32767 pixels", [&] { check_large(65535, 32767); });
  kit::at_largest("32767 x 65535 pixels", [&] { check_large(32767, 65535); });
}

}  // namespace
