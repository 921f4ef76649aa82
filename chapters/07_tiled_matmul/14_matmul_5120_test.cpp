// Tests of 07/14 matmul, 5120. The reference, in double, is in test/matmul.h.
#include "14_matmul_5120.h"

#include <string>

#include "07_tiled_matmul/test/matmul.h"
#include "07_tiled_matmul/test/matmul_extents.h"
#include "kit/kit.h"

namespace {

// The launcher for a card that makes so many large tiles at a time.
kit::MatmulLauncher for_places(int places) {
  return [places](const float* a, const float* b, float* c, int m, int n, int k) {
    launch_matmul_places(a, b, c, m, n, k, places);
  };
}

// A kernel of the lecture on matrices of its own: what milliseconds_of calls.
struct LectureWork {
  Lecture kernel;
  int width;
  kit::MatmulSizes sizes;
  kit::DeviceBuffer<float> a, b, c;

  LectureWork(Lecture kernel_, int width_, const kit::MatmulSizes& s)
      : kernel(kernel_),
        width(width_),
        sizes(s),
        a(kit::DeviceBuffer<float>::input(kit::random_floats(size_t(s.m) * s.k), "a")),
        b(kit::DeviceBuffer<float>::input(kit::random_floats(size_t(s.k) * s.n), "b")),
        c(kit::DeviceBuffer<float>::output(size_t(s.m) * s.n, "c")) {}
  static void call(void* work) {
    const auto& w = *static_cast<LectureWork*>(work);
    launch_lecture(w.kernel, w.width, w.a.get(), w.b.get(), w.c.get(), w.sizes.m, w.sizes.n,
                   w.sizes.k);
  }
};

float milliseconds_of_lecture(Lecture kernel, int width) {
  LectureWork work(
      kernel, width,
      kit::simulated() ? kit::MatmulSizes{32, 32, 512} : kit::MatmulSizes{5120, 5120, 256});
  float milliseconds = 0;
  kit::run([&] { milliseconds = milliseconds_of(LectureWork::call, &work); });
  return milliseconds;
}

}  // namespace

TEST(Matmul5120, PutsEveryPartInItsPlace) {
  RecordProperty("todo", 1);
  kit::for_each("c", std::vector<kit::MatmulSizes>{{128, 256, 16}, {256, 512, 16}, {200, 300, 8}},
                [](const kit::MatmulSizes& s) { kit::check_matmul_exact(for_places(100), s); });
}

TEST(Matmul5120, CountsTheTilesOfWholeWaves) {
  RecordProperty("todo", 2);
  const int cases[][3] = {{800, 132, 792}, {264, 132, 264}, {0, 132, 0}, {4, 132, 0}, {5, 2, 4},
                          {66, 132, 0},    {67, 132, 67},   {1, 1, 1},   {3, 4, 3},   {9, 4, 8}};
  for (const auto& [tiles, places, whole] : cases) {
    const int got = tiles_in_whole_waves(tiles, places);
    if (got != whole) {
      kit::fail("tiles_in_whole_waves(" + std::to_string(tiles) + ", " + std::to_string(places) +
                ") is " + std::to_string(got) + ", expected " + std::to_string(whole) + ".");
      return;
    }
  }
}

TEST(Matmul5120, LeavesNoTileOut) {
  RecordProperty("todo", 3);
  kit::for_each("places", std::vector<int>{2, 4}, [](int places) {
    kit::check_matmul_exact(for_places(places), {200, 700, 20});  // 2 x 3 tiles
  });
}

TEST(Matmul5120, TakesZerosPastTheEdges) {
  RecordProperty("todo", 1);
  kit::for_each("c", kit::awkward_matmuls(),
                [](const kit::MatmulSizes& s) { kit::check_matmul_exact(launch_matmul_5120, s); });
  kit::check_matmul_exact(for_places(1), {127, 36, 3});  // one large tile that hangs over
}

TEST(Matmul5120, CoversEveryExtent) {
  RecordProperty("todo", 3);
  kit::for_each("c", kit::long_tiled_matmuls(), [](const kit::MatmulSizes& s) {
    kit::check_matmul_precision(launch_matmul_5120, s);
  });
  // All of the header's columns: of tiles that are numbered wrongly only some are missing.
  kit::check_matmul_precision(launch_matmul_5120, {1, 1 << 20, 0});
}

TEST(Matmul5120, MakesTheLargestProducts) {
  RecordProperty("todo", 3);
  kit::check_largest_matmuls<float>(launch_matmul_5120);
}

TEST(Matmul5120, ZerosPastTheEdgesDoNotMeetInfinity) {
  RecordProperty("todo", 3);
  kit::check_infinities<float>(launch_matmul_5120);
}

TEST(Matmul5120, ZeroTimesInfinityIsNoNumber) {
  RecordProperty("todo", 3);
  kit::check_special_factors(launch_matmul_5120);
}

TEST(Matmul5120, ArraysMayBeginAtAnyFloat) {
  RecordProperty("todo", 3);
  kit::check_any_begin(launch_matmul_5120);
}

TEST(Matmul5120, AcceptsEmptyMatrices) {
  RecordProperty("todo", 3);
  kit::for_each("c", kit::empty_matmuls(),
                [](const kit::MatmulSizes& s) { kit::check_matmul_exact(launch_matmul_5120, s); });
  kit::check_matmul_exact(launch_matmul_5120, {3, 5, 7});  // the same launcher must work here
}

TEST(Matmul5120, RoundsAsFloatsDo) {
  RecordProperty("todo", 3);
  kit::for_each("c", std::vector<kit::MatmulSizes>{{33, 40, 300}, {20, 70, 64}},
                [](const kit::MatmulSizes& s) { kit::check_matmul(launch_matmul_5120, s); });
}

TEST(Matmul5120, KeepsFullPrecision) {
  RecordProperty("todo", 3);
  kit::check_matmul_precision(launch_matmul_5120, {32, 33, 256});
}

TEST(Matmul5120, LoadsWhatItNeedsOncePerTile) {
  RecordProperty("todo", 2);
  const kit::Run run = kit::check_matmul(for_places(2), {128, 1280, 32});
  kit::budget("words loaded from global memory per multiply-add",
              kit::words_per_fma(run.counters().global_load_bytes, run), kit::at_most(1.0 / 60),
              "Four large tiles need 1/85, the eight parts of the fifth 1/32",
              &kit::Counters::global_load_bytes);
}

TEST(Matmul5120, MeasuresWithoutTheLaunch) {
  RecordProperty("todo", 4);
  float nothing = 0;
  kit::run([&] { nothing = milliseconds_of([](void*) {}, nullptr); });
  if (!(nothing < 0)) {
    kit::fail("Work that launches nothing takes " + std::to_string(nothing) +
              " ms. Less the time of an empty launch, that is below zero.");
    return;
  }
  const float product = milliseconds_of_lecture(Lecture::kNaive, 32);
  if (!(product > 0)) {
    kit::fail("A product takes " + std::to_string(product) + " ms, expected more than zero.");
  }
}

// Work of which the call `short_one` (from 0) is short and every other one takes long.
struct Uneven {
  kit::DeviceBuffer<unsigned char> bytes =
      kit::DeviceBuffer<unsigned char>::inout(std::vector<unsigned char>(1 << 16), "bytes");
  int short_one, calls = 0;
  static void call(void* work) {
    Uneven& w = *static_cast<Uneven*>(work);
    const int repeats = w.calls++ == w.short_one ? 3 : 300;
    for (int i = 0; i < repeats; ++i) cudaMemsetAsync(w.bytes.get(), i, w.bytes.size());
  }
};

TEST(Matmul5120, TheTimeIsTheLeastOfFive) {
  RecordProperty("todo", 4);
  const auto measure = [](int short_one, int* calls) {
    Uneven work;
    work.short_one = short_one;
    const float milliseconds = milliseconds_of(Uneven::call, &work);
    *calls = work.calls;
    return milliseconds;
  };
  int calls = 0;
  const float most = measure(-1, &calls);
  if (calls < 5) {
    kit::fail("milliseconds_of calls the work " + std::to_string(calls) +
              " times, not five times.");
    return;
  }
  for (int short_one = calls - 5; short_one < calls; ++short_one) {
    const float least = measure(short_one, &calls);
    if (least < most / 4) continue;
    kit::fail(
        "Five calls are timed, and all but one do a hundred times the work of that one. "
        "milliseconds_of is " +
        std::to_string(least) + ", and " + std::to_string(most) +
        " where all are long: it is the least of the five.");
    return;
  }
}

// What the lecture says of its tiles: true. That its dynamic tile loses to its naive kernel: not on
// an H200.
TEST(Matmul5120, TimesTheKernelsOfTheLecture) {
  RecordProperty("todo", 4);
  kit::for_each("width", std::vector<int>{16, 32}, [](int width) {
    const float of_dynamic = milliseconds_of_lecture(Lecture::kDynamicTile, width);
    const float of_static = milliseconds_of_lecture(Lecture::kStaticTile, width);
    if (!(of_static > 0 && of_static < of_dynamic)) {
      kit::fail("The static tile takes " + std::to_string(of_static) + " ms, the dynamic one " +
                std::to_string(of_dynamic) + " ms: the static one should take less.");
    }
  });
}

TEST(Matmul5120, IsFast) {
  RecordProperty("todo", 3);
  // In the simulator two multiprocessors of an H200, and five tiles for them.
  const kit::MatmulSizes sizes =
      kit::simulated() ? kit::MatmulSizes{128, 1280, 64} : kit::MatmulSizes{5120, 5120, 256};
  kit::MatmulSpeed work(sizes, 66);
  work.speed.launch(
      work.call(kit::simulated() ? for_places(2) : kit::MatmulLauncher(launch_matmul_5120)));
  // Measured on an H200 (2026-11-21): 4.7 times the static tile and 1.10 times cuBLAS.
  const auto lecture = [](const float* a, const float* b, float* c, int m, int n, int k) {
    launch_lecture(Lecture::kStaticTile, 32, a, b, c, m, n, k);
  };
  work.speed.against(kit::stage("the lecture's static tile", work.call(lecture)),
                     kit::Bars(1.5, 3.0));
  work.speed.against(work.against_cublas(), kit::Bars(0.3, 0.7, 1.0));
  work.speed.grade();
}
