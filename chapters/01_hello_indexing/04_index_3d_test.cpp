// Tests of 01/04 index 3-D.
#include "04_index_3d.h"

#include <ostream>

#include "kit/kit.h"
#include "kit/largest.h"
#include "kit/launches.h"

namespace {

struct Case {
  Volume volume;
  dim3 block;
  kit::Shape shape() const { return {volume.depth, volume.height, volume.width}; }
};

std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << c.volume.width << " x " << c.volume.height << " x " << c.volume.depth << " (block "
             << c.block.x << " x " << c.block.y << " x " << c.block.z << ")";
}

// One int per voxel each, element x + width * (y + height * z).
struct Ids {
  std::vector<int> block, thread, global;
};

// Walks over the grid in the order in which ids are given, and counts.
Ids ids_on_cpu(const Case& c) {
  const Volume v = c.volume;
  const int bx = c.block.x, by = c.block.y, bz = c.block.z;
  Ids ids;
  for (std::vector<int>* id : {&ids.block, &ids.thread, &ids.global}) {
    id->resize(c.shape().size());
  }
  int block = 0, global = 0;
  for (int z0 = 0; z0 < v.depth; z0 += bz) {
    for (int y0 = 0; y0 < v.height; y0 += by) {
      for (int x0 = 0; x0 < v.width; x0 += bx, ++block) {
        for (int thread = 0; thread < bx * by * bz; ++thread, ++global) {
          const int x = x0 + thread % bx, y = y0 + thread / bx % by, z = z0 + thread / (bx * by);
          if (x >= v.width || y >= v.height || z >= v.depth) continue;
          const int voxel = x + v.width * (y + v.height * z);
          ids.block[voxel] = block;
          ids.thread[voxel] = thread;
          ids.global[voxel] = global;
        }
      }
    }
  }
  return ids;
}

struct Numbered {
  explicit Numbered(const Case& c)
      : block(kit::DeviceBuffer<int>::output(c.shape().size(), "block_id")),
        thread(kit::DeviceBuffer<int>::output(c.shape().size(), "thread_id")),
        global(kit::DeviceBuffer<int>::output(c.shape().size(), "global_id")) {
    const kit::Run run = kit::run(
        [&] { launch_number_voxels(block.get(), thread.get(), global.get(), c.volume, c.block); });
    kit::expect_blocks_of(run, c.block);
  }

  kit::DeviceBuffer<int> block, thread, global;
};

// No two extents alike, so that exchanged axes show; volumes that blocks fit and do not fit.
const std::vector<Case>& cases() {
  static const std::vector<Case> list = {
      {{8, 6, 4}, {4, 3, 2}},       {{24, 10, 6}, {8, 5, 2}},    {{33, 9, 5}, {8, 4, 2}},
      {{7, 13, 3}, {2, 4, 3}},      {{100, 1, 1}, {32, 1, 1}},   {{1, 50, 3}, {1, 16, 2}},
      {{3, 2, 130}, {1, 1, 64}},    {{20, 9, 31}, {16, 4, 16}},  {{65'535, 1, 1}, {64, 1, 1}},
      {{1, 65'535, 1}, {1, 64, 1}}, {{1, 1, 65'535}, {1, 1, 8}}, {{5, 7, 3}, {32, 1, 1}}};
  return list;
}

constexpr const char* kCase = "volume";

// Ids are never negative, and memory that nobody has written holds -1.
TEST(Index3d, EveryVoxelHasAThread) {
  RecordProperty("todo", 1);
  kit::for_each(kCase, cases(), [](const Case& c) {
    const std::vector<int> ids = Numbered(c).thread.download();
    for (size_t i = 0; i < ids.size(); ++i) {
      if (ids[i] >= 0) continue;
      const int x = i % c.volume.width, y = i / c.volume.width % c.volume.height;
      kit::fail("Nobody has written voxel (" + std::to_string(x) + ", " + std::to_string(y) + ", " +
                std::to_string(i / c.volume.width / c.volume.height) +
                "). Every voxel is written by the thread that stands on it.");
      return;
    }
  });
}

TEST(Index3d, NumbersTheBlocks) {
  RecordProperty("todo", 2);
  kit::for_each(kCase, cases(), [](const Case& c) {
    kit::expect_equal(Numbered(c).block, ids_on_cpu(c).block, c.shape());
  });
}

TEST(Index3d, NumbersTheThreadsOfABlock) {
  RecordProperty("todo", 3);
  kit::for_each(kCase, cases(), [](const Case& c) {
    kit::expect_equal(Numbered(c).thread, ids_on_cpu(c).thread, c.shape());
  });
}

TEST(Index3d, NumbersTheThreadsOfTheGrid) {
  RecordProperty("todo", 4);
  kit::for_each(kCase, cases(), [](const Case& c) {
    kit::expect_equal(Numbered(c).global, ids_on_cpu(c).global, c.shape());
  });
}

TEST(Index3d, NumbersTheLargestVolumes) {
  RecordProperty("todo", 1);
  // Blocks of 256 threads. All of them together have fewer than 2^31, as the header says.
  const auto check_large = [](int width, int height, int depth, dim3 block) {
    const size_t w = width, h = height, n = w * h * depth;
    const auto block_id = kit::LargeArray<int>::output(n, "block_id");
    const auto thread_id = kit::LargeArray<int>::output(n, "thread_id");
    const auto global_id = kit::LargeArray<int>::output(n, "global_id");
    kit::run([&] {
      launch_number_voxels(block_id.get(), thread_id.get(), global_id.get(), {width, height, depth},
                           block);
    });
    const auto block_of = [&](size_t i) {
      const size_t wide = (w + block.x - 1) / block.x, high = (h + block.y - 1) / block.y;
      const size_t x = i % w / block.x, y = i / w % h / block.y, z = i / w / h / block.z;
      return static_cast<int>(x + wide * (y + high * z));
    };
    const auto thread_of = [&](size_t i) {
      const size_t x = i % w % block.x, y = i / w % h % block.y, z = i / w / h % block.z;
      return static_cast<int>(x + block.x * (y + block.y * z));
    };
    kit::expect_at_ends(block_id, block_of);
    kit::expect_at_ends(thread_id, thread_of);
    kit::expect_at_ends(global_id, [&](size_t i) { return 256 * block_of(i) + thread_of(i); });
  };
  const dim3 wide(32, 4, 2), narrow(2, 16, 8);
  kit::at_largest("1024 x 1024 x 2000", [&] { check_large(1024, 1024, 2000, wide); });
  kit::at_largest("32 x 65535 x 1000", [&] { check_large(32, 65535, 1000, wide); });
  kit::at_largest("2 x 16000 x 65535", [&] { check_large(2, 16000, 65535, narrow); });
}

}  // namespace
