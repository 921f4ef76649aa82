// Tests of 04/12 hand over.
#include "12_hand_over.h"

#include <cmath>

#include "12_hand_over_support.h"
#include "kit/kit.h"
#include "kit/notes.h"
#include "kit/special_values.h"

namespace {

struct Work {
  int channels, n;
};
std::ostream& operator<<(std::ostream& out, const Work& work) {
  return out << work.channels << " x " << work.n;
}

int tiles_of(int n) { return (n + kTile - 1) / kTile; }

std::vector<float> clipped_on_cpu(std::vector<float> x) {
  for (float& reading : x) reading = clipped(reading);
  return x;
}

// x: channels x n clipped readings.
std::vector<double> smoothed_on_cpu(const std::vector<float>& x, const Work& work) {
  std::vector<double> y(x.size());
  for (int c = 0; c < work.channels; ++c) {
    const size_t channel = static_cast<size_t>(c) * work.n;
    for (int first = 0; first < work.n; first += kTile) {
      const int size = std::min(kTile, work.n - first);
      const float* tile = x.data() + channel + first;
      for (int i = 0; i < size; ++i) y[channel + first + i] = smoothed(tile, i, size);
    }
  }
  return y;
}

// The rings must show what the header says that is left in them.
void expect_handed_over(const std::vector<Ring>& rings, const std::vector<float>& clipped_x,
                        const Work& work) {
  const unsigned tiles = tiles_of(work.n);
  for (int c = 0; c < work.channels; ++c) {
    const Ring& ring = rings[c];
    const std::string of_channel = " of channel " + std::to_string(c);
    if (ring.filled != tiles || ring.emptied != tiles) {
      kit::fail("filled" + of_channel + " is " + std::to_string(ring.filled) + " and emptied " +
                std::to_string(ring.emptied) + " when all is done; a channel of " +
                std::to_string(work.n) + " readings has " + std::to_string(tiles) + " tiles.");
      return;
    }
    for (unsigned k = tiles > kSlots ? tiles - kSlots : 0; k < tiles; ++k) {
      const int size = std::min(kTile, work.n - static_cast<int>(k) * kTile);
      for (int i = 0; i < size; ++i) {
        const float expected = clipped_x[static_cast<size_t>(c) * work.n + k * kTile + i];
        if (ring.slot[k % kSlots][i] == expected) continue;
        std::ostringstream text;
        text << "slot[" << k % kSlots << "][" << i << "]" << of_channel << " is "
             << ring.slot[k % kSlots][i] << " when all is done, expected " << expected
             << ": reading " << i << " of tile " << k << ", clipped, should have gone through it.";
        kit::fail(text.str());
        return;
      }
    }
  }
}

kit::Run check(const Work& work) {
  const std::vector<float> x =
      kit::random_floats(static_cast<size_t>(work.channels) * work.n, -1.5f, 1.5f);
  const auto d_x = kit::DeviceBuffer<float>::input(x, "x");
  const auto d_y = kit::DeviceBuffer<float>::output(x.size(), "y");
  const auto d_rings = kit::DeviceBuffer<Ring>::output(work.channels, "rings");
  const kit::Run run = kit::run([&] {
    launch_hand_over(d_x.get(), d_y.get(), d_rings.get(), work.channels, work.n);
    kit::expect_no_note("missing-acquire-fence");
  });
  const std::vector<float> clipped_x = clipped_on_cpu(x);
  kit::expect_near(d_y, smoothed_on_cpu(clipped_x, work), kit::Tolerance::units(4));
  if (run.ok()) expect_handed_over(d_rings.download(), clipped_x, work);
  return run;
}

}  // namespace

TEST(HandOver, HandsOverOneTile) {
  RecordProperty("todo", 1);
  kit::for_each("channels x n", std::vector<Work>{{1, kTile}, {3, 100}},
                [](const Work& work) { check(work); });
}

TEST(HandOver, WaitsForWhatItNeeds) {
  RecordProperty("todo", 2);
  // The block that has to wait begins first in one of the orders.
  kit::for_each_block_order([] { check({2, 3 * kTile}); });
}

TEST(HandOver, AFullRingWaitsForItsReader) {
  RecordProperty("todo", 3);
  // More tiles than slots, so that every slot is filled several times.
  kit::for_each_block_order([] { check({2, 11 * kTile}); });
}

TEST(HandOver, CoversChannelsAndSizes) {
  RecordProperty("todo", 3);
  kit::for_each("channels x n",
                std::vector<Work>{{1, 1}, {2, 255}, {3, 257}, {5, 1000}, {kMostChannels, 1025}},
                [](const Work& work) { check(work); });
}

// clipped() makes 1 of infinity and leaves NaN, so no value of a slot says that it is empty.
TEST(HandOver, ReadingsMayBeInfiniteOrNoNumbers) {
  RecordProperty("todo", 1);
  const Work work = {2, 7 * kTile + 9};
  std::vector<float> x = kit::random_floats(2 * work.n);
  for (size_t i = 5; i < x.size(); i += 41) {
    x[i] = i % 3 == 0 ? NAN : i % 3 == 1 ? INFINITY : -INFINITY;
  }
  const auto d_x = kit::DeviceBuffer<float>::input(x, "x");
  const auto d_y = kit::DeviceBuffer<float>::output(x.size(), "y");
  const auto d_rings = kit::DeviceBuffer<Ring>::output(work.channels, "rings");
  kit::run([&] { launch_hand_over(d_x.get(), d_y.get(), d_rings.get(), work.channels, work.n); });
  std::vector<double> expected = smoothed_on_cpu(clipped_on_cpu(x), work);
  std::vector<float> y = d_y.download();
  kit::expect_nans("y", y, expected,
                   "A reading that is no number (NaN) is handed over like any other: clipped() "
                   "leaves it, and fmaxf and fminf do not.");
  for (size_t i = 0; i < y.size(); ++i) {
    if (std::isnan(expected[i])) expected[i] = y[i] = 0;
  }
  kit::expect_near("y", y, expected, kit::Tolerance::units(4));
}

TEST(HandOver, HandsOverMuch) {
  RecordProperty("todo", 3);
  check({kit::work_scale(2, kMostChannels), kit::work_scale(40 * kTile, 1 << 20)});
}

TEST(HandOver, NothingIsHandedOver) {
  RecordProperty("todo", 3);
  check({0, 100});
  check({2, 0});
}

TEST(HandOver, BothStagesRunInOneLaunch) {
  RecordProperty("todo", 3);
  const kit::Run run = check({3, 5 * kTile});
  kit::budget("kernel launches", static_cast<double>(run.counters().launches), kit::at_most(1),
              "The second block can work on a tile while the first fills the next");
  kit::budget("blocks per channel", kit::ratio(static_cast<double>(run.counters().blocks), 3),
              kit::at_least(2), "One block clips, another one smooths");
}
